"""Inputs and results: which files, where they lie, how large they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import InputFile, OutputFile, Source
from dragoman.units import parse_bytes
from graph.reading.draft import Draft
from graph.reading.line import pattern
from graph.reading.reading import Option

__all__ = ["FILE", "read_files"]

# `4000MB/core` is an amount, not a file in a folder.
_AMOUNT = r"\d[\d.,]*[a-z]*/(?:core|cpu|node|host|task|rank|process|proc|thread|gpu|card|job|socket|slot)s?(?![\w/.])"
FILE = (
    r"(?:(?:s3|gs|https?|globus|ftp|file|gsiftp)://[^\s,;\x00]+|(?:[\w.-]+:)?~?/[\w.*/@+-]+[\w*/]"
    rf"|[\w*][\w.*/+-]*\.(?!\d)[a-z*][\w*]{{0,9}}(?:\.[a-z]\w{{0,5}})?(?![\w/])"
    rf"|(?!{_AMOUNT})[\w.-]+/[\w.*/+-]*[\w*/](?![\w*/])(?! v?\d+\.\d))"
)
_LIST = (
    rf"(?P<files>[\"'`]?(?>{FILE})[\"'`]?(?:(?:,? and |, ?|;? ?\+ ?| & )(?:a |the )?[\"'`]?(?>{FILE})[\"'`]?){{0,20}})"
)
_AT = r"(?P<place>,? ?(?:at|on|from) (?:the )?(?:site |cluster )(?P<site>[a-z0-9][\w.-]*))?"
_SIZE = (
    r"(?P<size>,? ?\(?(?:about |ca\.? |approx\.? |~ ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b)(?: of data| in size"
    r"| large| big)?\)?)?"
)
_NOUN = (
    r"(?:(?:input|data|config|configuration|parameter|restart|structure|mesh|topology|trajectory|checkpoint"
    r"|geometry)s? ?(?:data|files?|decks?|sets?)?|source (?:data|files?)|sources|files?|datasets?)"
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
    rf" ?(?:is|are|lies?|sits?|lives?|comes?|stored|located)(?: ?(?:in|on|at|from|under|here(?= ?:)|there(?= ?:))):? ?"
    rf"|(?:from|in|on) (?:the )?(?:s3 )?bucket:? ?"
    rf"|(?:the |my |an? |our )?{_NOUN}(?: ?(?:is|are|lies?|sits?|lives?|comes?|stored|located))?(?: ?(?:in|on|at"
    rf"|from|under|here(?= ?:)|there(?= ?:)))?:? ?=? ?)"
    rf"{_LIST}(?: as (?:an )?inputs?(?:"
    rf" files?)?)?{_AT}{_SIZE}{_AT.replace('place', 'place2').replace('site>', 'site2>')}"
)
SAME = (
    r"(?<![\w-])(?:with |take |using |use |on |from )?(?:the )?same (?:[a-z-]{3,16} ){0,2}(?:data|inputs?|files?"
    r"|mesh|dataset)"
    r"(?: (?:as|like) (?:last (?:time|week|month|year)|before|yesterday|always|usual))?(?![\w-])"
)
OUTPUT = (
    rf"(?<![\w-])(?:out ?: ?|(?:the )?(?:results?|outputs?|files?) to (?:bring|copy|send|fetch|get) back(?=[: ])"
    rf"|(?:the |its |my |and ){{0,6}}(?:results?|outputs?)(?: files?| data)?(?: ?(?:is|are|will be"
    rf"|go(?:es)?|end up|written|wanted|land))?(?: ?(?:in|to|into|at))?:? ?=? ?"
    rf"|(?:writes?|produces?|creates?|generates?|saves?|bring(?:s)?(?: me| us)? back|send (?:me|us)(?: back)?"
    rf"|copy back|copy home|fetch"
    rf"|return|retrieve|collect|download"
    rf"|send back|get back|i want|want|give me)"
    rf":? (?:back )?(?:the |me |its |all |every |each |file |everything |anything |that |which |match(?:es|ing)? "
    rf"|named |called "
    rf"|results? |outputs? |files? |to |in |into )*)(?<![a-z]){_LIST}(?: back)?"
)


_MOVED_BACK = r"(?:brought|sent|copied|transferred|returned|fetched|downloaded|collected|retrieved|kept)"
OUTPUT_AROUND = (
    rf"(?<![\w/.-])(?:please )?(?:bring|send|get|copy|fetch|ship|move) (?:me |us |the |all |files? "
    rf"|results? )*{_LIST} (?:back|home)"
    r"(?: to (?:me|us|my \w+|our \w+))?(?: when (?:it is |it's )?(?:done|finished))?(?![\w-])"
)
OUTPUT_PASSIVE = (
    rf"(?<![\w/.-])(?:(?:the|all|files?|results?|outputs?|matching|named|called) )*\(?{_LIST}\)? "
    rf"(?:(?:should|must|shall|has to|have to) come|(?:is|are|should be|must be|shall be|has to be|have to be"
    rf"|needs? to be|to be) (?:to be )?{_MOVED_BACK})(?: back| home)?(?![\w-])"
)
OUTPUT_NAMED = (
    rf"(?<![\w/.-])(?:(?:we|i|you) (?:will |should )?(?:expect|want|get|need|keep) )?(?:the |an? )?(?:file )?{_LIST},? "
    r"(?:as|is|are|being) (?:an? |the |our |my |its )?(?:final |expected |main |only )?(?:results?|outputs?)"
    r"(?: files?)?(?![\w-])"
)


_READ = r"(?:read|needed|used|required|taken|loaded|processed|consumed|expected|analy[sz]ed|opened)"
INPUT_PASSIVE = (
    rf"(?<![\w/.-])(?:(?:the|an?|my|our|all|input|data|files?|{_NOUN}) ){{0,4}}{_LIST}{_SIZE},? (?:is|are|will be"
    rf"|must be|has to be|have to be) (?:to be )?{_READ}(?: in)?(?: as (?:an )?inputs?)?(?: by)?(?![\w-])",
    rf"(?<![\w-])(?:what is )?(?:needed|required|used|read) (?:is|are|as inputs? (?:is|are)) "
    rf"(?:(?:the|an?|my|our|files?|{_NOUN}) ){{0,3}}{_LIST}{_SIZE}(?![\w/])",
)


def _stated_inputs(draft: Draft, match: re.Match[str]) -> None:
    """`mesh.msh (3 GB) is read by ./x`, `needed are a.dat and b.dat`."""
    files = _names(draft, *match.span("files"))
    size = parse_bytes(match["bytes"]) if match["bytes"] and len(files) == 1 else None
    for name in files:
        with suppress(ValidationError):
            item = InputFile(source=name, name=_last_part(name), bytes=size)
            draft.add("inputs", _with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())


def _sites_behind(draft: Draft, names: str, known: dict[str, str]) -> None:
    """`/data/a.nc, which is 120 GB in size and stored at titan`: where the file lies that was just spoken of."""
    rule = (
        r"(?<=\x00)[ ,]{0,2}(?:and |which |that |it )*(?:is |are )?(?:stored|located|kept|lies?|lying|lives?|sits?"
        rf"|to be found|found)(?: now| already)? (?:at|on) (?:the )?(?:site |cluster )?(?P<site>{names})(?![\w-])"
    )
    for match in draft.line.find(rule):
        at = draft.line.span(match.start(), match.end())[0]
        before = max((source for source in draft.sources if (source.start or 0) < at), key=_begin, default=None)
        place = re.fullmatch(r"inputs\.(\d+)(?:\.bytes)?", before.field) if before else None
        if place is None or draft.fields["inputs"][int(place[1])].site is not None:
            continue
        index, site = int(place[1]), known[match["site"]]
        draft.fields["inputs"][index] = draft.fields["inputs"][index].model_copy(update={"site": site})
        draft.source(f"inputs.{index}.site", *match.span())


def _sites_before(draft: Draft, names: str, known: dict[str, str]) -> None:
    """`juno:/data/a.nc`: the site stands before the path."""
    for index, item in enumerate(draft.fields["inputs"]):
        place = re.fullmatch(rf"(?i)(?P<site>{names}):(?P<path>~?/.+)", item.source)
        if place is not None and item.site is None:
            renamed = item.name if item.name != item.source else _last_part(place["path"])
            changed = {"site": known[place["site"].lower()], "source": place["path"], "name": renamed}
            draft.fields["inputs"][index] = item.model_copy(update=changed)


def _begin(source: Source) -> int:
    return source.start or 0


def _names(draft: Draft, start: int, end: int) -> list[str]:
    words = draft.line.words(start, end)
    found = re.findall(FILE, words, re.IGNORECASE)
    return [name.rstrip(".") for name in found]


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
    for match in (
        found for rule in (OUTPUT_AROUND, OUTPUT, OUTPUT_PASSIVE, OUTPUT_NAMED) for found in draft.line.find(rule)
    ):
        _outputs(draft, match)
    if "outputs" in draft.fields:
        _optional_outputs(draft)
    for match in (found for rule in INPUT_PASSIVE for found in draft.line.find(rule)):
        _stated_inputs(draft, match)
    for match in draft.line.find(INPUT):
        _inputs(draft, match)
    for match in draft.line.find(STORED):
        source = draft.line.words(*match.span("files")).rstrip(".")
        item = InputFile(source=source, name=_last_part(source))
        draft.add("inputs", _with_facts(draft, item, match.end()), *match.span())
    if names and "inputs" in draft.fields:
        _sites_behind(draft, names, known)
        _sites_before(draft, names, known)
    _two_of_a_name(draft)
    for match in draft.line.find(SAME):
        draft.ask("inputs", *match.span(), f"{draft.words(*match.span())!r}: which files are these?", [])


STORED = r"(?<![\w/.-])(?:[a-z]+ )?(?:at |in |from |under )?(?P<files>(?:s3|gs|globus)://[^\s,;()\x00]+)"
"""An object of a store by its address, wherever it stands."""
MOVED = (
    r"(?<![\w/.-])(?:the )?(?:file |input )?(?P<as>[\w-]+\.[\w.-]*\w) (?:is|lies|sits|can be found) (?:at|in|under"
    r"|as) "
    r"(?P<files>(?:s3|gs|https?|globus|ftp|file|gsiftp)://[^\s,;\x00]+|~?/[\w.*/@+-]+[\w*/])"
)


def _last_part(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1]


def _two_of_a_name(draft: Draft) -> None:
    """`/a/x.dat and /b/x.dat`: both would lie at one place in the job's folder."""
    names = [item.name for item in draft.fields.get("inputs", ())]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        sources = ", ".join(item.source for item in draft.fields["inputs"] if item.name == name)
        draft.contested.add("inputs")
        draft.ask("inputs", 0, 0, f"Both {sources} would be {name!r} in the job's folder. Under which names?", [])


_FACTS = (
    r",? ?(?:\(|(?:which|that|and|it) (?:it )?(?:is|has|are) )(?:(?:about|ca\.?|approx\.?|roughly|around|some"
    r"|~) ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b)?"
    r"(?:[,;]? ?(?:with )?sha-?256(?: sum)?[:= ] ?(?P<sha>[0-9a-f]{64}))?(?:(?: of data| in size| large| big"
    r"| in all)|\))(?![\w-])"
)


def _with_facts(draft: Draft, item: InputFile, end: int) -> InputFile:
    """`/data/x.h5 (1.5 TB, sha256 ...)`: what stands in brackets behind a file is of the file."""
    match = pattern(_FACTS).match(draft.line.open, end)
    if match is None or not (match["bytes"] or match["sha"]):
        return item
    draft.line.claim(*match.span())
    size = parse_bytes(match["bytes"]) if match["bytes"] else item.bytes
    return item.model_copy(update={"bytes": size, "sha256": match["sha"] or item.sha256})


OPTIONAL = (
    rf"(?<![\w-])(?:and |also |,? ?)?(?:if (?:it|they|there|any|one)?(?: is| are)? ?(?:exists?|present|there"
    rf"|available|written)"
    rf"|optionally|where (?:it|they) exists?),? (?P<files>[\"'`]?(?>{FILE})[\"'`]?)"
    rf"|(?<![\w/.-])(?P<files2>(?>{FILE}))[\"'`]?,? \(?(?:if (?:it|they)? ?(?:exists?|is there|is written)"
    rf"|if (?:present|any|there)"
    rf"|optional)\)?(?![\w-])"
)


def _optional_outputs(draft: Draft) -> None:
    """`bring back a.dat and, if it exists, b.log`."""
    for match in draft.line.find(OPTIONAL):
        for name in _names(draft, *match.span("files" if match["files"] else "files2")):
            with suppress(ValidationError):
                draft.add("outputs", OutputFile(pattern=name.removeprefix("./"), required=False), *match.span())


def _located(names: str) -> tuple[str, ...]:
    """Rules for files with the site where they lie before or behind them."""
    lies = r"(?:is|are|lies?|sits?|lives?|resides?|stored|located|kept|can be found|lying)(?: now| already)?"
    site = rf"(?:the )?(?:site |cluster )?(?P<site>{names})"
    lead = (
        rf"(?<![\w-])(?:(?:it |the job )?(?:needs?|takes?|take|reads?|uses?|using|with|stage|copy|transfer|fetch) )?"
        rf"(?:(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b) (?:of )?)?(?:the |my |our |its |all )?(?:[a-z-]{{3,16}} ){{0,2}}"
        rf"(?:{lies} )?"
    )
    return (
        rf"{lead}(?:at|on) {site}(?:,? (?:under|in|at|as|below|here) ?:? ?| ?: ?){_LIST}{_AS}",
        rf"(?<![\w-])(?:the |my |our |all )?(?:[a-z-]{{3,16}} ){{1,2}}{lies} (?:in |at |under |on "
        rf"|as )?{_LIST},? (?:at|on) {site}{_AS}",
        rf"{lead}(?:in |at |under |on )?{_LIST}(?:,? (?:which )?{lies} (?:at|on)|,? from"
        rf"|(?<=[\w*/]) at) {site}(?![\w-]){_AS}",
    )


def _at_a_site(draft: Draft, match: re.Match[str], site: str) -> None:
    files = _names(draft, *match.span("files"))
    stated = match.groupdict().get("bytes")
    size = parse_bytes(stated) if stated and len(files) == 1 else None
    renamed = draft.line.words(*match.span("as")) if match["as"] and len(files) == 1 else None
    for name in files:
        try:
            item = InputFile(source=name, name=renamed or _last_part(name), site=site, bytes=size)
        except ValidationError:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            return
        draft.add("inputs", _with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())
    if len(files) == 1 and size is None:
        _size_behind(draft, match.end())


BEHIND = (
    r",? ?(?:about |ca\.? |approx\.? |around |roughly |some |~ ?)?(?P<bytes>\d+(?:\.\d+)? ?[kmgtp]i?b)"
    r"(?P<said> of data| in size| large| big| in all)?(?= ?(?:[,;)]|\.(?!\d)|$))"
)
_SURELY_DATA = 10**12


def _size_behind(draft: Draft, end: int) -> None:
    """`input on /scratch/a at site juno, 2 TB`: the file's size; less than a terabyte can be memory and is asked."""
    match = pattern(BEHIND).match(draft.line.open, end)
    if match is None or draft.fields["inputs"][-1].bytes is not None:
        return
    at, size = len(draft.fields["inputs"]) - 1, parse_bytes(match["bytes"])
    if match["said"] or size >= _SURELY_DATA:
        draft.fields["inputs"][at] = draft.fields["inputs"][at].model_copy(update={"bytes": size})
        draft.source(f"inputs.{at}.bytes", *match.span())
        return
    draft.ask(
        "shapes.0.memory", *match.span(),
        f"{draft.words(*match.span('bytes'))!r}: is that the size of the input, or main memory?",
        [Option(label="the size of the input", patch={f"inputs.{at}.bytes": size}),
         Option(label="main memory of the job", patch={"shapes.0.memory": {"bytes": size, "per": "job"}})],
    )  # fmt: skip


def _argument_too(draft: Draft, match: re.Match[str], command: list[str], files: list[str]) -> None:
    """`python x.py on file data.csv`: the program must be told of the file, and how is not said."""
    at = len(draft.fields.get("inputs", []))
    names = [_last_part(name) if name.startswith(("/", "~")) or "://" in name else name for name in files]
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


def _outputs(draft: Draft, match: re.Match[str]) -> None:
    names = _names(draft, *match.span("files"))
    if match[0].startswith(("fetch", "retrieve", "collect", "download")) and all("://" in name for name in names):
        for name in names:
            item = InputFile(source=name, name=_last_part(name))
            draft.add("inputs", _with_facts(draft, item, match.end()) if len(names) == 1 else item, *match.span())
        return
    for name in names:
        pattern = name.removeprefix("./")
        try:
            draft.add("outputs", OutputFile(pattern=pattern), *match.span())
        except ValidationError:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())


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
        _outputs(draft, match)
        return
    if _AFTERWARDS.search(draft.line.norm, max(0, match.start() - 40), match.start()) and _MOVES.match(match[0]):
        _outputs(draft, match)
        return
    later = pattern(_AS_RESULT).match(draft.line.open, match.end())
    if later is not None:
        _outputs(draft, match)
        draft.line.claim(*later.span())
        return
    where = match["site"] or match["site2"]
    group = "site" if match["site"] else "site2"
    site = draft.line.words(*match.span(group)).rstrip(".") if where else None
    size = None
    files = _names(draft, *match.span("files"))
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
    if match["bytes"] and len(files) == 1:
        try:
            size = parse_bytes(match["bytes"])
        except BadRequest:
            size = None
    known = {item.name for item in draft.fields.get("inputs", ())}
    for name in files:
        base = _last_part(name) if "/" in name else name
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
        draft.add("inputs", _with_facts(draft, item, match.end()) if len(files) == 1 else item, *match.span())
