"""Where the model is to be had, and what one negotiation may spend on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from dragoman.errors import DragomanError
from graph.model.talk import ModelTrouble

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ModelDesk", "ModelLimits", "Session"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model may take. Prices None: the cost is not known, and no amount limits it."""

    calls: int = 2
    """Of one site and request."""
    same_call: int = 2
    """How often the same tool may be asked the same in one talk."""
    tokens: int = 40_000
    """Of one site and request, in and out."""
    seconds: float = 30.0
    """Of one call."""
    tools: int = 32
    """Tools that a model is shown."""
    at_once: int = 8
    """Talks at the same time."""
    failures: int = 3
    """In a row; then this negotiation goes on without the model."""
    usd_in: float | None = None
    """Price of a million tokens in."""
    usd_out: float | None = None
    most_usd: float | None = None
    """Of one negotiation."""

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost; None where prices are not known."""
        if self.usd_in is None or self.usd_out is None:
            return None
        return round((tokens_in * self.usd_in + tokens_out * self.usd_out) / 1e6, 8)


@dataclass(slots=True)
class ModelDesk:
    """Opens the model once, when it is first needed.

    Args:
        name: as configured (`openai:NAME`).
        make: opens it; may block, may raise.
        limits: for each negotiation.

    """

    name: str
    make: Callable[[], BaseChatModel]
    limits: ModelLimits = field(default_factory=ModelLimits)
    _opened: BaseChatModel | None = None

    async def model(self) -> BaseChatModel:
        """The chat model.

        Raises:
            ModelTrouble: it cannot be opened.

        """
        if self._opened is None:
            try:
                self._opened = await anyio.to_thread.run_sync(self.make)
            except (DragomanError, ImportError) as error:
                raise ModelTrouble(f"not to be had: {error}"[:500]) from error
        return self._opened

    def session(self) -> Session:
        """What one negotiation shares."""
        return Session(self, self.limits)


class Session:
    """The talks of one negotiation: so many at once, ended by failures in a row or by what they cost."""

    def __init__(self, desk: ModelDesk, limits: ModelLimits) -> None:
        self.desk = desk
        self.limits = limits
        self.places = anyio.CapacityLimiter(limits.at_once)
        self.begun = time.monotonic()
        self._failures = 0
        self._why = ""
        self._usd = 0.0

    def check(self) -> None:
        """Refuse another call where the negotiation goes on without the model.

        Raises:
            ModelTrouble: why.

        """
        if self._failures >= self.limits.failures:
            raise ModelTrouble(f"left out after {self._failures} failures: {self._why}")
        if self.limits.most_usd is not None and self._usd >= self.limits.most_usd:
            raise ModelTrouble(f"left out: {self._usd:.4f} USD were spent")

    def failed(self, outcome: str, *, alone: bool = False) -> None:
        """Count a failure; one that is about a single talk (`alone`) does not count."""
        if not alone:
            self._failures += 1
            self._why = outcome

    def worked(self) -> None:
        """An answer came: failures are counted anew."""
        self._failures = 0

    def spend(self, tokens_in: int, tokens_out: int) -> None:
        """Count what a call cost."""
        self._usd += self.limits.cost(tokens_in, tokens_out) or 0.0
