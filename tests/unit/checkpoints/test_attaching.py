"""Looking for an embedded server where something else lies in its place."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from checkpoints.embedded import EmbeddedServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("what", ["pipe", "link-to-pipe", "folder", "empty", "nothing"])
async def test_what_is_no_file_of_a_server_is_none_and_waits_for_nobody(tmp_path: Path, what: str) -> None:
    cluster = tmp_path / "postgres" / "cluster"
    cluster.mkdir(parents=True)
    place = cluster / "postmaster.pid"
    match what:
        case "pipe":
            os.mkfifo(place)
        case "link-to-pipe":
            os.mkfifo(tmp_path / "pipe")
            place.symlink_to(tmp_path / "pipe")
        case "folder":
            place.mkdir()
        case "empty":
            place.touch()
        case _:
            pass
    found: list[EmbeddedServer | None] = []

    async def look() -> None:
        found.append(await EmbeddedServer.find(tmp_path))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        with anyio.move_on_after(5):
            while not found:  # noqa: ASYNC110  # a thread adds to it
                await anyio.sleep(0.02)
        in_time = list(found)
        if not in_time and what.endswith("pipe"):
            # Else a thread that waits for the pipe's other end would never end.
            os.close(os.open(place, os.O_WRONLY | os.O_NONBLOCK))
    assert in_time == [None]
