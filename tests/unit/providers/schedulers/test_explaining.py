"""A job in error state is asked about once, and its reason is kept with it."""

from collections.abc import Sequence

import pytest

from dragoman.command import Command, Completed, Told
from dragoman.errors import CommandTimeout
from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.site import Site
from providers.schedulers.asking import Asker
from providers.schedulers.client import SchedulerClient
from providers.schedulers.explaining import Explainer
from providers.schedulers.sge import SgeDialect
from providers.schedulers.slurm import SlurmDialect
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

WHY = '11/30/2026 09:56:28 [0:22382]: error: can\'t open output file "/nonexistent/x": No such file or directory'
JOB = """<job_list state="pending"><JB_job_number>{}</JB_job_number><JB_name>a</JB_name><state>{}</state></job_list>"""
XML = "<?xml version='1.0'?><job_info><queue_info/><job_info>{}</job_info></job_info>"


class GridEngine(LocalTransport):
    """A queue with jobs in given states; `qstat -j` tells why, or fails."""

    def __init__(self, states: dict[str, str], *, silent: bool = False) -> None:
        super().__init__({})
        self.states = states
        self.silent = silent
        self.asked: list[str] = []

    async def run(self, command: Command) -> Completed:
        answer = (await self.run_many([command]))[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        return [self._answer(command) for command in commands]

    def _answer(self, command: Command) -> Completed | Exception:
        if command.argv[:2] == ("qstat", "-j"):
            self.asked.append(command.argv[2])
            if self.silent:
                return CommandTimeout("no end within 60 s")
            told = f"job_number:                 {command.argv[2]}\nerror reason          1:      {WHY}\n"
            return Completed(command.argv, 0, told.encode(), b"")
        jobs = "".join(JOB.format(job_id, state) for job_id, state in self.states.items())
        return Completed(command.argv, 0, XML.format(jobs).encode(), b"")


def client(transport: LocalTransport) -> SchedulerClient:
    return SchedulerClient(SgeDialect(), transport, Site(name="x", scheduler="sge"))


async def test_a_job_in_error_state_has_the_schedulers_reason_and_is_asked_about_once() -> None:
    transport = GridEngine({"7": "Eqw", "8": "qw", "9": "hqw"})
    asking = client(transport)
    for _ in range(3):
        jobs = (await asking.status([JobRef(job_id=each) for each in "789"])).jobs
        assert (jobs["7"].state, jobs["7"].reason_class) == (JobState.HELD, ReasonClass.PERSON)
        assert "can't open output file" in jobs["7"].reason
        assert "can't open" not in jobs["8"].reason + jobs["9"].reason
    assert transport.asked == ["7"]
    transport.states["7"] = "hEqw"
    await asking.status([JobRef(job_id="7")])
    assert transport.asked == ["7", "7"], "asked again when its state has changed"


async def test_no_answer_leaves_the_job_as_it_was() -> None:
    transport = GridEngine({"7": "Eqw"}, silent=True)
    jobs = (await client(transport).status([JobRef(job_id="7")])).jobs
    assert (jobs["7"].state, jobs["7"].reason_class) == (JobState.HELD, ReasonClass.PERSON)
    assert "error state" in jobs["7"].reason


async def test_a_few_at_a_time() -> None:
    ids = [str(number) for number in range(100, 130)]
    transport = GridEngine(dict.fromkeys(ids, "Eqw"))
    asking = client(transport)
    await asking.status([JobRef(job_id=each) for each in ids])
    assert len(transport.asked) == 10
    for _ in range(2):
        jobs = (await asking.status([JobRef(job_id=each) for each in ids])).jobs
    assert sorted(transport.asked) == ids
    assert all("can't open" in status.reason for status in jobs.values())


async def test_a_dialect_that_does_not_explain_is_not_asked() -> None:
    transport = GridEngine({})
    held = JobStatus(ref=JobRef(job_id="1"), state=JobState.HELD, native_state="Eqw")
    assert await Explainer(SlurmDialect(), Asker(transport)).explained({"1": held}) == {"1": held}
    assert transport.asked == []
