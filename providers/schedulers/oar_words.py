"""OAR's scripts besides their needs (oarsub(1), variables of OAR 2.5's documentation)."""

from __future__ import annotations

import re
from typing import Final

from dragoman.errors import BadRequest
from providers.schedulers.directives import checked
from providers.schedulers.script_words import Fill, Kept, ScriptWords, Writing, output_path

__all__ = ["OAR_WORDS"]


_MAIL: Final = {"RUNNING": "begin", "END": "end", "ERROR": "fail"}


def _bare(value: str) -> str:
    checked(value, where="script")
    if not value.strip() or value.startswith("-") or re.search(r"[\"'`$\\]", value):
        raise BadRequest(f"{value[:60]!r} cannot be given to oarsub", where="script", cure="rename it")
    return value


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "-n {}", kept.name, _bare)
    writing.add("work_dir", "-d {}", kept.work_dir if kept.work_dir != "." else None, _bare)
    output_path(writing, "stdout", kept.stdout, OAR_WORDS.fills, "-O {}", _bare)
    stderr = kept.stderr if not kept.joined else kept.stdout or kept.stderr
    output_path(writing, "stderr", stderr, OAR_WORDS.fills, "-E {}", _bare)
    if kept.joined and kept.stdout is None and kept.stderr is None:
        writing.lost["joined"] = "OAR joins stdout and stderr only in a file that is named (name one with -O and -E)"
    if kept.mail_to is not None and kept.mail_on != frozenset():
        # Without words in brackets it tells of start, end and errors alike.
        events = [word for word, ours in _MAIL.items() if ours in (kept.mail_on or _MAIL.values())]
        told = f"[{','.join(events)}]" if len(events) < len(_MAIL) else ""
        writing.add("mail_to", f"--notify {told}mail:{{}}", kept.mail_to, _bare)
    elif kept.mail_on:
        writing.lost["mail_on"] = "OAR needs an address (write --notify mail:NAME@HOST)"
    if kept.requeue:
        writing.options.append("-t idempotent")
    if kept.inherits:
        writing.lost["inherits"] = "OAR hands no environment to jobs (set the variables in the script)"
    return writing


OAR_WORDS: Final = ScriptWords(
    title="OAR",
    prefix="#OAR",
    family=r"OAR_\w+",
    inherits=False,
    slots="cores",
    write=_write,
    variables={
        "job_id": ("OAR_JOB_ID", "OAR_JOBID"), "job_name": ("OAR_JOB_NAME",), "array_id": ("OAR_ARRAY_ID",),
        "task": ("OAR_ARRAY_INDEX",), "submit_dir": ("OAR_WORKING_DIRECTORY", "OAR_WORKDIR"),
        "node_file": ("OAR_NODEFILE", "OAR_NODE_FILE", "OAR_FILE_NODES"), "account": ("OAR_PROJECT_NAME",),
    },
    also={"OAR_USER": "user"},
    commands=frozenset({"oarsub", "oarstat", "oardel", "oarsh", "oarprint", "oarhold", "oarresume", "oarcp"}),
    own=frozenset({"-n", "-d", "-O", "-E"}),
    reads={
        "-O": "stdout", "--stdout": "stdout", "-E": "stderr", "--stderr": "stderr", "-d": "work_dir",
        "--directory": "work_dir", "--notify": "notify",
        "--hold": "held", "-r": "start", "--reservation": "start",
    },
    mail={**_MAIL, "ALL": "all"},
    fills={Fill.JOB: "%jobid%", Fill.NAME: "%jobname%"},
    first_index=1,
    held="--hold",
    start='-r "%Y-%m-%d %H:%M:%S"',
    notes=((r"^-r ", "OAR keeps just that time free, or refuses the job: it does not start it later (oarsub -r)"),),
    whole_file=True,
)  # fmt: skip
