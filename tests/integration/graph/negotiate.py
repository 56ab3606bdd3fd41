"""Negotiates one thread in a process of its own, which a test kills. Arguments: data folder, sites file, thread."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio


async def main(data: str, sites: str, thread: str) -> None:
    from dragoman.settings import read_settings
    from interfaces.app import open_app

    settings = read_settings(data_dir=Path(data), sites_file=Path(sites), sites_at_once=4, lease_s=2)
    async with open_app(settings) as app:
        await app.service.resumer.resume(thread)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3])
