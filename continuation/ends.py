"""Hears of ended jobs at once where the site's files are files of this host, without asking its scheduler.

Each job leaves a file with its tag's name in `<work_root>/.ended` as the last thing it does. That one folder is looked
at, not the folders of all attempts: the cost does not grow with the number of jobs. Looking at its time of change works
on every file system, and many times a second costs next to nothing; inotify would need a watch each and hear nothing of
what other hosts write to a network file system.

A file there is a hint and never the truth: it may be missed or removed by another process. It makes the watcher look
sooner, never more often than the site's bound allows.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.to_thread

from continuation.places import Places
from dragoman.errors import DragomanError
from dragoman.ledger import Ledger
from providers.schedulers.client import SchedulerClient

__all__ = ["LocalEnds"]

log = logging.getLogger(__name__)

FOLDER = ".ended"


class LocalEnds:
    """Looks for ended jobs in the folders of awaited local sites.

    Args:
        ledger: which sites are awaited.
        places: opens sites.
        every_s: between two looks at the folders.
        sites_every_s: between two looks at which sites are awaited.

    """

    def __init__(
        self,
        ledger: Ledger,
        places: Places,
        *,
        every_s: float = 0.05,
        sites_every_s: float = 2.0,
    ) -> None:
        self.ledger = ledger
        self.places = places
        self.every_s = every_s
        self.sites_every_s = sites_every_s

    async def run(self, heard: Callable[[], None]) -> None:
        """Hasten the look at a site, and call `heard`, whenever jobs there have ended; for ever."""
        folders: dict[str, str] = {}
        seen: dict[str, int] = {}
        due = 0.0
        while True:
            if anyio.current_time() >= due:
                with suppress(DragomanError):
                    folders = await self._folders()
                due = anyio.current_time() + self.sites_every_s
            changed = await anyio.to_thread.run_sync(_changed, folders, seen, abandon_on_cancel=True)
            for site, names in changed.items():
                try:
                    await self.ledger.hasten_watch(site)
                except DragomanError as error:
                    log.info("%s", error, extra={"action": "ends-unheard", "site": site})
                    seen.pop(site, None)
                    continue
                heard()
                await anyio.to_thread.run_sync(_remove, folders[site], names, abandon_on_cancel=True)
            await anyio.sleep(self.every_s if folders else self.sites_every_s)

    async def _folders(self) -> dict[str, str]:
        found = {}
        for name in await self.ledger.awaited_sites():
            try:
                runtime = await self.places.open(name)
                if (
                    runtime.transport is None
                    or not runtime.transport.local
                    or not isinstance(runtime.scheduler, SchedulerClient)
                ):
                    continue
                folder = f"{await runtime.scheduler.work_root()}/{FOLDER}"
                await anyio.Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            except (DragomanError, OSError) as error:
                log.debug("%s", error, extra={"action": "ends-unheard", "site": name})
                continue
            found[name] = folder
        return found


def _changed(folders: dict[str, str], seen: dict[str, int]) -> dict[str, list[str]]:
    """Names of what ended, by site, in folders that changed since they were last seen."""
    found = {}
    for site, folder in folders.items():
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116  # many times a second
            if seen.get(site) == changed:
                continue
            names = os.listdir(folder)  # noqa: PTH208
        except OSError:
            continue
        seen[site] = changed
        if names:
            found[site] = names
    return found


def _remove(folder: str, names: list[str]) -> None:
    for name in names:
        with suppress(OSError):
            os.unlink(f"{folder}/{name}")  # noqa: PTH108
