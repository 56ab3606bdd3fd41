"""Names and keys that mean nothing are refused with their line and what is near: none is silently without effect."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import BadRequest, SiteFileError
from dragoman.observation import Category
from dragoman.site import Site, TransportConfig
from providers.fleet import parse_fleet
from providers.misspelt import path_keys, provider_names
from providers.probes.base import Probe
from providers.registry import probes
from providers.site_runtime import open_site
from providers.transports.local import LocalTransport
from simulation.archetypes import archetype_fleet

SITE = "sites:\n- name: a\n  scheduler: {scheduler}\n  simulated:\n    wait_s: 1m\n"


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ("managers: [pip, spak]", "managers.1", "perhaps spack; there are conda"),
        ("packages: [{name: ase, manager: piip}]", "packages.0.manager", "perhaps pip;"),
        ("containers: [{runtime: aptainer, usable: yes}]", "containers.0.runtime", "perhaps apptainer;"),
        ("containers: [{runtime: Docker}]", "containers.0.runtime", "perhaps docker;"),
        ("containers: [{runtime: containerd}]", "containers.0.runtime", "there are apptainer"),
        ("file_systems: [{mount: /s, kind: lustr}]", "file_systems.0.kind", "perhaps lustre;"),
        ("interfaces: [{name: ib0, fabric: infinband}]", "interfaces.0.fabric", "perhaps infiniband;"),
        ("mpi: [{implementation: open-mpi}]", "mpi.0.implementation", "perhaps openmpi"),
        ("unknown: [network/infinibnd]", "unknown.0", "perhaps network/infiniband;"),
        ("unknown: [netwrk]", "unknown.0", "perhaps network;"),
        ("unknown: [workload/pbs]", "unknown.0", "there are workload/slurm"),
        ("volatility: {storage/lustr: 0.5}", "volatility.storage/lustr", "perhaps storage/lustre;"),
        ("volatility: {storag: 0.5}", "volatility.storag", "perhaps storage;"),
        (
            "workload: {scheduler: slurm, queues: [{name: batch}], groups: [{queues: [batch, bach]}]}",
            "workload.groups.0.queues.1",
            "perhaps batch;",
        ),
    ],
)
def test_a_name_that_no_provider_has_is_refused_where_it_stands(line: str, field: str, words: str) -> None:
    with pytest.raises(SiteFileError) as caught:
        parse_fleet(SITE.format(scheduler="slurm") + f"    {line}\n", "sites.yaml")
    assert caught.value.where == f"sites.yaml:6: sites.0.simulated.{field}"
    assert words in caught.value.cure


def test_a_simulated_site_has_a_scheduler_that_there_is() -> None:
    with pytest.raises(SiteFileError) as caught:
        parse_fleet(SITE.format(scheduler="slrum"), "sites.yaml")
    assert caught.value.where == "sites.yaml:3: sites.0.scheduler"
    assert caught.value.cure.startswith("perhaps slurm;")


def test_a_site_that_came_without_a_file_is_checked_when_it_is_opened() -> None:
    state: Any = {"containers": [{"runtime": "podmn"}]}
    site = Site(name="a", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=state)
    with pytest.raises(BadRequest) as caught:
        open_site(site)
    assert caught.value.where == "a: simulated.containers.0.runtime"
    assert caught.value.cure.startswith("perhaps podman;")


def refused(text: str) -> SiteFileError:
    with pytest.raises(SiteFileError) as caught:
        parse_fleet(text, "sites.yaml")
    return caught.value


@pytest.mark.parametrize("scheduler", ["machine", "slurm"])
def test_a_path_that_nobody_reads_is_refused(scheduler: str) -> None:
    error = refused(
        f"sites:\n- name: a\n  scheduler: {scheduler}\n  paths:\n    spack: /opt/spack\n    modlues: /opt\n"
    )
    assert (error.what, error.where) == ("there is no path 'modlues'", "sites.yaml:6: sites.0.paths.modlues")
    assert error.cure.startswith("perhaps modules")
    assert all(name in error.cure for name in ("apptainer", "easybuild", "cray-mpich", "modulepath", "quota"))


def test_a_path_for_another_scheduler_says_for_which() -> None:
    error = refused("sites:\n- name: a\n  scheduler: slurm\n  paths: {pe: smp}\n")
    assert error.what == "'pe' is for sge, and the scheduler here is slurm"
    (site,) = parse_fleet("sites:\n- name: a\n  scheduler: sge\n  paths: {pe: smp, spack: /opt}\n", "s.yaml").sites
    assert site.paths == {"pe": "smp", "spack": "/opt"}


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("{cpu: 4}", "a machine has no limit 'cpu'"),
        ("{memory: lots}", "'lots' is no amount of memory"),
        ("{cpus: 0}", "leaves nothing to run with"),
        ("{gpus: one}", "'one' is no amount of gpus"),
    ],
)
def test_limits_of_a_machine_are_known_ones(written: str, what: str) -> None:
    error = refused(f"sites:\n- name: a\n  scheduler: machine\n  machine:\n    {written}\n")
    assert what in error.what
    assert error.where.startswith("sites.yaml:5: sites.0.machine.")


@pytest.mark.anyio
async def test_limits_of_a_machine_count(tmp_path: Path) -> None:
    site = Site(name="a", scheduler="machine", machine={"cpus": 1, "memory": "1GiB", "gpus": 0})
    scheduler = open_site(site, transport=LocalTransport({"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})).scheduler
    told = (await scheduler.workload()).value
    assert told is not None
    assert told.queues is not None
    assert told.groups is not None
    [queue], [group] = told.queues, told.groups
    assert (queue.max_cpus_per_job, queue.max_memory_bytes_per_node, queue.max_gpus_per_job) == (1, 2**30, 0)
    assert (group.cpus_per_node, group.cpus_free, group.memory_bytes_per_node, group.gpus) == (1, 1, 2**30, ())


def test_probes_of_third_parties_bring_their_names_and_keys() -> None:
    class Teapot(Probe):
        category = Category.CONTAINER
        name = "teapot"
        verbs = ()
        path_keys = ("kettle",)

    class Plain(Probe):
        category = Category.SOFTWARE
        name = "plain-store"
        verbs = ()

    text = "sites:\n- {name: a, scheduler: slurm, paths: {kettle: /k, plain-store: /p}}\n"
    simulated = SITE.format(scheduler="slurm") + "    containers: [{runtime: teapot}]\n"
    refused(text)
    refused(simulated)
    try:
        probes.register(Teapot)
        probes.register(Plain)
        assert len(parse_fleet(text, "sites.yaml").sites) == 1
        assert len(parse_fleet(simulated, "sites.yaml").sites) == 1
        assert "teapot" in provider_names()[Category.CONTAINER]
        assert "teapot" not in path_keys("slurm")
    finally:
        for name in ("container/teapot", "software/plain-store"):
            probes._makers.pop(name)


def places(value: object, loc: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every mapping of a document."""
    if isinstance(value, dict):
        yield loc
        for key, item in value.items():
            yield from places(item, (*loc, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*loc, index))


def whole() -> Any:
    """Sites with every field, and simulated ones with every part."""
    sites = [site.model_dump(mode="json") for site in archetype_fleet(2, 3).sites]
    for number, site in enumerate(sites):
        site["simulated"].update(
            volatility={"storage": 0.5}, unknown=["network/roce"], tenancy={"sessions": 1},
            policy={"limits": [{"name": "processes", "soft": 1}]}, accounts=[{"name": "p"}], step_s=60, seed="s",
        )  # fmt: skip
        site["simulated"]["containers"] = [{"runtime": "docker", "images": [{"name": "a"}]}]
        site["paths"] = {"spack": "/opt"}
        site["collections"] = [{"id": "0" * 8 + "-0000-0000-0000-" + "0" * 12}]
        site["file_systems"] = [{"mount": "/s", "kind": "nfs"}]
        site["queues"] = [{"name": f"q{number}", "provenance": {"source": "x"}}]
        site["accounts"] = [{"name": "p", "unit": "USD"}]
        site["launcher_options"] = []
    return {"schema_version": 1, "sites": sites}


def test_a_key_that_nobody_knows_is_refused_at_every_place() -> None:
    document = whole()
    parse_fleet(json.dumps(document), "sites.json")
    shapes = {tuple("*" if isinstance(part, int) else part for part in loc): loc for loc in places(document)}
    for loc in shapes.values():
        changed = copy.deepcopy(document)
        target: Any = changed
        for part in loc:
            target = target[part]
        target["zzz"] = "1"
        with pytest.raises(SiteFileError, match="zzz"):
            parse_fleet(json.dumps(changed), "sites.json")
    assert len(shapes) > 25
    assert {("sites", "*", "paths"), ("sites", "*", "machine"), ("sites", "*", "simulated", "volatility")} <= set(
        shapes
    )
