"""The scheduler of a simulated site: it tells of its queues and estimates a start, and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NoReturn

import anyio

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.errors import SubmitRefused
from dragoman.facts import Accounts, NodeGroup, Workload
from dragoman.job import JobRef, JobSpec, ReasonClass
from dragoman.kleene import Truth, all_of, any_of, truth
from dragoman.model import now
from dragoman.observation import Answer
from dragoman.proposal import StartEstimate
from dragoman.protocols import Clock, JobAnswers
from dragoman.shape import Shape
from providers.simulated.state import SimulatedState

__all__ = ["SimulatedScheduler"]

TICK_S = 10
"""How often what the scheduler tells changes: as old as a snapshot of a real one may be."""
_HELD = (Answer[Workload], Answer[StartEstimate], Answer[JobRef])
"""A generic model that nobody holds is made anew at each use."""


class SimulatedScheduler:
    """Answers like a scheduler client, from a state.

    Args:
        name: the dialect it pretends to speak.
        site: the site's name, for messages.
        state: what the site has.
        clock: the time that answers carry.

    """

    def __init__(self, name: str, site: str, state: SimulatedState, clock: Clock = now) -> None:
        self.name = name
        self.site = site
        self.state = state
        self.clock = clock

    @property
    def silent(self) -> bool:
        """Whether nothing that is asked of it is answered."""
        return bool({"workload", f"workload/{self.name}"} & set(self.state.unknown))

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        """Queues and nodes of the state, as of now."""
        if self.state.answer_s:
            await anyio.sleep(self.state.answer_s)
        if self.silent:
            return Answer[Workload].unknown(f"workload/{self.name} gives no answer here (simulated)")
        if self.state.workload is None:
            return Answer[Workload].absent("this site has no workload manager (simulated)")
        at = self.clock()
        motion = self.state.motion(f"workload/{self.name}", _tick(at))
        workload = self.state.workload if motion is None else motion.workload(self.state.workload)
        return Answer[Workload].ok(workload.model_copy(update={"observed_at": at}))

    async def estimate(self, spec: JobSpec) -> Answer[StartEstimate]:
        """Now if the shape fits into what is idle; else after the wait that the state names, or unknown."""
        workload = await self.workload()
        if workload.value is None:
            return Answer[StartEstimate](outcome=workload.outcome, reason=workload.reason)
        at = self.clock()
        starts = _fits_idle(spec.shape, _groups(workload.value.groups, spec.queue))
        if starts is Truth.YES:
            return Answer[StartEstimate].ok(_estimate(at, Truth.YES, 0.0))
        if starts is Truth.UNKNOWN:
            return Answer[StartEstimate].unknown("the state does not tell what is idle (simulated)")
        return Answer[StartEstimate].ok(_estimate(at, Truth.NO, self.state.wait_s))

    async def accounts(self) -> Answer[Accounts]:
        """Those of the state stand beside it, so there are no others."""
        if self.silent:
            return Answer[Accounts].unknown(f"workload/{self.name} gives no answer here (simulated)")
        return Answer[Accounts].unknown("the state names no accounts (simulated)")

    async def submit(self, attempt: Attempt, secrets: Mapping[str, str] | None = None) -> NoReturn:
        """Refuse.

        Raises:
            SubmitRefused: always; nothing can run here.

        """
        raise SubmitRefused(
            f"site {self.site} is simulated: it can answer but not run work",
            where=self.site,
            cure="choose a site that is not simulated",
            reason_class=ReasonClass.NEVER.value,
        )

    async def reconcile(self, record: AttemptRecord, *, may_submit: bool = True) -> AttemptRecord:
        """Refused: nothing was submitted here and nothing will be."""
        return record.model_copy(
            update={
                "state": AttemptState.REFUSED,
                "answer": f"site {self.site} is simulated",
                "reason_class": ReasonClass.NEVER.value,
                "recorded_at": self.clock(),
            }
        )

    async def abandon(self, attempt: Attempt, by: str = "its-owner") -> AttemptRecord:
        """Abandoned: nothing will ever run here."""
        return AttemptRecord(attempt=attempt, state=AttemptState.ABANDONED, recorded_at=self.clock())

    async def adopt(self, attempt: Attempt, job_id: str) -> NoReturn:
        """Refuse as `submit` does: no job can be here."""
        await self.submit(attempt)

    async def find(self, tag: str, since: datetime | None = None) -> Answer[JobRef]:
        """No job can be here."""
        return Answer[JobRef].absent(f"site {self.site} is simulated: it has no jobs")

    async def ours(self) -> JobAnswers | None:
        """No job can be here."""
        return JobAnswers(jobs={})

    async def status(self, refs: Sequence[JobRef], *, since: datetime | None = None) -> JobAnswers:
        """No job can be here."""
        return JobAnswers(jobs={}, absent=frozenset(ref.job_id for ref in refs))

    async def history(self, refs: Sequence[JobRef], *, since: datetime | None = None) -> JobAnswers:
        """No job can be here."""
        return await self.status(refs)

    async def cancel(self, ref: JobRef) -> Answer[JobRef]:
        """No job can be here."""
        return Answer[JobRef].absent(f"site {self.site} is simulated: it has no jobs")

    async def hold(self, ref: JobRef) -> Answer[JobRef]:
        """No job can be here."""
        return await self.cancel(ref)

    async def release(self, ref: JobRef) -> Answer[JobRef]:
        """No job can be here."""
        return await self.cancel(ref)


def _tick(at: datetime) -> datetime:
    """The moment that is told of: nodes and jobs that are asked for one after the other are of the same one."""
    return datetime.fromtimestamp(at.timestamp() // TICK_S * TICK_S, at.tzinfo)


def _estimate(at: datetime, starts: Truth, expected: float | None) -> StartEstimate:
    spread = (None, None) if expected is None else (expected / 2, expected * 2)
    return StartEstimate(
        now=starts, expected_s=expected, low_s=spread[0], high_s=spread[1], method="simulated", made_at=at
    )


def _groups(groups: Iterable[NodeGroup] | None, queue: str | None) -> list[NodeGroup]:
    return [group for group in groups or () if queue is None or not group.queues or queue in group.queues]


def _fits_idle(shape: Shape, groups: Sequence[NodeGroup]) -> Truth:
    if not groups:
        return Truth.UNKNOWN
    return any_of(_group_fits(shape, group) for group in groups)


def _group_fits(shape: Shape, group: NodeGroup) -> Truth:
    """Whole nodes that are idle, or a part of one node where the shape needs no more than one."""
    nodes = shape.node_count
    if nodes is None:
        if group.cpus_per_node and shape.total_cpus is not None:
            nodes = max(1, -(-shape.total_cpus // group.cpus_per_node))
        else:
            nodes = 1
    whole = truth(None if group.nodes_idle is None else group.nodes_idle >= nodes)
    if nodes > 1 or shape.exclusive or shape.total_gpus or group.largest_free_cpus is None:
        return whole
    cpus = shape.total_cpus or 1
    parts = [truth(group.largest_free_cpus >= cpus)]
    memory = shape.memory_bytes_per_node(1, cpus, 0)
    if memory is not None:
        parts.append(truth(None if group.memory_free_bytes is None else group.memory_free_bytes >= memory))
    return whole | all_of(parts)
