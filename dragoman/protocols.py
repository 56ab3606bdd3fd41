"""The seams between the rooms: what one room needs of another, without knowing it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from dragoman.command import Command, Completed, FileStat, Told
from dragoman.facts import Accounts, Workload
from dragoman.job import JobRef, JobSpec, JobStatus, ReasonClass
from dragoman.model import JsonObject, Model
from dragoman.observation import Answer, Category
from dragoman.proposal import StartEstimate
from dragoman.request import JobRequest
from dragoman.transfer import Manifest, TransferPlan, TransferStatus

__all__ = [
    "Clock", "Dialect", "EndsTold", "Explains", "JobAnswers", "ListsTags", "Mover", "Progress", "Provider", "Resumer",
    "ScriptReading", "SubmitAnswer", "TellsAccounts", "TellsEnds", "TellsUsage", "Transport", "Verb",
]  # fmt: skip

Clock = Callable[[], datetime]

Progress = Callable[[JsonObject], Awaitable[None]]
"""Told of each step of long work, for streaming to people."""


class Transport(Protocol):
    """Runs argument lists and moves small files at one site, under one identity.

    Every method raises `TransportError` (or a child) when the site gave no answer. A command that ran and failed is
    no error here: it is a `Completed` with its code.
    """

    @property
    def identity(self) -> str:
        """Who we are there (`user@host`); schedulers are asked once per interval and identity."""
        ...

    @property
    def local(self) -> bool:
        """Whether paths of the site are paths of this host."""
        ...

    async def run(self, command: Command) -> Completed:
        """Run one command to its end.

        Raises:
            CommandMissing: the site has no such command.
            CommandTimeout: no end within `command.timeout_s`; it and its children were killed where that is possible.

        """
        ...

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        """Run questions side by side in as few round trips as the transport can; one's failure is its own item.

        They may be put a second time where a connection broke: what acts is for `run`.

        `told` hears of each item by its place as soon as it is known, so that one slow command holds up nobody else.
        """
        ...

    async def read_file(self, path: str, *, max_bytes: int = 16 * 2**20, tail: bool = False) -> bytes:
        """The first (or last, with `tail`) bytes of a file. Raises `FileMissing` where the site shows there is none."""
        ...

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a whole file atomically (temporary name, then rename); parents are made."""
        ...

    async def stat(self, path: str) -> FileStat | None:
        """What lies at a path; None where the site shows that nothing does."""
        ...

    async def aclose(self) -> None:
        """Close connections; calling it twice is fine."""
        ...


@dataclass(frozen=True, slots=True)
class SubmitAnswer:
    """What a submit command's output says. Exactly one of accepted, refused, in doubt."""

    job: JobRef | None = None
    """Accepted: the scheduler's id."""
    refused: str = ""
    """Nothing was submitted: the scheduler's words."""
    reason_class: ReasonClass = ReasonClass.UNKNOWN
    doubt: str = ""
    """It is not known whether the job was taken: why."""
    warnings: tuple[str, ...] = ()
    retry_without: tuple[str, ...] = ()
    """Options that this version does not know: the same submit may be repeated once without them."""


@dataclass(frozen=True, slots=True)
class JobAnswers:
    """Answer to a question about many jobs.

    `jobs` has those that were shown, `absent` those that were shown not to be there, by job id as asked; any other is
    unknown. `trouble` is why the answer is not to be trusted as a whole: then nothing is absent.
    """

    jobs: Mapping[str, JobStatus]
    absent: frozenset[str] = frozenset()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class EndsTold:
    """What one turn of a scheduler's event stream told: where to look, and never a job's state."""

    ended: frozenset[str] = frozenset()
    """Ids of jobs that are said to have ended."""
    mark: str | None = None
    """Where the next turn begins; None: from anew."""
    look: bool = False
    """Events may have been missed before this turn: all jobs are to be looked at once."""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class ScriptReading:
    """A job script read back: its directives as a request, its body byte for byte, and what was not understood."""

    request: JobRequest
    body: str
    interpreter: str = "/bin/sh"
    problems: tuple[str, ...] = ()
    """`line 7: --exclude has no value (give one or delete the line)`."""
    not_carried: tuple[str, ...] = ()
    """Directives with no word of ours, as written."""
    replaced: tuple[str, ...] = ()
    """Words that a later word took the place of, or that ask for nothing (`--gpus=0`)."""


@runtime_checkable
class Dialect(Protocol):
    """One scheduler's language: pure functions from words to commands and from output to words. No I/O.

    Every `parse_*` takes the whole `Completed`, because exit code, stdout and stderr mean different things on each
    scheduler. Methods that a scheduler has no command for return an empty list or None.
    """

    name: str

    def render(self, spec: JobSpec) -> str:
        """The job script, starting with `#!`. Raises `BadRequest` for values the scheduler cannot take safely."""
        ...

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """The submit command; the tag is in the job's name or comment."""
        ...

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """Accepted, refused or in doubt."""
        ...

    def estimate_command(self, spec: JobSpec, script_path: str) -> Command | None:
        """Ask for a start time without submitting; None where the scheduler cannot."""
        ...

    def parse_estimate(self, done: Completed, at: datetime) -> Answer[StartEstimate]:
        """When it would start."""
        ...

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """As few commands as are safe for all these jobs."""
        ...

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """State of those jobs that the queue still knows."""
        ...

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """Ask the accounting for jobs that left the queue; empty where there is none."""
        ...

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """State of finished jobs."""
        ...

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """Look a tag up in queue and history, to settle a doubtful submit."""
        ...

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """ok: the job with that tag; absent: shown not to be there; unknown: cannot tell."""
        ...

    def cancel_command(self, ref: JobRef) -> Command:
        """Cancel one job."""
        ...

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """ok: asked to end (or already ended); absent: no such job; unknown: try again."""
        ...

    def hold_command(self, ref: JobRef) -> Command | None:
        """Hold a pending job; None where the scheduler cannot."""
        ...

    def release_command(self, ref: JobRef) -> Command | None:
        """Release a held job; None where the scheduler cannot."""
        ...

    def workload_commands(self) -> list[Command]:
        """Ask for queues, nodes and queue depth."""
        ...

    def parse_workload(self, done: Sequence[Completed | Exception]) -> Answer[Workload]:
        """Queues with limits, groups of nodes with free and total, queue depth; answers in the commands' order."""
        ...

    def read_script(self, text: str) -> ScriptReading:
        """A script of this scheduler as a request. Raises `BadRequest` where it has no such scripts."""
        ...


@runtime_checkable
class ListsTags(Protocol):
    """What a dialect has besides, where its scheduler shows the tags of the user's jobs in the queue (for orphans)."""

    def list_tags_commands(self) -> list[Command]:
        """Ask the queue for all jobs of the user with their tags."""
        ...

    def parse_list_tags(self, done: Completed) -> JobAnswers:
        """Jobs whose `ref.tag` is one of ours; others are left out."""
        ...


@runtime_checkable
class TellsEnds(Protocol):
    """What a dialect has besides, where its scheduler has a stream of events."""

    def follow_command(self, refs: Sequence[JobRef], mark: str | None) -> Command | None:
        """One turn: follow the events since `mark` until one tells of an end, for some minutes at most.

        None where the stream cannot be followed: nothing is lost by that, for jobs are looked at anyway.
        """
        ...

    def parse_follow(self, done: Completed, refs: Sequence[JobRef], mark: str | None) -> EndsTold:
        """What the turn told."""
        ...


@runtime_checkable
class TellsUsage(Protocol):
    """What a dialect has besides, where the accounting tells what an ended job used, at a price."""

    def usage_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """As `history_commands`, with what the jobs used; `parse_history` reads the answers."""
        ...


@runtime_checkable
class Explains(Protocol):
    """What a dialect has besides, where the scheduler tells why a job waits only when asked about that one job."""

    def wants_explanation(self, status: JobStatus) -> bool:
        """Whether it is worth the question: only for jobs that will not start by themselves."""
        ...

    def explain_command(self, ref: JobRef) -> Command:
        """Ask about one job."""
        ...

    def parse_explain(self, done: Completed, status: JobStatus) -> JobStatus:
        """The status with the scheduler's own reason, where it tells one."""
        ...


@runtime_checkable
class TellsAccounts(Protocol):
    """What a dialect has besides, where the scheduler tells which accounts the user may charge."""

    def accounts_commands(self) -> list[Command]:
        """Ask for accounts and what is left of them."""
        ...

    def parse_accounts(self, done: Sequence[Completed | Exception]) -> Answer[Accounts]:
        """Accounts the user may charge; answers in the commands' order."""
        ...


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be asked of a provider, typed on both sides."""

    name: str
    description: str
    """When to use it and when not: shown to models and people."""
    arguments: type[BaseModel]
    answer: type[Model]
    max_age_s: float
    """How long an answer may be used as evidence."""


class Provider(Protocol):
    """One kind of resource at one site, real or simulated. Read-only."""

    category: Category
    name: str

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """What can be asked; every provider has `probe`."""
        ...

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        """Ask. A command that fails, a driver fault or a missing permission is an unknown answer, not an exception."""
        ...


class Mover(Protocol):
    """One way to move data. `start` twice with one plan id is once."""

    name: str

    async def start(self, plan: TransferPlan) -> TransferStatus:
        """Start, or find the transfer that this plan id already started. Short ones may be finished at once."""
        ...

    async def poll(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """How it stands."""
        ...

    async def cancel(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """Stop it; what already arrived under a temporary name is removed."""
        ...

    async def verify(self, plan: TransferPlan) -> Manifest:
        """SHA-256 of every item at the destination, compared with the source. Raises `TransferError`."""
        ...


class Resumer(Protocol):
    """Continues a thread: directly where this process may own it, or through the API of the server that owns it."""

    async def resume(self, thread_id: str, progress: Progress | None = None) -> bool:
        """Run the thread on from what is stored until it parks again. False: somebody else owns it now."""
        ...
