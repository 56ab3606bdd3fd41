"""The one connection to a host that all commands share (ssh_config(5), ControlMaster), found or made.

A master that the user opened themselves (with their token, their card, their certificate) is used as it is and never
ended. Else one of our own is made, which other processes of the same user find too and which ends by itself when it
is idle.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.to_thread

from dragoman.errors import TransportError
from dragoman.site import TransportConfig
from providers.transports.openssh_errors import classify
from providers.transports.openssh_options import base_argv, control_argv, host_of, master_argv, resolve_argv
from providers.transports.openssh_process import say
from providers.transports.openssh_sockets import locked, remove, socket_folder, socket_path
from providers.transports.pacing import HostPacing, pacing_of

__all__ = ["Master", "Resolved", "resolve"]

LOGIN_S = 15.0
"""For the login itself, after the connection is made: a jump, an agent, a slow directory service."""
CHECK_S = 10.0


class Resolved:
    """The user's configuration for a host, as `ssh -G` tells it."""

    def __init__(self, text: str, config: TransportConfig) -> None:
        words = dict(line.split(" ", 1) for line in reversed(text.splitlines()) if " " in line)
        self.host = words.get("hostname") or config.host or ""
        self.user = words.get("user") or config.user or ""
        self.port = words.get("port") or str(config.port or 22)
        path = words.get("controlpath", "none")
        self.control_path = path if path != "none" else ""

    @property
    def identity(self) -> str:
        """`user@host:port`."""
        return f"{self.user}@{self.host}:{self.port}"


async def resolve(config: TransportConfig, environment: Mapping[str, str]) -> Resolved:
    """Ask the client for the configuration in force. Raises `TransportError` where it cannot use it."""
    rc, out, complaint = await say(resolve_argv(config), environment, CHECK_S)
    if rc != 0:
        raise classify(complaint, host=host_of(config), rc=255 if rc is None else rc)
    return Resolved(out, config)


class Master:
    """Finds or makes the shared connection of one host.

    Args:
        config: the site's.
        environment: of the client.
        persist_s: an idle connection of our own ends after this time.
        pacing: instead of the host's own.

    """

    def __init__(
        self,
        config: TransportConfig,
        environment: Mapping[str, str],
        *,
        persist_s: int = 600,
        pacing: HostPacing | None = None,
    ) -> None:
        self._config, self._environment, self._persist_s = config, environment, persist_s
        self._pacing = pacing
        self._socket: str | None = None
        self._mine: str | None = None
        self._state = threading.Lock()

    @property
    def socket(self) -> str | None:
        """The socket of a connection that is not known to be dead."""
        return self._socket

    async def ready(self, resolved: Resolved) -> str:
        """The socket of a connection that is alive: a known one, the user's own, one that is there, or a new one.

        Raises:
            LoginNeeded, HostKeyChanged: a person is needed.
            TransportError: the host cannot be reached, or is left alone for a while.

        """
        if self._socket is not None:
            return self._socket
        if resolved.control_path and await self._alive(resolved.control_path):
            self._socket, self._mine = resolved.control_path, None
            return resolved.control_path
        patience = self._config.connect_timeout_s + LOGIN_S
        try:
            path = await anyio.to_thread.run_sync(self._path)
            async with locked(path, 2 * patience):
                if not await self._alive(str(path)):
                    await anyio.to_thread.run_sync(remove, path)
                    await self._connect(path, resolved, patience)
        except OSError as error:
            raise TransportError(
                f"there is no place for the connection's socket: {error.strerror}",
                where=str(error.filename or "this host"),
                cure="make room, or see to that folder",
            ) from error
        self._socket = self._mine = str(path)
        return self._socket

    def _path(self) -> Path:
        folder = socket_folder(self._environment.get("XDG_RUNTIME_DIR"))
        # Who logs in by another agent or home is another connection.
        who = [self._environment.get(name, "") for name in ("HOME", "SSH_AUTH_SOCK")]
        return socket_path(folder, [*base_argv(self._config), host_of(self._config), *who])

    async def _alive(self, socket: str) -> bool:
        if not await anyio.to_thread.run_sync(os.path.exists, socket):
            return False
        rc, _, _ = await say(control_argv(self._config, socket, "check"), self._environment, CHECK_S)
        return rc == 0

    async def _connect(self, path: Path, resolved: Resolved, patience_s: float) -> None:
        pacing = self._pacing or pacing_of(f"{resolved.host}:{resolved.port}")
        await pacing.turn(patience_s)
        host = host_of(self._config)
        rc, _, complaint = await say(
            master_argv(self._config, str(path), self._persist_s), self._environment, patience_s
        )
        if rc is None:
            error = TransportError(
                f"the login did not finish within {patience_s:g} s", where=host, cure=f"see whether `ssh {host}` works"
            )
        elif rc != 0:
            error = classify(complaint, host=host, rc=rc)
        elif not await self._alive(str(path)):
            error = TransportError("the connection ended as soon as it was made", where=host, cure="try again later")
        else:
            pacing.succeeded()
            return
        pacing.failed(error)
        raise error

    def lost(self, socket: str) -> None:
        """A call over this connection failed: it is not used again before it has been looked at."""
        if self._socket == socket:
            self._socket = None

    async def retire(self, socket: str) -> None:
        """A connection of our own that gives no answer takes no more calls; those it has go on."""
        self.lost(socket)
        if socket == self._mine:
            await say(control_argv(self._config, socket, "stop"), self._environment, CHECK_S)
            await anyio.to_thread.run_sync(remove, Path(socket))

    async def close(self) -> None:
        """End our own connection, for all processes that use it."""
        socket, self._socket, self._mine = self._mine, None, None
        if socket is not None:
            await say(control_argv(self._config, socket, "exit"), self._environment, CHECK_S)
