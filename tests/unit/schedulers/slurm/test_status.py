"""What queue and accounting say of jobs."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, ReasonClass
from dragoman.observation import Outcome
from providers.schedulers.slurm import SlurmDialect
from providers.schedulers.slurm_json import json_number, json_state
from providers.schedulers.slurm_rows import Row
from providers.schedulers.slurm_status import row_state

Done = Callable[..., Completed]
SINCE = datetime(2024, 3, 1, 22, tzinfo=UTC)


def queue(
    job_id: str, state: str, *, raw: str = "", reason: str = "None", nodes: str = "", start: str = "N/A",
    elapsed: str = "0:00", name: str = "job", comment: str = "(null)",
) -> str:  # fmt: skip
    raw = raw or job_id.partition("_")[0].partition("+")[0]
    times = f"2024-05-01T10:00:00|{start}|N/A"
    return f"{job_id}|{raw}|{state}|batch|{times}|{elapsed}|{nodes}|{reason}||{comment}|{name}\n"


def record(
    job_id: str, state: str, *, raw: str = "", submit: str = "2024-05-01T10:00:00", start: str = "Unknown",
    end: str = "Unknown", code: str = "0:0", elapsed: str = "0", nodes: str = "None assigned", name: str = "job",
) -> str:  # fmt: skip
    raw = raw or job_id.partition("_")[0].partition("+")[0]
    return f"{job_id}|{raw}|{state}|batch|{submit}|{start}|{end}|{elapsed}|{nodes}|None|{code}||{name}\n"


DOWN = [
    "slurm_load_jobs error: Socket timed out on send/recv operation",
    "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
    "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:dbd:6819: "
    "Connection refused",
    "slurm_load_jobs error: Zero Bytes were transmitted or received",
    "sacct: error: Problem talking to the database: Connection timed out",
]


@pytest.mark.parametrize("words", DOWN)
@pytest.mark.parametrize("rc", [0, 1])
def test_scheduler_without_an_answer(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], words: str, rc: int
) -> None:
    for answer in (
        slurm.parse_status(done("", words, rc), [ref("812")]),
        slurm.parse_history(done("", words, rc), [ref("812")]),
    ):
        assert answer.trouble
        assert (dict(answer.jobs), answer.absent) == ({}, frozenset())
    assert slurm.parse_find(done("", words, rc), "dgm-0123456789ab-a0").outcome is Outcome.UNKNOWN


def test_json_of_a_controller_that_is_down(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    text = json.dumps({"jobs": [], "errors": [{"description": "Unable to contact slurm controller", "error": "x"}]})
    answer = slurm.parse_status(done(text), [ref("812")])
    assert answer.trouble == "Unable to contact slurm controller"
    assert answer.absent == frozenset()


def test_rows_beside_an_error_count_but_show_no_absence(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]
) -> None:
    answer = slurm.parse_status(done(queue("1", "RUNNING"), "squeue: error: one cluster is down"), [ref("1"), ref("2")])
    assert answer.jobs["1"].state is JobState.RUNNING
    assert answer.absent == frozenset()
    assert answer.trouble


def test_the_first_of_several_with_one_tag_is_found(slurm: SlurmDialect, done: Done) -> None:
    tag = "dgm-0123456789ab-a0"
    out = queue("1000", "RUNNING", name=f"x.{tag}") + queue("999", "PENDING", name=f"x.{tag}")
    assert slurm.parse_find(done(out), tag).value == JobRef(job_id="999", tag=tag)


def test_cut_off_output_shows_no_absence(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    cut = Completed(("squeue",), 0, b"", b"", truncated=True)
    assert slurm.parse_status(cut, [ref("1")]).trouble


def test_not_in_the_queue_is_absent_there_and_unknown_in_history(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]
) -> None:
    assert slurm.parse_status(done(""), [ref("900")]).absent == {"900"}
    history = slurm.parse_history(done(""), [ref("900")])
    assert (dict(history.jobs), history.absent, history.trouble) == ({}, frozenset(), "")
    later = slurm.parse_history(done(record("900", "PENDING")), [ref("900")])
    assert later.jobs["900"].state is JobState.PENDING


def test_history_looks_back_beyond_the_submit(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    (command,) = slurm.history_commands([ref("77")], SINCE)
    assert "--starttime=2024-03-01T21:00:00" in command.argv
    assert "--endtime=now" in command.argv
    zurich = SlurmDialect(time_zone="Europe/Zurich").history_commands([ref("77")], SINCE)[0]
    assert "--starttime=2024-03-01T22:00:00" in zurich.argv


def test_history_is_asked_in_chunks(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    commands = slurm.history_commands([ref(str(number)) for number in range(1, 4001)], SINCE)
    asked = [item for command in commands for item in command.argv[command.argv.index("-j") + 1].split(",")]
    assert len(commands) == 10
    assert max(len(command.argv[command.argv.index("-j") + 1].split(",")) for command in commands) <= 500
    assert asked == [str(number) for number in range(1, 4001)]


def test_status_of_many_jobs_is_one_command_a_cluster(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    jobs = [ref(str(number), "pikachu" if number % 2 else None) for number in range(2, 4002)]
    commands = slurm.status_commands(jobs)
    assert [command.argv[:2] for command in commands] == [("squeue", "--me"), ("squeue", "--clusters=pikachu")]


def test_jobs_of_another_cluster_are_not_absent(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    jobs = [ref("5", "pikachu"), ref("6")]
    assert slurm.parse_status(done("", argv=("squeue", "--me")), jobs).absent == {"6"}
    there = done("CLUSTER: pikachu\n" + queue("5", "RUNNING"), argv=("squeue", "--clusters=pikachu"))
    answer = slurm.parse_status(there, jobs)
    assert answer.jobs["5"].state is JobState.RUNNING
    assert answer.absent == frozenset()


def test_no_cluster_is_named_unless_known(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    commands = [*slurm.status_commands([ref("1")]), *slurm.history_commands([ref("1")], SINCE)]
    commands += [*slurm.find_commands("dgm-0123456789ab-a0", SINCE), *slurm.workload_commands()]
    assert not any("cluster" in item or item == "-M" for command in commands for item in command.argv)


@pytest.mark.parametrize(
    "name", ["SQUEUE_FORMAT", "SACCT_FORMAT", "SLURM_TIME_FORMAT", "SQUEUE_SORT", "SLURM_CLUSTERS"]
)
def test_questions_are_not_changed_by_the_environment(
    slurm: SlurmDialect, ref: Callable[..., JobRef], name: str
) -> None:
    commands = [*slurm.status_commands([ref("1")]), *slurm.history_commands([ref("1")], SINCE)]
    for command in commands:
        assert any(fnmatch.fnmatchcase(name, pattern) for pattern in command.unset)
        assert any(item.startswith("--format=") for item in command.argv)
        assert command.environment["TZ"] == "UTC"


@pytest.mark.parametrize("asked", ["1043166", "1043074_91", "1043074"])
def test_array_member_by_either_id(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], asked: str) -> None:
    out = record("1043074_91", "COMPLETED", raw="1043166", end="2024-05-01T11:00:00")
    steps = out.replace("1043074_91|1043166|COMPLETED", "1043074_91.batch|1043166.batch|FAILED")
    assert slurm.parse_history(done(steps + out + steps), [ref(asked)]).jobs[asked].state is JobState.COMPLETED


def test_other_arrays_do_not_answer(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    out = record("10_4", "FAILED", raw="14") + record("104", "COMPLETED")
    answer = slurm.parse_history(done(out), [ref("4"), ref("10_5"), ref("104")])
    assert set(answer.jobs) == {"104"}


@pytest.mark.parametrize(
    ("state", "ours", "by"),
    [
        ("CANCELLED by 1060117793", JobState.CANCELLED, "1060117793"),
        ("CANCELLED by 0", JobState.CANCELLED, "0"),
        ("CANCELLED", JobState.CANCELLED, None),
        ("CANCELLED+", JobState.CANCELLED, None),
        ("COMPLETING", JobState.COMPLETING, None),
        ("RUNNING+COMPLETING", JobState.COMPLETING, None),
        ("RUNNING+CONFIGURING", JobState.RUNNING, None),
        ("CONFIGURING", JobState.RUNNING, None),
        ("STAGE_OUT", JobState.COMPLETING, None),
        ("PENDING+REQUEUE_HOLD", JobState.HELD, None),
        ("NODE_FAIL", JobState.NODE_FAILED, None),
        ("TIMEOUT", JobState.TIMED_OUT, None),
        ("DEADLINE", JobState.NEVER_RAN, None),
        ("OUT_OF_MEMORY", JobState.OUT_OF_MEMORY, None),
        ("BOOT_FAIL", JobState.NODE_FAILED, None),
        ("REVOKED", JobState.UNKNOWN, None),
        ("FROBNICATED", JobState.UNKNOWN, None),
        ("", JobState.UNKNOWN, None),
    ],
)
def test_state_words(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], state: str, ours: JobState, by: str | None
) -> None:
    status = slurm.parse_history(done(record("4711", state)), [ref("4711")]).jobs["4711"]
    assert (status.state, status.cancelled_by, status.native_state) == (ours, by, state)


@pytest.mark.parametrize(("state", "final"), [("COMPLETED", True), ("COMPLETING", False), ("FAILED", True)])
def test_presence_in_the_queue_is_not_running(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], state: str, final: bool
) -> None:
    assert slurm.parse_status(done(queue("1", state)), [ref("1")]).jobs["1"].state.final is final


def test_the_latest_run_of_a_requeued_job_counts(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    first = record("55", "PREEMPTED", start="2024-05-01T10:01:00", end="2024-05-01T10:31:00")
    second = record(
        "55", "COMPLETED", submit="2024-05-01T10:31:00", start="2024-05-01T10:40:00", end="2024-05-01T11:40:00",
        elapsed="3600",
    )  # fmt: skip
    for out in (first + second, second + first):
        status = slurm.parse_history(done(out), [ref("55")]).jobs["55"]
        assert (status.state, status.restarts, status.elapsed_s) == (JobState.COMPLETED, 1, 3600)
        assert status.started_at == datetime(2024, 5, 1, 10, 40, tzinfo=UTC)


def test_three_runs_of_which_the_last_waits(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    out = record("7", "NODE_FAIL") + record("7", "PREEMPTED", submit="2024-05-01T12:00:00")
    out += record("7", "PENDING", submit="2024-05-01T13:00:00")
    status = slurm.parse_history(done(out), [ref("7")]).jobs["7"]
    assert (status.state, status.restarts) == (JobState.PENDING, 2)


def test_ids_that_were_used_before_do_not_answer(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    tag = "dgm-0123456789ab-a0"
    out = record("9", "FAILED", submit="2024-05-02T00:00:00", name="other") + record("9", "RUNNING", name=f"x.{tag}")
    assert slurm.parse_history(done(out), [ref("9", tag=tag)]).jobs["9"].state is JobState.RUNNING


def test_collapsed_arrays(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    out = queue("12345_[60-62,91]", "PENDING", reason="Priority") + queue("12345_7", "RUNNING", raw="12350")
    jobs = slurm.parse_status(done(out), [ref("12345"), ref("12345_61"), ref("12345_7"), ref("12345_8")])
    assert jobs.jobs["12345"].state is JobState.RUNNING
    assert jobs.jobs["12345"].array_tasks == {
        "60": JobState.PENDING, "61": JobState.PENDING, "62": JobState.PENDING, "91": JobState.PENDING,
        "7": JobState.RUNNING,
    }  # fmt: skip
    assert jobs.jobs["12345_61"].state is JobState.PENDING
    assert jobs.jobs["12345_7"].state is JobState.RUNNING
    assert jobs.absent == {"12345_8"}


def test_array_of_which_only_ended_tasks_are_seen_is_left_to_the_history(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]
) -> None:
    answer = slurm.parse_status(done(queue("3_9", "COMPLETED", raw="3")), [ref("3"), ref("3_9")])
    assert answer.absent == {"3"}
    assert answer.jobs["3_9"].state is JobState.COMPLETED


def test_huge_arrays_are_not_opened(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    status = slurm.parse_status(done(queue("3_[0-99999999]", "PENDING")), [ref("3")]).jobs["3"]
    assert status.array_tasks == {}
    assert status.warnings


def test_heterogeneous_job(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    out = queue("123+0", "RUNNING", nodes="node[1-2]") + queue("123+1", "PENDING", raw="124", nodes="node3")
    status = slurm.parse_status(done(out), [ref("123")]).jobs["123"]
    assert (status.state, status.nodes) == (JobState.RUNNING, ("node1", "node2", "node3"))
    ended = record("123+0", "COMPLETED") + record("123+1", "FAILED", raw="124", code="2:0")
    status = slurm.parse_history(done(ended), [ref("123")]).jobs["123"]
    assert (status.state, status.exit_code) == (JobState.FAILED, 2)
    late = record("123+0", "FAILED") + record("123+1", "RUNNING", raw="124")
    assert slurm.parse_history(done(late), [ref("123")]).jobs["123"].state is JobState.RUNNING


@pytest.mark.parametrize("name", ["weird|name", "a,b c", "x\x1fy", "é", "CLUSTER: 1"])
def test_separators_in_the_name(slurm: SlurmDialect, ref: Callable[..., JobRef], name: str) -> None:
    row = queue("88", "RUNNING", name="@").replace("|", "\x1f").replace("@", name)
    status = slurm.parse_status(Completed(("squeue",), 0, row.encode(), b""), [ref("88")]).jobs["88"]
    assert (status.state, status.name) == (JobState.RUNNING, name)


@pytest.mark.parametrize(
    "line",
    [
        "135    c5      batch     normal alice  COMPLETININVALID 3     run_cpld",
        "N/Aosc001|1",
        "135|135|RUNNING|batch|N/A",
        "Please note: maintenance tomorrow",
    ],
)
def test_rows_in_another_format_are_not_shifted(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], line: str
) -> None:
    assert slurm.parse_status(done(line), [ref("135")]).trouble
    both = slurm.parse_status(done(f"{line}\n{queue('1', 'RUNNING')}"), [ref("135"), ref("1")])
    assert set(both.jobs) == {"1"}
    assert both.absent == frozenset()


@pytest.mark.parametrize(
    ("reason", "meaning", "state"),
    [
        ("DependencyNeverSatisfied", ReasonClass.NEVER, JobState.PENDING),
        ("PartitionTimeLimit", ReasonClass.NEVER, JobState.PENDING),
        ("PartitionNodeLimit", ReasonClass.NEVER, JobState.PENDING),
        ("PartitionConfig", ReasonClass.NEVER, JobState.PENDING),
        ("BadConstraints", ReasonClass.NEVER, JobState.PENDING),
        ("QOSMaxWallDurationPerJobLimit", ReasonClass.NEVER, JobState.PENDING),
        ("AssocMaxNodePerJobLimit", ReasonClass.NEVER, JobState.PENDING),
        ("QOSMinCpuNotSatisfied", ReasonClass.NEVER, JobState.PENDING),
        ("InvalidQOS", ReasonClass.NEVER, JobState.PENDING),
        ("PartitionDown", ReasonClass.PERSON, JobState.PENDING),
        ("AssocGrpCPUMinutesLimit", ReasonClass.PERSON, JobState.PENDING),
        ("AssocGrpCPURunMinutesLimit", ReasonClass.WAIT, JobState.PENDING),
        ("QOSMaxJobsPerUserLimit", ReasonClass.WAIT, JobState.PENDING),
        ("QOSMaxCpuPerUserLimit", ReasonClass.WAIT, JobState.PENDING),
        ("AssocGrpNodeLimit", ReasonClass.WAIT, JobState.PENDING),
        ("QOSResourceLimit", ReasonClass.WAIT, JobState.PENDING),
        ("Resources", ReasonClass.WAIT, JobState.PENDING),
        ("Priority", ReasonClass.WAIT, JobState.PENDING),
        ("BeginTime", ReasonClass.WAIT, JobState.PENDING),
        ("Dependency", ReasonClass.WAIT, JobState.PENDING),
        ("Licenses", ReasonClass.WAIT, JobState.PENDING),
        ("None", ReasonClass.WAIT, JobState.PENDING),
        ("ReqNodeNotAvail, UnavailableNodes:n[1-3]", ReasonClass.WAIT, JobState.PENDING),
        ("Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
         ReasonClass.WAIT, JobState.PENDING),
        ("JobHeldUser", ReasonClass.PERSON, JobState.HELD),
        ("JobHeldAdmin", ReasonClass.PERSON, JobState.HELD),
        ("JobHoldMaxRequeue", ReasonClass.PERSON, JobState.HELD),
        ("launch failed requeued held", ReasonClass.PERSON, JobState.HELD),
        ("user_env_retrieval_failed_requeued_held", ReasonClass.PERSON, JobState.HELD),
        ("SomethingNew", ReasonClass.UNKNOWN, JobState.PENDING),
    ],
)  # fmt: skip
def test_reasons(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], reason: str, meaning: ReasonClass, state: JobState
) -> None:
    status = slurm.parse_status(done(queue("1", "PENDING", reason=reason)), [ref("1")]).jobs["1"]
    assert (status.reason_class, status.state) == (meaning, state)


def test_special_exit_is_held() -> None:
    assert row_state(Row("1", "1", "SPECIAL_EXIT")) is JobState.HELD
    assert row_state(Row("1", "1", "REQUEUE_HOLD")) is JobState.HELD


def test_rejected_after_submit_never_ran() -> None:
    assert row_state(Row("29", "29", "FAILED", reason="BadConstraints")) is JobState.NEVER_RAN


@pytest.mark.parametrize(
    ("state", "code", "exit_code", "signal"),
    [
        ("FAILED", "3:0", 3, None), ("FAILED", "0:9", None, 9), ("COMPLETED", "0:0", 0, None),
        ("FAILED", "0:0", None, None), ("TIMEOUT", "0:0", None, None), ("OUT_OF_MEMORY", "0:125", None, 125),
        ("CANCELLED by 1", "0:15", None, 15), ("RUNNING", "0:0", None, None), ("FAILED", "", None, None),
    ],
)  # fmt: skip
def test_exit_codes(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], state: str, code: str, exit_code: int | None,
    signal: int | None,
) -> None:  # fmt: skip
    status = slurm.parse_history(done(record("1", state, code=code)), [ref("1")]).jobs["1"]
    assert (status.exit_code, status.signal) == (exit_code, signal)


def test_times_by_the_sites_clock(done: Done, ref: Callable[..., JobRef]) -> None:
    zurich = SlurmDialect(time_zone="Europe/Zurich")
    out = record("1", "COMPLETED", start="2024-07-01T12:00:00", end="2024-07-01T13:00:00", elapsed="3600")
    status = zurich.parse_history(done(out), [ref("1")]).jobs["1"]
    assert status.started_at == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert status.warnings == ()
    out = record("1", "COMPLETED", start="2024-10-27T02:30:00", end="2024-10-27T02:10:00", elapsed="2400")
    status = zurich.parse_history(done(out), [ref("1")]).jobs["1"]
    assert status.warnings
    assert status.elapsed_s == 2400
    waiting = zurich.parse_history(done(record("1", "PENDING")), [ref("1")]).jobs["1"]
    assert (waiting.started_at, waiting.ended_at) == (None, None)


def test_expected_start_and_start_are_told_apart(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    at = "2024-05-02T10:00:00"
    out = queue("1", "PENDING", reason="Priority", start=at) + queue("2", "RUNNING", start=at, elapsed="1-02:03:04")
    jobs = slurm.parse_status(done(out), [ref("1"), ref("2")]).jobs
    assert (jobs["1"].expected_start, jobs["1"].started_at) == (datetime(2024, 5, 2, 10, tzinfo=UTC), None)
    assert (jobs["2"].expected_start, jobs["2"].started_at) == (None, datetime(2024, 5, 2, 10, tzinfo=UTC))
    assert jobs["2"].elapsed_s == 93784


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("RUNNING", "RUNNING"), (["RUNNING"], "RUNNING"), (["RUNNING", "CONFIGURING"], "RUNNING+CONFIGURING"),
        ({"current": ["CANCELLED"], "reason": "None"}, "CANCELLED"), ({"current": "FAILED"}, "FAILED"), ([], ""),
        (None, ""), (7, ""),
    ],
)  # fmt: skip
def test_json_states(value: object, state: str) -> None:
    assert json_state(value) == state  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (60, 60), ({"set": True, "infinite": False, "number": 60}, 60), ({"number": 5}, 5),
        ({"set": True, "infinite": True, "number": 0}, float("inf")),
        ({"set": False, "infinite": True, "number": 0}, float("inf")),
        ({"set": False, "infinite": False, "number": 0}, None), (None, None), ("60", None), (True, None),
    ],
)  # fmt: skip
def test_json_numbers(value: object, number: float | None) -> None:
    assert json_number(value) == number  # type: ignore[arg-type]


def test_json_of_the_accounting(slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef]) -> None:
    job = {
        "job_id": 9,
        "state": {"current": ["CANCELLED"], "reason": "None"},
        "time": {"elapsed": 5, "start": 1714557600},
    }
    status = slurm.parse_history(done(json.dumps({"jobs": [job], "errors": []})), [ref("9")]).jobs["9"]
    assert (status.state, status.elapsed_s) == (JobState.CANCELLED, 5)


@pytest.mark.parametrize(
    ("argv", "name", "comment"),
    [
        ("squeue", "x.dgm-0123456789ab-a0", "(null)"),
        ("squeue", "renamed by the site", "dgm-0123456789ab-a0"),
        ("squeue", "dgm-0123456789ab-a0", ""),
        ("squeue", "x", "user=a;dgm-0123456789ab-a0;site"),
    ],
)
def test_find_by_name_or_comment(slurm: SlurmDialect, done: Done, argv: str, name: str, comment: str) -> None:
    tag = "dgm-0123456789ab-a0"
    out = queue("811", "RUNNING", name="x.dgm-0123456789ab-a01") + queue(
        "812_[0-3]", "PENDING", name=name, comment=comment
    )
    found = slurm.parse_find(done(out, argv=(argv,)), tag)
    assert found.value == JobRef(job_id="812", tag=tag)


def test_find_shows_absence_only_when_clean(slurm: SlurmDialect, done: Done) -> None:
    tag = "dgm-0123456789ab-a0"
    assert slurm.parse_find(done(queue("1", "RUNNING", name=f"x.{tag}1")), tag).outcome is Outcome.ABSENT
    assert slurm.parse_find(done(""), tag).outcome is Outcome.ABSENT
    assert slurm.parse_find(done("garbage"), tag).outcome is Outcome.UNKNOWN
    assert slurm.parse_find(done("", "sacct: error: Slurm accounting storage is disabled", 1), tag).outcome is (
        Outcome.UNKNOWN
    )


def test_find_asks_queue_and_history_without_a_filter(slurm: SlurmDialect) -> None:
    queue_command, history_command = slurm.find_commands("dgm-0123456789ab-a0", SINCE)
    assert queue_command.argv[0] == "squeue"
    assert history_command.argv[0] == "sacct"
    assert not any("name" in item for item in (*queue_command.argv, *history_command.argv) if "=%" not in item)


@pytest.mark.parametrize(
    ("err", "rc", "outcome"),
    [
        ("", 0, Outcome.OK),
        ("scancel: error: Kill job error on job id 9: Job/step already completing or completed", 1, Outcome.OK),
        ("scancel: error: Invalid job id 9", 1, Outcome.ABSENT),
        ("scancel: error: Kill job error on job id 9: Invalid job id specified", 1, Outcome.ABSENT),
        ("scancel: error: Kill job error on job id 9: Access/permission denied", 210, Outcome.UNKNOWN),
        ("scancel: error: Kill job error on job id 9: Unable to contact slurm controller", 8, Outcome.UNKNOWN),
    ],
)
def test_cancel(
    slurm: SlurmDialect, done: Done, ref: Callable[..., JobRef], err: str, rc: int, outcome: Outcome
) -> None:
    command = slurm.cancel_command(ref("9", "c1"))
    answer = slurm.parse_cancel(done("", err, rc, argv=command.argv))
    assert answer.outcome is outcome
    assert answer.value == (ref("9", "c1") if outcome is Outcome.OK else None)


@pytest.mark.parametrize(
    ("err", "rc", "wait"),
    [
        ("sbatch: Job 18 to start at 2024-03-01T22:00:30 using 1 processors on nodes cpu01 in partition debug", 0, 30),
        ("sbatch: Job 18 to start at 2024-03-02T22:00:00 using 1 processors on cpu01 in partition debug", 0, 86400),
        ("note\nsbatch: Job 18 to start at 2024-03-01T21:59:58 using 4 processors on nodes a,b\n", 0, 0),
    ],
)
def test_estimate(slurm: SlurmDialect, done: Done, err: str, rc: int, wait: float) -> None:
    answer = slurm.parse_estimate(done("", err, rc), SINCE)
    assert answer.value is not None
    assert answer.value.expected_s == wait
    assert (answer.value.now.value == "yes") == (wait <= 60)


@pytest.mark.parametrize(
    ("err", "rc", "outcome"),
    [
        ("allocation failure: Requested node configuration is not available", 1, Outcome.ABSENT),
        ("allocation failure: Socket timed out on send/recv operation", 1, Outcome.UNKNOWN),
        ("allocation failure: Something new", 1, Outcome.UNKNOWN),
        ("", 0, Outcome.UNKNOWN),
    ],
)
def test_no_estimate(slurm: SlurmDialect, done: Done, err: str, rc: int, outcome: Outcome) -> None:
    assert slurm.parse_estimate(done("", err, rc), SINCE + timedelta(0)).outcome is outcome


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e400", "1" + "0" * 400])
@pytest.mark.parametrize("field", ["job_id", "array_job_id", "array_task_id", "het_job_offset", "time_limit"])
def test_a_number_that_is_none_is_not_told(number: str, field: str) -> None:
    job = f'{{"job_id": 5, "job_state": ["RUNNING"]}}, {{"job_id": 6, "{field}": {number}, "job_state": ["RUNNING"]}}'
    done = Completed(("squeue",), 0, f'{{"jobs": [{job}]}}'.encode(), b"")
    answers = SlurmDialect().parse_status(done, [JobRef(job_id="5"), JobRef(job_id="6")])
    assert answers.jobs["5"].state is JobState.RUNNING
    assert "6" not in answers.jobs or not answers.jobs["6"].state.final
