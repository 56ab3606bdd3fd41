"""Fields that requests name by their own words: licences, recipe, constraint, candidate queues, figure of merit."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.request import Dependency, EnvironmentVariable, FigureOfMerit, SoftwareNeed
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import PADDING
from graph.reading.numbers import NUMBER, count_of
from graph.reading.queue_choices import read_queue_choices
from graph.reading.script_modules import module_need

__all__ = ["read_particulars"]

_NAME = r"[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]?"
_LICENCE = (
    r"(?!(?:and|any|free|needed|nil|no|none|not|required|unlimited)\b|n/?a\b)[a-z][\w.-]*(?:@[\w.-]+)?"
    r"(?::\d{1,6})?"
)
LICENCES = (
    r"(?<![\w-])(?:(?:needs?|with|using|and|the|takes?|requires?|an?|1) ){0,3}licen[cs]es?(?: tokens?)? ?(?:of|for|is"
    r"|are|please)?[:=]? ?\(?"
    rf"(?P<all>{_LICENCE}:\d{{1,6}}(?:(?:,? and |, ?| ?\+ ?){_LICENCE}:\d{{1,6}}){{0,16}}"
    rf"|(?<=[:=] ){_LICENCE}(?![\w:])|(?<=[:=]){_LICENCE}(?![\w:]))\)?"
)
COUNTED_LICENCES = (
    rf"(?<![\w.-])(?<!have )(?<!own )(?<!hold )(?<!bought )(?:(?P<n>{NUMBER})|an?) (?:(?:licen[cs]es?"
    rf"|lics?\.?)(?: tokens?)?"
    rf" (?:of|for) (?:the )?(?:(?:feature|token|product|module|licen[cs]e) )?[\"'`]?(?P<name>[a-z][\w.+-]*)[\"'`]?"
    r"|[\"'`]?(?P<name2>[a-z][\w.+-]*)[\"'`]? (?:licen[cs]es?|lics?\.?))(?![\w-])"
    r"(?: (?:must|should|(?:has|have|needs?) to|to) be (?:free|available|there|checked out|reserved))?"
    r"|(?<![\w.-])(?P<name4>[a-z][\w.-]*):(?P<n4>\d{1,6}) (?:licen[cs]es?|tokens?)(?![\w-])"
    rf"|(?<![\w-])(?:licen[cs]es?|lics?\.?)(?: tokens?)?[:=]? (?P<n3>{NUMBER}) ?x? (?P<name3>[a-z][\w.+-]*)"
    r"(?= ?(?:[,;)]|\.(?: |$)|$))"
)
_NO_UNITS = ("number", "value", "figure", "rate", "time")
RECIPE = (
    rf"(?<![\w-])(?:(?:with|by|using|use|follow|following|the|our) ){{0,3}}recipe(?:(?: is| called"
    rf"| named)(?!\w))?[:=]? ?{_NAME}"
)
CONSTRAINT = (
    r"(?<![\w-])(?:with |and |the |node )*constraint(?:(?: is"
    r"| of)(?!\w))?[:=]? ?[\"'`]?(?P<text>[a-z0-9][\w.&|!()\[\]*-]*)"
)
JOB_NAME = (
    rf"(?<![\w-])job[ -]?(?:name|title)(?![a-z])(?: (?:is|should be|must be"
    rf"|shall be)(?!\w))?[:=]? ?(?:not [\w@.-]+,? but )?(?!not |no |to |and |or |should |must |shall ){_NAME}"
)
SINGLETON = (
    r"(?<![\w-])(?:(?:with|as|an?|the) )*(?:dependency[:= ]+|dependency is )singleton(?![\w-])"
    r"|(?<![\w-])(?:run )?(?:as )?(?:an? )?singleton(?: job)?(?![\w-])"
)
THREAD = (
    r"(?<![\w-])(?:but |and |only |run |start )*(?:after|once|when|as soon as) (?:my |the |our )?thread "
    r"(?P<id>[a-z0-9][\w-]*)(?: (?:has|is|was|have))*(?: (?P<how>succe\w+|ok|fail\w*|finish\w*|end\w*|complet\w*|done"
    r"|over|start\w*))?(?P<any>,? (?:whatever|no matter|in any case|either way|regardless)[\w ]{0,30})?(?![\w-])"
)
_IN_UNIT = (
    r",? \(?(?:measured |given |counted |expressed )?in "
    r"(?P<unit2>[a-zµ%][\w%]{0,15}(?:/[a-z]\w{0,10}){0,2})\)?(?=[ ,;.)]|$)"
)
_UNITS = (
    r"(?:(?:milli|micro)?seconds?|s(?=[ ,;.)]|$)|minutes?|hours?|days?|ms|[kmgt]?flops?|[a-zµ]{1,12}/[a-z]{1,8}"
    r"|percent|[kmgt]i?b(?:/s)?)"
)
"""Units of a figure, where a word behind `in` could be the name of a file."""
_BETTER = (
    r"(?:a |the )?(?:higher|lower|more|less|larger|smaller|bigger|greater|faster|fewer)(?: (?:values?|numbers?"
    r"|ones?|figures?))?"
    r"(?:,? (?:is|are|being|means?|counts? as|=) (?:the )?better|,? the better| better)"
    r"|(?:higher|lower|larger|smaller)-is-better"
)
MERIT = (
    r"(?<![\w-])(?:the |our |my |its |as )*(?:figure of merit|fom|metric|(?:take|use|report|note|record|track)(?= the "
    r"(?:number|value|figure)))(?: is| being)?[:=]? ?(?:the "
    r"|of )*(?P<unit>[a-z][\w/%-]*(?:/[a-z]+)?)?"
    r"(?: (?:number|value|figure|rate|time))*(?: (?:that )?(?:stands|printed|comes?))? ?(?:after|behind|following)"
    r" [\"'`](?P<after>[^\"'`\n\x00]{1,200})[\"'`](?:,? (?:in|from|of)"
    rf" (?:the file )?[\"'`]?(?!(?:the|its|our|my|log|stdout"
    rf"|output)(?![\w.-]))(?!{_UNITS}(?![\w.-]))(?P<file>\w[\w./-]*\w)(?! ?[=:]))?[\"'`]?"
    rf"(?: in (?:the |its )?(?:log(?: file)?|output|stdout))?"
    rf"(?:{_IN_UNIT}|, (?P<unit3>{_UNITS})(?![\w/]))?(?:[,;.]? ?\(?(?:and |where |with |but |here"
    rf" ){{0,2}}(?P<better>{_BETTER})\)?)?"
)
_KEPT = r"secret(?: called| named)? [\"'`]?(?P<key>[\w.-]{1,128})"
_VARIABLE = r"(?:the )?(?:environment |env )?variable "
PASSED_ON = (
    r"(?<![\w-])(?:the |a )?secret(?: called| named)? [\"'`]?(?P<key>[\w.-]{1,128})[\"'`]?"
    rf" (?:(?:must|should|is|has|to|be|shall) )*(?:passed|given|exported|set|put)(?: on)? (?:as|into|in"
    rf"|to) {_VARIABLE}(?P<name>[a-z_]\w{{0,120}})"
)
BY_REFERENCE = (
    r"(?<![\w-])(?:with |and |set |pass |define |give |provide |the |an? )*(?:environment "
    r"|env )?variable (?P<name>[a-z_]\w{0,120})"
    r"(?:(?:,|\()? ?(?:whose value|which|that|its value|the value of which))?"
    r"(?: (?:is|are|comes|taken|set|read|to|be|has|must|should|shall|obtained|filled|kept|gets|its|value))*"
    rf"(?: from| to| in| =|=|:)? (?:(?:the|a) )?{_KEPT}"
    r"(?:,? (?:and )?(?:(?:it |that )?(?:must|has to|should|shall|needs to|is to) be (?:defined|set|there|present"
    r"|exported"
    r"|available|passed|given)))?"
)
FROM_KEPT = (
    r"(?<![\w-])(?:with |and |set |needs? |export |pass )*(?P<name>[a-z]\w{0,60}_\w{1,60})(?:,? (?:which|that"
    r"|whose value))?"
    r"(?: (?:is|are|comes|taken|set|read|to|be|has|must|should|shall|obtained|filled|gets|its|value))*"
    rf"(?: from| to| =|=|:) (?:(?:the|a) )?{_KEPT}"
)
ON_EACH_TASK = (
    r"(?<![\w-])(?:it |the (?:command|program|job) )?(?:has to be |must be |should be |is |to be |gets )?"
    r"(?:started|launched|run) (?:on|in|by|for) (?:every|each|all) (?:tasks?|ranks?)(?:,? not (?:only"
    r"|just) once)?(?![\w-])"
)
APPLICATION = (
    r"(?<![\w-])(?:app|application|software|solver)=[\"'`]?(?P<name>[a-z][\w+.-]{1,60})[\"'`]?(?=[,;]|$| [\w-]+[=:])"
)
MODULES = (
    r"(?<![\w-])(?:with |after |do |the |a |load |loading |loaded |use |using )*(?:(?:module|ml) (?:load|add)"
    r"|modules?:?)"
    r" (?P<all>[\w.+-]+/[\w./+-]*\w(?:,? (?:and )?[\w.+-]+/[\w./+-]*\w){0,16})"
    r"(?:,? (?:(?:must|have to|has to|should|shall|needs? to|are to|is to) be )?loaded(?: first| beforehand)?)?"
)


def read_particulars(draft: Draft) -> None:
    """Find what is called by the field's own name; what does not fit the field is told back."""
    for match in draft.line.find(LICENCES):
        written = draft.line.words(*match.span("all"))
        name = re.escape(written.split(":")[0].lower())
        number = re.search(rf"(?<![\w.-])\d+ {name} $", draft.line.open[: match.start()][-48:])
        begin = match.start() - len(number[0]) if number else match.start()
        draft.put("licenses", tuple(re.split(r",? and |, ?| ?\+ ?", written)), begin, match.end())
    counted: list[str] = []
    for match in draft.line.find(COUNTED_LICENCES):
        stated = match["n"] or match["n3"] or match["n4"]
        count = count_of(stated) if stated else 1
        named = next(group for group in ("name", "name2", "name3", "name4") if match[group])
        name = draft.line.words(*match.span(named)).rstrip(".")
        if count and name.lower() not in PADDING | EVERYDAY:
            counted.append(f"{name}:{count}")
            draft.source("licenses", *match.span())
    if counted and "licenses" not in draft.fields:
        draft.fields["licenses"] = tuple(dict.fromkeys(counted))
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
    read_queue_choices(draft)
    for match in draft.line.find(MERIT):
        _merit(draft, match)
    for match in (found for rule in (BY_REFERENCE, PASSED_ON, FROM_KEPT) for found in draft.line.find(rule)):
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
    lower = re.search(r"lower|less|smaller|fewer", match["better"] or "") is not None
    unit = draft.line.words(*match.span("unit")) if match["unit"] and match["unit"] not in _NO_UNITS else ""
    behind = "unit2" if match["unit2"] else "unit3"
    unit = draft.line.words(*match.span(behind)) if match[behind] and not unit else unit
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
