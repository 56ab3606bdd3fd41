"""An array of which some tasks are seen: it ends when all are, or when the scheduler tells the end of the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.protocols import JobAnswers
from providers.attempt_look import AttemptLook, ExitRecord
from providers.registry import dialects
from providers.schedulers.combining import accounted
from providers.schedulers.merging import by_exit_record, partly_seen, with_accounts

TAG = "dgm-0123456789ab-a0"


def bjobs(states: dict[int, str], name: str) -> str:
    rows = [
        {"JOBID": "55", "JOBINDEX": str(index), "STAT": state, "JOB_NAME": name, "EXIT_CODE": "", "EXIT_REASON": "",
         "START_TIME": "May 28 12:45", "EXEC_HOST": "h1"}
        for index, state in states.items()
    ]  # fmt: skip
    return json.dumps({"JOBS": len(rows), "RECORDS": rows})


def bhist(codes: dict[int, int], name: str) -> str:
    return "".join(
        f"Job <55[{index}]>, Job Name <{name}>, User <u>, Command <x>\nThu Apr 18 10:00:41: Dispatched to <h1>;\n"
        f"Thu Apr 18 10:01:41: {f'Exited with exit code {code}' if code else 'Done successfully'}. The CPU time;\n"
        for index, code in codes.items()
    )


def qstat(codes: dict[int, int]) -> str:
    return "".join(
        f"Job Id: 55[{index}].srv\n    job_state = C\n    exit_status = {code}\n    start_time = 1\n\n"
        for index, code in codes.items()
    )


def qacct(codes: dict[int, int]) -> str:
    return "".join(
        f"=====\njobname a\njobnumber 55\ntaskid {index}\nfailed 0\nexit_status {code}\n"
        for index, code in codes.items()
    )


def ads(codes: dict[int, int], array: str = "") -> str:
    own = {"DragomanArray": array} if array else {}
    return json.dumps(
        [
            {"ClusterId": 55, "ProcId": index - 1, "JobStatus": 4, "ExitBySignal": False, "ExitCode": code, **own}
            for index, code in codes.items()
        ]
    )


def oarstat(codes: dict[int, int]) -> str:
    return json.dumps(
        {
            str(54 + index): {"state": "Terminated", "exit_code": code << 8, "array_id": 55, "array_index": index}
            for index, code in codes.items()
        }
    )


def read(name: str, out: str, ref: JobRef, *, history: bool = False) -> JobStatus:
    dialect = dialects.get(name)()
    program = {"pbs": "qstat", "torque": "qstat", "sge": "qacct", "htcondor": "condor_history"}.get(name, "x")
    done = Completed((program,), 0, out.encode(), b"")
    answers: JobAnswers = dialect.parse_history(done, [ref]) if history else dialect.parse_status(done, [ref])
    return answers.jobs[ref.job_id]


SOURCES: list[tuple[str, Any, bool]] = [
    ("lsf", lambda codes: bjobs({at: "EXIT" if code else "DONE" for at, code in codes.items()}, "a[7]"), False),
    ("lsf", lambda codes: bhist(codes, "a[7]"), True),
    ("torque", qstat, False), ("pbs", qstat, False), ("sge", qacct, True), ("htcondor", ads, False),
    ("htcondor", ads, True), ("oar", oarstat, False),
]  # fmt: skip


def ref_of(name: str, size: int | None) -> JobRef:
    return JobRef(job_id="55[].srv" if name in ("pbs", "torque") else "55", tag=TAG, array_size=size)


@pytest.mark.parametrize(("name", "write", "history"), SOURCES)
@pytest.mark.parametrize(("codes", "size"), [({3: 0}, 3), ({1: 0, 2: 0}, 3), ({1: 1, 2: 0}, 10)])
def test_some_tasks_are_no_end(name: str, write: Any, history: bool, codes: dict[int, int], size: int) -> None:
    text = write(codes).replace("job_state = C", "job_state = F") if name == "pbs" else write(codes)
    status = read(name, text, ref_of(name, size), history=history)
    assert (status.state, status.exit_code, status.ended_at) == (JobState.UNKNOWN, None, None)
    assert status.reason.startswith(f"{len(codes)} of {size} tasks")
    assert ("not well" in status.reason) is any(codes.values())
    assert partly_seen(status)


@pytest.mark.parametrize(("name", "write", "history"), SOURCES)
@pytest.mark.parametrize(("code", "state"), [(0, JobState.COMPLETED), (1, JobState.FAILED)])
def test_all_tasks_are_an_end(name: str, write: Any, history: bool, code: int, state: JobState) -> None:
    codes = {1: 0, 2: code, 3: 0}
    text = write(codes).replace("job_state = C", "job_state = F") if name == "pbs" else write(codes)
    if name == "pbs":
        text = text.replace("exit_status", "Exit_status").replace("start_time", "stime")
    assert read(name, text, ref_of(name, 3), history=history).state is state


@pytest.mark.parametrize(("name", "write", "history"), [one for one in SOURCES if one[0] in ("lsf", "torque", "sge")])
def test_where_nobody_tells_how_many_there_are(name: str, write: Any, history: bool) -> None:
    status = read(name, write({3: 0}), ref_of(name, None), history=history)
    assert status.state is JobState.UNKNOWN
    assert "1 of an unknown number of tasks" in status.reason


def test_the_scheduler_tells_how_many_there_are() -> None:
    ref = JobRef(job_id="55")
    assert read("lsf", bjobs({3: "DONE"}, "a[1-3]"), ref).state is JobState.UNKNOWN
    assert read("lsf", bjobs({1: "DONE", 2: "DONE", 3: "DONE"}, "a[1-3]"), ref).state is JobState.COMPLETED
    assert read("lsf", bhist({1: 0, 3: 0}, "a[1-5:2]%2"), ref, history=True).state is JobState.UNKNOWN
    assert read("htcondor", ads({1: 0}, "1-10"), ref).state is JobState.UNKNOWN
    assert read("htcondor", ads(dict.fromkeys(range(1, 11), 0), "1-10"), ref).state is JobState.COMPLETED


def test_queue_history_and_records_together() -> None:
    ref = JobRef(job_id="55", array_size=3)
    queue = read("lsf", bjobs({3: "DONE"}, "a[3]"), ref)
    partly = with_accounts(queue, read("lsf", bhist({1: 1}, "a"), ref, history=True))
    assert (partly.state, set(partly.array_tasks)) == (JobState.UNKNOWN, {"1", "3"})
    whole = with_accounts(queue, read("lsf", bhist({1: 1, 2: 0}, "a"), ref, history=True))
    assert (whole.state, whole.array_tasks["1"]) == (JobState.FAILED, JobState.FAILED)
    record = ExitRecord(0, None, None, None, "55", "0", "n1")
    look = AttemptLook("/c", 0, owner="55", exits={"1": record, "2": record})
    ended = by_exit_record(ref, queue, look, accounting_may_come=False)
    assert ended is not None
    assert ended.state is JobState.COMPLETED
    fewer = by_exit_record(ref, queue, AttemptLook("/c", 0, owner="55", exits={"2": record}), accounting_may_come=False)
    assert fewer is not None
    assert fewer.state is JobState.UNKNOWN


def test_one_task_that_runs_is_no_doubt() -> None:
    running = JobStatus(ref=JobRef(job_id="1"), state=JobState.RUNNING, array_tasks={"2": JobState.RUNNING})
    assert accounted(running, 5).state is JobState.RUNNING
