"""How the counts of a text belong together: totals against per-unit counts, asked back where both are possible."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from dragoman.errors import BadRequest
from dragoman.shape import Gpus, Memory, Shape
from graph.reading.draft import MAX_ITEMS, Amount, Draft
from graph.reading.reading import Option

__all__ = ["resolve_shape"]

_SPREAD = re.compile(
    r"[ \n,(]*(?:(?:spread|distributed|running|run|split|all|evenly|in total|total|altogether|ranks?) ){0,2}"
    r"(?:on|over|across|onto|in|using|among|between) (?:the |a |only |exactly )?"
)
_TIMES = re.compile(r"[ \n]?(?:[x\u00d7*@à]|of|à|times|each with|with|,)[ \n]?(?:each )?[ \n]?")
_EACH = re.compile(r"\b(?:each|every|per|apiece)\b")
_NEAR = re.compile(r"[ \n,]*(?:and|,|with|plus|\+|&)?[ \n]*")
_LEAD = re.compile(
    r"(?:per|each|every)[ ](?:mpi )?(node|host|machine|task|rank|process|core|cpu|gpu)s?:?(?: with| has| have| had"
    r"| needs| gets| using| wants| requires| should have| must have| should get| at least| having| of"
    r"| of \d+ (?:nodes|hosts))?[ ]$"
)
_A_MACHINE = re.compile(r"(?:an?|one|1) (?:machine|server|host|system)")
_OF_THEM = re.compile(
    r"(?:each|every)(?: one)? of (?:them|these|those)(?: needs| has| with| takes| gets| uses| wants| should have)? $"
)
_LEAD_UNIT = {"task": "task", "rank": "task", "process": "task", "core": "core", "cpu": "core", "gpu": "gpu"}
_MOST_GPU_BYTES = 300_000_000_000
"""No GPU has more memory of its own."""
_FIELDS = {"core": "cpus", "gpu": "gpus", "task": "tasks", "memory": "memory"}
_NAMES = {"core": "cores", "gpu": "GPUs", "task": "tasks", "memory": "of memory", "thread": "threads", "node": "nodes"}


def resolve_shape(draft: Draft, base: Shape | None = None) -> dict[str, Any]:
    """The fields of one shape, from all counts of the text; sources and questions go to the draft.

    `base` is what is already known, so that an edit's `64 GB` on two nodes is asked back too.
    """
    amounts = sorted(draft.amounts, key=lambda amount: amount.start)
    if len(amounts) > MAX_ITEMS:
        raise BadRequest(f"more than {MAX_ITEMS} counts", where="shapes", cure="describe one job in one request")
    _relate(draft, amounts)
    fields: dict[str, Any] = {}
    nodes = _pick(draft, fields, [a for a in amounts if a.unit == "node"], "nodes")
    tasks = _pick(draft, fields, [a for a in amounts if a.unit == "task"], "tasks")
    if nodes is None and base is not None and base.nodes:
        nodes = Amount("node", base.nodes, base.nodes_max, 0, 0)
    if tasks is None and base is not None and base.tasks:
        tasks = Amount("task", base.tasks, None, 0, 0)
    for amount in sorted(amounts, key=_of_gpus_last):
        if amount.unit == "node":
            continue
        if amount.per == "unknown":
            _each_of_what(draft, amount)
            continue
        if amount.per is None and _unclear(draft, amount, amounts, nodes, tasks):
            amount.per = "asked"
            continue
        _state(draft, fields, amount, nodes, tasks)
    _too_few_cores(draft, fields)
    _two_totals(draft, fields)
    return fields


def _of_gpus_last(amount: Amount) -> bool:
    """Tasks of each GPU are reckoned when it is known how many GPUs there are."""
    return amount.unit == "task" and amount.per == "gpu"


def _too_few_cores(draft: Draft, fields: dict[str, Any]) -> None:
    """More tasks than cores for them on a node, or in all: asked, because one of the two is not meant."""
    tasks_per_node, nodes, tasks = fields.get("tasks_per_node"), fields.get("nodes"), fields.get("tasks")
    each = fields.get("cpus_per_task") or 1
    if tasks_per_node is None and nodes and tasks:
        tasks_per_node = -(-tasks // nodes)
    total = tasks or (tasks_per_node * nodes if tasks_per_node and nodes else None)
    for name, needed in (("cpus_per_node", tasks_per_node), ("cpus", total)):
        have = fields.get(name)
        if have is None or needed is None or needed * each <= have:
            continue
        where = "on each node" if name == "cpus_per_node" else "in total"
        draft.contested.add(f"shapes.0.{name}")
        draft.ask(
            f"shapes.0.{name}", 0, 0,
            f"{have} cores {where} are fewer than its {needed} tasks need ({needed * each}). What is meant?",
            [Option(label=f"a core for each: {needed * each} cores {where}", patch={f"shapes.0.{name}": needed * each}),
             Option(label=f"tasks share the {have} cores {where}", patch={f"shapes.0.{name}": have})],
        )  # fmt: skip


def _two_totals(draft: Draft, fields: dict[str, Any]) -> None:
    """A total that the parts do not make up (`4 nodes with 16 cores each, 128 cores overall`) is asked about."""
    for name, many, each in (
        ("cpus", "nodes", "cpus_per_node"), ("tasks", "nodes", "tasks_per_node"), ("cpus", "tasks", "cpus_per_task"),
    ):  # fmt: skip
        total, count, part = fields.get(name), fields.get(many), fields.get(each)
        if total is None or count is None or part is None or f"shapes.0.{name}" in draft.contested:
            continue
        if (count - 1) * part < total <= count * part:
            continue
        draft.contested.add(f"shapes.0.{name}")
        noun, of = ("cores" if name == "cpus" else "tasks"), ("node" if many == "nodes" else "task")
        wanted = -(-total // count)
        draft.ask(
            f"shapes.0.{name}", 0, 0,
            f"{count} {many} with {part} {noun} each have {count * part}, and {total} are stated. What is meant?",
            [Option(label=f"{count * part} {noun}: {part} for each {of}", patch={f"shapes.0.{name}": count * part}),
             Option(label=f"{total} {noun}: {wanted} for each {of}",
                    patch={f"shapes.0.{name}": total, f"shapes.0.{each}": wanted})],
        )  # fmt: skip


def _pick(draft: Draft, fields: dict[str, Any], found: list[Amount], name: str) -> Amount | None:
    """The one count of nodes (or total tasks); a second, different one is a question."""
    chosen: Amount | None = None
    for amount in found:
        if name == "tasks" and amount.per not in (None, "job"):
            continue
        if chosen is None or (amount.low, amount.high) == (chosen.low, chosen.high):
            chosen = chosen or amount
            continue
        if (
            name == "nodes"
            and {amount.low, chosen.low} == {None, amount.low or chosen.low}
            and (amount.high or 0) >= (chosen.low or 0)
        ):
            chosen = Amount("node", amount.low or chosen.low, amount.high or chosen.high, chosen.start, chosen.end)
            continue
        if name == "nodes" and _A_MACHINE.fullmatch(draft.line.norm, amount.start, amount.end):
            continue  # `50 nodes on a machine with InfiniBand`
        if name == "nodes" and _A_MACHINE.fullmatch(draft.line.norm, chosen.start, chosen.end):
            chosen = amount
            continue
        if chosen.end <= amount.start and draft.corrected(chosen.end, amount.start):
            draft.default(f"{draft.words(amount.start, amount.end)!r} counts, not what was said before")
            chosen = amount
            continue
        draft.contested.add(f"shapes.0.{name}")
        first, second = draft.words(chosen.start, chosen.end), draft.words(amount.start, amount.end)
        draft.ask(
            f"shapes.0.{name}", amount.start, amount.end,
            f"Both {first!r} and {second!r} are stated. Which one counts?",
            [Option(label=first, patch={f"shapes.0.{name}": chosen.low}),
             Option(label=second, patch={f"shapes.0.{name}": amount.low})],
        )  # fmt: skip
        amount.per = "asked"
    if chosen is not None and name == "nodes":
        if chosen.low is not None:
            fields["nodes"] = chosen.low
        if chosen.high is not None:
            fields["nodes_max"] = chosen.high
        draft.source("shapes.0.nodes" if chosen.low else "shapes.0.nodes_max", chosen.start, chosen.end)
    return chosen


def _relate(draft: Draft, amounts: list[Amount]) -> None:
    """Fill in `per` where the words between two counts tell it."""
    norm = draft.line.norm
    led = -1
    for amount, following in pairwise(amounts):
        if (
            amount.per is None and amount.unit in ("core", "gpu", "memory") and following.per in ("node", "task")
            and following.unit in ("core", "gpu", "memory", "thread") and norm[amount.end : following.start] == " and "
        ):  # fmt: skip
            amount.per = following.per  # `1 GPU and 8 cores for each rank`
    for index, amount in enumerate(amounts):
        lead = _LEAD.search(norm[max(0, amount.start - 40) : amount.start])
        if (
            amount.per is None
            and amount.unit != "node"
            and (lead or (led == index - 1 and _near(norm, amounts, index)))
        ):
            amount.per = _LEAD_UNIT.get(lead[1], "node") if lead else amounts[index - 1].per
            if lead:
                draft.line.claim(amount.start - len(lead[0]), amount.start)
            led = index
            continue
        of_them = _OF_THEM.search(norm[max(0, amount.start - 40) : amount.start])
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
        options += [Option(label="of each node", patch=_patch(amount, "node", count))] if nodes or not tasks else []
        options += [Option(label="of each task", patch=_patch(amount, "task", count))] if tasks else []
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
    options = [Option(label=f"of each {unit}", patch=_patch(amount, unit, count)) for unit in ("node", "task")]
    _ask_each(draft, amount, options)
    return True


def _ask_each(draft: Draft, amount: Amount, options: list[Option]) -> None:
    words = draft.words(amount.start, amount.end)
    path = f"shapes.0.{_FIELDS.get(amount.unit, amount.unit)}"
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


def _each_of_what(draft: Draft, amount: Amount) -> None:
    """`4 GB each` where nothing before it is counted."""
    words, count = draft.words(amount.start, amount.end), amount.low or amount.high or 1
    units = {"memory": ("node", "task", "job"), "gpu": ("node", "task"), "core": ("node", "task")}.get(amount.unit, ())
    options = [Option(label=f"of each {unit}", patch=_patch(amount, unit, count)) for unit in units]
    path = f"shapes.0.{_FIELDS.get(amount.unit, amount.unit)}"
    draft.ask(path, amount.start, amount.end, f"{words!r}: of each what?", options)


def _unclear(draft: Draft, amount: Amount, amounts: list[Amount], nodes: Amount | None, tasks: Amount | None) -> bool:
    """Whether a count can be a total or per unit; the question is asked then."""
    count = amount.low if amount.low is not None else amount.high or 1
    node_count = (nodes.low or nodes.high or 1) if nodes else 1
    norm = draft.line.norm
    many_tasks = tasks is not None and (tasks.low or 1) > 1 and amount.unit in ("core", "memory")
    per_unit = "node" if node_count > 1 else "task" if many_tasks else None
    if per_unit is None or amount.unit == "thread":
        return False
    if nodes and amount.unit in ("gpu", "core", "task") and per_unit == "node":
        after = norm[amount.end : nodes.start] if nodes.start >= amount.end else ""
        if after and len(after) < 80 and _SPREAD.fullmatch(after):
            return False
        if count < node_count and not many_tasks:
            amount.per = "node"
            draft.default(f"{draft.words(amount.start, amount.end)!r} is taken per node: there are {node_count} nodes")
            return False
    if amount.unit == "task":
        between = norm[nodes.end : amount.start] if nodes and amount.start >= nodes.end else ""
        if not re.search(r"\b(?:with|of|having)\b", between):
            return False
    words = re.sub(r"(?: (?:of|with))?[ ,]*$", "", draft.words(amount.start, amount.end))
    path = f"shapes.0.{_FIELDS.get(amount.unit, amount.unit)}"
    on_each = [a for a in amounts if a.unit == "task" and a.per == "gpu"] if amount.unit == "gpu" else []
    options = [Option(label=f"{words} in total", patch=_with_tasks(on_each, amount, "job", count))]
    if node_count > 1:
        options.append(Option(label=f"{words} on each node", patch=_with_tasks(on_each, amount, "node", count)))
    if many_tasks:
        options.append(Option(label=f"{words} for each task", patch=_patch(amount, "task", count)))
    for other in on_each:
        other.per = "asked"  # tasks of each GPU follow from the answer
    text = f"Is {words!r} the total, or per {per_unit}?"
    draft.ask(path, amount.start, amount.end, text, options, free=not on_each)
    return True


def _with_tasks(on_each: list[Amount], amount: Amount, per: str, count: int) -> dict[str, Any]:
    """What an answer about GPUs means, with the tasks that were counted per GPU."""
    patch = _patch(amount, per, count)
    for tasks in on_each:
        patch[f"shapes.0.{'tasks_per_node' if per == 'node' else 'tasks'}"] = (tasks.low or 1) * count
    return patch


def _patch(amount: Amount, per: str, count: int) -> dict[str, Any]:
    base = "shapes.0."
    if amount.unit == "memory":
        return {f"{base}memory": Memory(bytes=count, per=per).model_dump(mode="json")}  # type: ignore[arg-type]  # one of its words
    if amount.unit == "gpu":
        return {f"{base}gpus": _gpus(amount, per, count).model_dump(mode="json", exclude_defaults=True)}
    if amount.unit == "task":
        return {base + ("tasks" if per == "job" else "tasks_per_node"): count}
    return {base + {"job": "cpus", "node": "cpus_per_node", "task": "cpus_per_task"}[per]: count}


def _gpus(amount: Amount, per: str, count: int) -> Gpus:
    return Gpus(count=count, per=per, model=amount.model, memory_bytes=amount.each_bytes, vendor=amount.vendor)  # type: ignore[arg-type]  # one of its words


def _state(draft: Draft, fields: dict[str, Any], amount: Amount, nodes: Amount | None, tasks: Amount | None) -> None:
    count = amount.low if amount.low is not None else amount.high
    per = amount.per
    if count is None or per == "asked":
        return
    if (amount.high or 0) > count:
        draft.default(f"{draft.words(amount.start, amount.end)!r}: {count} are asked for, the least that is enough")
    name, value, many = "", count if amount.unit != "gpu" else None, tasks is not None and (tasks.low or 1) > 1
    if amount.unit == "task":
        name = {None: "tasks", "job": "tasks", "node": "tasks_per_node"}.get(per, "")
        if per == "gpu":
            name, count = _per_gpu(draft.amounts, count)
        result: Any = count
    elif amount.unit in ("core", "thread"):
        hardware = amount.unit == "thread" and "hardware" in draft.words(amount.start, amount.end).lower()
        fields |= {"cpus_are": "threads"} if hardware else {}
        default = "cpus_per_task" if amount.unit == "thread" and not hardware else "cpus"
        name = {None: default, "job": "cpus", "node": "cpus_per_node", "task": "cpus_per_task"}.get(per, "")
        if per is None and amount.unit == "thread" and many and not hardware:
            draft.default(f"{draft.words(amount.start, amount.end)!r} are the threads of each task")
        result = count
    elif amount.unit == "gpu":
        name = "gpus" if per in (None, "node", "task", "job") else ""
        single = nodes is not None and nodes.low == 1 and per is None
        result = _gpus(amount, per or ("node" if single else "job"), count) if name else value
    else:
        name = "memory"
        word = {"core": "cpu", None: "node" if nodes is not None and nodes.low == 1 else "job"}.get(per, per)
        result = Memory(bytes=count, per=word) if word in ("node", "task", "cpu", "gpu", "job") else None  # type: ignore[arg-type]  # checked here
    words = draft.words(amount.start, amount.end)
    if not name or result is None:
        draft.unread.append(words)
        return
    before = draft.stated_at.get(f"shapes.0.{name}", amount.end)
    if name in fields and fields[name] != result and draft.corrected(before, amount.start):
        draft.default(f"{words!r} counts, not what was said before")
        fields.pop(name)
    if name in fields and fields[name] != result:
        draft.contested.add(f"shapes.0.{name}")
        earlier = next((s.words for s in draft.sources if s.field == f"shapes.0.{name}"), str(fields[name]))
        draft.ask(
            f"shapes.0.{name}", amount.start, amount.end,
            f"Both {earlier!r} and {words!r} are stated. Which one counts?",
            [Option(label=earlier, patch={f"shapes.0.{name}": _json(fields[name])}),
             Option(label=words, patch={f"shapes.0.{name}": _json(result)})],
        )  # fmt: skip
        return
    fields[name] = result
    draft.stated_at[f"shapes.0.{name}"] = amount.end
    draft.source(f"shapes.0.{name}", amount.start, amount.end)


def _json(value: Any) -> Any:  # noqa: ANN401  # values of any field
    return value.model_dump(mode="json", exclude_defaults=True) if isinstance(value, Gpus | Memory | Shape) else value


def _per_gpu(amounts: list[Amount], count: int) -> tuple[str, int]:
    gpus = next((a for a in amounts if a.unit == "gpu" and a.low), None)
    if gpus is None or gpus.low is None:
        return "", count
    return ("tasks_per_node" if gpus.per == "node" else "tasks"), count * gpus.low
