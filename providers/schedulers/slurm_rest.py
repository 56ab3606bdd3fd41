"""Slurm through slurmrestd(8) instead of its commands: `paths: {slurmrestd: ...}` of a site whose scheduler is slurm.

The same dialect by another way: the site-side step and its claim, the tag in name and comment, states and reasons are
those of `slurm`; each command is one small shell program at the site (`slurm_rest.sh`), which finds the version of the
API and asks by curl. Tested with 0.0.38 (Slurm 22.05) over a socket and over HTTP; versions 0.0.40 and later by Slurm's
own description of their fields.

Where it differs: a job is given no environment but a `PATH`, so the script reads the profile of a login; there is no
dry run and no configuration, so that starts are not estimated and the depth of the queue is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from dragoman.command import Command, Completed
from dragoman.errors import SiteFileError
from dragoman.facts import Accounts, Workload
from dragoman.job import JobRef, JobSpec, ReasonClass
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import JobAnswers, SubmitAnswer
from dragoman.site import Site
from providers.schedulers.base import BaseDialect, one_line
from providers.schedulers.slurm import MARGIN, MOST_OUTPUT, SlurmDialect, checked_id
from providers.schedulers.slurm_rest_job import job_bodies
from providers.schedulers.slurm_rest_site import account_list, node_records, partition_records, release_of
from providers.schedulers.slurm_workload import read_workload

__all__ = ["SlurmRestDialect", "rest_dialect"]

_SOURCE = Path(__file__).with_name("slurm_rest.sh").read_text(encoding="utf-8")
_SERVER = re.compile(r"unix:/[\w./@%+-]{1,100}|https?://[A-Za-z0-9.\-]{1,253}(?::\d{1,5})?(?:/[\w./-]*)?", re.ASCII)
_TOKEN = re.compile(r"/[\w./@%+-]{1,1000}", re.ASCII)
_LOGIN = """\
# slurmrestd hands over no environment: that of a login
if [ -z "${HOME:-}" ]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6) USER=$(id -un)
  export HOME USER LOGNAME="$USER"
  if [ -r /etc/profile ]; then . /etc/profile; fi
fi
"""
_NOT_SENT = re.compile(r"curl: \((?:28|35|52|55|56|92)\)|HTTP 50[234]")
_NOTHING = re.compile(r'"error_number": *9003\b')


class SlurmRestDialect(SlurmDialect):
    """Slurm's dialect over slurmrestd.

    Args:
        server: `unix:/path` or `http(s)://host:port`, as seen from the site.
        token: file at the site that holds the token, for its owner alone; empty: the socket tells who asks.

    """

    accepted: ClassVar[re.Pattern[str]] = re.compile(r'"job_id": *(?P<id>[1-9]\d{0,17})\b', re.ASCII)
    droppable: ClassVar[tuple[str, ...]] = ()

    def __init__(self, server: str, token: str = "") -> None:
        super().__init__()
        self.server, self.token = server, token

    def _call(self, method: str, path: str, body: bytes = b"") -> Command:
        limit = 60 if method == "GET" else 100
        argv = ("/bin/sh", "-c", _SOURCE, "dragoman", self.server, self.token, str(limit), method, path)
        most = MOST_OUTPUT if method == "GET" else 2**20
        return Command(argv=argv, stdin=body, timeout_s=limit + 20, max_output_bytes=most)

    # Submit

    def render(self, spec: JobSpec) -> str:
        """The script of sbatch, which its directives explain, with the environment of a login."""
        return re.sub(r"\A(?:#[^\n]*\n)+", lambda match: match[0] + _LOGIN, super().render(spec), count=1)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """POST of the script and its fields, which stand on standard input."""
        return self._call("POST", "/slurm/@/job/submit", job_bodies(self.render(spec)))

    def submitted(self, done: Completed) -> JobRef | None:
        """The number in the answer."""
        return BaseDialect.submitted(self, done)

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """A number means accepted, whatever errors are told beside it (`Job is in held state`)."""
        words = one_line(f"{done.err} {done.out}")
        if done.rc != 0 and "nothing was sent" in done.err:
            person = "authentication failure" in words
            return SubmitAnswer(refused=words, reason_class=ReasonClass.PERSON if person else ReasonClass.WAIT)
        if _server_ended(done) and self.submitted(done) is None:
            return SubmitAnswer(doubt=words, reason_class=ReasonClass.WAIT)
        return super().parse_submit(done)

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """No dry run."""
        return None

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """No dry run."""
        return Answer[StartEstimate].unknown("slurmrestd has no way to ask for a start time")

    # Jobs

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """All jobs that the controller knows and shows: the API cannot ask for one user's."""
        return [self._call("GET", "/slurm/@/jobs")]

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """As of `squeue --json`."""
        return super().parse_status(_answer(done), refs)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """All jobs of the accounting since then, without their steps."""
        for ref in refs:
            checked_id(ref.job_id)
        return [self._history(since)]

    def usage_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """The same: what steps used is not read here."""
        return self.history_commands(refs, since)

    def _history(self, since: datetime) -> Command:
        start = int((since - MARGIN).timestamp())
        return self._call("GET", f"/slurmdb/@/jobs?start_time=uts{start}&skip_steps=true")

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """As of `sacct --json`."""
        return super().parse_history(_answer(done), refs)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """Queue and accounting."""
        return [*self.status_commands([]), self._history(since)]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """By the tag in name or comment."""
        return super().parse_find(_answer(done), tag)

    def list_tags_commands(self) -> list[Command]:
        """All jobs."""
        return self.status_commands([])

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Those that carry a tag of ours."""
        return super().parse_list_tags(_answer(done))

    def cancel_command(self, ref: JobRef) -> Command:
        """DELETE; of a job that has ended it is no error."""
        return self._call("DELETE", f"/slurm/@/job/{checked_id(ref.job_id)}")

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Absent only where there is no such id."""
        job_id = done.argv[-1].rpartition("/")[2] if done.argv else "0"
        return super().parse_cancel(replace(done, argv=("slurmrestd", job_id), stdout=b""))

    def hold_command(self, ref: JobRef) -> Command | None:
        """POST of `hold`."""
        return self._hold(ref, hold=True)

    def release_command(self, ref: JobRef) -> Command | None:
        """POST of `hold: false`."""
        return self._hold(ref, hold=False)

    def _hold(self, ref: JobRef, *, hold: bool) -> Command:
        body = f'{{"hold": {"true" if hold else "false"}}}\n'.encode()
        return self._call("POST", f"/slurm/@/job/{checked_id(ref.job_id)}", body * 2)

    # Site

    def workload_commands(self) -> list[Command]:
        """Partitions and nodes."""
        return [self._call("GET", "/slurm/@/partitions"), self._call("GET", "/slurm/@/nodes")]

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Queue depth is unknown: whether others' jobs are hidden is not told."""
        answers = [one if isinstance(one, Exception) else _answer(one) for one in done]
        texts, troubles = self.told(answers, 2)
        records: list[str | None] = []
        for text, read in zip(texts, (partition_records, node_records), strict=True):
            try:
                records.append(read(text) if text is not None else None)
            except ValueError as error:
                records.append(None)
                troubles.append(f"slurmrestd: {error}")
        workload = read_workload([*records, None, None])
        if workload is None:
            return Answer[Workload].unknown("; ".join(dict.fromkeys(troubles)) or "no partition and no node told")
        release = next((found for text in texts if text is not None and (found := release_of(text))), None)
        return Answer[Workload].ok(workload.model_copy(update={"version": release}))

    def accounts_commands(self) -> list[Command]:
        """Associations of who asks."""
        return [self._call("GET", "/slurmdb/@/associations?user=%USER")]

    def parse_accounts(self, done: Sequence[Completed | Exception]) -> Answer[Accounts]:
        """Their accounts, without limits and use."""
        answers = [one if isinstance(one, Exception) else _answer(one) for one in done]
        texts, troubles = self.told(answers, 1)
        if texts[0] is None:
            return Answer[Accounts].unknown(troubles[0] if troubles else "not asked")
        try:
            accounts = account_list(texts[0])
        except ValueError as error:
            return Answer[Accounts].unknown(f"slurmrestd: {error}")
        return Answer[Accounts].ok(Accounts(accounts=accounts))


def _server_ended(done: Completed) -> bool:
    """The order may have arrived, and its answer was lost."""
    return done.rc != 0 and _NOT_SENT.search(done.err) is not None


def _answer(done: Completed) -> Completed:
    """The JSON alone; an HTTP status that tells of an error is an exit code, with the server's words on stderr."""
    argv = ("slurmrestd", done.argv[-1] if done.argv else "")
    body, _, status = done.stdout.rstrip(b"\n").rpartition(b"\n")
    if done.rc != 0 or done.truncated:
        return replace(done, argv=argv)
    if status.startswith(b"2") and len(status) == 3:
        if len(body) < 4000 and _NOTHING.search(body.decode(errors="replace")):
            body = b'{"jobs": []}'
        return replace(done, argv=argv, stdout=body)
    words = body.decode(errors="replace")
    said = re.findall(r'"(?:description|error)": *"([^"]+)"', words) or [words]
    told = f"slurmrestd: HTTP {status.decode(errors='replace')[:20]}: {'; '.join(said)}"[:2000]
    return Completed(argv, 22, b"", told.encode(), done.seconds)


def rest_dialect(site: Site) -> SlurmRestDialect | None:
    """The dialect of a site that names a slurmrestd among its paths; None: it does not.

    Raises:
        SiteFileError: it is neither a socket nor an address, or the token's file has no absolute path.

    """
    server, token = site.paths.get("slurmrestd"), site.paths.get("slurm_token", "")
    if server is None:
        return None
    if _SERVER.fullmatch(server) is None:
        raise SiteFileError(
            f"{server[:100]!r} is neither a socket nor an address of slurmrestd",
            where=f"{site.name}: paths.slurmrestd",
            cure="write unix:/run/slurmrestd/socket or http://host:6820, without a token in it",
        )
    if token and _TOKEN.fullmatch(token) is None:
        raise SiteFileError(
            "the token's file has no absolute path",
            where=f"{site.name}: paths.slurm_token",
            cure="name a file at the site that only its owner can read; never the token itself",
        )
    return SlurmRestDialect(server, token)
