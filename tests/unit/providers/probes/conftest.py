"""A host made of files and command outputs, for probes: what it does not name is shown not to be there."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import pytest
from pydantic import BaseModel

from dragoman.command import Command, Completed
from dragoman.errors import CommandMissing
from dragoman.observation import Answer, Outcome
from providers.probes.base import Ask, FileRead, Probe, Results
from providers.verbs import NoArguments

Reply = Completed | Exception | str | tuple[int, str, str]


@dataclass
class Host:
    """`commands` by the words of the argument list, or by its first word; text is stdout of exit 0."""

    files: dict[str, str | Exception] = field(default_factory=dict)
    commands: dict[str, Reply | Callable[[Command], Reply]] = field(default_factory=dict)
    asked: list[Command] = field(default_factory=list)

    def ask(self, probe: Probe, verb: str, arguments: BaseModel | None = None, **paths: str) -> Answer[Any]:
        """Play the rounds of one verb."""
        found = probe.verb(verb)
        assert found is not None
        given = arguments if arguments is not None else NoArguments()
        commands: dict[str, Completed | Exception] = {}
        files: dict[str, tuple[FileRead, ...]] = {}
        question = found.ask(given, paths)
        for _ in range(6):
            commands |= {name: self._run(command) for name, command in question.commands.items()}
            files |= {path: self._read(path) for path in question.files}
            answer = found.parse(given, Results(commands, files, paths))
            if not isinstance(answer, Ask):
                return answer
            question = answer
        raise AssertionError("the probe never answers")

    def _run(self, command: Command) -> Completed | Exception:
        self.asked.append(command)
        reply = self.commands.get(" ".join(command.argv), self.commands.get(command.argv[0]))
        if callable(reply):
            reply = reply(command)
        if reply is None:
            return CommandMissing(f"there is no {command.argv[0]}")
        if isinstance(reply, Completed | Exception):
            return reply
        rc, out, err = (0, reply, "") if isinstance(reply, str) else reply
        return Completed(command.argv, rc, out.encode(), err.encode())

    def _read(self, pattern: str) -> tuple[FileRead, ...]:
        folders = {posixpath.dirname(path) for path in self.files}
        hits = [path for path in sorted(self.files) if _matches(path, pattern)]
        if hits:
            return tuple(self._one(path) for path in hits)
        names = sorted(
            {path.removeprefix(f"{pattern}/").split("/")[0] for path in self.files if path.startswith(f"{pattern}/")}
        )
        if names or pattern in folders:
            return (FileRead(pattern, Outcome.OK, "\n".join(names).encode(), folder=True),)
        return (FileRead(pattern, Outcome.ABSENT, reason=f"{pattern} is not there"),)

    def _one(self, path: str) -> FileRead:
        text = self.files[path]
        if isinstance(text, Exception):
            return FileRead(path, Outcome.UNKNOWN, reason=str(text))
        return FileRead(path, Outcome.OK, text.encode())


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(fnmatchcase(a, b) for a, b in zip(parts, wanted, strict=True))


@pytest.fixture
def host() -> Host:
    """An empty host."""
    return Host()
