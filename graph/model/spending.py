"""What the calls of one negotiation may take together: places, money, and failures in a row.

A call takes its place and reserves what it can cost at most before it is sent, and settles to what it did cost when its
answer is there. What a call without an answer cost is not known: it counts as the most it can have cost.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from langchain_core.messages import BaseMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from graph.model.limits import ModelLimits
from graph.model.trouble import ModelTrouble

__all__ = ["Reserved", "Spending", "most_tokens_in", "tool_name"]

_FRAME = 32
"""Tokens that a provider puts around one message or tool; generous."""


def most_tokens_in(messages: Sequence[BaseMessage], tools: Sequence[Any]) -> int:
    """How many tokens a call has in at most: no tokenizer makes two of one byte, and few bytes are framing."""
    said = [[each.content, each.additional_kwargs, getattr(each, "tool_calls", [])] for each in messages]
    told = [convert_to_openai_tool(each) for each in tools]
    text = json.dumps([said, told], ensure_ascii=False, default=str)
    return len(text.encode("utf-8", "surrogatepass")) + _FRAME * (len(messages) + len(tools) + 1)


def tool_name(tool: object) -> str:
    """The name that a model calls a tool by."""
    return str(convert_to_openai_tool(tool)["function"]["name"])  # type: ignore[arg-type]  # as `bind_tools` takes it


@dataclass(slots=True, eq=False)
class Reserved:
    """What one call that is on its way may cost; `settle` says what it did cost."""

    usd: float

    def settle(self, usd: float | None) -> None:
        """Put the true cost in place of the worst; None: it is not known, and the worst stays."""
        if usd is not None:
            self.usd = usd


class Spending:
    """Shared by all talks of one negotiation.

    Args:
        limits: that count.
        spent_usd: what the negotiation has spent before.

    """

    def __init__(self, limits: ModelLimits, spent_usd: float = 0.0) -> None:
        self.limits = limits
        self.spent_usd = spent_usd
        self._places = anyio.CapacityLimiter(limits.at_once)
        self._on_the_way: set[Reserved] = set()
        self._settled = anyio.Event()
        self._failures = 0
        self._why = ""

    def check(self) -> None:
        """Refuse another call where the negotiation goes on without the model.

        Raises:
            ModelTrouble: why.

        """
        if self._broken:
            raise ModelTrouble(f"left out after {self._failures} failures: {self._why}")

    @asynccontextmanager
    async def call(self, most_usd: float | None) -> AsyncIterator[Reserved]:
        """A place and the money for one attempt of a call.

        While others are on their way that may turn out cheaper, it waits for them.

        Args:
            most_usd: what it costs at most; None: prices are not known.

        Raises:
            ModelTrouble: it may not begin, and why.

        """
        async with self._places:
            reserved = await self._reserve(most_usd)
            self._on_the_way.add(reserved)
            try:
                yield reserved
            finally:
                self._on_the_way.discard(reserved)
                self.spent_usd += reserved.usd
                self._settled.set()
                self._settled = anyio.Event()

    async def _reserve(self, usd: float | None) -> Reserved:
        self.check()
        most = self.limits.most_usd
        if most is None:
            return Reserved(usd or 0.0)
        if usd is None:
            raise ModelTrouble("left out: its cost is bounded, and its prices are not known")
        while self.spent_usd + sum(each.usd for each in self._on_the_way) + usd > most:
            if not self._on_the_way:
                raise ModelTrouble(
                    f"left out: a call may cost {usd:.4f} USD, and {self.spent_usd:.4f} of {most:g} USD are spent"
                )
            await self._settled.wait()
            self.check()
        return Reserved(usd)

    @property
    def _broken(self) -> bool:
        return self._failures >= self.limits.failures

    def failed(self, outcome: str) -> None:
        """Count a call that failed. Once it was enough, those that were on their way change nothing."""
        if not self._broken:
            self._failures += 1
            self._why = outcome

    def worked(self) -> None:
        """An answer came: failures are counted anew, unless there were enough before."""
        if not self._broken:
            self._failures = 0
