"""Nodes, tasks, cores, threads and GPUs: how many, and per what as far as it is said beside the number."""

from __future__ import annotations

import re

from graph.reading.draft import Amount, Draft
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["PER", "read_counts"]

UNITS = {
    "node": r"nodes?|hosts?|machines?|servers?|compute nodes?",
    "task": r"tasks?|ranks?|processes|process|procs?|mpi (?:tasks?|ranks?|processes|procs?)|instances? of mpi",
    "core": r"cores?|cpus?|cpu cores?|physical cores?|processor cores?|processors?|vcpus?",
    "thread": r"threads?|openmp threads?|omp threads?|hardware threads?",
    "gpu": r"gpus?|gpu cards?|graphics cards?|accelerators?|gpu devices?",
}
ANY_UNIT = "|".join(UNITS.values())
_ADJECTIVE = (
    r"(?P<adjective>(?:(?:mpi|openmp|omp|compute|full|whole|entire|exclusive|physical|parallel|total|dedicated"
    r"|single|identical"
    r"|cpu|worker|processor|separate|distributed|logical)[ -]){0,2})(?:(?P<vendor>nvidia|amd|intel) )?"
)
_BOUND = (
    r"(?:(?P<bound>at least|at most|up to|max(?:imum)?\.?(?: of)?|min(?:imum)?\.?(?: of)?|no more than|not more than"
    r"|no fewer than|not less than|no less than|less than|fewer than|more than|exactly|between|from|around|about"
    r"|roughly|approximately|approx\.?|only|just|~|>=|<=|<|>|≥|≤) ?)?"
)
_UPPER = ("at most", "up to", "max", "no more", "not more", "<=", "≤")
_LOWER = ("at least", "min", "no fewer", "no less", "not less", ">=", "≥")
PER = (
    r"(?: ?(?:/|per|each|on each|for each|for every|on every|in each|a|for a single) ?(?:mpi "
    r"|compute )?(?P<per>node|host|machine"
    r"|server|task|rank|process|proc|gpu|core|cpu|thread|job|card)s?(?![\w-])| (?P<total>in total|total"
    r"|altogether|overall|all in all)"
    r"|(?:,| )(?: ?)(?P<each>each|apiece)(?! (?:node|task|rank|gpu|core|with|has|have|having|of|using|running"
    r"|containing)))?"
)
_QUANTITY = (
    rf"(?:(?P<n>{NUMBER})(?: ?(?:-|\u2013|to|\.\.) ?(?P<m>{NUMBER}))?|(?P<a>an?|half an?|half a|another))"
    r"(?P<dozen> dozens?)?(?: of)?"
)
FORWARD = (
    rf"(?<![\w.-])(?P<total0>(?:a )?total (?:of )?)?{_BOUND}{_QUANTITY}"
    rf"(?: ?[x\u00d7*] ?| |-|(?=[a-z]))(?:the )?{_ADJECTIVE}"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?![\w-]|\.\w){PER}"
)
BETWEEN = (
    rf"(?<![\w.-])(?P<bound>between) (?P<n>{NUMBER}) and (?P<m>{NUMBER}) {_ADJECTIVE}"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?![\w-]|\.\w){PER}"
)
FRACTION = r"(?<![\w.,-])\d{1,2} ?% (?:of )?(?:a|one|1|the|each) nodes?(?![\w-])"
BACKWARD = (
    rf"(?<![\w.-])(?:number of |num[_ -]?|n[_-]?"
    rf"|#)?{_ADJECTIVE}(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})"
    r"(?:[ _-]?(?:per|/)[ _-]?(?P<per>node|host|machine|server|task|rank|process|proc|gpu|core|cpu|job))?"
    rf" ?[:=] ?(?P<n>{NUMBER})(?![\w:-])"
)
_PER_WORD = {
    "host": "node", "machine": "node", "server": "node", "rank": "task", "process": "task", "proc": "task",
    "cpu": "core", "card": "gpu",
}  # fmt: skip


PPN = rf"(?<![\w-])ppn ?[:=]? ?(?P<n>{NUMBER})(?![\w.])"
NUMBER_PER = rf"(?<![\w-])(?P<n>{NUMBER}) ?(?:per|/|on each) ?(?P<per>node|task|rank|gpu)(?![\w-])"


def _unit(match: re.Match[str]) -> str:
    return next(unit for unit in UNITS if match[unit])


def per_of(match: re.Match[str]) -> str | None:
    """What an amount is counted per, by the words beside it: a unit, `job`, `each`, or None."""
    groups = match.groupdict()
    if groups.get("per"):
        return _PER_WORD.get(match["per"], match["per"])
    if groups.get("total") or groups.get("total0"):
        return "job"
    return "each" if groups.get("each") else None


def read_counts(draft: Draft) -> None:
    """Find every count of a unit."""
    for match in draft.line.find(FRACTION):
        _half(draft, "node", match)
    for rule in (BETWEEN, BACKWARD, FORWARD):
        for match in draft.line.find(rule):
            _take(draft, match)
    for match in draft.line.find(PPN):
        draft.amounts.append(Amount("task", count_of(match["n"]), None, *match.span(), per="node"))
        draft.line.claim(*match.span())
    for match in draft.line.find(NUMBER_PER):
        _same_unit(draft, match)


def _same_unit(draft: Draft, match: re.Match[str]) -> None:
    """`512 ranks on 16 nodes (32 per node)`: a number without a unit counts what was counted shortly before."""
    before = [a for a in draft.amounts if a.unit not in ("node", "memory") and 0 <= match.start() - a.end <= 60]
    count = count_of(match["n"])
    if before and count:
        last = max(before, key=lambda amount: amount.end)
        draft.amounts.append(Amount(last.unit, count, None, *match.span(), per=per_of(match), model=last.model))
        draft.line.claim(*match.span())


def _take(draft: Draft, match: re.Match[str]) -> None:
    groups = match.groupdict()
    unit = _unit(match)
    if draft.negated(*match.span()):
        return
    adjective, vendor = groups.get("adjective") or "", groups.get("vendor")
    if vendor and unit != "gpu":
        draft.unread.append(draft.words(*match.span("vendor")))
    if unit == "node" and any(word in adjective for word in ("exclusive", "dedicated", "whole", "full", "entire")):
        draft.fields["exclusive"] = True
    bound = (groups.get("bound") or "").strip(" .")
    start, end = match.span()
    if groups.get("a"):
        if groups["a"].startswith("half"):
            if not groups["dozen"]:
                _half(draft, unit, match)
                return
            low: int | None = 6
        elif groups["a"] == "another":
            return
        else:
            low = 12 if groups["dozen"] else 1
    else:
        low = count_of(match["n"])
        if low is not None and groups.get("dozen"):
            low *= 12
    high = count_of(groups["m"]) if groups.get("m") else None
    if low is None or low == 0 or (groups.get("m") and (high is None or high < low)):
        return
    if bound.startswith(_UPPER):
        low, high = None, low
    elif bound in ("less than", "fewer than", "<"):
        if low == 1:
            return
        low, high = None, (low or 1) - 1
    elif bound in ("more than", ">"):
        low += 1
    if bound.startswith(_LOWER) or bound in ("more than", ">"):
        draft.default(f"{draft.words(start, end)!r}: {low} {unit}s are asked for")
    elif bound in ("around", "about", "roughly", "approximately", "approx", "~"):
        draft.default(f"{draft.words(start, end)!r}: exactly {low} {unit}s are asked for")
    amount = Amount(unit, low, high, start, end, per=per_of(match))  # type: ignore[arg-type]  # one of UNITS
    amount.vendor = vendor if unit == "gpu" else None
    draft.amounts.append(amount)
    draft.line.claim(start, end)


def _half(draft: Draft, unit: str, match: re.Match[str]) -> None:
    if unit == "node":
        draft.ask(
            "shapes.0.cpus", *match.span(), f"{draft.words(*match.span())!r}: how many cores is that?",
            [Option(label="take one whole node", patch={"shapes.0.nodes": 1})],
        )  # fmt: skip
