"""Jobs as qstat shows them: ends, ids, answers that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.job import JobRef, JobState, JobStatus
from dragoman.observation import Outcome
from providers.schedulers.pbs_records import read_records
from providers.schedulers.pbs_values import read_exec_host

TAG = "dgm-0123456789ab-a0"
One = Callable[..., JobStatus]
Done = Callable[..., Any]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("B", "running"), ("Q", "pending"), ("R", "running"), ("E", "completing"), ("H", "held"), ("M", "unknown"),
        ("S", "suspended"), ("T", "pending"), ("U", "suspended"), ("W", "pending"), ("Z", "unknown"), ("", "unknown"),
        ("r", "unknown"),
    ],
)  # fmt: skip
def test_states(pbs: Any, one: One, word: str, state: str) -> None:
    assert one(pbs, job_state=word).state.value == state


def test_moved_says_where_to_ask(pbs: Any, one: One) -> None:
    assert one(pbs, job_state="M", queue="workq@other").reason == "moved to another server (workq@other): ask there"


@pytest.mark.parametrize(
    ("attributes", "state", "exit_code", "signal"),
    [
        ({"Exit_status": 0, "substate": 92}, "completed", 0, None),
        ({"Exit_status": 3, "substate": 93}, "failed", 3, None),
        ({"Exit_status": 254, "substate": 93}, "failed", 254, None),
        ({"Exit_status": 137, "substate": 93}, "failed", 137, 9),
        ({"Exit_status": 265, "substate": 93}, "failed", None, 9),
        ({"Exit_status": 271, "substate": 91}, "cancelled", None, 15),
        ({"Exit_status": 0, "substate": 91}, "cancelled", 0, None),
        ({"Exit_status": -29, "substate": 93}, "timed-out", None, None),
        ({"Exit_status": -27, "substate": 93}, "out-of-memory", None, None),
        ({"Exit_status": -26}, "out-of-memory", None, None),
        ({"Exit_status": -4}, "node-failed", None, None),
        ({"Exit_status": -12}, "preempted", None, None),
        ({"Exit_status": -1}, "never-ran", None, None),
        ({"Exit_status": -77}, "failed", None, None),
        ({"Exit_status": 1, "comment": "Job run at X and exceeded resource mem"}, "out-of-memory", 1, None),
        ({"substate": 91}, "cancelled", None, None),
        ({"substate": 92}, "never-ran", None, None),
        ({"substate": 92, "stime": "Mon Nov 30 07:12:01 2026"}, "unknown", None, None),
        ({"Exit_status": "soon"}, "unknown", None, None),
    ],
)
def test_how_it_ended(
    pbs: Any, one: One, attributes: dict[str, object], state: str, exit_code: int | None, signal: int | None
) -> None:
    status = one(pbs, history=True, job_state="F", **attributes)
    assert (status.state.value, status.exit_code, status.signal) == (state, exit_code, signal)


@pytest.mark.parametrize(
    ("attributes", "state", "exit_code"),
    [
        ({"exit_status": 0}, "completed", 0),
        ({"exit_status": 2}, "failed", 2),
        ({"exit_status": -11}, "timed-out", None),
        ({"exit_status": -10}, "out-of-memory", None),
        ({"exit_status": 271}, "cancelled", None),
        ({"exit_status": 143}, "cancelled", 143),
        ({"exit_status": 137}, "failed", 137),
        ({"exit_status": 271, "resources_used.walltime": "01:00:09", "Resource_List.walltime": "01:00:00"},
         "timed-out", None),
        ({}, "unknown", None),
    ],
)  # fmt: skip
def test_torque_ends(torque: Any, one: One, attributes: dict[str, object], state: str, exit_code: int | None) -> None:
    status = one(torque, job_state="C", **attributes)
    assert (status.state.value, status.exit_code) == (state, exit_code)
    assert one(torque, job_state="F").state is JobState.UNKNOWN


@pytest.mark.parametrize(
    ("comment", "meaning"),
    [
        ("Can Never Run: Insufficient amount of resource: ncpus (R: 320 A: 56 T: 56)", "never"),
        ("Not Running: Not enough free nodes available", "wait"),
        ("Not Running: Job would conflict with reservation or top job", "wait"),
        ("Not Running: Node is in an ineligible state: down", "wait"),
        ("Not Running: Queue not started.", "person"),
        ("words that nobody has met", "unknown"),
    ],
)
def test_why_it_waits(pbs: Any, one: One, comment: str, meaning: str) -> None:
    status = one(pbs, job_state="Q", comment=comment)
    assert (status.reason, status.reason_class) == (comment, meaning)


def test_held_by_a_failing_start_needs_a_person(pbs: Any, one: One) -> None:
    status = one(pbs, job_state="H", Hold_Types="s", comment="job held, too many failed attempts to run")
    assert (status.state.value, status.reason_class) == ("held", "person")


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("n1/0", {"n1": 1}),
        ("n1/0*16", {"n1": 16}),
        ("n1/0*4+n2/0*4", {"n1": 4, "n2": 4}),
        ("n11/7+n11/6+n12/7+n12/6", {"n11": 2, "n12": 2}),
        ("n1/0-3,7+n2/0", {"n1": 5, "n2": 1}),
        ("n1.cluster.example/2*8", {"n1.cluster.example": 8}),
        ("--", {}),
        ("", {}),
    ],
)
def test_exec_host(text: str, cores: dict[str, int]) -> None:
    assert read_exec_host(text) == cores


def test_ids_of_arrays_and_missing_vnodes(pbs: Any, done: Done) -> None:
    out = '{"Jobs":{"123456[].pbs":{"job_state":"B","queue":"workq"},"123457.pbs":{"job_state":"Q","exec_vnode":null}}}'
    refs = [JobRef(job_id="123456[].pbs"), JobRef(job_id="123457.pbs")]
    jobs = pbs.parse_status(done(out), refs).jobs
    assert {job_id: (status.state.value, status.nodes) for job_id, status in jobs.items()} == {
        "123456[].pbs": ("running", ()),
        "123457.pbs": ("pending", ()),
    }


@pytest.mark.parametrize("asked", ["0.head01", "0", "0.head01.example.org"])
def test_the_number_is_enough_and_zero_is_one(pbs: Any, done: Done, asked: str) -> None:
    status = pbs.parse_status(done("Job Id: 0.head01\n    job_state = R\n"), [JobRef(job_id=asked)]).jobs[asked]
    assert status.state is JobState.RUNNING


def test_another_servers_job_of_the_same_number_is_not_ours(pbs: Any, done: Done) -> None:
    answers = pbs.parse_status(
        done("Job Id: 5.other\n    job_state = F\n    Exit_status = 0\n"), [JobRef(job_id="5.mine")]
    )
    assert (answers.jobs, answers.absent) == ({}, frozenset())


@pytest.mark.parametrize(
    "out",
    [
        "123456.cluster-p*  run.sh  alice  00:01:02 R workq\n",
        "Job id            Name             User\n----------------  ------\n123456.cluster-p* run.sh alice 0 F workq\n",
    ],
)
def test_the_table_that_cuts_ids_is_never_matched(pbs: Any, done: Done, out: str) -> None:
    answers = pbs.parse_status(done(out), [JobRef(job_id="123456.cluster-pbs-01.example.org")])
    assert (answers.jobs, answers.absent, bool(answers.trouble)) == ({}, frozenset(), True)


@pytest.mark.parametrize(
    ("err", "rc", "absent"),
    [
        ("qstat: Unknown Job Id 9.s\n", 153, {"9.s"}),
        ("qstat: Unknown Job Id Error 9.s\n", 153, {"9.s"}),
        ("qstat: 9.s Job has finished, use -x or -H to obtain historical job information\n", 35, {"9.s"}),
        ("qstat: 8.s Job has finished, use -x or -H\nqstat: Unknown Job Id 9.s\n", 153, {"8.s", "9.s"}),
        ("", 0, set()),
        ("", 153, set()),
        ("qstat: conflicting options.\nusage: ...\n", 2, set()),
        ("Connection refused\nqstat: cannot connect to server s (errno=15010)\n", 255, set()),
        ("qstat: Unknown Job Id 9.s\nqstat: cannot connect to server s (errno=15010)\n", 153, set()),
        ("qstat: Unauthorized Request  9.s\n", 159, set()),
    ],
)  # fmt: skip
def test_absent_is_only_who_is_named(pbs: Any, done: Done, err: str, rc: int, absent: set[str]) -> None:
    refs = [JobRef(job_id="8.s"), JobRef(job_id="9.s")]
    answers = pbs.parse_status(done("", err, rc), refs)
    assert (answers.absent, answers.jobs) == (absent, {})


def test_valid_json_with_a_failed_command_is_no_answer(pbs: Any, done: Done) -> None:
    """A server that is down: exit code 255, and JSON without jobs."""
    answers = pbs.parse_status(done('{"timestamp": 1, "pbs_server": "s"}', "", 255), [JobRef(job_id="9.s")])
    assert (dict(answers.jobs), set(answers.absent), bool(answers.trouble)) == ({}, set(), True)


def test_answers_of_several_commands_meet(pbs: Any) -> None:
    """Each is read as if all jobs had been asked for in it: who was not asked there is not there by it."""
    from dragoman.command import Completed
    from providers.schedulers.merging import read_all

    refs = [JobRef(job_id="1.s"), JobRef(job_id="2[].s"), JobRef(job_id="3.s")]
    commands = pbs.status_commands(refs)
    assert [command.argv for command in commands] == [("qstat", "-f", "1.s", "3.s"), ("qstat", "-t", "-f", "2[].s")]
    answers = [
        Completed(commands[0].argv, 153, b"Job Id: 1.s\n    job_state = R\n", b"qstat: Unknown Job Id 3.s\n"),
        Completed(commands[1].argv, 35, b"", b"qstat: 2[].s Job has finished, use -x\n"),
    ]
    read = read_all(answers, lambda one: pbs.parse_status(one, refs))
    assert (set(read.jobs), set(read.absent), read.trouble) == ({"1.s"}, {"2[].s", "3.s"}, "")


def test_history_shows_and_never_excludes(pbs: Any, done: Done) -> None:
    answers = pbs.parse_history(done("", "qstat: Unknown Job Id 9.s\n", 153), [JobRef(job_id="9.s")])
    assert (answers.jobs, answers.absent, answers.trouble) == ({}, frozenset(), "")


def test_a_site_without_history_says_so(pbs: Any, done: Done) -> None:
    off = done("", "qstat: job_history_enable is set to false\n", 36)
    assert pbs.parse_history(off, [JobRef(job_id="9.s")]).trouble == ""
    assert pbs.parse_find(off, TAG).outcome is Outcome.ABSENT
    assert pbs.parse_find(done("", "qselect: cannot connect to server s\n", 162), TAG).outcome is Outcome.UNKNOWN


BROKEN = (
    '{"Jobs":{"9.pbs":{"job_state":"R","Variable_List":{"A":00123,"B":"x\ty"},"Submit_arguments":"-N "a" run.sh"}%s}}'
)


def test_broken_json_still_shows_our_job(pbs: Any, done: Done) -> None:
    answers = pbs.parse_status(done(BROKEN % ""), [JobRef(job_id="9.pbs")])
    assert answers.jobs["9.pbs"].state is JobState.RUNNING


def test_another_users_broken_record_hides_none_of_ours(pbs: Any, done: Done) -> None:
    out = BROKEN % ',"10.pbs":{"queue":"q","job_state":"Q"},"11.pbs":{"comment":"a"b}'
    answers = pbs.parse_status(done(out), [JobRef(job_id="10.pbs"), JobRef(job_id="11.pbs")])
    assert (set(answers.jobs), answers.absent) == ({"10.pbs"}, frozenset())
    assert "11.pbs" in answers.trouble


def test_an_end_in_broken_json_is_not_believed(pbs: Any, done: Done) -> None:
    out = '{"Jobs":{"1.s":{"comment":"x "y" z"},"9.pbs":{"job_state":"F","Exit_status":0}}}'
    assert pbs.parse_status(done(out), [JobRef(job_id="9.pbs")]).jobs["9.pbs"].state is JobState.UNKNOWN
    twice = BROKEN % ',"9.pbs":{"job_state":"F","Exit_status":0}'
    assert pbs.parse_status(done(twice), [JobRef(job_id="9.pbs")]).jobs == {}


def test_a_variable_cannot_play_an_end(pbs: Any, done: Done) -> None:
    out = "Job Id: 9.s\n    job_state = R\n    Variable_List = A=x\n    job_state = F\n    Exit_status = 0\n"
    assert pbs.parse_status(done(out), [JobRef(job_id="9.s")]).jobs["9.s"].state is JobState.RUNNING


@pytest.mark.parametrize(
    ("out", "argv", "outcome"),
    [
        ("7.s\n", ("qselect", "-N", TAG), Outcome.OK),
        ("12[].s\n", ("qselect", "-N", TAG), Outcome.OK),
        ("", ("qselect", "-N", TAG), Outcome.ABSENT),
        ("welcome\n", ("qselect", "-N", TAG), Outcome.UNKNOWN),
        (f"Job Id: 7.s\n    job_state = Q\n    Variable_List = A=1,DRAGOMAN_ATTEMPT={TAG}\n", ("qstat",), Outcome.OK),
        (f"Job Id: 7.s\n    job_state = Q\n    Variable_List = DRAGOMAN_TAG={TAG}\n", ("qstat", "-f"), Outcome.ABSENT),
        ('{"timestamp": 1, "pbs_server": "s"}', ("qstat", "-f", "-F", "json"), Outcome.ABSENT),
        ("", ("x",), Outcome.UNKNOWN),
    ],
)  # fmt: skip
def test_find(pbs: Any, done: Done, out: str, argv: tuple[str, ...], outcome: Outcome) -> None:
    """A job that was submitted from within ours inherits DRAGOMAN_TAG and is not the one."""
    assert pbs.parse_find(done(out, argv=argv), TAG).outcome is outcome


def test_our_jobs_are_listed_by_tag_and_owner(done: Done) -> None:
    from providers.schedulers.pbs import PbsDialect

    record = "Job Id: {}.s\n    job_state = Q\n    Job_Owner = {}@h\n    Variable_List = DRAGOMAN_ATTEMPT={}\n"
    out = record.format(1, "me", TAG) + record.format(2, "other", TAG) + record.format(3, "me", "no-tag")
    answers = PbsDialect(user="me").parse_list_tags(done(out))
    assert [(job_id, status.ref.tag) for job_id, status in answers.jobs.items()] == [("1.s", TAG)]
    assert PbsDialect().list_tags_commands() == []


@pytest.mark.parametrize(
    ("err", "rc", "outcome"),
    [
        ("", 0, Outcome.OK),
        ("qdel: Job has finished 1029.head01\n", 35, Outcome.OK),
        ("qdel: Request invalid for state of job MSG=invalid state for job - COMPLETE 3.s\n", 170, Outcome.OK),
        ("qdel: Unknown Job Id 999999.head01\n", 153, Outcome.ABSENT),
        ("qdel: Unauthorized Request  1002.head01\n", 159, Outcome.UNKNOWN),
        ("Connection refused\nCouldn't connect to cluster: head01\n", 162, Outcome.UNKNOWN),
    ],
)
def test_cancel(pbs: Any, done: Done, err: str, rc: int, outcome: Outcome) -> None:
    answer = pbs.parse_cancel(done("", err, rc, ("qdel", "3.s")))
    assert answer.outcome is outcome
    assert outcome is not Outcome.OK or answer.value == JobRef(job_id="3.s")


def test_one_id_a_cancel(pbs: Any) -> None:
    assert pbs.cancel_command(JobRef(job_id="12[].s")).argv == ("qdel", "12[].s")


def test_two_hundred_thousand_jobs(pbs: Any, done: Done) -> None:
    """Only asked jobs are read; the rest costs a look at their first line."""
    record = "Job Id: {}.s\n    Job_Name = j\n    job_state = Q\n    queue = workq\n    comment = Not Running: limit\n"
    answer = done("".join(record.format(number) for number in range(200_000)))
    refs = [JobRef(job_id=f"{number}.s") for number in range(0, 200_000, 500)]
    assert len(pbs.parse_status(answer, refs).jobs) == 400


def test_values_that_go_on_are_no_attributes() -> None:
    """A line that begins with a tab belongs to the value before it, whether that one is looked at or not."""
    text = (
        "Job Id: 12.head01\n    Job_Name = a\n    job_state = R\n    queue = q\n"
        "    Variable_List = X=1,\n\tExit_status = 0\n\tjob_state = C,Y=2\n    comment = long \n\tand short  \n"
        "    job_state = C\n\n"
    )
    for only in (None, frozenset({"job_state", "Exit_status", "comment", "queue"})):
        [record] = read_records(text, only=only).records
        assert record.values["job_state"] == "R"
        assert "Exit_status" not in record.values
        assert record.values["comment"] == "long and short"
    [whole] = read_records(text).records
    assert whole.values["Variable_List"] == "X=1,Exit_status = 0job_state = C,Y=2"
    assert read_records("Job Id: 12.head01\n    other = 1\n", only=frozenset({"queue"})).records[0].values == {}
    assert read_records("Job Id: 12.head01\nnothing\n", only=frozenset({"queue"})).trouble
