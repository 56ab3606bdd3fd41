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
from dragoman.proposal import ModelUse

if TYPE_CHECKING:
    from graph.model.desk import Session

__all__ = ["ModelTrouble", "Talk", "as_data"]


class ModelTrouble(Exception):
    """The model gave no usable answer; the deterministic result stands. `outcome` is one word for it."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def as_data(value: JsonValue) -> str:
    """Data for a model, between marks that nothing in the data can know: what stands there is never an instruction."""
    mark = secrets.token_hex(8)
    return f"<data {mark}>\n{json.dumps(value, ensure_ascii=False)}\n</data {mark}>"


class Talk:
    """Calls of one model for one purpose, and what they cost.

    Args:
        session: whose limits count.
        calls: the most calls of this talk.

    """

    def __init__(self, session: Session, calls: int) -> None:
        self.session = session
        self.left = calls
        self.calls = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.seconds = 0.0
        self.unreadable = 0

    async def say(self, messages: Sequence[BaseMessage], tools: Sequence[Any], *, only: str | None = None) -> AIMessage:
        """One call.

        Args:
            messages: the talk so far.
            tools: what it may call.
            only: the tool that it has to call.

        Raises:
            ModelTrouble: a limit was reached, or no usable answer came.

        """
        session, limits = self.session, self.session.limits
        if self.left < 1:
            raise ModelTrouble("most calls reached")
        if self.tokens_in + self.tokens_out >= limits.tokens:
            raise ModelTrouble("most tokens reached")
        session.check()
        model = await session.desk.model()
        begun = time.monotonic()
        self.left -= 1
        self.calls += 1
        try:
            async with session.places:
                with anyio.fail_after(limits.seconds):
                    bound = model.bind_tools(tools, **({"tool_choice": only} if only else {})) if tools else model
                    answer = await bound.ainvoke(list(messages))
        except Exception as error:
            outcome = _outcome_of(error)
            session.failed(outcome)
            raise ModelTrouble(outcome) from error
        finally:
            self.seconds += time.monotonic() - begun
        if not isinstance(answer, AIMessage):
            raise ModelTrouble("malformed answer")
        self._count(answer)
        if answer.additional_kwargs.get("refusal") or answer.response_metadata.get("finish_reason") in _REFUSED:
            session.failed("refused", alone=True)
            raise ModelTrouble("refused")
        session.worked()
        return answer

    def _count(self, answer: AIMessage) -> None:
        usage = answer.usage_metadata
        if usage is not None:
            self.tokens_in += usage.get("input_tokens", 0)
            self.tokens_out += usage.get("output_tokens", 0)
            self.session.spend(usage.get("input_tokens", 0), usage.get("output_tokens", 0))

    def use(self, outcome: str, reasoning: str = "") -> ModelUse:
        """What is kept of the talk."""
        return ModelUse(
            model=self.session.desk.name,
            calls=self.calls,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            seconds=round(self.seconds, 3),
            cost_usd=self.session.limits.cost(self.tokens_in, self.tokens_out),
            outcome=outcome + (f"; {self.unreadable} answers could not be read" if self.unreadable else ""),
            reasoning=reasoning[:8000],
        )


_REFUSED = ("content_filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII")


def _outcome_of(error: BaseException) -> str:
    """What went wrong, in words that are the same for every provider; the provider's own text is not kept."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and len(chain) < 8:
        chain.append(one)
        one = one.__cause__ or one.__context__
    codes = {code for each in chain for code in (getattr(each, "status_code", None), getattr(each, "code", None))}
    names = " ".join(type(each).__name__ for each in chain).lower()
    if 429 in codes or "ratelimit" in names or "resourceexhausted" in names:
        return "rate-limited"
    if isinstance(error, TimeoutError) or "timeout" in names or 504 in codes:
        return "timed out"
    if codes & {401, 403}:
        return "not allowed: check the key"
    if "connect" in names:
        return "not reachable"
    if any(name in names for name in ("jsondecode", "validation", "valueerror", "keyerror", "typeerror", "indexerror")):
        return "malformed answer"
    status = next((code for code in codes if isinstance(code, int)), None)
    return f"failed: {status or type(error).__name__}"
