"""A hundred thousand jobs in the queue, and answers that were cut in the middle."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobState
from dragoman.observation import Outcome
from providers.schedulers.slurm import SlurmDialect

CAPTURES = Path(__file__).parents[3] / "captures" / "slurm"
JOBS = 100_000


def row(number: int) -> str:
    times = f"2026-11-01T10:{number % 60:02d}:00|2026-11-01T11:00:00|N/A|1:00"
    return f"{number}|{number}|RUNNING|batch|{times}|n[1-2]|None|||job {number}".replace("|", "\x1f")


@pytest.fixture(scope="module")
def queue() -> str:
    return "\n".join(map(row, range(1, JOBS + 1))) + "\n"


def test_few_of_many(slurm: SlurmDialect, queue: str) -> None:
    """All are found, none that is not there is taken for seen, and memory follows what is asked."""
    refs = [JobRef(job_id=str(number)) for number in (1, JOBS // 2, JOBS, JOBS + 1)]
    done = Completed(("squeue",), 0, queue.encode(), b"")
    tracemalloc.start()
    answers = slurm.parse_status(done, refs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {status.state for status in answers.jobs.values()} == {JobState.RUNNING}
    assert set(answers.jobs) == {"1", str(JOBS // 2), str(JOBS)}
    assert answers.absent == {str(JOBS + 1)}
    assert peak < len(queue) + 8 * 2**20


def test_all_of_many(slurm: SlurmDialect, queue: str) -> None:
    refs = [JobRef(job_id=str(number)) for number in range(1, JOBS + 1)]
    answers = slurm.parse_status(Completed(("squeue",), 0, queue.encode(), b""), refs)
    assert (len(answers.jobs), answers.absent, answers.trouble) == (JOBS, frozenset(), "")
    assert len(slurm.status_commands(refs)) == 1
    assert slurm.status_commands(refs)[0].max_output_bytes > 2 * len(queue)


def test_depth_of_many(slurm: SlurmDialect) -> None:
    lines = "\n".join(f"{number}\x1f{'PENDING' if number % 2 else 'RUNNING'}\x1fbatch" for number in range(JOBS))
    partition = b"PartitionName=batch State=UP MaxTime=1:00:00 TotalNodes=4\n"
    config = b"ClusterName = c\nPrivateData = none\n"
    outputs = (partition, b"", lines.encode(), config)
    workload = slurm.parse_workload([Completed(("x",), 0, out, b"") for out in outputs]).value
    assert workload is not None
    assert (workload.jobs_pending, workload.jobs_running) == (JOBS // 2, JOBS // 2)


@pytest.mark.parametrize("name", ["2302_squeue_json", "2405_squeue_json_v0041", "sacct_json_one"])
def test_json_that_was_cut_shows_nothing(slurm: SlurmDialect, name: str) -> None:
    whole = (CAPTURES / f"{name}.stdout").read_text().strip()
    ids = [JobRef(job_id=str(job["job_id"])) for job in json.loads(whole)["jobs"]]
    for length in [*range(1, len(whole), max(len(whole) // 60, 1)), len(whole) - 1]:
        done = Completed(("squeue",), 0, whole[:length].encode(), b"")
        for answers in (slurm.parse_status(done, ids), slurm.parse_history(done, ids)):
            assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
            assert answers.trouble
        assert slurm.parse_find(done, "dgm-0123456789ab-a0").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("cut", [1, 20, 50])
def test_text_that_was_cut_shows_no_absence(slurm: SlurmDialect, cut: int) -> None:
    """The last line is broken off: whatever it was about is not shown to be gone."""
    text = "\n".join(map(row, range(1, 4)))
    refs = [JobRef(job_id=str(number)) for number in range(1, 4)]
    for done in (
        Completed(("squeue",), 0, text[:-cut].encode(), b""),
        Completed(("squeue",), 0, text[:-cut].encode(), b"", truncated=True),
    ):
        assert slurm.parse_status(done, refs).absent == frozenset()
