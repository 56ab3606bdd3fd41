"""What a model may take of time, calls, tokens and money."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MOST_ANSWER_TOKENS", "ModelLimits"]

MOST_ANSWER_TOKENS = 2048
"""Of one answer; the models are opened with it."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model may take. Prices None: the cost is not known, and where `most_usd` is set no call begins."""

    calls: int = 2
    """Of one site and request, calls that were not answered included."""
    same_call: int = 2
    """How often the same tool may be asked the same in one talk."""
    tokens: int = 40_000
    """Of one site and request, in and out."""
    seconds: float = 30.0
    """Of one call."""
    tools: int = 32
    """Tools that a model is shown."""
    at_once: int = 8
    """Calls at the same time."""
    failures: int = 3
    """In a row; then this negotiation goes on without the model."""
    pause_s: float = 0.5
    """Before a call that was not answered is made again."""
    answer_tokens: int = MOST_ANSWER_TOKENS
    """Of one answer at most."""
    usd_in: float | None = None
    """Price of a million tokens in."""
    usd_out: float | None = None
    most_usd: float | None = None
    """Of one negotiation: a call that may cost more than what is left of it is not made."""

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens cost; None where prices are not known."""
        if self.usd_in is None or self.usd_out is None:
            return None
        return round((tokens_in * self.usd_in + tokens_out * self.usd_out) / 1e6, 8)
