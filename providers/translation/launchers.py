"""Lines that start parallel programs: the launcher of one scheduler as that of another; the program stays as it is.

A line with an option that has no equal is left alone and told, because to guess would start something else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from providers.schedulers.script_words import MPIEXEC, Launcher
from providers.translation.given import Given
from providers.translation.report import Edit, Remark
from providers.translation.shell import Command, Scan, Word
from providers.translation.variables import line_at

__all__ = ["apply_edits", "launcher_edits"]

_BEFORE = frozenset(
    {"then", "do", "else", "elif", "if", "while", "until", "!", "time", "{", "exec", "nohup", "env", "command"}
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_ANYWHERE = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "mpirun_rsh")


class _NoEqual(Exception):
    """Why a line is left alone."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with its changes, which do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: each.start):
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*parts, text[at:]])


def launcher_edits(
    text: str, scan: Scan, given: Given, variables: Sequence[Edit]
) -> tuple[list[Edit], list[Remark], set[int]]:
    """Changes that take the place of those of variables within them, what has no equal, and places looked at."""
    edits: list[Edit] = []
    remarks: list[Remark] = []
    seen: set[int] = set()
    variables = sorted(variables, key=lambda each: each.start)
    for command in scan.commands:
        words = _program(text, command)
        name = text[words[0].start : words[0].end].rpartition("/")[2] if words else ""
        launcher = _launcher(name, text, words, given)
        if launcher is None:
            if name in given.source.commands and name not in given.target.commands:
                seen.add(words[0].start)
                why = f"{name} is a command of {given.source.title}, and {given.target.title} has none of that name"
                remarks.append(_remark(text, words, f"{why} (write its own, or delete the line)"))
            continue
        seen.add(words[0].start)
        try:
            edits.append(_changed(text, words, launcher, given, variables))
        except _NoEqual as error:
            remarks.append(_remark(text, words, f"{error}: the line is left as it is"))
    return edits, remarks, seen


def _remark(text: str, words: Sequence[Word], why: str) -> Remark:
    shown = text[words[0].start : words[-1].end].replace("\\\n", " ")
    return Remark(kind="lost", line=line_at(text, words[0].start), words=" ".join(shown.split())[:200], why=why)


def _program(text: str, command: Command) -> Sequence[Word]:
    """The words from the program on, without what may stand before it."""
    words = list(command.words)
    while words:
        word = text[words[0].start : words[0].end]
        if word not in _BEFORE and _ASSIGNMENT.match(word) is None:
            break
        words.pop(0)
    return words


def _launcher(name: str, text: str, words: Sequence[Word], given: Given) -> Launcher | None:
    """The launcher that a command begins with, if the target has another."""
    target = given.target.launchers[0]
    for launcher in (*given.source.launchers, MPIEXEC):
        following = [text[word.start : word.end] for word in words[1 : len(launcher.words)]]
        known = name == launcher.words[0] or (launcher.words == ("mpiexec",) and name in _ANYWHERE)
        if known and following == list(launcher.words[1:]):
            # What the MPI standard has every system take works there too, but where the target has a daemon of its own.
            portable = launcher.words == ("mpiexec",) and not target.alone
            return None if portable or launcher.words == target.words else launcher
    return None


def _changed(text: str, words: Sequence[Word], launcher: Launcher, given: Given, variables: Sequence[Edit]) -> Edit:
    target = given.target.launchers[0]
    said, last = _options(text, words, launcher, variables)
    if any(text[word.start : word.end] == ":" for word in words):
        raise _NoEqual("several programs in one line, joined by a colon, have no equal (change it by hand)")
    name, new = " ".join(launcher.words), " ".join(target.words)
    reasons = [f"{name} is {new} at {given.target.title}"]
    tasks = said.pop("tasks", None)
    if tasks is None:
        tasks = _tasks(said, launcher, given)
        if tasks is None:
            raise _NoEqual(f"how many tasks {name} starts here is not known (write -n with their number)")
        reasons.append(f"{tasks} tasks are what it starts here" if tasks != "1" else "it starts one task here")
    written = [target.writes["tasks"].format(tasks)]
    for meaning, value in said.items():
        if meaning in target.writes:
            written.append(target.writes[meaning].format(value))
        elif meaning == "ignored":
            reasons.append(f"{value} says nothing outside {given.source.title}")
        elif meaning == "hosts" and any(mark in value for mark in given.source.variables.get("node_file", ("\0",))):
            reasons.append(f"{new} knows the job's nodes by itself")
        elif (same := _as_the_job(meaning, value, given)) is not None:
            reasons.append(same)
        else:
            what = meaning.replace("_", " ")
            raise _NoEqual(f"{new} has no equal of {name}'s {what} {value}".rstrip() + " (change it by hand)")
    if tasks == "1" and target.words == ("mpiexec",) and len(written) == 1:
        first_left = next((word for word in words if word.start >= last), None)
        if first_left is not None:
            reason = f"one task needs no launcher, and {given.target.title} has no {name}"
            return Edit(start=words[0].start, end=first_left.start, new="", reason=reason)
    return Edit(start=words[0].start, end=last, new=f"{new} {' '.join(written)}", reason="; ".join(reasons))


def _options(
    text: str, words: Sequence[Word], launcher: Launcher, variables: Sequence[Edit]
) -> tuple[dict[str, str], int]:
    """Meaning to value, with the target's variables in it, and the place behind the last option."""

    def written(word: Word) -> str:
        inside = [
            edit.model_copy(update={"start": edit.start - word.start, "end": edit.end - word.start})
            for edit in variables[_first(variables, word.start) : _first(variables, word.end)]
            if edit.end <= word.end
        ]
        return apply_edits(text[word.start : word.end], inside).replace("\\\n", "")

    name = " ".join(launcher.words)
    said: dict[str, str] = {}
    rest = list(words[len(launcher.words) :])
    last = words[len(launcher.words) - 1].end
    while rest and text[rest[0].start] == "-":
        word = rest.pop(0)
        option = written(word)
        last = word.end
        if option == "--":
            break
        bare, equals, value = option.partition("=")
        short = re.match(r"(-[A-Za-z])(.+)", option)
        if bare not in launcher.options and short is not None and short[1] in launcher.options:
            bare, equals, value = short[1], "=", short[2].removeprefix("=")
        meaning = launcher.options.get(bare)
        if meaning is None:
            raise _NoEqual(f"{name}'s {bare} has no equal (change it by hand)")
        if meaning.endswith("!"):
            said[meaning.rstrip("!")] = ""
            continue
        if not equals:
            if not rest:
                raise _NoEqual(f"{name}'s {bare} has no value (give one)")
            value = written(rest[0])
            last = rest.pop(0).end
        said[meaning] = option if meaning == "ignored" else value
    return said, last


def _first(edits: Sequence[Edit], at: int) -> int:
    """The number of the first change from a place on."""
    return bisect_left(edits, at, key=lambda edit: edit.start)


def _tasks(said: dict[str, str], launcher: Launcher, given: Given) -> str | None:
    """How many tasks a launcher starts without being told."""
    shape = given.request.shape
    nodes, each = said.get("nodes"), said.pop("tasks_per_node", None)
    count = int(nodes) if nodes and nodes.isdigit() else shape.node_count if nodes is None else None
    if each is not None:
        return str(int(each) * count) if each.isdigit() and count is not None else None
    if not launcher.all_tasks:
        return "1"
    if nodes is not None and nodes != str(shape.node_count):
        return None
    if not launcher.cores_too:
        return str(shape.task_count or shape.node_count or 1)
    total = shape.task_count or shape.total_cpus
    return str(total) if total else None


def _as_the_job(meaning: str, value: str, given: Given) -> str | None:
    """Why an option may be left out: it says again what the job's own directives say."""
    shape = given.request.shape
    per_task = shape.gpus.count if shape.gpus is not None and shape.gpus.per == "task" else None
    stated = {
        "nodes": shape.node_count, "cpus_per_task": shape.cpus_per_task, "tasks_per_node": shape.tasks_per_node,
        "gpus_per_task": per_task,
    }.get(meaning)  # fmt: skip
    defined = f"DRAGOMAN_{meaning.upper()}"
    if stated is not None and (value == str(stated) or re.fullmatch(rf'"?\$\{{?{defined}\}}?"?', value)):
        return f"{meaning.replace('_', ' ')} {stated} is what the job asks for"
    return None
