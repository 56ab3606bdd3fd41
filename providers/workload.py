"""The provider of a workload manager: whatever client speaks its dialect, the same questions and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from dragoman.errors import DragomanError, UnknownName
from dragoman.facts import Account, Accounts, Presence, Workload
from dragoman.model import Model
from dragoman.observation import Answer, Category, Outcome
from dragoman.protocols import Verb
from providers.verbs import category_verbs

__all__ = ["WorkloadProvider", "WorkloadSource"]


_TOGETHER_S = 1.0
"""Questions that come together share one snapshot; how long it stands as evidence is decided where evidence is kept."""


class WorkloadSource(Protocol):
    """The part of a scheduler client that tells of queues and nodes."""

    async def workload(self, max_age_s: float = 10.0) -> Answer[Workload]:
        """Queues, groups of nodes and queue depth, at most that old."""
        ...


class WorkloadProvider:
    """`workload/<scheduler>`: presence, resources and accounts.

    Args:
        name: the scheduler's registered name.
        source: its client, real or simulated.
        accounts: what the site file says of accounts. Schedulers tell of balances in too many ways to ask here.

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
        if verb == "accounts":
            return self._accounts()
        try:
            answer = await self.source.workload(_TOGETHER_S)
        except DragomanError as error:
            return Answer[Model].unknown(str(error))
        if verb == "resources" or answer.value is None:
            return Answer[Model](outcome=answer.outcome, value=answer.value, reason=answer.reason)
        workload = answer.value
        return Answer[Model].ok(Presence(version=workload.version, detail=workload.cluster or ""))

    def _accounts(self) -> Answer[Model]:
        if not self.accounts:
            return Answer[Model](outcome=Outcome.UNKNOWN, reason="the site file names no accounts")
        return Answer[Model].ok(Accounts(accounts=self.accounts))
