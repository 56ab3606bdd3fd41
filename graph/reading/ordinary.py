"""Whether a word is one of ordinary language that can ask a site for nothing (`glacier`, `lithium`, `promised`).

The words come from the dictionaries of simplemma (English, and German and French for texts that hold words of those
languages). What can state a requirement, or turn one round, is never ordinary (`bearing.py`); nor is what no dictionary
has, which may be the name of a program or of a site.
"""

from __future__ import annotations

import re
from functools import cache

from simplemma import is_known, lemmatize

from graph.reading.bearing import BEARING
from graph.reading.draft import Draft

__all__ = ["asks_nothing", "is_foreign_noun", "is_ordinary"]

_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_OWNER = re.compile(r"['’]s?$")  # noqa: RUF001  # as typed
_SHORTEST = 3
_BEFORE_A_NAME = re.compile(
    r"(?<![\w-])(?:with|using|uses?|via|runs?|running|needs?|requires?|load|install|installed|called|named|software"
    r"|programs?|package|tool|code|application|mit|avec) (?:the |a |an )?$"
)
_LISTED = re.compile(r"\x00 ?(?:,|/|\+|&|,? ?(?:and|or|und|oder|et|ou)) $")
_LIST_ENDS = re.compile(r" ?(?:[,.;:/)]|$|(?:and|or|und|oder|et|ou) )")
"""Around one more item of a list of sites or programs."""
_SENTENCE = re.compile(r"(?:^|[.!?:;\n•*–—-])[\s\"'(]*$")  # noqa: RUF001  # as typed


def asks_nothing(draft: Draft, start: int, end: int) -> bool:
    """Whether a stretch of the normal form that no rule read is of ordinary words, and stands for no name."""
    foreign = draft.line.foreign
    first, last = draft.line.span(start, end)
    if _BEFORE_A_NAME.search(draft.line.norm[max(0, start - 40) : start]):
        return False
    item = draft.line.open[start:end].rstrip(".:;,")
    if _LISTED.search(draft.line.open[max(0, start - 8) : start]) and _LIST_ENDS.match(
        draft.line.open, start + len(item)
    ):
        return False
    return all(
        _may_be_written_so(draft.line.text, match.start() + first, match[0], foreign)
        and is_ordinary(match[0], foreign=foreign)
        for match in re.finditer(r"[^\s,;:.!?()\"'`*]+(?:['’][^\W\d_]+)?", draft.line.text[first:last])  # noqa: RUF001
    )


def _may_be_written_so(text: str, at: int, word: str, foreign: bool) -> bool:
    """Whether a capital is that of a sentence, of German, or of a name that is no other word (`Bayesian`)."""
    low = word.lower()
    return (
        word == low
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
    if not _LETTERS.fullmatch(word) or any(character.isupper() for character in word[1:]):
        return False
    return all(_ordinary(part, foreign) for part in _OWNER.sub("", word).split("-"))


@cache
def _ordinary(word: str, foreign: bool) -> bool:
    low = word.lower()
    if low in BEARING or len(word) < _SHORTEST:
        return False
    if foreign and (parts := _parts_of_compound(word)):
        return not any(part in BEARING or lemmatize(part, "de").lower() in BEARING for part in parts)
    known = [language for language in (("en", "fr", "de") if foreign else ("en",)) if _known(word, language)]
    if "de" in known and len(known) == 1 and _ends_in_what_bears(word):
        return False
    return bool(known) and not any(lemmatize(low, language).lower() in BEARING for language in known)


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
