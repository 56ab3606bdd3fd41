"""Argument lists for the ssh client. Pure.

Nothing asks (BatchMode, no terminal), a host key is never accepted without a person (StrictHostKeyChecking=yes, also
where the user's configuration is laxer), and what their configuration starts besides (forwardings, a remote command,
a terminal) is left out. Sources: ssh(1), ssh_config(5).
"""

from __future__ import annotations

from dragoman.errors import BadRequest
from dragoman.site import TransportConfig

__all__ = [
    "base_argv", "command_argv", "control_argv", "host_of", "master_argv", "resolve_argv", "session_options",
]  # fmt: skip

_ALWAYS = (
    "BatchMode=yes", "NumberOfPasswordPrompts=0", "StrictHostKeyChecking=yes", "RequestTTY=no", "RemoteCommand=none",
    "PermitLocalCommand=no", "ClearAllForwardings=yes", "EscapeChar=none", "ForwardX11=no", "ForwardAgent=no",
    "LogLevel=INFO", "ServerAliveInterval=15", "ServerAliveCountMax=3", "ConnectionAttempts=1",
)  # fmt: skip


def base_argv(config: TransportConfig) -> list[str]:
    """Program and options of all calls, without the host.

    Raises:
        BadRequest: no host, one that begins with a dash, or a path that no option can hold.

    """
    argv = ["ssh"]
    if config.config_file is not None:
        argv += ["-F", config.config_file]
    if config.user is not None:
        argv += ["-l", _plain("user", config.user)]
    if config.port is not None:
        argv += ["-p", str(config.port)]
    for option in (*_ALWAYS, f"ConnectTimeout={max(1, round(config.connect_timeout_s))}"):
        argv += ["-o", option]
    if config.identity_file is not None:
        argv += ["-o", f"IdentityFile={_path('identity_file', config.identity_file)}", "-o", "IdentitiesOnly=yes"]
    if config.known_hosts is not None:
        argv += ["-o", f"UserKnownHostsFile={_path('known_hosts', config.known_hosts)}"]
    return argv


def host_of(config: TransportConfig) -> str:
    """The host as the site file has it. Raises `BadRequest`."""
    if not config.host or config.host.startswith("-"):
        raise BadRequest("there is no host to connect to", where="transport.host", cure="name a host or an ssh alias")
    return config.host


def resolve_argv(config: TransportConfig) -> list[str]:
    """Print the configuration in force for the host; connects to nothing."""
    return [*base_argv(config), "-G", "--", host_of(config)]


def control_argv(config: TransportConfig, socket: str, verb: str) -> list[str]:
    """Ask a master: `check`, `stop` (take no more sessions), `exit`."""
    return [*base_argv(config), *_socket(socket), "-O", verb, "--", host_of(config)]


def master_argv(config: TransportConfig, socket: str, persist_s: int) -> list[str]:
    """Open the connection that all commands share; returns once the login is done, and stays in the background."""
    return [
        *base_argv(config), *_socket(socket), "-o", "ControlMaster=yes", "-o", f"ControlPersist={persist_s}",
        "-T", "-f", "-N", "--", host_of(config),
    ]  # fmt: skip


def command_argv(config: TransportConfig, socket: str, line: str) -> list[str]:
    """Run a line over the shared connection, and never over another: a new one would ask for a login of its own."""
    return [*base_argv(config), *session_options(socket), "-T", "--", host_of(config), line]


def session_options(socket: str) -> list[str]:
    """Options that bind a client to the shared connection."""
    return [*_socket(socket), "-o", "ControlMaster=no", "-o", "ProxyJump=none", "-o", "ProxyCommand=false"]


def _socket(path: str) -> list[str]:
    return ["-o", f"ControlPath={_path('control path', path)}"]


def _path(what: str, path: str) -> str:
    """A path as ssh_config(5) reads it: quoted, `%` doubled."""
    if '"' in path or "\n" in path or "\0" in path:
        raise BadRequest("a path with quotes or newlines", where=f"transport.{what}", cure="rename it")
    return '"' + path.replace("%", "%%") + '"'


def _plain(what: str, text: str) -> str:
    if not text or text.startswith("-") or any(c.isspace() or c == "\0" for c in text):
        raise BadRequest(f"{text!r} cannot be used", where=f"transport.{what}", cure="write a plain name")
    return text
