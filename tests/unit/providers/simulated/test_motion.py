"""All numbers of a moving simulated queue are of one moment: none contradicts another, whenever it is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.facts import Gpu, NodeGroup, Queue, Workload
from providers.simulated.depth import nodes_used, shares, together
from providers.simulated.scheduler import TICK_S, SimulatedScheduler
from providers.simulated.state import SimulatedState
from simulation.archetypes import Archetype, archetype_site

START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = st.sampled_from(["hpc", "cloud", "standalone"])
VOLATILE = st.floats(0, 1)
SECONDS = st.floats(0, 10 * 86400)
QUICK = settings(deadline=None, max_examples=150)


def told(state: SimulatedState, scheduler: str, seconds: float) -> Workload:
    at = START + timedelta(seconds=seconds)
    answer = anyio.run(SimulatedScheduler(scheduler, "granite", state, lambda: at).workload)
    assert answer.value is not None
    return answer.value


def parts_of(workload: Workload) -> list[tuple[int, int]]:
    """Jobs that run and nodes in use, of queues that share nodes; of the site where queues do not tell."""
    queues, groups = workload.queues or (), workload.groups or ()
    used = [nodes_used(group) or 0 for group in groups]
    if any(queue.jobs_running is None for queue in queues):
        return [(workload.jobs_running or 0, sum(used))]
    return [
        (sum(queues[place].jobs_running or 0 for place in places), sum(used[number] for number in numbers))
        for places, numbers in together(queues, groups)
    ]


def hold_together(now: Workload, written: Workload) -> None:
    """What has to be true of any moment, and of the written state."""
    groups, queues = now.groups or (), now.queues or ()
    used = 0
    for group, was in zip(groups, written.groups or (), strict=True):
        up = group.nodes_up if group.nodes_up is not None else group.nodes
        assert (group.nodes, group.nodes_up, group.cpus_per_node) == (was.nodes, was.nodes_up, was.cpus_per_node)
        if up is None or group.nodes_idle is None:
            assert group == was
            continue
        mine = nodes_used(group) or 0
        assert group.nodes_idle >= 0
        assert group.nodes_idle + mine == up
        used += mine
        cores = group.cpus_per_node
        if cores and group.cpus_free is not None:
            assert group.nodes_idle * cores <= group.cpus_free <= up * cores - mine
            assert (group.largest_free_cpus == cores) is (group.nodes_idle > 0)
            if not group.nodes_idle:
                assert (group.largest_free_cpus == 0) is (group.cpus_free == 0)
                assert (group.largest_free_cpus or 0) * up >= group.cpus_free
        if group.memory_bytes_per_node and group.memory_free_bytes is not None:
            assert 0 <= group.memory_free_bytes <= group.memory_bytes_per_node
        for gpu in group.gpus or ():
            assert (gpu.count or 0) * group.nodes_idle <= (gpu.free or 0) <= (gpu.count or 0) * up
    if now.jobs_running is not None and groups and all(nodes_used(group) is not None for group in groups):
        assert (now.jobs_running > 0) is (used > 0)
        if all(jobs <= nodes for jobs, nodes in parts_of(written)):
            assert now.jobs_running <= used, "no more jobs than nodes that are in use, where it is so as written"
    for queue in queues:
        behind = [each for each in groups if not each.queues or queue.name in each.queues]
        if queue.nodes_idle is not None and behind:
            assert queue.nodes_idle == sum(each.nodes_idle or 0 for each in behind)
    for total, was_total, name in (
        (now.jobs_running, written.jobs_running, "jobs_running"),
        (now.jobs_pending, written.jobs_pending, "jobs_pending"),
    ):
        before = [getattr(queue, name) for queue in written.queues or ()]
        parts = [getattr(queue, name) for queue in queues]
        assert [each is None for each in parts] == [each is None for each in before]
        if before and None not in before and sum(before) == was_total:
            assert sum(parts) == total
        assert all(each is None or each >= 0 for each in (total, *parts))


def archetype(kind: Archetype, seed: int, volatility: float) -> tuple[SimulatedState, str]:
    site = archetype_site(kind, seed)
    state = SimulatedState.read({**(site.simulated or {}), "seed": str(seed)}, where="granite")
    return state.model_copy(update={"volatility": {"workload": volatility}}), site.scheduler


@QUICK
@given(KINDS, st.integers(0, 10**6), VOLATILE, SECONDS)
def test_archetypes_at_every_moment(kind: Archetype, seed: int, volatility: float, seconds: float) -> None:
    state, scheduler = archetype(kind, seed, volatility)
    assert state.workload is not None
    hold_together(state.workload, state.workload)
    hold_together(told(state, scheduler, seconds), state.workload)


@st.composite
def written(draw: st.DrawFn) -> Workload:
    """A state as people write it: shared and separate groups, partly used nodes, queues that add up to the site."""
    names = ["a", "b", "c"][: draw(st.integers(1, 3))]
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        nodes, cores, count = draw(st.integers(1, 40)), draw(st.integers(2, 64)), draw(st.integers(0, 4))
        up = draw(st.integers(0, nodes))
        idle = draw(st.integers(0, up))
        rest = draw(st.integers(0, (up - idle) * (cores - 1)))
        part = 0 if not rest else max(-(-rest // (up - idle)), min(rest, cores - 1))
        groups.append(
            NodeGroup(
                queues=tuple(draw(st.lists(st.sampled_from(names), unique=True))), nodes=nodes, nodes_up=up,
                nodes_idle=idle, cpus_per_node=cores, cpus_free=idle * cores + rest,
                largest_free_cpus=cores if idle else part, memory_bytes_per_node=2**30,
                memory_free_bytes=2**30 if idle else 0,
                gpus=(Gpu(count=count, free=count * idle + draw(st.integers(0, count * (up - idle)))),),
            )
        )  # fmt: skip
    queues = [Queue(name=name, nodes_idle=0, jobs_running=0) for name in names]
    crowd = draw(st.integers(1, 3))  # jobs on a node at most
    weights = [draw(st.integers(0, 9)) for _ in names]
    for places, numbers in together(queues, groups):
        used = sum(nodes_used(groups[number]) or 0 for number in numbers)
        mine = [weights[place] for place in places]
        running = draw(st.integers(1, crowd * used)) if used else 0
        for place, count in zip(places, shares(running, mine if any(mine) else [1] * len(mine)), strict=True):
            queues[place] = queues[place].model_copy(update={"jobs_running": count})
    pending = draw(st.integers(0, 200))
    waiting = shares(pending, weights if any(weights) else [1] * len(names))
    queues = [queue.model_copy(update={"jobs_pending": count}) for queue, count in zip(queues, waiting, strict=True)]
    running = sum(queue.jobs_running or 0 for queue in queues)
    return Workload(
        scheduler="slurm", queues=tuple(queues), groups=tuple(groups), jobs_running=running, jobs_pending=pending
    )


@QUICK
@given(written(), st.text(max_size=3), VOLATILE.filter(bool), SECONDS)
def test_written_states_at_every_moment(workload: Workload, seed: str, volatility: float, seconds: float) -> None:
    state = SimulatedState(workload=workload, volatility={"workload": volatility}, seed=seed)
    now = told(state, "slurm", seconds)
    hold_together(now, workload)
    assert all((jobs > 0) is (nodes > 0) for jobs, nodes in parts_of(now)), "jobs run where their nodes are in use"


@QUICK
@given(KINDS, st.integers(0, 10**6), st.integers(0, 10**5))
def test_questions_of_one_moment_have_answers_of_one_moment(kind: Archetype, seed: int, tick: int) -> None:
    state, scheduler = archetype(kind, seed, 1.0)
    first, last = (told(state, scheduler, tick * TICK_S + late) for late in (0.0, TICK_S - 0.01))
    assert first.model_copy(update={"observed_at": None}) == last.model_copy(update={"observed_at": None})


def test_it_does_move() -> None:
    workload = Workload(
        scheduler="slurm", jobs_running=30, jobs_pending=40,
        groups=(NodeGroup(nodes=64, nodes_idle=12, cpus_per_node=64, cpus_free=12 * 64 + 52),),
    )  # fmt: skip
    state = SimulatedState(workload=workload, volatility={"workload": 0.6}, seed="7")
    seen = [told(state, "slurm", 60.0 * minute) for minute in range(120)]
    for name in ("jobs_running", "jobs_pending"):
        assert len({getattr(each, name) for each in seen}) > 20
    assert len({group.nodes_idle for each in seen for group in each.groups or ()}) > 20


@pytest.mark.parametrize(
    ("total", "parts", "expected"),
    [(10, [1, 1, 1], [4, 3, 3]), (0, [3, 1], [0, 0]), (7, [0, 5], [0, 7]), (3, [2, 1], [2, 1]), (1, [1, 9], [0, 1])],
)
def test_shares_add_up(total: int, parts: list[int], expected: list[int]) -> None:
    assert shares(total, parts) == expected
