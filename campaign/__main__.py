"""`python -m campaign --faults 500 --jobs 200 --seed 1`: prints the counts last; exit code 0 only if all hold."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import fields
from functools import partial

import anyio

from campaign.audit import Counts, audit
from campaign.breaks import BREAKS, SQL
from campaign.director import Campaign, Options
from campaign.forge import Forge
from campaign.place import Place, processes_below
from campaign.plan import KINDS, STEPS, faults

EXIT_RED = 1


def main() -> int:
    """Run one campaign."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--break", dest="broken", default="", choices=("", *BREAKS), help="take a guard out")
    parser.add_argument("--kinds", default="", help=f"only these, by comma: {', '.join(KINDS)}")
    parser.add_argument("--steps", default="", help=f"only at these, by comma: {', '.join(STEPS)}")
    parser.add_argument("--exec", action="store_true", help="start each process from nothing instead of forking it")
    parser.add_argument("--longest", type=float, default=3600, help="seconds after which it begins nothing and is red")
    parser.add_argument("--keep", action="store_true", help="leave the folder, with every process's log")
    given = parser.parse_args()
    kinds = tuple(filter(None, given.kinds.split(",")))
    steps = tuple(filter(None, given.steps.split(",")))
    if given.broken and not kinds:
        _, kinds, steps = BREAKS[given.broken]
    options = Options(given.jobs, given.faults, given.seed, given.broken, kinds, steps, given.exec, given.longest)
    forge = Forge()  # before anything runs that must not be forked
    return anyio.run(partial(_run, options, forge, keep=given.keep))


async def _run(options: Options, forge: Forge, *, keep: bool) -> int:
    place = Place(keep=keep)
    begun = time.monotonic()
    kinds = options.kinds or tuple(name for name in KINDS if place.disks or not name.startswith("disk-"))
    campaign = Campaign(options, place, forge, faults(options.seed, options.faults, kinds, options.steps))
    try:
        await _prepare(campaign)
        await campaign.run()
        campaign.end()
        counts = await audit(campaign)
    finally:
        campaign.end()
        forge.close()
        from checkpoints.embedded import EmbeddedServer

        server = await EmbeddedServer.find(place.data)
        if server is not None:
            await server.stop()
        _clear(place)
        place.remove()
    _report(campaign, counts, time.monotonic() - begun, keep=keep)
    return 0 if counts.hold and not campaign.stalled and not campaign.late else EXIT_RED


async def _prepare(campaign: Campaign) -> None:
    """The database with its tables, and a queue with room, before anything goes wrong."""
    from checkpoints.open import open_checkpoints
    from dragoman.settings import Settings
    from providers.schedulers.machine import PYTHON_OPTIONS, RUNNER_PATH

    checkpoints = open_checkpoints(Settings(data_dir=campaign.place.data, database_url=None))
    await checkpoints.ready()
    await checkpoints.aclose()
    if campaign.options.broken in SQL:
        import psycopg

        from checkpoints.embedded import EmbeddedServer

        server = await EmbeddedServer.ensure(campaign.place.data)
        async with await psycopg.AsyncConnection.connect(server.dsn, autocommit=True) as connection:
            await connection.execute(SQL[campaign.options.broken].encode())
    command = [sys.executable, *PYTHON_OPTIONS, str(RUNNER_PATH), "limits", "--state", str(campaign.place.queue)]
    await anyio.run_process([*command, "--cpus=16", "--memory=17179869184", "--gpus=0", "--grace=1"])


def _clear(place: Place) -> None:
    import os
    import signal
    from contextlib import suppress

    for pid in processes_below(str(place.root)):
        if pid != os.getpid():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _report(campaign: Campaign, counts: Counts, seconds: float, *, keep: bool) -> None:
    by_kind = Counter(fault.kind for fault in campaign.fired)
    by_step = Counter((fault.step, fault.phase) for fault in campaign.fired)
    for line in counts.details[:40]:
        print(line)
    if keep:
        print(f"left in {campaign.place.root}")
    print(f"faults by kind: {', '.join(f'{kind} {number}' for kind, number in sorted(by_kind.items()))}")
    print("faults by step (before/during/after):")
    for step in STEPS:
        print(f"  {step:<11}" + "/".join(str(by_step[step, phase]) for phase in ("before", "during", "after")))
    print(f"killed anywhere: {campaign.anywhere}; jobs lost by their node: {campaign.lost_jobs}")
    print(f"outcomes: {', '.join(f'{name} {number}' for name, number in sorted(counts.outcomes.items()))}")
    if not campaign.place.disks:
        print("disks were not filled: only root can mount one to fill")
    cut = f"{', STALLED' if campaign.stalled else ''}{', CUT SHORT' if campaign.late else ''}"
    print(
        f"seed {campaign.options.seed}: {len(campaign.requests)} jobs, {len(campaign.fired)} faults struck,"
        f" {campaign.started} processes, {seconds:.0f} s{cut}"
    )
    for each in fields(counts):
        value = getattr(counts, each.name)
        if isinstance(value, int):
            print(f"{each.name.replace('_', ' ')}: {value}")


if __name__ == "__main__":
    sys.exit(main())
