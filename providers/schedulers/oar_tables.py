"""OAR's words: job states, events that tell one end from another, reasons, refusals, oarsub's options.

Sources: the states and events of OAR 2.5's documentation ("Database scheme", oarstat(1), oarsub(1)).
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["ALIASES", "ENDS", "ERRORS", "HOLD_EVENTS", "OPTIONS", "OUR_OPTIONS", "REASONS", "STATES"]

STATES: Final[dict[str, JobState]] = {
    "Waiting": JobState.PENDING, "W": JobState.PENDING,
    "toLaunch": JobState.PENDING, "L": JobState.RUNNING,
    "Launching": JobState.RUNNING,
    "toAckReservation": JobState.PENDING,
    "Hold": JobState.HELD, "H": JobState.HELD,
    "Running": JobState.RUNNING, "R": JobState.RUNNING,
    "Suspended": JobState.SUSPENDED, "S": JobState.SUSPENDED,
    "Resuming": JobState.SUSPENDED,
    "Finishing": JobState.COMPLETING, "F": JobState.COMPLETING,
    "toError": JobState.COMPLETING,
    # The exit code tells how: `exit 3` ends as Terminated too.
    "Terminated": JobState.COMPLETED, "T": JobState.COMPLETED,
    # The events tell why: walltime and delete both end so.
    "Error": JobState.FAILED, "E": JobState.FAILED,
}  # fmt: skip
"""Words of `oarstat -f -J` and letters of its table; `-` (an array in compact form) is left out: it tells nothing."""

HOLD_EVENTS: Final = frozenset({"HOLD_WAITING_JOB", "HOLD_RUNNING_JOB"})
"""Somebody held it. A new job stands in Hold for an instant while oarsub writes it down."""

ENDS: Final[dict[str, JobState]] = {
    "WALLTIME": JobState.TIMED_OUT,
    "BESTEFFORT_KILL": JobState.PREEMPTED,
    "BESTEFFORT_KILL_JOB": JobState.PREEMPTED,
    "RESUBMIT_JOB_AUTOMATICALLY": JobState.PREEMPTED,
    "SUSPECTED_NODE": JobState.NODE_FAILED, "PING_CHECKER_NODE_SUSPECTED": JobState.NODE_FAILED,
    "PING_CHECKER_NODE_SUSPECTED_END_JOB": JobState.NODE_FAILED, "CPUSET_ERROR": JobState.NODE_FAILED,
    "CPUSET_CLEAN_ERROR": JobState.NODE_FAILED, "CPUSET_MANAGER_FILE": JobState.NODE_FAILED,
    "EXIT_VALUE_OAREXEC": JobState.NODE_FAILED, "OAREXEC_CONNECTION": JobState.NODE_FAILED,
    "BIPBIP_BAD_JOBID": JobState.NODE_FAILED, "LAUNCHING_OAREXEC_TIMEOUT": JobState.NODE_FAILED,
    "EXTERMINATE_JOB": JobState.NODE_FAILED,
    "SERVER_PROLOGUE_ERROR": JobState.FAILED, "SERVER_PROLOGUE_TIMEOUT": JobState.FAILED,
    "SERVER_PROLOGUE_EXIT_CODE_ERROR": JobState.FAILED, "SERVER_EPILOGUE_ERROR": JobState.FAILED,
    "PROLOGUE_ERROR": JobState.FAILED, "EPILOGUE_ERROR": JobState.FAILED, "STOP_ON_DEPENDENCY_FAILURE": JobState.FAILED,
    "USER_SHELL": JobState.FAILED, "WORKING_DIRECTORY": JobState.FAILED, "OUTPUT_FILES": JobState.FAILED,
    "SWITCH_INTO_ERROR_STATE_BAD_RESERVATION": JobState.NEVER_RAN, "RESERVATION_NO_NODE": JobState.NEVER_RAN,
    "INVALID_SCHEDULE": JobState.NEVER_RAN, "CANNOT_WRITE_NODE_FILE": JobState.NODE_FAILED,
    "CANNOT_CREATE_TMP_DIRECTORY": JobState.NODE_FAILED, "PERM_CHANGE_ERROR": JobState.FAILED,
    "FRAG_JOB_REQUEST": JobState.CANCELLED,  # last: a walltime's end is a frag request of root's too
}  # fmt: skip
"""Events of a job in state Error, in order of weight: the first of these that occurred tells why it ended."""

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

REASONS: Final[Rules] = table(
    (r"cannot find enough resources|no (?:suitable|matching) resources|impossible", NEVER),
    (r"quota_exceeded|quota.?(?:ko|reached)", WAIT),
    (r"quota_ok|Karma|FIFO|scheduled|waiting|for an instant|R=\d+", WAIT),
)
"""`message` of oarstat."""

ERRORS: Final[Rules] = table(
    (r"There are not enough resources|not enough resources for your request", NEVER),
    (r"Bad resource request|Cannot recognize|does not exist|Unknown option|requires an argument", NEVER),
    (r"syntax|Oarsub failed, please verify|not able to scan|error\(s\) encountered while parsing", NEVER),
    (r"too many (?:jobs|active)|maximum number of", WAIT),
    (r"not (?:allowed|authorized|permitted)|permission|You are not|ADMISSION RULE.*(?:denied|only|forbidden)", PERSON),
    (r"walltime.*(?:too|limit|exceed|max)|queue.*(?:limit|only)", NEVER),
)  # fmt: skip
"""What oarsub says when it refuses."""

ALIASES: Final[dict[str, str]] = {
    "--resource": "-l", "--queue": "-q", "--property": "-p", "--type": "-t", "--directory": "-d", "--name": "-n",
    "--anterior": "-a", "--stdout": "-O", "--stderr": "-E", "--use-job-key": "-k", "--import-job-key-from-file": "-i",
    "--export-job-key-to-file": "-e", "--stagein": "-s", "--reservation": "-r",
}  # fmt: skip
"""oarsub's long options to its short ones."""

OPTIONS: Final[dict[str, int]] = {
    **dict.fromkeys(("-l", "-q", "-p", "-t", "-d", "-n", "-a", "-O", "-E", "-i", "-e", "-s", "-r"), 1),
    "--checkpoint": 1, "--notify": 1, "--project": 1, "--signal": 1, "--stagein-md5sum": 1, "--array": 1,
    "--array-param-file": 1, "--hold": 0, "-k": 0,
}  # fmt: skip
"""oarsub's options that may stand in a script, and whether they take a value."""

OUR_OPTIONS: Final = frozenset(
    {"-n", "-O", "-E", "-d", "--notify", "--array-param-file", "-k", "-i", "-e", "-s", "--stagein-md5sum"}
)
"""Options whose purpose we fulfil ourselves; never taken as native options."""
