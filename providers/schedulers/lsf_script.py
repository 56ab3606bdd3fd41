"""A job spec as a script for `bsub <SCRIPT` (bsub(1)).

The job's name is `<name>.<tag>`, its description the tag. LSF writes its own report into the file of `-o`, and mails
where there is none: so `-o` is a file of the attempt's, and the script sends its output to the job's files itself.

Sizes always carry their unit, because LSF_UNIT_FOR_LIMITS changes what a bare number means. Memory is reserved per host
or per slot by a setting of the site's, so with several slots the request says which it means (`mem=4096MB/host`).
"""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.job import JobSpec
from dragoman.shape import Gpus, Shape
from providers.schedulers.job_output import output_lines
from providers.schedulers.job_script import job_lines
from providers.schedulers.lsf_read import TABLE
from providers.schedulers.lsf_words import LSF_WORDS
from providers.schedulers.plain_words import plain_word
from providers.schedulers.slots import gpus_per_node, left_out, licenses, memory_per_node, refuse, slots_of

__all__ = ["render_lsf_script"]

_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape, or give -R with a compound requirement as a native option",
    "qos": "take it out, or give -sla as a native option",
    "file_systems": "take it out",
}
_MIB = 2**20


def render_lsf_script(spec: JobSpec) -> str:
    """The script, starting with `#!/bin/sh`; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or a need that LSF has no word for.

    """
    refuse(spec, "LSF", _REFUSED)
    native = TABLE.native(spec)
    options = [*TABLE.written(spec), *_resources(spec, native), *native.values()]
    lines = ["#!/bin/sh", *[f"#BSUB {option}" for option in options], *left_out(spec)]
    task = "${LSB_JOBINDEX:-}" if spec.array is not None else ""
    if spec.array is not None:
        lines.append("export DRAGOMAN_TASK=${LSB_JOBINDEX:-}")
    lines += output_lines(spec, task=task)
    return (
        "\n".join(
            [
                *lines,
                *job_lines(
                    spec, job_id="${LSB_JOBID:-}", restart="0", task=task, submit_dir=LSF_WORDS.variables["submit_dir"]
                ),
            ]
        )
        + "\n"
    )


def _word(value: str, where: str, *, bare: bool = False) -> str:
    return plain_word(value, where=where, scheduler="LSF", bare=bare)


def _resources(spec: JobSpec, native: Mapping[str, str]) -> list[str]:
    shape, slots = spec.shape, slots_of(spec.shape)
    options: list[str] = [] if "-n" in native or "-nnodes" in native else [f"-n {slots.total}"]
    if slots.nodes is not None and "-nnodes" not in native:
        span = "hosts=1" if slots.nodes == 1 else f"ptile={slots.per_node}"
        options.append(f'-R "span[{span}]"')
    memory = memory_per_node(shape)
    if memory is not None:
        options += _memory(shape, memory, several=slots.total > 1)
    if shape.local_disk_bytes is not None:
        options.append(f'-R "rusage[tmp={-(-shape.local_disk_bytes // _MIB)}MB]"')
    if shape.gpus is not None and "-gpu" not in native:
        options.append(f'-gpu "{_gpus(shape.gpus, gpus_per_node(shape))}"')
    if shape.constraint is not None:
        text = _word(shape.constraint, "constraint", bare=True)
        options.append(f'-R "{text if "[" in text else f"select[{text}]"}"')
    options += [f'-R "rusage[{name}={count}]"' for name, count in licenses(spec)]
    if shape.exclusive:
        options.append("-x")
    return options


def _memory(shape: Shape, per_node: int, *, several: bool) -> list[str]:
    """The limit of each host (`-M`), and the reservation that makes LSF find a host with that much."""
    amount, per = per_node, "/host" if several else ""
    if several and shape.memory is not None and shape.memory.per == "cpu":
        amount, per = shape.memory.bytes, "/task"
    return [f"-M {-(-per_node // _MIB)}MB", f'-R "rusage[mem={-(-amount // _MIB)}MB{per}]"']


def _gpus(gpus: Gpus, per_node: int) -> str:
    parts = [f"num={per_node}"]
    if gpus.model is not None:
        parts.append(f"gmodel={_word(gpus.model.upper().replace(' ', ''), 'gpus.model', bare=True)}")
    if gpus.memory_bytes is not None:
        parts.append(f"gmem={-(-gpus.memory_bytes // _MIB)}M")
    return ":".join(parts)
