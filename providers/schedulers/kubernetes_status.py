"""What Jobs and their pods say of a job (batch/v1 Job, v1 Pod): the Job decides its end, the pods tell why.

A Job counts a pod as active while it can be placed nowhere or its image cannot be fetched, so what a Job waits for is
read from its pods. `completionTime` is set for completed Jobs only: the end of a failed one is its condition's time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.model import Json
from providers.schedulers.base import Rules, one_line
from providers.schedulers.combining import indices
from providers.schedulers.json_items import decode_items
from providers.schedulers.kubernetes_job import ARRAY
from providers.schedulers.kubernetes_tables import CONDITIONS, ENDS, PHASES, REASONS
from providers.schedulers.kubernetes_units import read_quantity

__all__ = ["Objects", "Thing", "job_status", "listed", "mapped", "part", "pod_needs", "read_objects", "sort_objects"]

Thing = Mapping[str, Any]
"""An object of the API, as decoded."""


class Objects(NamedTuple):
    """Jobs by name, and the pods of each."""

    jobs: dict[str, Thing]
    pods: dict[str, list[Thing]]


def part(thing: Any, *path: str) -> Any:  # noqa: ANN401 # JSON of any shape
    """What lies at a path; None where any part of it is missing."""
    for key in path:
        thing = thing.get(key) if isinstance(thing, dict) else None
    return thing


def listed(thing: Any, *path: str) -> list[Thing]:  # noqa: ANN401
    """The objects of a list at a path."""
    found = part(thing, *path)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def mapped(thing: Any, *path: str) -> Thing:  # noqa: ANN401
    """The object at a path; an empty one where there is none."""
    found = part(thing, *path)
    return found if isinstance(found, dict) else {}


def read_objects(text: str) -> tuple[list[Thing], str]:
    """Objects of `-o json`, one or a list, and why they cannot be used."""
    try:
        found, read = decode_items(text, "items", _kept)
    except (ValueError, RecursionError) as error:
        return [], f"the answer of kubectl is cut off or no JSON ({one_line(str(error), limit=100)})"
    if "kind" not in found:
        return [], "the answer of kubectl is no object"
    if read is not None:
        kind = str(found["kind"]).removesuffix("List")
        items = [one for one in read if one is not None]
        return [one if "kind" in one else {**one, "kind": kind} for one in items], ""
    return [found], ""


_PASSED_OVER = frozenset(
    {
        "managedFields", "ownerReferences", "uid", "generateName", "finalizers", "template", "volumes", "tolerations",
        "selector", "securityContext", "affinity", "volumeMounts", "env", "command", "args", "image", "imageID",
        "images", "containerID", "hostIPs", "podIPs",
    }
)  # fmt: skip
"""What tells nothing of where an object stands: most of a long list of Jobs and pods."""

_OF_PEOPLE = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
"""The same of labels and annotations, whose names anybody chooses."""


def _kept(item: Json) -> Thing | None:
    """An object without the parts that are never looked at, its words shared with those of the others."""
    return {sys.intern(key): _shared(value, key) for key, value in item.items()} if isinstance(item, dict) else None


def _shared(value: Json, key: str = "") -> Json:
    if isinstance(value, dict):
        over = _OF_PEOPLE if key in ("labels", "annotations") else _PASSED_OVER
        return {sys.intern(name): _shared(one, name) for name, one in value.items() if name not in over}
    if isinstance(value, list):
        return [_shared(one) for one in value]
    return sys.intern(value) if isinstance(value, str) else value


def sort_objects(things: Sequence[Thing]) -> Objects:
    """Jobs and pods apart; pods by the Job that they belong to."""
    jobs: dict[str, Thing] = {}
    pods: dict[str, list[Thing]] = {}
    for thing in things:
        if thing.get("kind") == "Job":
            jobs[str(part(thing, "metadata", "name"))] = thing
        elif thing.get("kind") == "Pod":
            labels = mapped(thing, "metadata", "labels")
            owner = labels.get("batch.kubernetes.io/job-name") or labels.get("job-name") or ""
            pods.setdefault(str(owner), []).append(thing)
    return Objects(jobs, pods)


def _moment(value: object) -> datetime | None:
    """A time of the API (RFC 3339), or None."""
    if not isinstance(value, str) or re.match(r"\d{4}-\d\d-\d\dT", value) is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def pod_needs(pod: Thing) -> dict[str, Fraction]:
    """What a pod asks of a node."""
    needs: dict[str, Fraction] = {}
    for container in listed(pod, "spec", "containers"):
        for name, text in mapped(container, "resources", "requests").items():
            amount = read_quantity(text)
            if amount is not None:
                needs[name] = needs.get(name, Fraction(0)) + amount
    return needs


class _Pod(NamedTuple):
    state: JobState
    reason: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    ended: datetime | None = None


def _terminated(pod: Thing) -> Iterator[Thing]:
    for status in listed(pod, "status", "containerStatuses"):
        for which in ("state", "lastState"):
            ended = part(status, which, "terminated")
            if isinstance(ended, dict):
                yield ended
                break


def _read_pod(pod: Thing) -> _Pod:
    phase = str(part(pod, "status", "phase") or "")
    state = PHASES.get(phase, JobState.UNKNOWN)
    running = [part(one, "state", "running", "startedAt") for one in listed(pod, "status", "containerStatuses")]
    ended = next(_terminated(pod), None)
    code = ended.get("exitCode") if ended is not None else None
    started = _moment(ended.get("startedAt")) if ended is not None else next(filter(None, map(_moment, running)), None)
    finished = _moment(ended.get("finishedAt")) if ended is not None else None
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    if state is JobState.PENDING:
        return _Pod(state, _why_pending(pod))
    if phase == "Failed":
        words = [str(part(pod, "status", "reason") or ""), str(part(ended, "reason") or "")]
        words += [
            str(one.get("reason") or "")
            for one in listed(pod, "status", "conditions")
            if one.get("type") == "DisruptionTarget" and one.get("status") == "True"
        ]
        # What ended the pod weighs more than how the container took it.
        word = next((one for one in (words[0], *words[2:], words[1]) if one in ENDS), "")
        told = one_line(f"{word}: {part(pod, 'status', 'message') or part(ended, 'message') or ''}").rstrip(": ")
        return _Pod(ENDS.get(word, JobState.FAILED), told, code or None, started, finished)
    if phase == "Succeeded":
        return _Pod(JobState.COMPLETED, "", code, started, finished)
    if state is JobState.UNKNOWN:
        return _Pod(state, one_line(f"the pod's phase is {phase or 'not told'}: its node does not answer"))
    return _Pod(state, "", None, started)


def _why_pending(pod: Thing) -> str:
    for status in [*listed(pod, "status", "initContainerStatuses"), *listed(pod, "status", "containerStatuses")]:
        waiting = part(status, "state", "waiting")
        if isinstance(waiting, dict) and waiting.get("reason"):
            return one_line(f"{waiting['reason']}: {waiting.get('message') or ''}").rstrip(": ")
    for one in listed(pod, "status", "conditions"):
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            return one_line(f"{one.get('reason') or 'Unschedulable'}: {one.get('message') or ''}").rstrip(": ")
    return "ContainerCreating" if part(pod, "spec", "nodeName") else "no node yet"


def job_status(
    ref: JobRef, job: Thing, pods: Sequence[Thing] | None, largest: Mapping[str, Fraction], rules: Rules = REASONS
) -> JobStatus:
    """Status of one Job.

    Args:
        ref: as asked.
        job: the object.
        pods: its pods; None: they were not shown.
        largest: the most of each resource that one node has, as far as known; only to tell never from wait.
        rules: what reasons mean.

    """
    conditions = {
        str(one.get("type")): one for one in listed(job, "status", "conditions") if str(one.get("status")) == "True"
    }
    told = next((kind for kind in CONDITIONS if kind in conditions), "")
    read = [_read_pod(pod) for pod in pods or ()]
    state, reason, word = CONDITIONS.get(told, JobState.UNKNOWN), "", told
    chosen = _Pod(JobState.UNKNOWN)
    if state is JobState.FAILED:
        state, reason, chosen = _why_failed(conditions[told], read)
    elif state is JobState.COMPLETED:
        chosen = next((pod for pod in read if pod.state is JobState.COMPLETED), chosen)
    elif part(job, "metadata", "deletionTimestamp"):
        state, reason, word = JobState.COMPLETING, "being deleted", "deleted"
    elif state is JobState.UNKNOWN and part(job, "spec", "suspend") is True:
        state, word = JobState.HELD, "suspend"
    elif state is JobState.UNKNOWN:
        active = part(job, "status", "active")
        state, reason, chosen = _under_way(read, shown=pods is not None and bool(read or not active))
        word = str(part(pods[0], "status", "phase") or "") if pods else "no pod"
    if state is JobState.HELD:
        reason = "the Job is suspended"
    waits = state in (JobState.PENDING, JobState.HELD)
    meaning = _meaning(reason, pods or (), largest, rules) if waits else None
    final = state.final
    code = 0 if state is JobState.COMPLETED else chosen.exit_code if final else None
    starts = [pod.started for pod in read if pod.started is not None]
    ends = [pod.ended for pod in read if pod.ended is not None]
    changed = _moment(part(conditions.get(told), "lastTransitionTime"))
    return JobStatus(
        ref=ref,
        state=state,
        native_state=word[:200],
        reason=reason[:1000],
        reason_class=meaning,
        name=_text(part(job, "metadata", "labels", "dragoman/name")),
        queue=_text(part(job, "metadata", "namespace")),
        exit_code=code,
        signal=code - 128 if code is not None and 128 < code <= 192 else None,
        submitted_at=_moment(part(job, "metadata", "creationTimestamp")),
        started_at=min(starts, default=None),
        ended_at=(_moment(part(job, "status", "completionTime")) or max(ends, default=None) or changed)
        if final
        else None,
        nodes=tuple(dict.fromkeys(str(node) for pod in pods or () if (node := part(pod, "spec", "nodeName")))),
        restarts=max(len(pods) - 1, 0) if pods and part(job, "spec", "completions") in (None, 1) else None,
        array_tasks=_tasks(job, pods or (), read),
    )


def _text(value: object) -> str | None:
    return str(value) if value else None


def _why_failed(condition: Thing, read: Sequence[_Pod]) -> tuple[JobState, str, _Pod]:
    why = str(condition.get("reason") or "")
    message = one_line(f"{why}: {condition.get('message') or ''}").rstrip(": ")
    if why == "DeadlineExceeded":
        return JobState.TIMED_OUT, message, _Pod(JobState.UNKNOWN)
    ended = [pod for pod in read if pod.state.final and pod.state is not JobState.COMPLETED]
    if not ended:
        return JobState.FAILED, message, _Pod(JobState.UNKNOWN)
    # A program's own failure says less than what was done to it.
    chosen = next((pod for pod in ended if pod.state is not JobState.FAILED), ended[-1])
    return chosen.state, chosen.reason or message, chosen


def _under_way(read: Sequence[_Pod], *, shown: bool) -> tuple[JobState, str, _Pod]:
    if not shown:
        return JobState.UNKNOWN, "its pods were not shown", _Pod(JobState.UNKNOWN)
    if not read:
        return JobState.PENDING, "no pod yet", _Pod(JobState.PENDING)
    for state in (JobState.RUNNING, JobState.UNKNOWN, JobState.PENDING):
        for pod in read:
            if pod.state is state:
                return state, pod.reason, pod
    return JobState.COMPLETING, "its pods have ended, the Job is not marked yet", read[0]


def _meaning(reason: str, pods: Sequence[Thing], largest: Mapping[str, Fraction], rules: Rules) -> ReasonClass:
    if reason.startswith("Unschedulable"):
        for pod in pods:
            if any(name in largest and amount > largest[name] for name, amount in pod_needs(pod).items()):
                return ReasonClass.NEVER
            # A kind that no node offers is no smaller than one that all nodes offer too little of.
            if largest and any(
                name not in largest and "/" in name and amount for name, amount in pod_needs(pod).items()
            ):
                return ReasonClass.NEVER
        nodes = re.search(r"0/(\d+) nodes are available", reason)
        others = re.findall(r"(\d+) node\(s\) didn't match", reason)
        if nodes is not None and int(nodes[1]) and sum(map(int, others)) >= int(nodes[1]):
            return ReasonClass.NEVER
    return next((rule.meaning for rule in rules if rule.pattern.search(reason)), ReasonClass.UNKNOWN)


def _array(job: Thing) -> list[int]:
    text = part(job, "metadata", "annotations", ARRAY)
    return [index for span in str(text).split(",") for index in indices(span)] if text else []


def _tasks(job: Thing, pods: Sequence[Thing], read: Sequence[_Pod]) -> dict[str, JobState]:
    """By the array's own indices, which the Job's annotation holds in the order of its positions."""
    order = _array(job)
    if not order:
        return {}
    places: dict[int, JobState] = {}
    for pod, one in zip(pods, read, strict=False):
        place = part(pod, "metadata", "annotations", "batch.kubernetes.io/job-completion-index")
        if str(place).isdecimal():
            places[int(place)] = one.state
    for key, state in (("completedIndexes", JobState.COMPLETED), ("failedIndexes", JobState.FAILED)):
        for place in indices(str(part(job, "status", key) or "")):
            known = places.get(place, state)
            places[place] = known if known.final else state
    return {str(order[place]): state for place, state in sorted(places.items()) if place < len(order)}
