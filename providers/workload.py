"""The provider of a workload manager: whatever client speaks its dialect, the same questions and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from dragoman.errors import DragomanError, UnknownName
from dragoman.facts import Account, Accounts, NodeGroups, Presence, QueueDepth, Queues, Workload
from dragoman.job import JobSpec
from dragoman.model import Model
from dragoman.observation import Answer, Category, Outcome
from dragoman.proposal import StartEstimate
from dragoman.protocols import Verb
from providers.start_limits import beyond_limits
from providers.verbs import EstimateQuery, category_verbs

__all__ = ["WorkloadProvider", "WorkloadSource", "part_of"]


_TOGETHER_S = 1.0
"""Questions that come together share one snapshot; how long it stands as evidence is decided where evidence is kept."""
_LOOKED_UP_S = 10.0
"""Partitions, nodes and queue are parts of one snapshot, asked for one after the other."""


class WorkloadSource(Protocol):
    """The part of a scheduler client that tells of the site and is asked before anything is submitted."""

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        """Queues, groups of nodes and queue depth, at most that old."""
        ...

    async def estimate(self, spec: JobSpec) -> Answer[StartEstimate]:
        """When the job would start, without submitting it."""
        ...

    async def accounts(self) -> Answer[Accounts]:
        """Accounts the user may charge, where the scheduler tells."""
        ...


class WorkloadProvider:
    """`workload/<scheduler>`: presence, queues, nodes, queue depth, estimates and accounts.

    Args:
        name: the scheduler's registered name.
        source: its client, real or simulated.
        accounts: what the site file says of accounts; what the scheduler itself tells is added.

    """

    category = Category.WORKLOAD

    def __init__(self, name: str, source: WorkloadSource, accounts: tuple[Account, ...] | None = None) -> None:
        self.name = name
        self.source = source
        self.accounts = accounts

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """What can be asked."""
        return {verb.name: verb for verb in category_verbs(self.category, self.name)}

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        """Ask the workload manager.

        Raises:
            UnknownName: there is no such verb.

        """
        if verb not in self.verbs:
            raise UnknownName(
                f"there is no verb {verb!r}", where=f"workload/{self.name}", cure=f"it has {', '.join(self.verbs)}"
            )
        try:
            if verb == "accounts":
                return await self._accounts()
            if verb == "estimate":
                return await self._estimate(EstimateQuery.model_validate(arguments.model_dump()))
            answer = await self.source.workload(_TOGETHER_S if verb in ("probe", "resources") else _LOOKED_UP_S)
        except DragomanError as error:
            return Answer[Model].unknown(str(error))
        if verb == "resources" or answer.value is None:
            return Answer[Model](outcome=answer.outcome, value=answer.value, reason=answer.reason)
        return part_of(verb, answer.value)

    async def _estimate(self, query: EstimateQuery) -> Answer[Model]:
        """The scheduler's estimate, held against the limits that it does not look at."""
        answer = await self.source.estimate(_spec(query))
        if answer.value is not None:
            workload = (await self.source.workload(_LOOKED_UP_S)).value
            never = beyond_limits(query, workload) if workload is not None else ""
            if never:
                return Answer[Model].absent(f"{never}; the scheduler would take the job, and it would wait for ever")
        return Answer[Model](outcome=answer.outcome, value=answer.value, reason=answer.reason)

    async def _accounts(self) -> Answer[Model]:
        """The scheduler's accounts, each with what the site file says of it; the file's others after them."""
        told = await self.source.accounts()
        stated = {each.name: each for each in self.accounts or ()}
        if told.value is None:
            if stated:
                return Answer[Model].ok(Accounts(accounts=tuple(stated.values())))
            return Answer[Model](outcome=told.outcome, reason=told.reason)
        marked = any(each.default for each in stated.values())
        merged = [_merged(each, stated.pop(each.name, None), marked=marked) for each in told.value.accounts]
        return Answer[Model].ok(Accounts(accounts=(*merged, *stated.values())))


def part_of(verb: str, workload: Workload) -> Answer[Model]:
    """One part of the snapshot; unknown where that part was not told."""
    if verb == "probe":
        return Answer[Model].ok(Presence(version=workload.version, detail=workload.cluster or ""))
    if verb == "partitions" and workload.queues is not None:
        return Answer[Model].ok(Queues(queues=workload.queues))
    if verb == "nodes" and workload.groups is not None:
        return Answer[Model].ok(NodeGroups(groups=workload.groups))
    if verb == "queue" and (workload.jobs_pending is not None or workload.jobs_running is not None):
        queues = workload.queues or ()
        return Answer[Model].ok(
            QueueDepth(
                jobs_pending=workload.jobs_pending,
                jobs_running=workload.jobs_running,
                pending_by_queue={each.name: each.jobs_pending for each in queues if each.jobs_pending is not None},
                running_by_queue={each.name: each.jobs_running for each in queues if each.jobs_running is not None},
            )
        )
    return Answer[Model](outcome=Outcome.UNKNOWN, reason=f"the scheduler does not tell of its {verb} here")


def _merged(told: Account, stated: Account | None, *, marked: bool) -> Account:
    """What a person wrote into the site file counts; the rest is as the scheduler told."""
    written = {name: getattr(stated, name) for name in stated.model_fields_set} if stated is not None else {}
    if marked:  # the file names the account to charge by default
        written.setdefault("default", False)
    return told.model_copy(update=written)


def _spec(query: EstimateQuery) -> JobSpec:
    """A job that is never submitted: only its shape and limits count."""
    return JobSpec(
        tag="dgm-estimate0000-a0",
        shape=query.shape,
        components=query.components,
        walltime_s=query.walltime_s,
        work_dir="/tmp",  # noqa: S108 - nothing is written: every host has it
        control_dir="/tmp",  # noqa: S108
        body="true\n",
        account=query.account,
        queue=query.queue,
        qos=query.qos,
        reservation=query.reservation,
        array=query.array,
        native_options=query.native_options,
    )
