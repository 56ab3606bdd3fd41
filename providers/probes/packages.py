"""How package managers answer `find_package`: names held against names, exactly."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from dragoman.facts import Package, Packages
from dragoman.observation import Answer

__all__ = ["any_case", "package_answer", "pep503", "similar_names"]

_Packages = Answer[Packages]
"""Held: a generic model that nobody holds is made anew at each use."""


def any_case(name: str) -> str:
    """Names that differ only in case are the same name (Spack, modules, conda)."""
    return name.strip().lower()


@lru_cache(maxsize=65536)
def pep503(name: str) -> str:
    """Normalised Python project name (PEP 503): case and runs of `-`, `_` and `.` do not count."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def similar_names(name: str, known: Iterable[str], *, same: Callable[[str], str] = any_case) -> tuple[str, ...]:
    """Up to ten names nearby: those that contain it, or that it contains, or that are spelt alike."""
    wanted = same(name)
    names = {one: compared for one in sorted(set(known)) if (compared := same(one)) != wanted}
    holding = [
        one
        for one, compared in names.items()
        if len(wanted) > 2 and (wanted in compared or (len(one) > 3 and compared in wanted))
    ]
    # A ratio of 0.8 leaves so many letters of the wanted name unmatched at most: most names need no closer look.
    letters, length = set(wanted), len(wanted)
    near = [
        one
        for one in names
        if len(letters.difference(one)) <= 0.6 * length - 0.4 * len(one) + 1e-9 and one not in holding
    ]
    alike = difflib.get_close_matches(wanted, near, n=5, cutoff=0.8)
    return tuple((holding + alike)[:10])


def package_answer(
    name: str,
    packages: Sequence[Package],
    *,
    known: Iterable[str] = (),
    same: Callable[[str], str] = any_case,
    where: str = "",
) -> Answer[Packages]:
    """The packages of exactly this name; where there are none, names nearby; where none are nearby, absent."""
    wanted = same(name)
    hits = tuple(package for package in packages if same(package.name) == wanted)
    if hits:
        return _Packages.ok(Packages(packages=hits))
    nearby = similar_names(name, known, same=same)
    if nearby:
        return _Packages.ok(Packages(similar=nearby))
    return _Packages.absent(f"{where or 'this package manager'} has no package {name}")
