"""How a command runs: one event loop, errors as one line with their cure, Ctrl-C and signals without loss."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NoReturn

import anyio
import typer

from dragoman.errors import DragomanError
from dragoman.secrets import redact

__all__ = ["emit", "leave", "run_command", "say", "tell"]

GRACE_S = 10.0
"""How long a command may take to end after a signal."""


def say(words: str) -> None:
    """One line for people, on stderr: progress, advice and what went wrong."""
    typer.echo(words, err=True)


def tell(words: str) -> None:
    """One line of what was asked for, on stdout."""
    typer.echo(words.encode("utf-8", "backslashreplace").decode())


def emit(document: object) -> None:
    """One JSON document on stdout; a number that JSON does not have is null, half of a character is escaped."""
    try:
        text = json.dumps(document, ensure_ascii=False, indent=2, default=str, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(document, default=str), parse_constant=lambda word: None)
        text = json.dumps(plain, ensure_ascii=False, indent=2)
    typer.echo(text.encode("utf-8", "backslashreplace").decode())


def leave(code: int) -> NoReturn:
    """End the command."""
    raise typer.Exit(code)


def run_command(command: Callable[[], Awaitable[int]]) -> NoReturn:
    """Run an async command and exit with its code; an error of ours is its words and its exit code.

    Ctrl-C, SIGTERM and SIGHUP cancel it, so that what it started on this host ends with it; the exit code is 128 and
    the signal. A second SIGTERM or SIGHUP, or `GRACE_S`, ends it as it is. Where SIGHUP is ignored (`nohup`), it stays
    ignored.
    """
    try:
        code = anyio.run(_until_signal, command)
    except DragomanError as error:
        _complain(error)
        leave(error.exit_code)
    except BaseExceptionGroup as group:
        first = _first(group)
        if first is None:
            raise
        _complain(first)
        leave(first.exit_code)
    except KeyboardInterrupt:
        say("interrupted; nothing is lost: `dragoman threads` shows what goes on")
        leave(130)
    leave(code)


async def _until_signal(command: Callable[[], Awaitable[int]]) -> int:
    if threading.current_thread() is not threading.main_thread():
        return await command()
    loop = asyncio.get_running_loop()
    came: list[signal.Signals] = []

    def end_hard(number: signal.Signals) -> None:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def end(number: signal.Signals) -> None:
        if came:
            end_hard(number)
        came.append(number)
        loop.call_later(GRACE_S, end_hard, number)  # such as a question at the terminal that nobody answers
        scope.cancel()

    heeded = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is not signal.SIG_IGN]
    with anyio.CancelScope() as scope:
        for number in heeded:
            loop.add_signal_handler(number, end, number)
        try:
            return await command()
        finally:
            for number in heeded:
                loop.remove_signal_handler(number)
    # The terminal that a SIGHUP tells of is gone.
    with suppress(OSError):
        say(f"ended by {came[0].name}; nothing is lost: `dragoman threads` shows what goes on")
    return 128 + came[0]


def _complain(error: DragomanError) -> None:
    logging.getLogger(__name__).debug("command failed", exc_info=error)
    say(f"error: {redact(str(error))}")


def _first(group: BaseExceptionGroup[BaseException]) -> DragomanError | None:
    for error in group.exceptions:
        if isinstance(error, DragomanError):
            return error
        if isinstance(error, BaseExceptionGroup):
            inner = _first(error)
            if inner is not None:
                return inner
    return None


def at_terminal() -> bool:
    """Whether a person sits at all ends: nobody is asked about proposals that went into a file."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()
