"""LSF's words: job states, termination reasons, reasons for waiting, refusals, bsub's options.

Sources: bjobs(1), bsub(1), bacct(1) "Termination reasons" of IBM Spectrum LSF 10.1.
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["ERRORS", "OPTIONS", "OUR_OPTIONS", "REASONS", "STATES", "TERMINATIONS"]

STATES: Final[dict[str, JobState]] = {
    "PEND": JobState.PENDING,
    "FWD_PEND": JobState.PENDING,  # forwarded to another cluster, pending there
    "WAIT": JobState.PENDING,  # member of a chunk job that waits for its turn
    "PSUSP": JobState.HELD,  # suspended while pending, by its owner or an administrator
    "PROV": JobState.RUNNING,  # its host is being woken
    "RUN": JobState.RUNNING,
    "USUSP": JobState.SUSPENDED,  # by its owner or an administrator
    "SSUSP": JobState.SUSPENDED,  # by LSF: load, run window, preemption
    "DONE": JobState.COMPLETED,
    "EXIT": JobState.FAILED,  # the termination reason tells how
    # UNKWN (its host does not answer) and ZOMBI (killed while its host did not answer) are left out: nothing is known.
}

TERMINATIONS: Final[dict[str, JobState]] = {
    "TERM_ADMIN": JobState.CANCELLED, "TERM_FORCE_ADMIN": JobState.CANCELLED,
    "TERM_OWNER": JobState.CANCELLED, "TERM_FORCE_OWNER": JobState.CANCELLED,
    "TERM_BUCKET_KILL": JobState.CANCELLED,
    "TERM_CHKPNT": JobState.FAILED, "TERM_CWD_NOTEXIST": JobState.FAILED, "TERM_EXTERNAL_SIGNAL": JobState.FAILED,
    "TERM_OTHER": JobState.FAILED, "TERM_UNKNOWN": JobState.FAILED, "TERM_PROCESSLIMIT": JobState.FAILED,
    "TERM_THREADLIMIT": JobState.FAILED, "TERM_RMS": JobState.FAILED, "TERM_SLURM": JobState.FAILED,
    "TERM_CPULIMIT": JobState.TIMED_OUT, "TERM_DEADLINE": JobState.TIMED_OUT, "TERM_RUNLIMIT": JobState.TIMED_OUT,
    "TERM_MEMLIMIT": JobState.OUT_OF_MEMORY, "TERM_SWAP": JobState.OUT_OF_MEMORY,
    "TERM_LOAD": JobState.PREEMPTED, "TERM_PREEMPT": JobState.PREEMPTED, "TERM_RC_RECLAIM": JobState.PREEMPTED,
    "TERM_WINDOW": JobState.PREEMPTED,
    "TERM_REMOVE_HUNG_JOB": JobState.NODE_FAILED, "TERM_ZOMBIE": JobState.NODE_FAILED,
    "TERM_CSM_ALLOC": JobState.NODE_FAILED, "TERM_KUBE": JobState.NODE_FAILED,
    "TERM_ORPHAN_SYSTEM": JobState.NEVER_RAN,
    "TERM_REQUEUE_ADMIN": JobState.UNKNOWN, "TERM_REQUEUE_OWNER": JobState.UNKNOWN,  # it will be pending again
}  # fmt: skip
"""Why a job in state EXIT ended. Its exit code is a hint at most: 140 is what a run limit leaves, and SIGUSR2 too."""

WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

REASONS: Final[Rules] = table(
    (r"never satisfied|dependency condition (?:is )?invalid|orphan", NEVER),
    (r"suspended (?:by|while)|stopped by|held|closed by (?:the )?admin|inactivated by", PERSON),
    (r"new job is waiting|limit(?:s)? (?:was |has been |have been )?reached|reached (?:the|its|his)|slot limit", WAIT),
    (r"dependency condition|not enough (?:slots|hosts|processors|resource|job slots|gpu)|load information", WAIT),
    (r"time window|specified start time|preempt|reserv|dispatch|exclusive|busy|fairshare|hosts? is (?:un|cl)", WAIT),
    (r"unable to reach|unavailable|being (?:prepared|provisioned)|threshold|higher priority|cpu slot", WAIT),
    (r"(?:resource requirements|requested (?:hosts?|resources?)) not satisfied|no suitable", ReasonClass.UNKNOWN),
)  # fmt: skip
"""`pend_reason` of bjobs. Requirements that are not satisfied may be too large, or busy: LSF uses the same words."""

ERRORS: Final[Rules] = table(
    (r"pending job threshold|max(?:imum)? (?:number of )?(?:pending|jobs)|reached|try again|retrying", WAIT),
    (r"\bquota\b", PERSON),
    (r"cannot exceed queue'?s hard limit|too many (?:processors|tasks)|exceed|over the limit", NEVER),
    (r"no such (?:queue|user|host|project|resource)|not a (?:valid|member)|does not exist|unknown", NEVER),
    (r"bad (?:resource|argument|host|option|syntax)|illegal|syntax error|invalid|unrecognized|missing argument", NEVER),
    (r"cannot use (?:the )?queue|permission|not authorized|queue (?:has been |is )?closed|esub", PERSON),
    (r"non-LSF host", PERSON),
    (r"empty job|no command|does not accept jobs with|is not used by the queue|is not valid", NEVER),
)  # fmt: skip
"""What bsub says when it refuses."""

OPTIONS: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            "-a", "-app", "-alloc_flags", "-b", "-c", "-C", "-cn_cu", "-cn_mem", "-core_isolation", "-csm", "-cwd",
            "-D", "-data", "-datagrp", "-E", "-Ep", "-e", "-env", "-eo", "-eptl", "-F", "-f", "-freq", "-G", "-g",
            "-gpu", "-hostfile", "-i", "-is", "-J", "-Jd", "-jobaff", "-jsdl", "-k", "-L", "-Lp", "-ln_mem",
            "-ln_slots", "-M", "-m", "-mig", "-n", "-network", "-nnodes", "-notify", "-o", "-oo", "-outdir", "-P",
            "-p", "-pack", "-ptl", "-Q", "-q", "-R", "-rcacct", "-rnc", "-S", "-s", "-sla", "-sp", "-stage",
            "-step_cgroup", "-smt", "-T", "-t", "-U", "-u", "-v", "-W", "-We", "-w", "-wa", "-wt",
            "-Zs", "-jm", "-ja", "-jsm", "-clusters", "-ext", "-extsched",
        ),
        1,
    ),
    **dict.fromkeys(
        ("-B", "-H", "-h", "-hl", "-I", "-Ip", "-Is", "-IS", "-ISp", "-ISs", "-IX", "-K", "-N", "-Ne", "-Nd", "-nn",
         "-ar", "-datachk", "-jsdl_strict", "-ne", "-nl", "-r", "-rn", "-ti", "-tty", "-ul", "-V", "-x", "-XF", "-Z",
         "-json", "-yaml"),
        0,
    ),
}  # fmt: skip
"""bsub's options and how many values each takes."""

OUR_OPTIONS: Final = frozenset(
    {
        "-o", "-oo", "-e", "-eo", "-i", "-is", "-cwd", "-outdir", "-N", "-Ne", "-Nd", "-B", "-u", "-notify", "-I",
        "-Ip", "-Is", "-IS", "-ISp", "-ISs", "-IX", "-K", "-L", "-J", "-Jd", "-env", "-h", "-V", "-Z", "-Zs", "-json",
        "-yaml", "-jsdl", "-pack", "-tty", "-f",
    }
)  # fmt: skip
"""Options whose purpose we fulfil ourselves, or that make no sense in a script; never taken as native options."""
