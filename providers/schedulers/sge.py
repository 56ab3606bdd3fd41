"""The Grid Engine family (SGE 8.1, Son of Grid Engine, Univa, Altair): qsub(1), qstat(1), qacct(1), qdel(1).

Status of all the user's jobs is one `qstat -u $user`: XML, because its text cuts names. Ended jobs are in the
accounting only, which lags behind: a job that neither shows is unknown. The commands that only ask run with TZ=UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.facts import Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import LONGEST_QUEUE, BaseDialect, Rules, one_line
from providers.schedulers.directives import checked
from providers.schedulers.script_words import ScriptWords
from providers.schedulers.sge_accounting import history_statuses, read_records
from providers.schedulers.sge_read import read_sge_script
from providers.schedulers.sge_script import SgeNames, render_sge_script
from providers.schedulers.sge_status import Row, error_reasons, queue_rows, queue_statuses
from providers.schedulers.sge_tables import ERRORS, REASONS, STATES
from providers.schedulers.sge_words import SGE_WORDS
from providers.schedulers.sge_workload import depth_of, group_hosts, read_hosts, read_queues

__all__ = ["SgeDialect"]

_SUBMITTED = re.compile(r"Your job(?:-array)? (\d+)(?:\.[\d:-]+)? \(.*\) has been submitted", re.ASCII)
_FEW = 4
"""So many jobs are asked for one by one; each `qacct` reads the whole accounting file."""
_TAG = re.compile(TAG_PATTERN.strip("^$"))


@register_dialect("sge")
class SgeDialect(BaseDialect):
    """Grid Engine's dialect.

    Args:
        names: what the site calls its parallel environments and complexes.

    """

    name = "sge"
    path_keys = ("pe", "pe_mpi", "gpu", "memory")
    script_words: ClassVar[ScriptWords | None] = SGE_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"^\s*(?P<id>\d+)(?:\.\d+-\d+:\d+)?\s*$", re.ASCII)
    droppable: ClassVar[tuple[str, ...]] = ("-terse",)
    unset: ClassVar[tuple[str, ...]] = ("SGE_LONG_QNAMES", "SGE_LONG_JOB_NAMES", "JOB_ID", "SGE_TASK_ID")
    environment: Mapping[str, str] = {"TZ": "UTC", "LC_ALL": "C"}

    def __init__(self, names: SgeNames | None = None) -> None:
        self.names = names or SgeNames()

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """From the site's paths: `pe`, `pe_mpi`, `gpu` and `memory`, the names that only the site knows."""
        told = site.paths
        return cls(SgeNames(told.get("pe"), told.get("pe_mpi"), told.get("gpu"), told.get("memory", "h_vmem")))

    @classmethod
    def anywhere(cls) -> Self:
        """With names of parallel environments and of the GPUs' resource that many sites use."""
        return cls(SgeNames(pe="smp", pe_mpi="mpi", gpu="gpu"))

    # Submit

    def render(self, spec: JobSpec) -> str:
        """See `sge_script`."""
        return render_sge_script(spec, self.names)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`qsub -terse SCRIPT`; everything about the job stands in the script. Jobs do not inherit the environment."""
        options = [option for option in self.droppable if option not in without]
        path = checked(script_path, where="script_path")
        return Command(("qsub", *options, path), environment={"TZ": "UTC"}, unset=self.unset, timeout_s=120)

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """`Unable to run job: warning` with exit code 1 comes with `has been submitted`: the job is there."""
        match = _SUBMITTED.search(f"{done.out}\n{done.err}")
        if match is None:
            return super().parse_submit(done)
        if self.ids.fullmatch(match[1]) is None:
            return SubmitAnswer(doubt=f"{match[1][:40]} is no id of a job: {one_line(f'{done.err} {done.out}')}"[:2000])
        notes = tuple(one_line(line) for line in done.err.splitlines() if line.strip() and line != "Exiting.")[:20]
        return SubmitAnswer(job=JobRef(job_id=match[1]), warnings=notes)

    def in_doubt(self, words: str) -> bool:
        """Also where the master could not be reached or did not answer."""
        trouble = r"commlib error|unable to (?:send|contact|receive)|got (?:\w+ )?\w+ error|reading answer list"
        return re.search(trouble, words) is not None or super().in_doubt(words)

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """`qsub -w p`: whether it could start now. It uses up a job id."""
        path = checked(script_path, where="script_path")
        return Command(("qsub", "-w", "p", path), environment=self.environment, unset=self.unset, timeout_s=120)

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """Now, or not now and nobody can say when. Refusals for other reasons are absent: it could never start."""
        words = one_line(f"{done.out} {done.err}")
        if done.rc == 0 and "found suitable queue" in words:
            return Answer[StartEstimate].ok(StartEstimate(now=Truth.YES, expected_s=0, method="scheduler", made_at=at))
        if "no suitable queues" in words:
            return Answer[StartEstimate].ok(StartEstimate(now=Truth.NO, method="scheduler", made_at=at))
        if done.rc not in (0, 255) and not self.in_doubt(words) and self.error_class(words) is ReasonClass.NEVER:
            return Answer[StartEstimate].absent(words)
        return Answer[StartEstimate].unknown(words or f"exit code {done.rc}")

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """One `qstat` for all jobs of the user; `$user` is qstat's own word."""
        return [self._qstat()] if self.numbers(refs) else []

    def _qstat(self) -> Command:
        return self.ask("qstat", "-u", "$user", "-r", "-xml", max_output_bytes=LONGEST_QUEUE)

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that qstat shows; the others are absent from the queue only."""
        ids = {ref.job_id for ref in refs}
        rows, trouble = self._rows(done, lambda job_id, _: job_id in ids)
        jobs = queue_statuses(rows, refs, UTC)
        absent = frozenset() if trouble else frozenset(ref.job_id for ref in refs if ref.job_id not in jobs)
        return JobAnswers(jobs=jobs, absent=absent, trouble=trouble)

    def _rows(self, done: Completed, wanted: Callable[[str, str], bool]) -> tuple[list[Row], str]:
        trouble = self.trouble(done)
        if trouble or not done.out.strip():
            return [], trouble or one_line(done.err) or "qstat printed nothing"
        rows, wrong = queue_rows(done.stdout, wanted)
        return rows, wrong or self.doubted(done)

    def wants_explanation(self, status: JobStatus) -> bool:
        """Jobs in error state (`Eqw`): they stay there until a person clears it."""
        return status.state is JobState.HELD and "E" in status.native_state

    def explain_command(self, ref: JobRef) -> Command:
        """`qstat -j ID`: why a job waits, or is in error state; too much work for the scheduler to ask for each."""
        return self.ask("qstat", "-j", self.number(ref))

    def parse_explain(self, done: Completed, status: JobStatus) -> JobStatus:
        """The status with the scheduler's own reason, where it tells one."""
        reason = error_reasons(done.out).get(status.ref.job_id, "") if not self.trouble(done) else ""
        if not reason:
            return status
        held = status.state is JobState.HELD
        meaning = ReasonClass.PERSON if held else self.reason_class(reason)
        return status.model_copy(update={"reason": reason, "reason_class": meaning})

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """`qacct -j` for each of a few jobs, or once for all of ours; those without a tag always by their id."""
        bare = [ref for ref in refs if ref.tag is None]
        single = refs if len(refs) <= _FEW else bare[: 20 - 1]
        commands = [self.ask("qacct", "-j", self.number(ref)) for ref in single]
        if len(refs) > _FEW and len(bare) < len(refs):
            commands.append(self.ask("qacct", "-b", _begin(since), "-j", "*dgm-*", timeout_s=120))
        return commands

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that the accounting shows; any other is unknown, for it lags."""
        if done.rc == 1 and not done.truncated and _not_found(done):
            return JobAnswers(jobs={})
        trouble = self.trouble(done) or ("" if "jobnumber" in done.out else "qacct printed no record")
        return JobAnswers(jobs={} if trouble else history_statuses(done.out, refs, UTC), trouble=trouble)

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """Queue and accounting by the name's end."""
        return [self._qstat(), self.ask("qacct", "-j", f"*{checked(tag, where='tag')}", timeout_s=120)]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag at the name's end."""
        known = tag if _TAG.fullmatch(tag) else None
        if done.rc == 1 and not done.truncated and _not_found(done):
            return Answer[JobRef].absent("the accounting shows no job with this tag")
        if done.argv[:1] == ("qacct",) or "jobnumber" in done.out:
            trouble = self.trouble(done) or ("" if "jobnumber" in done.out else "qacct printed no record")
            pairs = [(one.get("jobnumber", ""), one.get("jobname", "")) for one in read_records(done.out)]
        else:
            rows, trouble = self._rows(done, lambda _, name: name.endswith(tag))
            pairs = [(row.id, row.name) for row in rows]
        for job_id, name in pairs:
            if (name == tag or name.endswith(f".{tag}")) and self.ids.fullmatch(job_id):
                return Answer[JobRef].ok(JobRef(job_id=job_id, tag=known))
        if trouble:
            return Answer[JobRef].unknown(trouble)
        return Answer[JobRef].absent(f"{done.argv[0] if done.argv else 'the answer'} shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """The queue with full names."""
        return [self._qstat()]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Jobs whose name ends in a tag of ours."""
        rows, trouble = self._rows(done, lambda _, name: "dgm-" in name)
        found = {row.id: match[0] for row in rows if (match := re.search(rf"{_TAG.pattern}$", row.name)) is not None}
        refs = [JobRef(job_id=job_id, tag=tag) for job_id, tag in found.items()]
        return JobAnswers(jobs=queue_statuses(rows, refs, UTC), trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`qdel ID`."""
        return self.act("qdel", self.number(ref))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """What qdel says is on stdout; an exit code of 0 alone is not believed."""
        words = one_line(f"{done.out} {done.err}") or f"exit code {done.rc}"
        if re.search(r"registered the job \S+ for deletion|has deleted job|already in deletion", words):
            return Answer[JobRef].ok(JobRef(job_id=done.argv[-1] if len(done.argv) > 1 else "0"))
        if re.search(r"job \"?\S+\"? does not exist", words) and not self.in_doubt(words):
            return Answer[JobRef].absent(words)
        return Answer[JobRef].unknown(words)

    def hold_command(self, ref: JobRef) -> Command | None:
        """`qhold ID`."""
        return self.act("qhold", self.number(ref))

    def release_command(self, ref: JobRef) -> Command | None:
        """`qrls ID`."""
        return self.act("qrls", self.number(ref))

    # Site

    def workload_commands(self) -> list[Command]:
        """Hosts with their queues, queue limits, depth, version."""
        return [
            self.ask("qhost", "-q", "-F", "-xml"),
            self.ask("qconf", "-sq", "*"),
            self.ask("qstat", "-u", "*", "-s", "pr"),
            self.ask("qstat", "-help"),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where neither hosts nor queues were told; else what was told, the rest None."""
        texts, troubles = self.told(done, 4)
        hosts = read_hosts(texts[0]) if texts[0] is not None else None
        queues = read_queues(texts[1], hosts) if texts[1] is not None else None
        if not queues and not hosts:
            return Answer[Workload].unknown("; ".join(troubles) or "no host and no queue in the answer")
        depth = depth_of(texts[2]) if texts[2] is not None else None
        version = re.match(r"\s*\S*GE \S+|\S+ \d[\d.]*", texts[3] or "")
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=version[0].strip() if version is not None else None,
                queues=queues,
                groups=group_hosts(hosts) if hosts else None,
                jobs_pending=depth[0] if depth is not None else None,
                jobs_running=depth[1] if depth is not None else None,
                whole_nodes_only=Truth.NO,
            )
        )

    def read_script(self, text: str) -> ScriptReading:
        """See `sge_read`."""
        return read_sge_script(text)


def _not_found(done: Completed) -> bool:
    return re.search(r"error: job (?:id|name) \S+ not found", done.err) is not None


def _begin(since: datetime) -> str:
    return (since - timedelta(hours=1)).astimezone(UTC).strftime("%Y%m%d%H%M")
