"""One talk with the model: bounded in calls, tokens, time and money; its faults have names and end the talk."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anyio
from langchain_core.messages import AIMessage, BaseMessage

from dragoman.model import JsonValue
from dragoman.proposal import ModelUse, TokensTaken
from graph.model.spending import Reserved, most_tokens_in, tool_name
from graph.model.trouble import Fault, ModelTrouble, fault_of

if TYPE_CHECKING:
    from graph.model.desk import Session

__all__ = ["ModelTrouble", "Talk", "as_data"]


def as_data(value: JsonValue) -> str:
    """Data for a model, between marks that nothing in the data can know: what stands there is never an instruction."""
    mark = secrets.token_hex(8)
    return f"<data {mark}>\n{json.dumps(value, ensure_ascii=False)}\n</data {mark}>"


class _Unanswered(Exception):
    """A call gave no answer that could be used."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.outcome)
        self.fault = fault


class Talk:
    """Calls of one model for one purpose, and what they cost.

    Args:
        session: whose limits count.
        calls: the most calls of this talk, those that are not answered included.

    """

    def __init__(self, session: Session, calls: int) -> None:
        self.session = session
        self.left = calls
        self.calls = 0
        self.seconds = 0.0
        self.unreadable = 0
        self._tokens_in = 0
        self._tokens_out = 0
        self._uncounted = 0
        self._most_tokens = 0
        self._most_usd = 0.0

    async def say(
        self, messages: Sequence[BaseMessage], tools: Sequence[Any], *, only: str | None = None, last: str | None = None
    ) -> AIMessage:
        """What the model answers. A call that was not answered is made once more, where that may help.

        Args:
            messages: the talk so far.
            tools: what it may call.
            only: the tool that it has to call.
            last: the tool that it has to call when this is the last call of the talk.

        Raises:
            ModelTrouble: a limit was reached, or no usable answer came.

        """
        spending = self.session.spending
        try:
            answer = await self._call(messages, tools, only, last)
        except _Unanswered as first:
            if not first.fault.transient or self._why_not() is not None:
                raise self._failed(first) from first
            await anyio.sleep(self.session.limits.pause_s)
            try:
                answer = await self._call(messages, tools, only, last)
            except _Unanswered as second:
                raise self._failed(second) from second
            except ModelTrouble as left_out:
                raise ModelTrouble(f"{first.fault.outcome}; {left_out.outcome}") from first
        if answer.additional_kwargs.get("refusal") or answer.response_metadata.get("finish_reason") in _REFUSED:
            raise ModelTrouble("refused")
        spending.worked()
        return answer

    def _failed(self, unanswered: _Unanswered) -> ModelTrouble:
        self.session.spending.failed(unanswered.fault.outcome)
        return ModelTrouble(unanswered.fault.outcome)

    def _why_not(self) -> str | None:
        """Why this talk may make no other call, if it may not."""
        if self.left < 1:
            return "most calls reached"
        return "most tokens reached" if self._most_tokens >= self.session.limits.tokens else None

    async def _call(
        self, messages: Sequence[BaseMessage], tools: Sequence[Any], only: str | None, last: str | None
    ) -> AIMessage:
        """One call over the wire."""
        session, limits = self.session, self.session.limits
        why_not = self._why_not()
        if why_not is not None:
            raise ModelTrouble(why_not)
        session.spending.check()
        model = await session.desk.model()
        forced = only or (last if self.left == 1 else None)
        offered = [tool for tool in tools if forced is None or tool_name(tool) == forced]
        most_in = most_tokens_in(messages, offered)
        most_usd = limits.cost(most_in, limits.answer_tokens)
        async with session.spending.call(most_usd) as reserved:
            begun = time.monotonic()
            self.left -= 1
            self.calls += 1
            spent: tuple[int, int] | None = None
            try:
                bound = model.bind_tools(offered, **({"tool_choice": forced} if forced else {})) if offered else model
                with anyio.fail_after(limits.seconds):
                    answer = await bound.ainvoke(list(messages))
                if not isinstance(answer, AIMessage):
                    raise _Unanswered(Fault("malformed answer"))
                spent = _taken(answer)
            except _Unanswered:
                raise
            except Exception as error:
                fault = fault_of(error)
                spent = (0, 0) if fault.free else None
                raise _Unanswered(fault) from error
            finally:
                self.seconds += time.monotonic() - begun
                self._count(spent, reserved, most_in + limits.answer_tokens)
        return answer

    def _count(self, spent: tuple[int, int] | None, reserved: Reserved, most_tokens: int) -> None:
        """Keep what a call took; None: it is not known, and counts as the most against every bound."""
        if spent is None:
            self._uncounted += 1
            self._most_tokens += most_tokens
        else:
            self._tokens_in += spent[0]
            self._tokens_out += spent[1]
            self._most_tokens += sum(spent)
            reserved.settle(self.session.limits.cost(*spent))
        self._most_usd += reserved.usd

    def use(self, outcome: str, reasoning: str = "") -> ModelUse:
        """What is kept of the talk."""
        cost = self.session.limits.cost(self._tokens_in, self._tokens_out)
        taken = TokensTaken(tokens_in=self._tokens_in, tokens_out=self._tokens_out, cost_usd=cost)
        known = not self._uncounted
        return ModelUse(
            model=self.session.desk.name,
            calls=self.calls,
            uncounted=self._uncounted,
            tokens_in=taken.tokens_in if known else None,
            tokens_out=taken.tokens_out if known else None,
            seconds=round(self.seconds, 3),
            cost_usd=taken.cost_usd if known else None,
            at_least=None if known else taken,
            most_usd=None if cost is None else round(self._most_usd, 8),
            outcome=outcome + (f"; {self.unreadable} answers could not be read" if self.unreadable else ""),
            reasoning=reasoning[:8000],
        )


_REFUSED = ("content_filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII")


def _taken(answer: AIMessage) -> tuple[int, int] | None:
    """Tokens in and out; None where the service does not say, or what cannot be: no call has nothing in."""
    usage = answer.usage_metadata
    if usage is None or usage["input_tokens"] < 1 or usage["output_tokens"] < 0:
        return None
    return usage["input_tokens"], usage["output_tokens"]
