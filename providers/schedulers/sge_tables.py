"""Grid Engine's words: job states, what the accounting calls failures, reasons, refusals, and qsub's options.

Sources: sge_status(5), qstat(1), sge_submit(1), accounting(5) of SGE 8.1.9; Univa and Altair print the same words.
"""

from __future__ import annotations

from typing import Final

from dragoman.job import JobState, ReasonClass
from providers.schedulers.base import Rules, table

__all__ = ["ERRORS", "FAILURES", "LETTERS", "OPTIONS", "OUR_OPTIONS", "REASONS", "RUNS_AGAIN", "STATES", "state_of"]

LETTERS: Final[dict[str, JobState]] = {
    "E": JobState.HELD,  # Error: waits until a person clears it (qmod -cj)
    "d": JobState.COMPLETING,  # deletion has been asked for
    "s": JobState.SUSPENDED,  # suspended by a user
    "S": JobState.SUSPENDED,  # its queue is suspended
    "T": JobState.SUSPENDED,  # its queue is suspended by an alarm (threshold)
    "t": JobState.RUNNING,  # transferring
    "r": JobState.RUNNING,
    "h": JobState.HELD,
    "q": JobState.PENDING,
    "w": JobState.PENDING,
    "R": JobState.PENDING,  # restarted: with r or t it runs again
}
"""A state is several letters; the first of these that is among them decides. `z` (finished) tells no end."""

FAILURES: Final[dict[int, JobState]] = {
    0: JobState.COMPLETED,  # no failure: the exit status decides
    1: JobState.FAILED,  # assumedly before job
    3: JobState.FAILED,  # before writing config
    4: JobState.FAILED,  # before writing PID
    6: JobState.FAILED,  # setting processor set
    7: JobState.FAILED,  # before prolog
    8: JobState.FAILED,  # in prolog
    9: JobState.FAILED,  # before pestart
    10: JobState.FAILED,  # in pestart
    11: JobState.FAILED,  # before job
    12: JobState.FAILED,  # before pestop
    13: JobState.FAILED,  # in pestop
    14: JobState.FAILED,  # before epilog
    15: JobState.FAILED,  # in epilog
    16: JobState.FAILED,  # releasing processor set
    17: JobState.FAILED,  # through signal
    18: JobState.NODE_FAILED,  # shepherd returned error
    19: JobState.NODE_FAILED,  # before writing exit_status: the machine crashed, probably
    20: JobState.FAILED,  # found unexpected error file
    21: JobState.NODE_FAILED,  # in recognizing job
    26: JobState.FAILED,  # opening output file
    27: JobState.FAILED,  # searching requested shell
    28: JobState.FAILED,  # changing to working directory
    29: JobState.FAILED,  # AFS setup
    31: JobState.FAILED,  # accessing sgepasswd file
    32: JobState.FAILED,  # entry is missing in password file
    33: JobState.FAILED,  # wrong password
    34: JobState.FAILED,  # communicating with Grid Engine Helper Service
    35: JobState.FAILED,  # before job in Grid Engine Helper Service
    36: JobState.FAILED,  # checking configured daemons
    37: JobState.TIMED_OUT,  # qmaster enforced h_rt, h_cpu, or h_vmem limit: which one is looked at
    38: JobState.FAILED,  # adding supplementary group
    100: JobState.FAILED,  # assumedly after job: ended by a signal, which a limit or qdel may have sent
}
"""The accounting's `failed` number, with its words in sge_status(5). A number that is not here is unknown."""

RUNS_AGAIN: Final = frozenset({24, 25, 30})
"""Migrating, rescheduling, application error: this record is not of the job's end."""

STATES: Final[dict[str, JobState]] = {
    **LETTERS,
    **{f"failed {number}": state for number, state in FAILURES.items()},
}


def state_of(word: str) -> JobState:
    """Our state of qstat's letters; a letter that is not in the table makes it unknown."""
    if not word or any(letter not in LETTERS for letter in word):
        return JobState.UNKNOWN
    found = [letter for letter in LETTERS if letter in word]
    if found == ["R"]:
        return JobState.UNKNOWN
    return LETTERS[found[0]]


WAIT, NEVER, PERSON = ReasonClass.WAIT, ReasonClass.NEVER, ReasonClass.PERSON

REASONS: Final[Rules] = table(
    (r"error state|can't (?:open|chdir)|failed (?:opening|searching|changing)", PERSON),
    (r"in hold|held", PERSON),
    (r"can not run (?:because )?.*(?:not in|does not|has no permission|unknown)|not allowed to run in any", NEVER),
    (r"because (?:it|host) offers only (?:hf|qf|hv|qv):", NEVER),
    (r"(?:full|overload|temporarily|disabled|suspended|in error|alarm|offers only|waits for|dependenc)", WAIT),
    (r"no suitable queues|only offers|cannot run in PE", ReasonClass.UNKNOWN),
)  # fmt: skip
"""Lines of `scheduling info` and `error reason` of `qstat -j`."""

ERRORS: Final[Rules] = table(
    (r"exceeds? (?:the )?(?:max|limit|quota)|only \d+ jobs are allowed|max_u_jobs|max_jobs|job limit", WAIT),
    (r"(?:unknown|requested) (?:queue|resource|parallel environment|project|ckpt|access list)", NEVER),
    (r"does not exist|is not a valid|invalid option|unknown (?:option|resource|queue)|no suitable queues", NEVER),
    (r"cannot (?:start with|contain)|Unable to read script|denied by (?:jsv|server_jsv)|(?:job|was) rejected", NEVER),
    (r"not a consumable|range|illegal|unparsable|no such file", NEVER),
    (r"you do not have|no permission|privileges|denied: (?:host|user)|not (?:a )?submit host|must be manager", PERSON),
)  # fmt: skip
"""What qsub says when it refuses."""

OPTIONS: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            "-a", "-ac", "-ar", "-A", "-b", "-binding", "-c", "-ckpt", "-C", "-dc", "-display", "-dl", "-e",
            "-hold_jid", "-hold_jid_ad", "-i", "-j", "-js", "-jsv", "-l", "-m", "-M", "-masterq", "-mods", "-N", "-now",
            "-o", "-ot", "-P", "-p", "-q", "-R", "-r", "-sc", "-shell", "-sync", "-S", "-t", "-tc", "-v", "-w", "-wd",
            "-mc", "-jc", "-adds", "-clearp", "-clears", "-par", "-pty", "-rou", "-si", "-umask", "-tcon",
        ),
        1,
    ),
    **dict.fromkeys(
        ("-clear", "-cwd", "-hard", "-help", "-inherit", "-noshell", "-nostdin", "-notify", "-soft", "-terse", "-V",
         "-verbose", "-verify"),
        0,
    ),
    "-pe": 2, "-h": -1,
}  # fmt: skip
"""qsub's options and how many values each takes (-1: perhaps one)."""

OUR_OPTIONS: Final = frozenset(
    {
        "-o", "-e", "-j", "-i", "-cwd", "-wd", "-m", "-M", "-S", "-terse", "-b", "-V", "-C", "-clear", "-help",
        "-verbose", "-verify", "-sync", "-now", "-w", "-N", "-shell", "-noshell", "-nostdin", "-inherit", "-pty",
    }
)  # fmt: skip
"""Options whose purpose we fulfil ourselves, or that make no sense in a script; never taken as native options."""
