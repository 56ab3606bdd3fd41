"""Several versions of which one will do: `Abaqus 2023 or 2024`, `CP2K 2023.1, 2023.2 or 2024.1`."""

from __future__ import annotations

import re

from dragoman.request import SoftwareNeed
from dragoman.versions import VersionBound, VersionRange
from graph.reading.draft import Draft
from graph.reading.version_words import COUNTED, VERSION, VERSION_WORD

__all__ = ["with_other_versions"]

_ONE = rf"(?:{VERSION}|r20\d\d[ab])(?![\w/@]|:\S|\.\d)"
_MORE = re.compile(rf"(?:(?:, ?| ?/ ?)(?:{VERSION_WORD} )?{_ONE}){{0,8}},? or (?:also )?(?:{VERSION_WORD} )?{_ONE}")
_EACH = re.compile(_ONE)


def with_other_versions(draft: Draft, need: SoftwareNeed, end: int) -> tuple[SoftwareNeed, int]:
    """The need with the other versions that are listed behind its one version, and where the list ends."""
    bounds = need.version.bounds if need.version else ()
    if len(bounds) != 1 or bounds[0].operator != "==":
        return need, end
    match = _MORE.match(draft.line.open, end)
    if match is None or re.compile(rf" ?(?:{COUNTED}|or (?:newer|later|older|above|higher))").match(
        draft.line.norm, match.end()
    ):
        return need, end
    written = [draft.line.words(*found.span()) for found in _EACH.finditer(draft.line.norm, end, match.end())]
    if any(_manner(version) != _manner(bounds[0].version) for version in written):
        return need, end
    others = tuple(SoftwareNeed(name=need.name, version=_exactly(version)) for version in written)
    return need.model_copy(update={"alternatives": (*need.alternatives, *others)}), match.end()


def _manner(version: str) -> str:
    """How a version is written: `2023` and `2024` alike, `2023.1` not like `24`."""
    return re.sub(r"[a-z]+", "a", re.sub(r"\d+", lambda found: "y" if len(found[0]) == 4 else "n", version.lower()))


def _exactly(version: str) -> VersionRange:
    return VersionRange(bounds=(VersionBound(operator="==", version=re.sub(r"^[vV](?=\d)", "", version)),))
