"""Simulated sites: the same everywhere for one seed, whole in themselves, and quick to make."""

import hashlib
import json

import pytest

from providers.simulated.state import SimulatedState
from simulation.archetypes import Archetype, archetype_fleet, archetype_site
from simulation.dice import Dice

KINDS: tuple[Archetype, ...] = ("hpc", "cloud", "standalone")


def digest(sites: object) -> str:
    return hashlib.sha256(json.dumps(sites, sort_keys=True).encode()).hexdigest()[:16]


def test_the_same_seed_makes_the_same_sites_on_every_python() -> None:
    fleet = archetype_fleet(40, 1)
    assert digest([site.dump() for site in fleet.sites]) == "58d14a0df2da8179"
    assert archetype_fleet(10, 1).sites == fleet.sites[:10]
    assert archetype_fleet(10, 2).sites != fleet.sites[:10]


def test_dice_are_the_documented_hash() -> None:
    dice = Dice("a", 1)
    key = hashlib.sha256(b"a\x001").digest()
    assert dice.bits() == int.from_bytes(hashlib.blake2b(bytes(8), key=key).digest()[:8], "big")
    rolls = [Dice("roll", n) for n in range(2000)]
    assert {each.whole(1, 6) for each in rolls} == {1, 2, 3, 4, 5, 6}
    assert 0.47 < sum(Dice("chance", n).chance(0.5) for n in range(2000)) / 2000 < 0.53
    assert all(32 <= Dice("log", n).whole_log(32, 6000) <= 6000 for n in range(2000))
    assert sorted(Dice("some").some("abcdef", 6)) == list("abcdef")


@pytest.mark.parametrize("kind", KINDS)
def test_a_site_fits_together(kind: Archetype) -> None:
    for seed in range(60):
        site = archetype_site(kind, seed)
        assert site.simulated is not None
        state = SimulatedState.model_validate(site.simulated)
        workload = state.workload
        assert workload is not None
        assert workload.queues
        assert workload.groups
        assert sum(queue.default for queue in workload.queues) == 1
        for group in workload.groups:
            assert 0 <= (group.nodes_idle or 0) <= (group.nodes_up or 0) <= (group.nodes or 0)
            assert group.cpus_per_node is not None
            assert (group.cpus_free or 0) <= (group.nodes or 0) * group.cpus_per_node
            assert set(group.queues) <= {queue.name for queue in workload.queues}
            for gpu in group.gpus or ():
                assert (gpu.count or 0) * (group.nodes_idle or 0) == gpu.free
        for queue in workload.queues:
            assert any(queue.name in group.queues for group in workload.groups)
        fabrics = {interface.fabric for interface in state.interfaces}
        for library in state.mpi:
            assert library.fabrics is not None
            assert set(library.fabrics) <= fabrics
        on_nodes = {gpu.model for group in workload.groups for gpu in group.gpus or ()}
        assert on_nodes == {gpu.model for gpu in state.gpus}


def test_kinds_come_in_their_mix_and_differ() -> None:
    sites = archetype_fleet(200, 3).sites
    share = {
        kind: sum(site.name.startswith("archetype") or kind in site.description for site in sites) for kind in KINDS
    }
    assert 60 <= share["hpc"] <= 100
    assert 60 <= share["cloud"] <= 100
    assert 20 <= share["standalone"] <= 60
    assert {"slurm", "flux", "pbs", "lsf", "kubernetes", "machine"} <= {site.scheduler for site in sites}
