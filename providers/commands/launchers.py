"""Launchers: what each is told about a layout, and which of them belongs to which scheduler.

Sources: srun(1), flux-run(1), mpirun(1) of Open MPI 4 and 5, mpiexec of MPICH (Hydra) and of Intel MPI, mpiexec of
HPE PALS, aprun(1), jsrun(1) of IBM Spectrum LSF, `lrun` of Livermore, `ibrun` of TACC (which reads the scheduler's
variables and wants no options).
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

from providers.commands.layout import Layout

__all__ = [
    "MPI_LAUNCHERS",
    "SCHEDULERS_OF",
    "is_launcher",
    "launcher_name",
    "launcher_words",
    "own_launcher",
    "works_under",
]

MPI_LAUNCHERS = frozenset(
    (
        "mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra",
        "orterun", "prterun",
    )
)  # fmt: skip
"""Launchers that come with an MPI library and work under most schedulers."""

SCHEDULERS_OF: dict[str, tuple[str, ...]] = {
    "srun": ("slurm",),
    "flux run": ("flux",),
    "flux submit": (),
    "jsrun": ("lsf",),
    "lrun": ("lsf", "slurm"),
    "aprun": ("cobalt", "pbs", "torque", "moab", "slurm"),
    "ibrun": ("slurm", "sge", "pbs"),
}
"""Launchers that exist only where one of these schedulers does."""


_BEFORE = frozenset(("env", "time", "nice", "nohup", "stdbuf", "exec", "command", "timeout", "setsid"))
_SHELLS = frozenset(("sh", "bash", "dash", "ksh", "zsh"))
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def launcher_name(command: Sequence[str]) -> str | None:
    """The launcher that a command begins with; None where it begins with another program."""
    program = posixpath.basename(command[0]) if command else ""
    if program == "flux":
        return f"flux {command[1]}" if len(command) > 1 and command[1] in ("run", "submit") else None
    return program if program in MPI_LAUNCHERS or program in SCHEDULERS_OF else None


def works_under(launcher: str, scheduler: str) -> bool:
    """Whether a launcher starts tasks in jobs of a scheduler."""
    return launcher in MPI_LAUNCHERS or scheduler in SCHEDULERS_OF.get(launcher, ())


def own_launcher(command: Sequence[str]) -> str | None:
    """The launcher that a command starts its tasks with, behind `env`, `time` and the like or in a shell's line."""
    words = list(command)
    while words and posixpath.basename(words[0]) in _BEFORE:
        words = words[1:]
        while words and (words[0].startswith("-") or _ASSIGNMENT.match(words[0]) or words[0].isdecimal()):
            words = words[1:]
    if words and posixpath.basename(words[0]) in _SHELLS and "-c" in words[:-1]:
        line = re.split(r"[\s;&|()]+", words[words.index("-c") + 1])
        return next(filter(None, (launcher_name(line[place:]) for place in range(len(line)))), None)
    return launcher_name(words)


def is_launcher(command: Sequence[str]) -> bool:
    """Whether a command starts its tasks by itself and must not be put behind a launcher again."""
    return own_launcher(command) is not None


def launcher_words(
    program: str,
    layout: Layout,
    *,
    implementation: str | None = None,
    scheduler: str = "",
    options: Sequence[str] = (),
    exported: Sequence[str] = (),
) -> tuple[str, ...]:
    """The launcher with its options as quoted shell words, up to where the command follows.

    Args:
        program: name or path: `srun`, `flux run`, `/opt/openmpi/bin/mpirun`, ...
        layout: what is started.
        implementation: of the MPI library behind `mpirun` and `mpiexec`; None: not known, then they get the options
            that all of them have.
        scheduler: the site's, where a launcher has to be told its hosts.
        options: the site's own, put last.
        exported: names of variables that all tasks need.

    """
    name = launcher_name(program.split(" ") if program.startswith("flux ") else [program]) or posixpath.basename(
        program
    )
    first = tuple(program.split(" ")) if program.startswith("flux ") else (program,)
    make = _MPI.get(implementation or "", _any_mpi) if name in MPI_LAUNCHERS else _OWN.get(name, _nothing)
    words = [*map(shlex.quote, first), *make(layout, exported)]
    if name in MPI_LAUNCHERS and scheduler == "oar" and layout.several_nodes:
        words += _HOSTS_OF_OAR.get(implementation or "", ())
    return (*words, *map(shlex.quote, options))


def _srun(layout: Layout, exported: Sequence[str]) -> list[str]:
    """All variables are passed on as it is. CPUs are told again: since 22.05 a step does not inherit them."""
    words = [f"--nodes={layout.nodes}"] if layout.nodes else []
    words.append(f"--ntasks={layout.tasks}")
    if layout.tasks_per_node:
        words.append(f"--ntasks-per-node={layout.tasks_per_node}")
    if layout.cpus_per_task:
        words += [f"--cpus-per-task={layout.cpus_per_task}", "--cpu-bind=cores"]
    if layout.gpus_per_task:
        words.append(f"--gpus-per-task={layout.gpus_per_task}")
    return words


def _flux(layout: Layout, exported: Sequence[str]) -> list[str]:
    """All variables are passed on. By itself Flux binds all tasks of a node to the same cores and GPUs together."""
    words = [f"--nodes={layout.nodes}"] if layout.nodes else []
    words.append(f"--ntasks={layout.tasks}")
    if layout.cpus_per_task:
        words += [f"--cores-per-task={layout.cpus_per_task}", "--setopt=cpu-affinity=per-task"]
    if layout.gpus_per_task:
        words += [f"--gpus-per-task={layout.gpus_per_task}", "--setopt=gpu-affinity=per-task"]
    return words


def _openmpi(layout: Layout, exported: Sequence[str]) -> list[str]:
    """Variables do not reach other nodes unless they are named."""
    words = ["-n", str(layout.tasks)]
    cpus = layout.cpus_per_task or 1
    if layout.tasks_per_node and layout.several_nodes:
        binding = f":PE={cpus}" if cpus > 1 else ""
        words += ["--map-by", f"ppr:{layout.tasks_per_node}:node{binding}"]
    elif cpus > 1:
        words += ["--map-by", f"slot:PE={cpus}"]
    if layout.shared:
        words += ["--oversubscribe", "--bind-to", "none"]
    elif cpus > 1:
        words += ["--bind-to", "core"]
    if layout.several_nodes:
        words += [word for name in exported for word in ("-x", name)]
    return words


def _hydra(layout: Layout, exported: Sequence[str]) -> list[str]:
    """MPICH and MVAPICH: every variable is passed on as it is."""
    words = ["-n", str(layout.tasks)]
    if layout.tasks_per_node and layout.several_nodes:
        words += ["-ppn", str(layout.tasks_per_node)]
    if layout.cpus_per_task and layout.cpus_per_task > 1 and not layout.shared:
        words += ["-bind-to", f"core:{layout.cpus_per_task}"]
    return words


def _intel(layout: Layout, exported: Sequence[str]) -> list[str]:
    words = ["-n", str(layout.tasks)]
    if layout.tasks_per_node and layout.several_nodes:
        words += ["-ppn", str(layout.tasks_per_node)]
    if layout.cpus_per_task and layout.cpus_per_task > 1 and not layout.shared:
        words += ["-genv", "I_MPI_PIN_DOMAIN", str(layout.cpus_per_task)]
    return words


def _pals(layout: Layout, exported: Sequence[str]) -> list[str]:
    """The mpiexec of HPE PALS, where the library is Cray MPICH."""
    return _in_depth(layout, "--ppn", "--depth", "--cpu-bind")


def _any_mpi(layout: Layout, exported: Sequence[str]) -> list[str]:
    return ["-n", str(layout.tasks)]


def _aprun(layout: Layout, exported: Sequence[str]) -> list[str]:
    return _in_depth(layout, "-N", "-d", "-cc")


def _in_depth(layout: Layout, per_node: str, depth: str, bind: str) -> list[str]:
    """Launchers of Cray's systems: cores of a task are its depth."""
    words = ["-n", str(layout.tasks)]
    if layout.tasks_per_node:
        words += [per_node, str(layout.tasks_per_node)]
    if layout.cpus_per_task and layout.cpus_per_task > 1:
        words += [depth, str(layout.cpus_per_task), bind, "depth"]
    return words


def _jsrun(layout: Layout, exported: Sequence[str]) -> list[str]:
    """One resource set for each task, so that each has its own cores and GPUs."""
    cpus = layout.cpus_per_task or 1
    words = ["--nrs", str(layout.tasks), "--tasks_per_rs", "1", "--cpu_per_rs", str(cpus)]
    gpus = layout.gpus_per_task
    if gpus is None and layout.gpus_per_node and layout.tasks_per_node == layout.gpus_per_node:
        gpus = 1
    if gpus:
        words += ["--gpu_per_rs", str(gpus)]
    if layout.tasks_per_node:
        words += ["--rs_per_host", str(layout.tasks_per_node)]
    return [*words, "--bind", f"packed:{cpus}"]


def _lrun(layout: Layout, exported: Sequence[str]) -> list[str]:
    words = ["-N", str(layout.nodes)] if layout.nodes else []
    if layout.tasks_per_node and layout.nodes:
        words += ["-T", str(layout.tasks_per_node)]
    else:
        words += ["-n", str(layout.tasks)]
    if layout.cpus_per_task:
        words += ["-c", str(layout.cpus_per_task)]
    if layout.gpus_per_task:
        words += ["-g", str(layout.gpus_per_task)]
    return words


def _nothing(layout: Layout, exported: Sequence[str]) -> list[str]:
    return []


_Make = Callable[[Layout, Sequence[str]], list[str]]
_OWN: dict[str, _Make] = {
    "srun": _srun, "flux run": _flux, "jsrun": _jsrun, "lrun": _lrun, "aprun": _aprun, "ibrun": _nothing,
}  # fmt: skip
_MPI: dict[str, _Make] = {
    "openmpi": _openmpi, "spectrum-mpi": _openmpi, "mpich": _hydra, "mvapich": _hydra, "intel-mpi": _intel,
    "cray-mpich": _pals,
}  # fmt: skip
_HOSTS_OF_OAR = {
    "openmpi": ("--hostfile", '"$OAR_NODEFILE"', "--mca", "plm_rsh_agent", "oarsh"),
    "mpich": ("-f", '"$OAR_NODEFILE"', "-launcher", "ssh", "-launcher-exec", "oarsh"),
    "mvapich": ("-f", '"$OAR_NODEFILE"', "-launcher", "ssh", "-launcher-exec", "oarsh"),
    "intel-mpi": ("-f", '"$OAR_NODEFILE"', "-bootstrap", "ssh", "-bootstrap-exec", "oarsh"),
}
"""OAR's hosts are reached through oarsh alone, and no MPI library reads its node file by itself."""
