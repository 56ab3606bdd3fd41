"""Read-only questions to a scheduler: repeated a little where the site gave no answer. A submit never goes this way."""

from __future__ import annotations

import random
from collections.abc import Sequence

import anyio

from dragoman.command import Command, Completed
from dragoman.errors import CommandTimeout, HostKeyChanged, LoginNeeded, TransportError
from dragoman.protocols import Transport

__all__ = ["Asker"]


class Asker:
    """Asks with few round trips.

    Args:
        transport: how commands reach the site.
        tries: how often a question without an answer is put in all.
        pause_s: before the second try; doubled before each further one, and drawn between half and the whole.

    """

    def __init__(self, transport: Transport, *, tries: int = 3, pause_s: float = 0.5) -> None:
        self._transport = transport
        self._tries = tries
        self._pause_s = pause_s

    async def ask(self, commands: Sequence[Command]) -> list[Completed | Exception]:
        """Answers in the commands' order; what stayed without one is its own error.

        A command that ran into its time limit is not put again: the scheduler is overloaded, and asking adds to it.

        Raises:
            LoginNeeded: a person renews the credentials first.
            HostKeyChanged: a person decides first.

        """
        answers: list[Completed | Exception] = [TransportError("was not asked")] * len(commands)
        open_ = list(range(len(commands)))
        for number in range(self._tries):
            if number:
                pause = self._pause_s * 2 ** (number - 1)
                await anyio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - no secret
            for index, answer in zip(open_, await self._once([commands[index] for index in open_]), strict=True):
                answers[index] = answer
                if isinstance(answer, LoginNeeded | HostKeyChanged):
                    raise answer
            open_ = [index for index in open_ if _worth_another(answers[index])]
            if not open_:
                break
        return answers

    async def _once(self, commands: Sequence[Command]) -> list[Completed | Exception]:
        if len(commands) != 1:
            return await self._transport.run_many(commands) if commands else []
        try:
            return [await self._transport.run(commands[0])]
        except Exception as error:  # noqa: BLE001 - the same contract as `run_many`
            return [error]


def _worth_another(answer: Completed | Exception) -> bool:
    return isinstance(answer, TransportError) and answer.transient and not isinstance(answer, CommandTimeout)
