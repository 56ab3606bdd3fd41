"""Queue, accounting and records of many jobs: how often each is asked, and what is made of answers that lag or fail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

import pytest

from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.model import now
from dragoman.protocols import Dialect, JobAnswers
from providers.attempts import Attempts
from providers.schedulers import watching
from providers.schedulers.asking import Asker
from providers.schedulers.base import BaseDialect
from providers.schedulers.watching import StatusReader
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

A1, A2, B3 = JobRef(job_id="1", cluster="a"), JobRef(job_id="2", cluster="a"), JobRef(job_id="3", cluster="b")


class Slow(LocalTransport):
    """Runs nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[str] = []

    async def run(self, command: Command) -> Completed:
        self.asked.append(" ".join(command.argv))
        return Completed(command.argv, 0, b"", b"")


class Clusters(BaseDialect):
    """A scheduler with clusters, whose answers are set by the test: `queue` and `books` by `cluster`."""

    name = "clusters"

    def __init__(self) -> None:
        self.queue: dict[str, JobAnswers] = {}
        self.books: dict[str, JobAnswers] = {}

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        return [Command(("queue", cluster or "")) for cluster in dict.fromkeys(ref.cluster for ref in refs)]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        assert {ref.cluster for ref in refs} == {done.argv[1]}
        return self.queue[done.argv[1]]

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        return [Command(("books", cluster or "")) for cluster in dict.fromkeys(ref.cluster for ref in refs)]

    def usage_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        ids = ",".join(ref.job_id for ref in refs)
        return [Command(("books", cluster or "", ids)) for cluster in dict.fromkeys(ref.cluster for ref in refs)]

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        return self.books.get(done.argv[1], JobAnswers(jobs={}))


def status(ref: JobRef, state: JobState, **more: object) -> JobStatus:
    return JobStatus.model_validate({"ref": ref, "state": state, **more})


def made(dialect: Clusters, grace_s: float = 0.0) -> tuple[StatusReader, Slow]:
    transport = Slow()

    async def folder(tag: str) -> str:
        return f"/nowhere/{tag}"

    asker = Asker(transport, tries=1)
    asked = cast(Dialect, dialect)  # it has what a reader calls
    return StatusReader(asked, asker, Attempts(transport), folder, now, grace_s=grace_s), transport


async def test_a_job_is_absent_by_the_word_of_its_own_cluster() -> None:
    dialect = Clusters()
    dialect.queue = {
        "a": JobAnswers(jobs={"1": status(A1, JobState.RUNNING)}, absent=frozenset({"2"})),
        "b": JobAnswers(jobs={"3": status(B3, JobState.PENDING)}),
    }
    reader, transport = made(dialect, grace_s=-1)
    answers = await reader.read([A1, A2, B3])
    assert {job: each.state for job, each in answers.jobs.items()} == {"1": JobState.RUNNING, "3": JobState.PENDING}
    assert answers.absent == {"2"}
    assert sorted(transport.asked) == ["books a 2", "queue a", "queue b"]


async def test_jobs_that_ended_and_that_left_are_one_question() -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={"1": status(A1, JobState.COMPLETED)}, absent=frozenset({"2"}))}
    dialect.books = {
        "a": JobAnswers(
            jobs={
                "1": status(A1, JobState.COMPLETED, exit_code=0, max_rss_bytes=7),
                "2": status(A2, JobState.FAILED, exit_code=3, max_rss_bytes=8),
            }
        )
    }
    reader, transport = made(dialect)
    answers = await reader.read([A1, A2])
    assert transport.asked == ["queue a", "books a 2,1"]
    found = {job: (each.state, each.exit_code, each.max_rss_bytes) for job, each in answers.jobs.items()}
    assert found == {"1": (JobState.COMPLETED, 0, 7), "2": (JobState.FAILED, 3, 8)}


async def test_an_empty_queue_leads_to_the_history_and_is_no_absence() -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={})}
    dialect.books = {"a": JobAnswers(jobs={"1": status(A1, JobState.FAILED, exit_code=3)})}
    reader, transport = made(dialect, grace_s=-1)
    answers = await reader.read([A1, A2])
    assert transport.asked == ["queue a", "books a 1,2"]
    assert {job: each.exit_code for job, each in answers.jobs.items()} == {"1": 3}
    assert answers.absent == frozenset()


async def test_trouble_with_the_fuller_question_is_followed_by_a_plain_one() -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={}, absent=frozenset({"2"}))}
    dialect.books = {"a": JobAnswers(jobs={}, trouble="cut off")}
    reader, transport = made(dialect)
    for _ in range(3):
        assert (await reader.read([A2])).absent == frozenset()
    assert transport.asked[1::2] == ["books a 2", "books a", "books a 2"]


async def test_an_end_does_not_wait_for_an_accounting_that_fails() -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={"1": status(A1, JobState.COMPLETED, exit_code=0)})}
    dialect.books = {"a": JobAnswers(jobs={}, trouble="down")}
    reader, _ = made(dialect)
    answers = await reader.read([A1])
    assert (answers.jobs["1"].state, answers.trouble) == (JobState.COMPLETED, "")


async def test_a_failure_without_a_word_why_waits_for_the_accounting_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={"1": status(A1, JobState.FAILED)})}
    reader, _ = made(dialect)
    assert (await reader.read([A1])).jobs["1"].state is JobState.COMPLETING
    dialect.books = {"a": JobAnswers(jobs={"1": status(A1, JobState.OUT_OF_MEMORY, reason="held 9", signal=9)})}
    told = (await reader.read([A1])).jobs["1"]
    assert (told.state, told.reason, told.signal) == (JobState.OUT_OF_MEMORY, "held 9", 9)
    dialect.books = {}
    monkeypatch.setattr(watching, "_LAG_S", -1.0)
    assert (await reader.read([A1])).jobs["1"].state is JobState.FAILED


async def test_the_queue_is_ahead_of_an_older_run_in_the_accounting() -> None:
    dialect = Clusters()
    dialect.queue = {"a": JobAnswers(jobs={"1": status(A1, JobState.COMPLETED, exit_code=0)})}
    dialect.books = {"a": JobAnswers(jobs={"1": status(A1, JobState.PREEMPTED, signal=15, max_rss_bytes=5)})}
    reader, _ = made(dialect)
    told = (await reader.read([A1])).jobs["1"]
    assert (told.state, told.exit_code, told.signal) == (JobState.COMPLETED, 0, None)


@pytest.mark.parametrize(
    ("books", "state"),
    [({}, JobState.UNKNOWN), ({"1": "failed"}, JobState.UNKNOWN), ({"1": "failed", "2": "completed"}, JobState.FAILED)],
)
async def test_an_array_seen_in_part_is_looked_up_in_the_history(books: dict[str, str], state: JobState) -> None:
    dialect = Clusters()
    ref = A1.model_copy(update={"array_size": 3})
    dialect.queue["a"] = JobAnswers({"1": status(ref, JobState.UNKNOWN, array_tasks={"3": "completed"})})
    dialect.books["a"] = JobAnswers({"1": status(ref, JobState.UNKNOWN, array_tasks=books)} if books else {})
    reader, transport = made(dialect)
    found = (await reader.read([ref])).jobs["1"]
    assert (found.state, set(found.array_tasks)) == (state, {"3", *books})
    assert any(one.startswith("books a") for one in transport.asked)


async def test_history_alone() -> None:
    dialect = Clusters()
    dialect.books = {"a": JobAnswers(jobs={"1": status(A1, JobState.FAILED, exit_code=2)})}
    reader, transport = made(dialect)
    answers = await reader.history([A1, A2])
    assert (set(answers.jobs), answers.absent) == ({"1"}, frozenset())
    assert transport.asked == ["books a 1,2"]


async def test_a_word_that_is_in_no_table_is_logged_once_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    dialect = Clusters()
    new = status(A1, JobState.UNKNOWN, native_state="HIBERNATING")
    dialect.queue = {"a": JobAnswers(jobs={"1": new, "2": status(A2, JobState.UNKNOWN)})}
    reader, _ = made(dialect)
    for _ in range(3):
        answers = await reader.read([A1, A2])
        assert {each.state for each in answers.jobs.values()} == {JobState.UNKNOWN}
    told = [record.getMessage() for record in caplog.records if "taken for unknown" in record.getMessage()]
    assert told == ["clusters says 'HIBERNATING' of job 1, which is taken for unknown"]


class Numbered(Clusters):
    """Asks for jobs by their numbers, or for all."""

    ids_per_command = 3

    def __init__(self, *, everything: bool = False) -> None:
        super().__init__()
        self.everything = everything
        self.read: list[int] = []

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        return [Command(("queue",) if self.everything else ("queue", *(ref.job_id for ref in refs)))]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        self.read.append(len(refs))
        shown = [ref for ref in refs if self.everything or ref.job_id in done.argv]
        return JobAnswers(jobs={ref.job_id: status(ref, JobState.RUNNING) for ref in shown if ref.job_id != "5"},
                          absent=frozenset({"5"} & {ref.job_id for ref in refs}))  # fmt: skip

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        return []

    usage_commands = history_commands


@pytest.mark.parametrize(("everything", "read"), [(False, [3, 3, 2]), (True, [8])])
async def test_each_answer_is_read_for_the_jobs_that_it_is_about(everything: bool, read: list[int]) -> None:
    dialect = Numbered(everything=everything)
    reader, transport = made(dialect, grace_s=-1)
    answers = await reader.read([JobRef(job_id=str(number)) for number in range(8)])
    assert sorted(answers.jobs) == ["0", "1", "2", "3", "4", "6", "7"]
    assert answers.absent == {"5"}
    assert dialect.read == read
    assert len(transport.asked) == len(read)
