"""`dragoman simulate`, and what docs/simulated-sites.md says of simulated sites."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dragoman.facts import FileSystems, Gpus, Interfaces, Workload
from dragoman.observation import Outcome
from interfaces.cli.main import app
from providers.fleet import parse_fleet
from providers.registry import probes
from providers.simulated.state import SimulatedState
from providers.site_runtime import SiteRuntime, open_site
from providers.verbs import PackageQuery
from simulation.archetypes import archetype_fleet, archetype_site

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[3] / "docs/simulated-sites.md").read_text()
WRITTEN = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
START = datetime(2026, 3, 1, tzinfo=UTC)


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, ["simulate", *words])
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("archetype", ["hpc", "cloud", "standalone"])
def test_a_site_is_the_archetypes_and_reads_back(archetype: str) -> None:
    text = printed("site", "--archetype", archetype, "--seed", "7")
    assert text == printed("site", "--archetype", archetype, "--seed", "7")
    (site,) = parse_fleet(text, "site.yaml").sites
    made = archetype_site(archetype, 7)  # type: ignore[arg-type]
    assert SimulatedState.model_validate(site.simulated) == SimulatedState.model_validate(made.simulated)
    assert site.charges == made.charges
    as_json = json.loads(printed("site", "--archetype", archetype, "--seed", "7", "--json"))
    assert as_json["sites"][0]["name"] == f"{archetype}-7"


def test_a_fleet_reads_back_and_can_move() -> None:
    fleet = parse_fleet(printed("fleet", "-n", "5", "--seed", "3", "--volatility", "0.5"), "fleet.yaml")
    assert [site.name for site in fleet.sites] == [site.name for site in archetype_fleet(5, 3).sites]
    states = [SimulatedState.model_validate(site.simulated) for site in fleet.sites]
    assert {state.volatility["workload"] for state in states} == {0.5}
    assert len({state.seed for state in states}) == 5
    names = [site.name for site in parse_fleet(printed("fleet", "-n", "2", "--archetype", "cloud"), "f.yaml").sites]
    assert names == ["cloud-0-0", "cloud-0-1"]


@pytest.mark.parametrize("words", [["site", "--archetype", "moon"], ["site", "--name", "a b"], ["fleet", "-n", "0"]])
def test_what_cannot_be_made_is_said(words: list[str]) -> None:
    result = CliRunner().invoke(app, ["simulate", *words])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


def written(at: datetime) -> SiteRuntime:
    (site,) = parse_fleet(WRITTEN, "granite.yaml").sites
    return open_site(site, clock=lambda: at)


async def test_the_page_describes_a_site_that_answers_as_it_says() -> None:
    runtime = written(START)
    seen = await runtime.presence()
    there = {name for name, one in seen.items() if one.outcome is Outcome.OK}
    assert there == {
        "workload/pbs", "software/spack", "software/pip", "software/modules", "container/apptainer", "storage/lustre",
        "storage/network-fs", "storage/s3", "network/infiniband", "network/ethernet", "hardware/cpu",
        "hardware/memory", "hardware/nvidia", "parallel/openmpi",
    }  # fmt: skip
    assert seen["container/docker"].outcome is Outcome.UNKNOWN
    found = await runtime.observe("software/spack", "find_package", PackageQuery(name="gromacs"))
    assert found.value is not None
    assert found.value["packages"][0]["version"] == "2024.2"  # type: ignore[index,call-overload]
    ports = Interfaces.model_validate((await runtime.observe("network/infiniband", "interfaces")).value)
    assert ports.interfaces[0].gbit_s == 200
    gpus = Gpus.model_validate((await runtime.observe("hardware/nvidia", "describe")).value)
    assert (gpus.kinds[0].free, gpus.kinds[0].memory_bytes) == (3, 40 * 2**30)
    lustre = FileSystems.model_validate((await runtime.observe("storage/lustre", "file_systems")).value)
    assert lustre.file_systems[0].purge_days == 60


def test_every_field_of_the_state_is_on_the_page_and_every_kind_has_a_provider() -> None:
    told = set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE))
    assert told == set(SimulatedState.model_fields) - {"schema_version"}
    for words in re.findall(r"runtimes: (.*?) +\||^\| `interfaces` +\| by `fabric`: (.*?) +\|", PAGE, re.MULTILINE):
        for name in re.findall(r"`([\w-]+)`", " ".join(words)):
            assert {f"container/{name}", f"network/{name}"} & set(probes.names()), name


async def test_what_moves_follows_from_the_moment_alone_and_stays_within_what_there_is() -> None:
    async def seen(at: datetime) -> tuple[Workload, FileSystems]:
        runtime = written(at)
        workload = await runtime.observe("workload/pbs", "resources")
        lustre = await runtime.observe("storage/lustre", "file_systems")
        assert workload.observed_at == lustre.observed_at == at
        return Workload.model_validate(workload.value), FileSystems.model_validate(lustre.value)

    idle = set()
    for minutes in range(0, 600, 30):
        at = START + timedelta(minutes=minutes)
        (workload, lustre), again = await seen(at), await seen(at)
        assert (workload, lustre) == again
        assert workload.groups is not None
        assert workload.queues is not None
        group, (queue,), (disk,) = workload.groups[0], workload.queues, lustre.file_systems
        assert group.nodes_idle is not None
        assert group.gpus is not None
        assert 0 <= group.nodes_idle <= 64
        assert queue.nodes_idle == group.nodes_idle
        assert group.gpus[0].free == 4 * group.nodes_idle
        assert group.cpus_free == 64 * group.nodes_idle
        assert (workload.jobs_pending or 0) >= 0
        assert abs((disk.free_bytes or 0) - 700 * 10**12) <= 0.1 * 2 * 10**15 + 1
        idle.add(group.nodes_idle)
    assert len(idle) > 5
    close = [(await seen(START + timedelta(seconds=second)))[1].file_systems[0].free_bytes or 0 for second in (0, 3)]
    assert abs(close[0] - close[1]) < 0.01 * 2 * 10**15
    home = [
        (await written(START + timedelta(days=day)).observe("storage/network-fs", "file_systems")).value
        for day in (0, 1)
    ]
    assert home[0] == home[1], "a provider without volatility stays as written"
