"""Faults that users of other tools reported, with variants of each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Outcome
from dragoman.shape import Memory, Shape
from providers.attempt_look import AttemptLook, ExitRecord
from providers.schedulers.kubernetes import KubernetesDialect
from providers.schedulers.kubernetes_access import read_access
from providers.schedulers.kubernetes_job import job_manifest
from providers.schedulers.kubernetes_units import object_name, read_quantity, translate_memory
from providers.schedulers.lsf import LsfDialect
from providers.schedulers.lsf_history import joined, read_history
from providers.schedulers.merging import by_exit_record
from providers.schedulers.oar import OarDialect
from providers.schedulers.sge import SgeDialect

Finish = Callable[..., Completed]
K8S, LSF, OAR, SGE = (
    KubernetesDialect(),
    LsfDialect(lambda: datetime(2024, 6, 1, tzinfo=UTC)),
    OarDialect(),
    SgeDialect(),
)
TAG = "dgm-0123456789ab-a0"


# Kubernetes


@pytest.mark.parametrize("length", [53, 54, 55, 80, 300])
def test_names_fit_in_63_characters(length: int) -> None:
    name = object_name("a" * length, "0123abcd")
    assert len(name) == min(length + 9, 63)
    assert name.endswith("-0123abcd")


@pytest.mark.parametrize("base", ["x" * 46 + "-" + "y" * 30, "LAMMPS run_1", "-lead", "é", "", "a" * 54 + "."])
def test_names_are_names(base: str) -> None:
    name = object_name(base, "0123abcd")
    assert len(name) <= 63
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name[0].isalnum()
    assert name[-1].isalnum()


@pytest.mark.parametrize(
    ("one", "other"), [("a" * 70 + "b", "a" * 70 + "c"), ("a" * 54, "a" * 55), ("A b", "a-b"), ("run_1", "run.1")]
)
def test_different_names_stay_different(one: str, other: str) -> None:
    assert object_name(one, "0123abcd") != object_name(other, "0123abcd")


def things(*items: dict[str, Any]) -> Completed:
    return Completed(("kubectl",), 0, json.dumps({"kind": "List", "items": list(items)}).encode(), b"")


def job(status: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"kind": "Job", "metadata": {"name": TAG, **metadata}, "spec": {"completions": 1}, "status": status}


def pod(status: dict[str, Any], requests: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {"containers": [{"resources": {"requests": requests or {}}}]}
    return {"kind": "Pod", "metadata": {"labels": {"job-name": TAG}}, "spec": spec, "status": status}


def read_job(*items: dict[str, Any], dialect: KubernetesDialect = K8S) -> JobStatus:
    return dialect.parse_status(things(*items), [JobRef(job_id=TAG)]).jobs[TAG]


def unschedulable(message: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


def nodes(*allocatable: dict[str, str]) -> Completed:
    ready = [{"type": "Ready", "status": "True"}]
    status = [{"allocatable": one, "conditions": ready} for one in allocatable]
    return things(*[{"kind": "Node", "metadata": {"name": "n"}, "spec": {}, "status": one} for one in status])


@pytest.mark.parametrize(
    ("message", "requests", "meaning"),
    [
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", {"nvidia.com/gpu": "2"}, ReasonClass.WAIT),
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", {"nvidia.com/gpu": "16"}, ReasonClass.NEVER),
        ("0/3 nodes are available: 3 Insufficient amd.com/gpu.", {"amd.com/gpu": "1"}, ReasonClass.NEVER),
        ("0/3 nodes are available: 3 Insufficient cpu.", {"cpu": "31500m"}, ReasonClass.WAIT),
        ("0/3 nodes are available: 3 Insufficient cpu.", {"cpu": "500"}, ReasonClass.NEVER),
        ("0/3 nodes are available: 3 Insufficient memory.", {"memory": "257Gi"}, ReasonClass.NEVER),
        ("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.", {}, ReasonClass.NEVER),
        ("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match node selector.", {}, ReasonClass.WAIT),
    ],
)
def test_an_unschedulable_pod_is_pending_for_now_or_for_ever(
    message: str, requests: dict[str, str], meaning: ReasonClass
) -> None:
    dialect = KubernetesDialect()
    known = nodes({"cpu": "8", "memory": "16Gi"}, {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "4"})
    dialect.parse_workload([known, things(), things(), things()])
    status = read_job(job({"active": 1}), pod(unschedulable(message), requests), dialect=dialect)
    assert (status.state, status.reason_class) == (JobState.PENDING, meaning)
    assert message in status.reason


def test_without_knowledge_of_nodes_nothing_is_never() -> None:
    message = "0/3 nodes are available: 3 Insufficient cpu."
    status = read_job(job({"active": 1}), pod(unschedulable(message), {"cpu": "500"}), dialect=KubernetesDialect())
    assert status.reason_class is ReasonClass.WAIT


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"failed": 7, "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]},
         JobState.FAILED),
        ({"conditions": [{"type": "FailureTarget", "status": "True"}]}, JobState.COMPLETING),
        ({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, JobState.COMPLETING),
        ({"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}, JobState.TIMED_OUT),
        ({"conditions": [{"type": "Failed", "status": "False"}], "active": 1}, JobState.UNKNOWN),
        ({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]},
         JobState.COMPLETED),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, JobState.HELD),
        ({"succeeded": 1}, JobState.PENDING),
        ({}, JobState.PENDING),
    ],
)  # fmt: skip
def test_a_job_ends_by_its_conditions_alone(status: dict[str, Any], state: JobState) -> None:
    assert read_job(job(status)).state is state


FAILED = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}


def ended(code: int, word: str, **status: Any) -> dict[str, Any]:
    terminated = {"state": {"terminated": {"exitCode": code, "reason": word}}}
    return pod({"phase": "Failed", "containerStatuses": [terminated], **status})


@pytest.mark.parametrize(
    ("item", "state", "code", "signal"),
    [
        (ended(137, "OOMKilled"), JobState.OUT_OF_MEMORY, 137, 9),
        (ended(137, "Error"), JobState.FAILED, 137, 9),
        (ended(3, "Error"), JobState.FAILED, 3, None),
        (ended(143, "Error", reason="DeadlineExceeded"), JobState.TIMED_OUT, 143, 15),
        (pod({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
         JobState.PREEMPTED, None, None),
        (pod({"phase": "Failed", "reason": "NodeLost"}), JobState.NODE_FAILED, None, None),
        (ended(143, "Error", conditions=[
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]),
         JobState.PREEMPTED, 143, 15),
        (ended(128, "ContainerCannotRun"), JobState.FAILED, 128, None),
        (pod({"phase": "Failed"}), JobState.FAILED, None, None),
    ],
)  # fmt: skip
def test_pods_tell_why_it_failed(item: dict[str, Any], state: JobState, code: int | None, signal: int | None) -> None:
    status = read_job(job(FAILED), item)
    assert (status.state, status.exit_code, status.signal) == (state, code, signal)


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError"])
def test_an_image_that_cannot_be_fetched_waits_for_a_person(reason: str) -> None:
    waiting = {"state": {"waiting": {"reason": reason, "message": "back-off"}}}
    status = read_job(job({"active": 1}), pod({"phase": "Pending", "containerStatuses": [waiting]}))
    assert (status.state, status.reason_class) == (JobState.PENDING, ReasonClass.PERSON)
    assert status.reason == f"{reason}: back-off"


def test_a_job_that_is_gone_is_absent_and_no_success(done: Finish) -> None:
    ref = JobRef(job_id=TAG, tag=TAG)
    answers = K8S.parse_status(things(), [ref])
    assert dict(answers.jobs) == {}
    assert answers.absent == {TAG}
    record = ExitRecord(3, None, None, None, TAG, "0", "n1")
    look = AttemptLook(control_dir="/w", now=0, owner=TAG, exits={"": record})
    told = by_exit_record(ref, None, look, accounting_may_come=False)
    assert told is not None
    assert (told.state, told.exit_code) == (JobState.FAILED, 3)
    assert by_exit_record(ref, None, AttemptLook(control_dir="/w", now=0, owner=TAG), accounting_may_come=False) is None


def test_our_jobs_stay_for_a_week(spec: Callable[..., JobSpec]) -> None:
    body = job_manifest(spec(), K8S.place)["spec"]
    assert isinstance(body, dict)
    assert body["ttlSecondsAfterFinished"] == 7 * 86400


@pytest.mark.parametrize(
    ("written", "quantity"),
    [
        ("4G", "4Gi"), ("4GB", "4Gi"), ("16Gi", "16Gi"), ("4096M", "4096Mi"), ("4096", "4096Mi"), ("1.5T", "1536Gi"),
        ("0", None), ("0G", None), ("512k", "512Ki"), ("0.5GiB", "512Mi"), ("2tb", "2Ti"),
    ],
)  # fmt: skip
def test_memory_is_written_as_the_api_takes_it(written: str, quantity: str | None) -> None:
    assert translate_memory(written) == quantity


@pytest.mark.parametrize("written", ["lots", "", "-4G", "4 G B", "4Gibibytes"])
def test_what_is_no_memory_is_refused(written: str) -> None:
    with pytest.raises(BadRequest):
        translate_memory(written)


@pytest.mark.parametrize(
    ("text", "value"),
    [("500m", 0.5), ("2", 2), ("1.5", 1.5), ("250m", 0.25), ("1e3", 1000), ("16Gi", 2**34), ("1k", 1000), ("x", None),
     (None, None), ("", None), (True, None)],
)  # fmt: skip
def test_quantities(text: object, value: float | None) -> None:
    found = read_quantity(text)
    assert (float(found) if found is not None else None) == value


FORBIDDEN = 'Error from server (Forbidden): namespaces is forbidden: User "user1" cannot list resource "namespaces"'


@pytest.mark.parametrize(
    ("contexts", "ready", "namespaces", "answer"),
    [
        (("mirror-error-lab\nprod\n", "", 0), ("ok", "", 0), ("", FORBIDDEN, 1),
         (("mirror-error-lab", "prod"), Truth.YES, None)),
        (("not-found\n", "", 0), ("", "Unable to connect to the server: dial tcp: i/o timeout", 1),
         ("", "Unable to connect to the server: dial tcp: i/o timeout", 1), (("not-found",), Truth.NO, None)),
        (("", "", 0), ("", "The connection to the server localhost:8080 was refused - did you specify the right host"
         " or port? connect: connection refused", 1), ("", "x", 1), ((), Truth.NO, None)),
        (("old\n", "", 0), ("", "The connection to the server 192.0.2.1:6443 was refused - did you specify the right"
         " host or port?", 1), ("", "x", 1), (("old",), Truth.NO, None)),
        (("", "error: kubeconfig broken", 1), ("", "error: kubeconfig broken", 1), ("", "", 1),
         (None, Truth.UNKNOWN, None)),
        (("a\n", "", 0), ("", "error: You must be logged in to the server (Unauthorized)", 1), ("", "", 1),
         (("a",), Truth.YES, None)),
        (("a\n", "", 0), ("ok", "W1130 warning: error budget", 0), ("namespace/team\n", "", 0),
         (("a",), Truth.YES, ("team",))),
    ],
)  # fmt: skip
def test_success_is_the_exit_code_and_a_context_is_no_cluster(done: Finish, contexts: Any, ready: Any, namespaces: Any,
                                                              answer: Any) -> None:  # fmt: skip
    access = read_access(done(*contexts), done(*ready), done(*namespaces))
    assert (access.contexts, access.reachable, access.namespaces) == answer
    assert access.configured is bool(answer[0])


@pytest.mark.parametrize(
    "words",
    [
        "The connection to the server 192.0.2.1:6443 was refused - did you specify the right host or port?",
        "Error from server (ServiceUnavailable): the server is currently unable to handle the request",
    ],
)
def test_a_server_that_does_not_answer_has_refused_nothing(done: Finish, words: str) -> None:
    answer = K8S.parse_submit(done("", words, 1))
    assert (answer.refused, answer.doubt, answer.reason_class) == ("", words, ReasonClass.WAIT)


def test_an_unreachable_cluster_has_no_workload(done: Finish) -> None:
    down = done("", "Unable to connect to the server: dial tcp 192.0.2.1:6443: i/o timeout", 1)
    assert K8S.parse_workload([down] * 4).outcome is Outcome.UNKNOWN


# LSF


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        (Shape(memory=Memory(bytes=80 * 2**20, per="job")), ["-M 80MB", '-R "rusage[mem=80MB]"']),
        (Shape(memory=Memory(bytes=2**30 + 1, per="node")), ["-M 1025MB", '-R "rusage[mem=1025MB]"']),
        (Shape(tasks=4, nodes=1, memory=Memory(bytes=2**30, per="cpu")), ["-M 4096MB", '-R "rusage[mem=1024MB/task]"']),
        (Shape(tasks=4, nodes=2, memory=Memory(bytes=2**33, per="job")), ["-M 4096MB", '-R "rusage[mem=4096MB/host]"']),
    ],
)
def test_memory_always_has_its_unit(directives: Callable[..., list[str]], shape: Shape, lines: list[str]) -> None:
    options = directives(LSF, shape=shape)
    assert [option for option in options if option.startswith("-M") or "mem=" in option] == lines


BROKEN = (
    "Job <289263>, User <alice>, Command <sleep 10>\nThu Apr 18 10:00:40: Submitted from host <login1>, to Queue <norma"
    "\n                     l>, CWD <$\n                     HOME>;\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BROKEN, "Thu Apr 18 10:00:40: Submitted from host <login1>, to Queue <normal>, CWD <$HOME>;"),
        ("a <b\n                     c d>\n", "a <bc d>"),
        ("a\n                    b\n", "                    b"),
    ],
)
def test_broken_lines_are_put_together(text: str, line: str) -> None:
    assert joined(text)[-1] == line


def test_history_of_broken_lines(done: Finish) -> None:
    assert [one.id for one in read_history(BROKEN)] == ["289263"]
    answers = LSF.parse_history(done(BROKEN), [JobRef(job_id="289263")])
    assert answers.jobs["289263"].state is JobState.UNKNOWN  # submitted is not ended


def record(**fields: str) -> Completed:
    row = {"JOBID": "78", "STAT": "EXIT", "START_TIME": "May 28 12:46", "EXEC_HOST": "cn7", **fields}
    return Completed(("bjobs",), 0, json.dumps({"JOBS": 1, "RECORDS": [row]}).encode(), b"")


@pytest.mark.parametrize(
    ("code", "reason", "state", "signal"),
    [
        ("140", "TERM_RUNLIMIT: job killed after reaching LSF run time limit", JobState.TIMED_OUT, 12),
        ("140", "", JobState.FAILED, 12),
        ("1", "TERM_RUNLIMIT: job killed after reaching LSF run time limit", JobState.TIMED_OUT, None),
        ("137", "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit", JobState.OUT_OF_MEMORY, 9),
        ("130", "TERM_OWNER: job killed by owner", JobState.CANCELLED, 2),
        ("139", "", JobState.FAILED, 11),
        ("255", "TERM_FROBNICATED: new in LSF 12", JobState.FAILED, None),
        ("", "TERM_REQUEUE_OWNER: job killed and requeued by owner", JobState.UNKNOWN, None),
    ],
)
def test_lsf_s_reason_decides_and_the_number_is_a_hint(code: str, reason: str, state: JobState,
                                                       signal: int | None) -> None:  # fmt: skip
    done = record(EXIT_CODE=code, EXIT_REASON=reason, RUN_TIME="60 second(s)")
    status = LSF.parse_status(done, [JobRef(job_id="78")]).jobs["78"]
    assert (status.state, status.signal) == (state, signal)
    assert status.reason == reason


@pytest.mark.parametrize("code", ["1", "2", "127"])
def test_a_job_that_ended_at_once_names_its_node(code: str) -> None:
    done = record(EXIT_CODE=code, RUN_TIME="0 second(s)", EXEC_HOST="4*cn7:4*cn8")
    status = LSF.parse_status(done, [JobRef(job_id="78")]).jobs["78"]
    assert (status.state, status.nodes) == (JobState.FAILED, ("cn7", "cn8"))
    assert "perhaps a file system is missing on cn7, cn8" in status.reason


@pytest.mark.parametrize("word", ["UNKWN", "ZOMBI", "FROB", ""])
def test_a_host_that_does_not_answer_ends_no_job(word: str) -> None:
    status = LSF.parse_status(record(STAT=word, EXIT_CODE="1"), [JobRef(job_id="78")]).jobs["78"]
    assert (status.state, status.exit_code) == (JobState.UNKNOWN, None)


@pytest.mark.parametrize(
    ("err", "rc"), [("LSF is down. Please wait ...", 255), ("Failed in an LSF library call: ", 255),
                    ("batch daemon not responding ... still trying", 1)],
)  # fmt: skip
def test_a_submit_while_lsf_is_down_is_in_doubt(done: Finish, err: str, rc: int) -> None:
    assert LSF.parse_submit(done("", err, rc)).doubt


# OAR


@pytest.mark.parametrize(
    ("out", "job_id"),
    [
        ("[ADMISSION RULE] Set default walltime to 7200.\n[ADMISSION RULE] Modify resource description\n"
         "OAR_JOB_ID=108494\n", "108494"),
        ("OAR_JOB_ID=9\nOAR_JOB_ID=10\nOAR_JOB_ID=11\nOAR_ARRAY_ID=9\n", "9"),
        ("OAR_JOB_ID=8\nReservation mode: waiting validation...\nReservation valid --> OK\n", "8"),
        ("[ADMISSION RULE] OAR_JOB_ID=7 is what you had\nOAR_JOB_ID=6\n", "6"),
    ],
)  # fmt: skip
def test_the_id_is_not_always_in_the_last_line(done: Finish, out: str, job_id: str) -> None:
    answer = OAR.parse_submit(done(out))
    assert answer.job == JobRef(job_id=job_id)


@pytest.mark.parametrize(
    ("rc", "err"), [(8, "Bad resource request"), (0, ""), (8, "Connection refused by admission rule")]
)
def test_a_negative_id_is_a_refusal(done: Finish, rc: int, err: str) -> None:
    answer = OAR.parse_submit(done("[ADMISSION RULE] x\nOAR_JOB_ID=-5\n", err, rc))
    assert answer.refused
    assert answer.job is None


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("W", JobState.PENDING), ("L", JobState.RUNNING), ("H", JobState.HELD), ("R", JobState.RUNNING),
        ("F", JobState.COMPLETING), ("S", JobState.SUSPENDED), ("Finishing", JobState.COMPLETING),
        ("toError", JobState.COMPLETING), ("-", JobState.UNKNOWN), ("Frobnicating", JobState.UNKNOWN),
    ],
)  # fmt: skip
def test_f_means_finishing(word: str, state: JobState) -> None:
    assert OAR.state(word) is state


def oar_job(**fields: Any) -> Completed:
    row = {"state": "Terminated", "array_id": 5, "name": f"x.{TAG}", "events": [], **fields}
    return Completed(("oarstat",), 0, json.dumps({"5": row}).encode(), b"")


@pytest.mark.parametrize(
    ("fields", "state", "code", "signal"),
    [
        ({"exit_code": 0}, JobState.COMPLETED, 0, None),
        ({"exit_code": 768}, JobState.FAILED, 3, None),
        ({"exit_code": 9}, JobState.FAILED, None, 9),
        ({"exit_code": 256 * 255}, JobState.FAILED, 255, None),
        ({"exit_code": None}, JobState.UNKNOWN, None, None),
        ({"state": "Error", "events": [{"type": "FRAG_JOB_REQUEST", "description": "User root requested to frag"},
                                       {"type": "WALLTIME", "description": "Elapsed"}]},
         JobState.TIMED_OUT, None, None),
        ({"state": "Error", "events": [{"type": "FRAG_JOB_REQUEST", "description": "User u requested to frag"}]},
         JobState.CANCELLED, None, None),
        ({"state": "Error", "events": [{"type": "SUSPECTED_NODE", "description": "cn1"}]}, JobState.NODE_FAILED, None,
         None),
        ({"state": "Error"}, JobState.FAILED, None, None),
    ],
)  # fmt: skip
def test_ends_of_oar(fields: dict[str, Any], state: JobState, code: int | None, signal: int | None) -> None:
    status = OAR.parse_status(oar_job(**fields), [JobRef(job_id="5")]).jobs["5"]
    assert (status.state, status.exit_code, status.signal) == (state, code, signal)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"initial_request": "oarsub -l core=1 x"}, JobState.PENDING),
        ({"initial_request": "oarsub --hold -l core=1 x"}, JobState.HELD),
        ({"initial_request": "oarsub -S x; #OAR --hold"}, JobState.HELD),
        ({"initial_request": "oarsub x", "events": [{"type": "HOLD_WAITING_JOB"}]}, JobState.HELD),
        ({"initial_request": "oarsub -n with--hold x"}, JobState.PENDING),
    ],
)
def test_a_new_job_is_in_hold_for_an_instant(fields: dict[str, Any], state: JobState) -> None:
    status = OAR.parse_status(oar_job(state="Hold", **fields), [JobRef(job_id="5")]).jobs["5"]
    assert status.state is state
    assert status.reason_class is (ReasonClass.PERSON if state is JobState.HELD else ReasonClass.WAIT)


# Grid Engine


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("Eqw", JobState.HELD), ("EhRqw", JobState.HELD), ("qw", JobState.PENDING), ("hqw", JobState.HELD),
        ("hRwq", JobState.HELD), ("Rq", JobState.PENDING), ("r", JobState.RUNNING), ("t", JobState.RUNNING),
        ("Rr", JobState.RUNNING), ("hr", JobState.RUNNING), ("s", JobState.SUSPENDED), ("tS", JobState.SUSPENDED),
        ("RT", JobState.SUSPENDED), ("dr", JobState.COMPLETING), ("dRt", JobState.COMPLETING), ("z", JobState.UNKNOWN),
        ("x", JobState.UNKNOWN), ("R", JobState.UNKNOWN), ("", JobState.UNKNOWN),
    ],
)  # fmt: skip
def test_states_of_grid_engine(done: Finish, word: str, state: JobState) -> None:
    xml = (
        "<?xml version='1.0'?><job_info><queue_info><job_list state='pending'><JB_job_number>7</JB_job_number>"
        f"<state>{word}</state></job_list></queue_info></job_info>"
    )
    assert SGE.parse_status(done(xml), [JobRef(job_id="7")]).jobs["7"].state is state


def test_error_state_is_held_at_once_and_explained(done: Finish) -> None:
    answers = SGE.parse_status(done("  5228838 0.5 job alice Eqw 07/16/2015 19:48:55 1\n"), [JobRef(job_id="5228838")])
    status = answers.jobs["5228838"]
    assert (status.state, status.reason_class, status.native_state) == (JobState.HELD, ReasonClass.PERSON, "Eqw")
    assert status.submitted_at == datetime(2015, 7, 16, 19, 48, 55, tzinfo=UTC)
    told = (
        "job_number:                 5228838\nerror reason    1:          07/16/2015 19:48:56 [0:1]: can't chdir to "
        "/home/alice/x: No such file or directory\nscheduling info:            Job is in error state\n"
    )
    explained = SGE.parse_explain(done(told), status)
    assert explained.reason.endswith("can't chdir to /home/alice/x: No such file or directory")
    assert (explained.state, explained.reason_class) == (JobState.HELD, ReasonClass.PERSON)
    assert SGE.parse_explain(done("", "Following jobs do not exist: 5228838", 1), status) == status


def test_a_dependency_is_no_hold(done: Finish) -> None:
    xml = (
        "<?xml version='1.0'?><job_info><job_info><job_list state='pending'><JB_job_number>7</JB_job_number>"
        "<state>hqw</state><predecessor_jobs>6</predecessor_jobs></job_list></job_info></job_info>"
    )
    status = SGE.parse_status(done(xml), [JobRef(job_id="7")]).jobs["7"]
    assert (status.state, status.reason) == (JobState.PENDING, "waits for 6")


@pytest.mark.parametrize(
    ("out", "err", "rc", "trouble"),
    [
        ("", "error: job id 80319 not found\n", 1, False),
        ("", "error: job name *dgm-* not found\n", 1, False),
        ("", "/var/lib/gridengine/default/common/accounting: No such file or directory\n", 1, True),
        ("", "", 0, True),
    ],
)
def test_between_queue_and_accounting_nothing_is_known(
    done: Finish, out: str, err: str, rc: int, trouble: bool
) -> None:
    answers = SGE.parse_history(done(out, err, rc), [JobRef(job_id="80319")])
    assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
    assert bool(answers.trouble) is trouble


def accounting(failed: str, status: str, **fields: str) -> str:
    rows = {"jobnumber": "7", "jobname": f"x.{TAG}", "taskid": "undefined", "failed": failed, "exit_status": status}
    return "=====\n" + "".join(f"{key:<12} {value}\n" for key, value in {**rows, **fields}.items())


@pytest.mark.parametrize(
    ("text", "state", "code", "signal", "reason"),
    [
        (accounting("27  : searching requested shell", "0"), JobState.FAILED, None, None, "searching requested shell"),
        (accounting("26  : opening input/output file", "0"), JobState.FAILED, None, None, "opening input/output file"),
        (accounting("28  : changing into working directory", "0"), JobState.FAILED, None, None,
         "changing into working directory"),
        (accounting("19  : before writing exit_status", "0"), JobState.NODE_FAILED, None, None,
         "before writing exit_status"),
        (accounting("0", "0"), JobState.COMPLETED, 0, None, ""),
        (accounting("0", "139                  (Segmentation fault)"), JobState.FAILED, 139, 11, ""),
        (accounting("25  : rescheduling", "0"), JobState.UNKNOWN, None, None, "rescheduling"),
        (accounting("99  : of another release", "0"), JobState.UNKNOWN, None, None, "of another release"),
        (accounting("100 : assumedly after job", "137", ru_wallclock="61s", category="-l h_rt=60"), JobState.TIMED_OUT,
         137, 9, "assumedly after job"),
        (accounting("100 : assumedly after job", "137", maxvmem="2.100GB", category="-l h_vmem=1G", slots="2"),
         JobState.OUT_OF_MEMORY, 137, 9, "assumedly after job"),
        (accounting("100 : assumedly after job", "137", deleted_by="alice"), JobState.CANCELLED, 137, 9,
         "assumedly after job"),
    ],
)  # fmt: skip
def test_an_exit_status_of_0_is_believed_only_where_nothing_failed(
    done: Finish, text: str, state: JobState, code: int | None, signal: int | None, reason: str
) -> None:
    status = SGE.parse_history(done(text), [JobRef(job_id="7", tag=TAG)]).jobs["7"]
    assert (status.state, status.exit_code, status.signal, status.reason) == (state, code, signal, reason)


def test_the_latest_run_counts_and_ids_are_used_again(done: Finish) -> None:
    text = accounting("0", "0", jobname="another") + accounting("25  : rescheduling", "0") + accounting("0", "3")
    status = SGE.parse_history(done(text), [JobRef(job_id="7", tag=TAG)]).jobs["7"]
    assert (status.state, status.exit_code) == (JobState.FAILED, 3)


def test_times_of_univa(done: Finish) -> None:
    xml = (
        "<?xml version='1.0'?><job_info><job_list><JB_job_number>7</JB_job_number><state>qw</state>"
        "<JB_submission_time>1592928409331</JB_submission_time></job_list></job_info>"
    )
    status = SGE.parse_status(done(xml), [JobRef(job_id="7")]).jobs["7"]
    assert status.submitted_at == datetime(2020, 6, 23, 16, 6, 49, 331000, tzinfo=UTC)


@pytest.mark.parametrize(
    "out",
    ["<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><job_info>&b;</job_info>", "<html></html>", "<job_info>"],
)
def test_what_is_no_answer_of_qstat_is_trouble(done: Finish, out: str) -> None:
    answers = SGE.parse_status(done(out), [JobRef(job_id="7")])
    assert answers.trouble
    assert answers.absent == frozenset()


def test_names_with_control_characters_do_not_blind_us(done: Finish) -> None:
    xml = (
        "<?xml version='1.0'?><job_info><job_list><JB_job_number>7</JB_job_number><JB_name>a\x1b[0m</JB_name>"
        "<state>r</state></job_list></job_info>"
    )
    assert SGE.parse_status(done(xml), [JobRef(job_id="7")]).jobs["7"].state is JobState.RUNNING


def test_absence_at_oar_is_shown_by_the_oldest_job() -> None:
    """oarstat prints nothing and ends well where the database refused its question, as of a job that is not there."""
    command = OAR.status_commands([JobRef(job_id="7")])[0]
    assert command.argv[-1].endswith("OR job_id IN (SELECT MIN(job_id) FROM jobs)")
    nothing = OAR.parse_status(Completed(command.argv, 0, b"", b""), [JobRef(job_id="7")])
    assert (nothing.absent, bool(nothing.trouble)) == (frozenset(), True)
    oldest = OAR.parse_status(oar_job(state="Terminated", exit_code=0), [JobRef(job_id="7")])
    assert (oldest.absent, oldest.trouble, len(oldest.jobs)) == (frozenset({"7"}), "", 0)
    tag = "dgm-0123456789ab-a0"
    assert OAR.parse_find(Completed(("oarstat",), 0, b"", b""), tag).outcome is Outcome.UNKNOWN
    assert OAR.parse_find(oar_job(state="Terminated", exit_code=0, name="x"), tag).outcome is Outcome.ABSENT


def test_the_oldest_job_of_oar_is_no_job_under_way() -> None:
    ended = oar_job(state="Terminated", exit_code=0, name="x.dgm-0123456789ab-a0")
    assert OAR.parse_list_tags(ended).jobs == {}
    assert list(OAR.parse_list_tags(oar_job(state="Running", name="x.dgm-0123456789ab-a0")).jobs) == ["5"]
