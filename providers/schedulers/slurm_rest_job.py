"""A job for slurmrestd: what the script's directives tell sbatch, as the fields of a submission.

slurmrestd reads no directives: only the fields beside the script count. They are made from the directives, so that both
ways ask for the same, and an option that has no field is refused, never dropped. Two dialects of fields exist: those of
versions up to 0.0.38, whose values are options of sbatch, and those of the later ones (Slurm 23.11 and newer), which
warn of a field that they do not know and submit without it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping

from dragoman.errors import BadRequest
from dragoman.model import Json, JsonObject
from providers.schedulers.slurm_values import read_duration, read_memory

__all__ = ["job_bodies"]

Field = tuple[str, Callable[[str], Json]]


def _text(value: str) -> Json:
    return value


def _count(value: str) -> Json:
    return int(value)


def _set(number: int) -> Json:
    return {"set": True, "number": number}


def _minutes(value: str) -> int:
    seconds = read_duration(value)
    if seconds is None or seconds == float("inf"):
        raise ValueError(value)
    return -int(-seconds // 60)


def _mebibytes(value: str) -> int:
    size = read_memory(value)
    if size is None:
        raise ValueError(value)
    return -(-size // 2**20)


def _moment(value: str) -> int:
    return int(value.removeprefix("uts"))


def _gres(value: str) -> str:
    """`gpu:a100:4` as `gres/gpu:a100:4`."""
    return ",".join(part if part.startswith("gres/") else f"gres/{part}" for part in value.split(","))


_BOTH: Mapping[str, Field] = {
    "job-name": ("name", _text),
    "comment": ("comment", _text),
    "chdir": ("current_working_directory", _text),
    "output": ("standard_output", _text),
    "error": ("standard_error", _text),
    "array": ("array", _text),
    "dependency": ("dependency", _text),
    "licenses": ("licenses", _text),
    "account": ("account", _text),
    "partition": ("partition", _text),
    "qos": ("qos", _text),
    "reservation": ("reservation", _text),
    "constraint": ("constraints", _text),
    # A list of two numbers, as the description of the older ones has it, is taken and passed over (22.05).
    "nodes": ("nodes", _text),
    "ntasks": ("tasks", _count),
    "ntasks-per-node": ("tasks_per_node", _count),
    "cpus-per-task": ("cpus_per_task", _count),
    "mincpus": ("minimum_cpus_per_node", _count),
}
_OLD: Mapping[str, Field] = {
    **_BOTH,
    "open-mode": ("open_mode", _text),
    "begin": ("begin_time", _text),
    "time": ("time_limit", _minutes),
    "time-min": ("time_minimum", _minutes),
    "priority": ("priority", _text),
    "gres": ("gres", _text),
    "gpus": ("gpus", _text),
    "gpus-per-task": ("gpus_per_task", _text),
    "mem": ("memory_per_node", _mebibytes),
    "mem-per-cpu": ("memory_per_cpu", _mebibytes),
    "mem-per-gpu": ("memory_per_gpu", _mebibytes),
    "exclusive": ("exclusive", lambda _: "exclusive"),
    "hold": ("hold", lambda _: True),
}
_NEW: Mapping[str, Field] = {
    **_BOTH,
    "open-mode": ("open_mode", lambda value: [value.upper()]),
    "begin": ("begin_time", lambda value: _set(_moment(value))),
    "time": ("time_limit", lambda value: _set(_minutes(value))),
    "time-min": ("time_minimum", lambda value: _set(_minutes(value))),
    "gres": ("tres_per_node", _gres),
    "gpus": ("tres_per_job", lambda value: f"gres/gpu:{value}"),
    "gpus-per-task": ("tres_per_task", lambda value: f"gres/gpu:{value}"),
    "mem": ("memory_per_node", lambda value: _set(_mebibytes(value))),
    "mem-per-cpu": ("memory_per_cpu", lambda value: _set(_mebibytes(value))),
    "tmp": ("temporary_disk_per_node", _mebibytes),
    "exclusive": ("shared", lambda _: ["none"]),
    "hold": ("hold", lambda _: True),
}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_WHERE = {"begin": "start_after", "time-min": "walltime_min_s", "priority": "priority"}


def job_bodies(script: str) -> bytes:
    """A submission for old versions of the API and one for new ones, a line each.

    One that its versions have no field for is an empty line, which they refuse.

    Args:
        script: as rendered for sbatch.

    Raises:
        BadRequest: neither has a field for an option.

    """
    options = _options(script)
    made: list[str] = []
    refusals: list[str] = []
    kinds: tuple[tuple[Mapping[str, Field], Json], ...] = ((_OLD, {"PATH": _PATH}), (_NEW, [f"PATH={_PATH}"]))
    for fields, environment in kinds:
        try:
            job: JsonObject = {"environment": environment, **_job(options, fields)}
            made.append(json.dumps({"script": script, "job": job}))
        except _NoFieldError as error:
            refusals.append(str(error))
            made.append("")
    if not any(made):
        name = refusals[0]
        raise BadRequest(
            f"slurmrestd has no field that is known for sbatch's --{name}",
            where=_WHERE.get(name, "native_options"),
            cure="leave it out, or let the site be asked by Slurm's commands (take slurmrestd out of its paths)",
        )
    return "".join(f"{line}\n" for line in made).encode()


class _NoFieldError(Exception):
    """An option that has no field."""


def _options(script: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for line in script.split("\n"):
        if not line.startswith("#SBATCH "):
            if line and not line.startswith("#"):
                break
            continue
        for word in shlex.split(line.removeprefix("#SBATCH ")):
            if word == "hetjob":
                raise BadRequest(
                    "heterogeneous jobs are not handed in through slurmrestd",
                    where="components",
                    cure="ask for one shape, or let the site be asked by Slurm's commands",
                )
            name, equals, value = word.removeprefix("--").partition("=")
            found[name] = value if equals else None
    return found


def _job(options: Mapping[str, str | None], fields: Mapping[str, Field]) -> JsonObject:
    job: JsonObject = {}
    for name, value in options.items():
        if name == "mail-type" and value == "NONE":
            continue  # nothing is mailed where nothing is asked for
        if name in ("requeue", "no-requeue"):
            job["requeue"] = name == "requeue"
            continue
        if name not in fields:
            raise _NoFieldError(name)
        field, convert = fields[name]
        try:
            job[field] = convert(value or "")
        except ValueError:
            raise _NoFieldError(f"{name}={value}") from None
    nodes, each = options.get("nodes") or "", options.get("ntasks-per-node")
    if "ntasks" not in options and nodes.isdigit() and each:
        job["tasks"] = int(nodes) * int(each)  # sbatch counts them itself; here one task would be taken
    return job
