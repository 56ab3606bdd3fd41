"""A job spec as a script for `flux batch` (flux-batch(1), RFC 36 submission directives).

`flux batch`, and not `flux submit`: the script then runs once, in an instance of its own that holds all nodes of the
job, where `flux run` starts tasks; `flux submit` would run the script once for each task. The job's id is the attribute
`jobid` of that instance. Slots are tasks where they are stated, else nodes.

Flux counts nodes, cores and GPUs. Memory and a node's own disk are not counted: a comment in the script says so. There
are no job arrays.
"""

from __future__ import annotations

import re

from dragoman.job import JobSpec
from providers.schedulers.flux_read import TABLE
from providers.schedulers.job_output import output_lines
from providers.schedulers.job_script import job_lines
from providers.schedulers.slots import left_out, refuse

__all__ = ["render_flux_script"]

_SENTINEL = re.compile(r"[^\w\n]*(?:flux|FLUX):")
_JOB_ID = (
    '$(flux job id --to=dec "$(flux getattr jobid 2>/dev/null || '
    'printf \'%s\' "${FLUX_ENCLOSING_ID:-${FLUX_JOB_ID:-}}")" 2>/dev/null)'
)


def render_flux_script(spec: JobSpec) -> str:
    """The script; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or something that Flux has no word for.

    """
    refuse(
        spec,
        "Flux",
        {
            "array": "submit one job for each index, or let the script loop with flux submit",
            "components": "state one shape; flux run inside the job can start different programs",
            "qos": "choose a queue instead",
            "reservation": "choose the queue that the site made for it",
            "licenses": "ask the site for a queue or property that stands for them",
        },
    )
    lines = [f"#flux: {option}" for option in (*TABLE.written(spec), *TABLE.native(spec).values())]
    body = job_lines(spec, job_id=_JOB_ID, restart="0")
    return "\n".join(["#!/bin/sh", *lines, *_not_counted(spec), *output_lines(spec), *_shielded(body)]) + "\n"


def _not_counted(spec: JobSpec) -> list[str]:
    lines = left_out(spec)
    if spec.shape.memory is not None:
        amount = f"{spec.shape.memory.bytes} bytes per {spec.shape.memory.per}"
        lines.append(f"# dragoman: not carried over: memory ({amount}), which Flux does not count")
    if spec.shape.local_disk_bytes is not None:
        lines.append("# dragoman: not carried over: space on the nodes' own disks, which Flux does not count")
    return lines


def _shielded(lines: list[str]) -> list[str]:
    """Flux looks for directives in the whole script and refuses it where one comes late, behind any marks.

    A letter before each line of the body hides them; it is taken off when the job starts.
    """
    start, end = lines.index("dgm_body() { cat <<'DRAGOMAN_BODY'"), lines.index("DRAGOMAN_BODY")
    if not any(_SENTINEL.match(line) for line in lines):
        return lines
    body = [f"b{line}" for line in lines[start + 1 : end]]
    return [*lines[:start], "dgm_body() { LC_ALL=C sed 's/^b//' <<'DRAGOMAN_BODY'", *body, *lines[end:]]
