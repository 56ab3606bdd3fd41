"""Latency of an end that the scheduler's event stream tells, beside looks alone: from the job's end to the thread's.

    python -m benchmarks.bench_streams [--jobs 8]

Kubernetes and Flux as programs in a folder (`tests/fakes`); the site is asked every 0.5 to 30 s. The jobs end one after
another, ten seconds apart, so that looks have had time to become seldom. Local files, which tell an end too, are not
listened to: at a site elsewhere there are none.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import anyio

from checkpoints.embedded import EmbeddedServer
from checkpoints.open import open_checkpoints
from continuation.lease import holder_name
from continuation.service import Service
from continuation.streams import SiteStreams
from dragoman.selection import ApprovalRule
from dragoman.settings import read_settings
from dragoman.site import Charges, Fleet, Site
from graph.state import Options
from interfaces.app import App
from interfaces.requests import take_request
from interfaces.sites import Sites
from providers.site_runtime import SiteRuntime, open_site
from providers.transports.local import LocalTransport

FAKES = Path(__file__).parents[1] / "tests" / "fakes"
APART_S = 10.0


class FakeSites(Sites):
    """Sites whose schedulers are programs in a folder."""

    folder: Path

    def open(self, name: str) -> SiteRuntime:
        if name not in self._open:
            reach = LocalTransport({"PATH": f"{self.folder / 'bin'}:{os.defpath}", "HOME": str(self.folder)})
            self._open[name] = open_site(self.site(name), transport=reach)
        return self._open[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=8)
    given = parser.parse_args()
    print(f"{'scheduler':<11} {'way':<8} {'median s':>9} {'worst s':>9} {'questions':>10}")
    for scheduler in ("kubernetes", "flux"):
        for way in ("looks", "stream"):
            with tempfile.TemporaryDirectory(prefix="dragoman-bench-") as name:
                Path(name).chmod(0o711)
                anyio.run(measure, Path(name), scheduler, way, given.jobs)


async def measure(place: Path, scheduler: str, way: str, jobs: int) -> None:
    folder = place / "scheduler"
    (folder / "bin").mkdir(parents=True)
    for command, program in (("kubectl", "kubectl.py"), ("flux", "flux.py")):
        words = f'"{sys.executable}" -S -E "{FAKES / program}" "{folder}" {"kubectl" if command == "kubectl" else ""}'
        (folder / "bin" / command).write_text(f'#!/bin/sh\necho "$1" >>"{folder}/calls"\nexec {words} "$@"\n')
        (folder / "bin" / command).chmod(0o755)
    site = Site(
        name="far", scheduler=scheduler, work_root=str(place / "site"), min_poll_interval_s=0.5, max_poll_interval_s=30,
        paths={"namespace": "team", "image": "busybox"} if scheduler == "kubernetes" else {},
        charges=Charges(currency="none", per_core_hour=0, per_gpu_hour=0),
    )  # fmt: skip
    rules = (ApprovalRule(name="all", sites=("far",), max_cost=0.0),)
    settings = read_settings(data_dir=place / "data", database_url=None, sites_file=None, approval_rules=rules)
    sites = FakeSites(None, Fleet(sites=(site,)))
    sites.folder = folder
    app = App(settings, open_checkpoints(settings), sites, holder_name())
    usual = app.service
    ends = [each for each in usual.ends if isinstance(each, SiteStreams)] if way == "stream" else []
    service = Service(usual.ledger, usual.watcher, usual.resumer, news=usual.news, ends=ends)
    latencies: list[float] = []
    async with anyio.create_task_group() as group:
        group.start_soon(service.run)
        threads = []
        for number in range(jobs):
            body = f"until [ -e {place}/go.{number} ]; do sleep 0.02; done"
            wish = {"command": ["/bin/sh", "-c", body], "shapes": [{"tasks": 1}], "walltime_s": 3600}
            row, _ = await take_request(app, wish, Options(approve="auto"))
            threads.append(row.thread_id)
        await anyio.sleep(APART_S + jobs)
        before = len((folder / "calls").read_text().split())
        for number, thread in enumerate(threads):
            await anyio.sleep(APART_S)
            (place / f"go.{number}").touch()
            begun = anyio.current_time()
            while True:
                row_now = await app.checkpoints.ledger.thread(thread)
                if row_now is not None and row_now.status.value == "done":
                    break
                await anyio.sleep(0.02)
            latencies.append(anyio.current_time() - begun)
        asked = len((folder / "calls").read_text().split()) - before
        group.cancel_scope.cancel()
    await app.aclose()
    server = await EmbeddedServer.find(place / "data")
    if server is not None:
        await server.stop()
    print(f"{scheduler:<11} {way:<8} {statistics.median(latencies):9.3f} {max(latencies):9.3f} {asked:>10}", flush=True)


if __name__ == "__main__":
    main()
