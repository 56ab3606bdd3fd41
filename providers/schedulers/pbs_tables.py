"""The words of PBS and Torque: states, exit values, comments, refusals.

Sources: the job states, substates and exit values of the PBS Reference Guide ("Job States", "Job Exit Status Codes")
and of `job.h`; qstat(1B); the Torque Administrator Guide ("Job exit status", "Job states").
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["ERRORS", "PBS_EXITS", "PBS_STATES", "REASONS", "TORQUE_EXITS", "TORQUE_STATES"]

PBS_STATES: Final[dict[str, JobState]] = {
    "C": JobState.COMPLETED,  # Completed, in Torque's word, which wrappers keep: how, the exit value says
    "B": JobState.RUNNING,  # Begun: an array of which at least one task has started
    "E": JobState.COMPLETING,  # Exiting
    "F": JobState.COMPLETED,  # Finished: how, the exit value and the substate say
    "H": JobState.HELD,
    "M": JobState.UNKNOWN,  # Moved: another server knows
    "Q": JobState.PENDING,
    "R": JobState.RUNNING,
    "S": JobState.SUSPENDED,  # by the server
    "T": JobState.PENDING,  # Transit between queues
    "U": JobState.SUSPENDED,  # by the user of the host (cycle harvesting)
    "W": JobState.PENDING,  # Waiting for its execution time
    "X": JobState.COMPLETED,  # Expired: a task of an array that has ended
}
TORQUE_STATES: Final[dict[str, JobState]] = {
    "C": JobState.COMPLETED,  # Completed: how, the exit value says
    "E": JobState.COMPLETING,
    "H": JobState.HELD,
    "Q": JobState.PENDING,
    "R": JobState.RUNNING,
    "S": JobState.SUSPENDED,
    "T": JobState.PENDING,
    "W": JobState.PENDING,
}

FAILED, NEVER_RAN, NODE = JobState.FAILED, JobState.NEVER_RAN, JobState.NODE_FAILED

PBS_EXITS: Final[dict[int, tuple[str, JobState]]] = {
    -1: ("JOB_EXEC_FAIL1", NEVER_RAN),
    -2: ("JOB_EXEC_FAIL2", NEVER_RAN),
    -3: ("JOB_EXEC_RETRY", NEVER_RAN),
    -4: ("JOB_EXEC_INITABT", NODE),
    -5: ("JOB_EXEC_INITRST", NODE),
    -6: ("JOB_EXEC_INITRMG", NODE),
    -7: ("JOB_EXEC_BADRESRT", FAILED),
    -10: ("JOB_EXEC_FAILUID", NEVER_RAN),
    -11: ("JOB_EXEC_RERUN", NODE),
    -12: ("JOB_EXEC_CHKP", JobState.PREEMPTED),
    -13: ("JOB_EXEC_FAIL_PASSWORD", NEVER_RAN),
    -14: ("JOB_EXEC_RERUN_SIS_FAIL", NODE),
    -15: ("JOB_EXEC_QUERST", JobState.PREEMPTED),
    -16: ("JOB_EXEC_FAILHOOK_RERUN", NEVER_RAN),
    -17: ("JOB_EXEC_FAILHOOK_DELETE", NEVER_RAN),
    -18: ("JOB_EXEC_HOOK_RERUN", FAILED),
    -19: ("JOB_EXEC_HOOK_DELETE", FAILED),
    -20: ("JOB_EXEC_RERUN_MS_FAIL", NODE),
    -21: ("JOB_EXEC_FAIL_SECURITY", NEVER_RAN),
    -22: ("JOB_EXEC_HOOKERROR", FAILED),
    -23: ("JOB_EXEC_FAIL_KRB5", NEVER_RAN),
    -24: ("JOB_EXEC_KILL_NCPUS_BURST", FAILED),
    -25: ("JOB_EXEC_KILL_NCPUS_SUM", FAILED),
    -26: ("JOB_EXEC_KILL_VMEM", JobState.OUT_OF_MEMORY),
    -27: ("JOB_EXEC_KILL_MEM", JobState.OUT_OF_MEMORY),
    -28: ("JOB_EXEC_KILL_CPUT", JobState.TIMED_OUT),
    -29: ("JOB_EXEC_KILL_WALLTIME", JobState.TIMED_OUT),
}
TORQUE_EXITS: Final[dict[int, tuple[str, JobState]]] = {
    **{code: PBS_EXITS[code] for code in (-1, -2, -3, -4, -5, -6, -7)},
    -8: ("JOB_EXEC_CMDFAIL", NEVER_RAN),
    -9: ("JOB_EXEC_STDOUTFAIL", NEVER_RAN),
    -10: ("JOB_EXEC_OVERLIMIT_MEM", JobState.OUT_OF_MEMORY),
    -11: ("JOB_EXEC_OVERLIMIT_WT", JobState.TIMED_OUT),
    -12: ("JOB_EXEC_OVERLIMIT_CPUT", JobState.TIMED_OUT),
    -13: ("JOB_EXEC_RETRY_CGROUP", NEVER_RAN),
    -14: ("JOB_EXEC_RETRY_PROLOGUE", NEVER_RAN),
}

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

REASONS: Final[Rules] = table(
    (r"Can Never Run|can never|impossible", NEVER),
    (r"held|hold|too many failed attempts", PERSON),
    (r"Queue not started|not enabled|Unauthori[sz]ed|not authori[sz]ed|No permission", PERSON),
    (r"walltime.*exceed|exceeds?.*(?:queue|server).*max", NEVER),
    (r"Job violates|resource limits violated", NEVER),
    (r"depend", WAIT),
    (r"not enough|insufficient amount|no available resources|would exceed|limit|would conflict|top job", WAIT),
    (r"ineligible state|in use|reservation|dedicated time|prime|non-prime|starv|fairshare|preempt|draining", WAIT),
    (r"job is requesting an exclusive node|provision|throttl|server is not available|PBS Error", WAIT),
    (r"waiting for|execution time|stag", WAIT),
)
"""`comment` of a job that waits; sites' own scheduler formulas and hooks add words of theirs."""

ERRORS: Final[Rules] = table(
    (r"Unknown queue|Unknown resource|Illegal attribute|illegal -|illegally formed|Job name is too long", NEVER),
    (r"violates queue and/or server resource limits|Job rejected by all possible destinations", NEVER),
    (
        r"Resource .*not allowed|Cannot set attribute|Invalid value|Undefined attribute|usage: qsub|script file",
        NEVER,
    ),
    (r"(?:invalid|illegal|unrecognized) option", NEVER),
    (
        r"Array job exceeds|size exceeds|Job exceeds|Invalid request|job dependency|Unknown Job Id|No default queue",
        NEVER,
    ),
    (
        r"directive error|bad resource list|node\(s\) specification error|Duplicate entry in list|job array request",
        NEVER,
    ),
    (r"cannot be used without|conflicting options|unmatched|not a positive number|out of range", NEVER),
    (
        r"Queue is not enabled|Access to queue is denied|Unauthori[sz]ed Request|Bad UID|Bad GID|not authori[sz]ed",
        PERSON,
    ),
    (r"No such (?:user|group)|password|credential|permission denied|No Permission|account|project|allocation", PERSON),
    (r"Maximum number of jobs|would exceed|limit on (?:number of )?(?:jobs|resource)|queued_jobs_threshold", WAIT),
    (r"server is shutting down|system error|out of memory|Resource temporarily unavailable", WAIT),
)
"""What qsub says when it refuses."""
