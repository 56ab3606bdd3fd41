"""The user's own OpenSSH: their configuration, agent, jump hosts, and one shared connection for each site.

Whatever a person has to do to log in (a token, a certificate for a day), they do it with `ssh` as they are used to;
the connection that they leave open is used, and when it is gone, `LoginNeeded` says so.
"""

from __future__ import annotations

import random
import subprocess
import uuid
from collections.abc import Mapping

import anyio
from anyio.lowlevel import RunVar

from dragoman.errors import TransportError
from dragoman.settings import command_environment
from dragoman.site import TransportConfig
from providers.registry import register_transport
from providers.transports.openssh_errors import classify, never_began, session_refused
from providers.transports.openssh_master import Master, Resolved, resolve
from providers.transports.openssh_options import base_argv, command_argv, host_of, resolve_argv, session_options
from providers.transports.openssh_process import client_environment, talk
from providers.transports.pacing import HostPacing
from providers.transports.remote import RemoteTransport
from providers.transports.remote_breaks import Broken
from providers.transports.remote_frames import Frame

__all__ = ["OpenSshTransport"]

SESSIONS = 8
"""Sessions at once over one connection: servers allow 10 (sshd_config(5), MaxSessions), and others may have some."""

CLIENT_FAILED = 255
"""The exit code of ssh where the client itself failed (ssh(1), EXIT STATUS)."""


@register_transport("openssh")
class OpenSshTransport(RemoteTransport):
    """Runs commands at a site through the `ssh` of this host.

    Args:
        config: host or alias; user, port, files only where they differ from the user's configuration.
        environment: of the client; None: this process's own, without Dragoman's settings and secrets.
        persist_s: an idle connection stays this long, for the next process too.
        pacing: instead of the host's own.

    Raises:
        BadRequest: no host, or values that no option can hold.

    """

    def __init__(
        self,
        config: TransportConfig,
        *,
        environment: Mapping[str, str] | None = None,
        persist_s: int = 600,
        pacing: HostPacing | None = None,
    ) -> None:
        super().__init__(login=config.login_shell, file_timeout_s=config.command_timeout_s)
        self._config = config
        self._host = host_of(config)
        self._base = base_argv(config)
        self._environment = client_environment(command_environment() if environment is None else environment)
        self._master = Master(config, self._environment, persist_s=persist_s, pacing=pacing)
        self._resolved: Resolved | None = None
        self._turns: RunVar[tuple[anyio.Lock, anyio.Semaphore]] = RunVar(f"openssh-{uuid.uuid4().hex}")

    @property
    def identity(self) -> str:
        """`user@host:port` as the user's configuration has it (`ssh -G`); read once, which connects to nothing."""
        if self._resolved is None:
            try:
                # Some tens of milliseconds, once, and only where it is wanted before the first command.
                done = subprocess.run(  # noqa: TID251
                    resolve_argv(self._config), env=self._environment, capture_output=True, timeout=5, check=False,
                    stdin=subprocess.DEVNULL,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired):
                return Resolved("", self._config).identity
            if done.returncode != 0:
                return Resolved("", self._config).identity
            self._resolved = Resolved(done.stdout.decode("utf-8", "replace"), self._config)
        return self._resolved.identity

    def _of_this_loop(self) -> tuple[anyio.Lock, anyio.Semaphore]:
        turns = self._turns.get(None)
        if turns is None:
            turns = (anyio.Lock(), anyio.Semaphore(SESSIONS))
            self._turns.set(turns)
        return turns

    async def _ready(self) -> None:
        await self._connected()

    async def _connected(self) -> str:
        socket = self._master.socket
        if socket is not None:
            return socket
        lock, _ = self._of_this_loop()
        async with lock:
            if self._resolved is None:
                self._resolved = await resolve(self._config, self._environment)
            return await self._master.ready(self._resolved)

    async def _exchange(self, line: str, data: bytes, out: Frame, err: Frame) -> None:
        _, sessions = self._of_this_loop()
        while True:
            socket = await self._connected()
            async with sessions:
                rc = await talk(command_argv(self._config, socket, line), self._environment, data, out, err)
            if out.end is not None and err.end is not None:
                return
            if out.begun or err.begun or not session_refused(err.outside):
                break
            # Others have all sessions that the server allows; nothing was run, and one will be free.
            await anyio.sleep(random.uniform(0.1, 0.5))  # noqa: S311  # no secret
            err.restart()
            out.restart()
        self._master.lost(socket)
        begun = out.begun or err.begun
        said = err.outside if err.outside.strip() or begun else out.outside
        error = classify(said, host=self._host, rc=rc, begun=begun)
        # Other codes are the login shell's own, and a person who is needed is needed for a new connection too.
        if type(error) is TransportError and (rc == CLIENT_FAILED or rc < 0):
            raise Broken(error, begun=begun or not never_began(said))
        raise error

    async def _gave_no_answer(self) -> None:
        socket = self._master.socket
        if socket is not None:
            await self._master.retire(socket)

    async def rsh(self) -> list[str]:
        """Program and options that rsync may use for the same connection, without the host; see rsync(1), --rsh.

        Raises as `run` does.

        """
        return [*self._base, *session_options(await self._connected()), "-T"]

    def doubt(self) -> None:
        """A program that used the connection (`rsh`) lost it: it is looked at before it is used again."""
        if self._master.socket is not None:
            self._master.lost(self._master.socket)

    @property
    def host(self) -> str:
        """The host as `ssh` is given it."""
        return self._host

    @property
    def environment(self) -> Mapping[str, str]:
        """What the ssh client inherits."""
        return self._environment

    async def aclose(self) -> None:
        """Let the connection be: it ends by itself when nobody has used it for a while, and others may use it now."""

    async def disconnect(self) -> None:
        """End our own shared connection at once, for whoever uses it. The user's own is never ended."""
        await self._master.close()
