"""Queue, accounting and the job's own record put together."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.errors import TransportError
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.observation import Answer, Outcome
from dragoman.protocols import JobAnswers
from providers.attempt_look import AttemptLook, ExitRecord
from providers.schedulers.merging import by_exit_record, needs_look, one_finding, read_all, union

A, B = JobRef(job_id="1"), JobRef(job_id="2")
LOST = TransportError("connection lost")
AT = datetime(2026, 11, 30, 8, tzinfo=UTC)


def done(name: str) -> Completed:
    return Completed((name,), 0, b"", b"")


def status(ref: JobRef, state: JobState, exit_code: int | None = None) -> JobStatus:
    return JobStatus(ref=ref, state=state, exit_code=exit_code)


def test_absent_only_where_every_answer_says_so_and_none_had_trouble() -> None:
    parts = {
        "first": JobAnswers(jobs={"1": status(A, JobState.RUNNING)}, absent=frozenset({"2"})),
        "second": JobAnswers(jobs={}, absent=frozenset({"1", "2"})),
        "third": JobAnswers(jobs={}, absent=frozenset({"1"})),
        "trouble": JobAnswers(jobs={}, absent=frozenset({"1", "2"}), trouble="cut off"),
    }

    def read(*names: str) -> JobAnswers:
        return read_all([done(name) for name in names], lambda one: parts[one.argv[0]])

    assert read("first", "second") == JobAnswers(jobs=parts["first"].jobs, absent=frozenset({"2"}))
    assert read("first", "third").absent == frozenset()
    assert read("first", "trouble") == JobAnswers(jobs=parts["first"].jobs, trouble="cut off")
    assert read_all([done("second"), LOST], lambda one: parts[one.argv[0]]) == JobAnswers(
        jobs={}, trouble="connection lost"
    )
    assert read_all([], lambda one: parts[one.argv[0]]) == JobAnswers(jobs={})


def test_a_known_state_wins_over_an_unknown_one() -> None:
    unknown = JobAnswers(jobs={"1": status(A, JobState.UNKNOWN)})
    known = JobAnswers(jobs={"1": status(A, JobState.HELD)})
    parts = {"unknown": unknown, "known": known}
    for order in (["unknown", "known"], ["known", "unknown"]):
        assert read_all([done(name) for name in order], lambda one: parts[one.argv[0]]).jobs == known.jobs


def test_answers_about_different_jobs_keep_their_own_absences() -> None:
    merged = union([JobAnswers(jobs={}, absent=frozenset({"1"})), JobAnswers(jobs={}, trouble="down")])
    assert merged == JobAnswers(jobs={}, absent=frozenset({"1"}), trouble="down")


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        (["there"], Outcome.OK),
        (["absent", "there"], Outcome.OK),
        (["unknown", "there"], Outcome.OK),
        ([LOST, "there"], Outcome.OK),
        (["absent", "absent"], Outcome.ABSENT),
        (["absent", "unknown"], Outcome.UNKNOWN),
        (["absent", LOST], Outcome.UNKNOWN),
        ([], Outcome.UNKNOWN),
    ],
)
def test_a_tag_is_absent_only_where_all_look_ups_say_so(answers: list[str | Exception], outcome: Outcome) -> None:
    said = {
        "there": Answer[JobRef].ok(A),
        "absent": Answer[JobRef].absent("not listed"),
        "unknown": Answer[JobRef].unknown("down"),
    }
    given = [answer if isinstance(answer, Exception) else done(answer) for answer in answers]
    assert one_finding(given, lambda one: said[one.argv[0]]).outcome is outcome


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        (None, True),
        (status(A, JobState.UNKNOWN), True),
        (status(A, JobState.PENDING), False),
        (status(A, JobState.RUNNING), False),
        (status(A, JobState.COMPLETED, 0), False),
        (status(A, JobState.COMPLETED), True),
        (status(A, JobState.FAILED, 113), True),
        (status(A, JobState.TIMED_OUT), False),
    ],
)
def test_the_folder_is_read_only_where_it_can_add_something(said: JobStatus | None, needed: bool) -> None:
    assert needs_look(said) is needed


def look(rc: int = 0, job: str = "1", task: str = "", owner: str = "1") -> AttemptLook:
    record = ExitRecord(rc, None, AT, AT, job, "2", "n1")
    return AttemptLook(control_dir="/a", now=0, owner=owner, exits={task: record})


def test_the_record_of_another_job_says_nothing() -> None:
    assert by_exit_record(A, None, look(owner="2"), accounting_may_come=False) is None
    assert by_exit_record(A, None, look(job="2"), accounting_may_come=False) is None
    assert by_exit_record(A, None, AttemptLook("/a", 0, owner="1"), accounting_may_come=False) is None


def test_a_success_is_believed_at_once_and_a_failure_when_no_accounting_will_explain_it() -> None:
    told = by_exit_record(A, None, look(), accounting_may_come=True)
    assert told is not None
    assert (told.state, told.exit_code, told.restarts, told.ended_at) == (JobState.COMPLETED, 0, 2, AT)
    assert by_exit_record(A, None, look(rc=143), accounting_may_come=True) is None
    told = by_exit_record(A, None, look(rc=143), accounting_may_come=False)
    assert told is not None
    assert (told.state, told.exit_code) == (JobState.FAILED, 143)


def test_a_final_state_keeps_its_word_and_gets_its_exit_code() -> None:
    said = status(A, JobState.FAILED)
    told = by_exit_record(A, said, look(rc=3), accounting_may_come=False)
    assert told == said.model_copy(update={"exit_code": 3})


def test_an_array_never_ends_by_its_tasks_records() -> None:
    told = by_exit_record(A, None, look(task="7", rc=1), accounting_may_come=False)
    assert told is not None
    assert (told.state, told.array_tasks) == (JobState.UNKNOWN, {"7": JobState.FAILED})
