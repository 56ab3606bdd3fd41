"""Kubernetes' words: conditions of Jobs, phases and reasons of pods, reasons for waiting, refusals.

Sources: the API reference of batch/v1 Job and v1 Pod, "Pod lifecycle" and "Disruptions" of the documentation, for 1.20
to 1.34.
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["CONDITIONS", "ENDS", "ERRORS", "PHASES", "REASONS", "STATES"]

CONDITIONS: Final[dict[str, JobState]] = {
    "Complete": JobState.COMPLETED,
    "Failed": JobState.FAILED,  # why: the condition's reason, or the pods
    "FailureTarget": JobState.COMPLETING,  # decided, while pods still end
    "SuccessCriteriaMet": JobState.COMPLETING,
    "Suspended": JobState.HELD,
}
"""Types of a Job's conditions with status True, the weightier first."""

PHASES: Final[dict[str, JobState]] = {
    "Pending": JobState.PENDING,
    "Running": JobState.RUNNING,
    # The pod ended; the Job is still to be marked.
    "Succeeded": JobState.COMPLETING,
    "Failed": JobState.COMPLETING,
    # Unknown is left out: the node does not answer.
}

ENDS: Final[dict[str, JobState]] = {
    "DeadlineExceeded": JobState.TIMED_OUT,
    "OOMKilled": JobState.OUT_OF_MEMORY,
    "Evicted": JobState.PREEMPTED,
    "Preempting": JobState.PREEMPTED, "PreemptionByScheduler": JobState.PREEMPTED,
    "PreemptionByKubeScheduler": JobState.PREEMPTED, "EvictionByEvictionAPI": JobState.PREEMPTED,
    "NodeLost": JobState.NODE_FAILED, "NodeShutdown": JobState.NODE_FAILED, "Shutdown": JobState.NODE_FAILED,
    "Terminated": JobState.NODE_FAILED, "NodeAffinity": JobState.NODE_FAILED,
    "DeletionByTaintManager": JobState.NODE_FAILED, "DeletionByPodGC": JobState.NODE_FAILED,
    "TerminationByKubelet": JobState.NODE_FAILED, "UnexpectedAdmissionError": JobState.NODE_FAILED,
    "OutOfcpu": JobState.NODE_FAILED, "OutOfmemory": JobState.NODE_FAILED, "OutOfpods": JobState.NODE_FAILED,
    "ContainerCannotRun": JobState.FAILED, "StartError": JobState.FAILED, "Error": JobState.FAILED,
    "ContainerStatusUnknown": JobState.NODE_FAILED, "Completed": JobState.COMPLETED,
}  # fmt: skip
"""Reasons of a pod that ended, of its containers, and of its condition DisruptionTarget."""

STATES: Final[dict[str, JobState]] = {**ENDS, **PHASES, **CONDITIONS}

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

REASONS: Final[Rules] = table(
    (r"InvalidImageName|exceeds the capacity of every node", NEVER),
    (r"ErrImageNeverPull|ImagePullBackOff|ErrImagePull|RegistryUnavailable|SignatureValidationFailed", PERSON),
    (r"CreateContainerConfigError|CreateContainerError|RunContainerError|suspended|FailedMount", PERSON),
    (r"persistentvolumeclaim .* not found|unbound immediate PersistentVolumeClaims", PERSON),
    (r"SchedulingGated|exceeded quota", WAIT),
    (r"Insufficient|Too many pods|ContainerCreating|PodInitializing|no pod yet|were unschedulable|not-ready", WAIT),
    (r"nodes are available", ReasonClass.UNKNOWN),
)  # fmt: skip
"""Why a pod waits. `Insufficient` is the same word for a full cluster and for a request that fits nowhere: that is
looked at apart."""

ERRORS: Final[Rules] = table(
    (r"exceeded quota|TooManyRequests|too many requests", WAIT),
    (r"is invalid:|Invalid value|Required value|unknown field|ValidationError|error validating|strict decoding", NEVER),
    (r"maximum (?:cpu|memory|\S+) usage per|must be less than or equal to|minimum \S+ usage per", NEVER),
    (r"namespaces \S+ not found|no matches for kind|doesn't have a resource type", NEVER),
    (r"Unauthorized|logged in to the server|Forbidden|forbidden|violates PodSecurity|denied the request", PERSON),
    (r"context was not found|error loading config|no configuration|certificate|token|exec plugin", PERSON),
)  # fmt: skip
"""What kubectl says when it refuses."""
