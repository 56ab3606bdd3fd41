"""Apptainer, SingularityCE, SingularityPRO and Singularity: told apart by their own words, versions by flavour.

Apptainer 1.0 continues Singularity 3.8 (Apptainer documentation, "Singularity compatibility"), so its numbers are no
older ones. SingularityCE went its own way from 3.9 on.
"""

from __future__ import annotations

import re

from dragoman.kleene import Truth, all_of
from dragoman.versions import VersionBound, VersionRange, compare

__all__ = ["FLAVOURS", "flavour_admits", "parse_flavour", "plain_version"]

FLAVOURS = ("apptainer", "singularity", "singularity-ce", "singularity-pro")

_SAID = re.compile(
    r"^[ \t]*(apptainer|singularity(?:[- ]?(?:ce|pro))?) version v?(\d\S*)", re.IGNORECASE | re.MULTILINE
)
_BARE = re.compile(r"^[ \t]*v?(\d+\.\d\S*)[ \t\r]*$", re.MULTILINE)
_PLAIN = re.compile(r"(\d+(?:\.\d+)*)(?:[-~.]?(rc|alpha|beta)[.-]?(\d+))?")

FORKED = "3.9"
"""Up to here all flavours share one history."""


def plain_version(text: str) -> str | None:
    """`1.2.5-1.el9` is 1.2.5 and `1.3.0-rc.1` is 1.3.0rc1: what a packager adds is left out."""
    match = _PLAIN.match(text.strip().removeprefix("v"))
    return f"{match[1]}{match[2] or ''}{match[3] or ''}" if match else None


def parse_flavour(text: str) -> tuple[str | None, str | None]:
    """Flavour and version of what `--version` or `version` printed. A bare number tells no flavour, except 2.x."""
    said = _SAID.search(text)
    if said is not None:
        flavour = re.sub(r"[- ]?(ce|pro)$", r"-\1", said[1].lower())
        return flavour, plain_version(said[2])
    bare = _BARE.search(text)
    if bare is None:
        return None, None
    version = plain_version(bare[1])
    return ("singularity" if version and version.startswith("2.") else None), version


def _bound(bound: VersionBound, asked: str, found: str, version: str) -> Truth:
    before_fork = compare(bound.version, FORKED) == -1
    if found == asked or (asked == "singularity" and found != "apptainer"):
        return bound.admits(version)
    if found == "apptainer":
        at_least = bound.operator in (">=", ">") and before_fork and compare(version, "1.0") in (0, 1)
        return Truth.YES if at_least else Truth.UNKNOWN
    return bound.admits(version) if before_fork and compare(version, FORKED) == -1 else Truth.UNKNOWN


def flavour_admits(asked: str, wanted: VersionRange | None, found: str, version: str | None) -> Truth:
    """Whether an installed flavour meets a need of another, such as `singularity>=3.5` by Apptainer 1.2.5.

    Args:
        asked: the flavour that a request names.
        wanted: its versions; None: any.
        found: the flavour that is installed.
        version: of what is installed; None: not known.

    """
    if asked not in FLAVOURS or found not in FLAVOURS:
        return Truth.YES if asked == found and wanted is None else Truth.NO if asked != found else Truth.UNKNOWN
    if asked == "apptainer" and found != "apptainer":
        return Truth.NO
    if wanted is None:
        return Truth.YES
    if version is None:
        return Truth.UNKNOWN
    return all_of(_bound(bound, asked, found, version) for bound in wanted.bounds)
