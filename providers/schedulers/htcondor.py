"""HTCondor 9 to 24: condor_submit(1), condor_q(1), condor_history(1), condor_rm(1), condor_hold(1), condor_status(1).

A job is a cluster of processes. The queue forgets a job as soon as it has ended, and the history has it from then on.
The tag is an attribute of its own (`DragomanTag`), by which queue and history are searched. How it is written stands in
`htcondor_script`, how it is read in `htcondor_status`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from dragoman.command import Command, Completed
from dragoman.facts import Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, ScriptReading, SubmitAnswer
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, Rules, chunks, one_line, table
from providers.schedulers.directives import checked
from providers.schedulers.htcondor_script import CONDOR_WORDS, description, read_condor_script, render_condor_script
from providers.schedulers.htcondor_status import (
    ATTRIBUTES,
    STATES,
    group_slots,
    job_statuses,
    pool_queue,
    queue_depth,
    read_ads,
)
from providers.schedulers.script_words import ScriptWords

__all__ = ["HtCondorDialect"]

_SLOTS = "Machine,SlotType,State,Cpus,TotalCpus,Memory,TotalMemory,GPUs,TotalGPUs,GPUs_DeviceName,TotalSlotCpus"
_SCHEDDS = "Name,TotalIdleJobs,TotalRunningJobs"
_NOT_THERE = re.compile(r"[Cc]ould(?:n't| not) find(?:/\w+)? (?:all )?jobs?\b|\bnot found\b")


@register_dialect("htcondor")
class HtCondorDialect(BaseDialect):
    """HTCondor's dialect."""

    name = "htcondor"
    script_words: ClassVar[ScriptWords | None] = CONDOR_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    errors: ClassVar[Rules] = table(
        (r"permission denied|not authorized|authori[sz]ation fail|credential", ReasonClass.PERSON),
        (r"MAX_JOBS_(?:SUBMITTED|PER_OWNER)|number of submitted jobs would exceed", ReasonClass.WAIT),
        (r"submit (?:file|description)|on Line \d+|does not exist|parse|invalid|not a valid|rejected|unable to open",
         ReasonClass.NEVER),
    )  # fmt: skip
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        r"^\s*(?P<id>\d{1,12})\.\d+ - \d{1,12}\.\d+\s*$|submitted to cluster (?P<plain>\d{1,12})\.", re.ASCII
    )
    unset: ClassVar[tuple[str, ...]] = ("_CONDOR_CONDOR_Q_ONLY_MY_JOBS", "_CONDOR_JOB_AD", "_CONDOR_SCRATCH_DIR")
    environment: Mapping[str, str] = {"LC_ALL": "C"}
    ids: ClassVar[re.Pattern[str]] = re.compile(r"[1-9]\d{0,11}", re.ASCII)

    # Submit

    def render(self, spec: JobSpec) -> str:
        """The program that the job runs; what is asked for stands in its comments."""
        return render_condor_script(spec)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`condor_submit -terse -`, the description on its standard input."""
        text = description(spec, checked(script_path, where="script_path"))
        return Command(("condor_submit", "-terse", "-"), stdin=text.encode(), unset=self.unset, timeout_s=120)

    def submitted(self, done: Completed) -> JobRef | None:
        """The cluster of `12.0 - 12.3`, or of the words without `-terse`."""
        for line in reversed(done.out.splitlines()):
            match = self.accepted.search(line)
            if match is not None:
                return JobRef(job_id=match["id"] or match["plain"])
        return None

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """As for every scheduler, but a schedd that cannot be found was given nothing."""
        if done.rc and self.submitted(done) is None and re.search(r"Can't find address of (?:local )?schedd", done.err):
            return SubmitAnswer(refused=one_line(done.err), reason_class=ReasonClass.WAIT)
        return super().parse_submit(done)

    def in_doubt(self, words: str) -> bool:
        """Also where the queue was lost in the middle of it."""
        trouble = r"Failed to (?:commit|fetch ads|send)|Can't find address|SECMAN|AUTHENTICATE|condor_schedd is not"
        return re.search(trouble, words) is not None or super().in_doubt(words)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """`condor_q ID... -json`: named jobs are shown whoever owns them."""
        return [self._ads("condor_q", *part) for part in chunks(self.numbers(refs), self.ids_per_command)]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs in the queue; the others have left it."""
        return self._answers(done, refs, history=False)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """`condor_history ID... -json`, which looks through the whole history."""
        return [self._ads("condor_history", *part) for part in chunks(self.numbers(refs), self.ids_per_command)]

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs in the history, which is cut from time to time: any other is unknown."""
        answers = self._answers(done, refs, history=True)
        return JobAnswers(jobs=answers.jobs, trouble=answers.trouble)

    def _ads(self, program: str, *which: str) -> Command:
        return self.ask(program, *which, "-json", "-attributes", ",".join(ATTRIBUTES), timeout_s=120)

    def _answers(self, done: Completed, refs: Sequence[JobRef], *, history: bool) -> JobAnswers:
        ads, trouble = read_ads(done, self.trouble(done))
        jobs = job_statuses(ads, refs, history=history) if not trouble else {}
        return JobAnswers(
            jobs, frozenset(ref.job_id for ref in refs if not trouble and ref.job_id not in jobs), trouble
        )

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """By the attribute, in queue and history."""
        if re.fullmatch(TAG_PATTERN, tag) is None:
            return []
        which = ("-constraint", f'DragomanTag == "{tag}"')
        return [self._ads("condor_q", *which), self._ads("condor_history", *which)]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """The cluster that carries it; absent where the answer is whole and shows none."""
        ads, trouble = read_ads(done, self.trouble(done))
        for ad in ads:
            if ad.get("DragomanTag") == tag and re.fullmatch(TAG_PATTERN, tag):
                return Answer[JobRef].ok(JobRef(job_id=str(ad["ClusterId"]), tag=tag))
        return Answer[JobRef].unknown(trouble) if trouble else Answer[JobRef].absent("no job carries this tag")

    def list_tags_commands(self) -> list[Command]:
        """Our jobs in the queue."""
        return [self._ads("condor_q", "-constraint", "DragomanTag =!= undefined")]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """By their attribute."""
        ads, trouble = read_ads(done, self.trouble(done))
        tags = {str(ad["ClusterId"]): str(ad.get("DragomanTag", "")) for ad in ads}
        refs = [JobRef(job_id=key, tag=tag) for key, tag in tags.items() if re.fullmatch(TAG_PATTERN, tag)]
        return JobAnswers(job_statuses(ads, refs, history=False), trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`condor_rm CLUSTER`."""
        return self.act("condor_rm", self.number(ref))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Marked for removal, or not in the queue: it has ended, or never was."""
        words = one_line(f"{done.out} {done.err}") or f"exit code {done.rc}"
        if done.rc == 0 and re.search(r"marked for removal", words):
            return Answer[JobRef].ok(JobRef(job_id=done.argv[-1] if len(done.argv) > 1 else "0"))
        gone = _NOT_THERE.search(words) and not self.in_doubt(words)
        return Answer[JobRef].absent(words) if gone else Answer[JobRef].unknown(words)

    def hold_command(self, ref: JobRef) -> Command | None:
        """`condor_hold`; a running job is ended, and begins anew when released."""
        return self.act("condor_hold", self.number(ref))

    def release_command(self, ref: JobRef) -> Command | None:
        """`condor_release`."""
        return self.act("condor_release", self.number(ref))

    # Site

    def workload_commands(self) -> list[Command]:
        """Slots, version, and what each access point says of its queue."""
        return [
            self.ask("condor_status", "-json", "-attributes", _SLOTS),
            self.ask("condor_version"),
            self.ask("condor_status", "-schedd", "-json", "-attributes", _SCHEDDS),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Machines from their slots, jobs of the whole pool from its access points; the pool stands for a queue."""
        texts, troubles = self.told(done, 3)
        slots, trouble = read_ads(Completed((), 0, texts[0].encode(), b""), "", key="Machine") if texts[0] else ([], "")
        if not slots:
            return Answer[Workload].unknown("; ".join(troubles) or trouble or "no slot in the answer")
        match = re.search(r"CondorVersion:\s*(\d+\.\d+\.\d+)", texts[1] or "")
        version = match[1] if match is not None else None
        points, _ = read_ads(Completed((), 0, (texts[2] or "").encode(), b""), "", key="Name")
        waiting, running = queue_depth(points)
        groups = group_slots(slots)
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=version,
                queues=(pool_queue(groups, waiting, running),),
                groups=groups,
                jobs_pending=waiting,
                jobs_running=running,
                whole_nodes_only=Truth.NO,
            )
        )

    def read_script(self, text: str) -> ScriptReading:
        """A submit description in a script's comments, or a description by itself."""
        return read_condor_script(text)
