"""Jobs that are named in one place and waited for in another: `It is job 771203. Once that job has finished, ...`."""

from __future__ import annotations

import re
from typing import Literal

from dragoman.request import Dependency
from graph.reading.draft import Draft
from graph.reading.reading import Option

__all__ = ["read_jobs_before"]

_DOES = (
    r"(?:success\w*|succe\w+|finish\w*|complet\w*|end|ends|ended|done|over|fail\w*|crash\w*|start\w*|begins?|begun"
    r"|terminat\w*"
    r"|through)"
)
NAMED = (
    r"(?<![\w-])(?:(?:after|wait for|waits for|from|of|by|as|with|is|the|my|our|previous|slurm) ){0,4}jobs?"
    r"(?:[ -](?:number|id|no\.?|nr\.?))? ?[#:]? ?(?P<id>\d{3,12})(?P<more>(?:(?:,? and |, ?)\d{3,12}){0,8})(?![\w-]"
    r"|\.\w|[:,]\d)"
    rf"(?!,? (?:has |have |had |is |was |are |were |should |must )?(?:both |all )?(?:been )?{_DOES}(?![\w-]))"
)
_HOW = (
    r"(?: (?:has|have|is|are|was|had))?(?: both| all)?(?: been)? (?P<how>(?:successfully |cleanly )?"
    r"(?:finish(?:ed|es)?|complet(?:ed|es|e)|end(?:ed|s)?|done|over|through|terminated|succeed(?:s|ed)?|successful)"
    r"|fail(?:s|ed)?"
    r"|crash(?:es|ed)?)(?P<well> successfully| without (?:any )?errors?| ok| cleanly| well)?(?![\w-])"
)
_ANYHOW = (
    r"(?P<any>,? (?:whether or not it (?:worked|succeeded|failed)|whatever (?:its|the) (?:outcome|result)"
    r"|whether it (?:worked"
    r"|succeeded|failed) or not|no matter (?:how|whether)[^.,;:!?]{0,24}|in any case|either way))?"
)
WAITS = (
    r"(?<![\w-])(?:,? ?and )?(?:(?:please |but |only |just |start |run |begin ){0,3}(?P<when>once|after|when|as soon as"
    r"|if and only if|only if|if|provided(?: that)?)|(?:please )?(?:do not|don't|must not|not)(?: (?:start|run"
    r"|begin|it|to)){0,2}"
    r" (?:before|until))"
    r" (?:(?P<that>(?:that|this|the(?: said| same)) (?:jobs?|runs?|one|calculation)|those (?:jobs|runs|two)"
    r"|both(?: jobs| of them)?)"
    rf"|(?P<it>it|they)){_HOW}{_ANYHOW}"
    r"|(?<![\w-])(?:start |run |begin |only ){0,2}(?:after|on|upon) (?P<its>its|their) (?P<success>successful )"
    r"(?:end|completion|finish|termination)(?![\w-])"
)
_NEAR = 300
_RUNS = re.compile(
    r",? (?:then |please |just )*(?:run|start|launch|execute|i (?:want|need|would)|we (?:want|need"
    r"|would)|\x00)"
)


def read_jobs_before(draft: Draft) -> None:
    """Find jobs that a later sentence waits for; more than one such name is left to be told."""
    named = [*draft.line.find(NAMED)]
    if len(named) != 1:
        return
    job = named[0]
    for match in draft.line.find(WAITS):
        if job.end() <= match.start() <= job.end() + _NEAR and _means(draft, job, match):
            _state(draft, job, match)
            return


def _means(draft: Draft, job: re.Match[str], match: re.Match[str]) -> bool:
    """Whether `it` can only be the job that was named: no sentence lies between them."""
    if match["that"]:
        return True
    ends = [*re.finditer(r"[.;!?]+(?: |$)", draft.line.norm[job.end() : match.start()])]
    if len(ends) > 1 or (ends and job.end() + ends[0].end() < match.start()):
        return False
    return match["when"] != "if" or _RUNS.match(draft.line.open, match.end()) is not None


def _kind(how: str, *, anyhow: bool) -> Literal["afterany", "afternotok", "afterok"] | None:
    """The kind of dependency that the words about a job's end state; None: they leave open whether it succeeded."""
    if anyhow:
        return "afterany"
    if how.startswith(("fail", "crash")):
        return "afternotok"
    return "afterok" if re.search(r"succe|clean|without|ok|well", how) else None


def _state(draft: Draft, job: re.Match[str], match: re.Match[str]) -> None:
    ids = [job["id"], *re.findall(r"\d+", job["more"])]
    how = f"{match['how'] or ''}{match['well'] or ''}{match['success'] or ''}"
    kind = _kind(how, anyhow=bool(match["any"]))
    words = draft.words(*match.span())
    draft.line.claim(*job.span())
    if kind is None:
        options = [
            Option(label=label, patch={"dependencies": [{"kind": kind, "job_id": each} for each in ids]})
            for label, kind in (("only if it succeeded", "afterok"), ("whatever its outcome", "afterany"))
        ]
        draft.ask("dependencies", *match.span(), f"{words!r}: must job {' and '.join(ids)} have succeeded?", options)
        return
    for each in ids:
        draft.add("dependencies", Dependency(kind=kind, job_id=each), *match.span())
