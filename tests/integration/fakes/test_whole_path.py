"""The whole path through the real client, transport and job script, for schedulers that cannot be installed in CI.

With a real Grid Engine (`tests/sge/cluster.sh up FOLDER`) and DRAGOMAN_SGE_BIN=FOLDER/bin, the same tests run there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from dragoman.attempt import Attempt, AttemptRecord, AttemptState, attempt_tag
from dragoman.errors import NotSettled
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.model import now
from dragoman.observation import Outcome
from dragoman.request import ArrayRange, ArraySpec
from dragoman.shape import Shape
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.following import EndStream
from providers.schedulers.htcondor import HtCondorDialect
from providers.schedulers.kubernetes import KubernetesDialect
from providers.schedulers.lsf import LsfDialect
from providers.schedulers.oar import OarDialect
from providers.schedulers.sge import SgeDialect
from providers.transports.local import LocalTransport

FAKES = Path(__file__).parents[2] / "fakes"


class Kind(NamedTuple):
    """One scheduler and what is told apart there."""

    dialect: Callable[..., Any]
    programs: str
    deleted: JobState | None
    """How a cancelled job ends; None: it is gone."""
    history: str = ""
    """The fault that takes the history away."""


KINDS = {
    "lsf": Kind(LsfDialect, "bsub bjobs bhist bkill bstop bresume bqueues bhosts lshosts bmgroup lsid",
                JobState.CANCELLED, "no-history"),
    "sge": Kind(SgeDialect, "qsub qstat qacct qdel qhold qrls qhost qconf", JobState.FAILED, "no-history"),
    "oar": Kind(OarDialect, "oarsub oarstat oardel oarhold oarresume oarnodes", JobState.CANCELLED),
    "kubernetes": Kind(KubernetesDialect, "kubectl", None),
    "htcondor": Kind(HtCondorDialect, "condor_submit condor_q condor_history condor_rm condor_hold condor_release "
                     "condor_status condor_version", JobState.CANCELLED, "no-history"),
}  # fmt: skip

REAL = {"real-sge": os.environ.get("DRAGOMAN_SGE_BIN", "")}  # noqa: TID251 # for tests on demand
KINDS |= {name: KINDS[name.removeprefix("real-")] for name, folder in REAL.items() if folder}


class FakeSite:
    """A site with one fake scheduler, or a real one."""

    def __init__(self, root: Path, name: str) -> None:
        self.root, self.kind, self.real = root, KINDS[name], REAL.get(name, "")
        self.name = name.removeprefix("real-")
        (root / "bin").mkdir()
        (root / "faults").mkdir()
        program = FAKES / ("kubectl.py" if self.name == "kubernetes" else f"{self.name}.py")
        for command in self.kind.programs.split():
            file = root / "bin" / command
            fake = f'"{sys.executable}" -S -E "{program}" "{root}" {command}'
            file.write_text(f'#!/bin/sh\nexec {f"{self.real}/{command}" if self.real else fake} "$@"\n')
            file.chmod(0o755)
        self.dialect = self.kind.dialect()
        self.submitted: list[str] = []

    def client(self, **options: Any) -> SchedulerClient:
        environment = {"PATH": f"{self.root / 'bin'}:{os.defpath}", "HOME": str(self.root)}
        site = Site(name="here", scheduler=self.name, work_root=str(self.root / "work"), settle_window_s=1)
        return SchedulerClient(self.dialect, LocalTransport(environment), site, **options)

    def fault(self, name: str, times: int = 1) -> None:
        if self.real:
            pytest.skip("its faults are not to order")
        (self.root / "faults" / name).write_text("x\n" * times)

    def jobs(self) -> int:
        """How many jobs the scheduler really took; a real one is not asked."""
        return 1 if self.real else len(list((self.root / "jobs").iterdir()))

    def attempt(self, body: str, **fields: Any) -> Attempt:
        # Unlike any other's, for a real scheduler remembers.
        tag = attempt_tag(str(self.root), body, 0)
        control = f"{self.root}/work/{tag}"
        given = {"shape": Shape(nodes=1), "walltime_s": 60, **fields}
        spec = JobSpec(tag=tag, name="whole path", control_dir=control, work_dir=f"{control}/work", body=body, **given)
        return Attempt(tag=tag, thread_id="thread", step="dispatch", number=0, site="here", scheduler=self.name,
                       spec=spec, intended_at=now())  # fmt: skip

    async def submit(self, attempt: Attempt) -> AttemptRecord:
        await self.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
        with anyio.fail_after(20):
            while True:
                try:
                    record = await self.client().submit(attempt)
                except NotSettled:
                    await anyio.sleep(0.2)
                    continue
                self.submitted += [record.job.job_id] if record.job is not None else []
                return record

    async def until(self, ref: JobRef, *states: JobState) -> JobStatus:
        client = self.client()
        with anyio.fail_after(25):
            while True:
                status = (await client.status([ref])).jobs.get(ref.job_id)
                if status is not None and status.state in states:
                    return status
                await anyio.sleep(0.1)


@pytest.fixture(params=KINDS)
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[FakeSite]:
    made = FakeSite(tmp_path, request.param)
    yield made
    with anyio.move_on_after(10):  # no process is left behind
        for file in (tmp_path / "jobs").glob("*"):
            name = file.stem.partition("[")[0].partition(".")[0]
            await made.client().cancel(JobRef(job_id=name.rsplit("-", 1)[0] if made.name == "kubernetes" else name))
        for job_id in made.submitted if made.real else ():
            await made.client().cancel(JobRef(job_id=job_id))


ENDS = tuple(state for state in JobState if state.final)


def job_of(record: AttemptRecord) -> JobRef:
    assert record.state is AttemptState.SUBMITTED, record.answer
    assert record.job is not None
    return record.job.model_copy(update={"tag": record.attempt.tag})


async def test_a_job_runs_once_and_its_output_and_exit_code_come_back(site: FakeSite) -> None:
    attempt = site.attempt('echo out; echo err >&2; pwd; printf "%s\\n" "$DRAGOMAN_TAG"\n')
    ref = job_of(await site.submit(attempt))
    status = await site.until(ref, *ENDS)
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)
    work = Path(attempt.spec.work_dir)
    assert (work / "stdout.log").read_text() == f"out\n{work}\n{attempt.tag}\n"
    assert (work / "stderr.log").read_text() == "err\n"
    again = await site.submit(attempt)
    assert again.job is not None
    assert (again.job.job_id, site.jobs()) == (ref.job_id, 1)


async def test_exit_code_and_signal_come_back(site: FakeSite) -> None:
    status = await site.until(job_of(await site.submit(site.attempt("exit 3\n"))), *ENDS)
    assert (status.state, status.exit_code) == (JobState.FAILED, 3)


async def test_the_time_limit_is_told_apart(site: FakeSite) -> None:
    if not site.real:
        site.fault("short-limit")
    walltime = 1 if site.name == "sge" else 60
    status = await site.until(job_of(await site.submit(site.attempt("sleep 60\n", walltime_s=walltime))), *ENDS)
    assert status.state is JobState.TIMED_OUT


async def test_cancelled(site: FakeSite) -> None:
    ref = job_of(await site.submit(site.attempt("sleep 60\n")))
    await site.until(ref, JobState.RUNNING)
    assert (await site.client().cancel(ref)).outcome is Outcome.OK
    if site.kind.deleted is None:
        client = site.client(grace_s=0.0)
        with anyio.fail_after(20):
            while ref.job_id not in (answers := await client.status([ref])).absent:
                status = answers.jobs.get(ref.job_id)
                assert status is None or status.state is not JobState.COMPLETED
                if status is not None and status.state.final:
                    break  # its own record tells
                await anyio.sleep(0.1)
        return
    status = await site.until(ref, *ENDS)
    assert status.state is site.kind.deleted


async def test_held_and_released(site: FakeSite) -> None:
    site.fault("busy")
    ref = job_of(await site.submit(site.attempt("true\n")))
    status = await site.until(ref, JobState.PENDING)
    assert not status.state.final
    assert (await site.client().hold(ref)).outcome is Outcome.OK
    status = await site.until(ref, JobState.HELD)
    assert status.reason_class is ReasonClass.PERSON
    assert (await site.client().release(ref)).outcome is Outcome.OK
    assert (await site.until(ref, *ENDS)).state is JobState.COMPLETED


async def test_a_lost_answer_is_settled_by_the_tag_and_nothing_is_submitted_twice(site: FakeSite) -> None:
    site.fault("lost")
    record = await site.submit(site.attempt("sleep 1\n"))
    ref = job_of(record)
    assert site.jobs() == 1
    assert (await site.until(ref, *ENDS)).state is JobState.COMPLETED


async def test_a_scheduler_that_is_down_says_nothing_of_a_job(site: FakeSite) -> None:
    ref = job_of(await site.submit(site.attempt("sleep 2\n")))
    site.fault("down", times=20)
    answers = await site.client(grace_s=0.0).status([ref])
    assert answers.trouble
    assert answers.absent == frozenset()
    assert ref.job_id not in answers.jobs or not answers.jobs[ref.job_id].state.final
    workload = await site.client().workload()
    assert workload.outcome is Outcome.UNKNOWN
    (site.root / "faults" / "down").unlink()


async def test_without_history_the_job_s_own_record_tells(site: FakeSite) -> None:
    if not site.kind.history:
        pytest.skip("jobs stay in its queue after their end")
    ref = job_of(await site.submit(site.attempt("true\n")))
    site.fault(site.kind.history, times=200)
    site.fault("forget", times=200)
    assert (await site.until(ref, *ENDS)).exit_code == 0


def printed(attempt: Attempt) -> list[str]:
    return sorted(file.read_text() for file in Path(attempt.spec.work_dir).glob("stdout.log*"))


async def test_an_array_runs_each_task(site: FakeSite) -> None:
    array = ArraySpec(ranges=(ArrayRange(first=1, last=3),))
    attempt = site.attempt('echo "task $DRAGOMAN_TASK"\n', array=array)
    ref = job_of(await site.submit(attempt))
    status = await site.until(ref, *ENDS)
    assert status.state is JobState.COMPLETED
    assert status.array_tasks == {"1": JobState.COMPLETED, "2": JobState.COMPLETED, "3": JobState.COMPLETED}
    assert printed(attempt) == ["task 1\n", "task 2\n", "task 3\n"]


async def test_ours_are_listed(site: FakeSite) -> None:
    attempt = site.attempt("sleep 60\n")
    ref = job_of(await site.submit(attempt))
    await site.until(ref, JobState.RUNNING)
    ours = await site.client().ours()
    assert ours is not None
    assert {status.ref.tag for status in ours.jobs.values()} == {attempt.tag}


async def test_unknown_jobs_are_absent_and_cannot_be_cancelled(site: FakeSite) -> None:
    client = site.client(grace_s=0.0)
    ref = JobRef(job_id="999999")
    job_of(await site.submit(site.attempt("true\n")))  # OAR shows that a job is absent by another that is there
    await client.status([ref])
    await anyio.sleep(0.01)
    assert (await client.status([ref])).absent == {"999999"}
    assert (await client.cancel(ref)).outcome is not Outcome.OK
    for answer in (await client.hold(ref), await client.release(ref)):
        assert answer.outcome is Outcome.ABSENT, answer.reason
    assert (await client.find("dgm-0123456789ab-a7")).outcome is Outcome.ABSENT


async def test_workload(site: FakeSite) -> None:
    answer = await site.client().workload()
    assert answer.value is not None, answer.reason
    assert answer.value.groups
    group = answer.value.groups[0]
    assert group.cpus_per_node in (4, 8)
    if answer.value.queues is not None:
        assert [queue.usable for queue in answer.value.queues] == [Truth.YES]


async def test_a_refusal_is_one(site: FakeSite) -> None:
    fields: dict[str, Any] = {"queue": "nosuch"}
    if site.name == "kubernetes":
        fields = {"shape": Shape(cpus=9999)}
    if site.name == "htcondor":
        fields = {"shape": Shape(constraint="((")}
    record = await site.submit(site.attempt("true\n", **fields))
    assert (record.state, site.root.joinpath("work").exists()) == (AttemptState.REFUSED, True)
    assert record.reason_class == ("wait" if site.name == "kubernetes" else "never")


@pytest.mark.parametrize("site", ["sge"], indirect=True)
async def test_unable_to_run_and_yet_submitted(site: FakeSite) -> None:
    site.fault("warning")
    record = await site.submit(site.attempt("true\n"))
    assert (await site.until(job_of(record), *ENDS)).state is JobState.COMPLETED
    assert site.jobs() == 1


@pytest.mark.parametrize("site", ["kubernetes"], indirect=True)
async def test_pods_that_are_hidden_leave_the_end_to_the_job(site: FakeSite) -> None:
    ref = job_of(await site.submit(site.attempt("true\n")))
    await site.until(ref, *ENDS)
    site.fault("forbidden-pods", times=3)
    answers = await site.client().status([ref])
    assert "pods is forbidden" in answers.trouble
    assert answers.jobs[ref.job_id].state is JobState.COMPLETED


@pytest.mark.parametrize("site", ["kubernetes"], indirect=True)
async def test_dry_run_and_watch(site: FakeSite) -> None:
    attempt = site.attempt("true\n")
    estimate = await site.client().estimate(attempt.spec)
    assert estimate.value is not None
    assert (estimate.value.now, site.root.joinpath("jobs").exists()) == (Truth.UNKNOWN, True)
    assert site.jobs() == 0
    ref = job_of(await site.submit(attempt))
    dialect = KubernetesDialect.for_site(Site(name="k", scheduler="kubernetes", paths={"namespace": "team"}))
    stream = EndStream(dialect, site.client().transport)
    first = await stream.turn([ref])
    assert first is not None
    assert (first.look, first.mark is not None, first.ended) == (True, True, frozenset())
    stream.mark = "100"
    second = await stream.turn([ref])
    assert second is not None
    assert (second.ended, second.trouble) == (frozenset({ref.job_id}), "")
    assert int(second.mark or 0) > 100
    site.fault("expired")
    third = await stream.turn([ref])
    assert third is not None
    assert (third.mark, third.trouble) == (None, "")


@pytest.mark.parametrize("site", ["htcondor"], indirect=True)
async def test_held_for_its_memory_is_no_end_and_never_goes_on_by_itself(site: FakeSite) -> None:
    ref = job_of(await site.submit(site.attempt("sleep 60\n")))
    await site.until(ref, JobState.RUNNING)
    site.fault("memory", times=50)
    status = await site.until(ref, JobState.HELD)
    assert (status.reason_class, status.state.final) == (ReasonClass.NEVER, False)
    assert "memory limit" in status.reason
    assert "code 34" in status.reason


@pytest.mark.parametrize("site", ["htcondor"], indirect=True)
async def test_a_signal_is_told_by_the_scheduler(site: FakeSite) -> None:
    status = await site.until(job_of(await site.submit(site.attempt("kill -9 $$\n"))), *ENDS)
    assert (status.state, status.signal or status.exit_code) in ((JobState.FAILED, 9), (JobState.FAILED, 137))
