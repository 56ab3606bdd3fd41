"""GPUs one by one, as a driver's program tells of them, put together into kinds; and whether each is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.facts import Gpu, Gpus, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.units import format_bytes
from providers.probes.base import Ask, Paths, ProbeVerb, Results, presence_from
from providers.verbs import GPUS, NoArguments

__all__ = ["Card", "busy_by_use", "gpu_presence", "gpu_verbs", "known_number", "put_together"]

Vendor = Literal["nvidia", "amd", "intel"]
BUSY_PERCENT = 10
BUSY_MEMORY = 0.1
"""Display servers and monitoring use a little; a part above these of the cores or the memory is somebody's work."""


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU."""

    model: str | None = None
    memory_bytes: int | None = None
    driver: str | None = None
    free: Truth = Truth.UNKNOWN
    partitions: tuple[str, ...] = ()
    partitioned: bool = False


def known_number(text: object) -> float | None:
    """The number at the beginning (`24576 MiB`, `3 %`); None for `[N/A]`, `ERR!`, and whatever else is no number."""
    words = str(text).split() if isinstance(text, str | int | float) and not isinstance(text, bool) else []
    try:
        value = float(words[0].rstrip("%")) if words else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 2**63 else None


def busy_by_use(percent: float | None, used: float | None, total: float | None) -> Truth:
    """Whether what is used of a GPU shows somebody's work; unknown where neither use is known."""
    parts = [
        None if percent is None else percent >= BUSY_PERCENT,
        None if used is None or not total else used / total >= BUSY_MEMORY,
    ]
    if True in parts:
        return Truth.YES
    return Truth.UNKNOWN if all(part is None for part in parts) else Truth.NO


def put_together(vendor: Vendor, cards: Sequence[Card]) -> Gpus:
    """Cards that are alike become one kind; how many of it are free is unknown where one card's answer is."""
    kinds: dict[object, list[Card]] = {}
    for card in cards:
        kinds.setdefault((card.model, card.memory_bytes, card.driver, card.partitioned), []).append(card)
    return Gpus(
        kinds=tuple(
            Gpu(
                vendor=vendor,
                model=alike[0].model,
                count=len(alike),
                free=_free(card.free for card in alike),
                memory_bytes=alike[0].memory_bytes,
                driver=alike[0].driver,
                partitions=tuple(name for card in alike for name in card.partitions),
            )
            for alike in kinds.values()
        )
    )


def _free(answers: Iterable[Truth]) -> int | None:
    each = list(answers)
    return None if Truth.UNKNOWN in each else sum(answer is Truth.YES for answer in each)


def gpu_presence(gpus: Gpus) -> Presence:
    """Driver and kinds in a line."""
    kinds = [
        f"{kind.count} x {kind.model or 'unknown model'}"
        + (f" {format_bytes(kind.memory_bytes)}" if kind.memory_bytes else "")
        for kind in gpus.kinds
    ]
    return Presence(version=next((kind.driver for kind in gpus.kinds if kind.driver), None), detail=", ".join(kinds))


def gpu_verbs(
    ask: Callable[[NoArguments, Paths], Ask], parse: Callable[[NoArguments, Results], Answer[Gpus] | Ask]
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, Gpus]]:
    """`probe` and `describe`, from one question."""
    describe: ProbeVerb[NoArguments, Gpus] = ProbeVerb(GPUS, ask, parse)
    return presence_from(describe, gpu_presence), describe
