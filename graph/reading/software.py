"""Software by name and version, found by where it stands: beside a version, or after words like `run` and `needs`."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import SoftwareNeed
from graph.reading.bare_names import read_bare_names
from graph.reading.builds import give_managers, is_a_manager, own_name
from graph.reading.draft import Draft
from graph.reading.lexicon import KEYWORDS
from graph.reading.moment_words import MONTH_NAME
from graph.reading.ordinary import is_foreign_noun
from graph.reading.past import tells_of_the_past, was_so
from graph.reading.plain_words import LABELS, NOUNS, plain_word
from graph.reading.software_needs import add_need, joined
from graph.reading.version_places import ASIDE, as_written, read_version_apart, turned
from graph.reading.version_words import COUNTED, MEASURED, MORE, MUST_BE, RANGE, VERSION_WORD
from graph.reading.whole_numbers import is_a_version

__all__ = ["read_software"]

NAME = (
    r"(?P<name>[a-z][\w+.-]*(?:/[a-z][\w+-]*(?!/))?(?<![.,-])(?: (?!(?:between|versions?|release|ver|v|at|no|not"
    r"|newer|later|older"
    r"|earlier|before|after|above|below|minimum|min|maximum|max|up|other|except|exactly|any|anything|something"
    r"|everything|starting|ab|from|in|of|or|and|on"
    r"|with|for|>|<|=)(?![\w]))[a-z][\w+-]*[a-z0-9+](?![\w.]))?)"
)
VERSIONED = (
    rf"(?<![\w./@:-]){NAME}(?:,? \(?|; ?(?=version)|-?@|/|-(?=v\d)| ?(?=[<>=!≥≤])|{MUST_BE})(?:(?:in|of|with"
    rf"|at) (?:an? |the |any )?)?{RANGE}\)?{MORE}"
)
_NUMBERED_THINGS = (
    "capability room section chapter figure fig table page building floor ext extension appendix equation volume issue"
    " level phase stage step part round question item paragraph slide grade case deliverable milestone"
    " work-package raum zimmer kapitel abschnitt seite etage salle bureau chapitre tel telefon"
)
_NUMBERED = frozenset(_NUMBERED_THINGS.split())
"""Things that people number, which no software is."""
_NO_GOOD = re.compile(
    r",? (?:which |that )?(?:is|was|are|would be|has been) (?:much |far |way )?(?:too (?:old|new|slow|recent)|outdated"
    r"|broken|buggy|deprecated|not (?:recent|new|old|good) enough|no good|no use|useless)(?![\w-])"
    r"| (?:crashes|fails|hangs)(?![\w-])"
)
_OTHERS_USE = re.compile(
    r"(?<![\w-])(?:(?:my|our|a|the|his|her|some|other|most) (?:[a-z]+ )?(?:colleagues?|neighbou?rs?|competitors?"
    r"|supervisor|professor"
    r"|friends?|group next door|people|others)|he|she|everybody else|others|referee(?: \d)?"
    r"|reviewers?) (?:[a-z]+ )?(?:uses?|runs?"
    r"|works? with|has|have|prefers?|likes?|swears? by)(?![\w-])(?!(?: [^\s]+)* (?:to|please|must|should)(?![\w-]))"
)
_OF_A_TIME = ("in ", "of ", "at ")
_YEAR = re.compile(r"20\d\d|\d{1,3}")
_BUILDS = frozenset("build builds installation install binary executable suite toolkit".split())  # noqa: SIM905
_LOADED = frozenset(("load", "loads", "loading", "loaded"))
_BUILT = re.compile(r"(?: (?:build|builds|installation|install|binary|executable))?(?: of)?")


def read_software(draft: Draft) -> None:
    """Find software with versions, then software by its place in the sentence."""
    found = [*draft.line.find(VERSIONED)]
    tells = tells_of_the_past(draft.line.norm) or _OTHERS_USE.search(draft.line.norm) is not None
    told = {match.span() for match in found if tells and _is_told_of(draft, match)}
    known = len(told) < len(found) or {"command", "script"} & draft.fields.keys()
    for match in draft.line.find(VERSIONED):
        _versioned(draft, match, told=bool(known) and match.span() in told)
    read_bare_names(draft)
    read_version_apart(draft)
    give_managers(draft)


def _is_told_of(draft: Draft, match: re.Match[str]) -> bool:
    """`my colleague uses ORCA 6.0`, `we compared it with Fluent 2023`: of others, or of how it was."""
    norm = draft.line.norm
    start = (_trim(draft, *match.span("name")) or match.span("name"))[0]
    clause = re.split(r"[.;:!?](?: |$)|(?<![\w-])(?:but|so|because) ", norm[max(0, start - 120) : start])[-1]
    return _OTHERS_USE.search(clause) is not None or was_so(norm, start, match.end("name"))


def _trim(draft: Draft, start: int, end: int) -> tuple[int, int] | None:
    """The part of a name that is no word of the language: `running GROMACS` is GROMACS."""
    start -= len(_first_word(draft, start, end))
    norm = draft.line.norm[start:end]
    words = norm.split(" ")
    single = len(words) == 1 and len(words[0]) == 1 and draft.line.words(start, end).isupper()
    while (
        words
        and not single
        and (
            plain_word(words[0])
            or words[0] in _LOADED
            or (words[0] in LABELS and draft.line.words(start, start + 1).islower())
        )
    ):
        start += len(words.pop(0)) + 1
    written = draft.line.words(start, end).split(" ") if words else []
    if len(written) == 2 and written[0].isalpha() and written[0].islower() and any(map(str.isupper, written[1])):
        start += len(words.pop(0)) + 1  # `tolerates VASP`
    elif len(written) == 2 and draft.line.foreign and is_foreign_noun(written[0]) and any(map(str.isupper, written[1])):
        start += len(words.pop(0)) + 1  # `Ozeanmodell NEMO`
    while words and not single and (plain_word(words[-1]) or words[-1] in _BUILDS):
        end -= len(words.pop()) + 1
    return (start, end) if words and start < end else None


def _is_numbered_so(draft: Draft, match: re.Match[str]) -> bool:
    """Whether two whole numbers are releases of a name: of years, or behind a name that no word of the language is."""
    years = all(re.fullmatch(r"20[0-4]\d|199\d", match[group]) for group in ("low6", "high6"))
    name = draft.line.words(*match.span("name"))
    return years or any(letter.isupper() or letter.isdigit() for letter in name.rpartition(" ")[2][1:])


def _of_two_parts(name: str, match: re.Match[str]) -> bool:
    """Whether a name with a slash is software's (`Elmer/Ice 9.0`), not a folder's and not two words for one another."""
    parts = name.split(" ")[-1].split("/")
    version = match["op"] or "." in (match["version3"] or "") or match["version2"] or match["low2"] or match["low"]
    capital = all(part[:1].isupper() and part.lower() not in KEYWORDS for part in parts) and not plain_word(
        parts[0].lower()
    )
    return bool(version) and capital and "/" in name.split(" ")[-1]


def _first_word(draft: Draft, start: int, end: int) -> str:
    """The first word of a name of three in capitals that begins a line (`Fire Dynamics Simulator`), with its blank."""
    lead = re.search(r"(?:^|; ?)(?P<first>[a-z]{2,} )$", draft.line.norm[max(0, start - 40) : start])
    if lead is None or " " not in draft.line.norm[start:end] or plain_word(lead["first"].strip()):
        return ""
    whole = draft.line.words(start - len(lead["first"]), end).split()
    return lead["first"] if all(word[:1].isupper() for word in whole) else ""


def _versioned(draft: Draft, match: re.Match[str], *, told: bool) -> None:
    if match["low6"] and (int(match["low6"]) >= int(match["high6"]) or not _is_numbered_so(draft, match)):
        return  # `VASP 6-2`, `chromosomes 1-22`
    whole = (match["version"] or match["version2"] or match["version3"] or match["version4"] or "").isdigit()
    if re.compile(rf" ?{COUNTED if whole else MEASURED}").match(draft.line.norm, match.end()):
        return  # `dies after twenty minutes`
    span = _trim(draft, *match.span("name"))
    if (span is None or span[1] != match.end("name")) and match["op"]:
        word = re.search(r"(?<![\w.-])[a-z]{4,}$", match["name"])
        cue = re.search(
            r"(?:run|use|using|need|with|install|load) $",
            draft.line.norm[: match.start("name")][-16:] + match["name"][: word.start()] if word else "",
        )
        if word and cue and word[0] not in NOUNS:
            span = (match.start("name") + word.start(), match.end("name"))
    if span is None or not _BUILT.fullmatch(draft.line.norm, span[1], match.end("name")):
        return
    between = draft.line.norm[span[1] : match.end()].lstrip()
    if (
        between.startswith(",")
        and match["op"]
        and not re.match(
            rf",? ?\(?(?:but )?(?:any|not? (?:older|newer|earlier|later) than|not {VERSION_WORD}"
            rf"|{VERSION_WORD})",
            between,
        )
    ):
        after = draft.line.norm[match.end() : match.end() + 12]
        if "." not in match["version"] or not re.match(r" ?(?:$|[,;.)]|(?:on|but|and|with|in|for|from) )", after):
            return  # `LAMMPS, at least 4 nodes`
    if draft.line.foreign and not match["op"] and _YEAR.fullmatch(match["version3"] or match["version4"] or ""):
        last = draft.line.words(*span).split(" ")[-1]
        if is_foreign_noun(last):
            return  # `Kampagne 2025`, `vendredi 15`
    name = draft.line.norm[slice(*span)]
    if name in _NUMBERED or is_a_manager(draft, *span):
        return
    if "/" in name and not _of_two_parts(draft.line.words(*span), match):
        return
    bare = match["version4"] or match["version3"] or ""
    if bare.isdigit() and not (match["after4"] or match["after3"]):
        if MONTH_NAME.fullmatch(name.split(" ")[-1]) or between.startswith(_OF_A_TIME):
            return  # `December 2026`, `in Telemark in 1968`
        if not is_a_version(draft, span[0], match.end(), bare):
            draft.numbered.add(span[0])
            return
    if told:
        draft.unread.append(draft.words(span[0], match.end()))
        draft.line.claim(span[0], match.end())
        return
    if refused := _NO_GOOD.match(draft.line.norm, match.end()):
        draft.unread.append(draft.words(span[0], refused.end()))
        draft.line.claim(span[0], refused.end())
        return
    found = as_written(draft, match)
    aside = ASIDE.search(draft.line.norm[max(0, span[0] - 40) : span[0]])
    if aside is not None and found is not None:
        found = turned(found, aside, match)
    try:
        need = SoftwareNeed(name=own_name(draft.line.words(*span)), version=found)
    except (ValidationError, BadRequest):
        return
    if (
        "_" in need.name
        and need.name.isupper()
        and re.search(
            r" (?:must|should|has|have|needs?|shall"
            r"|ought) ",
            match[0],
        )
    ):
        return  # `OMP_NUM_THREADS must be 16`
    if re.fullmatch(r"\d\+\d", match["version"] or match["version3"] or ""):
        return  # `Nf=2+1`
    if match["version4"] and between.startswith(","):
        return  # `matlab, 1 licence`
    if match["version4"] and re.fullmatch(r"[a-z ]+", need.name) and not match["after4"]:
        listed = re.match(r" ?[,;]| jobs?\b| runs?\b| or \d", draft.line.norm[match.end() :])
        apart = draft.line.norm[span[1] : match.start("version4")]
        if (
            apart != "/"
            and not joined(draft, span[0])
            and (draft.line.norm[: span[0]].strip() or not listed or apart != " ")
        ):
            return
        draft.default(f"{draft.words(*match.span())!r} is taken as software with its version")
    add_need(draft, need, span[0] - (len(aside[0]) if aside else 0), match.end())
