"""Slurm's words: job states, reasons for waiting, refusals, and variables that change what its commands do.

Sources: squeue(1) and sacct(1) "JOB STATE CODES", the job reason codes and resource limits pages of the Slurm
documentation, slurm_errno(3), for releases 20.11 to 25.05.
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["ASKING_UNSET", "ERRORS", "NEVER_STARTED", "REASONS", "STATES", "SUBMIT_UNSET"]

STATES: Final[dict[str, JobState]] = {
    "BOOT_FAIL": JobState.NODE_FAILED, "BF": JobState.NODE_FAILED,
    "CANCELLED": JobState.CANCELLED, "CA": JobState.CANCELLED,
    "COMPLETED": JobState.COMPLETED, "CD": JobState.COMPLETED,
    # The job holds its nodes while they boot or the prolog runs: its time counts.
    "CONFIGURING": JobState.RUNNING, "CF": JobState.RUNNING,
    "COMPLETING": JobState.COMPLETING, "CG": JobState.COMPLETING,
    "DEADLINE": JobState.TIMED_OUT, "DL": JobState.TIMED_OUT,
    "EXPEDITING": JobState.PENDING, "EX": JobState.PENDING,
    "FAILED": JobState.FAILED, "F": JobState.FAILED,
    "LAUNCH_FAILED": JobState.FAILED,
    "NODE_FAIL": JobState.NODE_FAILED, "NF": JobState.NODE_FAILED,
    "OUT_OF_MEMORY": JobState.OUT_OF_MEMORY, "OOM": JobState.OUT_OF_MEMORY,
    "PENDING": JobState.PENDING, "PD": JobState.PENDING,
    "POWER_UP_NODE": JobState.RUNNING,
    "PREEMPTED": JobState.PREEMPTED, "PR": JobState.PREEMPTED,
    "RECONFIG_FAIL": JobState.NODE_FAILED,
    "RUNNING": JobState.RUNNING, "R": JobState.RUNNING,
    "RESV_DEL_HOLD": JobState.HELD, "RD": JobState.HELD,
    "REQUEUED": JobState.PENDING, "RQ": JobState.PENDING,
    "REQUEUE_FED": JobState.PENDING, "RF": JobState.PENDING,
    "REQUEUE_HOLD": JobState.HELD, "RH": JobState.HELD,
    "RESIZING": JobState.RUNNING, "RS": JobState.RUNNING,
    "SIGNALING": JobState.RUNNING, "SI": JobState.RUNNING,
    "SPECIAL_EXIT": JobState.HELD, "SE": JobState.HELD,
    "STAGE_OUT": JobState.COMPLETING, "SO": JobState.COMPLETING,
    "STOPPED": JobState.SUSPENDED, "ST": JobState.SUSPENDED,
    "SUSPENDED": JobState.SUSPENDED, "S": JobState.SUSPENDED,
    "TIMEOUT": JobState.TIMED_OUT, "TO": JobState.TIMED_OUT,
    # REVOKED is left out on purpose: another cluster of the federation runs the job, so this one knows nothing.
}  # fmt: skip

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

_LIMITS = (
    # Order counts: a limit on one job's size is for ever, the same word per user or group passes.
    (r"Max\w*Per(?:Job|Node)|MaxMemPerLimit|MaxCpuPerNode|\bQOSMin\w+|\bAssocMin\w+|MinCpusNotSatisfied", NEVER),
    (r"\b(?:QOS|Association|Assoc)TimeLimit|MaxWall", NEVER),
    (r"Grp\w*(?<!Run)Minutes|GrpBilling(?:Limit)?$|GrpTRESMins", PERSON),  # the allocation is used up
    (r"\b(?:QOS|Assoc)(?:Max|Grp)\w+|\bQOS(?:Job|Resource)Limit|\bAssociation(?:Job|Resource)Limit", WAIT),
    (r"QOSUsageThreshold", WAIT),
)

REASONS: Final[Rules] = table(
    (r"\bheld\b|JobHeld\w+|JobHoldMaxRequeue|MaxRequeue|requeued[_ ]held|held state", PERSON),
    *_LIMITS,
    (r"DependencyNeverSatisfied", NEVER),
    (r"PartitionTimeLimit|PartitionNodeLimit|PartitionConfig|BadConstraints|DeadLine|ReservationDeleted", NEVER),
    (r"Invalid(?:Account|QOS)|(?:Account|QOS)NotAllowed|NodeNotAllowed|OutOfConstraints|AssocNotFound", NEVER),
    # Somebody closed the partition: it may open again, but nothing that the job waits for brings that about.
    (r"PartitionDown|PartitionInactive|PartitionDrain", PERSON),
    (r"BurstBuffer(?:Operation|Error)|StageInFailed|JobLaunchFailure|launch failed|SystemFailure|FrontEndFail", PERSON),
    (r"^(?:Priority|Resources|Dependency|BeginTime|Reservation|Licenses|Cleaning|Prolog|None|SchedDefer)\b", WAIT),
    (r"JobArrayTaskLimit|ReqNodeNotAvail|NodeDown|FrontEndDown|FedJobLock|CompilingJob|SubmitDelay", WAIT),
    (r"Nodes required for job are DOWN|BurstBuffer(?:Resources|StageIn)|Power(?:NotAvail|Reserved)|ReqMCS", WAIT),
)  # fmt: skip
"""`%r` of squeue."""

NEVER_STARTED: Final = frozenset({"BadConstraints", "InvalidAccount", "InvalidQOS", "DependencyNeverSatisfied"})
"""A FAILED job with one of these reasons was rejected after its submit."""

ERRORS: Final[Rules] = table(
    *_LIMITS,
    (r"invalid (?:partition|account|qos|feature|generic resource|job array|node name|license|wckey|qos)", NEVER),
    (r"Requested (?:node configuration is not|reservation is invalid|time limit is invalid)", NEVER),
    (r"more processors requested|node count specification invalid|memory (?:required by task|specification)", NEVER),
    (r"not permitted to use|not allowed to submit|required (?:feature|license)|job dependency problem", NEVER),
    (r"invalid (?:--\S+|\S+) specification|(?:unrecognized|invalid|ambiguous) option|requires an argument", NEVER),
    (r"DOS line breaks|does not look like a batch script|unable to open file|size of script", NEVER),
    (r"line \d+: (?:Unexpected|Unmatched)", NEVER),
    (r"invalid (?:Trackable RESource|dependency|cluster name)|GRES option unsupported|parameter too long", NEVER),
    (r"burst buffer request invalid|can not be satisfied|topology configuration is not available", NEVER),
    (r"is not (?:a )?valid|invalid numeric|task (?:count|distribution)|begin time|deadline", NEVER),
    (r"presently disabled|reservation is not usable", WAIT),
    (r"requested nodes are busy|partition configuration not available now|node not available|MaxJobCount", WAIT),
    (r"required partition not available|access/permission denied|permission denied|credential|munge", PERSON),
    (r"Incompatible versions|current user's uid", PERSON),
    (r"authentication|expired|quota exceeded|no space left|not authorized|invalid user", PERSON),
)  # fmt: skip
"""What sbatch says when it refuses (after its reason code, where it prints one)."""

_ASKING = ("SQUEUE_*", "SACCT_*", "SINFO_*", "SCONTROL_*", "SCANCEL_*", "SLURM_TIME_FORMAT", "SLURM_CLUSTERS")
ASKING_UNSET: Final = (*_ASKING, "SLURM_BITSTR_LEN", "SLURM_JSON", "SLURM_YAML", "SBATCH_*")
"""Not `SLURM_*` as a whole: SLURM_CONF tells some sites' commands where their controller is."""

SUBMIT_UNSET: Final = (
    *ASKING_UNSET, "SLURM_JOB*", "SLURM_STEP*", "SLURM_ARRAY_*", "SLURM_HET_*", "SLURM_NTASKS*", "SLURM_TASKS_PER_NODE",
    "SLURM_NPROCS", "SLURM_NNODES", "SLURM_NODELIST", "SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_CPU*",
    "SLURM_MEM_*", "SLURM_GPU*", "SLURM_GRES*", "SLURM_TRES_*", "SLURM_HINT", "SLURM_THREADS_PER_CORE",
    "SLURM_CORE_SPEC", "SLURM_EXCLUSIVE", "SLURM_OVERCOMMIT", "SLURM_DISTRIBUTION", "SLURM_DEPENDENCY",
    "SLURM_CONSTRAINT", "SLURM_PARTITION", "SLURM_ACCOUNT", "SLURM_QOS", "SLURM_RESERVATION", "SLURM_TIMELIMIT",
    "SLURM_EXPORT_ENV", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURM_SUBMIT_*", "SLURM_EXIT_ERROR",
)  # fmt: skip
"""Jobs inherit the submitting environment: what an allocation around us left behind must not reach them."""
