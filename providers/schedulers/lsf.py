"""IBM Spectrum LSF 10.1: bsub(1), bjobs(1), bhist(1), bkill(1), bstop(1), bresume(1), bqueues(1), bhosts(1).

Status of all the user's jobs is one `bjobs -a -json`, which shows ended jobs for CLEAN_PERIOD (an hour by default);
then `bhist` is asked. The commands that only ask run with TZ=UTC. LSF has no way to ask for a start time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from dragoman.command import Command, Completed
from dragoman.facts import Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.model import now
from dragoman.observation import Answer
from dragoman.protocols import Clock, JobAnswers, ScriptReading
from providers.registry import register_dialect
from providers.schedulers.base import LONGEST_QUEUE, BaseDialect, Rules, chunks, one_line
from providers.schedulers.directives import checked
from providers.schedulers.lsf_history import history_statuses, read_history
from providers.schedulers.lsf_read import read_lsf_script
from providers.schedulers.lsf_script import render_lsf_script
from providers.schedulers.lsf_status import FIELDS, Record, job_statuses, read_jobs
from providers.schedulers.lsf_tables import ERRORS, REASONS, STATES
from providers.schedulers.lsf_words import LSF_WORDS
from providers.schedulers.lsf_workload import CORES_FORMAT, group_hosts, read_groups, read_hosts, read_queues
from providers.schedulers.script_words import ScriptWords

__all__ = ["LsfDialect"]

_TAG = re.compile(TAG_PATTERN.strip("^$"))
_NONE = re.compile(r"No (?:unfinished |matching )?jobs? found|is not found", re.IGNORECASE)


@register_dialect("lsf")
class LsfDialect(BaseDialect):
    """LSF's dialect.

    Args:
        clock: tells the year, which bjobs leaves out.

    """

    name = "lsf"
    script_words: ClassVar[ScriptWords | None] = LSF_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        r"Job <(?P<id>\d+)> is submitted to (?:default )?queue <", re.ASCII
    )
    unset: ClassVar[tuple[str, ...]] = (
        "BSUB_QUIET", "BSUB_QUIET2", "LSB_BJOBS_FORMAT", "LSB_DISPLAY_YEAR", "LSB_JOBID", "LSB_JOBINDEX", "LSB_SUB_*",
        "LSB_DEFAULT_JOBGROUP", "LSB_BJOBS_CONSISTENT_EXIT_CODE",
    )  # fmt: skip
    environment: Mapping[str, str] = {"TZ": "UTC", "LC_ALL": "C"}
    ids_per_command: ClassVar[int] = 200
    ids: ClassVar[re.Pattern[str]] = re.compile(r"[1-9]\d{0,17}(?:\[[1-9]\d{0,8}\])?", re.ASCII)

    def __init__(self, clock: Clock = now) -> None:
        self._clock = clock

    # Submit

    def render(self, spec: JobSpec) -> str:
        """See `lsf_script`."""
        return render_lsf_script(spec)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`bsub` with the script on standard input: its directives are read from there only."""
        checked(script_path, where="script_path")
        clock = {"TZ": "UTC"} if spec.start_after is not None else {}
        return Command(("bsub",), stdin=self.render(spec).encode(), environment=clock, unset=self.unset, timeout_s=120)

    def in_doubt(self, words: str) -> bool:
        """Also where the batch system was down for a while."""
        trouble = (
            r"LSF is down|please wait|daemon not responding|still trying|failed in (?:an )?lsf library|internal lsf"
        )
        return re.search(trouble, words, re.IGNORECASE) is not None or super().in_doubt(words)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """One `bjobs -a` for all jobs of the user."""
        return [self._bjobs("-a")] if self.numbers(refs) else []

    def _bjobs(self, *which: str) -> Command:
        return self.ask("bjobs", *which, "-json", "-o", FIELDS, max_output_bytes=LONGEST_QUEUE)

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that bjobs still shows; the others are absent from the queue only."""
        records, missing, trouble = self._records(done)
        found = {job_id: self._classed(one) for job_id, one in job_statuses(records, refs, self._clock()).items()}
        absent = frozenset(ref.job_id for ref in refs if ref.job_id not in found) if not trouble else frozenset()
        return JobAnswers(jobs=found, absent=absent | (missing & {ref.job_id for ref in refs}), trouble=trouble)

    def _classed(self, status: JobStatus) -> JobStatus:
        if status.state is JobState.HELD:
            return status.model_copy(update={"reason_class": ReasonClass.PERSON})
        if status.state is JobState.PENDING:
            return status.model_copy(update={"reason_class": self.reason_class(status.reason)})
        return status

    def _records(self, done: Completed) -> tuple[list[Record], frozenset[str], str]:
        # Records are not searched for words: there may be very many.
        told = done.err if done.rc == 0 and "{" in done.out else f"{done.out} {done.err}"
        nothing = _NONE.search(told) is not None and not self.in_doubt(done.err)
        if nothing and not done.truncated and "{" not in done.out and done.rc in (0, 255):
            return [], frozenset(), ""
        trouble = self.trouble(done, ok=(0, 255) if nothing else (0,))
        if trouble:
            return [], frozenset(), trouble
        records, missing, wrong = read_jobs(done.out)
        return records, missing, wrong or self.doubted(done)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """`bhist -l` for at most `ids_per_command` jobs each."""
        ids = self.numbers(refs)
        return [self.ask("bhist", "-a", "-l", *part, timeout_s=120) for part in chunks(ids, self.ids_per_command)]

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that the event log shows; any other is unknown, for the log is cut from time to time."""
        jobs = read_history(done.out)
        nothing = _NONE.search(f"{done.out} {done.err}") is not None and not self.in_doubt(done.err)
        trouble = self.trouble(done, ok=(0, 255) if jobs or nothing else (0,))
        if not trouble and not jobs and not nothing:
            trouble = one_line(done.err) or "bhist printed no job"
        return JobAnswers(jobs={} if trouble else history_statuses(jobs, refs, self._clock()), trouble=trouble)

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """Queue, and event log by the name's end."""
        return [self._bjobs("-a"), self.ask("bhist", "-a", "-l", "-J", f"*{checked(tag, where='tag')}*", timeout_s=120)]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag at the name's end or in the description."""
        known = tag if _TAG.fullmatch(tag) else None
        if done.argv[:1] == ("bhist",) or done.out.lstrip().startswith("Job <"):
            jobs = [(one.id, one.name) for one in read_history(done.out)]
            trouble = self.trouble(done)
            nothing = _NONE.search(f"{done.out} {done.err}") is not None and not self.in_doubt(done.err)
            trouble = (
                ("" if not done.truncated else trouble) if nothing else trouble or ("" if jobs else "nothing told")
            ) or self.doubted(done)
        else:
            records, _, trouble = self._records(done)
            jobs = [(one["JOBID"], one.get("JOB_NAME", "")) for one in records]
            jobs += [(one["JOBID"], one.get("JOB_DESCRIPTION", "")) for one in records]
        word = re.compile(rf"(?:^|\.){re.escape(tag)}(?:\[|$)")
        for job_id, name in jobs:
            base = job_id.partition("[")[0]
            if word.search(name) and self.ids.fullmatch(base):
                return Answer[JobRef].ok(JobRef(job_id=base, tag=known))
        if trouble:
            return Answer[JobRef].unknown(trouble)
        return Answer[JobRef].absent(f"{done.argv[0] if done.argv else 'the answer'} shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """Jobs that have not ended."""
        return [self._bjobs()]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Jobs whose description or name is a tag of ours."""
        records, _, trouble = self._records(done)
        refs: dict[str, JobRef] = {}
        for record in records:
            text = f"{record.get('JOB_DESCRIPTION', '')} {record.get('JOB_NAME', '')}"
            match = re.search(rf"(?:^|[\s.]){_TAG.pattern}(?=[\s\[]|$)", text)
            if match is not None:
                base = record["JOBID"].partition("[")[0]
                refs[base] = JobRef(job_id=base, tag=match[0].strip(" ."))
        return JobAnswers(jobs=job_statuses(records, list(refs.values()), self._clock()), trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`bkill ID`."""
        return self.act("bkill", self.number(ref))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """The words tell: bkill's exit code is 255 for a job that has ended too."""
        words = one_line(f"{done.out} {done.err}") or f"exit code {done.rc}"
        if re.search(r"is being (?:terminated|signaled)|already finished|will be killed", words, re.IGNORECASE):
            return Answer[JobRef].ok(JobRef(job_id=done.argv[-1] if len(done.argv) > 1 else "0"))
        if _NONE.search(words) and not self.in_doubt(words):
            return Answer[JobRef].absent(words)
        return Answer[JobRef].unknown(words)

    def hold_command(self, ref: JobRef) -> Command | None:
        """`bstop ID`: a pending job is held, a running one suspended."""
        return self.act("bstop", self.number(ref))

    def release_command(self, ref: JobRef) -> Command | None:
        """`bresume ID`."""
        return self.act("bresume", self.number(ref))

    # Site

    def workload_commands(self) -> list[Command]:
        """Queues, hosts, their memory, host groups, GPUs, cluster, cores."""
        return [
            self.ask("bqueues", "-l"),
            self.ask("bhosts", "-w"),
            self.ask("lshosts", "-w"),
            self.ask("bmgroup", "-w"),
            self.ask("bhosts", "-gpu", "-w"),
            self.ask("lsid"),
            self.ask("lshosts", "-o", CORES_FORMAT),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where neither queues nor hosts were told; else what was told, the rest None."""
        texts, troubles = self.told(done, 7)
        hosts = read_hosts(texts[1], texts[2], texts[4], texts[6]) if texts[1] is not None else None
        queues, places = read_queues(texts[0] or "", hosts, read_groups(texts[3] or ""))
        if not queues and not hosts:
            return Answer[Workload].unknown("; ".join(troubles) or "no queue and no host in the answer")
        version = re.search(r"LSF\D*?(\d+\.\d[\d.]*)", texts[5] or "")
        cluster = re.search(r"My cluster name is (\S+)", texts[5] or "")
        pending = [queue.jobs_pending for queue in queues if queue.jobs_pending is not None]
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=version[1] if version is not None else None,
                cluster=cluster[1] if cluster is not None else None,
                queues=queues or None,
                groups=group_hosts(hosts, places) if hosts else None,
                jobs_pending=sum(pending) if queues and len(pending) == len(queues) else None,
            )
        )

    def read_script(self, text: str) -> ScriptReading:
        """See `lsf_read`."""
        return read_lsf_script(text)
