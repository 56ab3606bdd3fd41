"""Fields that requests name by their own words: licences, recipe, constraint, candidate queues, figure of merit."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.request import Dependency, EnvironmentVariable, FigureOfMerit, SoftwareNeed
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import PADDING
from graph.reading.numbers import NUMBER, count_of
from graph.reading.script_modules import module_need

__all__ = ["read_particulars"]

_NAME = r"[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]?"
_LICENCE = r"(?!and\b)[a-z][\w.-]*(?:@[\w.-]+)?(?::\d{1,6})?"
LICENCES = (
    r"(?<![\w-])(?:(?:needs?|with|using|and|the|takes?|requires?|an?|1) ){0,3}licen[cs]es?(?: tokens?)? ?(?:of|for|is"
    r"|are)?[:=]? ?\(?"
    rf"(?P<all>{_LICENCE}:\d{{1,6}}(?:(?:,? and |, ?| ?\+ ?){_LICENCE}:\d{{1,6}}){{0,16}}"
    rf"|(?<=[:=] ){_LICENCE}(?![\w:])|(?<=[:=]){_LICENCE}(?![\w:]))\)?"
)
COUNTED_LICENCES = (
    rf"(?<![\w.-])(?:(?P<n>{NUMBER})|an?) (?:licen[cs]es?(?: tokens?)? (?:of|for) [\"'`]?(?P<name>[a-z][\w.+-]*)[\"'`]?"
    r"|[\"'`]?(?P<name2>[a-z][\w.+-]*)[\"'`]? licen[cs]es?)(?![\w-])"
)
RECIPE = (
    rf"(?<![\w-])(?:(?:with|by|using|use|follow|following|the|our) ){{0,3}}recipe(?: is| called| named)?[:=]? ?{_NAME}"
)
CONSTRAINT = (
    r"(?<![\w-])(?:with |and |the |node )*constraint(?: is| of)?[:=]? ?[\"'`]?(?P<text>[a-z0-9][\w.&|!()\[\]*-]*)"
)
JOB_NAME = rf"(?<![\w-])job[ -]?name(?: is)?[:=]? ?{_NAME}"
SINGLETON = (
    r"(?<![\w-])(?:(?:with|as|an?|the) )*(?:dependency[:= ]+|dependency is )singleton(?![\w-])"
    r"|(?<![\w-])(?:run )?(?:as )?(?:an? )?singleton(?: job)?(?![\w-])"
)
THREAD = (
    r"(?<![\w-])(?:but |and |only |run |start )*(?:after|once|when|as soon as) (?:my |the |our )?thread "
    r"(?P<id>[a-z0-9][\w-]*)(?: (?:has|is|was|have))*(?: (?P<how>succe\w+|ok|fail\w*|finish\w*|end\w*|complet\w*|done"
    r"|over|start\w*))?(?P<any>,? (?:whatever|no matter|in any case|either way|regardless)[\w ]{0,30})?(?![\w-])"
)
QUEUES = (
    r"(?<![\w-])(?:(?:in|on|to|into|use|using|via|with|the|either|any of) )*(?:queues?|partitions?)(?: is| are)?[:=]? ?"
    r"(?P<all>[a-z0-9][\w@.-]*(?:(?:,? or |/)[a-z0-9][\w@.-]*){1,7})(?![\w/])"
)
MERIT = (
    r"(?<![\w-])(?:the |our |my )*(?:figure of merit|fom)(?: is)?[:=]? ?(?:the "
    r"|of )*(?P<unit>[a-z][\w/%-]*(?:/[a-z]+)?)?"
    r"(?: (?:number|value|figure|rate|time))*(?: (?:that )?(?:stands|printed|comes?))? ?(?:after|behind|following)"
    r" [\"'`](?P<after>[^\"'`\n\x00]{1,200})[\"'`](?: in (?:the file )?[\"'`]?(?P<file>[\w][\w./-]*\w))?[\"'`]?"
    r"(?:[,;]? ?\(?(?P<better>higher|lower|more|less|larger|smaller|bigger)(?: values?)? (?:is|are) better\)?)?"
)
_VARIABLE = r"(?:the )?(?:environment |env )?variable "
PASSED_ON = (
    r"(?<![\w-])(?:the |a )?secret(?: called| named)? [\"'`]?(?P<key>[\w.-]{1,128})[\"'`]?"
    rf" (?:(?:must|should|is|has|to|be|shall) )*(?:passed|given|exported|set|put)(?: on)? (?:as|into|in"
    rf"|to) {_VARIABLE}(?P<name>[a-z_]\w{{0,120}})"
)
BY_REFERENCE = (
    r"(?<![\w-])(?:with |and |set |the |an? )*(?:environment |env )?variable (?P<name>[a-z_]\w{0,120})"
    r"(?: (?:is|comes|taken|set))*(?: from| to| =|=|:)? (?:the |a )?secret(?: called"
    r"| named)? [\"'`]?(?P<key>[\w.-]{1,128})"
)
ON_EACH_TASK = (
    r"(?<![\w-])(?:it |the (?:command|program|job) )?(?:has to be |must be |should be |is |to be |gets )?"
    r"(?:started|launched|run) (?:on|in|by|for) (?:every|each|all) (?:tasks?|ranks?)(?:,? not (?:only"
    r"|just) once)?(?![\w-])"
)
APPLICATION = r"(?<![\w-])(?:app|application|software|solver)=[\"'`]?(?P<name>[a-z][\w+.-]{1,60})[\"'`]?(?=[ ,;]|$)"
MODULES = (
    r"(?<![\w-])(?:with |after |do |the |a )*(?:module|ml) (?:load"
    r"|add) (?P<all>[\w.+-]+/[\w./+-]*\w(?:,? (?:and )?[\w.+-]+/[\w./+-]*\w){0,16})"
)


def read_particulars(draft: Draft) -> None:
    """Find what is called by the field's own name; what does not fit the field is told back."""
    for match in draft.line.find(LICENCES):
        written = draft.line.words(*match.span("all"))
        draft.put("licenses", tuple(re.split(r",? and |, ?| ?\+ ?", written)), *match.span())
    for match in draft.line.find(COUNTED_LICENCES):
        count = count_of(match["n"]) if match["n"] else 1
        name = draft.line.words(*match.span("name" if match["name"] else "name2"))
        if count and name.lower() not in PADDING | EVERYDAY:
            draft.put("licenses", (f"{name}:{count}",), *match.span())
    for field, rule in (("recipe", RECIPE), ("name", JOB_NAME)):
        for match in draft.line.find(rule):
            draft.put(field, draft.line.words(*match.span("name")).rstrip("."), *match.span())
    for match in draft.line.find(CONSTRAINT):
        shape = draft.fields.setdefault("shape", {})
        shape["constraint"] = draft.line.words(*match.span("text")).rstrip(".")
        draft.source("shapes.0.constraint", *match.span())
    for match in draft.line.find(SINGLETON):
        draft.add("dependencies", Dependency(kind="singleton"), *match.span())
    for match in draft.line.find(MODULES):
        _modules(draft, match)
    for match in draft.line.find(APPLICATION):
        draft.add("software", SoftwareNeed(name=draft.line.words(*match.span("name")).rstrip(".")), *match.span())
    for match in draft.line.find(THREAD):
        _after_thread(draft, match)
    for match in draft.line.find(QUEUES):
        names = tuple(re.split(r",? or |/", draft.line.words(*match.span("all")).rstrip(".")))
        draft.fields["queues"] = names
        draft.put("queue", names[0], *match.span())
    for match in draft.line.find(MERIT):
        _merit(draft, match)
    for match in (found for rule in (BY_REFERENCE, PASSED_ON) for found in draft.line.find(rule)):
        name, key = draft.line.words(*match.span("name")), draft.line.words(*match.span("key")).rstrip(".")
        draft.add("environment", EnvironmentVariable(name=name, secret=key), *match.span())
    for match in draft.line.find(ON_EACH_TASK):
        draft.put("launch", "tasks", *match.span())


def _modules(draft: Draft, match: re.Match[str]) -> None:
    for written in re.split(r",? (?:and )?", draft.line.words(*match.span("all"))):
        need = module_need(written)
        if need is None:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            return
        draft.add("software", need, *match.span())


def _after_thread(draft: Draft, match: re.Match[str]) -> None:
    how = match["how"] or ""
    kind = (
        "afterany" if match["any"] else "afterok" if how.startswith(("succe", "ok"))
        else "afternotok" if how.startswith("fail") else "after" if how.startswith("start") else ""
    )  # fmt: skip
    thread = draft.line.words(*match.span("id"))
    if kind:
        draft.add("dependencies", Dependency(kind=kind, thread_id=thread), *match.span())  # type: ignore[arg-type]  # set above
        return
    draft.ask("dependencies", *match.span(), f"{draft.words(*match.span())!r}: must it have succeeded?", [])


def _merit(draft: Draft, match: re.Match[str]) -> None:
    lower = match["better"] in ("lower", "less", "smaller")
    unit = draft.line.words(*match.span("unit")) if match["unit"] and match["unit"] not in ("number", "value") else ""
    try:
        figure = FigureOfMerit(
            after=draft.line.words(*match.span("after")).strip(), unit=unit, better="lower" if lower else "higher",
            **({"file": draft.line.words(*match.span("file"))} if match["file"] else {}),
        )  # fmt: skip
    except ValidationError:
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
        return
    draft.put("figure_of_merit", figure, *match.span())
