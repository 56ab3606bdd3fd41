"""A site as its file describes it: how to reach it, what it has, what it charges, what it allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveInt
from pydantic_core import PydanticCustomError

from dragoman.errors import BadRequest
from dragoman.facts import Account
from dragoman.model import JsonObject, Model, Moment
from dragoman.request import Line
from dragoman.run_plan import LauncherName
from dragoman.units import MOST_AMOUNT, MOST_SECONDS, parse_bytes, parse_duration

__all__ = ["Charges", "Collection", "Fleet", "Provenance", "QueueLimits", "Site", "SiteFileSystem", "TransportConfig"]

SiteName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$")]


def _bytes(value: object) -> object:
    return _or_value_error(parse_bytes, value) if isinstance(value, str) else value


def _seconds(value: object) -> object:
    return _or_value_error(parse_duration, value) if isinstance(value, str) else value


def _or_value_error(parse: Callable[[str], int], value: str) -> int:
    try:
        return parse(value)
    except BadRequest as error:
        raise ValueError(str(error)) from error


def _one_line(value: str) -> str:
    if any(character in value for character in "\0\r\n"):
        raise PydanticCustomError("one_line", "a name or path with a line break or a NUL")
    return value


def _named_in_one_line(value: Account) -> Account:
    _one_line(value.name)
    return value


Word = Annotated[str, AfterValidator(_one_line)]
"""A name or path: it stands in argument lists, in lines of scripts and in tables."""
Period = Annotated[float, Field(gt=0, le=31_536_000)]
"""Seconds, to a year."""
Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=0, le=MOST_AMOUNT)]
"""Bytes, also written like `64GiB`."""
Seconds = Annotated[int, BeforeValidator(_seconds), Field(ge=0, le=MOST_SECONDS)]
"""Seconds, also written like `2h` or `1-00:00:00`."""


class Provenance(Model):
    """Where a limit was read, and when."""

    source: str = ""
    date: str | None = None
    confidence: Literal["live", "doc", "secondary", "memory", "unknown"] = "unknown"


class TransportConfig(Model):
    """How commands reach the site."""

    kind: Literal["local", "openssh", "asyncssh", "worker", "none"] = "local"
    host: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.@:\[\]\-]+$")
    """Host or alias of the user's own ssh configuration; must not begin with a dash."""
    user: Word | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    config_file: Word | None = None
    identity_file: Word | None = None
    known_hosts: Word | None = None
    connect_timeout_s: Period = 20
    command_timeout_s: Period = 60
    login_shell: bool = True
    """Run commands in a login shell, so that the site's PATH is as the user knows it."""


class QueueLimits(Model):
    """Limits of a queue by the site's own rules, where no live command tells them."""

    name: Word
    min_nodes: PositiveInt | None = None
    max_nodes: PositiveInt | None = None
    max_walltime: Seconds | None = None
    default_walltime: Seconds | None = None
    direct_submit: bool = True
    routes_to: tuple[Word, ...] = ()
    charge_factor: NonNegativeFloat = 1.0
    max_jobs_user: NonNegativeInt | None = None
    by_request: bool = False
    provenance: Provenance = Provenance()


class Charges(Model):
    """What an hour costs. None: not known, which is not zero."""

    currency: Literal["USD", "EUR", "node-hours", "core-hours", "gpu-hours", "none"] = "none"
    per_node_hour: NonNegativeFloat | None = None
    per_core_hour: NonNegativeFloat | None = None
    per_gpu_hour: NonNegativeFloat | None = None
    watts_per_node: NonNegativeFloat | None = None
    grams_co2_per_kwh: NonNegativeFloat | None = None
    provenance: Provenance = Provenance()


class SiteFileSystem(Model):
    """A file system of the site as its people describe it."""

    mount: Word
    kind: Word
    purge_days: PositiveInt | None = None
    capacity: Bytes | None = None


class Collection(Model):
    """A Globus collection that reaches into the site."""

    id: str = Field(pattern=r"^[0-9a-fA-F-]{36}$")
    base_path: Word = "/"


class Site(Model):
    """One place to run work, with its own policy."""

    name: SiteName
    description: str = ""
    scheduler: Word
    """Registered name, such as `machine`, `slurm`, `pbs`, `flux`, `kubernetes`."""
    transport: TransportConfig = TransportConfig()
    simulated: JsonObject | None = None
    """State of a simulated site: its providers answer from this instead of commands."""
    work_root: Word | None = None
    """Folder for jobs on the site: absolute, components may be variables of the site's (`$SCRATCH/dragoman`).

    It must lie on a file system that compute nodes see. None: `.dragoman` in the home of the user there.
    """
    default_account: Word | None = None
    default_queue: Word | None = None
    accounts: tuple[Annotated[Account, AfterValidator(_named_in_one_line)], ...] = ()
    queues: tuple[QueueLimits, ...] = ()
    charges: Charges = Charges()
    file_systems: tuple[SiteFileSystem, ...] = ()
    collections: tuple[Collection, ...] = ()
    launcher: LauncherName | None = None
    """What starts the tasks of a job here; None: the scheduler's own, or that of the MPI library found."""
    launcher_options: tuple[Line, ...] = ()
    """Words that this site's launcher always gets, such as `--mpi=pmix`."""
    setup: tuple[Line, ...] = ()
    """Shell lines that the commands of jobs here begin with, such as `module load PrgEnv-gnu`."""
    container_binds: tuple[Line, ...] = ()
    """Folders that containers see besides the job's own: `/scratch`, or `/at/the/host:/inside`."""
    recipes: Word | None = None
    """Folder of the site's own recipes (docs/recipes.md) on the host that asks; relative to the sites file."""
    required: tuple[Literal["account", "walltime", "queue", "nodes", "filesystems", "constraint"], ...] = ()
    """What a job here must state."""
    max_walltime: Seconds | None = None
    whole_nodes: bool | None = None
    submit_filters: bool = False
    time_zone: Word | None = None
    """IANA zone of the scheduler's clock, where it prints times without one."""
    gpu_model_resource: str | None = Field(default=None, pattern=r"^[A-Za-z][A-Za-z0-9_.\-]*$")
    """The scheduler's resource that tells a node's GPU model, where it has no word of its own (PBS: `gputype`)."""
    min_poll_interval_s: Period = 2
    """The scheduler is never asked more often than this for jobs (a bound of the site's administrator)."""
    max_poll_interval_s: Period = 120
    settle_window_s: Period = 60
    """How long clean "absent" answers must last before a doubtful submit may be repeated."""
    max_jobs: PositiveInt | None = None
    """Jobs of ours that may be at the site at once."""
    providers_off: tuple[Word, ...] = ()
    """Providers (`container/docker`) and tools (`software/pip.find_package`) that are switched off."""
    paths: dict[Word, Word] = {}
    """Paths that help probes: `{"spack": "/opt/spack"}`."""
    machine: JsonObject = {}
    """What jobs may have of a `machine` site: `cpus`, `memory`, `gpus`; the rest is as if it were not there."""
    updated_at: Moment | None = None


class Fleet(Model):
    """The sites a hub knows, as one file holds them."""

    schema_version: Literal[1] = 1
    sites: tuple[Site, ...] = Field(min_length=1)
