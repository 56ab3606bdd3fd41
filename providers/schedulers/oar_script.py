"""A job spec for oarsub (oarsub(1)): one list of options, written into the script and given on the command line.

oarsub runs a command, and reads directives only of a script that is executable by its path. So the command is `/bin/sh
SCRIPT`, its options stand on the command line, and the same options stand in the script for people to read. The job's
name is `<name>.<tag>`, at most 100 characters.
"""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.job import JobSpec
from providers.schedulers.job_output import output_lines
from providers.schedulers.job_script import job_lines
from providers.schedulers.oar_read import oar_table
from providers.schedulers.oar_words import OAR_WORDS
from providers.schedulers.slots import index_lines, left_out, refuse

__all__ = ["oar_options", "render_oar_script"]

_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape, or give -l as a native option",
    "qos": "take it out, or give -t as a native option",
    "reservation": "give -t inner=<job id> as a native option",
    "licenses": "give -l /license=1 as a native option, where the site counts them",
    "file_systems": "take it out",
    "priority": "take it out",
    "start_after": "give -r 'YYYY-MM-DD HH:MM:SS' as a native option: OAR then keeps that time free or refuses",
    "shape.memory": "OAR gives a host's memory with its cores: give the site's property as the constraint",
    "shape.local_disk_bytes": "give the site's property as the constraint",
}


def render_oar_script(spec: JobSpec, gpu_model: str) -> str:
    """The script, starting with `#!/bin/sh`; the options as directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in an option, or a need that OAR has no word for.

    """
    lines = ["#!/bin/sh", *[f"#OAR {name} {value}".rstrip() for name, value in oar_options(spec, gpu_model)]]
    lines += left_out(spec)
    if len(spec.queues) > 1:
        lines.append("# dragoman: not carried over: further queues: OAR takes one")
    task = ""
    if spec.array is not None:
        lines += index_lines(spec.array, "${OAR_ARRAY_INDEX:-1} - 1")
        task = "$DRAGOMAN_TASK"
    lines += output_lines(spec, task=task)
    job_id = "${OAR_ARRAY_ID:-${OAR_JOB_ID:-}}" if spec.array is not None else "${OAR_JOB_ID:-}"
    return (
        "\n".join(
            [
                *lines,
                *job_lines(spec, job_id=job_id, restart="0", task=task, submit_dir=OAR_WORDS.variables["submit_dir"]),
            ]
        )
        + "\n"
    )


def oar_options(spec: JobSpec, gpu_model: str) -> list[tuple[str, str]]:
    """Options of oarsub as name and value.

    Args:
        spec: the job.
        gpu_model: the site's property that holds a GPU's model.

    Raises:
        BadRequest: see `render_oar_script`.

    """
    refuse(spec, "OAR", _REFUSED)
    options = oar_table(gpu_model)
    native = [(one.name, options.quote(one.value, "native_options") if one.value else "")
              for one in options.own(spec, never={"--array"}).values()]  # fmt: skip
    return [*options.pairs(spec, without={"-l"} & {name for name, _ in native}), *native]
