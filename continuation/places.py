"""The runtime of a site that threads wait at, also where the site is of another fleet than this process was given."""

from __future__ import annotations

from collections.abc import Callable

from dragoman.ledger import Ledger
from providers.site_runtime import SiteRuntime

__all__ = ["OpenSite", "Places"]

OpenSite = Callable[[str, str | None], SiteRuntime]
"""From a site's name and the sites file of the thread that is at it."""


class Places:
    """Opens awaited sites.

    Args:
        ledger: which thread waits where, and which sites file it came with.
        open_site: opens a site.

    """

    def __init__(self, ledger: Ledger, open_site: OpenSite) -> None:
        self.ledger = ledger
        self.open_site = open_site
        self._files: dict[str, str | None] = {}

    async def open(self, name: str) -> SiteRuntime:
        """The runtime of an awaited site.

        Raises:
            SiteNotHere: no fleet that can be read here has it.
        """
        if name not in self._files:
            waits = await self.ledger.open_waits(site=name)
            row = await self.ledger.thread(waits[-1].thread_id) if waits else None
            options = row.input.get("options") if row else None
            file = options.get("sites_file") if isinstance(options, dict) else None
            self._files[name] = file if isinstance(file, str) else None
        return self.open_site(name, self._files[name])
