"""What a queue would take in place of what is asked: one change where one is enough, several told together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product

from dragoman.proposal import Suggestion

__all__ = ["Change", "changes_for"]

_MOST = 8


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the request that mends one refusal."""

    field: str
    asked: str
    offered: str
    bound: str
    """What it would have to keep to: `at most 4 nodes`."""
    words: str = ""
    """How it is told where nothing else has to change; empty: from the bound."""


def changes_for(queue: str, refusals: Sequence[Sequence[Change]]) -> tuple[Suggestion, ...]:
    """The changes with which the queue takes the job.

    Args:
        queue: its name.
        refusals: for each thing that the queue refuses, the changes of which any one mends it. Where one has none,
            nothing is suggested, since the others would not help.

    """
    if not refusals:
        return ()
    found: dict[tuple[str, str, str], Suggestion] = {}
    for choice in islice(product(*refusals), _MOST):
        needed = _least_of_each(choice)
        bounds = " and ".join(dict.fromkeys(each.bound for each in needed))
        words = (needed[0].words if len(needed) == 1 else "") or f"fits in queue {queue} with {bounds}"
        for each in needed:
            suggestion = Suggestion(field=each.field, asked=each.asked, offered=each.offered, words=words)
            found.setdefault((each.field, each.offered, words), suggestion)
    return tuple(found.values())


def _least_of_each(choice: Sequence[Change]) -> list[Change]:
    """Of two bounds of one field (both whole numbers, as of nodes), the tighter holds both."""
    kept: dict[str, Change] = {}
    for each in choice:
        other = kept.get(each.field)
        tighter = other is None or (each.offered.isdecimal() and int(each.offered) < int(other.offered))
        if tighter:
            kept[each.field] = each
    return list(kept.values())
