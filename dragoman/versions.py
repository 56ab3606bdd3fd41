"""Versions of software as HPC sites write them, in one order, and ranges of them.

Release versions (`5.3.1`), calendar ones (`2024.2`), date-like ones (`2Aug2023`, `20230802`, `29Sep2021_update3`) and
suffixes (`1.2rc1`, `9.0-cuda`). Missing parts count as zero: 3.1 equals 3.1.0. A date-like version compares with
another date-like one by date; with a release version no order is known, and `compare` answers None. So it does for
branches (`develop`, `main`, `stable`), which have no place among numbers; `git.9f3a=2.1` is what it says it equals.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import Literal

from pydantic import Field, field_validator

from dragoman.errors import BadRequest
from dragoman.kleene import Truth, all_of
from dragoman.model import Model

__all__ = ["Operator", "VersionBound", "VersionRange", "compare"]

Operator = Literal["==", "!=", ">=", "<=", ">", "<"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED_DATE = re.compile(r"(\d{1,2})[-_ ]?([A-Za-z]{3})[a-z]*[-_ ]?(\d{4})(.*)")
_PLAIN_DATE = re.compile(r"((?:19|20)\d{2})[-.]?(\d{2})[-.]?(\d{2})(.*)")
_PARTS = re.compile(r"\d+|[a-z]+", re.IGNORECASE)
_BEFORE_RELEASE = (
    "snapshot", "nightly", "dev", "alpha", "a", "beta", "b", "milestone", "m", "pre", "preview", "rc", "c",
)  # fmt: skip

_RELEASE_WORD = re.compile(r"(?:stable|patch|release|rel|version)[-_.]?(?=\d)", re.IGNORECASE)
_UPDATE_WORD = re.compile(r"[-_. ]*(?:update|patch|u|p) ?(?=\d)", re.IGNORECASE)

_Key = tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    """Without what tags put before a version (`stable_29Sep2021`), and for `git.REF=VERSION` the version."""
    bare = text.strip()
    if bare.lower().startswith("git."):
        bare = bare.partition("=")[2]
    return _RELEASE_WORD.sub("", bare, count=1) if _RELEASE_WORD.match(bare) else bare


def _first_word(text: str) -> str:
    """The word a version begins with: `r` of r2023b, none of 3.1 and v3.1. What begins otherwise counts otherwise."""
    match = re.match(r"v?(?=\d)|[a-z]+", text.lower())
    return "" if match is None else match[0].removeprefix("v") if match[0] == "v" else match[0]


@lru_cache(maxsize=65536)
def _as_date(text: str) -> tuple[date, str] | None:
    named = _NAMED_DATE.fullmatch(text)
    if named and named[2].lower() in _MONTHS:
        day, month, year, rest = int(named[1]), _MONTHS.index(named[2].lower()) + 1, int(named[3]), named[4]
    else:
        plain = _PLAIN_DATE.fullmatch(text)
        if plain is None:
            return None
        year, month, day, rest = int(plain[1]), int(plain[2]), int(plain[3]), plain[4]
    try:
        return date(year, month, day), _UPDATE_WORD.sub(".", rest, count=1) if _UPDATE_WORD.match(rest) else rest
    except ValueError:
        return None


@lru_cache(maxsize=65536)
def _key(text: str) -> _Key:
    """Sort key of a release version: numbers count, pre-releases come before the release, other words after it.

    A lone `a`, `b` or `c` at the end is a letter of a release (OpenSSL 1.1.1c); with a number behind it, a pre-release.
    """
    parts: list[tuple[int, int, str]] = []
    for part in _PARTS.findall(text.lower()):
        if part.isdigit():
            parts.append((2, int(part), ""))
        elif part in _BEFORE_RELEASE and (len(part) > 1 or re.search(rf"{part}\d", text.lower())):
            parts.append((0, _BEFORE_RELEASE.index(part), part))
        elif part != "v" or parts:
            parts.append((2, 0, part))
    while parts and parts[-1] == (2, 0, ""):
        parts.pop()
    return tuple(parts)


def _padded(left: _Key, right: _Key) -> tuple[_Key, _Key]:
    length = max(len(left), len(right))
    zero = ((2, 0, ""),)
    return left + zero * (length - len(left)), right + zero * (length - len(right))


def compare(left: str, right: str) -> Literal[-1, 0, 1] | None:
    """-1, 0 or 1 as `left` is older than, the same as or newer than `right`; None where no order is known."""
    if left.strip().lower() == right.strip().lower():
        return 0
    left, right = _plain(left), _plain(right)
    if not (re.search(r"\d", left) and re.search(r"\d", right)) or _first_word(left) != _first_word(right):
        return None
    left_date, right_date = _as_date(left), _as_date(right)
    if (left_date is None) != (right_date is None):
        return None
    if left_date and right_date:
        one: tuple[object, _Key] = (left_date[0], _key(left_date[1]))
        other: tuple[object, _Key] = (right_date[0], _key(right_date[1]))
        if one == other:
            return 0
        if left_date[0] != right_date[0]:
            return -1 if left_date[0] < right_date[0] else 1
        return -1 if one[1] < other[1] else 1
    a, b = _padded(_key(left), _key(right))
    return 0 if a == b else (-1 if a < b else 1)


def _is_update_of(version: str, named: str) -> bool:
    """Whether a version is the release named by its day (`2Aug2023`), or an update of that release."""
    match = _NAMED_DATE.fullmatch(named)
    asked, there = _as_date(named), _as_date(version)
    return match is not None and not match[4] and asked is not None and there is not None and asked[0] == there[0]


class VersionBound(Model):
    """One comparison with a version, such as `>= 3.1`."""

    operator: Operator
    version: str = Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._+\-]*$")

    def admits(self, version: str) -> Truth:
        """Whether a version meets the bound; unknown where no order is known."""
        order = compare(version, self.version)
        if order != 0 and self.operator in ("==", "!=") and _is_update_of(version, self.version):
            order = 0
        if order is None:
            return Truth.NO if self.operator == "==" else Truth.YES if self.operator == "!=" else Truth.UNKNOWN
        meets = {
            "==": order == 0, "!=": order != 0, ">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0
        }[self.operator]  # fmt: skip
        return Truth.YES if meets else Truth.NO

    def __str__(self) -> str:
        return f"{self.operator} {self.version}"


_BOUND = re.compile(r"\s*(==|=|!=|>=|<=|>|<|~)?\s*v?([A-Za-z0-9][A-Za-z0-9._+\-]*)\s*")


class VersionRange(Model):
    """All of its bounds at once: `>=2.1,<=2.4`. Written and read as that text."""

    bounds: tuple[VersionBound, ...] = Field(min_length=1)

    @field_validator("bounds")
    @classmethod
    def _no_duplicates(cls, value: tuple[VersionBound, ...]) -> tuple[VersionBound, ...]:
        return tuple(dict.fromkeys(value))

    @classmethod
    def parse(cls, text: str, *, where: str = "version") -> VersionRange:
        """A range from `>=2.1,<2.5` or a single version.

        Raises:
            BadRequest: if a part is no comparison.

        """
        bounds: list[VersionBound] = []
        for part in text.split(","):
            match = _BOUND.fullmatch(part)
            if match is None or match[1] == "~":
                raise BadRequest(f"{part!r} is not a version or bound", where=where, cure="write it like >=2.1,<2.5")
            operator: Operator = "==" if match[1] in (None, "=") else match[1]  # type: ignore[assignment]  # the pattern allows no other
            bounds.append(VersionBound(operator=operator, version=match[2]))
        return cls(bounds=tuple(bounds))

    def admits(self, version: str) -> Truth:
        """Whether a version meets every bound."""
        return all_of(bound.admits(version) for bound in self.bounds)

    def __str__(self) -> str:
        return ",".join(f"{bound.operator}{bound.version}" for bound in self.bounds)
