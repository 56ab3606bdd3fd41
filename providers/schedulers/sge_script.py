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
from providers.schedulers.script_draft import take_options
from providers.schedulers.sge_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.sge_words import SGE_WORDS
from providers.schedulers.slots import array_text, gpus_per_node, left_out, memory_per_node, refuse, slots_of
from providers.schedulers.slurm_options import split_words

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
_NAME = re.compile(r"[^A-Za-z0-9._+-]")


def render_sge_script(spec: JobSpec, names: SgeNames) -> str:
    """The script, starting with `#!/bin/sh`; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or a need that Grid Engine or this site has no word for.

    """
    refuse(spec, "Grid Engine", _REFUSED)
    native = _native(spec)
    options = [*_job(spec), *_resources(spec, names, native), *native.values()]
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


def _name(spec: JobSpec) -> str:
    name = _NAME.sub("_", checked(spec.name, where="name"))
    return f"{'' if name[:1].isalpha() else 'j'}{name}.{spec.tag}"


def _job(spec: JobSpec) -> list[str]:
    options = [
        "-S /bin/sh",
        f"-N {_name(spec)}",
        f"-wd {_word(spec.work_dir, 'work_dir')}",
        f"-o {_path(spec, spec.stdout)}",
        f"-e {_path(spec, spec.stderr)}",
        "-j n",
        "-m n",
        f"-r {'y' if spec.requeue else 'n'}",
    ]
    if spec.account is not None:
        options.append(f"-P {_word(spec.account, 'account')}")
    queues = spec.queues or ((spec.queue,) if spec.queue is not None else ())
    if queues:
        options.append(f"-q {_word(','.join(queues), 'queue')}")
    if spec.reservation is not None:
        options.append(f"-ar {_word(spec.reservation, 'reservation')}")
    if spec.priority is not None:
        options.append(f"-p {spec.priority}")
    if spec.start_after is not None:
        # Read by qsub, which is run with TZ=UTC.
        options.append(f"-a {spec.start_after.strftime('%Y%m%d%H%M.%S')}")
    if spec.dependencies:
        options.append(f"-hold_jid {','.join(_dependency(one.kind, one.job_id) for one in spec.dependencies)}")
    if spec.array is not None:
        first = spec.array.ranges[0].first
        if len(spec.array.ranges) != 1 or first < 1:
            raise BadRequest(
                "Grid Engine takes one range of indices, from 1", where="array", cure="write it like 1-100:2"
            )
        options.append(f"-t {array_text(spec.array)}")
        if spec.array.at_once is not None:
            options.append(f"-tc {spec.array.at_once}")
    return options


def _path(spec: JobSpec, name: str) -> str:
    path = f"{spec.work_dir.rstrip('/')}/{checked(name, where='stdout')}"
    if "$" in path:
        raise BadRequest("a dollar sign in a file name is replaced by Grid Engine", where="stdout", cure="rename it")
    # A colon would end a host's name; in front of the path it says that there is none.
    path = f":{path}" if ":" in path else path
    return _word(f"{path}.$TASK_ID" if spec.array is not None else path, "stdout")


def _dependency(kind: str, job_id: str | None) -> str:
    if kind != "afterany" or job_id is None:
        raise BadRequest(
            f"Grid Engine waits for a job's end, however it ends: it has no {kind}",
            where="dependencies",
            cure="use afterany, and test in the script what the other job left",
        )
    if re.fullmatch(r"\d{1,18}", job_id, re.ASCII) is None:
        raise BadRequest(f"{job_id!r} is no job id of Grid Engine", where="dependencies", cure="give qsub's number")
    return job_id


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
    options += [f"-l {_word(one.replace(':', '='), 'licenses')}{'' if ':' in one else '=1'}" for one in spec.licenses]
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
            raise BadRequest(f"{line[:120]!r} is not one option of qsub", where="native_options", cure="write -l a=b")
        if options[0].name in OUR_OPTIONS | {"-t", "-tc"}:
            raise BadRequest(f"{options[0].name} is not taken from a request", where="native_options", cure="delete it")
        key = options[0].name if options[0].name != "-l" else line
        found[key] = " ".join([options[0].name, *(_word(value, "native_options") for value in options[0].values)])
    return found
