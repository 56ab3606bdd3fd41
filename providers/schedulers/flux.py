"""Flux (flux-core 0.49 to 0.88): flux-batch(1), flux-jobs(1), flux-cancel(1), flux-job(1), flux-queue(1).

Ids are kept as integers: the same id prints as `ƒDTznkvT` or, in another locale, `fDTznkvT`. `flux jobs` with ids shows
jobs in all states, those that ended included, until the instance purges them; there is no accounting behind it.
`--dry-run` checks nothing, so there is no estimate before a submit; a waiting job has one (`sched.t_estimate`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import Accounts, Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, ReasonClass
from dragoman.observation import Answer
from dragoman.protocols import EndsTold, JobAnswers, ScriptReading, SubmitAnswer
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import BaseDialect, Rules, chunks, one_line, table
from providers.schedulers.directives import checked
from providers.schedulers.flux_accounts import ACCOUNTS_SCRIPT, read_banks
from providers.schedulers.flux_read import read_flux_script
from providers.schedulers.flux_script import render_flux_script
from providers.schedulers.flux_status import STATES, read_events, read_jobs, status_of
from providers.schedulers.flux_values import read_flux_id
from providers.schedulers.flux_words import FLUX_WORDS
from providers.schedulers.flux_workload import (
    DEPTH_FORMAT,
    QUEUE_FORMAT,
    group_nodes,
    read_depth,
    read_queues,
    read_ranks,
    read_requires,
)
from providers.schedulers.following import ends_of, sign_of_end, turn_argv
from providers.schedulers.script_words import ScriptWords

__all__ = ["FluxDialect"]

FOLLOWED, FOLLOW_S = 32, 20
"""Jobs followed at once, each by a process at the site; and how long a turn lasts, after which newer jobs join."""
_UNKNOWN = re.compile(r"JobID (\S+) unknown|(\S+): unknown job id", re.IGNORECASE)
_NO_INSTANCE = re.compile(r"flux-?\s?\w*: ERROR: Unable to connect to Flux\b")
_TAG_AT_END = re.compile(rf"\.({TAG_PATTERN.strip('^$')})$")


@register_dialect("flux")
class FluxDialect(BaseDialect):
    """The dialect of Flux.

    Args:
        uri: which instance to talk to (FLUX_URI); None: the one that the site's environment names.

    """

    name = "flux"
    path_keys = ("flux_uri",)
    script_words: ClassVar[ScriptWords | None] = FLUX_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    errors: ClassVar[Rules] = table(
        (
            r"unsatisfiable request|exceeds policy limit|exceeds .{0,40}limit|Invalid queue|not supported",
            ReasonClass.NEVER,
        ),
        (r"job not found|invalid (?:Flux standard )?duration|invalid .{0,40}(?:value|specified)", ReasonClass.NEVER),
        (
            r"unrecognized arguments|is not a flux command|Number of slots|No such file|orphan|usage: flux",
            ReasonClass.NEVER,
        ),
        (r"No alphanumeric|unknown (?:bank|association)|not a member|must be (?:set|specified)", ReasonClass.NEVER),
        (r"is disabled|Operation not permitted|permission|not authorized|guest", ReasonClass.PERSON),
        (r"max (?:active|running) jobs|resource temporarily|was not found", ReasonClass.WAIT),
    )
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        # A word of small letters may be part of a banner (`fine`); the scheduler is then asked instead.
        r"^\s*(?P<id>\N{LATIN SMALL LETTER F WITH HOOK}[1-9A-HJ-NP-Za-km-z]{1,11}"
        r"|f(?=[a-km-z]*[1-9A-HJ-NP-Z])[1-9A-HJ-NP-Za-km-z]{1,11})\s*$"
    )
    unset: ClassVar[tuple[str, ...]] = (
        "FLUX_JOBS_FORMAT_DEFAULT", "FLUX_QUEUE_LIST_FORMAT_DEFAULT", "FLUX_RESOURCE_LIST_FORMAT_DEFAULT",
        "FLUX_JOBS_COLOR",
    )  # fmt: skip

    def __init__(self, uri: str | None = None) -> None:
        self._uri: Mapping[str, str] = {"FLUX_URI": uri} if uri else {}
        self.environment = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", **self._uri}

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """With the instance that the site's file names (`paths: {flux_uri: ...}`)."""
        return cls(uri=site.paths.get("flux_uri"))

    def act(self, *argv: str, timeout_s: float = 120.0) -> Command:
        """As for every scheduler, at the named instance."""
        return Command(argv=argv, environment=self._uri, unset=self.unset, timeout_s=timeout_s)

    # Submit

    def render(self, spec: JobSpec) -> str:
        """See `flux_script`."""
        return render_flux_script(spec)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`flux batch SCRIPT`; everything about the job stands in the script, the tag at the end of its name."""
        return self.act("flux", "batch", checked(script_path, where="script_path"))

    def submitted(self, done: Completed) -> JobRef | None:
        """The id on stdout, as an integer."""
        found = super().submitted(done)
        number = read_flux_id(found.job_id) if found is not None else None
        return JobRef(job_id=str(number)) if number is not None else None

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """As for every scheduler, but without an instance nothing was submitted, and that is known."""
        if done.rc != 0 and self.submitted(done) is None and _NO_INSTANCE.search(done.err):
            words = one_line(done.err)
            meaning = ReasonClass.PERSON if "not permitted" in words else ReasonClass.WAIT
            return SubmitAnswer(refused=words, reason_class=meaning)
        return super().parse_submit(done)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """`flux jobs --json ID...`."""
        ids = list(dict.fromkeys(_checked_id(ref.job_id) for ref in refs))
        return [self.ask("flux", "jobs", "--json", *part) for part in chunks(ids, self.ids_per_command)]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that are shown; absent are those that flux names as unknown."""
        unknown = {read_flux_id(match[1] or match[2]) for match in _UNKNOWN.finditer(done.err)}
        others = [line for line in done.err.splitlines() if line.strip() and not _UNKNOWN.search(line)]
        trouble = self.trouble(done, ok=(0, 1) if unknown and not others else (0,))
        if trouble:
            return JobAnswers(jobs={}, trouble=trouble)
        records, trouble = read_jobs(done.out)
        by_id = {record["id"]: record for record in records}
        asked = {ref.job_id: read_flux_id(ref.job_id) for ref in refs}
        jobs = {ref.job_id: status_of(ref, by_id[number]) for ref in refs if (number := asked[ref.job_id]) in by_id}
        in_command = {read_flux_id(word) for word in done.argv} - {None}
        partial = any(number in in_command for number in asked.values())
        gone = {
            job_id
            for job_id, number in asked.items()
            if number is not None and (number in unknown or (partial and number not in in_command))
        }
        unseen = any(job_id not in jobs and job_id not in gone for job_id in asked)
        if unseen and (trouble := trouble or self.doubted(done)):
            return JobAnswers(jobs=jobs, trouble=trouble)
        return JobAnswers(jobs=jobs, absent=frozenset(gone - jobs.keys()))

    def events_command(self, ref: JobRef) -> Command:
        """The job's event log: what happened, in order, with times."""
        return self.ask("flux", "job", "eventlog", "--format=json", _checked_id(ref.job_id))

    def parse_events(self, done: Completed, ref: JobRef) -> JobAnswers:
        """State by the event log."""
        trouble = self.trouble(done)
        status = read_events(ref, done.out) if not trouble else None
        if status is None:
            return JobAnswers(jobs={}, trouble=trouble or "the event log holds no event")
        return JobAnswers(jobs={ref.job_id: status})

    # Events

    def follow_command(self, refs: Sequence[JobRef], mark: str | None) -> Command | None:
        """`flux job wait-event ID clean` for some jobs at once: it tells of an end that was before it, too."""
        ids = list(dict.fromkeys(_checked_id(ref.job_id) for ref in refs))[:FOLLOWED]
        argv = ("flux", "job", "wait-event", f"--timeout={FOLLOW_S}s", "--quiet", "{}", "clean")
        turn = turn_argv(argv, signs=[*map(sign_of_end, ids)], ids=ids)
        return self.ask(*turn, timeout_s=FOLLOW_S + 30.0) if ids else None

    def parse_follow(self, done: Completed, refs: Sequence[JobRef], mark: str | None) -> EndsTold:
        """Jobs whose event came. A time-out is none; any other failure of all is trouble."""
        codes, _ = ends_of(done.out)
        ended = frozenset(ref.job_id for ref in refs if codes.get(ref.job_id) == 0)
        if ended or "wait-event timeout" in done.err:
            return EndsTold(ended=ended)
        return EndsTold(trouble=self.trouble(done) or one_line(done.err) or "flux job wait-event told nothing")

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """All jobs of the user, ended ones too, in the shortest form that tells id and name."""
        return [self.ask("flux", "jobs", "-a", "--count=0", "-n", "-o", "{id.dec}|{name}")]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag at the name's end."""
        trouble = self.trouble(done)
        if trouble or done.err.strip():
            return Answer[JobRef].unknown(trouble or one_line(done.err))
        rows = [line.strip().partition("|") for line in done.out.splitlines() if line.strip()]
        if done.out.lstrip().startswith("{"):
            records, trouble = read_jobs(done.out)
            if trouble:
                return Answer[JobRef].unknown(trouble)
            rows = [(str(record["id"]), "|", str(record.get("name", ""))) for record in records]
        elif (done.argv[:1] != ("flux",)) or any(not row[0].isdigit() or not row[1] for row in rows):
            return Answer[JobRef].unknown(f"the answer is not what was asked for: {one_line(done.out, limit=120)}")
        for job_id, _, name in rows:
            if name == tag or name.endswith(f".{tag}"):
                return Answer[JobRef].ok(JobRef(job_id=job_id, tag=tag if re.fullmatch(TAG_PATTERN, tag) else None))
        return Answer[JobRef].absent("flux jobs shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """The user's jobs that have not ended."""
        return [self.ask("flux", "jobs", "--count=0", "--json")]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Those with a tag."""
        trouble = self.trouble(done)
        records, wrong = read_jobs(done.out) if not trouble else ([], "")
        if trouble or wrong:
            return JobAnswers(jobs={}, trouble=trouble or wrong)
        found = ((record, _TAG_AT_END.search(str(record.get("name", "")))) for record in records)
        refs = [
            (JobRef(job_id=str(record["id"]), tag=match[1]), record) for record, match in found if match is not None
        ]
        return JobAnswers(jobs={ref.job_id: status_of(ref, record) for ref, record in refs})

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`flux cancel ID`."""
        return self.act("flux", "cancel", _checked_id(ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """A job that is inactive has ended; absent only where Flux says that it does not know the id."""
        told = one_line(f"{done.err} {done.out}") or f"exit code {done.rc}"
        if done.rc == 0 or "job is inactive" in told:
            return Answer[JobRef].ok(JobRef(job_id=done.argv[-1] if len(done.argv) > 1 else "0"))
        return Answer[JobRef].absent(told) if _UNKNOWN.search(told) else Answer[JobRef].unknown(told)

    def hold_command(self, ref: JobRef) -> Command | None:
        """Urgency 0."""
        return self.act("flux", "job", "urgency", _checked_id(ref.job_id), "hold")

    def release_command(self, ref: JobRef) -> Command | None:
        """Urgency 16."""
        return self.act("flux", "job", "urgency", _checked_id(ref.job_id), "default")

    # Site

    def workload_commands(self) -> list[Command]:
        """Queues, all resources, those that are free or down, depth, configuration, version."""
        return [
            self.ask("flux", "queue", "list", "-n", "-o", QUEUE_FORMAT),
            *(self.ask("flux", "resource", "R", "-s", state) for state in ("all", "free", "down")),
            self.ask("flux", "jobs", "-A", "--count=0", "-n", "-f", "pending,running", "-o", DEPTH_FORMAT),
            self.ask("flux", "config", "get"),
            self.ask("flux", "version"),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where neither queues nor resources were told; else what was told, the rest None."""
        texts: list[str | None] = []
        troubles: list[str] = []
        for one in [*done, *[Completed((), 1, b"", b"not asked")] * (7 - len(done))][:7]:
            trouble = one_line(str(one)) or type(one).__name__ if isinstance(one, Exception) else self.trouble(one)
            texts.append(None if trouble or isinstance(one, Exception) else one.out)
            troubles.extend([trouble] if trouble else [])
        listed, everything, free, down, waiting, config, version = texts
        ranks = read_ranks(everything) if everything is not None else None
        depth = read_depth(waiting) if waiting is not None else None
        rows = read_queues(listed, depth, None) if listed is not None else None
        groups = None
        if ranks:
            names = [queue.name for queue in rows or ()]
            free_ranks, down_ranks = (read_ranks(text) if text is not None else None for text in (free, down))
            groups = group_nodes(ranks, free_ranks, down_ranks, names, read_requires(config))
        queues = read_queues(listed, depth, groups) if listed is not None else None
        if not queues and not groups:
            return Answer[Workload].unknown("; ".join(dict.fromkeys(troubles)) or "no queue and no node in the answer")
        pending = [queue.jobs_pending for queue in queues or () if queue.jobs_pending is not None]
        running = [queue.jobs_running for queue in queues or () if queue.jobs_running is not None]
        match = re.search(r"^commands:\s*(\S+)", version or "", re.MULTILINE)
        return Answer[Workload].ok(
            Workload(
                scheduler=self.name,
                version=match[1] if match is not None else None,
                queues=queues,
                groups=groups,
                jobs_pending=sum(pending) if queues and depth is not None else None,
                jobs_running=sum(running) if queues and depth is not None else None,
            )
        )

    def accounts_commands(self) -> list[Command]:
        """See `flux_accounts`."""
        return [self.ask("/bin/sh", "-c", ACCOUNTS_SCRIPT)]

    def parse_accounts(self, done: Sequence[Completed | Exception]) -> Answer[Accounts]:
        """See `flux_accounts`."""
        return read_banks(done[0]) if done else Answer[Accounts].unknown("not asked")

    def read_script(self, text: str) -> ScriptReading:
        """See `flux_read`."""
        return read_flux_script(text)


def _checked_id(job_id: str) -> str:
    if not read_flux_id(job_id):
        raise BadRequest(f"{job_id[:60]!r} is no job id of Flux", where="job_id", cure="give the id that flux printed")
    return job_id
