"""How often a host is connected to: a gap between attempts, back-off with jitter, and a pause after many failures."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import anyio

from dragoman.errors import HostKeyChanged, LoginNeeded, TransportError
from dragoman.model import now

__all__ = ["HostPacing", "pacing_of"]


class HostPacing:
    """One host's connection attempts, of all transports of this process.

    Login nodes count new connections and shut out who makes too many. So each attempt waits its turn, a failure doubles
    the wait, and after `failures_allowed` in a row the host is left alone for `pause_s`: whoever asks meanwhile is told
    until when, and nothing is concluded about jobs or files there.

    Args:
        host: for messages.
        gap_s: between attempts, also successful ones.
        first_s: before the second attempt; doubled before each further one, up to `longest_s`, drawn between half and
            the whole.
        longest_s: longest wait between attempts.
        failures_allowed: failures in a row before the pause.
        pause_s: the pause, drawn between this and half as much again.
        clock: monotonic seconds.

    """

    def __init__(
        self,
        host: str,
        *,
        gap_s: float = 0.2,
        first_s: float = 1.0,
        longest_s: float = 60.0,
        failures_allowed: int = 5,
        pause_s: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.host = host
        self._gap_s, self._first_s, self._longest_s = gap_s, first_s, longest_s
        self._allowed, self._pause_s, self._clock = failures_allowed, pause_s, clock
        self._failures = 0
        self._next = 0.0
        self._last: TransportError | None = None
        self._lock = threading.Lock()

    async def turn(self, patience_s: float) -> None:
        """Wait until the next attempt may be made.

        Args:
            patience_s: longest wait that the caller can bear.

        Raises:
            LoginNeeded, HostKeyChanged: the last attempt said so a moment ago; it is not put to the host again yet.
            TransportError: the host is paused, or the wait would be longer than `patience_s`; until when.

        """
        with self._lock:
            wait = self._next - self._clock()
            last = self._last
            if wait <= 0 or (last is None and wait <= patience_s):
                self._next = max(self._next, self._clock()) + self._gap_s
            elif isinstance(last, LoginNeeded | HostKeyChanged):
                raise type(last)(last.what, where=last.where, cure=last.cure)
            elif self._failures >= self._allowed or wait > patience_s:
                raise self._paused(wait)
            else:
                self._next += self._gap_s
        if wait > 0:
            await anyio.sleep(wait)

    def _paused(self, wait: float) -> TransportError:
        until = (now() + timedelta(seconds=wait)).isoformat(timespec="seconds")
        return TransportError(
            f"{self._failures} connections in a row failed; the next is not tried before {until}"
            + (f"; the last: {self._last.what}" if self._last else ""),
            where=self.host,
            cure="nothing is lost; see whether the host is up",
        )

    def failed(self, error: TransportError) -> None:
        """A connection could not be made."""
        with self._lock:
            self._failures += 1
            self._last = error
            if self._failures >= self._allowed:
                wait = random.uniform(self._pause_s, 1.5 * self._pause_s)  # noqa: S311  # no secret
            else:
                longest = min(self._longest_s, self._first_s * 2 ** (self._failures - 1))
                wait = random.uniform(longest / 2, longest)  # noqa: S311  # no secret
            self._next = self._clock() + wait

    def succeeded(self) -> None:
        """A connection was made."""
        with self._lock:
            self._failures = 0
            self._last = None


_HOSTS: dict[str, HostPacing] = {}


def pacing_of(host: str) -> HostPacing:
    """The one pacing of a host (as `host:port`) in this process."""
    return _HOSTS.setdefault(host, HostPacing(host))
