"""Slurm, releases 20.11 to 25.05: sbatch(1), squeue(1), sacct(1), scancel(1), scontrol(1).

Text formats with our own fields are asked for everywhere; JSON is understood but not relied upon, because its shapes
change and `squeue --json` answers exit code 0 with no jobs while the controller is down.

Status of all jobs of one identity is one `squeue --me`: the controller then sends the jobs of one user, and neither an
unknown id (exit code 1 alone, 0 beside a known one) nor the length of the list matters. On a queue of 100,000 jobs it
costs what this user has there, which the site's own submit limits bound. Ended jobs are included (`--states=all`): the
controller keeps them for MinJobAge, five minutes by default, so most ends are seen without the accounting.

Times: the commands that only ask run with TZ=UTC, so that no site's clock, zone or daylight saving enters. A dialect
made with a `time_zone` leaves that out and reads times by that zone instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest, SiteFileError
from dragoman.facts import Accounts, Workload
from dragoman.job import TAG_PATTERN, JobRef, JobSpec, JobState, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import JobAnswers, ScriptReading
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.base import NO_CONNECTION, BaseDialect, Rules, chunks, one_line
from providers.schedulers.directives import checked
from providers.schedulers.script_words import ScriptWords
from providers.schedulers.slurm_accounts import account_commands, read_accounts
from providers.schedulers.slurm_json import json_rows
from providers.schedulers.slurm_read import read_slurm_script
from providers.schedulers.slurm_rows import SACCT_FORMAT, SEPARATOR, SQUEUE_FORMAT, USAGE_FORMAT, Row, RowReader
from providers.schedulers.slurm_script import render_slurm_script
from providers.schedulers.slurm_status import job_statuses, with_usage
from providers.schedulers.slurm_tables import ASKING_UNSET, ERRORS, REASONS, STATES, SUBMIT_UNSET
from providers.schedulers.slurm_values import base_id, read_moment
from providers.schedulers.slurm_words import SLURM_WORDS
from providers.schedulers.slurm_workload import DEPTH_FORMAT, read_workload

__all__ = ["MARGIN", "MOST_OUTPUT", "SlurmDialect", "checked_id"]

_JOB_ID = re.compile(r"[1-9]\d{0,17}(?:_(?:\d+|\[[\d,:%-]+\])|\+\d+)?", re.ASCII)
_CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_TO_START = re.compile(r"\bJob (\d+) to start at (\S+)(?: using (\d+) processors)?(?: on (?:nodes )?(\S+))?")
MARGIN = timedelta(hours=1)
"""The accounting is asked from this much before the oldest job."""
_OUR_TAG = re.compile(rf"(?<![a-z0-9-]){TAG_PATTERN[1:-1]}(?![a-z0-9-])")
MOST_OUTPUT = 128 * 2**20
"""Half a million jobs of one user."""


@register_dialect("slurm")
class SlurmDialect(BaseDialect):
    """Slurm's dialect.

    Args:
        time_zone: IANA zone of the site's clock, where TZ cannot be set for commands; None: they run in UTC.
        cluster: ask this cluster of a multi-cluster site about partitions and nodes.

    """

    name = "slurm"
    path_keys = ("slurmrestd", "slurm_token")
    script_words: ClassVar[ScriptWords | None] = SLURM_WORDS
    states: ClassVar[Mapping[str, JobState]] = STATES
    reasons: ClassVar[Rules] = REASONS
    errors: ClassVar[Rules] = ERRORS
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        r"^\s*(?P<id>\d+)(?:;(?P<cluster>[A-Za-z0-9_.-]+))?\s*$"
        r"|Submitted batch job (?P<id2>\d+)\b(?: on cluster (?P<cluster2>[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*))?",
        re.ASCII,
    )
    droppable: ClassVar[tuple[str, ...]] = ("--parsable",)
    unset: ClassVar[tuple[str, ...]] = ASKING_UNSET

    def __init__(self, time_zone: str | None = None, cluster: str | None = None) -> None:
        self.zone: tzinfo = ZoneInfo(time_zone) if time_zone else UTC
        self.environment = {"SLURM_BITSTR_LEN": "0"} if time_zone else {"SLURM_BITSTR_LEN": "0", "TZ": "UTC"}
        self.cluster = _checked_cluster(cluster)

    @classmethod
    def for_site(cls, site: Site) -> SlurmDialect:
        """By the clock's zone, where the site's file names one; over slurmrestd, where its paths name that.

        Raises:
            SiteFileError: there is no such zone, or no such server.

        """
        from providers.schedulers.slurm_rest import rest_dialect  # it is made of this one

        if (rest := rest_dialect(site)) is not None:
            return rest
        try:
            return cls(time_zone=site.time_zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise SiteFileError(
                f"there is no time zone {site.time_zone!r}",
                where=f"{site.name}: time_zone",
                cure="name one of the IANA database, such as Europe/Zurich",
            ) from error

    # Submit

    def render(self, spec: JobSpec) -> str:
        """See `slurm_script`."""
        return render_slurm_script(spec)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """`sbatch --parsable SCRIPT`; everything about the job stands in the script, the tag in name and comment."""
        options = [option for option in self.droppable if option not in without]
        path = checked(script_path, where="script_path")
        return Command(argv=("sbatch", *options, path), unset=SUBMIT_UNSET, timeout_s=120)

    def submitted(self, done: Completed) -> JobRef | None:
        """The id of `812`, `812;cluster` or `Submitted batch job 812 on cluster c`, the last such line."""
        lines = done.out.splitlines()
        matches = [match for line in lines if (match := self.accepted.search(line)) is not None]
        worded = [match for match in matches if match["id2"] is not None]
        for match in reversed(worded or matches):
            return JobRef(job_id=match["id2"] or match["id"], cluster=match["cluster2"] or match["cluster"])
        return None

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """`sbatch --test-only`. It does not see partition limits unless the site enforces them: check those apart."""
        path = checked(script_path, where="script_path")
        return Command(argv=("sbatch", "--test-only", path), unset=SUBMIT_UNSET, environment=self.environment)

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """The answer is on stderr. Absent: Slurm says that the job could never start as it is."""
        words = f"{done.err}\n{done.out}"
        match = _TO_START.search(words)
        start = read_moment(match[2], self.zone).at if match is not None else None
        if done.rc == 0 and start is not None:
            wait = max((start - at).total_seconds(), 0.0)
            return Answer[StartEstimate].ok(
                StartEstimate(
                    now=Truth.YES if wait <= 60 else Truth.NO,
                    expected_s=wait,
                    method="scheduler",
                    made_at=at,
                )
            )
        told = one_line(words) or f"exit code {done.rc}"
        if done.rc != 0 and not self.in_doubt(told) and self.error_class(told) is ReasonClass.NEVER:
            return Answer[StartEstimate].absent(told)
        return Answer[StartEstimate].unknown(told)

    # Status

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """One `squeue --me` for each cluster."""
        for ref in refs:
            checked_id(ref.job_id)
        return [self._squeue(cluster) for cluster in dict.fromkeys(ref.cluster for ref in refs)]

    def _squeue(self, cluster: str | None) -> Command:
        options = ("--me", "--noheader", "--states=all", f"--format={SQUEUE_FORMAT}")
        return self.ask("squeue", *_on(cluster), *options, max_output_bytes=MOST_OUTPUT)

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs of the asked cluster that the controller still knows; the others are absent from its queue only."""
        return self._answers(done, refs, history=False)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """`sacct` for at most `ids_per_command` jobs each, from an hour before `since`, all runs of requeued jobs."""
        return self._about(refs, since, usage=False)

    def usage_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """The same with the rows of steps, which alone tell what was used; a job may have thousands of them."""
        return self._about(refs, since, usage=True)

    def _about(self, refs: Sequence[JobRef], since: datetime, *, usage: bool) -> list[Command]:
        commands: list[Command] = []
        for cluster in dict.fromkeys(ref.cluster for ref in refs):
            ids = list(dict.fromkeys(checked_id(ref.job_id) for ref in refs if ref.cluster == cluster))
            commands.extend(
                self._sacct(cluster, since, "-j", ",".join(part), usage=usage)
                for part in chunks(ids, self.ids_per_command)
            )
        return commands

    def _sacct(self, cluster: str | None, since: datetime, *which: str, usage: bool = False) -> Command:
        start = (since - MARGIN).astimezone(self.zone).strftime("%Y-%m-%dT%H:%M:%S")
        window = (f"--starttime={start}", "--endtime=now")
        fields = USAGE_FORMAT if usage else SACCT_FORMAT
        shape = ("--noheader", "--parsable2", f"--delimiter={SEPARATOR}", f"--format={fields}")
        whole = () if usage else ("-X",)
        return self.ask("sacct", *_on(cluster), *whole, "-D", *which, *window, *shape, max_output_bytes=MOST_OUTPUT)

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that the accounting shows; any other is unknown, for it lags, and may hide or have purged them."""
        answers = self._answers(done, refs, history=True)
        return JobAnswers(jobs=answers.jobs, trouble=answers.trouble)

    def _answers(self, done: Completed, refs: Sequence[JobRef], *, history: bool) -> JobAnswers:
        trouble = self.trouble(done)
        if trouble:
            return JobAnswers(jobs={}, trouble=trouble)
        cluster = _cluster_asked(done)
        mine = [ref for ref in refs if ref.cluster == cluster]
        rows, trouble = _rows(done)
        found = job_statuses(rows, mine, self.zone, history=history)
        trouble = trouble or _unreadable(rows, done) or self._asking_trouble(done)
        jobs = {job_id: status for job_id, status in found.items() if status is not None}
        if isinstance(rows, RowReader) and rows.max_rss:
            jobs = {job_id: with_usage(status, rows.max_rss, rows.memory) for job_id, status in jobs.items()}
        # A row that cannot be read may be the one of a job that is missing.
        clean = not trouble and not _bad(rows)
        absent = frozenset(ref.job_id for ref in mine if ref.job_id not in jobs) if clean else frozenset[str]()
        return JobAnswers(jobs=jobs, absent=absent, trouble=trouble)

    def _asking_trouble(self, done: Completed) -> str:
        """Also where the exit code is 0 and stderr tells of an error: an empty answer is then no answer."""
        trouble = self.trouble(done)
        told = one_line(done.err)
        if not trouble and told and (NO_CONNECTION.search(told) or re.search(r"\berror:|\bfatal:", told)):
            return told
        return trouble or self.doubted(done)

    # Find

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """Queue and accounting of this user since then, without a filter: a site may have changed name or comment."""
        return [self._squeue(self.cluster), self._sacct(self.cluster, since)]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag at the name's end or in the comment."""
        trouble = self._asking_trouble(done)
        if trouble:
            return Answer[JobRef].unknown(trouble)
        rows, trouble = _rows(done)
        word = re.compile(rf"(?<![a-z0-9-]){re.escape(tag)}(?![a-z0-9-])")
        found = {base_id(row.id) for row in rows if word.search(row.name) or word.search(row.comment)}
        if found:
            # Of several (a submit that was repeated behind our back) the first; the others end without the body.
            known = tag if re.fullmatch(TAG_PATTERN, tag) else None
            return Answer[JobRef].ok(JobRef(job_id=min(found, key=int), cluster=_cluster_asked(done), tag=known))
        trouble = trouble or _unreadable(rows, done)
        if trouble or _bad(rows):
            return Answer[JobRef].unknown(trouble or f"{_bad(rows)} lines could not be read")
        return Answer[JobRef].absent(f"{done.argv[0] if done.argv else 'the answer'} shows no job with this tag")

    def list_tags_commands(self) -> list[Command]:
        """The user's jobs in the queue."""
        return [self._squeue(self.cluster)]

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Those with one of our tags in name or comment; of an array one status, under its own id."""
        if trouble := self._asking_trouble(done):
            return JobAnswers(jobs={}, trouble=trouble)
        rows, trouble = _rows(done)
        cluster = _cluster_asked(done)
        refs: dict[str, JobRef] = {}
        kept: list[Row] = []
        for row in rows:
            match = _OUR_TAG.search(row.name) or _OUR_TAG.search(row.comment)
            if match is not None:
                job_id = base_id(row.id)
                refs.setdefault(job_id, JobRef(job_id=job_id, cluster=cluster, tag=match[0]))
                kept.append(row)
        trouble = trouble or _unreadable(rows, done)
        found = job_statuses(kept, list(refs.values()), self.zone, history=False)
        jobs = {job_id: status for job_id, status in found.items() if status is not None}
        return JobAnswers(jobs=jobs, trouble=trouble)

    # Act

    def cancel_command(self, ref: JobRef) -> Command:
        """`scancel ID`: exit code 0 also for a job that is unknown or has ended."""
        return self.act("scancel", *_on(ref.cluster), checked_id(ref.job_id))

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Absent only where scancel says that there is no such id; no permission and no connection are unknown."""
        told = one_line(f"{done.err} {done.out}") or f"exit code {done.rc}"
        if done.rc == 0 or re.search(
            r"already (?:completing|completed|finished)|job/step already", told, re.IGNORECASE
        ):
            job_id = done.argv[-1] if len(done.argv) > 1 else "0"
            return Answer[JobRef].ok(JobRef(job_id=job_id, cluster=_cluster_asked(done)))
        if re.search(r"invalid job id", told, re.IGNORECASE):
            return Answer[JobRef].absent(told)
        return Answer[JobRef].unknown(told)

    def hold_command(self, ref: JobRef) -> Command | None:
        """`scontrol hold ID`."""
        return self.act("scontrol", *_on(ref.cluster), "hold", checked_id(ref.job_id))

    def release_command(self, ref: JobRef) -> Command | None:
        """`scontrol release ID`."""
        return self.act("scontrol", *_on(ref.cluster), "release", checked_id(ref.job_id))

    # Site

    def workload_commands(self) -> list[Command]:
        """Partitions, nodes, queue depth, configuration."""
        on = _on(self.cluster)
        return [
            self.ask("scontrol", *on, "--oneliner", "show", "partition"),
            self.ask("scontrol", *on, "--oneliner", "--details", "show", "nodes"),
            self.ask("squeue", *on, "--all", "--noheader", "--states=PENDING,RUNNING", f"--format={DEPTH_FORMAT}"),
            self.ask("scontrol", *on, "show", "config"),
        ]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Unknown where neither partitions nor nodes were told; else what was told, the rest None."""
        told = [
            (None, one_line(str(one)) or type(one).__name__) if isinstance(one, Exception) else (one, self.trouble(one))
            for one in done
        ]
        texts = [None if trouble or one is None else one.out for one, trouble in told]
        workload = read_workload([*texts, None, None, None, None][:4])
        troubles = dict.fromkeys(trouble for _, trouble in told if trouble)
        if workload is None:
            return Answer[Workload].unknown("; ".join(troubles) or "no partition and no node in the answer")
        return Answer[Workload].ok(workload)

    def accounts_commands(self) -> list[Command]:
        """What the user may charge (sacctmgr(1)), then limits and use (sshare(1))."""
        return [self.ask(*argv) for argv in account_commands(_on(self.cluster))]

    def parse_accounts(self, done: Sequence[Completed | Exception]) -> Answer[Accounts]:
        """See `slurm_accounts`. Unknown where the accounting gave no answer; limits that are not told are unknown."""
        texts: list[str | None] = []
        troubles: list[str] = []
        for one in done:
            trouble = one_line(str(one)) if isinstance(one, Exception) else self._asking_trouble(one)
            texts.append(None if trouble or isinstance(one, Exception) else one.out)
            troubles.append(trouble)
        if not texts or texts[0] is None:
            return Answer[Accounts].unknown(troubles[0] if troubles else "not asked")
        accounts = read_accounts(texts[0], texts[1] if len(texts) > 1 else None)
        if not accounts:
            return Answer[Accounts].absent("the accounting knows no account that this user may charge")
        return Answer[Accounts].ok(Accounts(accounts=accounts))

    def read_script(self, text: str) -> ScriptReading:
        """See `slurm_read`."""
        return read_slurm_script(text)


def _rows(done: Completed) -> tuple[RowReader | list[Row], str]:
    """Rows, read while they are used, and why the answer as a whole cannot be used."""
    text = done.out
    if text.lstrip()[:1] == "{":
        return json_rows(text)
    return RowReader(text, usage=f"--format={USAGE_FORMAT}" in done.argv), ""


def _bad(rows: RowReader | list[Row]) -> int:
    """How many lines could not be read, once all rows were."""
    return rows.bad if isinstance(rows, RowReader) else 0


def _unreadable(rows: RowReader | list[Row], done: Completed) -> str:
    """Why none of it can be used, once all rows were read: not one row in the format that was asked for."""
    if isinstance(rows, RowReader) and rows.bad and not rows.read:
        return f"{rows.bad} lines are not in the format that was asked for: {one_line(done.out, limit=120)}"
    return ""


def _on(cluster: str | None) -> tuple[str, ...]:
    """The option that names a cluster: only where one is known, for old releases answer nothing to `all`."""
    return (f"--clusters={_checked_cluster(cluster)}",) if cluster else ()


def _cluster_asked(done: Completed) -> str | None:
    return next((item.partition("=")[2] for item in done.argv if item.startswith("--clusters=")), None)


def checked_id(job_id: str) -> str:
    """The id, where it is one of Slurm. Raises `BadRequest`."""
    if _JOB_ID.fullmatch(job_id) is None:
        raise BadRequest(
            f"{job_id[:60]!r} is no job id of Slurm", where="job_id", cure="give the id that sbatch printed"
        )
    return job_id


def _checked_cluster(cluster: str | None) -> str | None:
    if cluster is not None and _CLUSTER.fullmatch(cluster) is None:
        raise BadRequest(f"{cluster[:60]!r} is no name of a cluster", where="cluster", cure="see sacctmgr show cluster")
    return cluster
