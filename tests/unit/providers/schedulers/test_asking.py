"""Questions are repeated a little where no answer came; nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dragoman.command import Command, Completed, FileStat, Told
from dragoman.errors import CommandMissing, CommandTimeout, DragomanError, LoginNeeded, TransportError
from providers.schedulers.asking import Asker

OK = Completed(("a",), 0, b"", b"")


class Scripted:
    """A transport whose answers to each command are given in their order."""

    identity = "me@here"
    local = True

    def __init__(self, **answers: list[Completed | DragomanError]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, ...]] = []

    async def run(self, command: Command) -> Completed:
        answer = (await self.run_many([command]))[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        self.asked.append(tuple(command.argv[0] for command in commands))
        return [self.answers[command.argv[0]].pop(0) for command in commands]

    async def read_file(self, path: str, *, max_bytes: int = 0, tail: bool = False) -> bytes:
        raise NotImplementedError

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        raise NotImplementedError

    async def stat(self, path: str) -> FileStat | None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError


async def test_only_what_stayed_without_an_answer_is_asked_again() -> None:
    lost = TransportError("lost")
    transport = Scripted(a=[OK], b=[lost, OK], c=[lost, lost, lost])
    answers = await Asker(transport, pause_s=0.01).ask([Command(("a",)), Command(("b",)), Command(("c",))])
    assert answers == [OK, OK, lost]
    assert transport.asked == [("a", "b", "c"), ("b", "c"), ("c",)]


@pytest.mark.parametrize("error", [CommandTimeout("slow"), CommandMissing("none")])
async def test_what_asking_again_would_not_help_is_not_repeated(error: DragomanError) -> None:
    transport = Scripted(a=[error])
    assert await Asker(transport, pause_s=0.01).ask([Command(("a",))]) == [error]
    assert transport.asked == [("a",)]


async def test_credentials_are_for_a_person() -> None:
    transport = Scripted(a=[OK], b=[LoginNeeded("certificate expired")])
    with pytest.raises(LoginNeeded):
        await Asker(transport).ask([Command(("a",)), Command(("b",))])


async def test_nothing_to_ask_asks_nothing() -> None:
    transport = Scripted()
    assert await Asker(transport).ask([]) == []
    assert transport.asked == []
