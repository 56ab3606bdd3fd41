"""What `-l select=...`, `-l place=...` and Torque's `-l nodes=...` say about the shape of a job (pbs_resources(7B))."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pydantic import ValidationError

from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.option_rows import Unreadable
from providers.schedulers.pbs_values import read_size
from providers.schedulers.script_draft import ScriptDraft

__all__ = ["Chunk", "read_chunks", "read_nodes", "read_select"]

_MODELS = ("gpu_model", "gputype", "gpu_type", "gpumodel", "gpu_name", "accelerator_model")


@dataclass(frozen=True, slots=True)
class Chunk:
    """`count` equal pieces; None: not stated."""

    count: int
    cpus: int | None = None
    tasks: int | None = None
    threads: int | None = None
    gpus: int | None = None
    memory: int | None = None
    rest: tuple[str, ...] = ()
    """Other resources as `name=value`, and properties, as written."""


def read_select(text: str) -> list[Chunk]:
    """Chunks of `2:ncpus=8:mpiprocs=4+1:ncpus=2:host=n1`. Raises `Unreadable`."""
    return [_chunk(part) for part in text.split("+")]


def _chunk(text: str) -> Chunk:
    items = [item for item in text.strip().split(":") if item]
    count = 1
    if items and items[0].isascii() and items[0].isdigit():
        count = _number(items.pop(0), "the number of chunks")
    known: dict[str, int] = {}
    rest: list[str] = []
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not value or not re.fullmatch(r"[A-Za-z][\w.-]*", name, re.ASCII):
            raise Unreadable(f"{item[:60]!r} is no resource of a chunk (write name=value, joined by :)")
        field = {"ncpus": "cpus", "mpiprocs": "tasks", "ompthreads": "threads", "ngpus": "gpus"}.get(name)
        if field is not None:
            known[field] = _number(value, name, least=0)
        elif name == "mem":
            amount = read_size(value)
            if not amount:
                raise Unreadable(f"{value[:60]!r} is no amount of memory (write it like 64gb)")
            known["memory"] = amount
        else:
            rest.append(item)
    return Chunk(count, rest=tuple(rest), **{name: value for name, value in known.items() if value})


def read_nodes(text: str) -> list[Chunk]:
    """Chunks of Torque's `2:ppn=8:gpus=1:fast+node7:ppn=4`; processors of a node are its tasks. Raises `Unreadable`."""
    return [_node(part) for part in text.split("+")]


def _node(text: str) -> Chunk:
    first, *items = text.strip().split(":")
    if not first:
        raise Unreadable(f"{text[:60]!r} names no nodes (write it like nodes=2:ppn=8)")
    count = _number(first, "nodes") if first.isascii() and first.isdigit() else 1
    rest = [] if first.isdigit() else [first]
    known: dict[str, int] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if equals and name in ("ppn", "gpus"):
            known["tasks" if name == "ppn" else "gpus"] = _number(value, name)
        else:
            rest.append(item)
    return Chunk(count, rest=tuple(rest), **known)


def _number(text: str, what: str, *, least: int = 1) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if number < least:
        cure = "qsub expands no variables: write the number" if "$" in text else f"write a whole number from {least}"
        raise Unreadable(f"{text[:60]!r} is no number for {what} ({cure})")
    return number


def read_chunks(draft: ScriptDraft) -> None:
    """Put the shape, or the components, that `select` (or `nodes`) and `place` only together tell into the draft."""
    told = {name: draft.deferred[f"-l {name}"] for name in ("select", "nodes") if f"-l {name}" in draft.deferred}
    arrangement = _place(draft, alone=not told)
    if not told:
        return
    directive, option = max(told.values(), key=lambda one: one[0].line)
    if len(told) == 2:
        draft.problem(directive, "select and nodes exclude each other (delete one of them)")
        return
    try:
        chunks = _merged((read_select if "select" in told else read_nodes)(option.value))
    except Unreadable as error:
        draft.problem(directive, f"{option.name} {error}")
        return
    uneven = _uneven(chunks) if len(chunks) == 2 else None
    if uneven is not None:
        found = [uneven]
    elif len(chunks) == 1 and arrangement == "free" and chunks[0].tasks == 1:
        found = [_tasks(chunks[0])]
    elif len(chunks) == 1 and arrangement == "pack":
        found = [_nodes(_packed(chunks[0]))]
    else:
        found = [_nodes(chunk) for chunk in chunks]
        if arrangement in ("", "free") and "select" in told and any(chunk.count > 1 for chunk in chunks):
            draft.note(directive, "chunks may share a node to PBS (place is not scatter): they are read as nodes")
    if len(found) == 1:
        draft.set_shape(directive, option.written, **found[0])
        return
    common = dict(draft.shape)
    draft.shape.clear()
    try:
        shapes = tuple(Shape.model_validate({**common, **each}) for each in found)
    except ValidationError as error:
        draft.problem(directive, f"{option.written[:60]!r} is not usable ({error.errors()[0]['msg']})")
        return
    draft.set(directive, option.written, components=shapes)


def _place(draft: ScriptDraft, *, alone: bool) -> str:
    if "-l place" not in draft.deferred:
        return ""
    directive, option = draft.deferred["-l place"]
    parts = option.value.split(":")
    known = {"free", "pack", "scatter", "vscatter", "excl", "exclhost", "shared"}
    if any(part not in known and not part.startswith("group=") for part in parts):
        told = f"{option.value[:60]!r} is no place (write free, pack or scatter, and :excl for whole nodes)"
        draft.problem(directive, told)
        return ""
    if "excl" in parts or "exclhost" in parts:
        draft.set_shape(directive, option.written, exclusive=True)
    if alone or any(part.startswith("group=") or part == "vscatter" for part in parts):
        draft.native(f"-l {option.written}", option.name)
    return next((part for part in parts if part in ("free", "pack", "scatter", "vscatter")), "")


def _merged(chunks: list[Chunk]) -> list[Chunk]:
    """Chunks that differ in nothing but their number, as one."""
    merged: dict[Chunk, int] = {}
    for chunk in chunks:
        alike = Chunk(0, chunk.cpus, chunk.tasks, chunk.threads, chunk.gpus, chunk.memory, chunk.rest)
        merged[alike] = merged.get(alike, 0) + chunk.count
    return [
        Chunk(count, each.cpus, each.tasks, each.threads, each.gpus, each.memory, each.rest)
        for each, count in merged.items()
    ]


def _packed(chunk: Chunk) -> Chunk:
    """All chunks on one host; a chunk that says nothing of tasks is one (`mpiprocs`)."""
    if chunk.tasks is None and chunk.cpus is not None and chunk.count > 1:
        chunk = replace(chunk, tasks=1)
    cpus, tasks, gpus, memory = (
        each * chunk.count if each is not None else None for each in (chunk.cpus, chunk.tasks, chunk.gpus, chunk.memory)
    )
    return Chunk(1, cpus, tasks, chunk.threads, gpus, memory, chunk.rest)


def _nodes(chunk: Chunk) -> dict[str, object]:
    fields: dict[str, object] = {"nodes": chunk.count, **_cores(chunk), **_others(chunk, "node")}
    if chunk.tasks is not None:
        fields["tasks_per_node"] = chunk.tasks
    return fields


def _tasks(chunk: Chunk) -> dict[str, object]:
    cores = _cores(chunk)
    if "cpus_per_node" in cores:
        cores = {"cpus_per_task": cores["cpus_per_node"]}
    return {"tasks": chunk.count, **cores, **_others(chunk, "task")}


def _cores(chunk: Chunk) -> dict[str, object]:
    """Cores per task where the threads fill the chunk; else per node; nothing where each task has just one."""
    fields: dict[str, object] = {}
    if chunk.threads is not None:
        fields["cpus_per_task"] = chunk.threads
    alone = 0 if chunk.threads is None else 1
    if chunk.cpus is not None and chunk.cpus != (chunk.tasks or alone) * (chunk.threads or 1):
        fields["cpus_per_node"] = chunk.cpus
    return fields


def _others(chunk: Chunk, per: str) -> dict[str, object]:
    fields: dict[str, object] = {}
    if chunk.gpus is not None:
        models = [item.partition("=")[2] for item in chunk.rest if item.partition("=")[0].lower() in _MODELS]
        model = models[0].lower() if models and re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", models[0], re.ASCII) else None
        fields["gpus"] = Gpus(count=chunk.gpus, per=per, model=model)  # type: ignore[arg-type]  # node or task
    if chunk.memory is not None:
        fields["memory"] = Memory(bytes=chunk.memory, per=per)  # type: ignore[arg-type]  # node or task
    if chunk.rest:
        fields["constraint"] = ":".join(chunk.rest)
    return fields


def _uneven(chunks: list[Chunk]) -> dict[str, object] | None:
    """`1:mpiprocs=3+2:mpiprocs=2`: seven tasks over three nodes; None where the chunks differ in something else."""
    more, less = chunks
    same = (more.threads, more.gpus, more.memory, more.rest) == (less.threads, less.gpus, less.memory, less.rest)
    if not same or more.tasks is None or less.tasks is None or more.tasks != less.tasks + 1:
        return None
    if _cores(more) != _cores(less):
        return None
    tasks = more.count * more.tasks + less.count * less.tasks
    return {"nodes": more.count + less.count, "tasks": tasks, **_cores(more), **_others(more, "node")}
