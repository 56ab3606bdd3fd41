"""What every node shares: its state checked at the entry, its thread and epoch, a wish to cancel honoured."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.types import Command

from dragoman.errors import Cancelled, DragomanError
from dragoman.event import WaitKind
from dragoman.model import JsonObject, JsonValue
from dragoman.site import Fleet
from dragoman.site_meaning import FleetOrigin, fleet_digest, origin_of
from graph.deps import Deps
from graph.pausing import lease_epoch, pause, thread_id_of
from graph.served import refused, served
from graph.state import GraphState, ThreadState, enter
from providers.site_runtime import SiteRuntime

__all__ = ["Entered", "Goto", "Node", "Step", "end", "goto", "node"]

Goto: TypeAlias = Command[str]
END_NODE = "__end__"


@dataclass(slots=True)
class Step:
    """One run of one node."""

    name: str
    deps: Deps
    state: ThreadState
    config: RunnableConfig
    paused: int = field(default=0)
    """Pauses of this run so far."""
    options_changed: bool = field(default=False)
    """An answer changed the options: they are kept when the node is done."""

    @property
    def thread_id(self) -> str:
        """The thread it runs for."""
        return thread_id_of(self.config)

    @property
    def epoch(self) -> int | None:
        """The epoch of the lease it runs under."""
        return lease_epoch(self.config)

    @property
    def waits(self) -> int:
        """What the state's counter is to be when this node is done."""
        return self.state.waits + self.paused

    @property
    def origin(self) -> FleetOrigin | None:
        """The fleet that it was begun with; None for a server's thread, which goes by the server's own."""
        options = self.state.options
        return None if self.epoch is None else origin_of(options.model_dump(include={"sites_file", "sites_digest"}))

    def fleet(self) -> Fleet:
        """The sites that this thread may go to.

        Raises:
            SiteNotHere: its sites file cannot be read here.
        """
        return self.deps.fleet(self.origin)

    def open_site(self, name: str, described: JsonObject | None = None) -> SiteRuntime:
        """The runtime of a site.

        Args:
            name: of the site.
            described: how it was described to an attempt; None: to the attempt that the thread is at, if it is there.

        Raises:
            SiteNotHere: no fleet that can be read here has it.
        """
        at = self.state.attempt
        if described is None and at is not None and at.site == name:
            described = at.described
        return self.deps.open_site(name, self.origin, described)

    async def pause(
        self,
        kind: WaitKind,
        payload: JsonObject,
        *,
        site: str | None = None,
        subject: JsonObject | None = None,
        due_at: datetime | None = None,
        due_in_s: float | None = None,
        answer_schema: dict[str, Any] | None = None,
    ) -> JsonObject:
        """Pause the thread (see `graph.pausing.pause`)."""
        sequence = self.state.waits + self.paused
        self.paused += 1
        answer = await pause(
            self.deps.ledger,
            self.config,
            step=self.name,
            sequence=sequence,
            kind=kind,
            payload=payload,
            site=site,
            subject=subject,
            due_at=due_at,
            due_in_s=due_in_s,
            answer_schema=answer_schema,
        )
        file = answer.get("sites_file")
        if isinstance(file, str) and file.startswith("/") and self.epoch is not None:
            self._take(file)
        return {key: value for key, value in answer.items() if key != "sites_file"}  # the stored answer stays as it is

    def _take(self, file: str) -> None:
        """Go by another sites file from now on: a person said so."""
        digest = fleet_digest(self.deps.fleet(FleetOrigin(file=file)))
        options = self.state.options.model_copy(update={"sites_file": file, "sites_digest": digest})
        self.state, self.options_changed = self.state.model_copy(update={"options": options}), True

    async def say(self, words: str, **data: JsonValue) -> None:
        """One line for people: on the timeline and to whoever follows the stream, once however often it is replayed.

        The same words in the same step of the graph are the same line: a node runs again from its beginning when its
        pause ends, or after a crash.
        """
        if await self.deps.ledger.say(self.thread_id, self.name, words, data, key=self.line_key(words)):
            get_stream_writer()({"step": self.name, "words": words, **data})

    def line_key(self, words: str) -> str | None:
        """What makes a line the same line when it is said again by a replay."""
        number = self.config.get("metadata", {}).get("langgraph_step")
        return None if number is None else hashlib.sha256(f"{number}\0{self.name}\0{words}".encode()).hexdigest()[:32]


Node: TypeAlias = Callable[[Step], Awaitable[Goto]]


class Entered(Protocol):
    """A node as LangGraph calls it."""

    __name__: str

    async def __call__(self, state: GraphState, config: RunnableConfig) -> Goto:
        """Run the node."""
        ...


def goto(step: Step, target: str, **update: object) -> Goto:
    """Go on with another node; counts the pauses of this one."""
    options = {"options": step.state.options.dump()} if step.options_changed else {}
    return Command(goto=target, update={"waits": step.waits, **options, **update})


def end(step: Step, outcome: str, words: str, **update: object) -> Goto:
    """End the thread with its outcome."""
    return goto(step, END_NODE, outcome=outcome, outcome_words=words, **update)


def node(name: str, deps: Deps, run: Node, *, cancellable: bool = True) -> Entered:
    """A LangGraph node from a function of a step.

    A wish to cancel sends the thread to the canceller, before the node's work and wherever it pauses. A
    `cancellable=False` node (monitor, canceller, collector) settles the wish itself.
    """

    async def worked(step: Step) -> Goto:
        if cancellable and not step.state.cancelling and await deps.ledger.cancel_requested(step.thread_id):
            return goto(step, "canceller")
        try:
            return await run(step)
        except Cancelled:
            return goto(step, "canceller")
        except DragomanError as error:
            if error.exit_code != 2:
                raise
            await step.say(str(error))
            return end(step, "rejected", str(error))

    async def entered(state: GraphState, config: RunnableConfig) -> Goto:
        try:
            checked = enter(state)
        except DragomanError as error:
            if lease_epoch(config) is None and not state.get("reading"):
                return await refused(deps.ledger, thread_id_of(config), state.get("request"), error)
            raise
        step = Step(name=name, deps=deps, state=checked, config=config)
        if step.epoch is not None:
            return await worked(step)
        return await served(deps.ledger, step.thread_id, step.state, lambda: worked(step))

    entered.__name__, entered.__doc__ = name, run.__doc__
    return entered
