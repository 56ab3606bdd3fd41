"""The text of a request in one normal form that rules can match, with the way back to the words as written.

White space is single, letters are lower case, number words are digits, German and French words of the field are English
and typing errors in unit words are corrected; each character knows its place in the original. A rule that understood a
stretch claims it, and no later rule sees it again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from dragoman.errors import BadRequest
from graph.reading.decimals import decimal_comma, grouping_points
from graph.reading.foreign_phrases import foreign_phrases
from graph.reading.labels import labelled
from graph.reading.lexicon import FOREIGN_ALONE, FOREIGN_UNITS, FOREIGN_WORDS, NUMBER_WORDS
from graph.reading.misspelt import mended_unit, mended_word
from graph.reading.number_words import compound_numbers
from graph.reading.replaced import replaced_numbers
from graph.reading.separators import ends_an_item
from graph.reading.two_words import two_words

__all__ = ["MAX_TEXT", "MAX_WORDS", "Line", "check_text", "check_words", "pattern"]

MAX_TEXT = 256 * 1024
"""Longest text that is read, in characters; a longer one is data, not a request."""

MAX_WORDS = 32 * 1024
"""Longest text in words, in characters."""
_LONGEST_WORD = 400

_CLAIMED = "\x00"
_CHUNK = re.compile(r"\S+")
_SHORTHAND = {
    "w/": "with", "w/o": "without", "tmrw": "tomorrow", "tmr": "tomorrow", "2day": "today", "dont": "don't",
    "doesnt": "doesn't", "cant": "can't", "wont": "won't", "isnt": "isn't", "shouldnt": "shouldn't", "didnt": "didn't",
    "mustnt": "mustn't", "wouldnt": "wouldn't", "wasnt": "wasn't", "arent": "aren't", "im": "i'm", "ive": "i've",
    "thats": "that's", "abt": "about", "wth": "with", "gimme": "give me", "gonna": "going to", "wanna": "want to",
    "lemme": "let me", "sth": "something", "smth": "something", "coz": "because", "cuz": "because", "b/c": "because",
    "job-array": "job array",
    "ea": "each", "arr": "array", "img": "image", "thr": "threads", "thrds": "threads",
}  # fmt: skip
_SHORT = frozenset(("to", "go", "mo", "std", "tag", "mal"))
"""Words of other languages that mean something else too: taken as units only right after a number."""
_BYTES = frozenset(("Ko", "Mo", "Go", "To"))
"""French units of memory, as they are written: `192 Go` is an amount in any language."""
_FRENCH = frozenset("nous pour avec sur le la les est une du des et cherche voudrais faut heures bonjour merci".split())  # noqa: SIM905
_GERMAN = frozenset("und mit auf der die das den bitte knoten kerne stunden für pro ich wir eine nicht".split())  # noqa: SIM905
"""Words that tell which of the two a text is, where `je` is `I` or `per`."""
_YEAR = re.compile(r"20\d\d")
_DAY_PART = re.compile(
    r"(?P<day>(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)s?(?P<part>mittag|abend|nachmittag|vormittag|früh"
    r"|morgen)s?"
)
"""`Montagmittag`, `Freitagabend`."""
_COUNTED = re.compile(r"[ ]\d{1,7}(?![\dh:])")
_BULLET = re.compile(r"(?:^|(?<=\n))[ \t]*(?:[-*•·–—]|\d{1,2}[.)])(?=[ \t]+\S)")  # noqa: RUF001  # as people type them
_SIZE = re.compile(r"[\d.,]*(?:[kmgtp]i?b|gigabytes?|megabytes?|terabytes?)")
_LABEL = re.compile(r"(?<=\n)[ \t]*(?P<label>[^\W\d_][\w /'-]{1,24}? ?[:=])(?=[ \t])")
_THOUSANDS = re.compile(r"(?<![\w.,:/-])\d{1,3}(?:,\d{3})+(?![\w:-]|,\d|\.\d)")
_LISTED = re.compile(r"(?i)(?:array|ind(?:ex|ices)|ids?|jobs?|tasks|ranges?|[=\[])(?: (?:of|is|from))?:?[ \[]*$")
_OPENING, _CLOSING = "([{\"'«“„*", ")]}\"'»”.,;:!?*"
_ALPHABETIC = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001
_NUMBER_UNIT = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)-?(?P<unit>[^\W\d_]{2,20})")
_SMALL_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))|(?<!\d{4})(?<=\d) (?=0\d\d(?![\d.,]))")
_SPACED = re.compile(r"(?<=\d) (?=\d{3} [^\W\d_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def check_words(text: str, *, where: str = "request") -> None:
    """Refuse words that are too long to be a request; scripts and forms may be longer.

    Raises:
        BadRequest: if they are longer than `MAX_WORDS`.

    """
    if len(text) > MAX_WORDS:
        raise BadRequest(
            f"the request has {len(text)} characters of words, more than {MAX_WORDS}",
            where=where, cure="say it shorter, and put code into a script",
        )  # fmt: skip


def check_text(text: str, *, where: str = "request") -> None:
    """Refuse what is no text of a request.

    Raises:
        BadRequest: if it is empty, longer than `MAX_TEXT`, or has control characters or undecodable bytes.

    """
    if len(text) > MAX_TEXT:
        raise BadRequest(
            f"the request has {len(text)} characters, more than {MAX_TEXT}",
            where=where, cure="describe the work and name large files as inputs",
        )  # fmt: skip
    if not text.strip():
        raise BadRequest("the request is empty", where=where, cure="say what to run, on how much, for how long")
    found = _CONTROL.search(text)
    if found:
        raise BadRequest(
            f"control character or undecodable byte at offset {found.start()}",
            where=where, cure="give plain text (UTF-8)",
        )  # fmt: skip


@lru_cache(maxsize=1024)
def pattern(text: str) -> re.Pattern[str]:
    """A rule's pattern for the normal form, compiled once, with every repetition bounded."""
    return re.compile(_bounded(text))


def _bounded(rule: str) -> str:
    """The rule with `*` and `+` limited (words: 8 times, characters: 300), so that no text takes long."""
    out: list[str] = []
    inside, escaped, previous = False, False, ""
    for index, character in enumerate(rule):
        limit = 8 if previous == ")" else 300
        following = rule[index + 1 : index + 2]
        if (
            character in "*+"
            and not inside
            and not escaped
            and previous not in ("", "(", "|")
            and following not in ("?", "+")
        ):
            out.append(f"{{{0 if character == '*' else 1},{limit}}}")
        else:
            out.append(character)
        if escaped:
            previous, escaped = "x", False
            continue
        if character == "\\":
            escaped = True
        elif inside:
            inside = character != "]"
        elif character == "[":
            inside = True
        previous = character
    return "".join(out)


def _thousands(text: str) -> set[int]:
    """Where commas of English numbers stand (`1,200`); those of lists are kept."""
    found: set[int] = set()
    for match in _THOUSANDS.finditer(text):
        if not _LISTED.search(text[max(0, match.start() - 24) : match.start()]):
            found.update(at for at in range(*match.span()) if text[at] == ",")
    return found


class Line:
    """One text in normal form."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.corrections: list[tuple[str, str]] = []
        self._norm: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        lowered = {core.lower() for core in _ALPHABETIC.findall(text)}
        units = any(word in FOREIGN_UNITS and word not in _SHORT and word != "kern" for word in lowered)
        self.foreign = units or len(lowered & FOREIGN_ALONE) > 1
        self.french = self.foreign and len(lowered & _FRENCH) > len(lowered & _GERMAN)
        self._build()
        self.norm = "".join(self._norm)
        self._open: list[str] = list(self.norm)
        self._masked: str | None = self.norm

    def _build(self) -> None:
        blanked = {m.start() for m in _SMALL_SPACE.finditer(self.text)}
        if self.foreign:
            blanked |= {m.start() for m in _SPACED.finditer(self.text)}
        if decimal_comma(self.text):
            blanked |= grouping_points(self.text)
        elif not self.foreign:
            blanked |= _thousands(self.text)
        bullets = {match.end(): match.start() for match in _BULLET.finditer(self.text)}
        labels = {match.start("label") for match in _LABEL.finditer(self.text)}
        position, before = 0, ""
        compounds = {start: (end, str(value)) for start, end, value in compound_numbers(self.text)}
        renamed = {start: (end, words) for start, end, words in labelled(self.text, foreign=self.foreign)}
        compounds |= {start: (end, words) for start, end, words in replaced_numbers(self.text)}
        for start, end, words in foreign_phrases(self.text) if self.foreign else ():
            if start not in compounds or compounds[start][0] < end:
                compounds[start] = end, words
        compounds |= renamed
        for start, end in self._chunks(blanked):
            if end <= position:
                continue  # of a number of several words
            at = max(start, position)
            below = "\n" in self.text[position:start]
            if self._norm and (start in labels or (below and (start in renamed or ends_an_item(self.text, position)))):
                self._put(";", position, at)
            if self._norm and at == start and not self._apart_in_french(start, end):
                self._put(" ", position, at)
            opened = at + next((n for n, sign in enumerate(self.text[at:end]) if sign not in _OPENING), 0)
            if opened in compounds and at not in compounds:
                self._put_raw(at, opened, blanked)
                at = opened
            if at in compounds:
                stop, value = compounds[at]
                self._put(value, at, stop)
                self._put_raw(stop, max(stop, end), blanked)
                before, position = value, max(stop, end)
                continue
            if end in bullets:
                self._put(";" if self._norm else "", at, end)
                before, position = "", end
                continue
            if at > start:
                self._put_raw(at, end, blanked)
                before = ""
            else:
                before = self._chunk(start, end, blanked, before)
            position = end

    def _chunks(self, blanked: set[int]) -> Iterator[tuple[int, int]]:
        start: int | None = None
        end = 0
        for match in _CHUNK.finditer(self.text):
            if start is not None and match.start() - 1 in blanked and match.start() - 1 == end:
                end = match.end()
                continue
            if start is not None:
                yield start, end
            start, end = match.span()
        if start is not None:
            yield start, end

    def _put(self, norm: str, start: int, end: int) -> None:
        for index, character in enumerate(norm):
            same = len(norm) == end - start
            self._norm.append(character)
            self._starts.append(start + index if same else start)
            self._ends.append(start + index + 1 if same else end)

    def _chunk(self, start: int, end: int, blanked: set[int], before: str) -> str:
        """Put one chunk in normal form; returns its core, for what follows."""
        chunk = self.text[start:end]
        core = chunk.lstrip(_OPENING)
        lead = len(chunk) - len(core)
        core = core.rstrip(_CLOSING)
        self._put_raw(start, start + lead, blanked)
        inner, stop = start + lead, start + lead + len(core)
        lowered = core.lower()
        fused = _NUMBER_UNIT.fullmatch(core)
        tens = lowered.split("-")
        if lowered in _SHORTHAND:
            self._put(_SHORTHAND[lowered], inner, stop)
            self._put_raw(stop, end, blanked)
            return _SHORTHAND[lowered]
        two = two_words(core) if self.foreign else None
        if two is not None:
            first, cut, second = two
            if first is None:
                self._chunk(inner, inner + cut, blanked, before)
            else:
                self._put(first, inner, inner + cut)
            self._put(" ", inner + cut, inner + second)
            return self._chunk(inner + second, end, blanked, "")
        if len(tens) == 2 and NUMBER_WORDS.get(tens[0], 0) in range(20, 100, 10) and tens[1] in NUMBER_WORDS:
            self._put(str(NUMBER_WORDS[tens[0]] + NUMBER_WORDS[tens[1]]), inner, stop)
        elif "-" in lowered and lowered in FOREIGN_UNITS:
            self._put(FOREIGN_UNITS[lowered], inner, stop)
        elif _ALPHABETIC.fullmatch(core):
            at = inner
            for index, part in enumerate(core.split("-")):
                if index:
                    self._put("-" if not self._number_pair(core) else " ", at, at + 1)
                    at += 1
                self._put(self._word(part, before, self.text[at + len(part) : at + len(part) + 24]), at, at + len(part))
                at += len(part)
        elif fused and len(core) < 40 and self._word(fused["unit"], fused["number"]) != fused["unit"].lower():
            cut = inner + fused.end("number")
            self._put_raw(inner, cut, blanked)
            self._put(self._word(fused["unit"], fused["number"]), stop - len(fused["unit"]), stop)
        else:
            self._put_raw(inner, stop, blanked)
        self._put_raw(stop, end, blanked)
        return lowered if stop == end else ""

    def _apart_in_french(self, start: int, end: int) -> bool:
        """Whether a chunk is a sign that French sets apart from the word before it (`durée : 2 h`), not a clock."""
        if not self.foreign or self.text[start:end] not in (":", ";", "?", "!"):
            return False
        return not any(character.isdigit() for character in "".join(self._norm[-24:]).rpartition(" ")[2])

    def _number_pair(self, core: str) -> bool:
        first = core.lower().split("-")[0]
        return first in NUMBER_WORDS

    def _put_raw(self, start: int, end: int, blanked: set[int]) -> None:
        for index in range(start, end):
            character = self.text[index]
            if index in blanked:
                continue
            low = character.lower()
            self._put(low if len(low) == 1 else character, index, index + 1)

    def _word(self, word: str, before: str, following: str = "") -> str:
        """One alphabetic word in normal form, with what follows it in the text."""
        low = word.lower()
        after_number = before[-1:].isdigit() or before in NUMBER_WORDS
        if (
            low in FOREIGN_UNITS
            and (self.foreign or after_number)
            and (
                low not in _SHORT
                or (self.foreign and (before[-1:].isdigit() or before in ("ein", "einen")))
                or (word in _BYTES and before[-1:].isdigit() and not following.startswith("\n"))
            )
        ):
            return FOREIGN_UNITS[low].lower()
        part = _DAY_PART.fullmatch(low)
        if part:
            return f"{part['day']} {'vormittag' if part['part'] in ('früh', 'morgen', 'vormittag') else part['part']}"
        ranged = low == "bis" or (low == "à" and _COUNTED.match(following) and not _YEAR.fullmatch(before))
        if self.foreign and ranged and after_number:
            return "to"
        if low == "processus" and before in {"par", "chaque", "per", "each"}:
            return "process"
        if self.french and low in ("je", "on"):
            return "i" if low == "je" else "we"
        if self.foreign and low in FOREIGN_WORDS:
            return FOREIGN_WORDS[low]
        if low in NUMBER_WORDS:
            return str(NUMBER_WORDS[low])
        if _SIZE.fullmatch(before) and mended_unit(low) == "memory":
            self.corrections.append((word, "memory"))
            return "memory"
        if after_number or before in {"per", "each", "a", "pro", "par"}:
            better = mended_unit(low) if after_number or before == "per" else None
            if better:
                self.corrections.append((word, better))
                return better
        better = mended_word(word, before, following)
        if better:
            self.corrections.append((word, better))
            return better
        return low if len(low) == len(word) else word

    @property
    def open(self) -> str:
        """The normal form with claimed stretches hidden."""
        if self._masked is None:
            self._masked = "".join(self._open)
        return self._masked

    def find(self, rule: str) -> Iterator[re.Match[str]]:
        """Every match of a rule in what is not claimed yet; claims made on the way are respected."""
        for match in pattern(rule).finditer(self.open):
            if _CLAIMED not in self._open[match.start() : match.end()]:
                yield match

    def claim(self, start: int, end: int) -> None:
        """Take a stretch of the normal form out of sight of later rules."""
        for index in range(start, min(end, len(self._open))):
            self._open[index] = _CLAIMED
        self._masked = None

    def hide_long(self) -> list[str]:
        """Claim words that no rule should look through (`data:...`, hashes, encoded files); their beginnings."""
        found = [match for match in re.finditer(r"[^ \x00]+", self.open) if len(match[0]) > _LONGEST_WORD]
        for match in found:
            self.claim(*match.span())
        return [self.words(match.start(), match.start() + 60) + "…" for match in found]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the normal form lies in the text."""
        if start >= end:
            place = self._starts[start] if start < len(self._starts) else len(self.text)
            return place, place
        return self._starts[start], self._ends[end - 1]

    def words(self, start: int, end: int) -> str:
        """A stretch of the normal form, as written."""
        first, last = self.span(start, end)
        return self.text[first:last]

    def claim_text(self, start: int, end: int) -> None:
        """Claim by offsets of the original text."""
        self.claim(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def place(self, at: int) -> int:
        """Where an offset of the original text lies in the normal form."""
        return bisect_left(self._starts, at)

    def follows_claimed(self, at: int) -> bool:
        """Whether what stands before a place of the normal form, blanks aside, is claimed."""
        while at > 0 and self._open[at - 1] == " ":
            at -= 1
        return at > 0 and self._open[at - 1] == _CLAIMED

    def is_open(self, start: int, end: int) -> bool:
        """Whether no rule has claimed any of a stretch, by offsets of the original text."""
        return _CLAIMED not in self._open[bisect_left(self._starts, start) : bisect_left(self._starts, end)]
