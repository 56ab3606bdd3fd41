"""A job spec as a script for `bsub <SCRIPT` (bsub(1)).

The job's name is `<name>.<tag>`, its description the tag. LSF writes its own report into the file of `-o`, and mails
where there is none: so `-o` is a file of the attempt's, and the script sends its output to the job's files itself.

Sizes always carry their unit, because LSF_UNIT_FOR_LIMITS changes what a bare number means. Memory is reserved per host
or per slot by a setting of the site's, so with several slots the request says which it means (`mem=4096MB/host`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import Dependency
from dragoman.shape import Gpus, Shape
from providers.schedulers.directives import checked
from providers.schedulers.job_output import output_lines, scheduler_log
from providers.schedulers.job_script import job_lines
from providers.schedulers.lsf_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.lsf_words import LSF_WORDS
from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_draft import take_options
from providers.schedulers.slots import array_text, gpus_per_node, left_out, memory_per_node, refuse, slots_of
from providers.schedulers.slurm_options import split_words

__all__ = ["render_lsf_script"]

_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape, or give -R with a compound requirement as a native option",
    "qos": "take it out, or give -sla as a native option",
    "file_systems": "take it out",
}
_CONDITIONS = {"afterok": "done", "afterany": "ended", "afternotok": "exit", "after": "started"}
_MIB = 2**20


def render_lsf_script(spec: JobSpec) -> str:
    """The script, starting with `#!/bin/sh`; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or a need that LSF has no word for.

    """
    refuse(spec, "LSF", _REFUSED)
    native = _native(spec)
    options = [*_job(spec), *_resources(spec, native), *native.values()]
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


def _job(spec: JobSpec) -> list[str]:
    name = re.sub(r"[\[\]/%*]", "_", _word(f"{spec.name}.{spec.tag}", "name", bare=True))
    if spec.array is not None:
        if spec.array.ranges[0].first < 1:
            raise BadRequest("LSF counts the tasks of an array from 1", where="array", cure="write it like 1-100")
        name += f"[{array_text(spec.array)}]" + (f"%{spec.array.at_once}" if spec.array.at_once is not None else "")
    # LSF writes its report of the job there, and mails it where no file is named. It replaces `%J` and the like.
    log = "/dev/null" if "%" in spec.control_dir else _word(scheduler_log(spec), "control_dir")
    options = [
        f'-J "{name}"',
        f"-Jd {spec.tag}",
        f"-cwd {_word(spec.work_dir, 'work_dir')}",
        f"-o {log}",
        f"-e {log}",
        "-r" if spec.requeue else "-rn",
    ]
    if spec.account is not None:
        options.append(f"-P {_word(spec.account, 'account')}")
    queues = spec.queues or ((spec.queue,) if spec.queue is not None else ())
    if queues:
        options.append(f"-q {_word(' '.join(queues), 'queue')}")
    if spec.reservation is not None:
        options.append(f"-U {_word(spec.reservation, 'reservation')}")
    if spec.priority is not None:
        options.append(f"-sp {spec.priority}")
    if spec.walltime_s is not None:
        minutes = math.ceil(spec.walltime_s / 60)
        options.append(f"-W {minutes // 60}:{minutes % 60:02d}")
    if spec.start_after is not None:
        # bsub reads it by its own clock, and is run with TZ=UTC, which is kept from the job.
        options.append(f"-b {spec.start_after.strftime('%Y:%m:%d:%H:%M')}")
        options.append('-env "all,~TZ"')
    if spec.dependencies:
        options.append(f'-w "{" && ".join(_condition(one) for one in spec.dependencies)}"')
    return options


def _condition(dependency: Dependency) -> str:
    word, job_id = _CONDITIONS.get(dependency.kind), dependency.job_id or ""
    if word is None or re.fullmatch(r"\d{1,18}(?:\[\d+\])?", job_id, re.ASCII) is None:
        cure = "give the number that bsub printed" if word else "name the jobs to wait for"
        raise BadRequest(f"LSF cannot wait for {dependency.kind} {job_id!r}", where="dependencies", cure=cure)
    return f"{word}({job_id})"


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
    for one in spec.licenses:
        name, _, count = _word(one, "licenses", bare=True).partition(":")
        options.append(f'-R "rusage[{name}={count or 1}]"')
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


def _native(spec: JobSpec) -> dict[str, str]:
    """Native options by their name, as written.

    Raises:
        BadRequest: not one option, or one that would hide the job or move its files.

    """
    found: dict[str, str] = {}
    for line in spec.native_options:
        words, problem = split_words(checked(line, where="native_options"))
        options = take_options(words, OPTIONS, long=True)
        if problem or len(options) != 1 or options[0].problem or options[0].name not in OPTIONS:
            cure = "write one, such as -app chem"
            raise BadRequest(f"{line[:120]!r} is not one option of bsub", where="native_options", cure=cure)
        if options[0].name in OUR_OPTIONS:
            raise BadRequest(f"{options[0].name} is not taken from a request", where="native_options", cure="delete it")
        key = options[0].name if options[0].name != "-R" else line
        found[key] = " ".join([options[0].name, *(_word(value, "native_options") for value in options[0].values)])
    return found
