"""A connection that ended before its answer did, and when the same may be said once more over a new one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from dragoman.errors import TransportError

__all__ = ["Broken", "once_more"]

T = TypeVar("T")


class Broken(Exception):
    """The connection ended, or was found dead, before the answer's end. Callers of a transport get its `error`.

    Args:
        error: what the caller is told where it is not tried again.
        begun: whether the command may have begun at the site; no only where it cannot have.

    """

    def __init__(self, error: TransportError, *, begun: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.begun = begun


async def once_more(say: Callable[[], Awaitable[T]], harmless: Callable[[], bool]) -> T:
    """Say something, and once more over a new connection where the first broke and that can do no harm.

    Args:
        say: the exchange, from its beginning.
        harmless: whether it may be said again although it may have begun, as a question may whose answer is not used.

    Raises:
        TransportError: the connection broke, and it was not or not successfully said again.

    """
    try:
        return await say()
    except Broken as broken:
        if broken.begun and not harmless():
            raise broken.error from broken
    try:
        return await say()
    except Broken as broken:
        raise broken.error from broken
