"""The fleet and its opened sites."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from dragoman.errors import DragomanError, SiteNotHere, UnknownName
from dragoman.kept_fact import SiteFacts
from dragoman.model import JsonObject
from dragoman.site import Fleet, Site
from dragoman.site_meaning import FleetOrigin, fleet_digest, same_place, site_digest
from providers.fleet import default_fleet, load_fleet
from providers.kept_facts import BestEffort
from providers.site_runtime import SiteRuntime, open_site

__all__ = ["Sites"]

log = logging.getLogger(__name__)


class Sites:
    """Opens each site once and keeps it.

    Args:
        path: the sites file, or None.
        fleet: the fleet as read.

    """

    def __init__(self, path: Path | None, fleet: Fleet) -> None:
        self.path = path
        self.fleet = fleet
        self._open: dict[str, SiteRuntime] = {}
        self._others: dict[str, Sites] = {}
        """By their files; the empty name: this machine alone."""
        self._past: dict[str, SiteRuntime] = {}
        """Sites as they were described before, by digest."""
        self._left: list[SiteRuntime] = []
        """Opened before the file was edited, and perhaps in use."""
        self._stamp: tuple[int, int, int] | None = None
        self._digest: str | None = None
        self._kept: SiteFacts | None = None
        self._fresh = False

    def keep_facts_in(self, kept: SiteFacts, *, fresh: bool = False) -> None:
        """Have slow facts of sites that are opened from now on outlive the process.

        Args:
            kept: where; it may be away.
            fresh: use nothing that earlier processes left.

        """
        self._kept, self._fresh = BestEffort(kept), fresh

    @classmethod
    async def read(cls, path: Path | None, fleet: Fleet | None = None) -> Sites:
        """With the file read and checked.

        Raises:
            SiteFileError: with line, field and cure.

        """
        if fleet is not None:
            return cls(path, fleet)
        return await anyio.to_thread.run_sync(cls.read_now, path)

    @classmethod
    def read_now(cls, path: Path | None) -> Sites:
        """As `read`, where no event loop runs yet.

        Raises:
            SiteFileError: with line, field and cure.

        """
        if path is None:
            return cls(path, default_fleet())
        with suppress(OSError):
            stamp = _stamp(path)
            sites = cls(path, load_fleet(path))
            sites._stamp = stamp
            return sites
        return cls(path, load_fleet(path))  # tells what is wrong with it

    def site(self, name: str) -> Site:
        """A site by its name.

        Raises:
            UnknownName: there is none.

        """
        for site in self.fleet.sites:
            if site.name == name:
                return site
        there = ", ".join(site.name for site in self.fleet.sites)
        raise UnknownName(f"no site {name!r}", where="site", cure=f"the fleet has {there}")

    def open(self, name: str) -> SiteRuntime:
        """The runtime of a site; nothing is asked of it yet.

        Raises:
            UnknownName: there is none of that name.

        """
        if name not in self._open:
            self._open[name] = open_site(self.site(name), kept=self._kept, fresh=self._fresh)
        return self._open[name]

    @property
    def digest(self) -> str:
        """What the fleet means (`dragoman.site_meaning`)."""
        if self._digest is None:
            self._digest = fleet_digest(self.fleet)
        return self._digest

    def at(self, name: str, origin: FleetOrigin | None, described: JsonObject | None = None) -> SiteRuntime:
        """The runtime of a site for a thread of the fleet `origin` (None: this process's own).

        What was handed to a site stays within reach: where that fleet does not have the site any more, or under its
        name another place, it is opened as it was `described` then.

        Raises:
            SiteNotHere: the fleet does not have it, or its file cannot be read here.

        """
        then = Site.model_validate(described) if described is not None else None
        try:
            fleet = self._of(origin)
        except SiteNotHere as error:
            if then is None:
                raise SiteNotHere(f"site {name!r}: {error.what}", where=error.where, cure=error.cure) from error
            return self._as_described(then)
        now = next((site for site in fleet.fleet.sites if site.name == name), None)
        if then is not None and (now is None or not same_place(now, then)):
            return self._as_described(then)
        if now is None:
            raise SiteNotHere(
                f"site {name!r} is not in the fleet of the thread",
                where=origin.file if origin is not None and origin.file else "sites",
                cure="describe it there again",
            )
        return fleet.open(name)

    def fleet_for(self, origin: FleetOrigin | None) -> Fleet:
        """The sites that a thread of that fleet may go to, as its file says now.

        Raises:
            SiteNotHere: the file cannot be read here.

        """
        return self._of(origin).fleet

    def _of(self, origin: FleetOrigin | None) -> Sites:
        """The fleet of a thread: its own, never this process's in its place, unless both mean the same."""
        if origin is None:
            return self
        if origin.file == (str(self.path) if self.path is not None else None):
            return self._current()
        key = origin.file or ""
        try:
            if key not in self._others:
                self._others[key] = Sites.read_now(Path(key) if key else None)
                self._others[key]._kept, self._others[key]._fresh = self._kept, self._fresh
        except DragomanError as error:
            if origin.digest == self.digest:
                return self
            raise SiteNotHere(
                f"the sites file that the thread was begun with cannot be used here: {error}",
                where=key,
                cure="put it back, or answer with --sites FILE --take-sites",
            ) from error
        return self._others[key]._current()

    def _as_described(self, site: Site) -> SiteRuntime:
        key = site_digest(site)
        if key not in self._past:
            self._past[key] = open_site(site, kept=self._kept, fresh=self._fresh)
        return self._past[key]

    def _current(self) -> Sites:
        """Itself, with the file read again where it was edited; one that cannot be used changes nothing."""
        if self._stamp is None or self.path is None:
            return self
        try:
            stamp = _stamp(self.path)
            if stamp == self._stamp:
                return self
            fleet = load_fleet(self.path)
        except (OSError, DragomanError) as error:
            log.warning("an edited sites file cannot be used: %s", error, extra={"action": "sites-unread"})
            return self
        now = {site.name: site for site in fleet.sites}
        for name in [name for name, one in self._open.items() if one.site != now.get(name)]:
            self._left.append(self._open.pop(name))
        self.fleet, self._stamp, self._digest = fleet, stamp, None
        return self

    async def aclose(self) -> None:
        """Close the connections to all sites."""
        for other in self._others.values():
            await other.aclose()
        for runtime in (*self._open.values(), *self._past.values(), *self._left):
            await runtime.aclose()
        self._open.clear()
        self._past.clear()
        self._left.clear()


def _stamp(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written anew."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
