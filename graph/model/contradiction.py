"""What a model's sentence must not say: another verdict, room where none was shown, software that nobody saw.

A citation shows that an observation exists, not that it says what the sentence says. So the words themselves are held
against the verdict and against pairs of name and version that observations of the site hold. In doubt a sentence goes:
it is an explanation, and the checks are there without it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from dragoman.observation import Observation, Outcome
from dragoman.proposal import Verdict
from dragoman.request import JobRequest

__all__ = ["Held", "contradicts"]

_EDGE = r"(?<![^\W_])", r"(?![^\W_])"


def _words(alternatives: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(f"{_EDGE[0]}(?:{alternatives}){_EDGE[1]}", flags)


_VERDICTS = {
    Verdict.READY: _words(r"READY", 0),
    Verdict.BUSY: _words(r"BUSY", 0),
    Verdict.UNKNOWN: _words(r"UNKNOWN", 0),
    Verdict.INCOMPATIBLE: _words(r"incompatible"),
    Verdict.NEEDS_INFORMATION: _words(r"NEEDS[_ ]INFORMATION"),
}
_ROOM = _words(
    r"ready|free|available|vacant|bereit|frei|verf[uü]gbar|pr[eê]te?s?|libres?|disponibles?"
    r"|starts?(?: (?:right|straight))? (?:now|immediately|away|at once)|(?:immediately|instantly) startable"
)
_ABLE = _words(r"can (?:take|run|start|do|accept|host)|(?:is|are) (?:compatible|suitable|able)|fits?|works? here")
_IF = _words(r"if|would|could|with|unless|only|when|once|whether|may|might|needs?|asked")
_NOT = _words(
    r"no(?! doubt| question| problem)|not(?! only| just| merely)|never|none|neither|nor|cannot|without|whether|unclear"
    r"|unknown|lacks?|\w+n['\u2019]t|kein\w*|nicht|pas|aucune?"
)
_CLAUSE = re.compile(r"[,;:.!?]\s|\b(?:and|but|yet|so|because|although|though|while)\b", re.IGNORECASE)
_THERE = _words(
    r"installed|available|present|provided|provides|offers|offered|loaded|loadable|ready|has|have|holds|there is"
    r"|is there|exists|usable|found|comes with|installiert|vorhanden|install[eé]e?"
)
_DENIES = _words(
    r"\w+n['\u2019]t|no|not|cannot|none|lacks?|lacking|missing|absent|asked|requested|wanted|whether|unknown"
)
_UNIT = re.compile(
    r"\s*(?:%|[kmgt]i?b\b|[gmk]?hz\b|(?:s|h|d|min|ms)\b|(?:second|minute|hour|day|week|core|node|gpu|cpu|usd|eur)s?\b)",
    re.I,
)
_VERSION = re.compile(
    r"(?<![\w.])(?:(?P<name>[a-z][\w+.-]*?)(?:\s*[/@=]+\s*|\s+(?:(?:version|release|ver\.?)\s+)?|-))?"
    r"(?<![\d.])v?(?P<version>\d+(?:\.\d+)+[\w.-]*|\d+[a-z]{3}\d{4}|\d+)(?![\w/@])",
    re.IGNORECASE,
)
_NO_NAME = frozenset(
    re.findall(
        r"\w+",
        "version release has have had is are was were of at to in on by for with than and or only from the a an about"
        " some least most over under exactly offers needs asked wants requires newer older has ver be not no v",
    )
)


class Held:
    """The names, versions and pairs of them that observations of one site hold."""

    def __init__(self, request: JobRequest, evidence: Sequence[Observation]) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self.names: set[str] = set()
        self.numbers: set[str] = set()
        self.texts: list[str] = []
        self.asked = {_bare(name) for need in request.software for name in _asked(need.model_dump(mode="json"))}
        for each in evidence:
            if each.outcome is Outcome.OK:
                self._take(each.value, each.provider.rpartition("/")[2])
            self.texts.append(each.reason.lower())
        self.software = self.names | self.asked

    def _take(self, value: object, parent: str) -> None:
        if isinstance(value, dict):
            version = value.get("version")
            if isinstance(version, str) and version:
                named = [each for each in (value.get("name"), parent) if isinstance(each, str) and each]
                self.pairs |= {(_bare(name), version.lower().removeprefix("v")) for name in named[:1]}
                self.names |= {_bare(name) for name in named[:1]}
            elif "version" in value and isinstance(value.get("name"), str):
                self.names.add(_bare(str(value["name"])))
            for key, each in value.items():
                self._take(each, str(key))
        elif isinstance(value, list):
            for each in value:
                self._take(each, parent)
        elif isinstance(value, str):
            self.texts.append(value.lower())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.numbers |= {str(value), f"{value:g}"}

    def holds(self, name: str, version: str) -> bool:
        """Whether an observation holds the two together: as fields of one thing, or side by side in its words."""
        bare, number = _bare(name), version.lower().rstrip(".")
        if any(
            _bare(known) == bare and (full == number or full.startswith((f"{number}.", f"{number}-")))
            for known, full in self.pairs
        ):
            return True
        beside = re.compile(rf"(?<![a-z0-9]){re.escape(name.lower())}[\s/@=-]+v?{re.escape(number)}(?![0-9])")
        return any(beside.search(text) for text in self.texts)

    def shows(self, version: str) -> bool:
        """Whether a number without a name is a version or a number that was seen."""
        number = version.lower().rstrip(".")
        seen = any(full == number or full.startswith(f"{number}.") for _, full in self.pairs)
        return seen or number in self.numbers or any(number in text for text in self.texts)


def contradicts(text: str, verdict: Verdict | None, held: Held) -> str:
    """Why a sentence cannot stand beside the verdict and what was observed; empty: it can.

    Args:
        text: the sentence.
        verdict: what the rules found; None: it is not held against one.
        held: what observations of the site hold.

    """
    plain = unicodedata.normalize("NFKC", text)
    if verdict is not None and _against(plain, verdict):
        return f"contradicts the verdict {verdict.value}"
    if _unseen(plain, held):
        return "names software that no observation here holds"
    return ""


def _against(text: str, verdict: Verdict) -> bool:
    if any(pattern.search(text) for other, pattern in _VERDICTS.items() if other is not verdict):
        return True
    if verdict is not Verdict.READY and _claimed(_ROOM, text):
        return True
    return not verdict.possible and _claimed(_ABLE, text) and not _IF.search(text)


def _claimed(pattern: re.Pattern[str], text: str) -> bool:
    """Whether something is said without a no before it in the same clause."""
    for match in pattern.finditer(text):
        begin = max((each.end() for each in _CLAUSE.finditer(text, 0, match.start())), default=0)
        if not _NOT.search(text, begin, match.start()):
            return True
    return False


def _unseen(text: str, held: Held) -> bool:
    claims = _claimed(_THERE, text)
    for match in _VERSION.finditer(text):
        name, version = (match["name"] or "").lower(), match["version"]
        dotted = not version.isdigit()
        known = _bare(name) in held.software
        if _UNIT.match(text, match.end()) or (not dotted and not known):
            continue
        if not name or name in _NO_NAME:
            if dotted and claims and not held.shows(version):
                return True
        elif not held.holds(name, version) and not (
            (_bare(name) in held.asked and not claims and _DENIES.search(text)) or version in held.numbers
        ):
            return True
    said = {_bare(word) for word in re.findall(r"[\w+.-]*\w\+*", text)}
    return claims and bool(said & (held.asked - held.names)) and not _in_words(said & held.asked, held)


def _in_words(names: set[str], held: Held) -> bool:
    """Whether some answer to the question for them speaks of all these names."""
    return all(any(name in _bare(text) for text in held.texts) for name in names)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _asked(need: object) -> Iterator[str]:
    if isinstance(need, dict):
        if isinstance(need.get("name"), str):
            yield need["name"]
        for each in need.get("alternatives") or ():
            yield from _asked(each)
