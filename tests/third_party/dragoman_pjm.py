"""Fujitsu's PJM as a third party's dialect: pjsub(1), pjstat(1), pjdel(1) (docs/adding-a-scheduler.md)."""

import csv
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from dragoman.command import Command, Completed
from dragoman.facts import NodeGroup, Queue, Workload
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, ScriptReading
from dragoman.shape import Gpus
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, Rules, one_line, table
from providers.schedulers.directives import checked
from providers.schedulers.job_script import job_lines
from providers.schedulers.option_rows import Row, clock, counted, named, number, queues, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.pbs_values import read_walltime
from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_draft import ScriptDraft, read_number
from providers.schedulers.script_words import Fill, ScriptWords, plain_writer
from providers.schedulers.slots import gpus_per_node, left_out, refuse_others


def quote(value: str, where: str = "script") -> str:
    return plain_word(value, where=where, scheduler="PJM")


ONE = ("-N", "-L", "--mpi", "-g", "-o", "-e", "-x", "-p", "-m", "--mail-list", "--sparam", "--at")
TABLE = OptionTable(
    program="pjsub", counts={name: int(name in ONE) for name in (*ONE, "-j", "-s", "-S", "-X", "--bulk", "--step")},
    ours=frozenset({"-N", "-o", "-e", "-j", "-s", "-S", "-X", "-m", "--mail-list"}), lists=frozenset({"-L", "--mpi"}),
    rows=(
        Row("-N", lambda spec: f"{spec.name[: 62 - len(spec.tag)]}.{spec.tag}", ScriptDraft.job_name, "name"),
        Row("-o", lambda spec: f"{spec.work_dir}/{spec.stdout}", where="stdout"),
        Row("-e", lambda spec: f"{spec.work_dir}/{spec.stderr}", where="stderr"),
        clock("-L elapse", read_walltime), named("-g", "account"), queues("-L rscgrp", ""),
        Row("-L node", lambda spec: str(spec.shape.nodes) if spec.shape.nodes else None,  # not `2x3`, `12:noncont`
            says(lambda text: {"shape.nodes": number(text)} if not re.match(r"\d+[x:]\w", text) else None), "nodes"),
        Row("-L gpu", lambda spec: str(gpus_per_node(spec.shape) or "") or None,
            says(lambda text: {"shape.gpus": Gpus(count=number(text), per="node")}), "gpus"),
        counted("--mpi proc", "tasks"), counted("--mpi max-proc-per-node", "tasks_per_node"),
    ),
    quote=quote, example="-L jobenv=linux",
)  # fmt: skip
FILLS = {Fill.JOB: "%j", Fill.NAME: "%n"}
WRITES = {"name": "-N {}", "stdout": "-o {}", "stderr": "-e {}", "joined": "-j", "inherits": "-X"}
WORDS = ScriptWords(
    title="PJM", prefix="#PJM", family=r"PJM_\w+", inherits=False, joints=r"-L|--mpi|,", also_called=("fugaku",),
    variables={"job_id": ("PJM_JOBID",), "job_name": ("PJM_JOBNAME",), "submit_dir": ("PJM_O_WORKDIR",),
               "nodes": ("PJM_NODE",), "tasks": ("PJM_MPI_PROC",), "node_file": ("PJM_O_NODEINF",)},
    commands=frozenset({"pjsub", "pjstat", "pjdel"}), own=frozenset({"-N", "-o", "-e"}), fills=FILLS,
    reads={"-o": "stdout", "-e": "stderr", "-j": "joined", "-X": "inherits", "--mail-list": "mail_to"},
    write=plain_writer("PJM", WRITES, FILLS, quote),
)  # fmt: skip


@register_dialect("pjm")
class PjmDialect(BaseDialect):
    name = "pjm"
    script_words: ClassVar[ScriptWords | None] = WORDS
    states: ClassVar[Mapping[str, JobState]] = {
        "ACC": JobState.PENDING, "QUE": JobState.PENDING, "RNA": JobState.PENDING, "RNP": JobState.RUNNING,
        "RUN": JobState.RUNNING, "RNE": JobState.COMPLETING, "RNO": JobState.COMPLETING, "HLD": JobState.HELD,
        "ERR": JobState.HELD, "SPP": JobState.SUSPENDED, "SPD": JobState.SUSPENDED, "RSM": JobState.SUSPENDED,
        "EXT": JobState.COMPLETED, "CCL": JobState.CANCELLED, "RJT": JobState.NEVER_RAN,
    }  # fmt: skip
    errors: ClassVar[Rules] = table((r"PJM 00[12]\d pjsub .*(?:invalid|exceeds|not exist)", ReasonClass.NEVER))
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"^\[INFO\] PJM 0000 pjsub Job (?P<id>\d{1,18}) submitted")

    def render(self, spec: JobSpec) -> str:
        refuse_others(
            spec, "PJM", {"nodes", "tasks", "tasks_per_node", "gpus", "cpus_per_task", "exclusive"}
        )  # nodes are whole
        lines = [f"#PJM {option}" for option in (*TABLE.written(spec), *TABLE.native(spec).values())]
        body = job_lines(spec, job_id="${PJM_JOBID:-}", restart="0", submit_dir=WORDS.variables["submit_dir"])
        return "\n".join(["#!/bin/sh", *lines, *left_out(spec), *body]) + "\n"

    def read_script(self, text: str) -> ScriptReading:
        draft = ScriptDraft(text, "PJM", "#PJM")
        TABLE.read(draft)
        return draft.finish()

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        return self.act("pjsub", checked(script_path, where="script_path"))

    def status_commands(self, refs: Sequence[JobRef], *options: str) -> list[Command]:
        return [self.ask("pjstat", *options, "--data", "--choose", "jid,jnam,st,ec", *map(self.number, refs))]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        rows, trouble = self.rows(done)
        found = {ref.job_id: self.status(ref, rows[ref.job_id]) for ref in refs if ref.job_id in rows}
        return JobAnswers(jobs=found, trouble=trouble)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        return self.status_commands(refs, "-H")

    parse_history = parse_status

    def rows(self, done: Completed) -> tuple[dict[str, list[str]], str]:
        lines = list(csv.reader(line for line in done.out.splitlines() if line.isprintable()))
        headed = bool(lines) and lines[0] == ["H", "JOB_ID", "JOB_NAME", "ST", "EC"]
        trouble = self.trouble(done) or ("" if headed else f"no table of jobs: {one_line(done.out)[:200]}")
        return {} if trouble else {line[1]: line for line in lines[1:] if len(line) == 5}, trouble

    def status(self, ref: JobRef, row: list[str]) -> JobStatus:
        _, _, name, word, text = row
        state, code = self.state(word), read_number(text, least=0)
        state, code = JobState.FAILED if code and state is JobState.COMPLETED else state, code if state.final else None
        return JobStatus(ref=ref, state=state, native_state=word, name=name, exit_code=code)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        return [*self.status_commands([]), *self.status_commands([], "-H")]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        rows, trouble = self.rows(done)
        found = [JobRef(job_id=job_id, tag=tag) for job_id, row in rows.items() if row[2].endswith(f".{tag}")]
        if trouble:
            return Answer[JobRef].unknown(trouble)
        return Answer[JobRef].ok(found[0]) if found else Answer[JobRef].absent("pjstat shows no job with this tag")

    def cancel_command(self, ref: JobRef) -> Command:
        return self.act("pjdel", self.number(ref))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        gone = re.search(r"PJM 0100 pjdel Accepted job (\d{1,18})", done.out)
        if done.rc == 0 and gone is not None:
            return Answer[JobRef].ok(JobRef(job_id=gone[1]))
        return Answer[JobRef].unknown(one_line(f"{done.out} {done.err}") or f"exit code {done.rc}")

    def workload_commands(self) -> list[Command]:
        return [self.ask("pjstat", "--rsc", "--data")]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        texts, troubles = self.told(done, 1)
        told = re.findall(r"^,([\w-]+),(ENABLE|DISABLE),(\d+),(\d+),(\d+)$", texts[0] or "", re.MULTILINE)
        queues, groups = [], []
        for name, word, nodes, idle, cores in told:
            each = NodeGroup(queues=(name,), nodes=nodes, nodes_up=nodes, nodes_idle=idle, cpus_per_node=cores)
            usable = Truth.YES if word == "ENABLE" else Truth.NO
            queues.append(Queue(name=name, usable=usable, nodes_total=each.nodes, nodes_idle=each.nodes_idle))
            groups.append(each)
        if not told:
            return Answer[Workload].unknown("; ".join(troubles) or "pjstat shows no resource group")
        return Answer[Workload].ok(Workload(scheduler=self.name, queues=tuple(queues), groups=tuple(groups)))
