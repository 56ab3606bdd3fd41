"""Which count belongs to which: `2 nodes with 4 GPUs each`, `each rank gets 6 GB`, `1 GPU and 8 cores per task`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from dragoman.shape import Gpus, Memory
from graph.reading.draft import Amount, Draft
from graph.reading.reading import Option

__all__ = ["FIELDS", "ask_of_what", "gpus_of", "patch_of", "relate"]

_EACH = re.compile(r"\b(?:each|every|per|apiece)\b")
_NEAR = re.compile(r"[ \n,]*(?:and|,|with|plus|\+|&)?[ \n]*")
_LEAD = re.compile(
    r"(?:per|each|every)[ ](?:mpi )?(node|host|machine|task|rank|process|core|cpu|gpu)s?:?(?: with| has| have| had"
    r"| needs| gets| using| wants| requires| should have| must have| should get| should| must| at least| having| of"
    r"| of \d+ (?:nodes|hosts))?[ ]$"
)
_LEAD_ALONE = re.compile(r"(?:^|[.;:!?][ ])(?:per|each|every)[ ](?:mpi )?(node|task|rank|process|gpu),[ ]$")
_EACH_OF = re.compile(
    r"(?:each|every)(?: one)? of (?:the |these |our )?(?:\d+ )?(?:mpi )?(node|task|rank|process|gpu)(?:s"
    r"|es)?(?: of \S+)?"
    r"(?: (?:must|should|shall|has|have|had|to|needs?|requires?|wants?|gets?|come|comes|with|offer|offers|provide"
    r"|provides"
    r"|holds?|be|equipped|fitted|having|runs?|use|uses)){0,5}[ ]$"
    r"|(?:each|every|per) (gpu|node|task|rank|process),? (?:we|i|it|there) (?:needs?|requires?|must be|should be"
    r"|wants?)[ ]$"
)
_IN_ALL = re.compile(r"\b(?:altogether|in total|in all|overall|a total of|total of)[ ]$")
_OF_THEM = re.compile(
    r"(?<![\w-])each (?:one )?(?:running|runs|having|has|using|uses|getting|gets|needing|needs|taking|takes) $"
    r"|(?:each|every)(?: one)? of (?:them|these|those)(?: needs| has| with| takes| gets| uses| wants| should have)? $"
    r"|(?<![\w-])on each(?: one)?,?(?: of them)?,?(?: (?:should|shall|will|must|there|we|i|want|need|are|is|be|run|runs"
    r"|at least)){0,4} $"
)
_LEAD_UNIT = {"task": "task", "rank": "task", "process": "task", "core": "core", "cpu": "core", "gpu": "gpu"}
_MOST_GPU_BYTES = 300_000_000_000
"""No GPU has more memory of its own."""
FIELDS = {"core": "cpus", "gpu": "gpus", "task": "tasks", "memory": "memory"}


def relate(draft: Draft, amounts: list[Amount]) -> None:
    """Fill in `per` where the words between two counts tell it."""
    norm = draft.line.norm
    led = -1
    of_array = "array" in draft.fields and not any(amount.unit == "task" for amount in amounts)
    for amount, following in pairwise(amounts):
        if (
            amount.per is None and amount.unit in ("core", "gpu", "memory") and following.per in ("node", "task")
            and following.unit in ("core", "gpu", "memory", "thread") and norm[amount.end : following.start] == " and "
        ):  # fmt: skip
            amount.per = following.per  # `1 GPU and 8 cores for each rank`
    for index, amount in enumerate(amounts):
        said = norm[max(0, amount.start - 80) : amount.start]
        lead = _LEAD.search(said) or _LEAD_ALONE.search(said) or _EACH_OF.search(said)
        if (
            amount.per is None
            and amount.unit != "node"
            and (lead or (led == index - 1 and _near(norm, amounts, index)))
        ):
            # The unit stands in the one group that matched.
            amount.per = _LEAD_UNIT.get(lead[lead.lastindex or 0], "node") if lead else amounts[index - 1].per
            if lead and of_array and lead[1] == "task":
                amount.per = None  # of each element of the array
            if lead:
                draft.line.claim(amount.start - len(lead[0]), amount.start)
            led = index
            continue
        behind = _behind(norm, amounts, index)
        if (
            behind
            and amount.per is None
            and amount.unit in ("core", "gpu", "memory", "task")
            and behind[1] != amount.unit
        ):
            amount.per = _LEAD_UNIT.get(behind[1].removesuffix("es"), "node")
            draft.line.claim(*behind.span())
            continue
        whole = _IN_ALL.search(said)
        if whole and amount.per is None and amount.unit in ("memory", "core", "gpu", "task"):
            amount.per = "job"
            draft.line.claim(amount.start - len(whole[0]), amount.start)
            continue
        of_them = _OF_THEM.search(said)
        if of_them and amount.per is None:
            amount.per = "each"
            draft.line.claim(amount.start - len(of_them[0]), amount.start)
        before = next((a for a in reversed(amounts[:index]) if a.unit in ("node", "task") and a is not amount), None)
        if amount.per == "each":
            if amount.unit == "thread" and any(other.unit == "task" for other in amounts):
                amount.per = "task"  # threads are of a task, wherever it is counted
                continue
            if _each_of_two(draft, amount, amounts[:index]):
                continue
            before_all = [a for a in amounts[:index] if a.unit in ("node", "task")]
            if "array" in draft.fields and not before_all:
                amount.per = None  # of each element of the array
                continue
            holder = next(
                (
                    a
                    for a in reversed(amounts[:index])
                    if a.unit == "node" or (a.unit == "task" and amount.unit != "task") or _core_with(norm, a, amount)
                ),
                None,
            )
            amount.per = holder.unit if holder else None if "array" in draft.fields else "unknown"
            before_it = amounts[index - 1] if index else None
            if (
                before_it
                and holder
                and before_it is not holder
                and before_it.per is None
                and before_it.unit not in ("node", "task")
            ) and _NEAR.fullmatch(norm[before_it.end : amount.start]):
                before_it.per = amount.per
            continue
        if amount.per is not None or amount.unit == "node" or before is None:
            continue
        gap = _gap(norm, amounts, before.end, amount.start)
        if gap is None:
            continue
        if (
            _EACH.search(gap) or (re.fullmatch(r"[ \n]?(?:[x\u00d7*@à]|of|times)[ \n]?", gap))
        ) and before.unit != amount.unit:
            amount.per = before.unit


def _each_of_two(draft: Draft, amount: Amount, before: list[Amount]) -> bool:
    """`8 tasks on 2 nodes, 4 GB each`: of a node or of a task; `8 GPUs on 2 nodes, 80 GB each`: of a GPU or a node."""
    near = [other for other in before if amount.start - other.end <= 120 and other is not amount]
    count = amount.low or amount.high or 1
    nodes = next((a for a in reversed(near) if a.unit == "node"), None)
    tasks = next((a for a in reversed(near) if a.unit == "task"), None)
    gpus = next((a for a in reversed(near) if a.unit == "gpu" and a.each_bytes is None), None)
    said = re.search(r"\b(?:memory|ram|mem)\b", draft.line.norm[amount.start : amount.end + 12])
    if amount.unit == "memory" and gpus is not None and not said and count <= _MOST_GPU_BYTES:
        total = gpus.low or 1
        options = [Option(label="of each GPU", patch={"shapes.0.gpus.memory_bytes": count})]
        options += [Option(label="of each node", patch=patch_of(amount, "node", count))] if nodes or not tasks else []
        options += [Option(label="of each task", patch=patch_of(amount, "task", count))] if tasks else []
        if total > 1 or nodes is None or (nodes.low or 1) > 1:
            _ask_each(draft, amount, options)
            return True
    if nodes is None or tasks is None or amount.unit not in ("memory", "core", "gpu"):
        return False
    node_count, task_count = nodes.low or nodes.high or 1, tasks.low or tasks.high or 1
    total = tasks.per in (None, "job") and tasks.start < nodes.start and task_count not in (1, node_count)
    listed = draft.line.norm[tasks.start : tasks.end].endswith(("each", "apiece"))  # `8 tasks each, 2 GPUs each`
    if not total and not (tasks.per == "node" and (listed or tasks.start < nodes.start)):
        return False
    if node_count == 1:
        amount.per = "task"
        return True
    options = [Option(label=f"of each {unit}", patch=patch_of(amount, unit, count)) for unit in ("node", "task")]
    _ask_each(draft, amount, options)
    return True


def _ask_each(draft: Draft, amount: Amount, options: list[Option]) -> None:
    words = draft.words(amount.start, amount.end)
    path = f"shapes.0.{FIELDS.get(amount.unit, amount.unit)}"
    draft.ask(path, amount.start, amount.end, f"{words!r}: of each what?", options)
    amount.per = "asked"


def _core_with(norm: str, core: Amount, amount: Amount) -> bool:
    """`32 cores with 4 GB each`: memory of each core."""
    return (
        core.unit == "core"
        and core.per in (None, "job")
        and amount.unit == "memory"
        and norm[core.end : amount.start] in (" ", " with ", ", with ", ", ")
    )


_GIVEN = re.compile(
    r"(?:,? (?:is|are|shall|should|must|to|be|will|being|have|has|been)){0,4}(?: (?:assigned|given|allotted|granted"
    r"|available|provided|reserved|needed|required|wanted|placed|at hand))? (?:(?:to|for|by|on|in|with) (?:each|every)"
    r"|(?<=[a-z] )per) "
    r"(?:mpi )?(node|host|machine|task|rank|process|gpu)(?:es)?(?![\w-])"
)


def _behind(norm: str, amounts: list[Amount], index: int) -> re.Match[str] | None:
    """`1 GPU and 12 cores are to be assigned to every task`: the unit behind counts that stand together."""
    while index + 1 < len(amounts) and _NEAR.fullmatch(norm[amounts[index].end : amounts[index + 1].start]):
        index += 1
    return _GIVEN.match(norm, amounts[index].end)


def _near(norm: str, amounts: list[Amount], index: int) -> bool:
    """Whether only `and`, `with` or a comma stands between an amount and the one before it."""
    return index > 0 and bool(_NEAR.fullmatch(norm[amounts[index - 1].end : amounts[index].start]))


def _gap(norm: str, amounts: list[Amount], start: int, end: int) -> str | None:
    """The words between two places without other counts; None where a sentence ends between them or they are far."""
    if end - start > 400:
        return None
    text = norm[start:end]
    for amount in amounts:
        if start <= amount.start and amount.end <= end:
            text = text[: amount.start - start] + "#" * (amount.end - amount.start) + text[amount.end - start :]
    return None if re.search(r"[.;!?](?:\s|$)", text) else text


def ask_of_what(draft: Draft, amount: Amount) -> None:
    """`4 GB each` where nothing before it is counted."""
    words, count = draft.words(amount.start, amount.end), amount.low or amount.high or 1
    units = {"memory": ("node", "task", "job"), "gpu": ("node", "task"), "core": ("node", "task")}.get(amount.unit, ())
    options = [Option(label=f"of each {unit}", patch=patch_of(amount, unit, count)) for unit in units]
    path = f"shapes.0.{FIELDS.get(amount.unit, amount.unit)}"
    draft.ask(path, amount.start, amount.end, f"{words!r}: of each what?", options)


def patch_of(amount: Amount, per: str, count: int) -> dict[str, Any]:
    """What it means for the request that a count is `per` one of its units."""
    base = "shapes.0."
    if amount.unit == "memory":
        return {f"{base}memory": Memory(bytes=count, per=per).model_dump(mode="json")}  # type: ignore[arg-type]  # one of its words
    if amount.unit == "gpu":
        return {f"{base}gpus": gpus_of(amount, per, count).model_dump(mode="json", exclude_defaults=True)}
    if amount.unit == "task":
        return {base + ("tasks" if per == "job" else "tasks_per_node"): count}
    return {base + {"job": "cpus", "node": "cpus_per_node", "task": "cpus_per_task"}[per]: count}


def gpus_of(amount: Amount, per: str, count: int) -> Gpus:
    """GPUs as they were counted, with what was said of them."""
    return Gpus(count=count, per=per, model=amount.model, memory_bytes=amount.each_bytes, vendor=amount.vendor)  # type: ignore[arg-type]  # one of its words
