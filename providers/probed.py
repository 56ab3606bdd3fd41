"""Real providers: a pure probe put to a site over a transport, many questions in few round trips."""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
from pydantic import BaseModel

from dragoman.command import Command, Completed, Told
from dragoman.errors import CommandMissing, CommandTimeout, DragomanError, TransportError, UnknownName
from dragoman.facts import Presence
from dragoman.model import Model
from dragoman.observation import Answer, Category
from dragoman.protocols import Transport, Verb
from providers.probes.base import Ask, FileRead, Paths, Probe, ProbeVerb, Results
from providers.probes.reading import read_command, split_reads
from providers.verbs import NoArguments

__all__ = ["ProbedProvider", "Question", "ask_many", "probe_all"]

MAX_ROUNDS = 6
FILES_AT_ONCE = 250


_Tell = Callable[[Sequence["_Open"]], None]
"""Hears of questions that may have an answer now."""


@dataclass(frozen=True, slots=True)
class Question:
    """One verb of one probe with its arguments."""

    probe: Probe
    verb: str
    arguments: BaseModel = field(default_factory=NoArguments)


@dataclass(slots=True, eq=False)
class _Open:
    """A question under way: what it asks next, and what came back so far."""

    verb: ProbeVerb[Any, Any]
    arguments: BaseModel
    paths: Paths
    ask: Ask = field(default_factory=Ask)
    commands: dict[str, Completed | Exception] = field(default_factory=dict)
    files: dict[str, tuple[FileRead, ...]] = field(default_factory=dict)
    answer: Answer[Any] | None = None

    @property
    def slowest(self) -> float:
        """Seconds that its slowest command is given."""
        return max((command.timeout_s for command in self.ask.commands.values()), default=0.0)

    def begin(self) -> None:
        try:
            self.ask = self.verb.ask(self.arguments, self.paths)
        except Exception as error:  # noqa: BLE001  # a third party's fault must not take the other answers away
            self.answer = _fault(error)

    def take(self) -> None:
        results = Results(self.commands, self.files, self.paths)
        try:
            answer = self.verb.parse(self.arguments, results)
        except Exception as error:  # noqa: BLE001  # output nobody foresaw is an unknown answer for this fact only
            self.answer = _fault(error)
            return
        if isinstance(answer, Ask):
            self.ask = answer
        else:
            self.answer = answer


def _fault(error: Exception) -> Answer[Any]:
    words = str(error) if isinstance(error, DragomanError) else f"{type(error).__name__}: {error}"
    return Answer[Any].unknown(f"the answer could not be read: {words}")


async def ask_many(
    transport: Transport,
    questions: Sequence[Question],
    *,
    paths: Paths | None = None,
    told: Callable[[int, Answer[Any]], None] | None = None,
) -> list[Answer[Any]]:
    """Answers in the order of the questions; one that hangs or fails is unknown and leaves the others alone.

    Each round is one `run_many`: the same command is run once however many probes ask for it, and all files are read
    by one command. Most verbs need one round. Rounds that have nothing to wait for in each other go side by side (see
    `_apart`), and what has come of a round is told while another command of it hangs.

    Args:
        transport: to the site.
        questions: what is asked.
        paths: of the site file.
        told: called with the place of a question as soon as its answer is known.

    Raises:
        UnknownName: a probe has no such verb.

    """
    opened = [_open(question, paths or {}) for question in questions]
    places = {id(one): place for place, one in enumerate(opened)}

    def tell(done: Sequence[_Open]) -> None:
        for one in done:
            if told is not None and one.answer is not None:
                told(places[id(one)], one.answer)

    tell(opened)
    async with anyio.create_task_group() as group:
        for part in _apart([one for one in opened if one.answer is None], local=transport.local):
            group.start_soon(_rounds, transport, part, tell)
    return [one.answer or _ENDLESS for one in opened]


_ENDLESS = Answer[Any].unknown("asked for more and more without an answer")
TOGETHER_S = 0.5
"""Where a command takes long, those that have further questions go on without it after this time."""
QUICK_S = 10.0
"""Commands that are given no more time than this are waited for together."""


def _apart(opened: Sequence[_Open], *, local: bool) -> list[list[_Open]]:
    """Who begins with files alone, who asks quick commands, and who asks slow ones.

    On this host the slow ones go each by themselves, but those that share a command; elsewhere a round trip costs more.
    """
    files = [one for one in opened if not one.ask.commands]
    quick = [one for one in opened if one.ask.commands and one.slowest <= QUICK_S]
    slow = [one for one in opened if one.slowest > QUICK_S]
    parts = [part for part in (files, quick) if part]
    if not local:
        return [*parts, slow] if slow else parts
    shared: list[tuple[set[object], list[_Open]]] = []
    for one in slow:
        keys, members = {_key(command) for command in one.ask.commands.values()}, [one]
        for each in [each for each in shared if each[0] & keys]:
            shared.remove(each)
            keys, members = keys | each[0], [*each[1], *members]
        shared.append((keys, members))
    return [*parts, *(members for _, members in shared)]


async def _rounds(transport: Transport, questions: Sequence[_Open], tell: _Tell) -> None:
    """Ask until all have their answers."""
    async with anyio.create_task_group() as group:
        group.start_soon(_Round(transport, list(questions), tell, group, MAX_ROUNDS).run)


def _open(question: Question, paths: Paths) -> _Open:
    verb = question.probe.verb(question.verb)
    if verb is None:
        known = ", ".join(one.name for one in question.probe.verbs)
        raise UnknownName(f"there is no verb {question.verb!r}", where=question.probe.id, cure=f"it has {known}")
    one = _Open(verb, question.arguments, paths)
    one.begin()
    return one


@dataclass(slots=True)
class _Round:
    """One `run_many` for many questions. Each goes on by itself as soon as all that it asked has come.

    Those that ask for more wait for each other, so that they share the next round, but only for a moment where another
    command hangs.
    """

    transport: Transport
    waiting: list[_Open]
    tell: _Tell
    group: anyio.abc.TaskGroup
    left: int
    """How many rounds there may still be, with this one."""
    ready: list[_Open] = field(default_factory=list)
    """Those that have a further question."""
    ran: dict[object, Completed | Exception] = field(default_factory=dict)
    files: dict[str, tuple[FileRead, ...]] = field(default_factory=dict)

    async def run(self) -> None:
        commands: dict[object, Command] = {}
        for one in self.waiting:
            commands.update({_key(command): command for command in one.ask.commands.values()})
        # What may take long begins first, so that nothing is left to wait for alone at the end.
        commands = dict(sorted(commands.items(), key=lambda item: -item[1].timeout_s))
        keys = list(commands)
        wanted = list(dict.fromkeys(path for one in self.waiting for path in one.ask.files))
        batches = [wanted[start : start + FILES_AT_ONCE] for start in range(0, len(wanted), FILES_AT_ONCE)]
        marks = [secrets.token_hex(12) for _ in batches]
        reading = [read_command(batch, mark) for batch, mark in zip(batches, marks, strict=True)]

        def told(place: int, answer: Completed | Exception) -> None:
            if place < len(reading):
                self.files |= split_reads(answer, batches[place], marks[place])
            else:
                key = keys[place - len(reading)]
                self.ran.setdefault(key, _without_shell(commands[key], answer))
            self._take()

        async with anyio.create_task_group() as beside:
            beside.start_soon(self._go_on_without)
            everything = [*reading, *commands.values()]
            for place, answer in enumerate(await _run_many(self.transport, everything, told)):
                told(place, answer)
            beside.cancel_scope.cancel()
        self._take()
        self._next()

    def _take(self) -> None:
        """Give each question that has all it asked for its results."""
        whole = [
            one
            for one in self.waiting
            if all(path in self.files for path in one.ask.files)
            and all(_key(command) in self.ran for command in one.ask.commands.values())
        ]
        if not whole:
            return
        self.waiting = [one for one in self.waiting if one not in whole]
        for one in whole:
            one.commands |= {name: self.ran[_key(command)] for name, command in one.ask.commands.items()}
            one.files |= {path: self.files[path] for path in one.ask.files}
            one.take()
            if one.answer is None:
                self.ready.append(one)
        self.tell(whole)

    async def _go_on_without(self) -> None:
        while True:
            await anyio.sleep(TOGETHER_S)
            self._next()

    def _next(self) -> None:
        ready, self.ready = self.ready, []
        if ready and self.left > 1:
            self.group.start_soon(_Round(self.transport, ready, self.tell, self.group, self.left - 1).run)
        elif ready:
            for one in ready:
                one.answer = _ENDLESS
            self.tell(ready)


def _key(command: Command) -> object:
    return command.argv, command.stdin, command.cwd, tuple(sorted(command.environment.items())), command.unset


def _without_shell(command: Command, answer: Completed | Exception) -> Completed | Exception:
    """Where there is not even a shell, nothing was shown about the program that it was to look for."""
    if isinstance(answer, CommandMissing) and posixpath.basename(command.argv[0]) in ("sh", "env", "timeout"):
        return TransportError(f"the site has no {command.argv[0]}", cure="mend the PATH there")
    return answer


async def _run_many(transport: Transport, commands: Sequence[Command], told: Told) -> Sequence[Completed | Exception]:
    """All answers; those that were told before the limit stay as they were told."""
    if not commands:
        return []
    limit = sum(command.timeout_s for command in commands) + 30
    try:
        with anyio.fail_after(limit):
            return await transport.run_many(commands, told)
    except DragomanError as error:
        return [error] * len(commands)
    except TimeoutError:
        return [CommandTimeout(f"no answer within {limit:g} s", where=transport.identity)] * len(commands)


async def probe_all(
    transport: Transport, probes: Sequence[Probe], *, paths: Paths | None = None
) -> dict[str, Answer[Presence]]:
    """Which of these are there, by `category/name`, in few round trips."""
    answers = await ask_many(transport, [Question(probe, "probe") for probe in probes], paths=paths)
    return {probe.id: answer for probe, answer in zip(probes, answers, strict=True)}


class ProbedProvider:
    """A `Provider` that asks the site by its probe."""

    def __init__(self, probe: Probe, transport: Transport, paths: Paths | None = None) -> None:
        self.probe = probe
        self.transport = transport
        self.paths: Paths = dict(paths or {})
        self.category: Category = probe.category
        self.name: str = probe.name

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """What can be asked."""
        return {verb.name: verb.verb for verb in self.probe.verbs}

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        """Ask. Everything that goes wrong at the site is an unknown answer.

        Raises:
            UnknownName: there is no such verb.

        """
        return (await ask_many(self.transport, [Question(self.probe, verb, arguments)], paths=self.paths))[0]
