"""What somebody asks for, in a form that can be checked, each requirement with the words it came from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PlainSerializer,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from dragoman.model import Model, Moment
from dragoman.shape import Shape
from dragoman.versions import VersionRange

__all__ = [
    "ArrayRange",
    "ArraySpec",
    "Budget",
    "ContainerNeed",
    "Dependency",
    "EnvironmentVariable",
    "FigureOfMerit",
    "InputFile",
    "JobRequest",
    "MeasuredFigure",
    "MpiNeed",
    "NetworkNeed",
    "OutputFile",
    "Policy",
    "Sha256",
    "SoftwareNeed",
    "Source",
    "StorageNeed",
]  # fmt: skip

Policy = Literal["first-ready", "soonest", "min-cost", "queue-depth", "random", "run-anytime", "agentic", "min-energy"]
"""Names of selection policies; `graph/selection/` has one file for each that exists."""

Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _single_line(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("control characters are not allowed here")
    return value


def _relative_name(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "~")) or ".." in parts or "" in parts or not value.strip():
        raise ValueError("must be a relative name inside the job's directory, without '..'")
    return value


def _beyond(value: object, name: str = "") -> str:
    """The field of a number that JSON readers and checkpoints cannot keep exactly; empty: there is none."""
    if isinstance(value, int):
        return name if abs(value) > 2**53 else ""
    if isinstance(value, Model):
        parts = [(f"{name}.{field}".lstrip("."), getattr(value, field)) for field in value.model_fields_set]
    elif isinstance(value, tuple):
        parts = [(f"{name}.{place}", each) for place, each in enumerate(value)]
    else:
        return ""
    return next(filter(None, (_beyond(each, field) for field, each in parts)), "")


Line = Annotated[str, Field(max_length=4096), AfterValidator(_single_line)]
RelativeName = Annotated[Line, AfterValidator(_relative_name)]


def _parse_range(value: object) -> object:
    return VersionRange.parse(value) if isinstance(value, str) else value


Versions = Annotated[VersionRange, BeforeValidator(_parse_range), PlainSerializer(str, return_type=str)]
"""A version range, written in JSON as its text (`>=3.1,<4`)."""


class Source(Model):
    """Where a requirement came from."""

    field: str
    """Dotted path into the request, such as `shapes.0.nodes` or `software.0.version`."""
    words: str = Field(max_length=2000)
    """The words it was read from, as written."""
    origin: Literal["text", "form", "script", "model", "default", "person", "option"]
    start: NonNegativeInt | None = None
    """Offset of the words in the request's text, in characters."""


class SoftwareNeed(Model):
    """A package that must be there; `alternatives` would do instead."""

    name: Name
    version: Versions | None = None
    variants: tuple[Line, ...] = ()
    manager: Literal["spack", "modules", "conda", "pip", "easybuild", "system"] | None = None
    alternatives: tuple[SoftwareNeed, ...] = ()


class ContainerNeed(Model):
    """A container runtime that must be usable, and the image to run in it."""

    runtimes: tuple[Name, ...] = ()
    """Any of these will do, in order of preference; empty: any runtime."""
    version: Versions | None = None
    image: Line | None = None
    rootless: bool | None = None


class NetworkNeed(Model):
    """The fabric between nodes."""

    fabrics: tuple[Name, ...] = ()
    """Any of these: `infiniband`, `omni-path`, `slingshot`, `roce`, `ethernet`."""
    low_latency: bool | None = None
    min_gbit_s: PositiveFloat | None = None


class StorageNeed(Model):
    """A file system that must be there."""

    kinds: tuple[Name, ...] = ()
    """Any of these: `lustre`, `gpfs`, `beegfs`, `nfs`, `cifs`, `s3`, `local-scratch`, ..."""
    mount: Line | None = None
    free_bytes: PositiveInt | None = None


class MpiNeed(Model):
    """An MPI library that must be there."""

    implementations: tuple[Name, ...] = ()
    """Any of these: `openmpi`, `mpich`, `mvapich`, `intel-mpi`, `cray-mpich`, `spectrum-mpi`; empty: any."""
    version: Versions | None = None


class InputFile(Model):
    """A file the job needs beside it. `site` None: it lies with the person who asks."""

    source: Line
    """Path or URL where it lies now."""
    name: RelativeName
    """Relative name in the job's working directory."""
    site: Name | None = None
    bytes: NonNegativeInt | None = None
    sha256: Sha256 | None = None


class OutputFile(Model):
    """A result to bring back: a relative name or glob in the job's working directory."""

    pattern: RelativeName
    required: bool = True


class FigureOfMerit(Model):
    """Where a run tells how well it went: the first number after the last `after` in its output."""

    after: Annotated[Line, Field(min_length=1, max_length=200)]
    """The words before the number, as the application prints them: `Performance:`."""
    unit: Annotated[Line, Field(max_length=64)] = ""
    better: Literal["higher", "lower"] = "higher"
    file: RelativeName = "stdout.log"
    """Of the results that are brought back."""


class MeasuredFigure(Model):
    """A figure of merit that a run reached."""

    value: float = Field(allow_inf_nan=False)
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"


class EnvironmentVariable(Model):
    """One variable of the job's environment: a value, or a reference to a secret kept elsewhere."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=256)
    value: str | None = Field(default=None, max_length=131072, pattern=r"^[^\x00]*$")
    secret: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.\-]{1,128}$")
    """Key in the secret store; its value is never in a request, script, log or checkpoint."""


class Budget(Model):
    """The most that may be spent."""

    amount: PositiveFloat
    unit: Literal["node-hours", "core-hours", "gpu-hours", "USD", "EUR"]


class ArrayRange(Model):
    """Indices `first` to `last`, every `step`-th."""

    first: NonNegativeInt
    last: NonNegativeInt
    step: PositiveInt = 1


class ArraySpec(Model):
    """A job array and how many of its tasks may run at once."""

    ranges: tuple[ArrayRange, ...] = Field(min_length=1)
    at_once: PositiveInt | None = None

    @property
    def size(self) -> int:
        """Number of tasks."""
        return sum(len(range(part.first, part.last + 1, part.step)) for part in self.ranges)


class Dependency(Model):
    """Wait for another job of the same scheduler, or for another thread of ours."""

    kind: Literal["afterok", "afterany", "afternotok", "after", "singleton"]
    job_id: Name | None = None
    thread_id: Name | None = None


class JobRequest(Model):
    """A request for computing work: one job, one array, or one heterogeneous job.

    All fields are requirements only where they are stated. `shapes` are alternatives, the preferred one first;
    `components` of a heterogeneous job are needed all at once and exclude `shapes`.
    """

    schema_version: Literal[1] = 1
    name: Name | None = None
    command: tuple[Annotated[str, Field(max_length=131072, pattern=r"^[^\x00]*$")], ...] = ()
    """Program and arguments, one item each; never a shell line."""
    launch: Literal["once", "tasks"] | None = None
    """`once`: the command runs once, however many tasks there are; `tasks`: the site's launcher starts it on each.

    None: `tasks` for a command that was written behind a launcher, else `once`.
    """
    launch_line: tuple[Annotated[str, Field(max_length=131072, pattern=r"^[^\x00]*$")], ...] = ()
    """The launcher and its options that `command` was written behind, word for word (`mpirun -np 4`)."""
    recipe: Name | None = None
    """The recipe (docs/recipes.md) that the command follows, or that makes it where there is none."""
    script: str | None = Field(default=None, max_length=4_000_000, pattern=r"^[^\x00]*$")
    """A whole job script's body, kept byte for byte; instead of `command`."""
    script_dialect: Name | None = None
    """Whose directives the script had (`slurm`): another scheduler's variables and launchers are written for it."""
    shapes: tuple[Shape, ...] = ()
    components: tuple[Shape, ...] = ()
    walltime_s: PositiveInt | None = None
    walltime_min_s: PositiveInt | None = None
    software: tuple[SoftwareNeed, ...] = ()
    containers: tuple[ContainerNeed, ...] = ()
    networks: tuple[NetworkNeed, ...] = ()
    storage: tuple[StorageNeed, ...] = ()
    mpi: MpiNeed | None = None
    inputs: tuple[InputFile, ...] = ()
    outputs: tuple[OutputFile, ...] = ()
    figure_of_merit: FigureOfMerit | None = None
    environment: tuple[EnvironmentVariable, ...] = ()
    start_after: Moment | None = None
    deadline: Moment | None = None
    urgent: bool | None = None
    """Must start now: a site that would have to queue it does not fit the wish."""
    objective: Policy | None = None
    budget: Budget | None = None
    sites: tuple[Name, ...] = ()
    """Only these, if any are named."""
    sites_not: tuple[Name, ...] = ()
    account: Name | None = None
    queue: Name | None = None
    queues: tuple[Name, ...] = ()
    """Candidate queues where several are named; `queue` is then the first."""
    qos: Name | None = None
    reservation: Name | None = None
    licenses: tuple[Line, ...] = ()
    array: ArraySpec | None = None
    dependencies: tuple[Dependency, ...] = ()
    requeue: bool | None = None
    native_options: tuple[Line, ...] = ()
    """Options of one scheduler kept as written, where no word of ours exists for them."""
    notes: tuple[Line, ...] = ()
    """Harmless defaults that were taken and options that could not be carried over, for the person to see."""
    sources: tuple[Source, ...] = ()

    @model_validator(mode="after")
    def _keepable(self) -> JobRequest:
        field = _beyond(self)
        if field:
            raise ValueError(f"{field} is larger than any number that can be kept")
        return self

    @property
    def shape(self) -> Shape:
        """The preferred shape; an empty one (one task) where none is stated."""
        return (self.shapes or self.components or (Shape(),))[0]

    def shape_at(self, index: int) -> Shape:
        """The alternative that a proposal answers; of a heterogeneous job, the first component."""
        if self.components:
            return self.components[0]
        shapes = self.shapes or (Shape(),)
        return shapes[min(index, len(shapes) - 1)]

    @property
    def application(self) -> str:
        """What runs, as far as the request says: the first software it names, else its program; empty: neither."""
        return self.software[0].name if self.software else self.command[0] if self.command else ""
