"""A job spec as a script for qsub (sge_submit(1)).

The job's name is `<name>.<tag>`. Memory is `h_vmem`, which Grid Engine counts per slot. More than one slot needs a
parallel environment, whose name only the site knows: `pe` for slots on one host, `pe_mpi` for several hosts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from providers.schedulers.base import format_clock
from providers.schedulers.directives import checked
from providers.schedulers.job_script import job_lines
from providers.schedulers.plain_words import plain_word
from providers.schedulers.sge_read import TABLE
from providers.schedulers.sge_words import SGE_WORDS
from providers.schedulers.slots import gpus_per_node, left_out, licenses, memory_per_node, refuse, slots_of

__all__ = ["SgeNames", "render_sge_script"]


@dataclass(frozen=True, slots=True)
class SgeNames:
    """What each site calls by a name of its own; None: the site file does not say."""

    pe: str | None = "smp"
    """Parallel environment whose slots lie on one host (`allocation_rule $pe_slots`)."""
    pe_mpi: str | None = None
    """Parallel environment over several hosts; `{}` in it stands for the slots on each (`mpi-{}`)."""
    gpu: str | None = "gpu"
    """Complex that counts GPUs, per slot."""
    memory: str = "h_vmem"
    """Complex that limits memory, per slot."""


_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape",
    "qos": "take it out",
    "shape.local_disk_bytes": "name the site's complex as a native option, such as -l tmpfs=10G",
    "file_systems": "take it out",
}


def render_sge_script(spec: JobSpec, names: SgeNames) -> str:
    """The script, starting with `#!/bin/sh`; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or a need that Grid Engine or this site has no word for.

    """
    refuse(spec, "Grid Engine", _REFUSED)
    native = TABLE.native(spec, never=frozenset({"-t", "-tc"}))
    options = [*TABLE.written(spec), *_resources(spec, names, native), *native.values()]
    lines = ["#!/bin/sh", *[f"#$ {checked(option, where='script')}" for option in options], *left_out(spec)]
    task = ""
    if spec.array is not None:
        task = "${SGE_TASK_ID:-}"
        lines.append("export DRAGOMAN_TASK=${SGE_TASK_ID:-}")
    lines += job_lines(
        spec, job_id="${JOB_ID:-}", restart="${RESTARTED:-0}", task=task, submit_dir=SGE_WORDS.variables["submit_dir"]
    )
    return "\n".join(lines) + "\n"


def _word(value: str, where: str) -> str:
    return plain_word(value, where=where, scheduler="Grid Engine")


def _resources(spec: JobSpec, names: SgeNames, native: Mapping[str, str]) -> list[str]:
    shape, slots = spec.shape, slots_of(spec.shape)
    options: list[str] = []
    if spec.walltime_s is not None:
        options.append(f"-l h_rt={format_clock(spec.walltime_s)}")
    if slots.total > 1 and "-pe" not in native:
        several = slots.nodes is not None and slots.nodes > 1
        free = slots.nodes is None and (shape.tasks or 1) > 1 and "{}" not in (names.pe_mpi or "{}")
        pe = names.pe_mpi if several or free else names.pe
        if pe is None:
            raise BadRequest(
                f"{slots.total} slots need a parallel environment, and the site file names none",
                where="shape",
                cure=f"set paths.{'pe_mpi' if several else 'pe'} of the site (qconf -spl lists them), or give -pe",
            )
        options.append(f"-pe {_word(pe.replace('{}', str(slots.per_node)), 'pe')} {slots.total}")
    memory = memory_per_node(shape)
    if memory is not None:
        per_slot = -(-memory // (slots.per_node or slots.total))
        options.append(f"-l {names.memory}={-(-per_slot // 2**20)}M")
    gpus = gpus_per_node(shape)
    if gpus and not any(re.match(r"-l \w*gpu\w*=", option) for option in native.values()):
        options.append(f"-l {_gpus(spec, names, gpus, slots.per_node or slots.total)}")
    if shape.exclusive:
        options.append("-l exclusive=true")
    if shape.constraint is not None:
        options.append(f"-l {_word(shape.constraint, 'constraint')}")
    options += [f"-l {_word(name, 'licenses')}={count}" for name, count in licenses(spec)]
    return options


def _gpus(spec: JobSpec, names: SgeNames, gpus: int, slots: int) -> str:
    if names.gpu is None:
        cure = "set paths.gpu of the site to the name of its complex, or give a native option such as -l gpu=1"
        raise BadRequest("the site file does not say how GPUs are asked for", where="gpus", cure=cure)
    if spec.shape.gpus is not None and spec.shape.gpus.model is not None and spec.shape.constraint is None:
        cure = "name the site's complex for it as the constraint, such as gpu_type=A100"
        raise BadRequest("Grid Engine has no word of its own for a model of GPU", where="gpus.model", cure=cure)
    if gpus % slots and slots % gpus:
        cure = f"ask for {slots} cores on each node for as many GPUs"
        raise BadRequest(f"{gpus} GPUs cannot be counted per slot of {slots}", where="gpus", cure=cure)
    return f"{names.gpu}={gpus // slots}" if gpus % slots == 0 else f"{names.gpu}={gpus / slots:g}"
