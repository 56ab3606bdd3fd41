"""Reported traps of PBS, Flux and OAR, each by variants of its kind: what is not shown is never an end."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.observation import Outcome
from dragoman.protocols import Dialect, JobAnswers
from providers.registry import dialects

FLUX, PBS, TORQUE, OAR = (dialects.get(name)() for name in ("flux", "pbs", "torque", "oar"))
S = JobState


def done(out: str = "", err: str = "", rc: int = 0, argv: tuple[str, ...] = ("x",)) -> Completed:
    return Completed(argv, rc, out.encode(), err.encode())


def flux_job(**fields: object) -> JobStatus:
    found: JobAnswers = FLUX.parse_status(done(json.dumps({"id": 1, "t_run": 1.0, **fields})), [JobRef(job_id="1")])
    return found.jobs["1"]


def oar_job(**fields: object) -> JobStatus:
    found: JobAnswers = OAR.parse_status(done(json.dumps({"5": fields})), [JobRef(job_id="5")])
    return found.jobs["5"]


@pytest.mark.parametrize(
    ("state", "result", "meant"),
    [
        ("INACTIVE", "", S.UNKNOWN), ("INACTIVE", "CD", S.COMPLETED), ("INACTIVE", "TO", S.TIMED_OUT),
        ("INACTIVE", "CANCELED", S.CANCELLED), ("INACTIVE", "WEIRD", S.UNKNOWN), ("COMPLETED", "", S.UNKNOWN),
        ("CLEANUP", "FAILED", S.COMPLETING), ("inactive", "completed", S.UNKNOWN), ("ACTIVE", "", S.UNKNOWN),
    ],
)  # fmt: skip
def test_a_flux_job_is_over_by_its_result_alone(state: str, result: str, meant: JobState) -> None:
    assert flux_job(state=state, result=result).state is meant


@pytest.mark.parametrize("severity", [0, "0"])
@pytest.mark.parametrize("kind", ["cancel", "timeout", "oom"])
@pytest.mark.parametrize("state", ["SCHED", "RUN", "CLEANUP"])
def test_a_fatal_exception_is_asked_for_and_not_yet_an_end(severity: object, kind: str, state: str) -> None:
    told = flux_job(state=state, exception={"occurred": True, "severity": severity, "type": kind, "note": "x"})
    assert not told.state.final
    assert told.warnings == ()


def test_another_severity_is_a_warning() -> None:
    told = flux_job(state="RUN", exception={"occurred": True, "severity": 3, "type": "oom", "note": "near the limit"})
    assert (told.state, told.warnings) == (S.RUNNING, ("oom: near the limit",))


@pytest.mark.parametrize(
    ("raw", "code", "signal"),
    [
        (256, 1, None), ("256", 1, None), (32512, 127, None), (36608, 143, 15), (15, None, 15), (134, None, 6),
        (True, None, None), (-1, None, None), (1e3, None, None), ("many", None, None),
    ],
)  # fmt: skip
def test_a_raw_wait_status_is_taken_apart_whatever_its_type(raw: object, code: int | None, signal: int | None) -> None:
    told = flux_job(state="INACTIVE", result="FAILED", waitstatus=raw)
    assert (told.state, told.exit_code, told.signal) == (S.FAILED, code, signal)


@pytest.mark.parametrize(
    ("raw", "state", "code", "signal"),
    [
        (256, S.FAILED, 1, None), ("768", S.FAILED, 3, None), (34304, S.FAILED, 134, None), (139, S.FAILED, None, 11),
        (None, S.UNKNOWN, None, None), (True, S.UNKNOWN, None, None), (3.0, S.UNKNOWN, None, None),
        (-1, S.UNKNOWN, None, None),
    ],
)  # fmt: skip
def test_terminated_is_judged_by_the_exit_code(
    raw: object, state: JobState, code: int | None, signal: int | None
) -> None:
    told = oar_job(state="Terminated", exit_code=raw)
    assert (told.state, told.exit_code, told.signal) == (state, code, signal)


@pytest.mark.parametrize(
    ("dialect", "err"),
    [
        (FLUX, "flux: 'batch' is not a flux command. See 'flux help'"), (FLUX, "flux-batch: error: argument -t: bad"),
        (FLUX, "flux-jobs: error: unrecognized arguments: --json"), (PBS, "qsub: invalid option -- 'J'"),
        (PBS, "qsub: illegal option -- x\nusage: qsub [-a date]"), (TORQUE, "qstat: conflicting options. usage: ..."),
    ],
)  # fmt: skip
def test_a_wrong_use_of_a_tool_is_never_a_jobs_state(dialect: Dialect, err: str) -> None:
    submit = dialect.parse_submit(done("", err, 2))
    assert submit.refused
    assert submit.reason_class is ReasonClass.NEVER or "argument -t" in err
    answers = dialect.parse_status(done("", err, 2), [JobRef(job_id="1")])
    assert (answers.jobs, answers.absent, bool(answers.trouble)) == ({}, frozenset(), True)
    assert dialect.parse_find(done("", err, 2), "dgm-0123456789ab-a0").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("out", "rc", "job_id"),
    [
        ("[ADMISSION RULE] x\nOAR_JOB_ID=1\nOAR_JOB_ID=2\nOAR_ARRAY_ID=1\n", 0, "1"), ("OAR_JOB_ID=12\r\n", 0, "12"),
        ("# OAR_JOB_ID=5 is yours\nOAR_JOB_ID=7\nbye\n", 0, "7"), ("OAR_JOB_ID=9\n", 1, None),
        ("OAR_JOB_ID=-5\n", 248, None), ('{"job_id": 12}\n', 0, None), ("Your job 12\n", 0, None),
    ],
)  # fmt: skip
def test_the_id_line_counts_wherever_it_stands(out: str, rc: int, job_id: str | None) -> None:
    answer = OAR.parse_submit(done(out, "", rc))
    assert (answer.job.job_id if answer.job is not None else None) == job_id


def pbs_states(dialect: type, ids: Sequence[str], out: str = "", err: str = "", rc: int = 0) -> JobAnswers:
    found: JobAnswers = dialect().parse_status(done(out, err, rc, ("qstat", *ids)), [JobRef(job_id=one) for one in ids])
    return found


@pytest.mark.parametrize("dialect", [type(PBS), type(TORQUE)], ids=["pbs", "torque"])
@pytest.mark.parametrize(
    ("err", "rc", "absent"),
    [
        ("qstat: Unknown Job Id 4.s\nqstat: Unknown Job Id 7.s\n", 153, {"4.s", "7.s"}),
        ("qstat: Unknown Job Id 4.s\nqstat: cannot connect to server s\n", 153, set()),
        ("qstat: Unknown Job Id Error 4.s.example.org\n", 153, {"4.s"}), ("", 0, set()),
        ("qstat: 4.s Job has finished, use -x or -H to obtain historical job information\n", 35, {"4.s"}),
    ],
)  # fmt: skip
def test_absent_is_who_is_named(dialect: type, err: str, rc: int, absent: set[str]) -> None:
    answers = pbs_states(dialect, ["4.s", "7.s"], err=err, rc=rc)
    assert not answers.jobs
    assert answers.absent == frozenset(absent)


@pytest.mark.parametrize(
    ("word", "code", "state"),
    [
        ("F", "0", S.COMPLETED), ("X", "0", S.COMPLETED), ("C", "0", S.COMPLETED), ("C", "3", S.FAILED),
        ("F", "", S.UNKNOWN), ("C", "", S.UNKNOWN), ("Z", "0", S.UNKNOWN), ("f", "0", S.UNKNOWN), ("M", "0", S.UNKNOWN),
        ("E", "0", S.COMPLETING), ("B", "0", S.RUNNING),
    ],
)  # fmt: skip
def test_a_letter_is_an_end_only_with_an_exit_value(word: str, code: str, state: JobState) -> None:
    told = f"    Exit_status = {code}\n" if code else ""
    answers = pbs_states(type(PBS), ["1.s"], f"Job Id: 1.s\n    job_state = {word}\n{told}")
    assert answers.jobs["1.s"].state is state


@pytest.mark.parametrize(
    "out",
    [
        '{"Jobs":{"8.pbs":{"job_state":"R","Submit_arguments":"-N "a" x"},"9.pbs":{"job_state":"F","Exit_status":0}}}',
        '{"Jobs":{"9.pbs":{"job_state":"F","Exit_status":0,"Variable_List":{"A":007}}}}',
        '{"Jobs":{"9.pbs":{"job_state":"R","comm',
    ],
)
def test_no_end_is_believed_of_broken_json(out: str) -> None:
    told = pbs_states(type(PBS), ["9.pbs"], out).jobs["9.pbs"]
    assert told.state in (S.RUNNING, S.UNKNOWN)
    assert told.warnings == ("read from broken JSON",)
