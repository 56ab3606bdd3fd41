"""What HTCondor says of jobs and slots (Job and Machine ClassAd Attributes of the manual), as JSON.

An array is a cluster, its tasks are processes. A held job is no end: it stays until somebody releases or removes it,
and its code says whether that can help. `ExitCode` is there for jobs that have ended by themselves only.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from dragoman.command import Completed
from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth, sum_of
from providers.schedulers.base import one_line
from providers.schedulers.combining import accounted, combined, indices
from providers.schedulers.free_shares import counted_shares, nothing_free

__all__ = [
    "ATTRIBUTES",
    "HOLDS",
    "POOL",
    "STATES",
    "Ad",
    "group_slots",
    "job_statuses",
    "pool_queue",
    "queue_depth",
    "read_ads",
]

Ad = Mapping[str, Any]

ATTRIBUTES: Final = (
    "ClusterId", "ProcId", "JobStatus", "DragomanTag", "DragomanWalltime", "DragomanRequeue",
    "DragomanArray", "JobBatchName", "QDate",
    "JobStartDate", "JobCurrentStartDate", "CompletionDate", "EnteredCurrentStatus", "RemoteHost", "LastRemoteHost",
    "ExitBySignal", "ExitCode", "ExitSignal", "HoldReason", "HoldReasonCode", "HoldReasonSubCode", "RemoveReason",
    "NumJobStarts", "RemoteWallClockTime", "ResidentSetSize", "TotalSubmitProcs",
)  # fmt: skip

STATES: Final[dict[str, JobState]] = {
    "1": JobState.PENDING,  # Idle
    "2": JobState.RUNNING,
    "3": JobState.CANCELLED,  # Removed; why: RemoveReason
    "4": JobState.COMPLETED,  # by itself, with whatever code
    "5": JobState.HELD,
    "6": JobState.COMPLETING,  # Transferring Output
    "7": JobState.SUSPENDED,
}
"""JobStatus, by the manual's numbers."""
_NAMES = {"1": "Idle", "2": "Running", "3": "Removed", "4": "Completed", "5": "Held", "6": "Transferring Output",
          "7": "Suspended"}  # fmt: skip

_PERSON, _NEVER, _WAIT = ReasonClass.PERSON, ReasonClass.NEVER, ReasonClass.WAIT
HOLDS: Final[dict[int, ReasonClass]] = {
    1: _PERSON,  # UserRequest
    3: _PERSON,  # JobPolicy
    4: _PERSON,  # CorruptedCredential
    5: _NEVER,  # JobPolicyUndefined
    6: _NEVER,  # FailedToCreateProcess
    7: _NEVER, 8: _NEVER, 9: _NEVER, 10: _NEVER,  # UnableToOpenOutput, -Input, and their streams
    12: _NEVER, 13: _NEVER,  # TransferOutputError, TransferInputError
    14: _NEVER,  # IwdError
    15: _PERSON,  # SubmittedOnHold
    16: _WAIT,  # SpoolingInput
    19: _NEVER, 20: _NEVER,  # HookPrepareJobFailure, MissedDeferredExecutionTime
    21: _PERSON,  # StartdHeldJob
    22: _NEVER,  # UnableToInitUserLog
    23: _PERSON,  # FailedToAccessUserAccount
    26: _PERSON,  # SystemPolicy
    32: _NEVER, 33: _NEVER,  # MaxTransferInputSizeExceeded, MaxTransferOutputSizeExceeded
    34: _NEVER,  # JobOutOfResources: more memory than was asked for
    35: _NEVER,  # InvalidDockerImage
    46: _NEVER, 47: _NEVER,  # JobDurationExceeded, JobExecuteExceeded
}  # fmt: skip
"""HoldReasonCode to whether a release can help; a code that is not here is unknown."""


def read_ads(done: Completed, trouble: str, *, key: str = "ClusterId") -> tuple[list[Ad], str]:
    """Ads of `-json`, and why they cannot be used as a whole. No ad at all is printed as nothing, or as `[]`."""
    if trouble or done.err.strip():
        return [], trouble or one_line(done.err)
    if not done.out.strip():
        # Only a program that we know to print nothing for nothing is believed.
        return [], "" if done.argv and done.argv[0] in ("condor_q", "condor_history") else "nothing was printed"
    try:
        found = json.loads(done.out)
    except (ValueError, RecursionError) as error:
        return [], f"the answer is cut off or no JSON ({one_line(str(error), limit=100)})"
    if not isinstance(found, list) or not all(isinstance(one, dict) and key in one for one in found):
        return [], f"the answer is JSON, but no list of ads with {key}"
    return found, ""


class _Proc(NamedTuple):
    state: JobState
    reason: str = ""
    meaning: ReasonClass | None = None
    code: int | None = None
    signal: int | None = None
    by: str | None = None


def job_statuses(ads: Sequence[Ad], refs: Sequence[JobRef], *, history: bool) -> dict[str, JobStatus]:
    """Status by the cluster as asked."""
    clusters: dict[str, dict[str, Ad]] = defaultdict(dict)
    for ad in ads:
        clusters[str(ad["ClusterId"])].setdefault(str(ad.get("ProcId", 0)), ad)  # the history begins with the newest
    return {ref.job_id: _status(ref, clusters[ref.job_id], history=history) for ref in refs if ref.job_id in clusters}


def _status(ref: JobRef, procs: Mapping[str, Ad], *, history: bool) -> JobStatus:
    read = {index: _proc(ad, history=history) for index, ad in procs.items()}
    state = combined(one.state for one in read.values())
    index = next(index for index, one in read.items() if one.state is state)
    ad, chosen = procs[index], read[index]
    begun = state not in (JobState.PENDING, JobState.NEVER_RAN)
    hosts = (str(one.get("RemoteHost") or one.get("LastRemoteHost") or "") for one in procs.values())
    starts = _whole(ad.get("NumJobStarts"))
    size = _whole(ad.get("ResidentSetSize"))
    word = str(ad.get("JobStatus"))
    array = str(ad.get("DragomanArray") or "")
    size = ref.array_size or sum(1 for _ in indices(array)) or _whole(ad.get("TotalSubmitProcs")) or None
    tasks = _tasks(array, read) if array or len(read) > 1 or (size or 0) > 1 else {}
    status = JobStatus(
        ref=ref,
        state=state,
        native_state=_NAMES.get(word, word)[:200],
        reason=chosen.reason,
        reason_class=chosen.meaning,
        name=str(ad.get("JobBatchName") or "")[:1000] or None,
        exit_code=chosen.code,
        signal=chosen.signal,
        submitted_at=_moment(ad.get("QDate")),
        started_at=_moment(ad.get("JobCurrentStartDate") or ad.get("JobStartDate")) if begun else None,
        ended_at=_moment(ad.get("CompletionDate") or ad.get("EnteredCurrentStatus")) if state.final else None,
        elapsed_s=float(_whole(ad.get("RemoteWallClockTime")) or 0) if state.final else None,
        nodes=tuple(dict.fromkeys(name for host in hosts if (name := host.rpartition("@")[2]))) if begun else (),
        restarts=max(starts - 1, 0) if starts is not None else None,
        max_rss_bytes=size * 1024 if size else None,
        cancelled_by=chosen.by,
        array_tasks=tasks,
        from_history=history,
    )
    return accounted(status, size) if tasks else status


def _tasks(array: str, read: Mapping[str, _Proc]) -> dict[str, JobState]:
    """By the tasks' own indices, where the job tells them."""
    own = [*map(str, indices(array))]
    return {
        own[int(key)] if key.isdecimal() and int(key) < len(own) else key: one.state
        for key, one in sorted(read.items(), key=lambda item: int(item[0]) if item[0].isdecimal() else 0)
    }


def _proc(ad: Ad, *, history: bool) -> _Proc:
    state = STATES.get(str(ad.get("JobStatus")), JobState.UNKNOWN)
    if state is JobState.HELD:
        code = _whole(ad.get("HoldReasonCode"))
        sub = f"/{ad['HoldReasonSubCode']}" if ad.get("HoldReasonSubCode") else ""
        words = one_line(f"{ad.get('HoldReason') or 'held'} (code {code}{sub})")
        return _Proc(state, words, HOLDS.get(code if code is not None else -1, ReasonClass.UNKNOWN))
    if state is JobState.PENDING:
        again = _whole(ad.get("NumJobStarts")) or 0
        words = "it lost its machine and waits for another" if again else ""
        return _Proc(state, words, ReasonClass.WAIT if again else ReasonClass.UNKNOWN)
    if state is JobState.COMPLETED:
        return _ended(ad)
    if state is JobState.CANCELLED:
        return _removed(ad) if history else _Proc(JobState.COMPLETING, one_line(str(ad.get("RemoveReason") or "")))
    return _Proc(state)


def _ended(ad: Ad) -> _Proc:
    code, signal = _whole(ad.get("ExitCode")), _whole(ad.get("ExitSignal"))
    told = ad.get("ExitBySignal")
    by_signal = _truth(told) if told is not None else bool(signal)
    if by_signal:
        return _Proc(JobState.FAILED, signal=signal)
    if by_signal is None:
        return _Proc(JobState.UNKNOWN, f"it ended, and whether by a signal cannot be read ({one_line(str(told))[:40]})")
    if code is None:
        return _Proc(JobState.UNKNOWN, "it ended, and no exit code is told")
    return _Proc(JobState.FAILED if code else JobState.COMPLETED, code=code, signal=code - 128 if code > 128 else None)


def _removed(ad: Ad) -> _Proc:
    """Removed by a person, or by the rule that keeps its time limit and lets it start once."""
    words = one_line(str(ad.get("RemoveReason") or ""))
    if "PeriodicRemove" in words and "SYSTEM" not in words:
        limit, used = _whole(ad.get("DragomanWalltime")), _whole(ad.get("RemoteWallClockTime"))
        if limit is not None and used is not None and used >= limit:
            return _Proc(JobState.TIMED_OUT, f"over its limit of {limit} s")
        if (_whole(ad.get("NumJobStarts")) or 0) > 0 and not _truth(ad.get("DragomanRequeue")):
            return _Proc(JobState.NODE_FAILED, "it lost its machine (evicted, or the machine failed)")
    by = re.search(r"\(by user ([^)\s]+)\)", words)
    return _Proc(JobState.CANCELLED, words, by=by[1][:100] if by is not None else None)


def _truth(value: object) -> bool | None:
    """A truth value, also where a tool on the way wrote it as text or number; None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower())


def _whole(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,15}", value, re.ASCII):
        return int(value)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _moment(value: object) -> datetime | None:
    seconds = _whole(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds and seconds < 2**34 else None


POOL: Final = "pool"
"""The name of the one place where jobs wait: HTCondor has no queues."""


def pool_queue(groups: Sequence[NodeGroup], waiting: int | None, running: int | None) -> Queue:
    """The pool as a queue: a job gets (a part of) one machine, for as long as nothing removes it."""
    up = sum(group.nodes_up or 0 for group in groups)
    return Queue(
        name=POOL,
        usable=Truth.YES if up else Truth.NO,
        reason="" if up else "no machine of the pool takes jobs",
        default=True,
        walltime_unlimited=True,
        min_nodes=1,
        max_nodes=1,
        jobs_pending=waiting,
        jobs_running=running,
        nodes_total=sum(group.nodes or 0 for group in groups),
        nodes_idle=sum_of(group.nodes_idle for group in groups),
        exclusive_nodes=Truth.NO,
    )


def queue_depth(points: Sequence[Ad]) -> tuple[int | None, int | None]:
    """Jobs that wait and run at all access points of a pool; None where one of them does not tell, or there is none.

    Held jobs wait for a person, not for a machine, and are left out.
    """
    sums = []
    for key in ("TotalIdleJobs", "TotalRunningJobs"):
        counts = [_whole(one.get(key)) for one in points]
        known = [count for count in counts if count is not None]
        sums.append(sum(known) if known and len(known) == len(counts) else None)
    return sums[0], sums[1]


_Kind = tuple[int | None, int | None, int, str | None]
"""Cores, memory in MiB, GPUs and their model."""


def group_slots(slots: Sequence[Ad]) -> tuple[NodeGroup, ...]:
    """Alike machines together. A machine has one partitionable slot with what is free in it, or fixed ones."""
    machines: dict[str, list[Ad]] = defaultdict(list)
    for slot in slots:
        machines[str(slot["Machine"])].append(slot)
    alike: dict[_Kind, list[tuple[str, int, int, bool]]] = defaultdict(list)
    shares: dict[_Kind, list[FreeShare]] = defaultdict(list)
    for name, mine in machines.items():
        open_ = [one for one in mine if one.get("State") == "Unclaimed" and one.get("SlotType") != "Dynamic"]
        cpus, memory = (_most(mine, key) for key in ("TotalCpus", "TotalMemory"))
        gpus = max(_whole(one.get("TotalGPUs")) or 0 for one in mine)
        model = next((str(one["GPUs_DeviceName"]) for one in mine if one.get("GPUs_DeviceName")), None)
        free, cards = (sum(_of(one, key) for one in open_) for key in ("Cpus", "GPUs"))
        up = any(one.get("State") in ("Unclaimed", "Claimed", "Matched", "Preempting") for one in mine)
        alike[cpus, memory, gpus, model].append((name, free, cards, up))
        if up:
            # A job gets one slot: what is free in two fixed ones is not free together.
            parts = [FreeShare(cpus=_of(one, "Cpus"), memory_bytes=_of(one, "Memory") * 2**20,
                               gpus=(_of(one, "GPUs"),) if gpus else ()) for one in open_]  # fmt: skip
            shares[cpus, memory, gpus, model] += parts or [nothing_free(1 if gpus else 0)]
    return tuple(
        NodeGroup(
            nodes=len(members),
            nodes_up=sum(up for *_, up in members),
            nodes_idle=sum(up and free >= cpus for _, free, _, up in members) if cpus is not None else None,
            cpus_per_node=cpus,
            cpus_free=sum(free for _, free, *_ in members),
            largest_free_cpus=max((share.cpus for share in shares[cpus, memory, gpus, model]), default=0),
            memory_bytes_per_node=memory * 2**20 if memory is not None else None,
            memory_free_bytes=max((share.memory_bytes or 0 for share in shares[cpus, memory, gpus, model]), default=0),
            free_shares=counted_shares(shares[cpus, memory, gpus, model]),
            gpus=(Gpu(model=model, count=gpus, free=sum(cards for *_, cards, _ in members)),) if gpus else (),
            example=members[0][0],
        )
        for (cpus, memory, gpus, model), members in alike.items()
    )


def _of(slot: Ad, key: str) -> int:
    return _whole(slot.get(key)) or 0


def _most(slots: Sequence[Ad], key: str) -> int | None:
    """What the machine has as a whole, which each of its slots tells; None where none does."""
    return max((number for one in slots if (number := _whole(one.get(key))) is not None), default=None)
