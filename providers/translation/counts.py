"""Whether a written script asks for as many nodes, cores and GPUs as its source: no number changes without a word.

The target's own reader tells what was written. Schedulers that count slots say nothing of which cores are one task's.
"""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.errors import BadRequest
from dragoman.protocols import Dialect
from dragoman.request import JobRequest
from dragoman.shape import Shape

__all__ = ["changed_counts"]

_CORES = ("cpus_per_task", "cpus_per_node", "cpus", "tasks_per_node", "tasks", "nodes")


def changed_counts(
    request: JobRequest, script: str, writer: Dialect, source: str, target: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Fields of the shape (the one that tells most comes first), and what became of what they say.

    Args:
        request: what the source says.
        script: what was written: a first line and directives.
        writer: the target.
        source: its scheduler's name.
        target: the target's.

    """
    if request.components:
        return
    try:
        found = writer.read_script(script).request
    except BadRequest:
        return
    if found.components:
        return
    asked, written = request.shape, found.shape
    yield from _cores(asked, written, target, least="--mincpus=" in script)
    if asked.gpus is not None and written.gpus is not None and asked.total_gpus != written.total_gpus:
        yield ("gpus",), f"{asked.total_gpus} GPUs in all become {written.total_gpus} at {target} (change it by hand)"
    yield from _nodes(asked, written, source, target)


def _cores(asked: Shape, written: Shape, target: str, *, least: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = asked.total_cpus, written.total_cpus
    if asked.exclusive and asked.cpus is None and asked.cpus_per_node is None:
        return  # all that the nodes have
    if before is not None and (after or 1) != before and (after is not None or before > 1):
        told = f"{before} cores in all become {after or 1} at {target}, which counts them otherwise"
        rest = "; --mincpus asks for the others of each node" if least else ""
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


def _per_node(shape: Shape) -> int | None:
    if shape.cpus_per_node is not None:
        return shape.cpus_per_node
    return shape.tasks_per_node * (shape.cpus_per_task or 1) if shape.tasks_per_node is not None else None


def _nodes(asked: Shape, written: Shape, source: str, target: str) -> Iterator[tuple[tuple[str, ...], str]]:
    before, after = asked.node_count, written.node_count
    fields = ("nodes", "tasks_per_node", "tasks", "gpus")
    if before is not None and before > 1 and after != before:
        became = f"{after} at {target}" if after is not None else f"as many as {target} likes"
        told = f"{before} nodes become {became}: how the job is spread is lost"
        yield fields, f"{told} (choose what spreads it so there: a parallel environment, an option of the site's)"
    if before is None and after is not None and (asked.task_count or 1) > 1 and asked.cpus_per_node is None:
        told = "one node holds all tasks" if after == 1 else f"the tasks lie on {after} nodes"
        yield ("tasks", "tasks_per_node", "gpus"), f"{told} at {target}: {source} was free to choose (state the nodes)"
