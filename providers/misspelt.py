"""Names in a sites file that nothing answers to: told with what is near, so that none is without effect.

What is known follows from the registry, so that names of third parties count as ours do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dragoman.observation import Category
from dragoman.site import Site
from providers.registry import dialects, probes

__all__ = ["Misspelt", "described_twice", "misspelt_path", "near", "path_keys", "provider_names"]


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A name that nothing answers to: where it stands below its site or state, what is wrong, and the cure."""

    loc: tuple[int | str, ...]
    what: str
    cure: str


def near(name: str, known: Iterable[str], *, before: str = "") -> str:
    """What to write instead: the closest names, and all there are; each with `before` in front of it."""
    there = sorted(set(known))
    folded = {each.lower(): each for each in reversed(there)}
    close = [before + folded[each] for each in difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.7)]
    meant = f"perhaps {' or '.join(close)}; " if close else ""
    return f"{meant}there are {', '.join(before + each for each in there)}" if there else "leave it out"


def provider_names() -> Mapping[Category, frozenset[str]]:
    """Names of the providers of each category, without it; those of workload managers are the schedulers'."""
    return _by_category(probes.names(), dialects.names())


@lru_cache(maxsize=8)
def _by_category(registered: tuple[str, ...], schedulers: tuple[str, ...]) -> Mapping[Category, frozenset[str]]:
    named = [*registered, *(f"{Category.WORKLOAD.value}/{name}" for name in schedulers)]
    parts = [each.partition("/") for each in named]
    return {category: frozenset(name for kind, _, name in parts if kind == category.value) for category in Category}


def path_keys(scheduler: str) -> frozenset[str]:
    """Keys that mean something in `paths` of a site with that scheduler."""
    keys: set[str] = set(_scheduler_keys().get(scheduler, ()))
    for name, make in probes.items():
        own: tuple[str, ...] | None = getattr(make, "path_keys", None)
        keys |= set(own if own is not None else (name.rpartition("/")[2],))
    return frozenset(keys)


def misspelt_path(site: Site) -> Misspelt | None:
    """The first key of `paths` that no probe and not this site's scheduler reads."""
    if not site.paths:
        return None
    known = path_keys(site.scheduler)
    for key in site.paths:
        if key not in known:
            whose = sorted(name for name, keys in _scheduler_keys().items() if key in keys)
            what = f"there is no path {key!r}"
            if whose:
                what = f"{key!r} is for {' and '.join(whose)}, and the scheduler here is {site.scheduler}"
            return Misspelt(("paths", key), what, near(key, known))
    return None


def described_twice(above: tuple[int | str, ...], field: str, names: Sequence[str]) -> Misspelt | None:
    """The second of two that have one name: only one of them would count."""
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        if first.setdefault(name, number) != number:
            where = ".".join(str(part) for part in (*above, first[name]))
            return Misspelt((*above, number, field), f"{name!r} is already described at {where}", "keep one of them")
    return None


def _scheduler_keys() -> dict[str, tuple[str, ...]]:
    return {name: tuple(getattr(make, "path_keys", ())) for name, make in dialects.items()}
