"""Whether a written script asks for as many nodes, cores and GPUs as its source: no number changes without a word.

The target's own reader tells what was written. Schedulers that count slots say nothing of which cores are one task's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.schedulers.script_words import ScriptWords

__all__ = ["changed_counts"]

_CORES = ("cpus_per_task", "cpus_per_node", "cpus", "tasks_per_node", "tasks", "nodes")


def changed_counts(
    request: JobRequest, found: JobRequest, script: str, source: str, words: ScriptWords
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Fields of the shape (the one that tells most comes first), and what became of what they say.

    Args:
        request: what the source says.
        found: what the target reads of what was written.
        script: what was written: a first line and directives.
        source: its scheduler's name.
        words: the target's.

    """
    target = words.title
    asked, written = request.components or (request.shape,), found.components or (found.shape,)
    least = bool(words.tops_up) and re.search(words.tops_up, script) is not None
    free = bool(words.may_share) and re.search(words.may_share, script) is not None
    if len(asked) != len(written):
        yield from _in_all(asked, written, target)
        return
    for one, other in zip(asked, written, strict=True):
        yield from _cores(_on_a_node(one), _on_a_node(other), target, least=least)
        if words.slots == "tasks":
            yield from _tasks(one, other, target)
        yield from _memory(_on_a_node(one), _on_a_node(other), target)
        before, after = _on_a_node(one).total_gpus, _on_a_node(other).total_gpus
        if one.gpus is not None and other.gpus is not None and before != after:
            yield ("gpus",), f"{before} GPUs in all become {after} at {target} (change it by hand)"
        yield from _nodes(one, other, source, target, free=free)


def _on_a_node(shape: Shape) -> Shape:
    """What is stated for each node alone is meant of one."""
    alone = shape.node_count is None and (shape.tasks_per_node is not None or shape.cpus_per_node is not None)
    return shape.model_copy(update={"nodes": 1}) if alone else shape


def _in_all(asked: Sequence[Shape], written: Sequence[Shape], target: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Of a job that is one piece on one side and several on the other."""
    for fields, what in ((_CORES, "total_cpus"), (("gpus",), "total_gpus")):
        before = [getattr(shape, what) for shape in asked]
        after = [getattr(shape, what) for shape in written]
        if None not in before and None not in after and sum(before) != sum(after):
            name = "cores" if what == "total_cpus" else "GPUs"
            yield fields, f"{sum(before)} {name} in all become {sum(after)} at {target} (change it by hand)"


def _cores(asked: Shape, written: Shape, target: str, *, least: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = asked.total_cpus, written.total_cpus
    if asked.exclusive and asked.cpus is None and asked.cpus_per_node is None:
        return  # all that the nodes have
    if before is not None and (after or 1) != before and (after is not None or before > 1):
        told = f"{before} cores in all become {after or 1} at {target}, which counts them otherwise"
        rest = "; the others of each node are asked for beside them" if least else ""
        yield _CORES, f"{told}{rest} (choose numbers that divide and fit together)"
        return
    each, on_node = asked.cpus_per_task or 1, _per_node(written)
    if each > 1 and on_node is not None and (written.cpus_per_task or 1) == 1 and on_node % each:
        told = f"tasks of {each} cores do not fill the {on_node} cores that each node gives at {target}"
        yield _CORES, f"{told}: one of them may lie on two nodes (choose tasks that divide over the nodes)"
        return
    counted = (written.cpus_per_task or 1) == 1 and written.node_count is None
    if each > 1 and counted and asked.node_count is None and (asked.task_count or 1) > 1:
        told = f"{target} counts cores alone: those of one task may lie on several nodes"
        yield _CORES, f"{told} (state the nodes, or the site's own word for it)"


def _tasks(asked: Shape, written: Shape, target: str) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = asked.task_count, written.task_count
    if before is not None and after is not None and before != after:
        told = f"{before} tasks in all become {after} at {target}"
        yield ("tasks", "tasks_per_node"), f"{told} (choose tasks that divide over the nodes)"


_ROUNDED = 1.01
"""Schedulers count whole MiB of each core, task or node: so much more is no change."""


def _memory(asked: Shape, written: Shape, target: str) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = _all_memory(asked), _all_memory(written)
    if before is None or after is None or asked.memory is None or written.memory is None:
        return
    if not before <= after <= before * _ROUNDED + 2**20 * (written.total_cpus or 1):
        told = f"{_amount(before)} of memory in all become {_amount(after)} at {target}"
        yield ("memory",), f"{told}, which counts it per {written.memory.per} (state it so there)"


def _all_memory(shape: Shape) -> int | None:
    """Bytes of the whole job; None where a count that it takes is not stated."""
    if shape.memory is None:
        return None
    counts = {
        "job": 1, "node": shape.node_count or 1, "task": shape.task_count, "cpu": shape.total_cpus,
        "gpu": shape.total_gpus,
    }  # fmt: skip
    count = counts[shape.memory.per]
    return shape.memory.bytes * count if count is not None else None


def _amount(size: int) -> str:
    return f"{size / 2**30:.4g} GiB"


def _per_node(shape: Shape) -> int | None:
    if shape.cpus_per_node is not None:
        return shape.cpus_per_node
    return shape.tasks_per_node * (shape.cpus_per_task or 1) if shape.tasks_per_node is not None else None


def _nodes(
    asked: Shape, written: Shape, source: str, target: str, *, free: bool
) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = asked.node_count, written.node_count
    fields = ("nodes", "tasks_per_node", "tasks", "gpus")
    if before is not None and before > 1 and after != before:
        became = f"{after} at {target}" if after is not None else f"as many as {target} likes"
        told = f"{before} nodes become {became}: how the job is spread is lost"
        yield fields, f"{told} (choose what spreads it so there: a parallel environment, an option of the site's)"
    if free and after != 1:
        return  # chunks that may share a node
    if before is None and after is not None and (asked.task_count or 1) > 1 and asked.cpus_per_node is None:
        told = "one node holds all tasks" if after == 1 else f"the tasks lie on {after} nodes"
        yield ("tasks", "tasks_per_node", "gpus"), f"{told} at {target}: {source} was free to choose (state the nodes)"
