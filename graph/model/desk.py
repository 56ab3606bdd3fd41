"""Where the model is to be had, and what one negotiation shares of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio.to_thread

from dragoman.errors import DragomanError
from graph.model.limits import ModelLimits
from graph.model.spending import Spending
from graph.model.trouble import ModelTrouble

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ModelDesk", "ModelLimits", "Session"]


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
    _opening: threading.Lock = field(default_factory=threading.Lock)

    async def model(self) -> BaseChatModel:
        """The chat model.

        Raises:
            ModelTrouble: it cannot be opened.

        """
        if self._opened is None:
            try:
                return await anyio.to_thread.run_sync(self._open)
            except (DragomanError, ImportError) as error:
                raise ModelTrouble(f"not to be had: {error}"[:500]) from error
        return self._opened

    def _open(self) -> BaseChatModel:
        """In a thread; sites that are asked at once wait for the first."""
        with self._opening:
            if self._opened is None:
                self._opened = self.make()
            return self._opened

    def session(self, spent_usd: float = 0.0) -> Session:
        """What one negotiation shares.

        Args:
            spent_usd: what it has spent before, in a run that was cut off.

        """
        return Session(self, Spending(self.limits, spent_usd))


@dataclass(frozen=True, slots=True)
class Session:
    """The talks of one negotiation: so many at once, ended by failures in a row or by what they cost."""

    desk: ModelDesk
    spending: Spending

    @property
    def limits(self) -> ModelLimits:
        """What they may take."""
        return self.spending.limits
