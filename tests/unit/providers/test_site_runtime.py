"""A site opened: real or simulated, what is asked goes through one place, and what is off is not there."""

from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import BadRequest, SiteFileError, UnknownName
from dragoman.observation import Category, Outcome
from dragoman.site import Site, TransportConfig
from providers.evidence import provider_id
from providers.registry import probes
from providers.site_runtime import open_site
from providers.verbs import PackageQuery

pytestmark = pytest.mark.anyio

STATE: dict[str, Any] = {
    "workload": {"scheduler": "pbs", "groups": [{"nodes": 4, "nodes_idle": 1}]},
    "packages": [{"name": "gromacs", "version": "2024.2", "manager": "spack"}],
    "interfaces": [{"name": "ib0", "fabric": "infiniband", "up": True}],
    "unknown": ["container/charliecloud"],
}


def simulated(**more: Any) -> Site:
    return Site(name="granite", scheduler="pbs", transport=TransportConfig(kind="none"), simulated=STATE, **more)


async def test_a_simulated_site_answers_for_every_registered_probe_and_what_its_state_names() -> None:
    runtime = open_site(simulated())
    names = {provider_id(provider) for provider in runtime.providers}
    assert {name for name in probes.names() if not name.startswith("workload/")} <= names
    assert {"workload/pbs", "software/spack", "network/infiniband", "container/charliecloud"} <= names
    assert (runtime.simulated, runtime.transport, runtime.movers) == (True, None, {})
    seen = await runtime.presence()
    assert set(seen) == names
    assert seen["software/spack"].outcome is Outcome.OK
    assert seen["software/pip"].outcome is Outcome.ABSENT
    assert seen["container/charliecloud"].outcome is Outcome.UNKNOWN
    assert all(observation.simulated and observation.site == "granite" for observation in seen.values())
    await runtime.aclose()


async def test_observations_are_kept_and_found_by_name() -> None:
    runtime = open_site(simulated())
    first = await runtime.observe("software/spack", "find_package", PackageQuery(name="gromacs"))
    again = await runtime.observe(runtime.provider("software/spack"), "find_package", PackageQuery(name="gromacs"))
    assert first.id == again.id
    assert first.value == {"packages": [{"name": "gromacs", "version": "2024.2", "manager": "spack"}]}
    with pytest.raises(UnknownName, match="workload/pbs"):
        await runtime.observe("workload/slurm", "resources")


async def test_what_is_off_is_neither_shown_nor_asked() -> None:
    runtime = open_site(simulated(providers_off=("software/spack", "software/pip.find_package")))
    assert "software/spack" not in await runtime.presence()
    assert list(runtime.provider("software/pip").verbs) == ["probe"]
    with pytest.raises(UnknownName):
        await runtime.observe("software/pip", "find_package", PackageQuery(name="ase"))
    with pytest.raises(SiteFileError, match="switch off"):
        open_site(simulated(providers_off=("software/spak",)))


async def test_a_real_site_of_this_machine(tmp_path: Path) -> None:
    runtime = open_site(Site(name="here", scheduler="slurm", work_root=str(tmp_path)))
    assert "local" in runtime.movers
    assert runtime.identity == (runtime.transport and runtime.transport.identity)
    seen = await runtime.presence([Category.HARDWARE, Category.STORAGE])
    assert seen["hardware/cpu"].outcome is Outcome.OK
    assert not any(observation.simulated for observation in seen.values())
    cpu = await runtime.observe("hardware/cpu", "describe")
    assert cpu.value is not None
    threads = cpu.value["threads"]
    assert isinstance(threads, int)
    assert threads >= 1
    workload = await runtime.observe("workload/slurm", "resources")
    assert workload.outcome in (Outcome.OK, Outcome.UNKNOWN), "a missing or silent scheduler is not an empty one"
    await runtime.aclose()


async def test_what_cannot_be_opened_is_said() -> None:
    with pytest.raises(UnknownName, match="slrum"):
        open_site(Site(name="x", scheduler="slrum"))
    with pytest.raises(BadRequest, match="cpus"):
        open_site(Site(name="x", scheduler="slurm", simulated={"cpus": 4}))


def test_opening_asks_nothing_and_orders_providers_by_category() -> None:
    runtime = open_site(simulated())
    order = list(Category)
    places = [order.index(provider.category) for provider in runtime.providers]
    assert places == sorted(places)
    assert len(runtime.of(Category.WORKLOAD)) == 1
