"""Names in a simulated state that no provider has: a misspelt one would be a provider of its own that is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dragoman.observation import Category
from providers.misspelt import Misspelt, near, provider_names
from providers.simulated.contradictions import contradiction
from providers.simulated.provider import LOCAL_KINDS, NETWORK_KINDS
from providers.simulated.state import SimulatedState

__all__ = ["misspelt_name"]

KINDS = LOCAL_KINDS | NETWORK_KINDS
"""Kinds of file systems that a provider of another name speaks for."""
_CATEGORIES = frozenset(each.value for each in Category)
_Names = Mapping[Category, frozenset[str]]
_Named = tuple[tuple[int | str, ...], Category, str]


def misspelt_name(state: SimulatedState, scheduler: str) -> Misspelt | None:
    """The first name that means nothing here, or else the first contradiction; places count from the site.

    Args:
        state: of the site.
        scheduler: the one workload manager of the site.

    """
    names = provider_names()
    if scheduler not in names[Category.WORKLOAD]:
        return Misspelt(
            ("scheduler",), f"there is no scheduler {scheduler!r}", near(scheduler, names[Category.WORKLOAD])
        )
    here = {**names, Category.WORKLOAD: frozenset({scheduler})}
    wrong = _unknown_provider(state, here) or _unknown_place(state, here) or _unknown_queue(state)
    wrong = wrong or contradiction(state, scheduler)
    return None if wrong is None else replace(wrong, loc=("simulated", *wrong.loc))


def _unknown_provider(state: SimulatedState, here: _Names) -> Misspelt | None:
    for loc, category, name in _named(state):
        if name not in here[category] and not (category is Category.STORAGE and name in KINDS):
            known = here[category] | (KINDS if category is Category.STORAGE else frozenset())
            return Misspelt(loc, f"there is no {category.value} provider {name!r}", near(name, known))
    return None


def _unknown_place(state: SimulatedState, here: _Names) -> Misspelt | None:
    for loc, name in _places(state):
        kind, slash, one = name.partition("/")
        if kind not in _CATEGORIES:
            return Misspelt(loc, f"{name!r} is in no category", near(kind, _CATEGORIES))
        names = here[Category(kind)]
        if slash and one not in names:
            return Misspelt(loc, f"there is no provider {name!r} here", near(one, names, before=f"{kind}/"))
    return None


def _named(state: SimulatedState) -> Iterator[_Named]:
    """Where a state names a provider by a fact of it."""
    for number, manager in enumerate(state.managers):
        yield ("managers", number), Category.SOFTWARE, manager
    for number, package in enumerate(state.packages):
        yield ("packages", number, "manager"), Category.SOFTWARE, package.manager
    for number, container in enumerate(state.containers):
        yield ("containers", number, "runtime"), Category.CONTAINER, container.runtime
    for number, storage in enumerate(state.file_systems):
        yield ("file_systems", number, "kind"), Category.STORAGE, storage.kind
    for number, port in enumerate(state.interfaces):
        yield ("interfaces", number, "fabric"), Category.NETWORK, port.fabric
    for number, library in enumerate(state.mpi):
        yield ("mpi", number, "implementation"), Category.PARALLEL, library.implementation


def _places(state: SimulatedState) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Where a state names providers, or all of a category."""
    for number, name in enumerate(state.unknown):
        yield ("unknown", number), name
    for name in state.volatility:
        yield ("volatility", name), name


def _unknown_queue(state: SimulatedState) -> Misspelt | None:
    """A group of nodes that only a queue which is not there leads to could never be reached."""
    workload = state.workload
    if workload is None or workload.queues is None:
        return None
    names = [queue.name for queue in workload.queues]
    for number, group in enumerate(workload.groups or ()):
        for place, queue in enumerate(group.queues):
            if queue not in names:
                loc = ("workload", "groups", number, "queues", place)
                return Misspelt(loc, f"there is no queue {queue!r} here", near(queue, names))
    return None
