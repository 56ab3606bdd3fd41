"""Simulated providers: the verbs and answer types of the real ones, answered from a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import anyio
from pydantic import BaseModel

from dragoman.errors import UnknownName
from dragoman.facts import FileSystems, Gpus, Interfaces, MpiLibraries, Package, Presence
from dragoman.model import Model, now
from dragoman.observation import Answer, Category
from dragoman.protocols import Clock, Verb
from providers.probes.packages import any_case, package_answer, pep503
from providers.probes.storage.network_fs import KINDS
from providers.simulated.motion import Motion
from providers.simulated.state import SimulatedState
from providers.verbs import PackageQuery, category_verbs

__all__ = ["LOCAL_KINDS", "SimulatedProvider", "named_in"]

_Any = Answer[Any]
_PRESENT = _Any.ok(Presence())
LOCAL_KINDS = frozenset({"local-scratch", "xfs", "ext2", "ext3", "ext4", "btrfs", "zfs", "tmpfs", "f2fs", "overlay"})
"""Kinds that the provider `storage/local-scratch` speaks for."""
NETWORK_KINDS = frozenset({"network-fs", *KINDS})
"""Those that `storage/network-fs` speaks for these."""


def named_in(state: SimulatedState) -> list[tuple[Category, str]]:
    """The providers that a state has something for, by category and name, the workload manager left out."""
    names: list[tuple[Category, str]] = [
        *((Category.SOFTWARE, name) for name in (*state.managers, *(package.manager for package in state.packages))),
        *((Category.CONTAINER, one.runtime) for one in state.containers),
        *((Category.STORAGE, _storage_name(one.kind)) for one in state.file_systems),
        *((Category.NETWORK, one.fabric) for one in state.interfaces),
        *((Category.HARDWARE, one.vendor) for one in state.gpus if one.vendor),
        *((Category.PARALLEL, one.implementation) for one in state.mpi),
    ]
    names += [(Category.HARDWARE, name) for name in ("cpu", "memory") if getattr(state, name) is not None]
    names += [(Category.HARDWARE, "host")] if state.tenancy is not None or state.policy is not None else []
    for one in state.unknown:
        category, _, name = one.partition("/")
        if name and category != Category.WORKLOAD.value:
            names.append((Category(category), name))
    return list(dict.fromkeys(names))


def _storage_name(kind: str) -> str:
    return "local-scratch" if kind in LOCAL_KINDS else "network-fs" if kind in NETWORK_KINDS else kind


class SimulatedProvider:
    """One provider of a simulated site. What the state does not name is shown to be absent."""

    def __init__(self, category: Category, name: str, state: SimulatedState, clock: Clock = now) -> None:
        self.category = category
        self.name = name
        self.state = state
        self.clock = clock

    @property
    def instant(self) -> bool:
        """Whether answers come without waiting, so that no task of their own is worth it."""
        return not self.state.answer_s

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """What can be asked."""
        return self._verbs

    @cached_property
    def _verbs(self) -> Mapping[str, Verb]:
        return {verb.name: verb for verb in category_verbs(self.category, self.name)}

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        """Answer from the state.

        Raises:
            UnknownName: there is no such verb.

        """
        place = f"{self.category.value}/{self.name}"
        if verb not in self.verbs:
            raise UnknownName(f"there is no verb {verb!r}", where=place, cure=f"it has {', '.join(self.verbs)}")
        if self.state.answer_s:
            await anyio.sleep(self.state.answer_s)
        if place in self.state.unknown or self.category.value in self.state.unknown:
            return _Any.unknown(f"{place} gives no answer here (simulated)")
        if self.category is Category.HARDWARE and self.name == "host":
            answer = self._one(self._host(verb))
        else:
            answer = self._software(arguments) if isinstance(arguments, PackageQuery) else self._fact()
        if verb != "probe" or answer.value is None:
            return answer
        return _Any.ok(Presence(version=getattr(answer.value, "version", None)))

    def _host(self, verb: str) -> Model | None:
        state = self.state
        return {"tenancy": state.tenancy, "policy": state.policy}.get(verb, state.tenancy or state.policy)

    def _fact(self) -> Answer[Any]:
        state, name = self.state, self.name
        match self.category:
            case Category.SOFTWARE:
                there = name in state.managers or bool(self._packages)
                return _PRESENT if there else self._none()
            case Category.CONTAINER:
                return self._one(next((one for one in state.containers if one.runtime == name), None))
            case Category.STORAGE:
                motion = self._motion()
                found = tuple(one for one in state.file_systems if _storage_name(one.kind) == name)
                found = found if motion is None else tuple(map(motion.file_system, found))
                return self._one(FileSystems(file_systems=found) if found else None)
            case Category.NETWORK:
                ports = tuple(one for one in state.interfaces if one.fabric == name)
                return self._one(Interfaces(interfaces=ports) if ports else None)
            case Category.PARALLEL:
                libraries = tuple(one for one in state.mpi if one.implementation == name)
                return self._one(MpiLibraries(libraries=libraries) if libraries else None)
            case Category.HARDWARE if name in ("cpu", "memory"):
                return self._one(getattr(state, name))
            case _:
                motion = self._motion()
                kinds = tuple(one for one in state.gpus if one.vendor == name)
                kinds = kinds if motion is None else tuple(map(motion.gpu, kinds))
                return self._one(Gpus(kinds=kinds) if kinds else None)

    def _motion(self) -> Motion | None:
        return self.state.motion(f"{self.category.value}/{self.name}", self.clock()) if self.state.volatility else None

    def _software(self, query: PackageQuery) -> Answer[Any]:
        there = self._fact()
        if there.value is None:
            return there
        same = self._same
        hits = self._packages.get(same(query.name), ())
        known = {package.name for found in self._packages.values() for package in found} if not hits else ()
        return package_answer(query.name, hits, known=known, same=same, where=f"{self.name} (simulated)")

    @property
    def _same(self) -> Callable[[str], str]:
        return pep503 if self.name == "pip" else any_case

    @cached_property
    def _packages(self) -> Mapping[str, Sequence[Package]]:
        """Packages of this manager by name, as it compares names."""
        found: dict[str, list[Package]] = {}
        for package in self.state.packages:
            if package.manager == self.name:
                found.setdefault(self._same(package.name), []).append(package)
        return found

    def _one(self, value: Model | None) -> Answer[Any]:
        return self._none() if value is None else _Any.ok(value)

    def _none(self) -> Answer[Any]:
        return _Any.absent(f"this site has no {self.category.value} {self.name} (simulated)")
