"""What a scheduler's scripts say besides needs: variables, launchers, output files, mail, where they start.

Each dialect that has scripts carries one `ScriptWords` (`script_words`), written beside it; translating a script from
one scheduler to another needs nothing else. Meanings of variables are words of ours (`MEANINGS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from dragoman.errors import BadRequest
from dragoman.job import JobSpec

__all__ = [
    "MEANINGS", "MPIEXEC", "ONE_HOST", "Fill", "Kept", "Launcher", "Path", "ScriptWords", "Spread", "Writing",
    "mail_letters", "output_path", "plain_writer", "read_path", "write_path",
]  # fmt: skip

MEANINGS: Final = frozenset(
    {
        "account", "array_id", "cpus_on_node", "cpus_per_task", "gpus_on_node", "home", "job_id", "job_name",
        "local_rank", "node_file", "node_list", "node_rank", "nodes", "queue", "rank", "restarts", "slots",
        "submit_dir", "submit_host", "task", "task_count", "task_first", "task_last", "task_step", "tasks",
        "tasks_per_node", "user",
    }
)  # fmt: skip
"""What a variable of a job can tell. `task` is the index within an array, `tasks` the number of MPI ranks,
`slots` that of cores where a scheduler counts those."""


class Fill(StrEnum):
    """What a scheduler fills in for a mark in a file's name."""

    JOB = "job"
    ARRAY = "array"
    TASK = "task"
    NAME = "name"


Path = tuple[str | Fill, ...]
"""A file's name: text, and what is filled in."""


@dataclass(slots=True)
class Kept:
    """What a script says that is no need of the job, but that a script for another scheduler should say too."""

    name: str | None = None
    interpreter: str = ""
    stdout: Path | None = None
    stderr: Path | None = None
    joined: bool | None = None
    """Whether stderr goes to the file of stdout; None: not said."""
    work_dir: str | None = None
    """Where the job starts; None: where its scheduler has it start. `.`: where it was submitted."""
    mail_to: str | None = None
    mail_on: frozenset[str] | None = None
    """Of `begin`, `end`, `fail`; empty: never."""
    inherits: bool | None = None
    """Whether the submitter's whole environment comes along; None: not said."""
    requeue: bool | None = None
    held: bool = False
    """Whether it waits after its submit until it is released."""
    start: datetime | None = None
    """The earliest start, by the clock of the host that submits."""
    array: bool = False

    def part_tasks(self, joint: str) -> None:
        """The task's index behind the job's id in names of files, where all tasks of an array have one id."""
        for told in ("stdout", "stderr"):
            path: Path | None = getattr(self, told)
            if path is not None and Fill.TASK not in path:
                parts = [(part, joint, Fill.TASK) if part is Fill.JOB else (part,) for part in path]
                setattr(self, told, tuple(one for each in parts for one in each))

    def name_files(self, fills: Mapping[Fill, str]) -> None:
        """The job's name itself in names of files, where a scheduler has no mark for it."""
        if self.name is not None and Fill.NAME not in fills:
            for told in ("stdout", "stderr"):
                path: Path | None = getattr(self, told)
                if path is not None:
                    setattr(self, told, tuple(self.name if part is Fill.NAME else part for part in path))


@dataclass(slots=True)
class Writing:
    """Directive lines, and what they cannot say."""

    options: list[str] = field(default_factory=list)
    """Without the prefix."""
    lost: dict[str, str] = field(default_factory=dict)
    """Field of `Kept` to why, with the cure."""

    def add(self, told: str, option: str, value: str | None, quote: Callable[[str], str] = str) -> None:
        """One option, with `{}` for its value; a value that cannot stand in a directive is lost.

        Args:
            told: the field of `Kept`.
            option: such as `-o {}`.
            value: None: not said.
            quote: makes the value one word; raises `BadRequest`.

        """
        if value is None:
            return
        try:
            self.options.append(option.format(quote(value)))
        except BadRequest as error:
            self.lost[told] = str(error)

    def lose(self, why: str, **fields: object) -> None:
        """Fields that have no word here, as far as something is said in them."""
        self.lost.update({name: why for name, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program that starts the tasks of a parallel program."""

    words: tuple[str, ...]
    options: Mapping[str, str]
    """Option to meaning; a meaning that ends with `!` takes no value, `ignored` says nothing of the program."""
    writes: Mapping[str, str]
    """Meaning to option, with `{}` for the value."""
    all_tasks: bool = False
    """Without a number it starts all tasks that the job asked for."""
    cores_too: bool = True
    """Where no tasks were asked for either, it starts one on each core."""
    alone: bool = False
    """It has its own way to start MPI programs: `mpiexec` is not to be counted on beside it."""


MPIEXEC: Final = Launcher(
    words=("mpiexec",),
    options={
        "-n": "tasks", "-np": "tasks", "--np": "tasks", "-ppn": "tasks_per_node", "-perhost": "tasks_per_node",
        "-npernode": "tasks_per_node", "--npernode": "tasks_per_node", "-machinefile": "hosts", "-hostfile": "hosts",
        "--hostfile": "hosts", "--machinefile": "hosts", "-f": "hosts", "-wdir": "work_dir",
    },
    writes={"tasks": "-n {}", "work_dir": "-wdir {}"},
    all_tasks=True,
)  # fmt: skip
"""What the MPI standard (8.8 of MPI 3.1) has every `mpiexec` take; options that only some take are read."""


def _write_nothing(kept: Kept) -> Writing:
    return Writing()


def plain_writer(
    title: str, options: Mapping[str, str], fills: Mapping[Fill, str], quote: Callable[[str], str]
) -> Callable[[Kept], Writing]:
    """What writes `Kept` where each option says one field of it; for `ScriptWords.write`.

    Args:
        title: the scheduler's name.
        options: field of `Kept` to its option, with `{}` for a value (`-o {}`); the others are told as lost.
        fills: marks in file names.
        quote: makes a value one word; raises `BadRequest`.

    """

    def write(kept: Kept) -> Writing:
        writing = Writing()
        for told in ("name", "stdout", "stderr", "work_dir", "mail_to", "joined", "inherits", "requeue", "mail_on"):
            value = getattr(kept, told)
            if told not in options:
                writing.lose(f"{title} has no option for it (say it in the script)", **{told: value})
            elif told in ("stdout", "stderr"):
                output_path(writing, told, value, fills, options[told], quote)
            elif isinstance(value, str):
                writing.add(told, options[told], value, quote)
            elif value:
                writing.options.append(options[told])
        return writing

    return write


class Spread(NamedTuple):
    """How cores that are asked for in all, and not per node, lie on hosts."""

    one_host: bool
    """All on one."""
    words: str = ""
    """The option that decides, where only the site knows what it means."""
    why: str = ""


ONE_HOST: Final = Spread(True)


@dataclass(frozen=True, slots=True)
class ScriptWords:
    """The words of one scheduler's scripts."""

    title: str
    prefix: str
    """How a directive begins."""
    family: str
    """Regular expression of the names of its variables, without groups."""
    variables: Mapping[str, tuple[str, ...]]
    """Meaning to its names; the first is the one that is written."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Names that are understood and not written, to meaning."""
    starts_in: str = "submit"
    """`submit`: where it was submitted; `home`: in the home directory."""
    enters: bool = True
    """Whether an option says where a job starts."""
    inherits: bool = True
    """Whether jobs get the submitter's environment without being told to."""
    joins: bool = False
    """Whether stderr goes to the file of stdout where only that is named."""
    launchers: tuple[Launcher, ...] = (MPIEXEC,)
    """The first is the one that is written."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """Meaning to what is different about its variable here."""
    expressions: Mapping[str, str] = field(default_factory=dict)
    """Meaning to a word of the shell, where there is no variable; told at the script's beginning."""
    commands: frozenset[str] = frozenset()
    """Programs of this scheduler that a script may call."""
    own: frozenset[str] = frozenset()
    """Options that `render` writes for an attempt of ours, and that are written from `Kept` here."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Option to the field of `Kept` that it tells (`mail_on`, `stdout`, ...); `quiet`: nothing is lost without it."""
    options: frozenset[str] = frozenset()
    """Options that begin with one dash and are whole words (`-env`): none is a letter with a value glued to it."""
    quiet: tuple[str, ...] = ()
    """Options as written that say what is so without them."""
    fills: Mapping[Fill, str] = field(default_factory=dict)
    """Marks in file names."""
    mail: Mapping[str, str] = field(default_factory=dict)
    """Words of its mail option to ours."""
    write: Callable[[Kept], Writing] = _write_nothing
    held: str = ""
    """The option that has a job wait until it is released."""
    start: str = ""
    """The option that names the earliest start, as for `strftime`."""
    whole: Callable[[JobSpec, Kept, str], str] | None = None
    """What is handed in, where it is no script with directives: from the job, and the script that it runs."""
    shared_id: str = ""
    """What is put between the job's id and a task's index, where all tasks of an array have one id; empty: each task
    has an id of its own."""
    first_index: int | None = None
    """Tasks of an array are only counted, from this number; None: they have their own indices."""
    slots: Literal["tasks", "cores", "shares"] = "tasks"
    """What its scripts count: tasks of an MPI program; cores, on each of which an MPI library starts a task if it is
    not told how many; or equal shares of the job, into which a launcher puts tasks."""
    cores_as_tasks: bool = False
    """An MPI library finds as many tasks as there are cores only where the script says them as tasks."""
    spread: Callable[[Sequence[str]], Spread | None] = lambda options: None
    """From the options as written, how cores of the whole job lie; None: as the scheduler likes."""
    conditions: str = ""
    """The language of conditions on nodes, where it is that of another scheduler; empty: its own."""
    may_share: str = ""
    """Regular expression of a directive that lets pieces of the job share a node."""
    tops_up: str = ""
    """Regular expression of a directive that asks for cores beyond those of the tasks."""
    local_clock: bool = False
    """Moments are by the clock of the host that submits."""
    threads: str = ""
    """Regular expression, with one group, of words that make it set OMP_NUM_THREADS."""
    joints: str = ",|:"
    """Regular expression of what joins the options of a directive, and says nothing by itself."""
    also_called: tuple[str, ...] = ()
    """Other names of the dialect, as people type them."""
    marks: str = ""
    """Regular expression of a directive's beginning, where `prefix` is only one way to write it."""
    whole_file: bool = False
    """Directives count wherever they stand in the file."""
    told_by: str = ""
    """Regular expression of lines of directives that tell it from others with the same `prefix`: options that only it
    has."""
    told_by_body: str = ""
    """The same of the body's lines: variables that only it sets."""
    related: frozenset[str] = frozenset()
    """Other dialects whose own options are understood."""
    notes: tuple[tuple[str, str], ...] = ()
    """Regular expression of a directive that is written, and what a person has to know about it."""

    def writing(self, kept: Kept) -> Writing:
        """Everything that is said here of `Kept`."""
        found = self.write(kept)
        for told, wanted, option in (
            ("held", kept.held, self.held), ("start", kept.start is not None, self.start),
        ):  # fmt: skip
            if wanted and option:
                found.options.append(kept.start.strftime(option) if told == "start" and kept.start else option)
            elif wanted:
                found.lost[told] = f"{self.title} has no option for it (submit it when it is to start)"
        return found

    @property
    def conditions_in(self) -> str:
        """The language in which it says what a node must be."""
        return self.conditions or self.title

    @property
    def prefix_pattern(self) -> str:
        """Regular expression of a directive's beginning, from the line's."""
        return self.marks or rf"{re.escape(self.prefix)}(?=\s|$|-)"

    def meaning(self, name: str) -> str | None:
        """What a variable tells."""
        found = next((meaning for meaning, names in self.variables.items() if name in names), None)
        return found or self.also.get(name)


def read_path(text: str, fills: Mapping[Fill, str]) -> Path:
    """A file's name with its marks taken apart."""
    marks: dict[str, Fill] = {}
    for fill, mark in fills.items():
        marks.setdefault(mark, fill)
    if not marks:
        return (text,) if text else ()
    pattern = "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))
    return tuple(marks.get(part, part) for part in re.split(f"({pattern})", text) if part)


def write_path(path: Path, fills: Mapping[Fill, str]) -> str | None:
    """A file's name with a scheduler's own marks; None where it has none for something, or text looks like a mark."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, Fill):
            if part not in fills:
                return None
            parts.append(fills[part])
        else:
            if any(mark in part for mark in fills.values()):
                return None
            parts.append(part)
    return "".join(parts)


def output_path(writing: Writing, told: str, path: Path | None, fills: Mapping[Fill, str], option: str,
                quote: Callable[[str], str] = str) -> None:  # fmt: skip
    """An option that names an output file, as far as this scheduler can name it."""
    if path is None:
        return
    text = write_path(path, fills)
    if text is None:
        missing = [part.value for part in path if isinstance(part, Fill) and part not in fills]
        what = " and ".join({"job": "the job's id", "array": "the array's id", "task": "the task's index",
                             "name": "the job's name"}[each] for each in dict.fromkeys(missing))  # fmt: skip
        why = f"no mark for {what} in a file's name" if what else "the name would be taken for a mark"
        writing.lost[told] = f"{why} (the scheduler's own name is used; name a file without it)"
        return
    writing.add(told, option, text, quote)


def mail_letters(kept: Kept, letters: Mapping[str, str], never: str) -> str | None:
    """When to mail, in schedulers that write a letter for each: in the letters' order."""
    if kept.mail_on is None:
        return None
    return "".join(letter for letter, word in letters.items() if word in kept.mail_on) or never
