"""What PBS (OpenPBS, PBS Pro) and Torque share: qsub(1B), qstat(1B), qselect(1B), qdel(1B), qhold(1B), pbsnodes(8B).

Text (`qstat -f`) is asked for, with all ids in one call: JSON of PBS 23.06 shows only the first of several ids, and
re-types values. One id a call for qdel: `qdel KNOWN UNKNOWN` brought a server down. Commands that ask run with TZ=UTC,
because times are printed by the client's clock without a zone.

An exit code of these commands is the server's error number modulo 256 (153 unknown job, 35 finished, 170 unknown
queue, 162 no connection), so it says nothing about signals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import Accounts, Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from providers.schedulers.base import BaseDialect, Rules, chunks, one_line
from providers.schedulers.directives import checked
from providers.schedulers.job_output import output_lines
from providers.schedulers.job_script import job_lines
from providers.schedulers.option_table import OptionTable
from providers.schedulers.pbs_accounts import ACCOUNTS_SCRIPT, read_pbs_accounts
from providers.schedulers.pbs_read import read_pbs_script
from providers.schedulers.pbs_records import Record, read_records
from providers.schedulers.pbs_rows import NAME_VARIABLE, TAG_VARIABLE
from providers.schedulers.pbs_status import ATTRIBUTES, Words, job_statuses, tag_of
from providers.schedulers.pbs_tables import ERRORS, REASONS
from providers.schedulers.pbs_values import JobId, read_job_id
from providers.schedulers.pbs_words import PBS_WORDS
from providers.schedulers.pbs_workload import group_nodes, read_queues
from providers.schedulers.slots import left_out, refuse

__all__ = ["PbsFamily"]

_UNKNOWN = re.compile(r"Unknown Job Id(?: Error)? *(\S*)", re.IGNORECASE)
_FINISHED = re.compile(r"(\S+) Job has finished|Job has finished *(\S*)", re.IGNORECASE)
_JOB_ID = "$(printf '%s' \"${PBS_JOBID:-}\" | sed 's/\\[[0-9]*\\]/[]/')"


class PbsFamily(BaseDialect):
    """The shared base.

    Args:
        user: the user's name at the site, where it is known: whose jobs are listed by their tags.

    """

    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        r"^\s*(?P<id>\d{1,12}(?:\[\])?\.[A-Za-z0-9][\w.-]{0,254})\s*$", re.ASCII
    )
    unset: ClassVar[tuple[str, ...]] = ("PBS_DPREFIX", "PBS_JOBID", "PBS_ARRAY*", "PBS_QSTAT_*", TAG_VARIABLE)
    environment: Mapping[str, str] = {"TZ": "UTC"}
    exits: ClassVar[Mapping[int, tuple[str, JobState]]] = {}
    from_zero: ClassVar[bool] = True
    task_variable: ClassVar[str]
    node_options: ClassVar[tuple[str, ...]] = ("-a",)
    table: OptionTable
    """Options of qsub."""
    refused: ClassVar[Mapping[str, str]] = {}
    """Fields of a job without a word here, and what the person can do instead."""

    def __init__(self, user: str | None = None) -> None:
        self.user = user
        self._words = Words(self.states, self.exits, self.reasons)

    # Submit

    def render(self, spec: JobSpec) -> str:
        """Directives, then the lines that every job has."""
        refuse(spec, self.name, self.refused)
        task = f"${{{self.task_variable}:-}}" if spec.array is not None else ""
        options = [*self.table.written(spec), *self.table.native(spec).values()]
        body = [
            f"unset {TAG_VARIABLE} {NAME_VARIABLE}",
            *output_lines(spec, task=task),
            *job_lines(spec, job_id=_JOB_ID, restart="0", task=task, submit_dir=PBS_WORDS.variables["submit_dir"]),
        ]
        shrinks = any(option.startswith("-l min_walltime=") for option in options)
        left = left_out(spec.model_copy(update={"walltime_min_s": None}) if shrinks else spec)
        return "\n".join(["#!/bin/sh", *(f"#PBS {option}" for option in options), *left, *body]) + "\n"

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`qsub SCRIPT`; everything about the job stands in the script."""
        path = checked(script_path, where="script_path")
        zone = {"TZ": "UTC"} if spec.start_after is not None else {}
        return Command(argv=("qsub", path), environment=zone, unset=self.unset, timeout_s=120)

    def submitted(self, done: Completed) -> JobRef | None:
        """The id on stdout; where wrappers moved it there, on stderr."""
        found = super().submitted(done)
        if found is None and done.rc == 0 and not done.out.strip():
            return super().submitted(Completed(done.argv, done.rc, done.stderr, b""))
        return found

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """As for every scheduler, but an exit code over 128 with qsub's own words is a refusal, and no signal."""
        words = one_line(f"{done.err}\n{done.out}")
        own = re.search(r"^\s*qsub: ", done.err, re.MULTILINE) is not None
        if done.rc >= 128 and self.submitted(done) is None:
            if self.in_doubt(words):
                return SubmitAnswer(doubt=words, reason_class=ReasonClass.WAIT)
            if own:
                return SubmitAnswer(refused=words, reason_class=self.error_class(words))
        return super().parse_submit(done)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """`qstat -f ID...`; arrays apart with `-t`, which shows their tasks."""
        return self._qstat(refs)

    def _qstat(self, refs: Sequence[JobRef], *options: str) -> list[Command]:
        ids = list(dict.fromkeys(checked_id(ref.job_id) for ref in refs))
        arrays = [job_id for job_id in ids if "[" in job_id]
        plain = [job_id for job_id in ids if "[" not in job_id]
        return [
            *(self.ask("qstat", *options, "-f", *part) for part in chunks(plain, self.ids_per_command)),
            *(self.ask("qstat", *options, "-t", "-f", *part) for part in chunks(arrays, self.ids_per_command)),
        ]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that are shown; absent are those that qstat names as unknown or finished."""
        return self._answers(done, refs, history=False)

    def _answers(self, done: Completed, refs: Sequence[JobRef], *, history: bool) -> JobAnswers:
        trouble = self._asking_trouble(done)
        wanted = frozenset(parsed.number for ref in refs if (parsed := read_job_id(ref.job_id)) is not None)
        read = read_records(done.out, wanted=wanted, only=ATTRIBUTES)
        jobs = job_statuses(read.records, refs, self._words, history=history) if not trouble or jobs_shown(done) else {}
        if trouble:
            return JobAnswers(jobs=jobs, trouble=trouble)
        said = {parsed.key for word in _gone(done.err) if (parsed := read_job_id(word)) is not None}
        in_command = set(done.argv)
        partial = any(ref.job_id in in_command for ref in refs)
        gone = {
            ref.job_id
            for ref in refs
            if (key := _key(ref)) is not None and (key in said or (partial and ref.job_id not in in_command))
        }
        unseen = [ref for ref in refs if ref.job_id not in jobs and ref.job_id not in gone]
        return JobAnswers(
            jobs=jobs,
            absent=frozenset(gone - jobs.keys()),
            trouble=(read.trouble or self.doubted(done)) if unseen else "",
        )

    def _asking_trouble(self, done: Completed) -> str:
        """Unknown and finished jobs make exit codes 153 and 35; anything else said on stderr is no answer."""
        trouble = self.trouble(done, ok=(0, 35, 153))
        if trouble:
            return trouble
        others = [line for line in done.err.splitlines() if line.strip() and not _gone(line)]
        told = one_line(" ".join(others))
        return told if told and (self.in_doubt(told) or (done.rc != 0 and not _gone(done.err))) else ""

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """`qselect -N TAG`: the server looks it up, however many jobs there are."""
        return [self.ask("qselect", "-N", checked_tag(tag))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """The ids of qselect; of any other answer, the job that carries the tag."""
        known = tag if re.fullmatch(TAG_PATTERN, tag) else None
        trouble = self.trouble(done)
        if trouble:
            return Answer[JobRef].unknown(trouble)
        lines = [line.strip() for line in done.out.splitlines() if line.strip()]
        asked = done.argv[0] if done.argv else ""
        ids = [line for line in lines if read_job_id(line) is not None]
        if asked == "qselect" and ids:
            return Answer[JobRef].ok(JobRef(job_id=_whole_array(ids[0]), tag=known))
        read = read_records(done.out, containing=tag if not done.out.lstrip().startswith("{") else "")
        for record in read.records:
            if record.values.get("Job_Name") == tag or tag_of(record.values, TAG_VARIABLE) == tag:
                return Answer[JobRef].ok(JobRef(job_id=record.name, tag=known))
        unread = bool(lines) and not read.records and not lines[0].startswith("{")
        wrong = read.trouble or self.doubted(done)
        if wrong or unread or asked not in ("qselect", "qstat"):
            return Answer[JobRef].unknown(wrong or f"{asked or 'the command'} gave no answer that can be read")
        return Answer[JobRef].absent(f"{asked} shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """`qstat -f` of the queue, where the user's name is known: others' jobs with such tags are none of ours."""
        return [self.ask("qstat", "-f")] if self.user else []

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """The user's jobs with a tag."""
        trouble = self._asking_trouble(done)
        if trouble:
            return JobAnswers(jobs={}, trouble=trouble)
        mine: list[tuple[JobRef, Record]] = []
        for record in read_records(done.out, containing=TAG_VARIABLE).records:
            tag = tag_of(record.values, TAG_VARIABLE) or ""
            owner = record.values.get("Job_Owner", "").partition("@")[0]
            if re.fullmatch(TAG_PATTERN, tag) and owner == self.user and "." in record.name:
                mine.append((JobRef(job_id=record.name, tag=tag), record))
        refs = [ref for ref, _ in mine]
        return JobAnswers(jobs=job_statuses([record for _, record in mine], refs, self._words, history=False))

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`qdel ID`, one at a time."""
        return self.act("qdel", checked_id(ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """A finished job is cancelled enough; absent only where the server says that it does not know the id."""
        told = one_line(f"{done.err} {done.out}") or f"exit code {done.rc}"
        if done.rc == 0 or _FINISHED.search(told) or re.search(r"invalid state for job - COMPLETE", told, re.I):
            return Answer[JobRef].ok(JobRef(job_id=done.argv[-1] if len(done.argv) > 1 else "0"))
        if _UNKNOWN.search(told) and not self.in_doubt(told):
            return Answer[JobRef].absent(told)
        return Answer[JobRef].unknown(told)

    def hold_command(self, ref: JobRef) -> Command | None:
        """`qhold ID` (a user hold)."""
        return self.act("qhold", checked_id(ref.job_id))

    def release_command(self, ref: JobRef) -> Command | None:
        """`qrls ID`."""
        return self.act("qrls", checked_id(ref.job_id))

    # Site

    def workload_commands(self) -> list[Command]:
        """Queues, nodes, the server."""
        return [
            self.ask("qstat", "-Q", "-f"),
            self.ask("pbsnodes", *self.node_options),
            self.ask("qstat", "-B", "-f"),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where neither queues nor nodes were told; else what was told, the rest None."""
        read: list[list[Record] | None] = []
        troubles: list[str] = []
        for one in [*done, *[Completed((), 1, b"", b"not asked")] * (3 - len(done))][:3]:
            trouble = one_line(str(one)) or type(one).__name__ if isinstance(one, Exception) else self.trouble(one)
            records = read_records(one.out) if isinstance(one, Completed) else None
            trouble = trouble or (records.trouble if records is not None else "")
            read.append(None if trouble or records is None else records.records)
            troubles.extend([trouble] if trouble else [])
        queues, nodes, servers = read
        server = servers[0].values if servers else None
        told = read_queues(queues, server) if queues is not None else None
        groups = group_nodes(nodes, queues or ()) if nodes is not None else None
        if not told and not groups:
            return Answer[Workload].unknown("; ".join(dict.fromkeys(troubles)) or "no queue and no node in the answer")
        own = [queue for queue in told or () if not queue.routes_to]
        pending = [queue.jobs_pending for queue in told or () if queue.jobs_pending is not None]
        running = [queue.jobs_running for queue in own if queue.jobs_running is not None]
        whole = {value.startswith("force_excl") for each in nodes or () if (value := each.values.get("sharing"))}
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=(server or {}).get("pbs_version"),
                cluster=servers[0].name if servers else None,
                queues=told or None,
                groups=groups or None,
                jobs_pending=sum(pending) if told and len(pending) == len(told) else None,
                jobs_running=sum(running) if told and len(running) == len(own) else None,
                whole_nodes_only=(Truth.YES if True in whole else Truth.NO) if len(whole) == 1 else Truth.UNKNOWN,
            )
        )

    def accounts_commands(self) -> list[Command]:
        """See `pbs_accounts`."""
        return [self.ask("/bin/sh", "-c", ACCOUNTS_SCRIPT)]

    def parse_accounts(self, done: Sequence[Completed | Exception]) -> Answer[Accounts]:
        """See `pbs_accounts`."""
        return read_pbs_accounts(done[0]) if done else Answer[Accounts].unknown("not asked")

    def read_script(self, text: str) -> ScriptReading:
        """See `pbs_read`."""
        return read_pbs_script(text)


def jobs_shown(done: Completed) -> bool:
    """Whether an answer with trouble still shows jobs that can be believed: it was cut short or said more on stderr."""
    return done.rc in (0, 35, 153) and not done.truncated


def _gone(text: str) -> list[str]:
    """Ids that qstat calls unknown or finished."""
    words = [match[1] for match in _UNKNOWN.finditer(text)]
    words += [match[1] or match[2] for match in _FINISHED.finditer(text)]
    return [word for word in words if word]


def _key(ref: JobRef) -> str | None:
    parsed = read_job_id(ref.job_id)
    return parsed.key if parsed is not None else None


def _whole_array(text: str) -> str:
    parsed = read_job_id(text) or JobId(text, None, "")
    return re.sub(r"\[\d+\]", "[]", text) if parsed.task else text


def checked_id(job_id: str) -> str:
    """The id itself. Raises `BadRequest` for anything else."""
    if read_job_id(job_id) is None or job_id != job_id.strip():
        raise BadRequest(f"{job_id[:60]!r} is no job id", where="job_id", cure="give the id that qsub printed")
    return job_id


def checked_tag(tag: str) -> str:
    """The tag itself. Raises `BadRequest` for what could be an option or several words."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", tag):
        raise BadRequest(f"{tag[:60]!r} is no tag", where="tag", cure="give an attempt's tag")
    return tag
