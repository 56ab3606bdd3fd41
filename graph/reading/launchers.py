"""Launch lines (`srun -n 4 ./app`): the launcher's options are needs of the job, and what follows them is the program.

Options and meanings: srun(1) of Slurm, mpirun(1) of Open MPI, mpiexec of MPICH and Intel MPI, aprun(1), flux-run(1),
jsrun(1) of LSF.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dragoman.errors import BadRequest
from dragoman.shape import Gpus, Memory
from dragoman.units import parse_bytes, parse_duration
from graph.reading.resource_sets import JSRUN, shape_of_sets

__all__ = ["LAUNCHERS", "WRAPPERS", "Launch", "read_launch"]

_SRUN = {
    "-n": "tasks", "--ntasks": "tasks", "-N": "nodes", "--nodes": "nodes", "-c": "cpus_per_task",
    "--cpus-per-task": "cpus_per_task", "--ntasks-per-node": "tasks_per_node", "--tasks-per-node": "tasks_per_node",
    "-G": "gpus/job", "--gpus": "gpus/job", "--gpus-per-node": "gpus/node", "--gpus-per-task": "gpus/task",
    "--gres": "gres", "-t": "walltime_s", "--time": "walltime_s", "-p": "queue", "--partition": "queue",
    "--time-min": "walltime_min_s", "--comment": "drop", "--threads-per-core": "drop",
    "-A": "account", "--account": "account", "-q": "qos", "--qos": "qos", "--mem": "memory/node",
    "--mem-per-cpu": "memory/cpu", "--mem-per-gpu": "memory/gpu", "--export": "export", "--reservation": "reservation",
    "-C": "constraint", "--constraint": "constraint", "--exclusive": "exclusive!", "-J": "drop", "--job-name": "drop",
    "--mpi": "drop", "--cpu-bind": "drop", "--cpu_bind": "drop", "--gpu-bind": "drop", "--distribution": "drop",
    "-m": "drop", "-u": "drop!", "-l": "drop!", "--label": "drop!", "--unbuffered": "drop!", "-K": "drop!",
    "--overlap": "drop!", "--exact": "drop!", "-v": "drop!", "-Q": "drop!", "--pty": "drop!",
    "--hint": "drop", "-o": "drop", "--output": "drop", "-e": "drop", "--error": "drop", "--kill-on-bad-exit": "drop!",
}  # fmt: skip
_MPI = {
    "-n": "tasks", "-np": "tasks", "--np": "tasks", "--n": "tasks", "-c": "tasks", "-N": "tasks_per_node",
    "--npernode": "tasks_per_node", "-npernode": "tasks_per_node", "-ppn": "tasks_per_node",
    "-perhost": "tasks_per_node", "--ppn": "tasks_per_node", "-x": "env", "-env": "env2", "-genv": "env2",
    "-genvall": "drop!", "-envall": "drop!", "-hostfile": "drop", "--hostfile": "drop", "-machinefile": "drop",
    "--machinefile": "drop", "-f": "drop", "-host": "drop", "--host": "drop", "-H": "drop", "-hosts": "drop",
    "--map-by": "drop", "-map-by": "drop", "--bind-to": "drop", "-bind-to": "drop", "--rank-by": "drop",
    "-mca": "drop2", "--mca": "drop2", "--prtemca": "drop2", "--oversubscribe": "drop!", "-oversubscribe": "drop!",
    "--report-bindings": "drop!", "-report-bindings": "drop!", "--allow-run-as-root": "drop!", "-v": "drop!",
    "--tag-output": "drop!", "-l": "drop!", "--use-hwthread-cpus": "drop!", "--bind-to-core": "drop!", "-q": "drop!",
    "--cpu-bind": "drop", "-d": "drop", "--depth": "drop", "-wdir": "drop", "--wdir": "drop", "-bootstrap": "drop",
}  # fmt: skip
_APRUN = {"-n": "tasks", "-N": "tasks_per_node", "-d": "cpus_per_task", "-j": "drop", "-cc": "drop", "-e": "env"}
_FLUX = {
    "-n": "tasks", "--ntasks": "tasks", "-N": "nodes", "--nodes": "nodes", "-c": "cpus_per_task",
    "--cores-per-task": "cpus_per_task", "-g": "gpus/task", "--gpus-per-task": "gpus/task", "-t": "walltime_s",
    "--time-limit": "walltime_s", "-q": "queue", "--queue": "queue", "-B": "account", "--bank": "account",
    "--env": "env", "-o": "drop", "-x": "exclusive!", "--exclusive": "exclusive!", "-l": "drop!", "--job-name": "drop",
    "--tasks-per-node": "tasks_per_node", "--gpus-per-node": "gpus/node",
}  # fmt: skip
_LRUN = {"-n": "tasks", "-N": "nodes", "-T": "tasks_per_node", "-g": "gpus/task"}
LAUNCHERS = {
    "srun": _SRUN, "mpirun": _MPI, "mpiexec": _MPI, "mpiexec.hydra": _MPI, "orterun": _MPI, "prterun": _MPI,
    "aprun": _APRUN, "ibrun": _APRUN, "flux": _FLUX, "jsrun": JSRUN, "lrun": _LRUN,
}  # fmt: skip


WRAPPERS = frozenset(
    ("time", "nohup", "nice", "stdbuf", "setsid", "timeout", "taskset", "ionice", "chrt", "strace", "ltrace")
)
"""Programs that run the command behind them, and may stand before a launcher."""


@dataclass(slots=True)
class Launch:
    """A command line taken apart."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    shape: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    environment: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Options that only place or label processes; the site's own launcher decides those."""
    line: tuple[str, ...] = ()
    """The launcher and its options, as written; empty: there is none."""
    unknown: list[str] = field(default_factory=list)
    """Options that are not known; without a glued value, the whole line is then kept as the program."""


def read_launch(argv: tuple[str, ...]) -> Launch:
    """Take leading `NAME=value` words, `env` and a launcher off a command."""
    launch = Launch(argv)
    rest = list(argv)
    if rest and rest[0] == "env" and len(rest) > 1 and "=" in rest[1]:
        rest.pop(0)
    while rest and "=" in rest[0] and rest[0].split("=")[0].isidentifier():
        name, _, value = rest.pop(0).partition("=")
        launch.environment.append((name, value))
    launch.argv = tuple(rest)
    wrapped = _wrapped(rest)
    if wrapped:
        # The command stays whole: what stands before the launcher is a part of it. What the launcher asks for counts.
        inner = read_launch(tuple(wrapped))
        launch.shape, launch.fields = inner.shape, inner.fields
        return launch
    program = rest[0].rsplit("/", 1)[-1] if rest else ""
    table = LAUNCHERS.get(program)
    if table is None or (program == "flux" and rest[1:2] not in (["run"], ["submit"])):
        return launch
    at = 2 if program == "flux" else 1
    whole = launch.argv
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "-":
        if rest[at] == "--":
            at += 1
            break
        at = _option(launch, table, rest, at)
        # Where an unknown option ends is certain only where its value is glued to it.
        if launch.unknown and "=" not in launch.unknown[-1]:
            return Launch(whole, environment=launch.environment, unknown=launch.unknown)
    if ":" in rest[at:]:
        return Launch(whole, environment=launch.environment, unknown=[":"])
    try:
        shape_of_sets(launch.shape)
    except ValueError as error:
        return Launch(whole, environment=launch.environment, unknown=[str(error)])
    launch.argv = tuple(rest[at:])
    launch.line = tuple(rest[:at])
    return launch


def _wrapped(words: list[str]) -> list[str]:
    """The launcher and all behind it, where only wrappers with options of their own stand before; else nothing."""
    if not words or words[0].rsplit("/", 1)[-1] not in WRAPPERS:
        return []
    for at, word in enumerate(words):
        name = word.rsplit("/", 1)[-1]
        if name in LAUNCHERS:
            return words[at:]
        if name not in WRAPPERS and not word.startswith("-") and not re.fullmatch(r"\d[\d,-]*[smhd]?", word):
            return []
    return []


def _option(launch: Launch, table: dict[str, str], rest: list[str], at: int) -> int:
    """Read one option; returns the place of the next word."""
    word = rest[at]
    name, equals, value = word.partition("=")
    if (
        name not in table
        and len(word) > 2
        and not word.startswith("--")
        and word[:2] in table
        and (word[2:].isdigit() or table is JSRUN)
    ):
        name, equals, value = word[:2], "=", word[2:]
    meaning = table.get(name)
    if meaning is None:
        launch.unknown.append(word)
        return at + 1
    count = 0 if meaning.endswith("!") else 2 if meaning.endswith("2") else 1
    values = [value] if equals else rest[at + 1 : at + 1 + count]
    if len(values) < count and not (equals and count):
        launch.unknown.append(word)
        return at + 1
    try:
        _meaning(launch, meaning.rstrip("!"), values, word)
    except (BadRequest, ValueError):
        launch.unknown.append(" ".join(rest[at : at + 1 + (0 if equals else count)]))
    return at + 1 + (0 if equals else count)


def _meaning(launch: Launch, meaning: str, values: list[str], word: str) -> None:
    value = values[0] if values else ""
    kind, _, per = meaning.partition("/")
    if kind in ("sets", "set_tasks", "set_cpus", "node_sets", "set_memory"):
        launch.shape[kind] = _positive(value)
    elif kind == "set_gpus":
        launch.shape[kind] = 0 if value == "0" else _positive(value)
    elif kind in ("tasks", "nodes", "cpus_per_task", "tasks_per_node"):
        low, _, high = value.partition("-")
        launch.shape[kind] = _positive(low)
        if high:
            launch.shape["nodes_max"] = _positive(high)
    elif kind == "gpus":
        model, _, count = value.rpartition(":")
        launch.shape["gpus"] = Gpus(count=_positive(count), per=per, model=model.lower() or None)  # type: ignore[arg-type]  # from the tables
    elif kind == "gres":
        parts = value.split(":")
        if parts[0] != "gpu" or len(parts) > 3:
            raise ValueError(value)
        count = parts[-1] if parts[-1].isdigit() else "1"
        kind_of = parts[1].lower() if len(parts) > 1 and not parts[1].isdigit() else None
        launch.shape["gpus"] = Gpus(count=_positive(count), per="node", model=kind_of)
    elif kind == "memory":
        size = parse_bytes(value + "M" if value.isdigit() else value)
        launch.shape["memory"] = Memory(bytes=size, per=per)  # type: ignore[arg-type]  # from the tables
    elif kind == "exclusive":
        launch.shape["exclusive"] = True
    elif kind == "constraint":
        launch.shape["constraint"] = value
    elif kind in ("walltime_s", "walltime_min_s"):
        launch.fields[kind] = _minutes(value)
    elif kind in ("env", "export"):
        for part in value.split(",") if kind == "export" else [value]:
            name, equals, text = part.partition("=")
            if equals:
                launch.environment.append((name, text))
    elif kind == "env2":
        launch.environment.append((value, values[1]))
    elif kind == "drop" or kind == "drop2":
        launch.dropped.append(" ".join([word, *values]) if "=" not in word else word)
    else:
        launch.fields[kind] = value


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValueError(text)
    return int(text)


def _minutes(text: str) -> int:
    """A scheduler's time option: plain numbers are minutes, `4:00` is four minutes (srun(1))."""
    if text.isdigit():
        return _positive(text) * 60
    if text.count(":") == 1 and "-" not in text:
        minutes, seconds = text.split(":")
        return int(minutes) * 60 + int(seconds)
    if re.fullmatch(r"\d{1,4}-\d{1,2}", text):
        days, hours = text.split("-")
        return int(days) * 86400 + int(hours) * 3600
    return parse_duration(text)
