"""What can go wrong with a model, in words that are the same for every provider."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault", "ModelTrouble", "fault_of"]


class ModelTrouble(Exception):
    """The model gave no usable answer; the deterministic result stands. `outcome` is one word for it."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one call gave no answer."""

    outcome: str
    transient: bool = False
    """The same call may be answered a moment later."""
    free: bool = False
    """It is shown that no tokens were taken: the call was turned away, or never arrived."""


def fault_of(error: BaseException) -> Fault:
    """What went wrong; the provider's own text is not kept."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and len(chain) < 8:
        chain.append(one)
        one = one.__cause__ or one.__context__
    codes = {code for each in chain for code in (getattr(each, "status_code", None), getattr(each, "code", None))}
    names = " ".join(type(each).__name__ for each in chain).lower()
    if 429 in codes or "ratelimit" in names or "resourceexhausted" in names:
        return Fault("rate-limited", transient=True, free=True)
    if isinstance(error, TimeoutError) or "timeout" in names or 504 in codes:
        return Fault("timed out", free="connecttimeout" in names)
    if codes & {401, 403}:
        return Fault("not allowed: check the key", free=True)
    if "connect" in names:
        never_sent = "connecterror" in names or "connectorerror" in names
        return Fault("not reachable", transient=True, free=never_sent)
    if any(name in names for name in ("jsondecode", "validation", "valueerror", "keyerror", "typeerror", "indexerror")):
        return Fault("malformed answer")
    status = next((code for code in codes if isinstance(code, int)), None)
    outcome = f"failed: {status or type(error).__name__}"
    return Fault(outcome, transient=(status or 0) >= 500, free=400 <= (status or 0) < 500)
