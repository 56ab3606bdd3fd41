"""HTCondor by the words of its manual (Job ClassAd Attributes, condor_submit(1)); no running system was captured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec, JobState, ReasonClass
from dragoman.kleene import Truth
from dragoman.request import ArrayRange, ArraySpec
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.htcondor import HtCondorDialect
from providers.schedulers.htcondor_script import description
from providers.schedulers.htcondor_status import HOLDS, STATES, group_slots

CONDOR = HtCondorDialect()
REF = JobRef(job_id="12", tag="dgm-0123456789ab-a0")
BASE: dict[str, Any] = {"ClusterId": 12, "ProcId": 0, "QDate": 1_790_000_000, "EnteredCurrentStatus": 1_790_000_100}
SPEC = JobSpec(tag="dgm-0123456789ab-a0", shape=Shape(tasks=2), work_dir="/w/w", control_dir="/w", body="./app\n")


def answered(program: str, *ads: dict[str, Any]) -> Completed:
    return Completed((program, "12"), 0, json.dumps([{**BASE, **ad} for ad in ads]).encode(), b"")


@pytest.mark.parametrize(
    ("ad", "state", "code", "signal", "reason"),
    [
        ({"JobStatus": 1}, JobState.PENDING, None, None, ""),
        ({"JobStatus": 1, "NumJobStarts": 2}, JobState.PENDING, None, None, "lost its machine"),
        ({"JobStatus": 2}, JobState.RUNNING, None, None, ""),
        ({"JobStatus": 3, "RemoveReason": "via condor_rm"}, JobState.COMPLETING, None, None, "via condor_rm"),
        ({"JobStatus": 4, "ExitBySignal": False, "ExitCode": 0}, JobState.COMPLETED, 0, None, ""),
        ({"JobStatus": 4, "ExitBySignal": False, "ExitCode": 3}, JobState.FAILED, 3, None, ""),
        ({"JobStatus": 4, "ExitBySignal": False, "ExitCode": 137}, JobState.FAILED, 137, 9, ""),
        ({"JobStatus": 4, "ExitBySignal": True, "ExitSignal": 11}, JobState.FAILED, None, 11, ""),
        ({"JobStatus": 4}, JobState.UNKNOWN, None, None, "no exit code"),
        ({"JobStatus": 5, "HoldReasonCode": 34, "HoldReason": "over memory"}, JobState.HELD, None, None, "code 34"),
        ({"JobStatus": 6}, JobState.COMPLETING, None, None, ""),
        ({"JobStatus": 7}, JobState.SUSPENDED, None, None, ""),
        ({"JobStatus": 8}, JobState.UNKNOWN, None, None, ""),
        ({}, JobState.UNKNOWN, None, None, ""),
    ],
)
def test_states_in_the_queue(
    ad: dict[str, Any], state: JobState, code: int | None, signal: int | None, reason: str
) -> None:
    status = CONDOR.parse_status(answered("condor_q", ad), [REF]).jobs["12"]
    assert (status.state, status.exit_code, status.signal) == (state, code, signal)
    assert reason in status.reason


GPU = Gpus(count=1, per="job", model="A100")
RULE = "The job attribute PeriodicRemove expression '(JobStatus == 2 ...' evaluated to TRUE"


@pytest.mark.parametrize(
    ("ad", "state"),
    [
        ({"RemoveReason": "via condor_rm (by user ann)"}, JobState.CANCELLED),
        ({"RemoveReason": RULE, "DragomanWalltime": 60, "RemoteWallClockTime": 61.0}, JobState.TIMED_OUT),
        ({"RemoveReason": RULE, "DragomanWalltime": 60, "RemoteWallClockTime": 9.0, "NumJobStarts": 1},
         JobState.NODE_FAILED),
        ({"RemoveReason": f"SYSTEM_{RULE}", "DragomanWalltime": 60, "RemoteWallClockTime": 61.0}, JobState.CANCELLED),
        ({}, JobState.CANCELLED),
    ],
)  # fmt: skip
def test_removed_is_told_apart(ad: dict[str, Any], state: JobState) -> None:
    status = CONDOR.parse_history(answered("condor_history", {"JobStatus": 3, **ad}), [REF]).jobs["12"]
    assert status.state is state
    assert status.from_history
    assert status.cancelled_by == ("ann" if "ann" in str(ad) else None)


@pytest.mark.parametrize(
    ("code", "meaning"),
    [(1, ReasonClass.PERSON), (16, ReasonClass.WAIT), (34, ReasonClass.NEVER), (13, ReasonClass.NEVER),
     (999, ReasonClass.UNKNOWN), (None, ReasonClass.UNKNOWN)],
)  # fmt: skip
def test_why_it_is_held(code: int | None, meaning: ReasonClass) -> None:
    ad = {"JobStatus": 5, **({} if code is None else {"HoldReasonCode": code})}
    assert CONDOR.parse_status(answered("condor_q", ad), [REF]).jobs["12"].reason_class is meaning


def test_tables() -> None:
    assert sorted(map(int, STATES)) == [1, 2, 3, 4, 5, 6, 7]
    assert {1, 3, 16, 34} <= set(HOLDS)


def test_absence() -> None:
    def asked(out: bytes, err: bytes = b"", rc: int = 0, program: str = "condor_q") -> tuple[list[str], bool]:
        done = Completed((program, "12"), rc, out, err)
        read = CONDOR.parse_status if program == "condor_q" else CONDOR.parse_history
        answers = read(done, [REF])
        return sorted(answers.absent), bool(answers.trouble)

    assert asked(b"") == (["12"], False)
    assert asked(b"[\n]\n") == (["12"], False)
    assert asked(b"", b"-- Failed to fetch ads from: <192.0.2.1:9618> : head", 1) == ([], True)
    assert asked(b"", b"WARNING: something") == ([], True)
    assert asked(b'[{"ClusterId": 1') == ([], True)
    assert asked(b"", program="condor_history") == ([], False)


def test_an_array_s_tasks_have_their_own_indices() -> None:
    ads = [{"ProcId": n, "JobStatus": 4, "ExitCode": n, "DragomanArray": "3-7:2"} for n in (2, 0, 1)]
    status = CONDOR.parse_history(answered("condor_history", *ads), [REF]).jobs["12"]
    assert status.state is JobState.FAILED
    assert status.array_tasks == {"3": JobState.COMPLETED, "5": JobState.FAILED, "7": JobState.FAILED}


@pytest.mark.parametrize(
    ("out", "err", "rc", "kind"),
    [
        (b"12.0 - 12.3\n", b"", 0, "12"),
        (b"Submitting job(s).\n1 job(s) submitted to cluster 12.\n", b"", 0, "12"),
        (b"", b"ERROR: Can't find address of local schedd\n", 1, "refused"),
        (b"", b"ERROR: Failed to commit job submission into the queue.\nERROR: timed out\n", 1, "doubt"),
        (b"", b"ERROR on Line 9 of submit file: bad\n", 1, "refused"),
        (b"hello 12.0 - 12.0 x\n", b"", 0, "doubt"),
    ],
)
def test_submit(out: bytes, err: bytes, rc: int, kind: str) -> None:
    answer = CONDOR.parse_submit(Completed(("condor_submit",), rc, out, err))
    assert (answer.job.job_id if answer.job else "refused" if answer.refused else "doubt") == kind


def test_a_description() -> None:
    shape = Shape(tasks=2, cpus_per_task=3, memory=Memory(bytes=2**30, per="task"), gpus=GPU)
    array = ArraySpec(ranges=(ArrayRange(first=1, last=4),), at_once=2)
    text = description(SPEC.model_copy(update={"shape": shape, "walltime_s": 60, "array": array}), "/w/script")
    lines = text.splitlines()
    for line in (
        "request_cpus = 6", "request_memory = 2048M", "request_gpus = 1", "+DragomanWalltime = 60",
        'require_gpus = regexp("A100", DeviceName, "i")', "max_materialize = 2", "arguments = \"'/w/script'\"",
        '+DragomanTag = "dgm-0123456789ab-a0"', "notification = never", "getenv = false",
    ):  # fmt: skip
        assert line in lines
    assert lines[-1] == "queue 4"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 'a"b'), ("account", "$(HOME)"), ("account", "$ENV(HOME)"), ("name", "a'b"), ("account", "x\\"),
        ("native_options", ("executable = /bin/evil",)), ("native_options", ("queue 5",)),
        ("native_options", ("periodic_remove = true",)), ("native_options", ("rank = $RANDOM_CHOICE(1)",)),
        ("native_options", ("x = 1\nqueue",)), ("work_dir", "/w/$(id)"),
    ],
)  # fmt: skip
def test_nothing_becomes_a_macro_or_another_line(field: str, value: object) -> None:
    bad = JobSpec.model_construct(**{**dict(SPEC), field: value})
    with pytest.raises(BadRequest) as told:
        description(bad, "/w/script")
    assert told.value.cure


def test_several_machines_are_refused() -> None:
    with pytest.raises(BadRequest, match="one machine"):
        CONDOR.render(SPEC.model_copy(update={"shape": Shape(nodes=2)}))


def test_a_description_by_itself_is_read() -> None:
    reading = CONDOR.read_script(
        "# sim\nexecutable = run.sh\narguments = -n 3\nrequest_cpus = 4\nrequest_memory = 2 GB\n"
        "Request_GPUs = 1\nrank = Memory\nrequest_disk = 500M\noutput = out.$(Process)\nqueue 10\n"
    )
    assert reading.problems == ()
    request = reading.request
    assert request.shape.cpus == 4
    assert request.shape.memory == Memory(bytes=2 * 2**30, per="node")
    assert request.shape.gpus == Gpus(count=1, per="job")
    assert request.shape.local_disk_bytes == 500 * 2**20
    assert request.array == ArraySpec(ranges=(ArrayRange(first=0, last=9),))
    assert request.native_options == ("rank = Memory",)
    assert "output = out.$(Process)" in reading.not_carried
    assert reading.body == "run.sh -n 3\n"


def test_bad_lines_have_their_line_and_a_cure() -> None:
    reading = CONDOR.read_script("#!/bin/sh\n#CONDOR request_cpus = many\n#CONDOR nonsense\n./app\n")
    assert [problem.partition(":")[0] for problem in reading.problems] == ["line 2", "line 3"]


def test_machines() -> None:
    whole = {"TotalCpus": 8.0, "TotalMemory": 16000, "TotalGPUs": 2, "GPUs_DeviceName": "NVIDIA A100"}
    slots = [
        {
            "Machine": "a",
            "State": "Unclaimed",
            "SlotType": "Partitionable",
            "Cpus": 6,
            "Memory": 9000,
            "GPUs": 1,
            **whole,
        },
        {"Machine": "a", "State": "Claimed", "SlotType": "Dynamic", "Cpus": 2, "Memory": 7000, "GPUs": 1, **whole},
        {"Machine": "b", "State": "Owner", "SlotType": "Partitionable", "Cpus": 8, "Memory": 16000, "GPUs": 2, **whole},
    ]
    done = [
        Completed(("condor_status",), 0, json.dumps(slots).encode(), b""),
        Completed(("condor_version",), 0, b"$CondorVersion: 23.4.0 2024-02-08 $\n", b""),
    ]
    answer = CONDOR.parse_workload(done)
    assert answer.value is not None
    assert (answer.value.version, answer.value.whole_nodes_only) == ("23.4.0", Truth.NO)
    assert answer.value.groups is not None
    (group,) = answer.value.groups
    assert (group.nodes, group.nodes_up, group.nodes_idle, group.cpus_free, group.largest_free_cpus) == (2, 1, 0, 6, 6)
    assert group.gpus is not None
    assert (group.gpus[0].model, group.gpus[0].count, group.gpus[0].free) == ("NVIDIA A100", 2, 1)


def test_the_pool_is_a_queue_that_no_script_names() -> None:
    slot = {"Machine": "a", "State": "Unclaimed", "SlotType": "Partitionable", "Cpus": 8, "TotalCpus": 8}
    points = [{"Name": "ap1", "TotalIdleJobs": 3, "TotalRunningJobs": 2}, {"Name": "ap2", "TotalRunningJobs": 1}]
    done = [
        Completed(("condor_status",), 0, json.dumps([{**slot, "TotalMemory": 1000, "Memory": 1000}]).encode(), b""),
        Completed(("condor_version",), 0, b"$CondorVersion: 23.4.0 2024-02-08 $\n", b""),
        Completed(("condor_status",), 0, json.dumps(points).encode(), b""),
    ]
    workload = CONDOR.parse_workload(done).value
    assert workload is not None
    assert (workload.jobs_pending, workload.jobs_running) == (None, 3), "one access point does not tell what waits"
    assert workload.queues is not None
    (queue,) = workload.queues
    assert (queue.name, queue.usable, queue.max_nodes, queue.nodes_idle) == ("pool", Truth.YES, 1, 1)
    named, plain = (CONDOR.render(SPEC.model_copy(update={"queue": each})) for each in ("pool", None))
    assert named == plain
    with pytest.raises(BadRequest, match="no queues"):
        CONDOR.render(SPEC.model_copy(update={"queue": "long"}))


def test_what_no_slot_tells_is_not_zero() -> None:
    slots = [{"Machine": "a", "State": "Unclaimed", "SlotType": "Partitionable", "Cpus": 8, "Memory": 1000}]
    (group,) = group_slots(slots)
    assert (group.cpus_per_node, group.memory_bytes_per_node, group.nodes_idle) == (None, None, None)
