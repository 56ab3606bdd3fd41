"""What cannot be true of a simulated site is refused with its field and numbers; nothing that is written is dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import BadRequest, SiteFileError
from dragoman.observation import Category, Outcome
from dragoman.site import Site, TransportConfig
from providers.fleet import parse_fleet
from providers.simulated.contradictions import contradiction
from providers.simulated.provider import SimulatedProvider, named_in
from providers.simulated.state import SimulatedState
from providers.site_runtime import open_site
from providers.verbs import NoArguments
from simulation.archetypes import archetype_fleet

QUEUE = {"name": "q"}


def refusal(simulated: dict[str, Any], **fields: Any) -> SiteFileError:
    site = {"name": "a", "scheduler": "slurm", "transport": {"kind": "none"}, "simulated": simulated, **fields}
    with pytest.raises(SiteFileError) as caught:
        parse_fleet(json.dumps({"sites": [site]}), "s.json", schedulers=("slurm",))
    return caught.value


def group(**fields: Any) -> dict[str, Any]:
    return {"workload": {"scheduler": "slurm", "queues": [QUEUE], "groups": [{}, fields]}}


def queue(**fields: Any) -> dict[str, Any]:
    return {"workload": {"scheduler": "slurm", "queues": [QUEUE, {"name": "r", **fields}], "groups": [{"nodes": 4}]}}


@pytest.mark.parametrize(
    ("state", "field", "numbers"),
    [
        (group(nodes=4, nodes_idle=90), "workload.groups.1.nodes_idle", ("90", "4")),
        (group(nodes_up=3, nodes=4, nodes_idle=4), "workload.groups.1.nodes_idle", ("4", "3")),
        (group(nodes_up=5, nodes=4), "workload.groups.1.nodes_up", ("5", "4")),
        (group(nodes=2, cpus_per_node=8, cpus_free=17), "workload.groups.1.cpus_free", ("17", "16")),
        (group(cpus_per_node=8, largest_free_cpus=9), "workload.groups.1.largest_free_cpus", ("9", "8")),
        (group(memory_bytes_per_node=8, memory_free_bytes=9), "workload.groups.1.memory_free_bytes", ("9", "8")),
        (group(nodes=2, gpus=[{"count": 4, "free": 9}]), "workload.groups.1.gpus.0.free", ("9", "8")),
        (
            group(cpus_per_node=8, free_shares=[{"cpus": 4}, {"cpus": 9}]),
            "workload.groups.1.free_shares.1.cpus", ("9", "8"),
        ),
        (
            group(memory_bytes_per_node="1GiB", free_shares=[{"cpus": 4, "memory_bytes": "2GiB"}]),
            "workload.groups.1.free_shares.0.memory_bytes", ("2147483648", "1073741824"),
        ),
        (
            group(nodes=3, free_shares=[{"nodes": 2, "cpus": 4}, {"nodes": 2, "cpus": 2}]),
            "workload.groups.1.free_shares", ("4", "3"),
        ),
        (
            group(gpus=[{"count": 4}, {"count": 2}], free_shares=[{"cpus": 4, "gpus": [1]}]),
            "workload.groups.1.free_shares.0.gpus", ("1", "2"),
        ),
        (queue(nodes_total=4, nodes_idle=90), "workload.queues.1.nodes_idle", ("90", "4")),
        (queue(nodes_idle=5), "workload.queues.1.nodes_idle", ("5", "4")),
        (queue(min_nodes=3, max_nodes=2), "workload.queues.1.min_nodes", ("3", "2")),
        (queue(default_walltime_s="2h", max_walltime_s="1h"), "workload.queues.1.default_walltime_s", ("7200", "3600")),
        (
            {"file_systems": [{"mount": "/s", "kind": "nfs", "size_bytes": "1GB", "free_bytes": "2GB"}]},
            "file_systems.0.free_bytes", ("2000000000", "1000000000"),
        ),
        (
            {"file_systems": [{"mount": "/s", "kind": "nfs", "quota_bytes": 1, "quota_free_bytes": 2}]},
            "file_systems.0.quota_free_bytes", ("2", "1"),
        ),
        ({"gpus": [{"vendor": "amd", "count": 1, "free": 8}]}, "gpus.0.free", ("8", "1")),
        ({"gpus": [{"model": "X9", "count": 1}]}, "gpus.0.vendor", ("X9",)),
        ({"gpus": [{"count": 1}]}, "gpus.0.vendor", ()),
        ({"gpus": [{"model": "NVIDIA A100", "vendor": "amd"}]}, "gpus.0.vendor", ("NVIDIA A100",)),
        ({"cpu": {"cores": 4, "usable": 9, "threads": 8}}, "cpu.usable", ("9", "8")),
        ({"memory": {"total_bytes": 1, "available_bytes": 2}}, "memory.available_bytes", ("2", "1")),
        ({"workload": {"scheduler": "pbs"}}, "workload.scheduler", ("pbs", "slurm")),
        ({"accounts": [{"name": "p"}, {"name": "p", "balance": 1}]}, "accounts.1.name", ("p",)),
        ({"containers": [{"runtime": "podman"}, {"runtime": "docker"}, {"runtime": "podman"}]},
         "containers.2.runtime", ("podman",)),
        (queue(name="q"), "workload.queues.1.name", ("q",)),
        ({"file_systems": [{"mount": "/s", "kind": "nfs"}, {"mount": "/s", "kind": "xfs"}]},
         "file_systems.1.mount", ("/s",)),
        ({"interfaces": [{"name": "e", "fabric": "ethernet"}] * 2}, "interfaces.1.name", ("e",)),
        ({"step_s": 1e-320}, "step_s", ()),
        ({"memory": {"total_bytes": 10**29}}, "memory.total_bytes", ()),
        (queue(jobs_running=2**70 + 1), "workload.queues.1.jobs_running", ("1180591620717411303425",)),
    ],
)  # fmt: skip
def test_a_contradiction_is_refused_with_its_field_and_numbers(
    state: dict[str, Any], field: str, numbers: tuple[str, ...]
) -> None:
    error = refusal(state)
    assert error.where.endswith(f"sites.0.simulated.{field}")
    assert all(each in error.what for each in numbers)
    assert error.cure


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"accounts": [{"name": "p"}, {"name": "p"}]}, "accounts.1.name"),
        ({"queues": [{"name": "q"}, {"name": "r"}, {"name": "q"}]}, "queues.2.name"),
        ({"file_systems": [{"mount": "/s", "kind": "nfs"}] * 2}, "file_systems.1.mount"),
    ],
)
def test_nothing_of_a_site_is_described_twice(fields: dict[str, Any], field: str) -> None:
    assert refusal({}, **fields).where == f"s.json:1: sites.0.{field}"


def test_a_site_that_is_opened_without_a_file_is_looked_at_too() -> None:
    site = Site(name="a", scheduler="slurm", transport=TransportConfig(kind="none"), simulated={"gpus": [{"count": 1}]})
    with pytest.raises(BadRequest) as caught:
        open_site(site)
    assert caught.value.where == "a: simulated.gpus.0.vendor"


def test_generated_sites_do_not_contradict_themselves() -> None:
    for site in archetype_fleet(120, 3).sites:
        assert contradiction(SimulatedState.model_validate(site.simulated), site.scheduler) is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("A100", "nvidia"), ("a100", "nvidia"), ("H100-SXM5", "nvidia"), ("Tesla V100", "nvidia"), ("gh200", "nvidia"),
        ("GeForce RTX 4090", "nvidia"), ("L40S", "nvidia"), ("T4", "nvidia"), ("nvidia_a30", "nvidia"),
        ("MI250X", "amd"), ("Instinct MI300A", "amd"), ("mi100", "amd"), ("Radeon Pro W7900", "amd"),
        ("Data Center GPU Max 1550", "intel"), ("Ponte Vecchio", "intel"), ("Arc A770", "intel"),
    ],
)  # fmt: skip
async def test_a_gpu_without_its_vendor_is_told_by_the_one_that_makes_it(model: str, vendor: str) -> None:
    state = SimulatedState.read({"gpus": [{"model": model, "count": 4}]}, where="a")
    assert named_in(state) == [(Category.HARDWARE, vendor)]
    answer = await SimulatedProvider(Category.HARDWARE, vendor, state).call("describe", NoArguments())
    assert answer.outcome is Outcome.OK
    assert SimulatedState.read(state.dump(), where="again") == state


@pytest.mark.anyio
@pytest.mark.parametrize("unknown", ["workload", "workload/slurm"])
async def test_all_verbs_of_what_gives_no_answer_are_unknown(unknown: str) -> None:
    state = {
        "workload": {"scheduler": "slurm", "queues": [QUEUE], "jobs_running": 1},
        "accounts": [{"name": "p"}],
        "unknown": [unknown],
    }
    site = Site(
        name="a", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=state,  # type: ignore[arg-type]
        accounts=({"name": "q"},),  # type: ignore[arg-type]
    )  # fmt: skip
    (manager,) = (each for each in open_site(site).providers if each.category is Category.WORKLOAD)
    for name, verb in manager.verbs.items():
        answer = await manager.call(name, verb.arguments.model_construct())
        assert (name, answer.outcome) == (name, Outcome.UNKNOWN)
        assert "no answer" in answer.reason
