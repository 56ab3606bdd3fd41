"""Resource sets of jsrun(1) of LSF: `-n` sets, each of `-a` tasks, `-c` CPUs and `-g` GPUs, `-r` sets on a node."""

from __future__ import annotations

from typing import Any

from dragoman.shape import Gpus, Memory

__all__ = ["JSRUN", "shape_of_sets"]

JSRUN = {
    "-n": "sets", "--nrs": "sets", "-a": "set_tasks", "--tasks_per_rs": "set_tasks", "-c": "set_cpus",
    "--cpu_per_rs": "set_cpus", "-g": "set_gpus", "--gpu_per_rs": "set_gpus", "-r": "node_sets",
    "--rs_per_host": "node_sets", "-p": "tasks", "--np": "tasks", "-m": "set_memory", "--memory_per_rs": "set_memory",
    "-b": "drop", "--bind": "drop", "-d": "drop", "--launch_distribution": "drop", "-l": "drop",
    "--latency_priority": "drop", "-E": "env", "--env": "env", "-M": "drop", "--smpiargs": "drop", "-o": "drop",
    "--stdio_stdout": "drop", "-k": "drop", "--stdio_stderr": "drop", "-e": "drop", "--stdio_mode": "drop",
    "-X": "drop", "--exit_on_error": "drop", "-h": "drop", "--chdir": "drop",
}  # fmt: skip
"""What each option means; `-m` is in megabytes."""


def shape_of_sets(stated: dict[str, Any]) -> None:
    """Turn what was stated of resource sets into tasks, CPUs, GPUs and memory of the job, in place.

    Raises:
        ValueError: where it cannot be said for each task and the number of sets is not known.

    """
    sets = stated.pop("sets", None)
    each = stated.pop("set_tasks", None)
    cpus, gpus = stated.pop("set_cpus", None), stated.pop("set_gpus", None)
    memory, on_node = stated.pop("set_memory", None), stated.pop("node_sets", None)
    if sets is None and each is None and cpus is None and gpus is None and memory is None and on_node is None:
        return
    if sets is None and "tasks" in stated and stated["tasks"] % (each or 1) == 0:
        sets = stated["tasks"] // (each or 1)
    tasks = each or 1
    if sets is not None:
        stated.setdefault("tasks", sets * tasks)
    if on_node is not None:
        stated["tasks_per_node"] = on_node * tasks
        if sets is not None and (sets <= on_node or sets % on_node == 0):
            stated["nodes"] = max(1, sets // on_node)
            stated["tasks_per_node"] = min(on_node, sets) * tasks
    if cpus is not None:
        if cpus % tasks == 0:
            stated["cpus_per_task"] = cpus // tasks
        else:
            stated["cpus"] = cpus * _known(sets)
    if gpus:
        whole = gpus % tasks == 0
        stated["gpus"] = Gpus(count=gpus // tasks if whole else gpus * _known(sets), per="task" if whole else "job")
    if memory is not None:
        size = memory * 10**6
        each_task = size % tasks == 0
        stated["memory"] = Memory(bytes=size // tasks if each_task else size * _known(sets),
                                  per="task" if each_task else "job")  # fmt: skip


def _known(sets: int | None) -> int:
    if sets is None:
        raise ValueError("the number of resource sets is not stated")
    return sets
