"""Reading a long queue: processor time and peak memory of one answer to `squeue`.

Beside ours, the parsers of AiiDA and PSI/J, each given the output of the squeue format that it asks for, where an
interpreter that has them is named:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install aiida-core psij-python
    python benchmarks/bench_parse_queue.py --peer-python /tmp/peers/bin/python

They keep less, so a second table says which fields each gets, ours from queue and accounting together. No two jobs have
the same times. Peak memory is what the parser allocates at most, by tracemalloc in a run of its own; the output itself
is not counted.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

ROUNDS = 3
STATES = ("PENDING", "RUNNING", "RUNNING", "COMPLETED")
SHORT = {"PENDING": "PD", "RUNNING": "R", "COMPLETED": "CD"}


def state(number: int) -> str:
    return STATES[number % len(STATES)]


def reason(number: int) -> str:
    return "Priority" if state(number) == "PENDING" else "None"


def moment(day: int, number: int) -> str:
    return f"2026-11-{day:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"


def ours(jobs: int, asked: int) -> Callable[[], int]:
    from dragoman.command import Completed
    from dragoman.job import JobRef
    from providers.schedulers.slurm import SlurmDialect

    rows = (
        f"{number}\x1f{number}\x1f{state(number)}\x1fbatch"
        f"\x1f{moment(1, number)}\x1f{moment(2, number)}\x1f{moment(3, number)}\x1f1-02:{number % 60:02d}:04"
        f"\x1fnode[{number % 900:03d}-{number % 900 + 3:03d}]"
        f"\x1f{reason(number)}\x1f\x1fdgm-{number:012d}-a0\x1fjob {number}.dgm-{number:012d}-a0"
        for number in range(jobs)
    )
    done = Completed(("squeue",), 0, "\n".join(rows).encode(), b"")
    refs = [JobRef(job_id=str(number)) for number in range(0, jobs, max(jobs // asked, 1))][:asked]
    dialect = SlurmDialect()
    return lambda: len(dialect.parse_status(done, refs).jobs)


def aiida(jobs: int, asked: int) -> Callable[[], int]:
    from aiida.schedulers.plugins.slurm import SlurmScheduler  # type: ignore[import-not-found]  # optional

    scheduler = SlurmScheduler()
    middle = "^^^".join(("node001", "user1", "4", "128", "node[001-004]", "batch", "2-00:00:00"))
    rows = (
        f"{number}^^^{SHORT[state(number)]}^^^{reason(number)}^^^{middle}^^^1-02:{number % 60:02d}:04"
        f"^^^{moment(2, number)}^^^job {number}^^^{moment(1, number)}"
        for number in range(jobs)
    )
    out = "\n".join(rows)
    return lambda: len(scheduler._parse_joblist_output(0, out, ""))


def psij(jobs: int, asked: int) -> Callable[[], int]:
    from psij import JobExecutor  # type: ignore[import-not-found]  # optional

    executor = JobExecutor.get_instance("slurm")
    rows = (f"{number} {SHORT[state(number)]} {reason(number)}" for number in range(jobs))
    out = "JOBID ST REASON\n" + "\n".join(rows)
    return lambda: len(executor.parse_status_output(0, out))


PARSERS: dict[str, Callable[[int, int], Callable[[], int]]] = {"dragoman": ours, "aiida": aiida, "psij": psij}

FIELDS = (
    ("state", "14 kinds", "no failure", "6 kinds"),
    ("reason", "words and class", "words", "words"),
    ("array", "each task's state", "no", "no"),
    ("exit code", "code and signal", "no", "no"),
    ("times", "5, with zone", "2, without", "no"),
    ("nodes", "names", "list as text", "no"),
    ("TRES", "memory used", "no", "no"),
)
"""Which fields each gets of Slurm's answers. AiiDA 2: `_parse_joblist_output` (its accounting is kept as text only);
PSI/J 0.9: `parse_status_output`."""


def measure(name: str, jobs: int, asked: int) -> dict[str, float]:
    parse = PARSERS[name](jobs, asked)
    found = parse()
    seconds = []
    for _ in range(ROUNDS):
        gc.collect()
        begun = time.process_time()
        parse()
        seconds.append(time.process_time() - begun)
    tracemalloc.start()
    parse()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": min(seconds), "mib": peak / 2**20, "found": found}


def measured_by(python: str, name: str, jobs: int, asked: int) -> dict[str, float] | str:
    """In a process of its own, so that no parser inherits another's memory."""
    argv = [python, __file__, "--measure", name, "--jobs", str(jobs), "--asked", str(asked)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: TID251  # no event loop here
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no words"])[-1]
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50_000, help="jobs in the queue")
    parser.add_argument("--asked", type=int, default=500, help="jobs that we ask for (the first row)")
    parser.add_argument("--peer-python", default="", help="an interpreter with aiida-core and psij-python")
    parser.add_argument("--measure", choices=PARSERS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        sys.path.insert(0, str(Path(__file__).parents[1]))
        print(json.dumps(measure(given.measure, given.jobs, given.asked)))
        return
    rows = [("dragoman", sys.executable, given.asked), ("dragoman", sys.executable, given.jobs)]
    if given.peer_python:
        rows += [("aiida", given.peer_python, given.jobs), ("psij", given.peer_python, given.jobs)]
    print(f"{'parser':<10} {'queue':>7} {'wanted':>7} {'CPU s':>7} {'peak MiB':>9}")
    for name, python, asked in rows:
        figures = measured_by(python, name, given.jobs, asked)
        if isinstance(figures, str):
            print(f"{name:<10} not measured: {figures}")
            continue
        print(f"{name:<10} {given.jobs:>7} {figures['found']:>7} {figures['seconds']:>7.3f} {figures['mib']:>9.1f}")
    print()
    for row in (("field", "dragoman", "aiida", "psij"), *FIELDS):
        print("".join(f"{word:<18}" for word in row).rstrip())


if __name__ == "__main__":
    main()
