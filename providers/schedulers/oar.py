"""OAR 2.5: oarsub(1), oarstat(1), oardel(1), oarhold(1), oarresume(1), oarnodes(1).

oarstat reads the database, in which jobs stay after their end, so one question `--sql` answers for queued, running,
ended jobs and whole arrays alike. The oldest job is always asked for too: an answer with it and without another shows
that there is no such other, and an empty answer shows nothing. Times are seconds since the epoch.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.facts import Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, Rules, chunks, one_line
from providers.schedulers.directives import checked
from providers.schedulers.oar_read import read_oar_script
from providers.schedulers.oar_script import oar_options, render_oar_script
from providers.schedulers.oar_status import Record, job_statuses, read_jobs
from providers.schedulers.oar_tables import ERRORS, REASONS, STATES
from providers.schedulers.oar_words import OAR_WORDS
from providers.schedulers.oar_workload import depth_of, group_nodes, read_nodes
from providers.schedulers.script_words import ScriptWords

__all__ = ["OarDialect"]

_TAG = re.compile(TAG_PATTERN.strip("^$"))
_OLDEST = "job_id IN (SELECT MIN(job_id) FROM jobs)"
_ACTIVE = "state NOT IN ('Terminated', 'Error')"


@register_dialect("oar")
class OarDialect(BaseDialect):
    """OAR's dialect.

    Args:
        gpu_model: the site's property that holds a GPU's model.

    """

    name = "oar"
    path_keys = ("gpu_model",)
    script_words: ClassVar[ScriptWords | None] = OAR_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    # Lines of admission rules come before it; an array prints its jobs' ids first and its own last.
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"^\s*OAR_(?:JOB|ARRAY)_ID=(?P<id>\d+)\s*$", re.ASCII)
    unset: ClassVar[tuple[str, ...]] = ("OAR_JOB_ID", "OAR_JOBID", "OAR_JOB_KEY_FILE", "OAR_OARSTAT_OUTPUT_FORMAT")
    environment: Mapping[str, str] = {"LC_ALL": "C"}

    def __init__(self, gpu_model: str = "gpu_model") -> None:
        self.gpu_model = gpu_model

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """From the site's paths: `gpu_model`, the property that holds a GPU's model."""
        return cls(site.paths.get("gpu_model", "gpu_model"))

    # Submit

    def render(self, spec: JobSpec) -> str:
        """See `oar_script`."""
        return render_oar_script(spec, self.gpu_model)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`oarsub OPTIONS "/bin/sh SCRIPT"`: the last argument is a shell line of the job's node, so it is quoted."""
        options = [part for pair in oar_options(spec, self.gpu_model) for part in pair if part]
        path = checked(script_path, where="script_path")
        return self.act("oarsub", *options, f"/bin/sh {shlex.quote(path)}")

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """A negative id is a refusal, whatever else is printed; exit codes from 240 on are negative (248 is -8)."""
        failed = re.search(r"^OAR_JOB_ID=-\d+", done.out, re.MULTILINE)
        if failed is not None and self.submitted(done) is None:
            words = one_line(f"{done.err}\n{done.out}")
            return SubmitAnswer(refused=words, reason_class=self.error_class(words))
        return super().parse_submit(replace(done, rc=1) if done.rc >= 240 else done)

    def in_doubt(self, words: str) -> bool:
        """Also where the job is in the database and the server was not told."""
        return re.search(r"Cannot connect to executor|Is OAR started", words) is not None or super().in_doubt(words)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """`oarstat -f -J --sql` for many jobs at once: `-j` is a question to the database for each."""
        ids = self.numbers(refs)
        return [self._oarstat(_of(part)) for part in chunks(ids, self.ids_per_command)]

    def _oarstat(self, where: str) -> Command:
        return self.ask("oarstat", "-f", "-J", "--sql", f"{where} OR {_OLDEST}")

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs in the database; the others are not there."""
        jobs, trouble = self._jobs(done)
        found = job_statuses(jobs, refs)
        classed = {job_id: self._classed(status) for job_id, status in found.items()}
        absent = frozenset() if trouble else frozenset(ref.job_id for ref in refs if ref.job_id not in found)
        return JobAnswers(jobs=classed, absent=absent, trouble=trouble)

    def _classed(self, status: JobStatus) -> JobStatus:
        if status.state is JobState.HELD:
            return status.model_copy(update={"reason_class": ReasonClass.PERSON})
        if status.state is JobState.PENDING:
            return status.model_copy(update={"reason_class": self.reason_class(status.reason)})
        return status

    def _jobs(self, done: Completed) -> tuple[dict[str, Record], str]:
        trouble = self.trouble(done)
        if not trouble and not done.out.strip():
            trouble = one_line(done.err)
        if trouble:
            return {}, trouble
        jobs, wrong = read_jobs(done.out)
        return jobs, self.doubted(done) or wrong

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """By the name's end."""
        if _TAG.fullmatch(tag) is None:
            return []
        return [self._oarstat(f"job_name LIKE '%{tag}'")]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag at the name's end; of an array, the array's id."""
        jobs, trouble = self._jobs(done)
        for job_id, record in jobs.items():
            name = str(record.get("name") or "")
            if (name == tag or name.endswith(f".{tag}")) and self.ids.fullmatch(job_id):
                array = str(record.get("array_id") or job_id)
                known = tag if _TAG.fullmatch(tag) else None
                return Answer[JobRef].ok(JobRef(job_id=array if self.ids.fullmatch(array) else job_id, tag=known))
        if trouble:
            return Answer[JobRef].unknown(trouble)
        return Answer[JobRef].absent("oarstat shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """Jobs with a tag of ours that have not ended."""
        return [self._oarstat(f"job_name LIKE '%dgm-%' AND {_ACTIVE}")]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Jobs whose name ends in a tag of ours, arrays by their own id."""
        jobs, trouble = self._jobs(done)
        refs: dict[str, JobRef] = {}
        for job_id, record in jobs.items():
            match = re.search(rf"{_TAG.pattern}$", str(record.get("name") or ""))
            array = str(record.get("array_id") or job_id)
            ended = self.state(str(record.get("state"))).final  # the oldest job may be one of ours
            if match is not None and not ended:
                refs[array] = JobRef(job_id=array, tag=match[0])
        return JobAnswers(jobs=job_statuses(jobs, list(refs.values())), trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`oardel`, by a condition that names a job or a whole array."""
        return self.act("oardel", "--sql", _of([self.number(ref)]))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Nothing printed and no error: no such job. Of an unknown id oardel says that we are not the right user."""
        words = one_line(f"{done.out} {done.err}")
        asked = re.search(r"job_id IN \((\d+)\)", " ".join(done.argv))
        if re.search(r"REGISTERED|already killed|will be deleted", words) and not self.in_doubt(words):
            return Answer[JobRef].ok(JobRef(job_id=asked[1] if asked is not None else "0"))
        if done.rc == 0 and not words and asked is not None:
            return Answer[JobRef].absent("oardel knows no such job")
        return Answer[JobRef].unknown(words or f"exit code {done.rc}")

    def hold_command(self, ref: JobRef) -> Command | None:
        """`oarhold`."""
        return self.act("oarhold", "--sql", _of([self.number(ref)]))

    def release_command(self, ref: JobRef) -> Command | None:
        """`oarresume`."""
        return self.act("oarresume", "--sql", _of([self.number(ref)]))

    # Site

    def workload_commands(self) -> list[Command]:
        """Nodes, jobs, version. OAR tells users nothing about its queues' limits."""
        return [self.ask("oarnodes", "-J"), self._oarstat(_ACTIVE), self.ask("oarsub", "--version")]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where the nodes were not told."""
        texts, troubles = self.told(done, 3)
        nodes = read_nodes(texts[0]) if texts[0] is not None else None
        if not nodes:
            return Answer[Workload].unknown("; ".join(troubles) or "no node in the answer")
        jobs, trouble = read_jobs(texts[1]) if texts[1] is not None else ({}, "not told")
        depth = depth_of(jobs) if not trouble else None
        version = re.search(r"version\s*:\s*(\S+)", texts[2] or "")
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=version[1] if version is not None else None,
                groups=group_nodes(nodes),
                jobs_pending=depth[0] if depth is not None else None,
                jobs_running=depth[1] if depth is not None else None,
                whole_nodes_only=Truth.NO,
            )
        )

    def read_script(self, text: str) -> ScriptReading:
        """See `oar_read`."""
        return read_oar_script(text)


def _of(ids: Sequence[str]) -> str:
    """Jobs and whole arrays with these ids, all digits."""
    listed = ",".join(ids)
    return f"job_id IN ({listed}) OR array_id IN ({listed})"
