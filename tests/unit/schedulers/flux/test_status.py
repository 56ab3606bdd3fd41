"""Jobs as Flux shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.observation import Outcome
from dragoman.site import Site
from providers.registry import dialects
from providers.schedulers.flux_status import read_events
from providers.schedulers.flux_values import WaitStatus, read_duration, read_flux_id, read_idset, read_time_limit

FLUX: Any = dialects.get("flux")()
TAG = "dgm-0123456789ab-a0"
ID = 474543554560
Done = Callable[..., Any]


def one(**job: object) -> JobStatus:
    out = json.dumps({"id": ID, **job}).encode()
    status: JobStatus = FLUX.parse_status(Completed(("flux", "jobs"), 0, out, b""), [JobRef(job_id=str(ID))]).jobs[
        str(ID)
    ]
    return status


@pytest.mark.parametrize(
    ("job", "state"),
    [
        ({"state": "DEPEND"}, "pending"),
        ({"state": "PRIORITY"}, "pending"),
        ({"state": "SCHED"}, "pending"),
        ({"state": "SCHED", "urgency": 0}, "held"),
        ({"state": "RUN"}, "running"),
        ({"state": "CLEANUP"}, "completing"),
        ({"state": "INACTIVE"}, "unknown"),
        ({"state": "INACTIVE", "result": "COMPLETED"}, "completed"),
        ({"state": "INACTIVE", "result": "FAILED", "t_run": 5.0}, "failed"),
        ({"state": "INACTIVE", "result": "CANCELED"}, "cancelled"),
        ({"state": "INACTIVE", "result": "TIMEOUT"}, "timed-out"),
        ({"state": "INACTIVE", "result": "NOVEL"}, "unknown"),
        ({"state": "COMPLETED"}, "unknown"),
        ({"state": "NOVEL"}, "unknown"),
        ({}, "unknown"),
        ({"state": "INACTIVE", "result": "FAILED", "exception": {"occurred": True, "severity": 0, "type": "alloc",
                                                                "note": "unsatisfiable"}}, "never-ran"),
        ({"state": "INACTIVE", "result": "FAILED", "t_run": 5.0,
          "exception": {"occurred": True, "severity": 0, "type": "node-failure", "note": "lost contact with n1"}},
         "node-failed"),
        ({"state": "INACTIVE", "result": "FAILED", "t_run": 5.0,
          "exception": {"occurred": True, "severity": 0, "type": "oom", "note": "Memory cgroup out of memory"}},
         "out-of-memory"),
    ],
)  # fmt: skip
def test_states(job: dict[str, object], state: str) -> None:
    assert one(**job).state.value == state


@pytest.mark.parametrize(
    ("raw", "exit_code", "signal"), [(0, 0, None), (256, 1, None), (9, None, 9), (139, None, 11), (35072, 137, None)]
)
def test_a_wait_status_is_no_exit_code(raw: int, exit_code: int | None, signal: int | None) -> None:
    assert WaitStatus.decode(raw) == (exit_code, signal)


@pytest.mark.parametrize(
    ("job", "exit_code", "signal"),
    [
        ({"waitstatus": 768, "returncode": 3}, 3, None),
        ({"waitstatus": 36352, "returncode": 142}, 142, 14),
        ({"waitstatus": 9, "returncode": -9}, None, 9),
        ({"returncode": 2}, 2, None),
        ({"returncode": -128}, None, None),
        ({}, None, None),
    ],
)
def test_exit_codes(job: dict[str, object], exit_code: int | None, signal: int | None) -> None:
    status = one(state="INACTIVE", result="FAILED", t_run=1.7e9, **job)
    assert (status.exit_code, status.signal) == (exit_code, signal)
    assert one(state="RUN", **job).exit_code is None


def test_a_warning_is_no_end() -> None:
    status = one(state="RUN", exception={"occurred": True, "severity": 2, "type": "x", "note": "slow"})
    assert (status.state, status.reason, status.warnings) == (JobState.RUNNING, "", ("x: slow",))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("474543554560", ID), ("\u0192DTznkvT", ID), ("fDTznkvT", ID), ("0x6e7d000000", ID), ("0", 0),
        ("f", None), ("f0OIl", None), ("-1", None), ("x", None), ("", None), ("f" + "z" * 11, None),
    ],
)  # fmt: skip
def test_ids_in_every_form(text: str, number: int | None) -> None:
    assert read_flux_id(text) == number


@pytest.mark.parametrize(
    ("out", "job_id"),
    [
        ("\u0192DTznkvT\n", str(ID)),
        ("fDTznkvT\n", str(ID)),
        ("Using the debug queue\nfine\nfDTznkvT\n", str(ID)),
        ("fine\n", None),
        ("", None),
    ],
)
def test_accepted(done: Done, out: str, job_id: str | None) -> None:
    answer = FLUX.parse_submit(done(out, "note: default bank used\n"))
    assert (answer.job.job_id if answer.job is not None else None) == job_id
    assert (answer.doubt == "") == (job_id is not None)


@pytest.mark.parametrize(
    ("err", "rc", "meaning"),
    [
        ("flux: `mini' is not a flux command. See 'flux --help'\n", 1, ReasonClass.NEVER),
        ("[Errno 75] unsatisfiable request: need 40 exclusive node(s), only 3 eligible\n", 1, ReasonClass.NEVER),
        ("flux-batch: ERROR: Unable to connect to Flux: Operation not permitted\n", 1, ReasonClass.PERSON),
        (
            "flux-batch: ERROR: Unable to connect to Flux: broker socket /run/flux/local was not found\n",
            1,
            ReasonClass.WAIT,
        ),
    ],
)
def test_refused(done: Done, err: str, rc: int, meaning: ReasonClass) -> None:
    answer = FLUX.parse_submit(done("", err, rc))
    assert (answer.job, answer.doubt, answer.reason_class) == (None, "", meaning)
    assert answer.refused


@pytest.mark.parametrize(
    ("out", "err", "rc"),
    [
        ("fDTznkvT\n", "broken pipe\n", 1),
        ("", "", 143),
        ("", "flux-batch: ERROR: job-ingest.submit: Connection timed out\n", 1),
    ],
)  # fmt: skip
def test_in_doubt(done: Done, out: str, err: str, rc: int) -> None:
    assert FLUX.parse_submit(done(out, err, rc)).doubt


@pytest.mark.parametrize(
    ("out", "err", "rc", "absent"),
    [
        ('{"jobs": []}', "JobID 7 unknown\n", 0, {"7"}),
        ("", "JobID 7 unknown\n", 1, {"7"}),
        ("null", "JobID 7 unknown\nJobID f8 unknown\n", 0, {"7"}),
        ('{"jobs": []}', "", 0, set()),
        ("", "", 0, set()),
        ('{"jobs": []}', "JobID 7 unknown\nflux-jobs: ERROR: timeout\n", 1, set()),
        ("", "flux-jobs: ERROR: Unable to connect to Flux: Operation not permitted\n", 1, set()),
    ],
)
def test_absent_is_only_who_is_named(done: Done, out: str, err: str, rc: int, absent: set[str]) -> None:
    answers = FLUX.parse_status(done(out, err, rc), [JobRef(job_id="7")])
    assert (dict(answers.jobs), set(answers.absent)) == ({}, absent)


SUBMIT = [{"name": "submit", "timestamp": 1.7e9, "context": {"urgency": 16}}, {"name": "depend", "timestamp": 1.7e9},
          {"name": "priority", "timestamp": 1.7e9, "context": {"priority": 16}}]  # fmt: skip
CANCEL = {"name": "exception", "timestamp": 1.7e9 + 1,
          "context": {"type": "cancel", "severity": 0, "note": "interrupted by ctrl-C", "userid": 7}}  # fmt: skip


def events(*more: object) -> JobStatus:
    status = read_events(JobRef(job_id="7"), "\n".join(map(json.dumps, [*SUBMIT, *more])))
    assert status is not None
    return status


def test_a_cancel_that_was_asked_for_is_no_end_and_told_once() -> None:
    asked = events(*[CANCEL] * 7)
    assert (asked.state, asked.reason) == (JobState.COMPLETING, "cancel: interrupted by ctrl-C")
    ended = events(*[CANCEL] * 7, {"name": "clean", "timestamp": 1.7e9 + 60})
    assert (ended.state, ended.cancelled_by) == (JobState.CANCELLED, "7")


def test_an_exception_of_another_severity_is_a_warning() -> None:
    slow = {"name": "exception", "timestamp": 1.7e9, "context": {"type": "x", "severity": 3, "note": "slow"}}
    alloc = {"name": "alloc", "timestamp": 1.7e9}
    status = events(slow, alloc)
    assert (status.state, status.warnings) == (JobState.RUNNING, ("x: slow",))
    end = [{"name": "finish", "timestamp": 1.7e9, "context": {"status": 0}}, {"name": "clean", "timestamp": 1.7e9}]
    assert events(slow, alloc, *end).state is JobState.COMPLETED
    assert events(slow, alloc, end[0]).state is JobState.COMPLETING


def test_a_dependency_that_is_met_is_no_reason_any_more() -> None:
    waits = {"name": "dependency-add", "timestamp": 1.0, "context": {"description": "after-success=f1"}}
    gone = {**waits, "name": "dependency-remove"}
    assert (events(waits).reason, events(waits, gone).reason) == ("after-success=f1", "")


@pytest.mark.parametrize(
    ("out", "argv", "outcome"),
    [
        (f"474543554560|a|b.{TAG}\n7|other\n", ("flux", "jobs"), Outcome.OK),
        (f"7|{TAG}.other\n8|x{TAG}\n", ("flux", "jobs"), Outcome.ABSENT),
        ("", ("flux", "jobs"), Outcome.ABSENT),
        ("JOBID NAME\n", ("flux", "jobs"), Outcome.UNKNOWN),
        (json.dumps({"jobs": [{"id": 7, "name": f"a.{TAG}"}]}), ("flux", "jobs"), Outcome.OK),
        ("", ("x",), Outcome.UNKNOWN),
    ],
)
def test_find(done: Done, out: str, argv: tuple[str, ...], outcome: Outcome) -> None:
    assert FLUX.parse_find(done(out, argv=argv), TAG).outcome is outcome


def test_our_jobs_are_listed_by_tag(done: Done) -> None:
    jobs = [{"id": 7, "name": f"a.{TAG}", "state": "RUN"}, {"id": 8, "name": "mine", "state": "RUN"}]
    answers = FLUX.parse_list_tags(done(json.dumps({"jobs": jobs})))
    assert [(job_id, status.ref.tag) for job_id, status in answers.jobs.items()] == [("7", TAG)]


def test_hold_and_release_are_urgencies() -> None:
    ref = JobRef(job_id="7")
    assert FLUX.hold_command(ref).argv == ("flux", "job", "urgency", "7", "hold")
    assert FLUX.release_command(ref).argv == ("flux", "job", "urgency", "7", "default")


def test_a_site_may_name_its_instance() -> None:
    from providers.schedulers.flux import FluxDialect

    dialect = FluxDialect.for_site(Site(name="here", scheduler="flux", paths={"flux_uri": "local:///run/x"}))
    for command in (dialect.cancel_command(JobRef(job_id="7")), *dialect.workload_commands()):
        assert command.environment["FLUX_URI"] == "local:///run/x"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30), ("1.5h", 5400), ("2d", 172800), ("100ms", 0.1), ("inf", float("inf")), ("7", 7), ("10x", None),
        ("", None), ("1970-01-02T02:00:00", 93600),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert read_duration(text) == seconds


def test_a_bare_time_limit_is_minutes() -> None:
    assert [read_time_limit(text) for text in ("90", "90s", "0", "inf", "x")] == [5400, 90, None, None, None]


@pytest.mark.parametrize(
    ("text", "members"), [("0-2,5", [0, 1, 2, 5]), ("[3]", [3]), ("", []), ("3-1", None), ("a", None)]
)
def test_idsets(text: str, members: list[int] | None) -> None:
    assert read_idset(text) == members


def test_two_hundred_thousand_jobs(done: Done) -> None:
    jobs = [{"id": number, "state": "SCHED", "name": "j", "annotations": {}} for number in range(200_000)]
    answer = done(json.dumps({"jobs": jobs}))
    refs = [JobRef(job_id=str(number)) for number in range(0, 200_000, 500)]
    assert len(FLUX.parse_status(answer, refs).jobs) == 400


QUEUES = "||y|y|inf|inf|0-inf|0-inf|0-inf\n"
RESOURCES = json.dumps(
    {"execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-3"}}], "nodelist": ["n[1-2]"]}}
)


def workload(*texts: str | None) -> Any:
    return FLUX.parse_workload(
        [Completed(("flux",), 0 if text is not None else 1, (text or "").encode(), b"") for text in texts]
    )


def test_an_instance_without_named_queues() -> None:
    value = workload(QUEUES, RESOURCES, RESOURCES, None, "|RUN\n|SCHED\n|SCHED\n", None, None).value
    queue = value.queues[0]
    assert (queue.name, queue.usable.value, queue.default, queue.walltime_unlimited) == ("anonymous", "yes", True, True)
    assert (queue.jobs_pending, queue.jobs_running, queue.nodes_total) == (2, 1, 2)
    assert (value.groups[0].queues, value.groups[0].nodes, value.groups[0].cpus_free) == ((), 2, 8)


@pytest.mark.parametrize(
    ("row", "usable", "reason"),
    [
        ("a|a|y|n|5m|2h|0-3|0-inf|0-inf", "no", "scheduling of the queue is stopped"),
        ("a|a|n|y|5m|2h|0-3|0-inf|0-inf", "no", "submission to the queue is disabled"),
        ("a|a*|y|y|5m|2h|1-3|0-64|0-8", "yes", ""),
    ],
)
def test_queues(row: str, usable: str, reason: str) -> None:
    queue = workload(f"{row}\n", RESOURCES).value.queues[0]
    assert (queue.usable.value, queue.reason) == (usable, reason)
    assert (queue.max_walltime_s, queue.default_walltime_s, queue.max_nodes) == (7200, 300, 3)


def test_down_and_busy_nodes() -> None:
    free = RESOURCES.replace("0-1", "1").replace("0-3", "0-1").replace("n[1-2]", "n2")
    down = RESOURCES.replace("0-1", "0").replace("n[1-2]", "n1")
    group = workload(QUEUES, RESOURCES, free, down).value.groups[0]
    assert (group.nodes, group.nodes_up, group.nodes_idle, group.cpus_free, group.largest_free_cpus) == (2, 1, 0, 2, 2)


junk = st.text(st.sampled_from('{}[]",:\n 0129abidstaexrulINACTIVE'), max_size=200)


@given(out=junk, err=junk)
def test_garbage_ends_no_job(out: str, err: str) -> None:
    done = Completed(("flux", "jobs"), 0, out.encode(), err.encode())
    answers = FLUX.parse_status(done, [JobRef(job_id="1"), JobRef(job_id="2")])
    assert not any(status.state.final for status in answers.jobs.values())
    assert answers.absent == frozenset()
    FLUX.parse_events(done, JobRef(job_id="1"))


def test_a_virtual_queue_has_its_parents_nodes() -> None:
    config = json.dumps(
        {"queues": {"all": {"requires": ["a"]}, "fast": {"parent": "all"}, "other": {"requires": ["b"]}}}
    )
    rows = "".join(f"{name}|{name}|y|y|inf|inf|0-inf|0-inf|0-inf\n" for name in ("all", "fast", "other"))
    nodes = json.loads(RESOURCES)
    nodes["execution"]["properties"] = {"a": "0", "b": "1"}
    groups = workload(rows, json.dumps(nodes), None, None, None, config, None).value.groups
    assert [group.queues for group in groups] == [("all", "fast"), ("other",)]
