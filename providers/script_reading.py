"""Job scripts of any scheduler that has them: told apart by their directives, read by its dialect."""

from __future__ import annotations

import re
from dataclasses import replace

from dragoman.errors import BadRequest
from dragoman.protocols import ScriptReading
from providers.registry import dialects

__all__ = ["dialect_of_script", "read_any_script"]

_DIRECTIVES = {
    "SBATCH": "slurm",
    "PBS": "pbs",
    "FLUX": "flux",
    "BSUB": "lsf",
    "$": "sge",
    "OAR": "oar",
    "COBALT": "cobalt",
    "MSUB": "moab",
    "DRAGOMAN": "machine",
}
_LINE = re.compile(r"^#(SBATCH|PBS|flux:|FLUX:|BSUB|OAR|COBALT|MSUB|DRAGOMAN|\$)(?=\s|$|(?<=\$)-)", re.MULTILINE)


def dialect_of_script(text: str) -> str | None:
    """The scheduler whose directives come first; None: it is no job script."""
    match = _LINE.search(text)
    return _DIRECTIVES[match[1].rstrip(":").upper()] if match else None


def read_any_script(text: str) -> ScriptReading:
    """Read a job script by the dialect of its directives; the request's script keeps its first line.

    Raises:
        BadRequest: no scheduler's directives are in it, or its dialect cannot read it.

    """
    name = dialect_of_script(text)
    if name is None:
        known = "#SBATCH, #PBS, #flux:, #BSUB, #$, #OAR"
        raise BadRequest(
            "no scheduler's directives are in the script", where="script", cure=f"begin lines with {known}"
        )
    if name not in dialects.names():
        raise BadRequest(
            f"scripts of {name} cannot be read", where="script", cure=f"known: {', '.join(dialects.names())}"
        )
    reading = dialects.get(name)().read_script(text)
    script = reading.request.script
    if script is not None and reading.interpreter != "/bin/sh":
        # What is handed on runs by its own first line.
        script = f"#!{reading.interpreter}\n{script}"
    request = reading.request.model_copy(update={"script": script, "script_dialect": name})
    return replace(reading, request=request)
