"""Sites, requests and truth of the published simulator's sets, in our simulated-site format.

A folder holds `workers.jsonl.gz` (a site a line, with each provider's private state), `prompts.jsonl.gz` and
`truth.jsonl.gz`. Nothing here knows an application, a phrase or a size: what a provider's state names is taken over.

    python -m benchmarks.negotiation_set FOLDER > sites.json
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.facts import (
    ContainerRuntime,
    FileSystem,
    Gpu,
    Interface,
    MpiLibrary,
    NodeGroup,
    Package,
    Queue,
    Workload,
)
from dragoman.kleene import Truth, truth
from dragoman.site import Charges, Fleet, Site, TransportConfig
from providers.simulated.state import SimulatedState

__all__ = ["Pair", "Prompt", "read_pairs", "read_prompts", "read_sites"]

GB = 10**9
_FABRICS = {"omnipath": "omni-path", "cxi": "slingshot", "ib": "infiniband"}
_LOW_LATENCY = frozenset({"omni-path", "infiniband", "slingshot", "roce"})
_IMPLEMENTATIONS = {
    "mvapich2": "mvapich",
    "intelmpi": "intel-mpi",
    "craympich": "cray-mpich",
    "spectrum": "spectrum-mpi",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as words, and how many things its author specified (1 to 7)."""

    id: str
    text: str
    specificity: int


@dataclass(frozen=True, slots=True)
class Pair:
    """What is true of one site and one request."""

    site: str
    prompt: str
    satisfiable: bool
    state: str
    auditor: bool
    """What the published auditor says, with its known faults."""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_prompts(folder: Path) -> list[Prompt]:
    """The requests."""
    return [
        Prompt(each["prompt_id"], each["prompt"], each["specificity_index"])
        for each in _lines(folder / "prompts.jsonl.gz")
    ]


def read_pairs(folder: Path) -> list[Pair]:
    """The truth."""
    return [
        Pair(
            _name(each), each["prompt_id"], each["text"]["satisfiable"], each["text"]["state"], each["satisfiable"]
        )
        for each in _lines(folder / "truth.jsonl.gz")
    ]  # fmt: skip


def _name(line: dict[str, Any]) -> str:
    return f"site-{line['worker_id']}"


def read_sites(folder: Path) -> Fleet:
    """The sites, as a fleet of simulated ones."""
    return Fleet(sites=tuple(_site(worker) for worker in _lines(folder / "workers.jsonl.gz")))


def _site(worker: dict[str, Any]) -> Site:
    by_category: dict[str, list[dict[str, Any]]] = {}
    for provider in worker["providers"]:
        by_category.setdefault(provider["category"], []).append(provider)
    hardware = _facts(by_category.get("hardware", [{}])[0])
    schedulers = by_category.get("workload", [])
    software = by_category.get("software", [])
    state = SimulatedState(
        workload=_workload(schedulers[0]["name"], _facts(schedulers[0]), hardware) if schedulers else None,
        packages=tuple(dict.fromkeys(package for each in software for package in _packages(each))),
        managers=tuple(each["name"] for each in software),
        containers=tuple(_runtime(each) for each in by_category.get("container", [])),
        file_systems=tuple(_file_system(each) for each in by_category.get("storage", [])),
        interfaces=tuple(port for each in by_category.get("network", []) for port in _interfaces(each)),
        gpus=_gpus(hardware),
        mpi=tuple(
            MpiLibrary(
                implementation=str(_IMPLEMENTATIONS.get(each["name"], each["name"])),
                version=_facts(each).get("version"),
            )
            for each in by_category.get("parallel", [])
        ),
    )
    return Site(
        name=_name(worker),
        description=str(worker.get("system_name", "")),
        scheduler=schedulers[0]["name"] if schedulers else "machine",
        transport=TransportConfig(kind="none"),
        simulated=state.dump(),
        charges=Charges(per_node_hour=0.0),
    )


def _facts(provider: dict[str, Any]) -> dict[str, Any]:
    return {**provider.get("state", {}), **provider.get("truth", {})}


def _workload(name: str, facts: dict[str, Any], hardware: dict[str, Any]) -> Workload:
    nodes, idle, cores = facts.get("total_nodes"), facts.get("idle_nodes"), facts.get("cores_per_node")
    total, free = facts.get("total_cores"), facts.get("idle_cores")
    if cores is None and total and nodes:
        cores = total // nodes
    largest = None if free is None or cores is None else min(free, cores)
    memory = hardware.get("memory", {}).get("total_gb")
    gpus = tuple(
        gpu.model_copy(update={"free": (gpu.count or 0) * idle if idle is not None else None})
        for gpu in _gpus(hardware)
    )
    names = facts.get("partitions") or ["default"]
    return Workload(
        scheduler=name,
        queues=tuple(
            Queue(
                name=queue, usable=Truth.YES, default=queue == names[0], walltime_unlimited=True, nodes_total=nodes,
                nodes_idle=idle,
            )
            for queue in names
        ),
        groups=(
            NodeGroup(
                nodes=nodes, nodes_up=nodes, nodes_idle=idle, cpus_per_node=cores, cpus_free=free,
                largest_free_cpus=largest, memory_bytes_per_node=None if memory is None else memory * GB, gpus=gpus,
            ),
        ),
        jobs_pending=sum(1 for job in facts.get("jobs", ()) if job.get("state") == "PENDING"),
    )  # fmt: skip


def _gpus(hardware: dict[str, Any]) -> tuple[Gpu, ...]:
    gpu = hardware.get("gpu") or {}
    if not gpu.get("count"):
        return ()
    vendor = gpu.get("vendor") if gpu.get("vendor") in ("nvidia", "amd", "intel") else None
    return (Gpu(model=next(iter(gpu.get("models") or ()), None), count=gpu["count"], vendor=vendor),)


def _packages(provider: dict[str, Any]) -> Iterator[Package]:
    """Every `{name, version}` in a manager's state, and every `name/version` of a module tree."""
    manager = provider["name"]

    def walk(value: object) -> Iterator[tuple[str, str | None]]:
        if isinstance(value, dict):
            if isinstance(value.get("name"), str) and isinstance(value.get("version"), str):
                yield value["name"], value["version"]
                return
            for inner in value.values():
                yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)
        elif isinstance(value, str) and manager == "modules" and "/" in value and not value.startswith("/"):
            name, _, version = value.rpartition("/")
            yield name, version

    for name, version in walk(provider["state"]):
        yield Package(name=name, version=version, manager=manager)


def _runtime(provider: dict[str, Any]) -> ContainerRuntime:
    facts = _facts(provider)
    return ContainerRuntime(
        runtime=provider["name"], version=facts.get("version"), usable=truth(facts.get("available", True)),
        rootless=truth(facts.get("rootless")),
    )  # fmt: skip


def _file_system(provider: dict[str, Any]) -> FileSystem:
    facts = _facts(provider)
    size, used = facts.get("size_gb"), facts.get("used_gb")
    return FileSystem(
        mount=str(facts.get("mount") or facts.get("endpoint") or f"/{provider['name']}"),
        kind=str(facts.get("fs_type") or provider["name"]),
        size_bytes=None if size is None else size * GB,
        free_bytes=None if size is None or used is None else (size - used) * GB,
        healthy=truth(facts.get("available", True)),
    )


def _interfaces(provider: dict[str, Any]) -> Iterator[Interface]:
    facts = _facts(provider)
    fabric = str(_FABRICS.get(provider["name"], provider["name"]))
    speed = facts.get("speed_mbit") or facts.get("speed")
    for name in facts.get("interfaces") or facts.get("ifaces") or [f"{fabric}-0"]:
        yield Interface(
            name=str(name), fabric=fabric, up=truth(facts.get("available", True)),
            gbit_s=speed / 1000 if isinstance(speed, int | float) else None, low_latency=truth(fabric in _LOW_LATENCY),
        )  # fmt: skip


if __name__ == "__main__":
    json.dump(read_sites(Path(sys.argv[1])).model_dump(mode="json", exclude_defaults=True), sys.stdout)
