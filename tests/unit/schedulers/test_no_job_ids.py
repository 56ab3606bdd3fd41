"""An id that names no single job: `bkill 0` ends all jobs of a user, `array_id IN (0)` all that are in no array."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef
from dragoman.protocols import Dialect
from providers.registry import dialects

SINCE = datetime(2024, 1, 1, tzinfo=UTC)
VERBS: dict[str, Callable[[Dialect, JobRef], object]] = {
    "status": lambda dialect, ref: dialect.status_commands([ref]),
    "history": lambda dialect, ref: dialect.history_commands([ref], SINCE),
    "cancel": lambda dialect, ref: dialect.cancel_command(ref),
    "hold": lambda dialect, ref: dialect.hold_command(ref),
    "release": lambda dialect, ref: dialect.release_command(ref),
}
NUMBERED = ["slurm", "lsf", "oar", "sge", "htcondor", "flux"]
KEEP_NO_HISTORY = {"flux", "oar"}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("job_id", ["0", "00", "000000", "-1", "0[1]", "1 2", "*", "--all", "1;id", "1\n"])
@pytest.mark.parametrize("name", NUMBERED)
def test_no_command_is_built(name: str, job_id: str, verb: str) -> None:
    if verb == "history" and name in KEEP_NO_HISTORY:
        return
    with pytest.raises(BadRequest) as refused:
        VERBS[verb](dialects.get(name)(), JobRef(job_id=job_id))
    assert repr(job_id) in str(refused.value)


@pytest.mark.parametrize("verb", ["cancel", "hold", "release", "status"])
@pytest.mark.parametrize("job_id", ["0", "-A", "a b"])
def test_kubernetes_names_one_object(job_id: str, verb: str) -> None:
    with pytest.raises(BadRequest, match="no name of a Job"):
        VERBS[verb](dialects.get("kubernetes")(), JobRef(job_id=job_id))


@pytest.mark.parametrize("name", ["pbs", "torque"])
@pytest.mark.parametrize("job_id", ["all", "*", "-1", "1 2", "@srv", "[]"])
def test_pbs_numbers_its_jobs_from_0_and_takes_nothing_else(name: str, job_id: str) -> None:
    assert dialects.get(name)().cancel_command(JobRef(job_id="0.srv")).argv == ("qdel", "0.srv")
    for verb in VERBS.values() if name == "pbs" else [VERBS["cancel"], VERBS["hold"]]:
        with pytest.raises(BadRequest):
            verb(dialects.get(name)(), JobRef(job_id=job_id))


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("lsf", "Job <0> is submitted to queue <q>.\n"),
        ("lsf", "Job <00> is submitted to default queue <q>.\n"),
        ("oar", "OAR_JOB_ID=0\n"),
        ("oar", "OAR_JOB_ID=7\nOAR_ARRAY_ID=0\n"),
        ("sge", "0\n"),
        ("sge", 'Your job 0 ("x") has been submitted\n'),
        ("sge", "0.1-3:1\n"),
        ("slurm", "0\n"),
        ("slurm", "Submitted batch job 0\n"),
        ("htcondor", "0.0 - 0.3\n"),
        ("htcondor", "1 job(s) submitted to cluster 0.\n"),
    ],
)
@pytest.mark.parametrize("rc", [0, 1])
def test_a_submit_answered_with_0_is_in_doubt(name: str, out: str, rc: int) -> None:
    answer = dialects.get(name)().parse_submit(Completed(("submit",), rc, out.encode(), b""))
    assert answer.job is None
    assert answer.doubt
    assert not answer.refused
