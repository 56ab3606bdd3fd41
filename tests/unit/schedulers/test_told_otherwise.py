"""Ends whose values were re-typed on the way, are missing, or contradict each other: none is a clean end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, JobStatus
from providers.registry import dialects
from providers.schedulers.flux_status import read_events


def condor(**fields: Any) -> JobStatus:
    out = json.dumps([{"ClusterId": "7", "ProcId": "0", "JobStatus": "4", **fields}]).encode()
    done = Completed(("condor_history",), 0, out, b"")
    return dialects.get("htcondor")().parse_history(done, [JobRef(job_id="7")]).jobs["7"]


@pytest.mark.parametrize("by_signal", [True, "true", "True", " TRUE ", 1, "1"])
def test_condor_tells_a_signal_in_many_ways(by_signal: object) -> None:
    for number in (9, "9"):
        status = condor(ExitBySignal=by_signal, ExitSignal=number, ExitCode=0)
        assert (status.state, status.signal, status.exit_code) == (JobState.FAILED, 9, None)


@pytest.mark.parametrize(
    ("fields", "state", "code"),
    [
        ({"ExitBySignal": "false", "ExitCode": "0"}, JobState.COMPLETED, 0),
        ({"ExitBySignal": "False", "ExitCode": "3"}, JobState.FAILED, 3),
        ({"ExitBySignal": 0, "ExitCode": 0}, JobState.COMPLETED, 0),
        ({"ExitCode": 0}, JobState.COMPLETED, 0),
        ({"ExitCode": 0, "ExitSignal": 11}, JobState.FAILED, None),
        ({"ExitBySignal": "undefined", "ExitCode": 0}, JobState.UNKNOWN, None),
        ({"ExitBySignal": [], "ExitCode": 0}, JobState.UNKNOWN, None),
        ({"ExitBySignal": "false", "ExitCode": "x"}, JobState.UNKNOWN, None),
    ],
)
def test_condor_s_codes(fields: dict[str, Any], state: JobState, code: int | None) -> None:
    status = condor(**fields)
    assert (status.state, status.exit_code) == (state, code)


SUBMIT = [("submit", {"urgency": 16}), ("depend", {}), ("priority", {"priority": 16}), ("alloc", {}), ("start", {})]


def events(*last: tuple[str, dict[str, Any]]) -> JobStatus:
    lines = [
        {"timestamp": 1.7e9 + at, "name": name, "context": told} for at, (name, told) in enumerate([*SUBMIT, *last])
    ]
    status = read_events(JobRef(job_id="1234567"), "\n".join(map(json.dumps, lines)))
    assert status is not None
    return status


@pytest.mark.parametrize(
    ("severity", "state"),
    [(0, JobState.OUT_OF_MEMORY), ("0", JobState.OUT_OF_MEMORY), (None, JobState.OUT_OF_MEMORY),
     (1, JobState.COMPLETED), ("1", JobState.COMPLETED), ("7", JobState.COMPLETED)],
)  # fmt: skip
def test_flux_s_severity_is_a_number_however_written(severity: object, state: JobState) -> None:
    told = {"type": "oom", "severity": severity, "note": "x"}
    status = events(("exception", told), ("finish", {"status": 0}), ("clean", {}))
    assert (status.state, bool(status.warnings)) == (state, state is JobState.COMPLETED)


@pytest.mark.parametrize(
    ("finish", "state", "code"),
    [({"status": "0"}, JobState.COMPLETED, 0), ({"status": "256"}, JobState.FAILED, 1), ({}, JobState.UNKNOWN, None),
     ({"status": None}, JobState.UNKNOWN, None), ({"status": "x"}, JobState.UNKNOWN, None),
     ({"status": True}, JobState.UNKNOWN, None), ({"status": -1}, JobState.UNKNOWN, None)],
)  # fmt: skip
def test_flux_s_finish_without_a_status(finish: dict[str, Any], state: JobState, code: int | None) -> None:
    status = events(("finish", finish), ("clean", {}))
    assert (status.state, status.exit_code) == (state, code)


@pytest.mark.parametrize(
    ("fields", "state"),
    [({"waitstatus": 256}, JobState.FAILED), ({"waitstatus": "256"}, JobState.FAILED),
     ({"waitstatus": 9}, JobState.FAILED), ({"returncode": 2}, JobState.FAILED),
     ({"waitstatus": 0}, JobState.COMPLETED), ({}, JobState.COMPLETED)],
)  # fmt: skip
def test_flux_s_result_against_its_wait_status(fields: dict[str, Any], state: JobState) -> None:
    out = json.dumps({"jobs": [{"id": 1234567, "state": "INACTIVE", "result": "COMPLETED", "t_run": 1.0, **fields}]})
    done = Completed(("flux", "jobs"), 0, out.encode(), b"")
    assert dialects.get("flux")().parse_status(done, [JobRef(job_id="1234567")]).jobs["1234567"].state is state


@pytest.mark.parametrize(
    ("columns", "state"),
    [({}, JobState.UNKNOWN), ({"START_TIME": ""}, JobState.UNKNOWN), ({"EXEC_HOST": "-"}, JobState.UNKNOWN),
     ({"START_TIME": None, "EXEC_HOST": None}, JobState.UNKNOWN),
     ({"START_TIME": "-", "EXEC_HOST": ""}, JobState.NEVER_RAN), ({"EXEC_HOST": "n1"}, JobState.FAILED)],
)  # fmt: skip
def test_lsf_tells_a_start_in_two_columns(columns: dict[str, Any], state: JobState) -> None:
    row = {"JOBID": "78", "STAT": "EXIT", "EXIT_CODE": "1", **columns}
    done = Completed(("bjobs",), 0, json.dumps({"JOBS": 1, "RECORDS": [row]}).encode(), b"")
    assert dialects.get("lsf")().parse_status(done, [JobRef(job_id="78")]).jobs["78"].state is state
