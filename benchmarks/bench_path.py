"""The path's own cost: one request on this machine, without the job's run time; help; checkpoint writes and bytes.

Baselines in the same run: the bare command, a bare `import typer`, and the same graph with LangGraph's MemorySaver.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
from langgraph.checkpoint.memory import InMemorySaver

from continuation.engine import Engine
from dragoman.settings import read_settings
from graph.build import build
from graph.state import Options
from interfaces.app import App, open_app
from interfaces.requests import take_request

ROUNDS = 7
REQUEST = "1 task for 1 minute: sh -c true"


def dragoman(environment: dict[str, str], *arguments: str) -> tuple[float, str]:
    begun = time.perf_counter()
    done = subprocess.run(  # noqa: TID251  # whole processes are measured
        [sys.executable, "-m", "interfaces.cli.main", *arguments],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return time.perf_counter() - begun, done.stdout


def run_time(document: dict[str, Any]) -> float:
    job = document["job"]
    return (datetime.fromisoformat(job["ended_at"]) - datetime.fromisoformat(job["started_at"])).total_seconds()


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


async def in_one_process(app: App) -> tuple[float, int, int]:
    """Seconds without the job's run time, checkpoint writes, and bytes kept, of one request over PostgreSQL."""
    saver = app.checkpoints.saver
    writes = 0
    put, put_writes = saver.aput, saver.aput_writes

    async def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal writes
        writes += 1
        return await put(*args, **kwargs)

    async def counted_writes(*args: Any, **kwargs: Any) -> Any:
        nonlocal writes
        writes += 1
        return await put_writes(*args, **kwargs)

    saver.aput, saver.aput_writes = counted, counted_writes  # type: ignore[method-assign]
    row, _ = await take_request(app, REQUEST, Options(approve="auto"))
    begun = time.perf_counter()
    await to_the_end(app, app.service.resumer.resume, row.thread_id)
    seconds = time.perf_counter() - begun
    saver.aput, saver.aput_writes = put, put_writes  # type: ignore[method-assign]
    tag = (await app.checkpoints.ledger.attempts(row.thread_id))[0].attempt.tag
    job = await app.checkpoints.ledger.job(tag)
    if job is not None and job.ended_at and job.started_at:
        seconds -= (job.ended_at - job.started_at).total_seconds()
    pool = await app.checkpoints.pools.get()
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT (SELECT sum(pg_column_size(c.*)) FROM checkpoints c WHERE thread_id = %(t)s)"
            " + (SELECT sum(pg_column_size(b.*)) FROM checkpoint_blobs b WHERE thread_id = %(t)s)"
            " + (SELECT sum(pg_column_size(w.*)) FROM checkpoint_writes w WHERE thread_id = %(t)s) AS bytes",
            {"t": row.thread_id},
        )
        found = await cursor.fetchone()
    return seconds, writes, int((found or {}).get("bytes") or 0)


async def to_the_end(app: App, resume: Any, thread_id: str) -> None:
    while True:
        await resume(thread_id)
        row = await app.checkpoints.ledger.thread(thread_id)
        if row is None or row.status.value == "done":
            return
        await app.service.watcher.look()
        await anyio.sleep(0.02)


async def with_memory_saver(app: App) -> float:
    """The same graph and ledger, with checkpoints in memory."""
    engine = Engine(build(app.deps, checkpointer=InMemorySaver()), app.checkpoints.ledger, "bench")
    row, _ = await take_request(app, REQUEST, Options(approve="auto"))
    begun = time.perf_counter()
    await to_the_end(app, engine.resume, row.thread_id)
    seconds = time.perf_counter() - begun
    job = await app.checkpoints.ledger.job((await app.checkpoints.ledger.attempts(row.thread_id))[0].attempt.tag)
    if job is not None and job.ended_at and job.started_at:
        seconds -= (job.ended_at - job.started_at).total_seconds()
    return seconds


async def one_process(data: Path) -> tuple[list[tuple[float, int, int]], list[float]]:
    async with open_app(read_settings(data_dir=data)) as app:
        await app.checkpoints.ready()
        await in_one_process(app)
        postgres = [await in_one_process(app) for _ in range(ROUNDS)]
        memory = [await with_memory_saver(app) for _ in range(ROUNDS)]
    return postgres, memory


def main() -> None:
    with folder() as place:
        environment = {**os.environ, "DRAGOMAN_DATA_DIR": str(place / "data"), "DRAGOMAN_WAIT_POLL_S": "0.05"}  # noqa: TID251
        dragoman(environment, "run", REQUEST, "--approve", "auto", "--json")
        walls, overheads = [], []
        for _ in range(ROUNDS):
            wall, out = dragoman(environment, "run", REQUEST, "--approve", "auto", "--json")
            walls.append(wall)
            overheads.append(wall - run_time(json.loads(out)))
        bare = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            subprocess.run(["sh", "-c", "true"], check=True)  # noqa: TID251
            bare.append(time.perf_counter() - begun)
        helps = [dragoman(environment, "--help")[0] for _ in range(ROUNDS)]
        typers = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import typer"], check=True)  # noqa: TID251
            typers.append(time.perf_counter() - begun)
        postgres, memory = anyio.run(one_process, place / "data")
        dragoman(environment, "db", "stop")
    median = statistics.median
    seconds = median(each[0] for each in postgres)
    rows = [
        ("`dragoman run`, whole process, without the job", median(overheads), median(bare), "bare `sh -c true`"),
        ("the path in a running process, without the job", seconds, median(memory), "same graph, MemorySaver"),
        ("`dragoman --help`", median(helps), median(typers), "`import typer`"),
    ]
    print(f"{'what':<50} {'median s':>9} {'baseline s':>11} {'ratio':>7}  baseline")
    for what, ours, base, name in rows:
        print(f"{what:<50} {ours:>9.3f} {base:>11.3f} {ours / base:>7.2f}  {name}")
    writes, kept = (median(each[index] for each in postgres) for index in (1, 2))
    print(f"checkpoint writes of one request: {writes:g}, bytes kept: {kept:g}")


if __name__ == "__main__":
    main()
