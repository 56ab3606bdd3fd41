"""What is known about a job while its body is translated: numbers that a variable would tell at run time."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from dragoman.request import JobRequest
from providers.schedulers.script_words import Kept, ScriptWords

__all__ = ["C_SHELLS", "SHELLS", "Given", "shell_of"]

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "yash"})
C_SHELLS = frozenset({"csh", "tcsh"})


def shell_of(interpreter: str) -> str:
    """The shell that an interpreter's line names (`/usr/bin/env bash` is `bash`); empty where it is none."""
    names = [word.rpartition("/")[2] for word in interpreter.split()[:2]]
    return next((name for name in names if name in SHELLS | C_SHELLS), "")


@dataclass(slots=True)
class Given:
    """The job, both schedulers' words, and what has to be said at the script's beginning."""

    source: ScriptWords
    target: ScriptWords
    request: JobRequest
    kept: Kept
    array: bool
    """Whether the target has the job's array."""
    shield: bool = True
    """Whether lines that the target would take for directives are switched off."""
    definitions: dict[str, str] = field(default_factory=dict)
    """Variable to its value, quoted for a shell."""
    positions: bool = False
    """The index of an array's task has to be computed."""

    @property
    def shared_id(self) -> str:
        """What parts a task's index from the job's id, where tasks had ids of their own and have one here."""
        return self.target.shared_id if self.array and not self.source.shared_id else ""

    def constant(self, meaning: str) -> str | None:
        """What the request itself says of it."""
        shape, array = self.request.shape, self.request.array
        per_node = shape.cpus_per_node
        if per_node is None and shape.tasks_per_node is not None:
            per_node = shape.tasks_per_node * (shape.cpus_per_task or 1)
        values: dict[str, object] = {
            "job_name": self.request.name,
            "queue": self.request.queue,
            "account": self.request.account,
            "nodes": shape.node_count,
            "tasks": shape.task_count,
            "tasks_per_node": shape.tasks_per_node,
            "cpus_per_task": shape.cpus_per_task,
            "cpus_on_node": per_node,
            "slots": shape.total_cpus,
            "gpus_on_node": shape.gpus.count if shape.gpus is not None and shape.gpus.per == "node" else None,
        }
        if array is not None and self.array:
            values |= {
                "task_count": array.size,
                "task_first": min(part.first for part in array.ranges),
                "task_last": max(part.last for part in array.ranges),
                "task_step": array.ranges[0].step,
            }
        found = values.get(meaning)
        return None if found is None else str(found)

    def name_for(self, meaning: str) -> tuple[str, str] | None:
        """The target's variable for a meaning, defined at the script's beginning where there is none, and why so."""
        title, target = self.target.title, self.target
        if meaning in ("home", "user"):
            return {"home": "HOME", "user": "USER"}[meaning], "every job has it"
        if meaning == "task" and self.array and self._counted():
            self.positions = True
            return "DRAGOMAN_TASK", f"{title} only counts the tasks of an array: the index is computed"
        if meaning.partition("_")[0] == "task" and not self.array:
            return None
        if meaning == "job_id" and self.shared_id and "task" in target.variables:
            job, task = target.variables["job_id"][0], target.variables["task"][0]
            self.definitions["DRAGOMAN_JOB_ID"] = f'"${{{job}}}{self.shared_id}${{{task}}}"'
            return "DRAGOMAN_JOB_ID", f"all tasks of an array have one {job} at {title}: the task's index is added"
        if meaning in target.variables:
            hint = target.hints.get(meaning)
            return target.variables[meaning][0], f"{title}'s own variable" + (f"; {hint}" if hint else "")
        value = self.constant(meaning)
        name = f"DRAGOMAN_{meaning.upper()}"
        if value is not None:
            self.definitions[name] = shlex.quote(value)
            return name, f"{title} has no variable for it: set to what the script asks for"
        expression = target.expressions.get(meaning)
        if expression is None or (meaning == "submit_dir" and self.kept.work_dir not in (None, ".")):
            return None
        self.definitions[name] = f'"{expression}"'
        return name, f"{title} has no variable for it: set at the beginning"

    def _counted(self) -> bool:
        """Whether the target's count of tasks is another number than their index."""
        array, first = self.request.array, self.target.first_index
        if first is None or array is None:
            return False
        part = array.ranges[0]
        return len(array.ranges) > 1 or part.first != first or part.step != 1
