"""What follows from what is known of an attempt's submission: a pure decision, without any input or output.

The order of the evidence: the job that runs the attempt names itself in the folder; the scheduler's own answer; queue
and history by the tag. Only clean answers count: a look-up that failed says nothing, and never leads to a submit.

A submission is repeated in three cases, and each needs a claim of its own, so that two processes cannot both do it:

- the step shows that it did not run the submit command (`given-up`);
- the scheduler refused an option that this version does not know, and the submit means the same without it;
- nobody submits any more, and queue and history said "absent" now and already a whole settle window ago. Once only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dragoman.job import JobRef, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer, Outcome
from dragoman.protocols import SubmitAnswer
from providers.attempt_look import AttemptLook

__all__ = ["Decision", "Next", "settle"]

MOST_GENERATIONS = 8
"""However the repeats come about, there are no more of them than this."""
_LATE_S = 30
"""A step on another login node is taken for ended this long after its own time limit."""


class Next(StrEnum):
    """What to do."""

    SUBMITTED = "submitted"
    """Keep `job`."""
    REFUSED = "refused"
    """Keep the refusal: nothing was submitted."""
    ABANDONED = "abandoned"
    """Keep it: nothing was submitted and nothing will be, or nothing of it will run."""
    SUBMIT = "submit"
    """Submit as `generation`."""
    FIND = "find"
    """Ask queue and history for the tag, then decide again."""
    NOTE_ABSENT = "note-absent"
    """Keep when `generation` was first cleanly absent, then wait."""
    RUNNING = "running"
    """A step at the site is submitting it: look again soon."""
    WAIT = "wait"
    """Look again later."""
    PERSON = "person"
    """Neither presence nor absence can be shown: a person decides. What turns up later is still adopted."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, and the facts it rests on."""

    next: Next
    words: str
    job: JobRef | None = None
    adopted: bool = False
    generation: int = 0
    reason_class: ReasonClass = ReasonClass.UNKNOWN
    without: tuple[str, ...] = ()


def settle(
    look: AttemptLook,
    answers: Mapping[int, SubmitAnswer],
    found: Answer[JobRef] | None,
    *,
    tag: str,
    window_s: float,
    patience_s: float,
    fresh: bool,
) -> Decision:
    """Decide from one look.

    Args:
        look: what the attempt's folder shows.
        answers: the dialect's reading of each recorded answer that ended by itself, by generation.
        found: what queue and history say about the tag; None: not asked yet.
        tag: the attempt's.
        window_s: how long clean "absent" answers must last.
        patience_s: how long, from the last claim, look-ups that tell nothing are repeated before a person is asked.
        fresh: the intent is so young that an empty folder means "not begun". An old one may have been purged.

    """
    if look.trouble:
        return Decision(Next.WAIT, f"the attempt's folder cannot be read: {look.trouble}")
    if look.owner:
        job = next((a.job for a in answers.values() if a.job is not None and a.job.job_id == look.owner), None)
        words = f"job {look.owner} says that it runs this attempt"
        known = job.model_copy(update={"tag": tag}) if job is not None else JobRef(job_id=look.owner, tag=tag)
        return Decision(Next.SUBMITTED, words, job=known, adopted=job is None)
    for generation in sorted(answers):
        answer = answers[generation]
        if answer.job is not None:
            words = _words(look, generation)
            return Decision(Next.SUBMITTED, words, job=answer.job.model_copy(update={"tag": tag}))
    first = look.claims[0] if look.claims else None
    if look.barred_by:
        return Decision(Next.ABANDONED, f"barred by {look.barred_by}: no job of this attempt will run")
    if first is not None and first.abandoned_by:
        return Decision(Next.ABANDONED, f"abandoned by {first.abandoned_by} before it was submitted")
    latest = look.latest
    if latest is None:
        if fresh:
            return Decision(Next.SUBMIT, "nobody has begun to submit it", generation=1)
        return _by_absence(look, 0, found, "its folder holds no claim, though the intent is old", window_s, patience_s)
    return _unaccepted(look, answers, found, window_s, patience_s)


def _unaccepted(
    look: AttemptLook,
    answers: Mapping[int, SubmitAnswer],
    found: Answer[JobRef] | None,
    window_s: float,
    patience_s: float,
) -> Decision:
    """There are claims, and no recorded answer accepts a job."""
    doubts: list[tuple[int, str]] = []
    for claim in look.claims:
        recorded = look.answers.get(claim.generation)
        answer = answers.get(claim.generation)
        if recorded is None:
            over = claim.at + claim.limit_s + _LATE_S < look.now
            if claim.alive is Truth.YES or (claim.alive is Truth.UNKNOWN and not over):
                # A process that hangs where no signal reaches it may still submit: never repeat beside it.
                hangs = over and look.now - claim.at > patience_s
                words = (
                    f"process {claim.pid} on {claim.host or 'the site'} is submitting it since {look.now - claim.at} s"
                )
                return Decision(Next.PERSON if hangs else Next.RUNNING, words, generation=claim.generation)
            said = look.partial.get(claim.generation, "")
            doubts.append((claim.generation, f"the submit left no answer{f' but said: {said}' if said else ''}"))
        elif recorded.how == "given-up":
            continue
        elif recorded.how == "killed" or answer is None:
            doubts.append((claim.generation, f"the submit was ended ({recorded.rc}): {_words(look, claim.generation)}"))
        elif answer.doubt:
            doubts.append((claim.generation, answer.doubt))
    latest = look.claims[-1].generation
    # A doubt before a later claim was settled when that claim was allowed; should its job turn up, it names itself.
    open_doubt = next((words for generation, words in doubts if generation == latest), None)
    if open_doubt is not None:
        return _by_absence(look, latest, found, open_doubt, window_s, patience_s, repeated=len(doubts) > 1)
    recorded, answer = look.answers.get(latest), answers.get(latest)
    if recorded is not None and recorded.how == "given-up":
        if doubts:
            return _by_absence(look, latest, found, doubts[-1][1], window_s, patience_s)
        return _again(latest, "the step ended before it submitted", ())
    assert answer is not None  # noqa: S101 - the latest claim has an answer that is neither doubt nor given-up
    if answer.retry_without and latest < MOST_GENERATIONS:
        return _again(latest, answer.refused, answer.retry_without)
    return Decision(Next.REFUSED, answer.refused, reason_class=answer.reason_class)


def _again(latest: int, words: str, without: tuple[str, ...]) -> Decision:
    if latest >= MOST_GENERATIONS:
        return Decision(Next.PERSON, f"{words}; given up after {latest} claims")
    return Decision(Next.SUBMIT, words, generation=latest + 1, without=without)


def _by_absence(
    look: AttemptLook,
    generation: int,
    found: Answer[JobRef] | None,
    doubt: str,
    window_s: float,
    patience_s: float,
    *,
    repeated: bool = False,
) -> Decision:
    """Perhaps submitted: only queue and history can tell."""
    if found is None:
        return Decision(Next.FIND, doubt, generation=generation)
    if found.outcome is Outcome.OK and found.value is not None:
        words = f"{doubt}; found by its tag as job {found.value.job_id}"
        return Decision(Next.SUBMITTED, words, job=found.value, adopted=True)
    claim = look.latest
    since = look.absent_since.get(generation)
    if found.outcome is Outcome.ABSENT:
        if since is None:
            return Decision(Next.NOTE_ABSENT, f"{doubt}; not in queue and history", generation=generation)
        # The site tells whole seconds, so one more is needed for a window to be over for certain.
        if look.now - since <= window_s:
            words = f"{doubt}; not in queue and history for {look.now - since} of {window_s:g} s"
            return Decision(Next.WAIT, words, generation=generation)
        if repeated:
            words = f"{doubt}; already repeated once after the same doubt, and again not in queue and history"
            return Decision(Next.PERSON, words, generation=generation)
        words = f"{doubt}; not in queue and history for {look.now - since} s"
        return Decision(Next.SUBMIT, words, generation=generation + 1)
    words = f"{doubt}; queue and history tell nothing: {found.reason}"
    begun = claim.at if claim is not None else since
    if begun is not None and look.now - begun < patience_s:
        return Decision(Next.WAIT, words, generation=generation)
    return Decision(Next.PERSON, words, generation=generation)


def _words(look: AttemptLook, generation: int) -> str:
    recorded = look.answers.get(generation)
    if recorded is None:
        return ""
    return " ".join(f"{recorded.out} {recorded.err}".split())[:2000]
