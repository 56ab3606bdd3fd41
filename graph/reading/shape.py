"""How the counts of a text belong together: totals against per-unit counts, asked back where both are possible."""

from __future__ import annotations

import re
from typing import Any

from dragoman.errors import BadRequest
from dragoman.shape import Gpus, Memory, Shape
from graph.reading.draft import MAX_ITEMS, Amount, Draft
from graph.reading.reading import Option
from graph.reading.relating import FIELDS, ask_of_what, gpus_of, patch_of, relate

__all__ = ["resolve_shape"]

_SPREAD = re.compile(
    r"[ \n,(]*(?:(?:spread|distributed|running|run|split|all|evenly|in total|total|altogether|ranks?) ){0,2}"
    r"(?:on|over|across|onto|in|using|among|between) (?:the |a |only |exactly )?"
    r"|[ \n]\((?:= ?|i\.e\.,? |so |that is |makes )?"
)
_TIMES = re.compile(r"[ \n]?(?:[x\u00d7*@à]|of|à|times|each with|with|,)[ \n]?(?:each )?[ \n]?")
_A_MACHINE = re.compile(r"(?:an?|one|1) (?:machine|server|host|system)")
_NAMES = {"core": "cores", "gpu": "GPUs", "task": "tasks", "memory": "of memory", "thread": "threads", "node": "nodes"}


def resolve_shape(draft: Draft, base: Shape | None = None) -> dict[str, Any]:
    """The fields of one shape, from all counts of the text; sources and questions go to the draft.

    `base` is what is already known, so that an edit's `64 GB` on two nodes is asked back too.
    """
    amounts = sorted(draft.amounts, key=lambda amount: amount.start)
    if len(amounts) > MAX_ITEMS:
        raise BadRequest(f"more than {MAX_ITEMS} counts", where="shapes", cure="describe one job in one request")
    relate(draft, amounts)
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
            ask_of_what(draft, amount)
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
        if chosen.end <= amount.start and draft.preferred(chosen.end, amount.start):
            draft.default(
                f"{draft.words(amount.start, amount.end)!r} does not count: the first is wanted instead of it"
            )
            amount.per = "asked"
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


def _unclear(draft: Draft, amount: Amount, amounts: list[Amount], nodes: Amount | None, tasks: Amount | None) -> bool:
    """Whether a count can be a total or per unit; the question is asked then."""
    count = amount.low if amount.low is not None else amount.high or 1
    node_count = (nodes.low or nodes.high or 1) if nodes else 1
    norm = draft.line.norm
    with_gpus = tasks is not None and amount.unit == "gpu" and norm[tasks.end : amount.start] in (" with ", ", with ")
    many_tasks = tasks is not None and (tasks.low or 1) > 1 and (amount.unit in ("core", "memory") or with_gpus)
    per_unit = "node" if node_count > 1 else "task" if many_tasks else None
    if per_unit is None or amount.unit == "thread":
        return False
    shares = (other.low or 0 for other in amounts if other.unit == amount.unit and other.per == "node")
    if any(share * node_count == count for share in shares):
        return False  # `2 nodes, 8 GPUs, 4 per node`
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
    path = f"shapes.0.{FIELDS.get(amount.unit, amount.unit)}"
    on_each = [a for a in amounts if a.unit == "task" and a.per == "gpu"] if amount.unit == "gpu" else []
    options = [Option(label=f"{words} in total", patch=_with_tasks(on_each, amount, "job", count))]
    if node_count > 1:
        options.append(Option(label=f"{words} on each node", patch=_with_tasks(on_each, amount, "node", count)))
    if many_tasks:
        options.append(Option(label=f"{words} for each task", patch=patch_of(amount, "task", count)))
    for other in on_each:
        other.per = "asked"  # tasks of each GPU follow from the answer
    text = f"Is {words!r} the total, or per {per_unit}?"
    draft.ask(path, amount.start, amount.end, text, options, free=not on_each)
    return True


def _with_tasks(on_each: list[Amount], amount: Amount, per: str, count: int) -> dict[str, Any]:
    """What an answer about GPUs means, with the tasks that were counted per GPU."""
    patch = patch_of(amount, per, count)
    for tasks in on_each:
        patch[f"shapes.0.{'tasks_per_node' if per == 'node' else 'tasks'}"] = (tasks.low or 1) * count
    return patch


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
        if (
            per == "gpu"
            and count == 1
            and any(a.unit == "gpu" and a.per == "task" and a.low == 1 for a in draft.amounts)
        ):
            draft.source("shapes.0.gpus", amount.start, amount.end)
            return  # `one process per GPU: 64 processes, each with 1 GPU`
        if per == "gpu":
            name, count = _per_gpu(draft.amounts, count)
        result: Any = count
    elif amount.unit in ("core", "thread"):
        hardware = amount.unit == "thread" and "hardware" in draft.words(amount.start, amount.end).lower()
        fields |= {"cpus_are": "threads"} if hardware else {}
        default = "cpus_per_task" if amount.unit == "thread" and not hardware else "cpus"
        if per is None and tasks is not None and tasks.low == 1 and nodes is None:
            between = draft.line.norm[tasks.end : amount.start]
            default = "cpus_per_task" if between in (" with ", " on ", " using ", " and ") else default
        name = {None: default, "job": "cpus", "node": "cpus_per_node", "task": "cpus_per_task"}.get(per, "")
        if per is None and amount.unit == "thread" and many and not hardware:
            draft.default(f"{draft.words(amount.start, amount.end)!r} are the threads of each task")
        result = count
    elif amount.unit == "gpu":
        name = "gpus" if per in (None, "node", "task", "job") else ""
        single = nodes is not None and nodes.low == 1 and per is None
        result = gpus_of(amount, per or ("node" if single else "job"), count) if name else value
    else:
        name = "memory"
        known = draft.known.shape.memory if draft.known else None
        alone = known.per if known else "node" if nodes is not None and nodes.low == 1 else "job"
        word = {"core": "cpu", None: alone}.get(per, per)
        result = Memory(bytes=count, per=word) if word in ("node", "task", "cpu", "gpu", "job") else None  # type: ignore[arg-type]  # checked here
    words = draft.words(amount.start, amount.end)
    if not name or result is None:
        draft.unread.append(words)
        return
    before = draft.stated_at.get(f"shapes.0.{name}", amount.end)
    if name in fields and fields[name] != result and draft.preferred(before, amount.start):
        draft.default(f"{words!r} does not count: what was said before is wanted instead of it")
        return
    if name in fields and fields[name] != result and draft.corrected(before, amount.start):
        draft.default(f"{words!r} counts, not what was said before")
        fields.pop(name)
    if name == "gpus" and _total_and_each(draft, fields, result, amount):
        return
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


def _total_and_each(draft: Draft, fields: dict[str, Any], new: Gpus, amount: Amount) -> bool:
    """`8 GPUs, 2 per node`: a total with its share of each node, which tells the nodes; False if they do not fit."""
    known = fields.get("gpus")
    if not isinstance(known, Gpus) or {known.per, new.per} != {"job", "node"}:
        return False
    total, each = (known, new) if known.per == "job" else (new, known)
    nodes = fields.get("nodes", total.count // each.count)
    if nodes * each.count != total.count or "nodes_max" in fields:
        return False
    kinds = {name: getattr(total, name) or getattr(each, name) for name in ("model", "memory_bytes", "vendor")}
    if any(getattr(one, name) not in (None, value) for one in (total, each) for name, value in kinds.items()):
        return False
    if "nodes" not in fields:
        draft.default(f"{total.count} GPUs with {each.count} on each node are {nodes} nodes")
        fields["nodes"] = nodes
        draft.source("shapes.0.nodes", amount.start, amount.end)
    fields["gpus"] = each.model_copy(update=kinds)
    draft.source("shapes.0.gpus", amount.start, amount.end)
    return True


def _json(value: Any) -> Any:  # noqa: ANN401  # values of any field
    return value.model_dump(mode="json", exclude_defaults=True) if isinstance(value, Gpus | Memory | Shape) else value


def _per_gpu(amounts: list[Amount], count: int) -> tuple[str, int]:
    gpus = next((a for a in amounts if a.unit == "gpu" and a.low), None)
    if gpus is None or gpus.low is None:
        return "", count
    return ("tasks_per_node" if gpus.per == "node" else "tasks"), count * gpus.low
