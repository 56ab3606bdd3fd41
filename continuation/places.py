"""The runtimes of sites that threads wait at: each thread's own fleet says what its site is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dragoman.errors import SiteNotHere
from dragoman.event import Wait
from dragoman.ledger import Ledger
from dragoman.model import JsonObject
from dragoman.site_meaning import FleetOrigin, origin_of
from providers.site_runtime import SiteRuntime

__all__ = ["OpenSite", "Places"]

OpenSite = Callable[[str, FleetOrigin | None, JsonObject | None], SiteRuntime]
"""From a site's name, the fleet of the thread that is at it, and how it was described to the thread's job."""
T = TypeVar("T")


class Places:
    """Opens awaited sites.

    Args:
        ledger: which thread waits where, and which fleet it came with.
        open_site: opens a site.

    """

    def __init__(self, ledger: Ledger, open_site: OpenSite) -> None:
        self.ledger = ledger
        self.open_site = open_site
        self._known: dict[str, tuple[FleetOrigin | None, JsonObject | None]] = {}

    async def open(self, name: str) -> SiteRuntime:
        """The runtime of an awaited site, as the thread that came last knows it.

        Raises:
            SiteNotHere: no fleet that can be read here has it.

        """
        if name in self._known:
            try:
                return self.open_site(name, *self._known[name])
            except SiteNotHere:
                del self._known[name]
        missing: SiteNotHere | None = None
        tried: list[str] = []
        for wait in reversed(await self.ledger.open_waits(site=name)):
            if (key := _key(wait)) in tried:
                continue
            tried.append(key)
            known = _told(wait) if key else (await self._of_thread(wait), None)
            try:
                runtime = self.open_site(name, *known)
            except SiteNotHere as error:
                missing = error
                continue
            self._known[name] = known
            return runtime
        if missing is not None:
            raise missing
        return self.open_site(name, None, None)

    async def _of_thread(self, wait: Wait) -> FleetOrigin | None:
        """Of a wait that an older release stored."""
        row = await self.ledger.thread(wait.thread_id)
        return origin_of(row.input.get("options")) if row is not None else None

    def sorted(
        self, waits: Iterable[T], wait_of: Callable[[T], Wait], usual: SiteRuntime
    ) -> tuple[list[tuple[SiteRuntime, list[T]]], str]:
        """What waits at a site, by the runtime that it is to be asked about at; and why some have none here.

        Two fleets may have a site of one name that is not one place; most often all is at one.
        """
        by_key: dict[str, list[T]] = {}
        for each in waits:
            by_key.setdefault(_key(wait_of(each)), []).append(each)
        found: dict[int, tuple[SiteRuntime, list[T]]] = {}
        trouble: Sequence[str] = ()
        for key, those in by_key.items():
            wait = wait_of(those[0])
            try:
                runtime = self.open_site(str(wait.site), *_told(wait)) if key else usual
            except SiteNotHere as error:
                trouble = (*trouble, str(error))
                continue
            found.setdefault(id(runtime), (runtime, []))[1].extend(those)
        return list(found.values()), "; ".join(trouble)


def _key(wait: Wait) -> str:
    """The same for waits that know their site alike; empty where an older release stored nothing of it."""
    known = wait.subject.get("fleet"), wait.subject.get("described")
    return "" if known == (None, None) else repr(known)


def _told(wait: Wait) -> tuple[FleetOrigin | None, JsonObject | None]:
    fleet, described = wait.subject.get("fleet"), wait.subject.get("described")
    origin = FleetOrigin.model_validate(fleet) if fleet is not None else None
    return origin, described if isinstance(described, dict) else None
