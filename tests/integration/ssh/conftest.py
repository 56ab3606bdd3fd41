"""A real sshd on loopback, with its own keys, port and folder; the system's is not touched.

The login shell, the home and its start-up files are the test's own: a forced command of the server puts them between
the connection and the line that the client asks for, as an account with that shell would have them.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
import pytest

from dragoman.job import JobSpec
from dragoman.shape import Shape
from dragoman.site import TransportConfig
from providers.registry import transports
from providers.transports.openssh import OpenSshTransport
from providers.transports.pacing import HostPacing
from providers.transports.remote import RemoteTransport

INSTALL = Path(__file__).with_name("install.sh")


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.defpath}:/usr/local/bin:/usr/sbin:/usr/local/sbin")


def needed(name: str, *packages: str) -> str:
    """The program's path; it is installed where that may be done, else the test is skipped."""
    found = program(name)
    if found is None:
        done = subprocess.run(["bash", str(INSTALL), *packages], capture_output=True, text=True, check=False)  # noqa: TID251
        found = program(name)
        if found is None:
            why = "not installed" if done.returncode == 77 else f"not installable: {done.stderr.strip()[-200:]}"
            pytest.skip(f"{name} is {why} (apt-get install {' '.join(packages) or 'openssh-server'})")
    return found


def keygen(path: Path, *options: str) -> Path:
    subprocess.run(  # noqa: TID251
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "dragoman-test", "-f", str(path), *options], check=True
    )
    return path


@dataclass
class Sshd:
    """A server; `settings` are lines of its sshd_config that come before the common ones."""

    folder: Path
    settings: list[str] = field(default_factory=list)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def user(self) -> str:
        return pwd.getpwuid(os.getuid()).pw_name

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def key(self) -> Path:
        return self.folder / "key"

    @property
    def authorized(self) -> Path:
        return self.folder / "authorized_keys"

    def prepare(self) -> None:
        self.home.mkdir()
        keygen(self.folder / "host_key")
        keygen(self.key)
        self.allow()
        self.login_shell("/bin/sh")
        (self.folder / "ssh_config").write_text("")

    def allow(self, options: str = "") -> None:
        line = f"{options} {self.key.with_suffix('.pub').read_text()}".strip()
        self.authorized.write_text(line + "\n")

    def trust_host(self) -> None:
        words = (self.folder / "host_key.pub").read_text().split()[:2]
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {' '.join(words)}\n")

    def login_shell(self, shell: str, **environment: str) -> None:
        """What stands in passwd for others: the shell that is given the client's line with `-c`."""
        words = {"HOME": str(self.home), "SHELL": shell, "SHLVL": "0", **environment}
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in words.items())
        script = self.folder / "shell"
        script.write_text(
            f"#!/bin/sh\ncd {shlex.quote(str(self.home))}\n"
            f"printf x >>{shlex.quote(str(self.folder))}/trips\n"
            f'exec env {given} {shlex.quote(shell)} -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        script.chmod(0o755)

    def start(self) -> None:
        with socket.socket() as probe:
            # Connections of a server that was stopped may linger at its port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))
            self.port = probe.getsockname()[1]
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text(
            "\n".join([
                *self.settings,
                f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {self.folder}/host_key",
                f"AuthorizedKeysFile {self.authorized}", "StrictModes no", "UsePAM no", "PidFile none",
                "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
                "PrintMotd no", "MaxStartups 100", "UseDNS no", f"ForceCommand {self.folder}/shell", "",
            ])
        )  # fmt: skip
        sshd = needed("sshd")
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sshd, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + 10
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                probe.recv(1)
                break
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"sshd does not start here: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.02)
        self.trust_host()

    def connections(self) -> list[psutil.Process]:
        """The server's processes for connections that are open."""
        assert self.process is not None
        return psutil.Process(self.process.pid).children()

    def cut(self) -> None:
        """Kill every connection's processes, as a broken line does."""
        for each in self.connections():
            with suppress(psutil.Error):
                for one in [each, *each.children(recursive=True)]:
                    if one.name().startswith("sshd"):
                        one.kill()

    def job_spec(self, control_dir: str) -> JobSpec:
        """A job whose attempt lies there."""
        return JobSpec(
            tag=Path(control_dir).name, name="t", shape=Shape(), body="true", work_dir=f"{control_dir}/work",
            control_dir=control_dir,
        )  # fmt: skip

    def logins(self) -> int:
        """How many connections have logged in since the server was made."""
        return (self.folder / "log").read_text(errors="replace").count("Accepted publickey")

    def count_sessions(self) -> Callable[[], int]:
        """Count round trips from now on."""
        trips = self.folder / "trips"
        begun = len(trips.read_bytes()) if trips.exists() else 0
        return lambda: (len(trips.read_bytes()) if trips.exists() else 0) - begun

    def stop(self) -> None:
        if self.process is not None:
            self.cut()
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)
            self.process = None

    def config(self, kind: str, **changes: object) -> TransportConfig:
        values: dict[str, object] = {
            "kind": kind,
            "host": "127.0.0.1",
            "user": self.user,
            "port": self.port,
            "config_file": str(self.folder / "ssh_config") if kind == "openssh" else None,
            "identity_file": str(self.key),
            "known_hosts": str(self.known_hosts),
            "connect_timeout_s": 5,
        }
        return TransportConfig.model_validate({**values, **changes})

    def client_environment(self) -> dict[str, str]:
        runtime = self.folder / "run"
        runtime.mkdir(exist_ok=True)
        return {"PATH": f"/usr/local/bin:{os.defpath}", "HOME": str(self.home), "XDG_RUNTIME_DIR": str(runtime)}

    def transport(self, kind: str, *, pacing: HostPacing | None = None, **changes: object) -> RemoteTransport:
        config = self.config(kind, **changes)
        quick = pacing or HostPacing(f"127.0.0.1:{self.port}", gap_s=0.01, first_s=0.01, longest_s=0.05, pause_s=0.2)
        if kind == "openssh":
            return OpenSshTransport(config, environment=self.client_environment(), persist_s=60, pacing=quick)
        made = transports.get(kind)(config, pacing=quick)
        assert isinstance(made, RemoteTransport)
        return made


Needed = Callable[..., str]
Keygen = Callable[..., Path]


@pytest.fixture
def sshd() -> Iterator[Sshd]:
    """A server of the test's own, running."""
    needed("ssh", "openssh-client")
    needed("sshd")
    # Short: the sockets of shared connections lie in it.
    folder = Path(tempfile.mkdtemp(prefix="dgm-", dir="/tmp"))
    server = Sshd(folder)
    server.prepare()
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["openssh", "asyncssh"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each transport over a connection."""
    return str(request.param)


class Transports(Protocol):
    """Makes transports to the server; they are closed after the test."""

    def __call__(self, kind: str, *, pacing: HostPacing | None = None, **changes: object) -> RemoteTransport: ...


@pytest.fixture
async def reach(sshd: Sshd) -> AsyncIterator[Transports]:
    """Makes transports to the server; they are closed after the test."""
    made: list[RemoteTransport] = []

    def make(kind: str, *, pacing: HostPacing | None = None, **changes: object) -> RemoteTransport:
        made.append(sshd.transport(kind, pacing=pacing, **changes))
        return made[-1]

    yield make
    for transport in made:
        if isinstance(transport, OpenSshTransport):
            await transport.disconnect()
        await transport.aclose()


@pytest.fixture
def there(reach: Transports, kind: str) -> RemoteTransport:
    """The transport, to the server."""
    return reach(kind)


@pytest.fixture(name="needed")
def _needed() -> Needed:
    return needed


@pytest.fixture(name="keygen")
def _keygen() -> Keygen:
    return keygen
