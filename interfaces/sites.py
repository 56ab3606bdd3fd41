"""The fleet and its opened sites."""

from __future__ import annotations

from pathlib import Path

import anyio

from dragoman.errors import UnknownName
from dragoman.site import Fleet, Site
from providers.fleet import default_fleet, parse_fleet
from providers.site_runtime import SiteRuntime, open_site

__all__ = ["Sites"]


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

    @classmethod
    async def read(cls, path: Path | None, fleet: Fleet | None = None) -> Sites:
        """With the file read and checked.

        Raises:
            SiteFileError: with line, field and cure.

        """
        if fleet is None and path is not None:
            text = await anyio.Path(path).read_text(encoding="utf-8") if await anyio.Path(path).exists() else None
            fleet = parse_fleet(text, str(path)) if text is not None else _missing(path)
        return cls(path, fleet or default_fleet())

    @classmethod
    def read_now(cls, path: Path | None) -> Sites:
        """As `read`, where no event loop runs yet.

        Raises:
            SiteFileError: with line, field and cure.

        """
        if path is None:
            return cls(path, default_fleet())
        return cls(path, parse_fleet(path.read_text("utf-8"), str(path)) if path.exists() else _missing(path))

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
            self._open[name] = open_site(self.site(name))
        return self._open[name]

    async def aclose(self) -> None:
        """Close the connections to all sites."""
        for runtime in self._open.values():
            await runtime.aclose()
        self._open.clear()


def _missing(path: Path) -> Fleet:
    from dragoman.errors import SiteFileError

    raise SiteFileError("there is no such file", where=str(path), cure="name a sites file, or leave --sites out")
