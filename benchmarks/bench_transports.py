"""What a command, many commands and a file cost over each transport, beside plain `ssh host true`.

Over a private sshd on loopback, so that the figures are the programs' own cost: add the line's round-trip time once for
each round trip (a command, a batch of 40, a file: one each). Needs sshd; says so and ends with 0 where there is none.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import anyio

from dragoman.command import Command
from dragoman.protocols import Transport
from dragoman.site import TransportConfig
from providers.transports.asyncssh_transport import AsyncSshTransport
from providers.transports.local import LocalTransport
from providers.transports.openssh import OpenSshTransport
from providers.transports.openssh_options import base_argv, command_argv

MEGABYTE = os.urandom(2**20)


def start_sshd(folder: Path) -> tuple[subprocess.Popen[bytes], int] | None:
    """A server with keys and a port of its own; None where there is no sshd."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if sshd is None:
        return None
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)  # noqa: TID251
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    config = folder / "sshd_config"
    config.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/key.pub\n"
        "StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
    )
    key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}\n")
    (folder / "ssh_config").touch()
    (folder / "run").mkdir()
    server = subprocess.Popen([sshd, "-D", "-f", str(config)], stderr=subprocess.DEVNULL)
    for _ in range(200):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return server, port
        time.sleep(0.02)
    server.terminate()
    return None


async def timed(work: Callable[[], Awaitable[object]], times: int) -> float:
    """Median milliseconds."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - begun)
    return 1000 * statistics.median(taken)


async def row(name: str, transport: Transport, folder: Path) -> str:
    """One line of the table."""
    path = str(folder / f"file-{name.replace(' ', '-')}")
    true = Command(("true",))
    many = [Command(("/bin/sh", "-c", f"echo {number}")) for number in range(40)]
    begun = time.perf_counter()
    await transport.run(true)
    first = 1000 * (time.perf_counter() - begun)
    figures = (
        first,
        await timed(lambda: transport.run(true), 15),
        await timed(lambda: transport.run_many(many), 5),
        await timed(lambda: transport.write_file(path, MEGABYTE), 5),
        await timed(lambda: transport.read_file(path), 5),
    )
    assert await transport.read_file(path) == MEGABYTE
    return f"{name:<24}" + "".join(f"{figure:>12.1f}" for figure in figures)


async def main() -> None:
    """Print the table."""
    folder = Path(tempfile.mkdtemp(prefix="dgm-", dir="/tmp"))
    started = await anyio.to_thread.run_sync(start_sshd, folder)
    if started is None:
        print("no sshd on this host: install openssh-server to measure transports over a connection")
        return
    server, port = started
    environment = {
        "PATH": f"/usr/local/bin:{os.defpath}", "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run"),
    }  # fmt: skip
    common = {
        "host": "127.0.0.1", "user": getpass.getuser(), "port": port, "identity_file": str(folder / "key"),
        "known_hosts": str(folder / "known_hosts"),
    }  # fmt: skip
    columns = ("first", "command", "40 commands", "1 MB write", "1 MB read")
    print(f"{'milliseconds (median)':<24}" + "".join(f"{column:>12}" for column in columns))
    try:
        print(await row("local", LocalTransport(), folder))
        for login in (False, True):
            words = "login shell" if login else "no login"
            config = TransportConfig.model_validate(
                {**common, "kind": "openssh", "config_file": str(folder / "ssh_config"), "login_shell": login}
            )
            openssh = OpenSshTransport(config, environment=environment, persist_s=60)
            print(await row(f"openssh, {words}", openssh, folder))
            library = AsyncSshTransport(
                TransportConfig.model_validate({**common, "kind": "asyncssh", "login_shell": login})
            )
            print(await row(f"asyncssh, {words}", library, folder))
            await library.aclose()
        await plain(config, openssh, environment)
        await openssh.disconnect()
    finally:
        server.terminate()
        server.wait(5)
        shutil.rmtree(folder, ignore_errors=True)


async def plain(config: TransportConfig, openssh: OpenSshTransport, environment: dict[str, str]) -> None:
    """The floor: `ssh host true`, over the shared connection and with a connection of its own."""
    rsh = await openssh.rsh()
    socket_path = next(word for word in rsh if word.startswith("ControlPath=")).removeprefix("ControlPath=").strip('"')
    shared = command_argv(config, socket_path, "true")
    alone = [*base_argv(config), "-T", "--", "127.0.0.1", "true"]

    async def run(argv: list[str]) -> None:
        await anyio.run_process(argv, env=environment, stdin=subprocess.DEVNULL)

    for name, argv in (("ssh host true, shared", shared), ("ssh host true, alone", alone)):
        print(f"{name:<24}{'':>12}{await timed(lambda argv=argv: run(argv), 15):>12.1f}")  # type: ignore[misc]


if __name__ == "__main__":
    anyio.run(main)
