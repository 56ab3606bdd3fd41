"""ssh by library, for services: a key of their own, known hosts, one connection that is made anew when it is lost."""

from __future__ import annotations

import random
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import asyncssh
from anyio.lowlevel import RunVar
from asyncssh.constants import EXTENDED_DATA_STDERR

from dragoman.errors import TransportError
from dragoman.site import TransportConfig
from providers.registry import register_transport
from providers.transports.asyncssh_errors import classify
from providers.transports.openssh_options import host_of
from providers.transports.own_user import own_user
from providers.transports.pacing import HostPacing, pacing_of
from providers.transports.remote import RemoteTransport
from providers.transports.remote_breaks import Broken
from providers.transports.remote_frames import Frame

__all__ = ["AsyncSshTransport"]

SESSIONS = 8
"""Sessions at once over one connection: servers allow 10 (sshd_config(5), MaxSessions)."""
KEEPALIVE_S = 15


@dataclass(slots=True)
class _Link:
    """What one event loop holds."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    sessions: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(SESSIONS))
    connection: asyncssh.SSHClientConnection | None = None
    retired: list[asyncssh.SSHClientConnection] = field(default_factory=list)
    """Connections that gave no answer: they get no more calls, and those that they have go on."""

    def drop(self, connection: asyncssh.SSHClientConnection) -> None:
        """Give this connection no more calls; one that was made since is kept."""
        if self.connection is connection:
            self.retired.append(connection)
            self.connection = None


class _Session(asyncssh.SSHClientSession[bytes]):
    """Feeds the frames of one exchange."""

    def __init__(self, out: Frame, err: Frame) -> None:
        self.out, self.err = out, err
        self.done = anyio.Event()
        self.fault: Exception | None = None

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        (self.err if datatype == EXTENDED_DATA_STDERR else self.out).feed(data)
        if self.out.end is not None and self.err.end is not None:
            self.done.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.fault = exc
        self.done.set()


def _same(session: _Session) -> _Session:
    return session


@register_transport("asyncssh")
class AsyncSshTransport(RemoteTransport):
    """Runs commands at a site over a connection of this process.

    Host keys are always verified: by `known_hosts`, or the user's own file. No password is ever tried, no terminal
    asked for, no agent forwarded. A configuration file is read only where one is named.

    Args:
        config: host; user, port, `identity_file` (None: the user's agent and default keys), `known_hosts`.
        pacing: instead of the host's own.

    Raises:
        BadRequest: there is no host.

    """

    def __init__(self, config: TransportConfig, *, pacing: HostPacing | None = None) -> None:
        super().__init__(login=config.login_shell, file_timeout_s=config.command_timeout_s)
        self._config = config
        user, _, host = host_of(config).rpartition("@")
        self._host = host.strip("[]")
        self._user = config.user or user or own_user()
        self._port = config.port or 22
        self._pacing = pacing or pacing_of(f"{self._host}:{self._port}")
        self._links: RunVar[_Link] = RunVar(f"asyncssh-{uuid.uuid4().hex}")

    @property
    def identity(self) -> str:
        """`user@host:port`."""
        return f"{self._user}@{self._host}:{self._port}"

    def _link(self) -> _Link:
        link = self._links.get(None)
        if link is None:
            link = _Link()
            self._links.set(link)
        return link

    async def _ready(self) -> None:
        await self._connected()

    async def _connected(self) -> asyncssh.SSHClientConnection:
        link = self._link()
        async with link.lock:
            if link.connection is not None and not link.connection.is_closed():
                return link.connection
            await self._pacing.turn(self._config.connect_timeout_s)
            try:
                link.connection = await self._connect()
            except (OSError, TimeoutError, asyncssh.Error, asyncssh.KeyImportError, ValueError) as fault:
                error = classify(fault, host=self._host, known=await self._is_known(fault))
                self._pacing.failed(error)
                raise error from fault
            self._pacing.succeeded()
            return link.connection

    async def _connect(self) -> asyncssh.SSHClientConnection:
        config = self._config
        options: dict[str, object] = {}
        if config.known_hosts is not None:
            options["known_hosts"] = config.known_hosts
        if config.identity_file is not None:
            options |= {"client_keys": [config.identity_file], "agent_path": None}
        if config.user is not None or "@" in (config.host or "") or config.config_file is None:
            options["username"] = self._user
        if config.port is not None or config.config_file is None:
            options["port"] = self._port
        with anyio.fail_after(config.connect_timeout_s):
            return await asyncssh.connect(
                self._host,
                config=[config.config_file] if config.config_file is not None else None,
                preferred_auth=["publickey"],
                password_auth=False,
                kbdint_auth=False,
                gss_auth=False,
                keepalive_interval=KEEPALIVE_S,
                keepalive_count_max=3,
                connect_timeout=config.connect_timeout_s,
                **options,
            )

    async def _is_known(self, fault: BaseException) -> bool:
        if not isinstance(fault, asyncssh.HostKeyNotVerifiable | asyncssh.KeyExchangeFailed):
            return False

        def look() -> bool:
            path = Path(self._config.known_hosts or "~/.ssh/known_hosts").expanduser()
            with suppress(OSError, ValueError):
                keys = asyncssh.match_known_hosts(str(path), self._host, "", self._port)
                return any(bool(each) for each in keys[:2])
            return False

        return await anyio.to_thread.run_sync(look)

    async def _exchange(self, line: str, data: bytes, out: Frame, err: Frame) -> None:
        link = self._link()
        while True:
            connection = await self._connected()
            session = _Session(out, err)
            async with link.sessions:
                try:
                    channel, _ = await connection.create_session(partial(_same, session), line, encoding=None)
                except asyncssh.ChannelOpenError as fault:
                    if connection.is_closed():
                        raise self._unused(fault) from fault
                except (OSError, asyncssh.Error) as fault:
                    link.drop(connection)
                    raise self._unused(fault) from fault
                else:
                    await self._through(channel, session, data)
                    if out.end is None or err.end is None:
                        broken = session.fault is not None or connection.is_closed()
                        if broken:
                            link.drop(connection)
                        raise self._unanswered(session, broken=broken)
                    return
            # Others have all sessions that the server allows; nothing was run, and one will be free.
            await anyio.sleep(random.uniform(0.1, 0.5))  # noqa: S311  # no secret

    async def _through(self, channel: asyncssh.SSHClientChannel[bytes], session: _Session, data: bytes) -> None:
        try:
            # A command may end, or the connection break, before all of its input is read.
            with suppress(OSError, asyncssh.Error):
                channel.write(data)
                channel.write_eof()
            await session.done.wait()
        finally:
            channel.close()

    def _unused(self, fault: BaseException) -> Broken:
        """The connection was dead before the command was sent, which is only done once there is a session."""
        words = " ".join(str(fault).split()) or type(fault).__name__
        error = TransportError(
            f"the connection was gone before the command began: {words}", where=self._host, cure="try again"
        )
        return Broken(error, begun=False)

    def _unanswered(self, session: _Session, *, broken: bool) -> TransportError | Broken:
        words = " ".join(str(session.fault).split()) if session.fault is not None else ""
        if session.out.begun or session.err.begun:
            what = f"the connection broke in mid-command{': ' + words if words else ''}"
            return Broken(TransportError(what, where=self._host, cure="look again"), begun=True)
        if broken:
            what = f"the connection broke before the command answered{': ' + words if words else ''}"
            return Broken(TransportError(what, where=self._host, cure="look again"), begun=True)
        said = (session.out.outside + session.err.outside).strip().splitlines()
        return TransportError(
            "the login shell ran no command there" + (f": {said[-1][:200]}" if said else ""),
            where=self._host,
            cure="see what `ssh HOST true` prints; start-up files must not end or replace the shell",
        )

    async def _gave_no_answer(self) -> None:
        link = self._link()
        if link.connection is not None:
            link.drop(link.connection)

    async def aclose(self) -> None:
        """Close the connection of this event loop."""
        link = self._link()
        open_, link.connection, link.retired = [link.connection, *link.retired], None, []
        for connection in open_:
            if connection is not None:
                connection.close()
                with anyio.move_on_after(2):
                    await connection.wait_closed()
