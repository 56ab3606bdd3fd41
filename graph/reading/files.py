"""Inputs and results: which files, where they lie, how large they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import InputFile
from dragoman.units import parse_bytes
from graph.reading.draft import Draft
from graph.reading.file_facts import ask_two_of_a_name, name_behind, sites_before, sites_behind, size_behind, with_facts
from graph.reading.file_names import LIST, last_part, names_of
from graph.reading.line import pattern
from graph.reading.outputs import read_outputs, take_outputs
from graph.reading.reading import Option

__all__ = ["read_files"]

_AT = r"(?P<place>,? ?(?:at|on|from) (?:the )?(?:site |cluster )(?P<site>[a-z0-9][\w.-]*))?"
_SIZE = (
    r"(?P<size>,? ?\(?(?:about |ca\.? |approx\.? |~ ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b)(?: of data| in size"
    r"| large| big)?\)?(?! (?:of )?(?:main |total |system )?(?:ram|mem(?:ory)?)(?![\w-])))?"
)
_NOUN = (
    r"(?:(?:input|data|config|configuration|parameter|restart|structure|mesh|topology|trajectory|checkpoint"
    r"|geometry)s? ?(?:data|files?|decks?|sets?)?|source (?:data|files?)|sources|files?|datasets?|databases?"
    r"|references?"
    r"|index(?:es)?|archives?|catalogues?)"
)
_AS = (
    r"(?:,? (?:and |it )?(?:is |are )?(?:needed |required |used |wanted |staged |to be staged )?as (?:input |file )?"
    r"(?P<as>[\w-]+\.[\w.-]*\w))?"
)
_ARGUMENT = re.compile(r" as (?:its|the|an?) (?:only |first |last |single |sole )?argument(?![\w-])")
INPUT = (
    rf"(?<![\w/.-])(?<!log )(?<!output )(?:in ?: ?|(?:file )?input(?: file)?s? ?: ?"
    rf"|(?:it |which |that |the job |job )?(?:needs?"
    rf"|requires?|reads?|reading|takes?|uses?"
    rf"|using|with|from|on"
    rf"|stage(?: in)?|upload|copy|transfer)"
    rf" (?:the |an? |my |its |these |following )?(?:{_NOUN} )?(?:is |are |in |from |at |called |named |: ?)?"
    rf"|(?:the |my |our |all )?(?:[a-z-]{{3,16}} )?(?:reads|images|frames|samples|sequences|tables|genomes?|videos"
    rf"|spectra"
    rf"|events|scans|models?|weights|fields|grids?|mesh(?:es)?|maps|records|logs|corpus)"
    rf" ?(?:is|are|lies?|sits?|lives?|comes?|stored|located)(?: on \x00{{1,60}})?"
    rf"(?: ?(?:in|on|at|from|under|here(?= ?:)|there(?= ?:))):? ?"
    r"|(?:reads|images|frames|samples|sequences|genomes?|meshe?s|mesh|weights|scans) ?: ?"
    r"|(?:the|our|my) (?!(?:[a-z]+ )?(?:binary|program|programme|executable|code|script|image|container"
    r"|software|results?"
    r"|outputs?|job|runs?|licen[cs]e)(?![\w-]))[a-z-]{3,20}(?: [a-z-]{3,20})? (?:lies?|sits?|lives?|resides?|(?:is|are)"
    r" (?:stored|located|kept)) (?:in|on|at|under) (?=~?/)"
    rf"|(?:from|in|on) (?:the )?(?:s3 )?bucket:? ?"
    rf"|(?:the |my |an? |our )?{_NOUN}(?: \((?:about |ca\. |~ ?)?(?P<bytes2>\d+(?:\.\d+)? ?[kmgtp]i?b)\))?"
    rf"(?: ?(?:is|are|lies?|sits?|lives?|comes?|stored|located)(?: on \x00{{1,60}})?)?(?: ?(?:in|on|at"
    rf"|from|under|here(?= ?:)|there(?= ?:)))?:? ?=? ?)"
    rf"{LIST}(?: as (?:an )?inputs?(?:"
    rf" files?)?)?{_AT}{_SIZE}{_AT.replace('place', 'place2').replace('site>', 'site2>')}"
)
SAME = (
    r"(?<![\w-])(?:with |take |using |use |on |from )?(?:the )?same (?:[a-z-]{3,16} ){0,2}(?:data|inputs?|files?"
    r"|mesh|dataset)"
    r"(?: (?:as|like) (?:last (?:time|week|month|year)|before|yesterday|always|usual))?(?![\w-])"
)
_READ = r"(?:read|needed|used|required|taken|loaded|processed|consumed|expected|analy[sz]ed|opened)"
INPUT_PASSIVE = (
    rf"(?<![\w/.-])(?:(?:the|an?|my|our|all|input|data|files?|{_NOUN}) ){{0,4}}{LIST}{_SIZE},? (?:is|are|will be"
    rf"|must be|has to be|have to be) (?:to be )?{_READ}(?: in)?(?: as (?:an )?inputs?)?(?: by)?(?![\w-])",
    rf"(?<![\w-])(?:what is )?(?:needed|required|used|read) (?:is|are|as inputs? (?:is|are)) "
    rf"(?:(?:the|an?|my|our|files?|{_NOUN}) ){{0,3}}{LIST}{_SIZE}(?![\w/])",
)


def _stated_inputs(draft: Draft, match: re.Match[str]) -> None:
    """`mesh.msh (3 GB) is read by ./x`, `needed are a.dat and b.dat`."""
    files = names_of(draft, *match.span("files"))
    size = parse_bytes(match["bytes"]) if match["bytes"] and len(files) == 1 else None
    for name in files:
        with suppress(ValidationError):
            item = InputFile(source=name, name=last_part(name), bytes=size)
            draft.add("inputs", with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())


def read_files(draft: Draft, sites: Sequence[str] = ()) -> None:
    """Find what lies at a site of the fleet, results (`results in out.dat`), then inputs (`needs input.csv`)."""
    known = draft.named(sites)
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    for rule in _located(names) if names else ():
        for match in draft.line.find(rule):
            _at_a_site(draft, match, known[match["site"]])
    for match in draft.line.find(MOVED):
        source, name = (draft.line.words(*match.span(group)).rstrip(".") for group in ("files", "as"))
        draft.add("inputs", InputFile(source=source, name=name), *match.span())
    read_outputs(draft)
    for match in (found for rule in INPUT_PASSIVE for found in draft.line.find(rule)):
        _stated_inputs(draft, match)
    for match in draft.line.find(INPUT):
        _inputs(draft, match)
    for match in draft.line.find(STORED):
        source = draft.line.words(*match.span("files")).rstrip(".")
        item = InputFile(source=source, name=last_part(source))
        draft.add("inputs", with_facts(draft, item, match.end()), *match.span())
        size_behind(draft, match.end())
    if names and "inputs" in draft.fields:
        sites_behind(draft, names, known)
        sites_before(draft, names, known)
    if "inputs" in draft.fields:
        name_behind(draft)
    ask_two_of_a_name(draft)
    for match in draft.line.find(SAME):
        draft.ask("inputs", *match.span(), f"{draft.words(*match.span())!r}: which files are these?", [])


STORED = r"(?<![\w/.-])(?:[a-z]+ )?(?:at |in |from |under )?(?P<files>(?:s3|gs|globus)://[^\s,;()\x00]+)"
"""An object of a store by its address, wherever it stands."""
MOVED = (
    r"(?<![\w/.-])(?:the )?(?:file |input )?(?P<as>[\w-]+\.[\w.-]*\w) (?:is|lies|sits|can be found) (?:at|in|under"
    r"|as) "
    r"(?P<files>(?:s3|gs|https?|globus|ftp|file|gsiftp)://[^\s,;\x00`\"\'<>]+|~?/[\w.*/@+-]+[\w*/])"
)


def _located(names: str) -> tuple[str, ...]:
    """Rules for files with the site where they lie before or behind them."""
    lies = r"(?:is|are|lies?|sits?|lives?|resides?|stored|located|kept|can be found|lying)(?: now| already)?"
    site = rf"(?:the )?(?:site |cluster )?(?P<site>{names})"
    lead = (
        rf"(?<![\w-])(?:(?:it |the job )?(?:needs?|takes?|take|reads?|uses?|using|with|stage|copy|transfer|fetch) )?"
        rf"(?:(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b) (?:of )?)?(?:the |my |our |its |all )?(?:[a-z-]{{3,16}} ){{0,2}}"
        r"(?:(?:\(|[a-z-]{3,16}, )(?:about |ca\. |~ ?)?(?P<bytes2>\d+(?:\.\d+)? ?[kmgtp]i?b)(?:\)|,) )?"
        rf"(?:{lies} )?"
    )
    return (
        rf"{lead}(?:at|on) {site}(?:,? (?:under|in|at|as|below|here) ?:? ?| ?: ?|, (?=~?/)){LIST}{_AS}",
        rf"(?<![\w-])(?:the |my |our |all )?(?:[a-z-]{{3,16}} ){{1,2}}{lies} (?:in |at |under |on "
        rf"|as )?{LIST},? (?:at|on) {site}{_AS}",
        rf"{lead}(?:in |at |under |on )?{LIST}(?:,? (?:which )?{lies} (?:at|on)|,? from"
        rf"|(?<=[\w*/]) at) {site}(?![\w-]){_AS}",
    )


def _at_a_site(draft: Draft, match: re.Match[str], site: str) -> None:
    files = names_of(draft, *match.span("files"))
    stated = match.groupdict().get("bytes") or match.groupdict().get("bytes2")
    size = parse_bytes(stated) if stated and len(files) == 1 else None
    renamed = draft.line.words(*match.span("as")) if match["as"] and len(files) == 1 else None
    for name in files:
        try:
            item = InputFile(source=name, name=renamed or last_part(name), site=site, bytes=size)
        except ValidationError:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            return
        draft.add("inputs", with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())
    if len(files) == 1 and size is None:
        size_behind(draft, match.end())


def _argument_too(draft: Draft, match: re.Match[str], command: list[str], files: list[str]) -> None:
    """`python x.py on file data.csv`: the program must be told of the file, and how is not said."""
    at = len(draft.fields.get("inputs", []))
    names = [last_part(name) if name.startswith(("/", "~")) or "://" in name else name for name in files]
    inputs: dict[str, Any] = {
        f"inputs.{at + index}": {"source": name, "name": base}
        for index, (name, base) in enumerate(zip(files, names, strict=True))
    }
    words = draft.words(*match.span())
    draft.ask(
        "inputs", *match.span(), f"{words!r}: is it an argument of {command[0]} too?",
        [Option(label="yes, the last argument", patch={"command": [*command, *names], **inputs}),
         Option(label="no, only an input", patch=inputs)],
    )  # fmt: skip


_AFTERWARDS = re.compile(
    r"(?<![\w-])(?:then|afterwards?|after that|finally|at the end|when (?:it is |it's )?(?:done|finished|over)"
    r"|in the end|at last)[ ,]{1,2}(?:please )?$"
)
_AS_RESULT = (
    r",? ?(?:back|at the end|afterwards|in the end|when (?:it is |it's )?(?:done|finished|over)"
    r"|as (?:an? |the )?(?:final |only |main )?(?:results?|outputs?)(?: files?)?)(?![\w-])"
)
_MOVES = re.compile(r"(?:copy|transfer|upload|stage|move|send)(?![\w-])")


def _inputs(draft: Draft, match: re.Match[str]) -> None:
    if re.search(r"\bback\b", draft.line.norm[max(0, match.start() - 30) : match.start()] + match[0]):
        take_outputs(draft, match)
        return
    if _AFTERWARDS.search(draft.line.norm, max(0, match.start() - 40), match.start()) and _MOVES.match(match[0]):
        take_outputs(draft, match)
        return
    later = pattern(_AS_RESULT).match(draft.line.open, match.end())
    if later is not None:
        take_outputs(draft, match)
        draft.line.claim(*later.span())
        return
    where = match["site"] or match["site2"]
    group = "site" if match["site"] else "site2"
    site = draft.line.words(*match.span(group)).rstrip(".") if where else None
    size = None
    files = names_of(draft, *match.span("files"))
    command = draft.fields.get("command")
    lead = re.search(r"(?:(?:on|over|with) )?$", draft.line.norm[max(0, match.start() - 5) : match.start()])
    first = match.start() - (len(lead[0]) if lead else 0)
    said = first < match.start() or match[0].startswith(("on ", "over ", "with "))
    argument = _ARGUMENT.match(draft.line.norm, match.end())
    if command and argument and not set(files) & set(command):
        draft.fields["command"] = [*command, *files]
        draft.source("command", match.start(), argument.end())
        return
    if command and said and draft.line.follows_claimed(first) and not set(files) & set(command):
        _argument_too(draft, match, [*command], files)
        return
    stated = match["bytes"] or match["bytes2"]
    if stated and len(files) == 1:
        try:
            size = parse_bytes(stated)
        except BadRequest:
            size = None
    known = {item.name for item in draft.fields.get("inputs", ())}
    for name in files:
        base = last_part(name) if "/" in name else name
        if "://" not in name and not name.startswith(("/", "~")):
            base = name.removeprefix("./")
            if base in known:
                draft.line.claim(*match.span())
                continue
        try:
            item = InputFile(source=name, name=base, site=site, bytes=size)
        except ValidationError:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            continue
        draft.add("inputs", with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())
    if len(files) > 1 and "(" in (match["size"] or "") and (last := draft.fields.get("inputs")):
        last[-1] = last[-1].model_copy(update={"bytes": parse_bytes(match["bytes"])})  # `a.yaml, /data/mesh (20 GB)`
    if len(files) == 1 and draft.fields.get("inputs"):
        size_behind(draft, match.end())
