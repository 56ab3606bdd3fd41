"""Many sleeping threads: what they cost, and how long it takes when many wake at once.

    python -m benchmarks.bench_sleepers [--threads 10000] [--ending 2000] [--watchers 1]

One thread is paused by the real graph at its job; the others are copies of its rows (checkpoints, ledger) under their
own ids. The scheduler is a file that names ended jobs and counts questions (`benchmarks/sleeping_site.py`); watchers
are processes of their own over the embedded database. Baselines stand beside: what the same number of processes that
each wait for one job would hold in memory, and a question for each job.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import anyio
import psutil
import psycopg

from benchmarks.sleeping_site import FIRST_ID, SleepingDialect, bench_app
from checkpoints.embedded import EmbeddedServer
from dragoman.attempt import attempt_tag
from dragoman.selection import ApprovalRule
from dragoman.settings import Settings, read_settings
from dragoman.site import Charges, Site
from dragoman.thread import ThreadStatus
from graph.pausing import wait_id
from graph.state import Options
from interfaces.requests import take_request

TABLES = {
    "dragoman_ledger.threads": "thread_id", "dragoman_ledger.requests": "thread_id",
    "dragoman_ledger.proposals": "thread_id", "dragoman_ledger.attempts": "thread_id",
    "dragoman_ledger.waits": "thread_id", "checkpoints": "thread_id", "checkpoint_blobs": "thread_id",
    "checkpoint_writes": "thread_id",
}  # fmt: skip
IDLE_S = 30
STEP = "dispatcher"


def settings_of(place: Path) -> Settings:
    rules = (ApprovalRule(name="all", sites=("local",), max_cost=0.0),)
    return read_settings(data_dir=place / "data", database_url=None, sites_file=None, approval_rules=rules)


def site_of(place: Path) -> Site:
    return Site(
        name="local", scheduler="machine", work_root=str(place / "site"), min_poll_interval_s=2, max_poll_interval_s=10,
        charges=Charges(currency="none", per_core_hour=0, per_gpu_hour=0),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--ending", type=int, default=2_000)
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--watch", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.watch:
        anyio.run(watch, Path(given.watch))
        return
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as name:
        Path(name).chmod(0o711)
        anyio.run(measure, Path(name), given.threads, given.ending, given.watchers)


async def watch(place: Path) -> None:
    async with bench_app(settings_of(place), site_of(place), lambda: SleepingDialect(place)) as app:
        await app.checkpoints.ready()
        await app.service.run(idle_s=app.settings.wait_poll_s)


async def measure(place: Path, threads: int, ending: int, watchers: int) -> None:
    (place / "ended").touch()
    original = await pause_one(place)
    server = await EmbeddedServer.ensure(place / "data")
    begun = time.monotonic()
    ids = copy(server.dsn, original, threads - 1)
    print(f"{threads} paused threads: one by the graph, the others copied in {time.monotonic() - begun:.0f} s")
    started = [
        subprocess.Popen(  # noqa: ASYNC220  # they live beside this process
            [sys.executable, "-m", "benchmarks.bench_sleepers", "--watch", str(place)]
        )
        for _ in range(watchers)
    ]
    try:
        await idle(place, server, [each.pid for each in started], threads)
        await wake(place, server, ids[:ending], started)
    finally:
        for each in started:
            each.kill()
            each.wait()
        await server.stop()


async def pause_one(place: Path) -> str:
    async with bench_app(settings_of(place), site_of(place), lambda: SleepingDialect(place)) as app:
        words = {"command": ["sh", "-c", "true"], "shapes": [{"tasks": 1}], "walltime_s": 60}
        row, _ = await take_request(app, words, Options(approve="auto"))
        with anyio.fail_after(60):
            while True:
                await app.service.catch_up()
                now = await app.checkpoints.ledger.thread(row.thread_id)
                assert now is not None
                assert now.status is not ThreadStatus.POISONED, now.error
                waits = await app.checkpoints.ledger.open_waits(thread_id=row.thread_id)
                if now.status is ThreadStatus.PARKED and waits and waits[0].kind == "job":
                    return row.thread_id
                await anyio.sleep(0.1)


def copy(dsn: str, original: str, count: int) -> list[str]:
    """The original's rows under other ids of the same length, so that serialised state stays readable."""
    ids = [str(uuid.uuid4()) for _ in range(count)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        for table, column in TABLES.items():
            listed = connection.execute(
                "SELECT column_name, data_type, is_identity FROM information_schema.columns"
                " WHERE table_schema || '.' || table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
                [table if "." in table else f"public.{table}"],
            ).fetchall()
            columns = [(name, kind) for name, kind, identity in listed if identity == "NO"]
            names = ", ".join(name for name, _ in columns)
            values = ", ".join(_replaced(name, kind) for name, kind in columns)
            sql = (
                f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} t, "  # noqa: S608  # names of our own
                "unnest(%(ids)s::text[], %(tags)s::text[], %(waits)s::text[], %(jobs)s::text[])"
                " AS n (id, tag, wait, job) "
                f"WHERE t.{column} = %(old)s"
            )
            for start in range(0, count, 1000):
                part = ids[start : start + 1000]
                connection.execute(
                    sql.encode(),
                    {
                        "ids": part,
                        "tags": [attempt_tag(each, STEP, 1) for each in part],
                        "waits": [wait_id(each, 0) for each in part],
                        "jobs": [str(FIRST_ID + 1 + start + number) for number in range(len(part))],
                        "old": original,
                        "old_tag": attempt_tag(original, STEP, 1),
                        "old_wait": wait_id(original, 0),
                        "old_job": str(FIRST_ID),
                    },
                )
        connection.execute("ANALYZE")
    return ids


def _replaced(name: str, kind: str) -> str:
    """A column's value with thread, tag, wait and job of the copy."""
    pairs = [("%(old)s", "n.id"), ("%(old_tag)s", "n.tag"), ("%(old_wait)s", "n.wait"), ("%(old_job)s", "n.job")]
    if kind == "bytea":
        value = f"encode(t.{name}, 'hex')"
        for old, new in pairs:
            given, made = (f"encode(convert_to({each}::text, 'UTF8'), 'hex')" for each in (old, new))
            value = f"replace({value}, {given}, {made})"
        return f"decode({value}, 'hex')"
    if kind in ("text", "jsonb"):
        value = f"t.{name}::text"
        for old, new in pairs:
            value = f"replace({value}, {old}::text, {new})"
        return f"({value})::{kind}"
    return f"t.{name}"


async def idle(place: Path, server: EmbeddedServer, watchers: list[int], threads: int) -> None:
    dialect = SleepingDialect(place)
    await anyio.sleep(15)
    group = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    watching = [psutil.Process(pid) for pid in watchers]
    calls, before = len(dialect.calls()), [cpu(group), cpu(watching)]
    await anyio.sleep(IDLE_S)
    after = [cpu(group), cpu(watching)]
    asked = dialect.calls()[calls:]
    each = pss(watching[:1])
    print(f"idle for {IDLE_S} s with {len(watchers)} watcher(s)")
    print(f"{'':<24} {'memory':>10} {'processor':>10}")
    for name, members, begun, ended in zip(("database", "watchers"), (group, watching), before, after, strict=True):
        print(f"{name:<24} {pss(members) / 2**20:7.0f} MB {100 * (ended - begun) / IDLE_S:8.2f} %")
    print(
        f"{'baseline: a process each':<24} {each * threads / 2**20:7.0f} MB   ({each * threads / pss(watching):.0f}x)"
    )
    print(
        f"scheduler questions in {IDLE_S} s: {len(asked)}, about {max(asked, default=0)} jobs each;"
        f" one for each job: {len(asked) * threads} ({threads}x)"
    )


async def wake(place: Path, server: EmbeddedServer, ids: list[str], started: list[subprocess.Popen[bytes]]) -> None:
    for each in ids:
        folder = place / "site" / attempt_tag(each, STEP, 1) / "work"
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("done\n")
        (folder / "stderr.log").touch()
    calls = len(SleepingDialect(place).calls())
    words = " ".join(str(FIRST_ID + 1 + number) for number in range(len(ids)))
    (place / "new").write_text(words)
    (place / "new").rename(place / "ended")
    begun = time.monotonic()
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        first = 0.0
        while True:
            done, bad = connection.execute(
                "SELECT count(*) FILTER (WHERE status = 'done' AND outcome = 'completed'),"
                " count(*) FILTER (WHERE status = 'poisoned' OR status = 'done' AND outcome <> 'completed')"
                " FROM dragoman_ledger.threads"
            ).fetchone() or (0, 0)
            first = first or (time.monotonic() - begun if done else 0.0)
            assert not bad, connection.execute(
                "SELECT status, outcome, error FROM dragoman_ledger.threads WHERE status = 'poisoned' LIMIT 1"
            ).fetchone()
            if done >= len(ids):
                break
            assert all(each.poll() is None for each in started)
            await anyio.sleep(0.2)
    seconds = time.monotonic() - begun
    asked = len(SleepingDialect(place).calls()) - calls
    print(
        f"{len(ids)} jobs ending at once: the first thread finished after {first:.1f} s, the last after {seconds:.1f} s"
        f" ({len(ids) / seconds:.0f} a second), with {asked} scheduler questions"
    )


def cpu(processes: list[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes if each.is_running())


def pss(processes: list[psutil.Process]) -> int:
    """Memory, what is shared counted once."""
    return sum(each.memory_full_info().pss for each in processes if each.is_running())


if __name__ == "__main__":
    main()
