"""Scripts of the scheduler `machine` besides their needs: they run where they were handed in, on one host."""

from __future__ import annotations

from typing import Final

from providers.schedulers.machine_site.directives import PREFIX, encode
from providers.schedulers.script_words import Kept, ScriptWords, Writing

__all__ = ["MACHINE_WORDS"]


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "--name={}", kept.name, encode)
    writing.lose("Dragoman collects the output itself (`dragoman logs` shows it)", stdout=kept.stdout,
                 stderr=kept.stderr, joined=kept.joined)  # fmt: skip
    writing.lose("a job on one machine starts in a folder of its own (use absolute paths)", work_dir=kept.work_dir)
    never = "no mail is sent (`dragoman show` tells how it goes)"
    writing.lose(never, mail_to=kept.mail_to, mail_on=kept.mail_on)
    writing.lose("a job on one machine is not run again by itself", requeue=kept.requeue)
    return writing


MACHINE_WORDS: Final = ScriptWords(
    title="machine",
    prefix=PREFIX,
    family=r"DRAGOMAN_(?:JOB_ID|TAG|MACHINE)",
    write=_write,
    variables={"job_id": ("DRAGOMAN_JOB_ID",)},
    expressions={"submit_dir": "$PWD"},
    own=frozenset({"--tag", "--name", "--work-dir", "--control-dir", "--output", "--error"}),
    reads={
        "--output": "stdout",
        "--error": "stderr",
        "--work-dir": "quiet",
        "--control-dir": "quiet",
        "--tag": "quiet",
    },
)
