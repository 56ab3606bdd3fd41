"""The frame of probes: what a probe asks of a site, and how the answers become typed facts. No I/O here.

A probe is a class with a category, a name and verbs. A verb is a pair of pure functions: `ask` says which commands to
run and which files to read, `parse` turns the results into an answer, or into a further `Ask` where the second question
depends on the first answer. One shared runner (`providers/probed.py`) puts the questions of many probes together.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from dragoman.command import Command, Completed
from dragoman.errors import CommandMissing
from dragoman.facts import Presence
from dragoman.model import Model
from dragoman.observation import Answer, Category, Outcome
from dragoman.protocols import Verb
from dragoman.secrets import redact
from dragoman.site import Site
from providers.verbs import PROBE, NoArguments

__all__ = [
    "Ask", "FileRead", "Paths", "Probe", "ProbeVerb", "Results", "brief", "missing", "no_answer", "presence",
    "presence_from", "question", "where_is",
]  # fmt: skip

A = TypeVar("A", bound=BaseModel)
F = TypeVar("F", bound=Model)

Paths = Mapping[str, str]
"""`paths` of the site file: where a provider lies that is not on the PATH, by the provider's name."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Commands to run, by a name of the probe's own choice, and files or folders to read.

    `files` are absolute; `*`, `?` and `[...]` are patterns. Of a folder the names in it are read.
    """

    commands: Mapping[str, Command] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRead:
    """One file as it was read: `ok` with its bytes, shown to be `absent`, or `unknown` with the reason."""

    path: str
    outcome: Outcome
    data: bytes = b""
    reason: str = ""
    folder: bool = False

    @property
    def text(self) -> str:
        """As text; bytes that are no UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")

    @property
    def names(self) -> tuple[str, ...]:
        """Names in a folder."""
        return tuple(self.text.splitlines()) if self.folder else ()

    @property
    def value(self) -> str | None:
        """The stripped text of a file that was read; None otherwise."""
        return self.text.strip() if self.outcome is Outcome.OK else None


@dataclass(frozen=True, slots=True)
class Results:
    """What came back for one verb, over all of its rounds."""

    commands: Mapping[str, Completed | Exception] = field(default_factory=dict)
    files: Mapping[str, tuple[FileRead, ...]] = field(default_factory=dict)
    """By path or pattern as asked."""
    paths: Paths = field(default_factory=dict)

    def file(self, path: str) -> FileRead:
        """One file that was asked for by its path; unknown where it was not read."""
        reads = self.files.get(path, ())
        return reads[0] if reads else FileRead(path, Outcome.UNKNOWN, reason="was not read")

    def found(self, pattern: str) -> tuple[FileRead, ...]:
        """What a pattern led to, without what is shown to be absent."""
        return tuple(read for read in self.files.get(pattern, ()) if read.outcome is not Outcome.ABSENT)

    def done(self, name: str) -> Completed | None:
        """A command that ran to its end, whatever its exit code; None otherwise (see `no_answer`)."""
        item = self.commands.get(name)
        return item if isinstance(item, Completed) else None

    def whole(self, name: str) -> Completed | None:
        """A command that ran to its end and whose answer is whole lines (or JSON); None otherwise (see `no_answer`)."""
        done = self.done(name)
        return done if done is not None and not done.truncated and not _cut(done) else None

    def asked(self, name: str) -> bool:
        """Whether a command of that name was already asked, in this or an earlier round."""
        return name in self.commands


@dataclass(frozen=True, slots=True)
class ProbeVerb(Generic[A, F]):
    """One verb of a probe: the shared words of it, and the two pure functions."""

    verb: Verb
    ask: Callable[[A, Paths], Ask]
    parse: Callable[[A, Results], Answer[F] | Ask]
    """Called again with everything so far when it answered with a further `Ask`."""

    @property
    def name(self) -> str:
        """The verb's name."""
        return self.verb.name


class Probe:
    """Finds one kind of resource. Subclasses set three class attributes; `verbs` begins with `presence(...)`."""

    category: ClassVar[Category]
    name: ClassVar[str]
    verbs: ClassVar[tuple[ProbeVerb[Any, Any], ...]]
    path_keys: ClassVar[tuple[str, ...] | None] = None
    """Keys of `paths` in a site's file that it reads; None: its own name. Others are refused there as misspelt."""

    @property
    def id(self) -> str:
        """Such as `software/pip`."""
        return f"{self.category.value}/{self.name}"

    @classmethod
    def for_site(cls, site: Site) -> Probe:
        """The probe as the site's file helps it; most need nothing of it but `paths`."""
        return cls()

    def verb(self, name: str) -> ProbeVerb[Any, Any] | None:
        """The verb of that name."""
        return next((verb for verb in self.verbs if verb.name == name), None)


def presence(
    ask: Callable[[NoArguments, Paths], Ask], parse: Callable[[NoArguments, Results], Answer[Presence] | Ask]
) -> ProbeVerb[NoArguments, Presence]:
    """The verb `probe`, which every provider has."""
    return ProbeVerb(PROBE, ask, parse)


def presence_from(
    verb: ProbeVerb[NoArguments, F], describe: Callable[[F], Presence]
) -> ProbeVerb[NoArguments, Presence]:
    """The verb `probe` where another verb's answer already shows whether the provider is there."""

    def parse(arguments: NoArguments, results: Results) -> Answer[Presence] | Ask:
        answer = verb.parse(arguments, results)
        if isinstance(answer, Ask):
            return answer
        if answer.value is None:
            return Answer[Presence](outcome=answer.outcome, reason=answer.reason)
        return Answer[Presence].ok(describe(answer.value))

    return presence(verb.ask, parse)


def question(*argv: str, timeout_s: float = 10.0, stdin: bytes = b"", **environment: str) -> Command:
    """A read-only command in the C locale, so that field names and numbers are the documented ones."""
    return Command(
        argv=argv,
        stdin=stdin,
        environment={"LC_ALL": "C", "LANGUAGE": "C", **environment},
        timeout_s=timeout_s,
    )


def where_is(name: str, paths: Paths, *, key: str | None = None) -> str:
    """The program to call: by its name on the PATH, or where the site file says for `key`.

    The site file may name the program itself (`/opt/x/bin/NAME`), its folder (`/opt/x/bin`) or the prefix (`/opt/x`).
    """
    path = paths.get(key or name)
    if path is None:
        return name
    folder, last = posixpath.split(path.rstrip("/"))
    if posixpath.basename(folder) == "bin":
        return path
    return posixpath.join(path, name) if last == "bin" else posixpath.join(path, "bin", name)


def no_answer(results: Results, name: str, *, lines: bool = True) -> Answer[Any] | None:
    """The answer that follows from a command that did not run: absent if the site has no such command, else unknown.

    None where the command ran to its end: then its exit code and output have to be read.

    Args:
        results: what came back.
        name: of the command.
        lines: it prints whole lines, or JSON.

    """
    item = results.commands.get(name)
    if isinstance(item, Completed):
        if item.truncated:
            return Answer[Any].unknown(f"{brief(item.argv[0])} answered too much to read")
        if lines and _cut(item):
            return Answer[Any].unknown(f"the answer ends in the middle of a line: {brief(item, 120)}")
        return None
    if isinstance(item, CommandMissing):
        given = [key for key, path in results.paths.items() if len(path) > 1 and path.rstrip("/") in str(item)]
        return missing(str(item), results.paths, *given)
    return Answer[Any].unknown(str(item) if item is not None else f"{name} was not asked")


def missing(reason: str, paths: Paths, *keys: str) -> Answer[Any]:
    """Absent; unknown where the site file says that it is there (`paths`), because one of the two must be wrong."""
    told = [f"`paths.{key}: {paths[key]}`" for key in keys if key in paths]
    if told:
        return Answer[Any].unknown(f"{reason}, but the site file has {' and '.join(told)}: mend or delete it")
    return Answer[Any].absent(reason)


def brief(text: str | Completed, limit: int = 300) -> str:
    """The telling part of a message, on one line: for reasons."""
    if isinstance(text, Completed):
        words = _without_marks(text.err) or _without_marks(text.out) or "no output"
        found = _PROGRAM.search(text.out)
        return brief(f"{found[1] if found else text.argv[0]} exit {text.rc}: {words}", limit)
    # Before it is cut: half a secret is not known as one.
    line = redact(" ".join(text.split())[: limit + 4096])
    return line if len(line) <= limit else line[: limit - 1] + "…"


_PROGRAM = re.compile(r"^dragoman-program (/\S+)$", re.MULTILINE)


def _without_marks(text: str) -> str:
    """What a program said, without the lines by which our own scripts tell where it begins."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("dragoman-")).strip()


def _cut(done: Completed) -> bool:
    """Whether the last line did not end: half of it may hold half a number.

    What ends as JSON does is whole, or is seen not to be where it is read.
    """
    return done.rc == 0 and done.stdout != b"" and not done.stdout.endswith((b"\n", b"\r", b"}", b"]"))
