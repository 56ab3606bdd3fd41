"""Software by name and version, found by where it stands: beside a version, or after words like `run` and `needs`."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import SoftwareNeed
from dragoman.versions import VersionBound, VersionRange
from graph.reading.draft import Draft
from graph.reading.lexicon import KEYWORDS, NUMBER_WORDS, PADDING
from graph.reading.reading import Option

__all__ = ["VERSION", "RANGE", "read_software", "version_range"]

_DATE = r"\d{1,2}[-_ ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[-_ ]?\d{4}(?:[_-]?\w{1,20})?"
VERSION = rf"(?:{_DATE}|v?\d+(?:[._]\w+)*(?:-?[a-z]+\d*)?(?:[-+]\w+(?:\.\d+)*)?)(?<![.])"
_DOTTED = rf"(?:{_DATE}|v?\d+(?:\.[\dx*]\w*)+(?:[-+_]\w+(?:\.\d+)*)?|20[012]\d(?:r\d|[ab])?(?:[-.]\d+)?|v\d+\w*)"
_OPERATOR = (
    r"(?P<op>>=|=>|≥|<=|=<|≤|==|=|!=|>|<|at least|at most|no older than|not older than|newer than|later than|older than"
    r"|earlier than|before|after|above|below|minimum|min\.?|maximum|up to|not|other than|except|exactly|any)"
)
_AFTER = r"(?P<after>(?: ?\+|(?:,? \(?)(?:or|and) (?:newer|later|above|higher|greater|up|more recent|older|earlier|below|lower|before)\)?))?"
_WORD = r"(?:versions?|release|ver\.?|v\.?)"
RANGE = (
    rf"(?:(?:(?:in )?{_WORD} )?between (?:{_WORD} )?(?P<low>{VERSION}) (?:and|to) (?P<high>{VERSION})"
    rf"|(?:{_WORD} )?(?:from )?(?P<low2>{_DOTTED}) ?(?:-|–|to|through) ?(?P<high2>{_DOTTED})"
    rf"|(?:{_WORD}[ :=]{{0,2}})?{_OPERATOR} ?(?:{_WORD} )?(?P<version>{VERSION}){_AFTER}"
    rf"|{_WORD}[ :=]{{0,2}}(?P<version2>{VERSION}|[a-z]*\d[\w.]*){_AFTER.replace('after', 'after2')}"
    rf"|(?P<version3>{_DOTTED}){_AFTER.replace('after', 'after3')}"
    rf"|(?P<version4>\d{{1,4}}(?![\w.]))(?P<after4> ?\+| or (?:newer|later|above|higher))"
    r")(?![\w:/@]|\.\d)"
)
_MORE = rf"(?P<more>,? ?(?:and|but)? ?(?:(?:>=|<=|<|>|!=|≥|≤|not|older than|newer than|below|except|at most|up to) ?(?:{_WORD} )?{VERSION})(?![\w:/@]|\.\d))?"
NAME = r"(?P<name>[a-z][\w+.-]*(?<![.,-])(?: [a-z][\w+-]*[a-z0-9+](?![\w.]))?)"
VERSIONED = rf"(?<![\w./@:-]){NAME}(?:,? \(?|-?@|/| ?(?=[<>=!≥≤]))(?:in |of )?{RANGE}\)?{_MORE}"
SLOT = (
    r"(?:^|(?<=[.!?:;,] )|(?<=\x00 ))(?:(?:a|an|the|my) )?|(?<![\w-])(?:run|runs|running|use|uses|using|needs?|requires?|requiring|with|want|wants|have|has"
    r"|execute|executing|launch|launching|start|starting|load|install|installed|called|package|software|application|app"
    r"|program|code|module|modules|job of|runs of|for|do|perform|via|request|of|is|and|or) (?:to run |to use |to have |a |an |the |my |our |some |parallel |software |package |application |module |load |version of )*"
)
BARE = rf"(?:{SLOT})(?P<name>[a-z][\w+.@/-]*(?<![.,/-])(?: [a-z][\w+-]*)?)(?![\w=@])"
_NOUNS = (
    r"(?: (?:jobs?|simulations?|workloads?|runs?|calculations?|benchmarks?|cases?|software|package|application|code|module"
    r"|installed|available|loaded|program))?"
)


def version_range(match: re.Match[str]) -> VersionRange | None:
    """The range that a match of RANGE states; None where it says none."""
    groups = match.groupdict()
    low, high = groups.get("low") or groups.get("low2"), groups.get("high") or groups.get("high2")
    if low and high:
        return VersionRange(bounds=(_bound(">=", low), _bound("<=", high)))
    for suffix in ("", "2", "3", "4"):
        version = groups.get(f"version{suffix}")
        if not version:
            continue
        after = (groups.get(f"after{suffix}") or "").strip(" ,()")
        operator = _operator(groups.get("op") if suffix == "" else None, after)
        if re.search(r"\.[x*]$", version):
            return _family(version[:-2])
        bounds = [_bound(operator, version)]
        more = (groups.get("more") or "").strip(" ,")
        if more:
            extra = re.fullmatch(rf"(?:and|but)? ?(?P<op>\D+?) ?(?:{_WORD} )?(?P<v>{VERSION})", more)
            if extra:
                bounds.append(_bound(_operator(extra["op"].strip(), ""), extra["v"]))
        return VersionRange(bounds=tuple(bounds))
    return None


def _family(prefix: str) -> VersionRange:
    head, _, last = prefix.lstrip("v").rpartition(".")
    upper = f"{head}.{int(last) + 1}" if head else str(int(last) + 1)
    return VersionRange(bounds=(_bound(">=", prefix), _bound("<", upper)))


def _bound(operator: str, version: str) -> VersionBound:
    cleaned = re.sub(r"^v(?=\d)", "", version).replace(" ", "")
    return VersionBound(operator=operator, version=cleaned)  # type: ignore[arg-type]  # from the table


def _operator(word: str | None, after: str) -> str:
    if after:
        return "<=" if re.search(r"older|earlier|below|lower|before", after) else ">="
    table = {
        ">=": (">=", "=>", "≥", "at least", "no older than", "not older than", "minimum", "min", "min."),
        "<=": ("<=", "=<", "≤", "at most", "maximum", "up to"),
        ">": (">", "newer than", "later than", "after", "above"),
        "<": ("<", "older than", "earlier than", "before", "below"),
        "!=": ("!=", "not", "other than", "except"),
    }  # fmt: skip
    return next((op for op, words in table.items() if word in words), "==")


def plain_word(word: str) -> bool:
    """Whether a word belongs to the language of requests and so names no software."""
    return word in PADDING or word in KEYWORDS or word in NUMBER_WORDS or len(word) < 2


def read_software(draft: Draft) -> None:
    """Find software with versions, then software by its place in the sentence."""
    for match in draft.line.find(VERSIONED):
        _versioned(draft, match)
    for match in draft.line.find(BARE):
        _bare(draft, match)


def _trim(draft: Draft, start: int, end: int) -> tuple[int, int] | None:
    """The part of a name that is no word of the language: `running GROMACS` is GROMACS."""
    norm = draft.line.norm[start:end]
    words = norm.split(" ")
    while words and plain_word(words[0]):
        start += len(words.pop(0)) + 1
    while words and plain_word(words[-1]):
        end -= len(words.pop()) + 1
    return (start, end) if words and start < end else None


def _versioned(draft: Draft, match: re.Match[str]) -> None:
    span = _trim(draft, *match.span("name"))
    if span is None or span[1] != match.end("name"):
        return
    try:
        need = SoftwareNeed(name=draft.line.words(*span), version=_as_written(draft, match))
    except (ValidationError, BadRequest):
        return
    _add(draft, need, span[0], match.end())


def _as_written(draft: Draft, match: re.Match[str]) -> VersionRange | None:
    found = version_range(match)
    if found is None:
        return None
    original = draft.line.words(*match.span())
    bounds = []
    for bound in found.bounds:
        at = original.lower().replace(" ", "").find(bound.version.lower())
        squeezed = original.replace(" ", "")
        version = squeezed[at : at + len(bound.version)] if at >= 0 else bound.version
        bounds.append(VersionBound(operator=bound.operator, version=version))
    return VersionRange(bounds=tuple(bounds))


def _bare(draft: Draft, match: re.Match[str]) -> None:
    span = _trim(draft, *match.span("name"))
    if span is None:
        return
    norm = draft.line.norm[span[0] : span[1]]
    name = draft.line.words(*span)
    words = norm.split(" ")
    marked = any(character.isupper() or character.isdigit() or character in "-_+" for character in name)
    following = draft.line.norm[span[1] : span[1] + 40].lstrip(" ")
    named = bool(re.match(r"(?:is )?(?:installed|available|loaded)\b|package\b|software\b", following))
    cue = draft.line.norm[match.start() : span[0]]
    strong = bool(re.search(r"package|software|application|module|install|called|run|load|execut|launch", cue))
    own = bool(re.search(r"\b(?:my|our|a|an|some)\b", cue))
    if "." in norm and re.search(r"\.[a-z]\w{0,5}$", norm) or "/" in norm:
        return
    if (
        len(words) == 1
        and (
            marked
            or named
            or (strong and not own)
            or (not own and re.search(r"\b(?:uses?|using|needs?|requires?|with|want|request)\b", cue))
        )
        or (len(words) == 2 and all(word[0].isupper() for word in name.split(" ")[:1]) and (marked or named))
    ):
        try:
            _add(draft, SoftwareNeed(name=name), *span)
        except ValidationError:
            return


def _add(draft: Draft, need: SoftwareNeed, start: int, end: int) -> None:
    known = draft.fields.setdefault("software", [])
    for index, other in enumerate(known):
        if other.name.lower() != need.name.lower():
            continue
        if need.version is not None and other.version is None:
            known[index] = need
        elif need.version is not None and need.version != other.version:
            draft.ask(
                f"software.{index}.version", start, end, f"Which version of {need.name} counts?",
                [Option(label=str(v), patch={f"software.{index}.version": str(v)}) for v in (other.version, need.version)],
            )  # fmt: skip
            return
        draft.source(f"software.{index}", start, end)
        return
    draft.add("software", need, start, end)
