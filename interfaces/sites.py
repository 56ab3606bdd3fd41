"""The fleet and its opened sites."""

from __future__ import annotations

import logging
from pathlib import Path

import anyio
import anyio.to_thread

from dragoman.errors import DragomanError, SiteNotHere, UnknownName
from dragoman.kept_fact import SiteFacts
from dragoman.site import Fleet, Site
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
        self._others: dict[str, tuple[float, Sites]] = {}
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
        if fleet is None and path is not None:
            fleet = await anyio.to_thread.run_sync(load_fleet, path)
        return cls(path, fleet or default_fleet())

    @classmethod
    def read_now(cls, path: Path | None) -> Sites:
        """As `read`, where no event loop runs yet.

        Raises:
            SiteFileError: with line, field and cure.

        """
        return cls(path, default_fleet() if path is None else load_fleet(path))

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

    def at(self, name: str, file: str | None) -> SiteRuntime:
        """The runtime of a site for a thread that came with the sites file `file`.

        A fleet that this process was given itself comes first; without one, the thread's own.

        Raises:
            SiteNotHere: neither has it, or the thread's file cannot be read here.
        """
        own = any(site.name == name for site in self.fleet.sites)
        if own and (self.path is not None or file is None):
            return self.open(name)
        other = self._other(file) if file is not None else None
        if other is not None and any(site.name == name for site in other.fleet.sites):
            return other.open(name)
        if own:
            return self.open(name)
        raise SiteNotHere(
            f"site {name!r} is in no fleet that can be read here", where=file or "sites", cure="name its sites file"
        )

    def fleet_for(self, file: str | None) -> Fleet:
        """The sites that a thread which came with `file` may go to, by the same rule."""
        other = self._other(file) if self.path is None and file is not None else None
        return other.fleet if other is not None else self.fleet

    def _other(self, file: str) -> Sites | None:
        """The fleet of another file, as it is now; None where it cannot be used."""
        try:
            changed = Path(file).stat().st_mtime
            known = self._others.get(file)
            if known is None or known[0] != changed:
                known = self._others[file] = (changed, Sites.read_now(Path(file)))
                known[1]._kept, known[1]._fresh = self._kept, self._fresh
        except (OSError, DragomanError) as error:
            log.warning("the sites file of a thread cannot be used: %s", error, extra={"action": "sites-unread"})
            return None
        return known[1]

    async def aclose(self) -> None:
        """Close the connections to all sites."""
        for _, other in self._others.values():
            await other.aclose()
        for runtime in self._open.values():
            await runtime.aclose()
        self._open.clear()
