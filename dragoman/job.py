"""A job as it is handed to a scheduler, and as the scheduler tells of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from dragoman.model import Model, Moment
from dragoman.request import ArraySpec, Dependency, EnvironmentVariable, Line, Name
from dragoman.shape import Shape

__all__ = ["TAG_PATTERN", "JobRef", "JobSpec", "JobState", "JobStatus", "ReasonClass", "Tag"]

TAG_PATTERN = r"^dgm-[a-z0-9]{12}-[a-z0-9]{1,12}$"
Tag = Annotated[str, Field(pattern=TAG_PATTERN)]
"""Unique name of one attempt: lower case, at most 29 characters, so that every scheduler takes it as a name."""


class ReasonClass(StrEnum):
    """What a scheduler's reason or error means for us."""

    WAIT = "wait"
    """Passes by itself: busy, limits in use, controller down."""
    NEVER = "never"
    """Will not pass: too large, forbidden, wrong name."""
    PERSON = "person"
    """Passes when a person acts: held, no permission, credentials."""
    UNKNOWN = "unknown"


class JobState(StrEnum):
    """Where a job is. Partial order: submitted < pending = held < running = suspended < completing < any end.

    A requeue starts a new run of the same job (`JobStatus.restarts` grows) and is the only way back from running to
    pending. `unknown` is no place in the order: it says that nothing was seen, and never replaces a known state.
    """

    SUBMITTED = "submitted"
    """The scheduler took it; it has not been seen in the queue yet."""
    PENDING = "pending"
    HELD = "held"
    """Waits for a person, not for resources."""
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETING = "completing"
    """The program ended; the scheduler still cleans up. Not final."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    NODE_FAILED = "node-failed"
    PREEMPTED = "preempted"
    NEVER_RAN = "never-ran"
    """Ended by the scheduler without a start: dependency can never be satisfied, rejected after submit."""
    UNKNOWN = "unknown"

    @property
    def final(self) -> bool:
        """Whether nothing more will happen to this run of the job."""
        return _ORDER[self] == 5

    @property
    def order(self) -> int | None:
        """Place in the partial order, 0 to 5; None for unknown."""
        return _ORDER[self]


_ORDER: dict[JobState, int | None] = {
    JobState.SUBMITTED: 0,
    JobState.PENDING: 1,
    JobState.HELD: 1,
    JobState.RUNNING: 3,
    JobState.SUSPENDED: 3,
    JobState.COMPLETING: 4,
    JobState.COMPLETED: 5,
    JobState.FAILED: 5,
    JobState.CANCELLED: 5,
    JobState.TIMED_OUT: 5,
    JobState.OUT_OF_MEMORY: 5,
    JobState.NODE_FAILED: 5,
    JobState.PREEMPTED: 5,
    JobState.NEVER_RAN: 5,
    JobState.UNKNOWN: None,
}


class JobRef(Model):
    """How a scheduler knows a job."""

    job_id: str = Field(min_length=1, max_length=256)
    """As the scheduler printed it; `0` is one where numbers begin there (PBS, `machine`), and nowhere else."""
    cluster: str | None = None
    """Slurm's cluster of a multi-cluster site, Kubernetes' namespace, PBS's server."""
    tag: Tag | None = None
    array_size: PositiveInt | None = None
    """Of an array, how many tasks were submitted; None: it is none, or this is not known."""


class JobStatus(Model):
    """What a scheduler says of one job at one moment."""

    ref: JobRef
    state: JobState
    native_state: str = ""
    """The scheduler's own word."""
    reason: str = Field(default="", max_length=1000)
    """The scheduler's own words for why it waits or ended."""
    reason_class: ReasonClass | None = None
    name: str | None = None
    queue: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    submitted_at: Moment | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    expected_start: Moment | None = None
    elapsed_s: NonNegativeFloat | None = None
    nodes: tuple[str, ...] = ()
    restarts: NonNegativeInt | None = None
    max_rss_bytes: NonNegativeInt | None = None
    array_tasks: dict[str, JobState] = {}
    """State of each task of an array, by index."""
    array_size: PositiveInt | None = None
    """How many tasks the array has, where the job or the scheduler tells."""
    cancelled_by: str | None = None
    warnings: tuple[str, ...] = ()
    from_history: bool = False
    seen_at: Moment | None = None

    @property
    def run_s(self) -> float | None:
        """Seconds that it ran: as the scheduler tells, else between start and end; None: not known."""
        if self.elapsed_s is not None or self.started_at is None or self.ended_at is None:
            return self.elapsed_s
        return max(0.0, (self.ended_at - self.started_at).total_seconds())


class JobSpec(Model):
    """Everything one scheduler needs to run one attempt; rendered to a script by its dialect.

    All values are already resolved for the site: no alternatives are left.
    """

    tag: Tag
    """Goes into the job's name or comment, so that the job can be found again."""
    name: Name = "dragoman"
    shape: Shape
    components: tuple[Shape, ...] = ()
    """Of a heterogeneous job: all at once; `shape` is then the first."""
    walltime_s: PositiveInt | None = None
    walltime_min_s: PositiveInt | None = None
    work_dir: Annotated[Line, Field(pattern=r"^/")]
    """Absolute; the job starts here."""
    control_dir: Annotated[Line, Field(pattern=r"^/")]
    """Absolute; the attempt's own folder: run claim, exit record, secrets (see providers/attempts)."""
    body: str = Field(min_length=1, max_length=4_000_000)
    """Shell lines that load software and run the command, already quoted; or the user's own script."""
    body_interpreter: str = "/bin/sh"
    """What runs `body`."""
    environment: tuple[EnvironmentVariable, ...] = ()
    stdout: Line = "stdout.log"
    stderr: Line = "stderr.log"
    """Relative to `work_dir`."""
    account: Name | None = None
    queue: Name | None = None
    queues: tuple[Name, ...] = ()
    qos: Name | None = None
    reservation: Name | None = None
    licenses: tuple[Line, ...] = ()
    file_systems: tuple[Name, ...] = ()
    """File systems that the job must declare (PBS at ALCF and NCI)."""
    array: ArraySpec | None = None
    dependencies: tuple[Dependency, ...] = ()
    start_after: Moment | None = None
    requeue: bool = False
    image: Line | None = None
    """Container image, where the scheduler itself runs containers (Kubernetes)."""
    priority: int | None = None
    mail: Literal["none"] = "none"
    native_options: tuple[Line, ...] = ()
    """Options of this very scheduler, kept as the user wrote them."""
