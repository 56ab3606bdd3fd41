"""What a simulated site has. Everything that is not named is shown to be absent; `unknown` names what gives no answer.

Written in a site file under `simulated`, or in a YAML or JSON file of its own. The parts are the facts that real
providers answer with, so that a simulated answer can hold nothing that a real one could not. Amounts may be written
like `512GiB` and times like `2h`; `usable: true` and `usable: yes` both mean yes.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    NonNegativeFloat,
    ValidationError,
    model_validator,
)

from dragoman import facts
from dragoman.errors import BadRequest
from dragoman.kleene import Truth
from dragoman.model import JsonObject, Model
from dragoman.observation import Category
from dragoman.units import parse_bytes, parse_duration
from providers.simulated.motion import Motion

__all__ = ["SimulatedState"]


def _truth_fields() -> frozenset[str]:
    """Names of the fields of facts that hold a Truth: a YAML `true` is a yes there."""
    models = [getattr(facts, name) for name in facts.__all__]
    return frozenset(
        name
        for model in models
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name, info in model.model_fields.items()
        if info.annotation is Truth or (get_origin(info.annotation) and Truth in get_args(info.annotation))
    )


_TRUTHS = _truth_fields()


def _plain(value: object, name: str = "") -> object:
    """Amounts and truths as people write them, turned into numbers and words."""
    if isinstance(value, dict):
        return {key: _plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, bool) and name in _TRUTHS:
        return (Truth.YES if value else Truth.NO).value
    if name in ("version", "seed") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # 20230802 is a version; 2.10 must come as text, or its end would be lost
    if isinstance(value, str) and (name == "bytes" or "_bytes" in name):
        return _or_as_written(parse_bytes, value)
    if isinstance(value, str) and name.endswith("_s") and name != "gbit_s":
        return _or_as_written(parse_duration, value)
    return value


def _or_as_written(parse: object, value: str) -> object:
    try:
        return parse(value)  # type: ignore[operator]  # one of the two parsers above
    except BadRequest:
        return value  # the field's own check says what is wrong, and where


_VENDORS: tuple[tuple[Literal["nvidia", "amd", "intel"], str], ...] = (
    (
        "nvidia",
        r"nvidia|tesla|geforce|quadro|titan|[rg]tx|gh200|gb?[23]00|[avhb][12]00|h[28]00|h20|a800|a[456]000|b300|p100|[kmp][4-8]0"
        r"|t4|t1000|l4|l40s?|l20|a2|a10[gm]?|a16|a30|a40|rtx[ _-]?\w+|jetson",
    ),
    ("amd", r"amd|ati|instinct|radeon|mi\d{2,3}[axp]?|gfx\d\w*|firepro|vega"),
    (
        "intel",
        r"intel|ponte[ _-]?vecchio|pvc|data center gpu (?:max|flex).*|max[ _-]?1[15][05]0c?|arc|flex|iris|gaudi\d?",
    ),
)
"""Words of GPU models by vendor, as drivers, schedulers and people name them."""


def _with_vendor(gpu: facts.Gpu) -> facts.Gpu:
    """Each GPU is some vendor's, whose provider tells of it."""
    if gpu.vendor is not None or gpu.model is None:
        return gpu
    named = [
        vendor for vendor, words in _VENDORS if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", gpu.model.lower())
    ]
    return gpu.model_copy(update={"vendor": named[0]}) if len(named) == 1 else gpu


class SimulatedState(Model):
    """The whole private state of a simulated site."""

    schema_version: Literal[1] = 1
    workload: facts.Workload | None = None
    """Queues and groups of nodes, as the scheduler would tell. None: no workload manager."""
    accounts: tuple[facts.Account, ...] = ()
    packages: tuple[facts.Package, ...] = ()
    """Installed software; `manager` says by whom: `spack`, `modules`, `conda`, `pip`, ..."""
    managers: tuple[str, ...] = ()
    """Package managers that are there beside those that `packages` name."""
    containers: tuple[facts.ContainerRuntime, ...] = ()
    file_systems: tuple[facts.FileSystem, ...] = ()
    interfaces: tuple[facts.Interface, ...] = ()
    cpu: facts.Cpu | None = None
    memory: facts.MemoryFacts | None = None
    gpus: tuple[Annotated[facts.Gpu, AfterValidator(_with_vendor)], ...] = ()
    """GPUs of the host that the providers would see; those of nodes stand in `workload.groups`."""
    mpi: tuple[facts.MpiLibrary, ...] = ()
    tenancy: facts.Tenancy | None = None
    """Who is on the host that the providers would see."""
    policy: facts.SecurityPolicy | None = None
    unknown: tuple[str, ...] = ()
    """Providers that give no answer, such as `network/infiniband`, or a whole category, such as `container`."""

    wait_s: Annotated[float, Field(ge=0, le=1e9)] | None = None
    """Expected wait of a job that does not fit into what is idle. None: not known."""
    answer_s: NonNegativeFloat = Field(default=0.0, le=600)
    """How long each answer takes, for trying out slow sites."""

    volatility: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    """How far amounts move with the clock, by provider (`workload/slurm`) or category (`storage`); 0, the default: not
    at all; 1: anywhere between none and all. Free nodes, cores, GPUs and room move, and how many jobs wait."""
    step_s: float = Field(default=300.0, ge=0.001, le=1e9)
    """How long what moves takes from one value to the next."""
    seed: str = ""
    """Of what moves: the same seed moves in the same way."""

    def motion(self, provider: str, at: datetime) -> Motion | None:
        """How a provider's amounts stand at that moment; None where they stay as written."""
        volatility = self.volatility.get(provider, self.volatility.get(provider.partition("/")[0], 0.0))
        return Motion(self.seed, volatility, at, self.step_s) if volatility else None

    @model_validator(mode="before")
    @classmethod
    def _as_people_write(cls, value: object) -> object:
        return _plain(value)

    @classmethod
    def read(cls, data: JsonObject, *, where: str) -> SimulatedState:
        """Validate a state.

        Raises:
            BadRequest: with the first wrong field.

        """
        try:
            state = cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise BadRequest(
                first["msg"], where=f"{where}: {field}", cure="see the schema of simulated sites"
            ) from error
        for number, name in enumerate(state.unknown):
            if name.partition("/")[0] not in set(Category):
                cure = f"there are {', '.join(Category)}"
                raise BadRequest(f"{name!r} is in no category", where=f"{where}: unknown.{number}", cure=cure)
        return state
