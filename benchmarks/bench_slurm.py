"""What submitting once costs over a bare `sbatch`, on a real Slurm: run it as the account that submits, where Slurm is.

    tests/slurm/cluster.sh up; eval "$(tests/slurm/cluster.sh env)"
    as-reader .venv/bin/python benchmarks/bench_slurm.py

Both submit the same script; ours claims the attempt, submits without a dry run and records the answer.
Rounds alternate, so that a busy moment meets both. Jobs are held and cancelled afterwards.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import anyio

from dragoman.attempt import Attempt, attempt_tag
from dragoman.job import JobRef, JobSpec
from dragoman.model import now
from dragoman.shape import Shape
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.slurm import SlurmDialect
from providers.transports.local import LocalTransport


def attempt_for(root: str, run: str, number: int) -> Attempt:
    tag = attempt_tag(run, "bench", number)
    control = f"{root}/{tag}"
    spec = JobSpec(
        tag=tag, shape=Shape(tasks=1), walltime_s=60, control_dir=control, work_dir=f"{control}/work", body="true\n",
        native_options=("--hold",),
    )  # fmt: skip
    return Attempt(
        tag=tag,
        thread_id=run,
        step="bench",
        number=number,
        site="here",
        scheduler="slurm",
        spec=spec,
        intended_at=now(),
    )


def bare(script: Path) -> tuple[float, str]:
    begun = time.perf_counter()
    out = subprocess.check_output(["sbatch", "--parsable", str(script)], text=True)
    return time.perf_counter() - begun, out.strip()


def written(attempt: Attempt, text: str) -> Path:
    Path(attempt.spec.work_dir).mkdir(parents=True)
    script = Path(attempt.spec.control_dir) / "script"
    script.write_text(text)
    return script


async def ours(client: SchedulerClient, attempt: Attempt) -> tuple[float, float, JobRef]:
    """Seconds of the submit, and of making the folder (which staging needs anyway)."""
    begun = time.perf_counter()
    await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    made = time.perf_counter()
    record = await client.submit(attempt)
    ended = time.perf_counter()
    assert record.job is not None
    return ended - made, made - begun, record.job


async def measure(rounds: int, root: str) -> list[tuple[float, float, float]]:
    site = Site(name="here", scheduler="slurm", work_root=root)
    client = SchedulerClient(SlurmDialect(), LocalTransport(dict(os.environ)), site)  # noqa: TID251
    run = uuid.uuid4().hex
    rows: list[tuple[float, float, float]] = []
    ids: list[str] = []
    for number in range(rounds + 2):
        attempt = attempt_for(root, run, number)
        again = attempt_for(root, f"{run}-bare", number)
        plain, job = bare(written(again, client.dialect.render(again.spec)))
        submit, folder, ref = await ours(client, attempt)
        ids += [job, ref.job_id]
        if number >= 2:
            rows.append((plain, submit, folder))
    await anyio.run_process(["scancel", *ids])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds: int = parser.parse_args().rounds
    if subprocess.call(["squeue", "-h", "--me"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        print("skipped: no Slurm answers here (see docs/testing-slurm.md)")
        return
    with tempfile.TemporaryDirectory(prefix="dragoman-bench-", ignore_cleanup_errors=True) as root:
        rows = anyio.run(measure, rounds, root)
    median = statistics.median
    over = [submit - plain for plain, submit, _ in rows]
    print(f"{'what':<46} {'median ms':>10} {'best ms':>8}")
    for what, values in (
        ("bare sbatch", [row[0] for row in rows]),
        ("submit once", [row[1] for row in rows]),
        ("overhead of submit once, round by round", over),
        ("the attempt's folder, made before staging", [row[2] for row in rows]),
    ):
        print(f"{what:<46} {median(values) * 1000:>10.1f} {min(values) * 1000:>8.1f}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
