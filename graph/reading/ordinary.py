"""Whether a word is one of ordinary language that can ask a site for nothing (`glacier`, `lithium`, `promised`).

The words come from the dictionaries of simplemma (English, and German and French for texts that hold words of those
languages). What can state a requirement, or turn one round, is never ordinary (`bearing.py`); nor is what no dictionary
has, which may be the name of a program or of a site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from string import ascii_lowercase

from simplemma import is_known, lemmatize

from graph.reading.bearing import BEARING, LOOSE
from graph.reading.demands import is_unmet
from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import PADDING

__all__ = [
    "SURE_OF_A_SITE",
    "asks_nothing",
    "base_form",
    "clause_about",
    "clauses_of",
    "is_foreign_noun",
    "is_ordinary",
]

_WORD = re.compile(r"[^\s,;:.!?()\"'`*]+(?:['’][^\W\d_]+)?")  # noqa: RUF001  # as typed
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_OWNER = re.compile(r"['’]s?$")  # noqa: RUF001  # as typed
_SHORTEST = 3
_PREFIXES = frozenset("re co pre non anti sub multi self ex un semi inter intra super e x bi tri quasi".split())  # noqa: SIM905
_OF_SCIENCE = frozenset(("energies", "memories", "powers", "clustering"))
"""Forms that the sciences use, of words that the field uses otherwise."""
_PROPER = frozenset(
    """
    monte carlo markov fourier laplace navier stokes boltzmann maxwell poisson kalman
    north south east west northern southern eastern western central upper lower mid great new san saint mount german
    french english italian spanish dutch swiss austrian polish european african asian american pacific atlantic indian
    arctic antarctic baltic alpine sea ocean lake river bay bight gulf strait island islands valley basin alps coast
    delta peninsula fjord glacier forest city institute university department faculty laboratory centre college school
    """.split()  # noqa: SIM905
)
"""Words that are written with a capital in names of places and houses."""
_METHODS = frozenset(
    """
    qcd llm llms ml ai dl nlp ocr asr gan gans cnn gnn rl dft md qm mm mc pic fem fea fvm fdtd dem sph lbm cfd les
    dns rans
    urans mhd pde ode pca svm mcmc abc rna dna mrna rna-seq dna-seq chip-seq atac-seq snp snps gwas qtl wgs mri fmri
    eeg
    meg ct pet nmr xrd sem tem stm afm em cryo-em uv ir rf sar lidar gis nwp gcm rcm cmip era5 cad cae fsi phd msc bsc
    """.split()  # noqa: SIM905
)
"""Methods and kinds of data, which people write in capitals."""
_LANGUAGE = frozenset(("language", "group", "power", "pressure", "water"))
_ENDS = frozenset(
    """
    path element elements based phase energy order scale like driven data space body model models
    """.split()  # noqa: SIM905
)
"""What compounds of the sciences end in, though it can state a requirement elsewhere."""
_MISTYPED = 6
"""So long a word is looked for with a letter too many, too few or in the wrong place."""
_BEFORE_A_NAME = re.compile(
    r"(?<![\w-])(?:with|using|uses?|via|runs?|running|needs?|requires?|load|install|installed|called|named|software"
    r"|programs?|package|tool|code|application|mit|avec) (?:the |a |an )?$"
)
_LISTED = re.compile(r"\x00 ?(?:,|/|\+|&|,? ?(?:and|or|und|oder|et|ou)) $")
_LIST_ENDS = re.compile(r" ?(?:[,.;:/)]|$|(?:and|or|und|oder|et|ou) )")
"""Around one more item of a list of sites or programs."""
_THING_OF = re.compile(r"(?<![\w-])(?P<noun>[a-z][a-z-]{3,}) of (?:the |an? |our |my |this |some )?$")
_NAME = re.compile(r"[^\W\d_][\w'’-]{0,24}")  # noqa: RUF001  # as typed
_TOOLS = frozenset(
    """
    solver solvers engine framework suite toolkit library libraries interface backend wrapper bindings tool tools
    version release module package plugin compiler runtime environment installation build copy instance
    """.split()  # noqa: SIM905
)
"""Things whose names are those of software."""
_IN_A_LAND = re.compile(r"(?<![\w-])(?:in|within|inside|into|to|outside|leave|leaves|leaving) (?:the )?$")
_CLAUSE_ENDS = re.compile(r"[.!?]+(?= |$)|[,;:()\n]")
SURE_OF_A_SITE = re.compile(
    r"(?<![\w-])(?:only|sites?|not|except|exclusively|anywhere|other than|but|avoid|nur|seulement"
    r"|uniquement)(?![\w-])"
)
_FARTHEST = 400
_SENTENCE = re.compile(r"(?:^|[.!?:;\n•*–—-])[\s\"'(]*$")  # noqa: RUF001  # as typed


def asks_nothing(draft: Draft, text: str, start: int, end: int) -> bool:
    """Whether a stretch of the normal form that no rule read is of ordinary words, and stands for no name.

    Args:
        draft: the request.
        text: its normal form with what was read hidden (`Draft.open_but_asides`).
        start: where the stretch begins in the normal form.
        end: where it ends.

    """
    foreign = draft.line.foreign
    first, last = draft.line.span(start, end)
    text_of = draft.line.words(start, end)
    if _BEFORE_A_NAME.search(draft.line.norm[max(0, start - 40) : start]) and (
        " " not in text_of or not text_of.islower()
    ):
        return False
    if _IN_A_LAND.search(draft.line.norm[max(0, start - 16) : start]) and draft.line.words(start, end)[:1].isupper():
        return False  # `in Germany`
    first_of, last_of = clause_about(draft.line.norm, start, end)
    clause = text[first_of:last_of]
    if "\x00" not in clause and is_unmet(draft.line.norm[first_of:last_of]):
        return False  # `the nodes must be homogeneous`
    if _of_a_site(draft, first_of, last_of):
        return False  # `running at titan is illegal`
    item = draft.line.open[start:end].rstrip(".:;,")
    if _LISTED.search(draft.line.open[max(0, start - 8) : start]) and _LIST_ENDS.match(
        draft.line.open, start + len(item)
    ):
        return False
    words = [*_WORD.finditer(draft.line.text[first:last])]
    ordinary = [
        _may_be_written_so(draft.line.text, match.start() + first, match[0], foreign)
        and is_ordinary(match[0], foreign=foreign)
        for match in words
    ]
    loose = [match[0].lower() in LOOSE for match in words]  # `old footage`, but no `larger` alone
    if not words:
        return False
    if _is_of_something(draft, start) and all(_NAME.fullmatch(match[0]) for match in words):
        return not any(match[0].lower() in BEARING for match in words)
    described = ordinary[-1] and words[-1][0].lower() not in _TOOLS
    named = [described and match[0].istitle() for match in words[:-1]] + [False]  # `Elbe catchment`
    return ordinary[-1] and all(any(each) for each in zip(ordinary, loose, named, strict=True))


@cache
def base_form(word: str) -> str:
    """The base form of an English word in small letters; the word itself where no dictionary has it."""
    return lemmatize(word, "en").lower()


def clause_about(norm: str, start: int, end: int) -> tuple[int, int]:
    """Where the clause begins and ends in which a stretch of the normal form stands."""
    before = [found.end() for found in _CLAUSE_ENDS.finditer(norm, max(0, start - _FARTHEST), start)]
    after = _CLAUSE_ENDS.search(norm, max(start, end - 1), end + _FARTHEST)
    return before[-1] if before else max(0, start - _FARTHEST), after.start() if after else min(
        len(norm), end + _FARTHEST
    )


def clauses_of(norm: str, ends: re.Pattern[str] = _CLAUSE_ENDS) -> Iterator[tuple[int, int]]:
    """Where the clauses of a text begin and end; `ends` is what stands between two."""
    start = 0
    for found in ends.finditer(norm):
        yield start, found.start()
        start = found.end()
    yield start, len(norm)


def _of_a_site(draft: Draft, first: int, last: int) -> bool:
    """Whether a site is only mentioned in a clause, so that what is said of it may turn it."""
    return any(
        source.field.startswith("sites")
        and source.start is not None
        and first <= draft.line.place(source.start) < last
        and not SURE_OF_A_SITE.search(source.words.lower())
        for source in draft.sources
    )


def _is_of_something(draft: Draft, start: int) -> bool:
    """Whether what stands before is something of what follows: `the band structure of`, `currents of the`."""
    noun = _THING_OF.search(draft.line.norm[max(0, start - 48) : start])
    return noun is not None and is_ordinary(noun["noun"]) and noun["noun"] not in _TOOLS | PADDING | EVERYDAY


def _may_be_written_so(text: str, at: int, word: str, foreign: bool) -> bool:
    """Whether a capital is that of a sentence, of German, or of a name that is no other word (`Bayesian`)."""
    low = word.lower()
    return (
        word == low
        or low in _PROPER
        or low in _METHODS
        or _SENTENCE.search(text[max(0, at - 8) : at]) is not None
        or (foreign and is_known(word, "de"))
        or not is_known(low, "en")
    )


def is_ordinary(word: str, *, foreign: bool = False) -> bool:
    """Whether a word, or each part of one with hyphens, is ordinary.

    Args:
        word: as written.
        foreign: whether German and French words count too.

    """
    if word.lower() in _METHODS:
        return True
    if not _LETTERS.fullmatch(word) or any(character.isupper() for character in word[1:]):
        return False
    parts = _OWNER.sub("", word).split("-")
    if len(parts) > 1 and parts[-1].lower() in _ENDS and all(_ordinary(part, foreign) for part in parts[:-1]):
        return True
    return all(
        _ordinary(part, foreign) or (len(parts) > 1 and part.lower() in _PREFIXES | PADDING | _LANGUAGE)
        for part in parts
    )


@cache
def _ordinary(word: str, foreign: bool) -> bool:
    low = word.lower()
    if low in BEARING or len(word) < _SHORTEST:
        return False
    if low in _OF_SCIENCE:
        return True
    if foreign and (parts := _parts_of_compound(word)):
        return not any(part in BEARING or lemmatize(part, "de").lower() in BEARING for part in parts)
    known = [language for language in (("en", "fr", "de") if foreign else ("en",)) if _known(word, language)]
    if not known:
        return word.islower() and not foreign and _mistyped(word)
    if known == ["de"] and _ends_in_what_bears(word):
        return False
    return not any(lemmatize(low, language).lower() in BEARING for language in known)


def _mistyped(word: str) -> bool:
    """Whether there are words with a letter more, less or in another place, and all of them are ordinary."""
    if len(word) < _MISTYPED:
        return False
    cuts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    near = {first + rest[1:] for first, rest in cuts if rest}
    near |= {first + rest[1] + rest[0] + rest[2:] for first, rest in cuts if len(rest) > 1}
    near |= {first + letter + rest for first, rest in cuts for letter in ascii_lowercase}
    found = [other for other in near if is_known(other, "en")]
    return bool(found) and all(_ordinary(other, foreign=False) for other in found)


_LINKS = ("", "s", "es", "n", "en", "er", "e")
_SHORTEST_PART = 4


@cache
def _parts_of_compound(word: str) -> tuple[str, ...]:
    """The German words that a noun no dictionary has is put together from, in every way; none: it is no compound."""
    low = word.lower()
    if word != low.capitalize() or is_known(word, "de") or is_known(low, "en") or is_known(low, "fr"):
        return ()
    parts: list[str] = []
    for cut in range(_SHORTEST_PART, len(low) - _SHORTEST_PART):
        tail = low[cut:].capitalize()
        stems = [low[: cut - len(link)] for link in _LINKS if low[:cut].endswith(link)]
        known = [
            stem
            for stem in stems
            if len(stem) >= _SHORTEST_PART and (is_known(stem, "de") or is_known(stem.capitalize(), "de"))
        ]
        if known and is_known(tail, "de"):
            parts += [*known, tail, tail.lower(), *(stem.capitalize() for stem in known)]
    return tuple(parts)


def _ends_in_what_bears(word: str) -> bool:
    """Whether the last part of a German noun can state a requirement (`Donnerstagabend`), which tells what it is."""
    low = word.lower()
    return word == low.capitalize() and any(
        low[cut:] in BEARING and is_known(low[:cut], "de") | is_known(low[:cut].capitalize(), "de")
        for cut in range(_SHORTEST_PART, len(low) - _SHORTEST_PART + 1)
    )


def is_foreign_noun(word: str) -> bool:
    """Whether a word is one of German or French and of no other language that names of programs are taken from."""
    if is_known(word.lower(), "en") or not _LETTERS.fullmatch(word):
        return False
    return is_known(word, "de") or (word.islower() and is_known(word, "fr")) or bool(_parts_of_compound(word))


def _known(word: str, language: str) -> bool:
    """Whether a dictionary has a word as it is written, or without its capital; German nouns also in small letters."""
    return any(
        is_known(form, language) for form in (word, word.lower(), *([word.capitalize()] if language == "de" else ()))
    )
