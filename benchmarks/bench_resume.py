"""Resume latency: from a job's end, told by the job itself, to the node that was resumed for it.

    python -m benchmarks.bench_resume [--jobs 40]

Three ways in one run over the same jobs: `polling` (the watcher's rounds alone: the baseline), `listening` (woken by
the database for new events), `pushed` (the job's own file wakes the look as well). All keep the site's bounds.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

import anyio

from benchmarks.sleeping_site import bench_app
from checkpoints.embedded import EmbeddedServer
from continuation.service import Service
from dragoman.selection import ApprovalRule
from dragoman.settings import read_settings
from dragoman.site import Charges, Site
from graph.state import Options
from interfaces.app import App
from interfaces.requests import take_request
from providers.schedulers.machine import PYTHON_OPTIONS, RUNNER_PATH, Machine

WAYS = ("polling", "listening", "pushed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=40)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as name:
        Path(name).chmod(0o711)
        anyio.run(measure, Path(name), given.jobs)


async def measure(place: Path, jobs: int) -> None:
    site = Site(
        name="local", scheduler="machine", work_root=str(place / "site"), min_poll_interval_s=0.2,
        max_poll_interval_s=30, charges=Charges(currency="none", per_core_hour=0, per_gpu_hour=0),
    )  # fmt: skip
    rules = (ApprovalRule(name="all", sites=("local",), max_cost=0.0),)
    settings = read_settings(data_dir=place / "data", database_url=None, sites_file=None, approval_rules=rules)
    queue = place / "queue"
    command = [sys.executable, *PYTHON_OPTIONS, str(RUNNER_PATH), "limits", "--state", str(queue), "--cpus=64"]
    await anyio.run_process([*command, "--memory=68719476736"])
    found: dict[str, list[float]] = {}
    async with bench_app(settings, site, lambda: Machine(state=str(queue))) as app:
        for way in WAYS:
            found[way] = await one_way(app, place, way, jobs)
    server = await EmbeddedServer.find(place / "data")
    if server is not None:
        await server.stop()
    base = statistics.median(found["polling"])
    print(f"{jobs} jobs of 1 to 8 s, 8 at once; seconds from the job's end to the resumed node")
    print(f"{'way':<10} {'median':>8} {'p99':>8} {'worst':>8} {'to polling':>11}")
    for way, values in found.items():
        p99 = sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]
        median = statistics.median(values)
        print(f"{way:<10} {median:8.3f} {p99:8.3f} {max(values):8.3f} {median / base:10.2f}x")


async def one_way(app: App, place: Path, way: str, jobs: int) -> list[float]:
    usual = app.service
    service = Service(
        usual.ledger,
        usual.watcher,
        usual.resumer,
        news=None if way == "polling" else usual.news,
        ends=usual.ends if way == "pushed" else (),
    )
    ledger = app.checkpoints.ledger
    chance = random.Random(1)  # noqa: S311
    waiting = [round(chance.uniform(1, 8), 2) for _ in range(jobs)]
    latencies: list[float] = []
    running: dict[str, Path] = {}

    async def settled() -> bool:
        for thread_id in list(running):
            row = await ledger.thread(thread_id)
            assert row is not None
            assert row.status.value != "poisoned", row.error
            if row.status.value == "done":
                ended = float(running.pop(thread_id).read_text())
                entries = await ledger.timeline(thread_id)
                resumed = next(each.at for each in entries if each.step == "monitor" and "completed" in each.words)
                latencies.append(resumed.timestamp() - ended)
        while waiting and len(running) < 8:
            mark = place / f"mark-{way}-{len(waiting)}"
            words = {
                "command": ["sh", "-c", f"sleep {waiting.pop()}; date +%s.%N >{mark}"],
                "shapes": [{"tasks": 1}],
                "walltime_s": 60,
            }
            row, _ = await take_request(app, words, Options(approve="auto"))
            running[row.thread_id] = mark
        return not waiting and not running

    await service.run(settled, idle_s=app.settings.wait_poll_s)
    return latencies


if __name__ == "__main__":
    main()
