"""`logs` and `fetch`: what the job wrote."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.to_thread
import typer

from dragoman.errors import BadRequest, DragomanError, FileMissing, StorageFull
from dragoman.thread import ThreadRow
from graph.state import CurrentAttempt
from interfaces.answers import find_thread
from interfaces.app import App
from interfaces.cli.running import emit, run_command, say, tell
from interfaces.cli.session import catch_up, opened
from interfaces.thread_fleet import fleet_origin
from providers.outputs import find_logs, logs_among

__all__ = ["fetch", "logs"]

MOST_BYTES = 4 * 2**20
MOST_FILES = 40
"""That are shown of an array, two for each task."""
PLAIN = ("stdout.log", "stderr.log")


def logs(thread_id: str, lines: int, sites: str | None, *, as_json: bool) -> NoReturn:
    """Show the ends of stdout and stderr; of an array, of each of its first tasks."""

    async def command() -> int:
        async with opened(sites) as app:
            await catch_up(app)
            row = await find_thread(app.checkpoints.ledger, thread_id)
            names, read = await _logs_of(app, row)
            ends = {name: _end(await read(name), lines) for name in names[:MOST_FILES]}
        if as_json:
            emit({"thread_id": row.thread_id, "logs": ends, "more": list(names[MOST_FILES:])})
            return 0
        for name, text in ends.items():
            tell(f"== {name}" + (" (not there yet)" if text is None else ""))
            if text:
                typer.echo("".join(c if c.isprintable() or c in "\n\t" else "�" for c in text))
        if len(names) > MOST_FILES:
            say(f"and {len(names) - MOST_FILES} more, up to {names[-1]}: `dragoman fetch` copies all once it has ended")
        return 0

    run_command(command)


Reader = Callable[[str], Awaitable[bytes | None]]


async def _logs_of(app: App, row: ThreadRow) -> tuple[tuple[str, ...], Reader]:
    """Names of what the job printed to, and how to read one: results that were brought back, else the site.

    A name without a file is told where nothing has been printed; reading it gives None.
    """
    kept = anyio.Path(app.settings.results_dir / row.thread_id)

    async def result(name: str) -> bytes | None:
        return await (kept / name).read_bytes() if await (kept / name).exists() else None

    if await kept.is_dir() and (names := logs_among([path.name async for path in kept.iterdir()])):
        return _of_tasks(names) or PLAIN, result
    snapshot = await app.graph.aget_state({"configurable": {"thread_id": row.thread_id}})
    if not snapshot.values.get("attempt"):
        return PLAIN, result
    attempt = CurrentAttempt.model_validate(snapshot.values["attempt"])
    transport = app.sites.at(attempt.site, await fleet_origin(app, row), attempt.described).transport
    if transport is None:
        return PLAIN, result

    async def at_site(name: str) -> bytes | None:
        try:
            return await transport.read_file(f"{attempt.work_dir}/{name}", max_bytes=MOST_BYTES, tail=True)
        except FileMissing:
            return None

    return _of_tasks(await find_logs(transport, attempt.work_dir)) or PLAIN, at_site


def _of_tasks(names: Sequence[str]) -> tuple[str, ...]:
    """The same names where there are tasks among them, else none."""
    return tuple(names) if set(names) - set(PLAIN) else ()


def _end(data: bytes | None, lines: int) -> str | None:
    return None if data is None else "\n".join(data[-MOST_BYTES:].decode("utf-8", "replace").splitlines()[-lines:])


def fetch(thread_id: str, to: str, sites: str | None, *, as_json: bool) -> NoReturn:
    """Copy the results to a folder; nothing there is overwritten with other content silently."""

    async def command() -> int:
        async with opened(sites) as app:
            await catch_up(app)
            row = await find_thread(app.checkpoints.ledger, thread_id)
            source = app.settings.results_dir / row.thread_id
        if not await anyio.Path(source).is_dir():
            raise BadRequest("there are no results yet", where=row.thread_id, cure="`dragoman show` tells how it goes")
        copied = await anyio.to_thread.run_sync(_copy, source, Path(to).absolute())  # noqa: ASYNC240  # no I/O
        if as_json:
            emit({"thread_id": row.thread_id, "dir": str(Path(to).absolute()), "files": copied})  # noqa: ASYNC240
        else:
            tell(f"copied to {Path(to).absolute()}:")  # noqa: ASYNC240  # as above
            for name in copied:
                tell(f"  {name}")
        return 0

    run_command(command)


def _copy(source: Path, target: Path) -> list[str]:
    names = [str(path.relative_to(source)) for path in sorted(source.rglob("*")) if path.is_file()]
    for name in names:
        there = target / name
        if there.exists() and there.read_bytes() != (source / name).read_bytes():
            raise BadRequest(f"{there} is there already with other content", where="to", cure="name another folder")
    try:
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            partial = target / f"{name}.part"
            shutil.copy2(source / name, partial)
            partial.replace(target / name)
    except OSError as error:
        (target / f"{name}.part").unlink(missing_ok=True)
        if error.errno == 28:
            raise StorageFull(
                f"no room for {name}", where=str(target), cure="make room or name another folder"
            ) from error
        raise DragomanError(
            f"cannot copy {name}: {error.strerror}", where=str(target), cure="check its rights"
        ) from error
    return names
