"""How a command runs: one event loop, errors as one line with their cure, Ctrl-C without loss."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import NoReturn

import anyio
import typer

from dragoman.errors import DragomanError

__all__ = ["emit", "leave", "run_command", "say"]


def say(words: str) -> None:
    """One line for people, on stderr, so that stdout holds documents only."""
    typer.echo(words, err=True)


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
    """Run an async command and exit with its code; an error of ours is its words and its exit code."""
    try:
        code = anyio.run(command)
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


def _complain(error: DragomanError) -> None:
    logging.getLogger(__name__).debug("command failed", exc_info=error)
    say(f"error: {error}")


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
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stderr.isatty()
