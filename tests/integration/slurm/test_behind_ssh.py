"""A real Slurm behind a real sshd on loopback, reached through the user's own OpenSSH.

The server's forced command stands for the login: it turns into the account that submits, with its login shell.
"""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import psutil
import pytest

from dragoman.attempt import AttemptRecord, AttemptState
from dragoman.errors import LoginNeeded, TransportError
from dragoman.job import JobState
from dragoman.site import Site, TransportConfig
from providers.schedulers.client import SchedulerClient
from providers.schedulers.slurm import SlurmDialect
from providers.transports.openssh import OpenSshTransport
from providers.transports.pacing import HostPacing

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place, Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")


class LoginNode:
    """A server whose every login is the account that submits."""

    def __init__(self, folder: Path, slurm: Slurm) -> None:
        self.folder = folder
        self.slurm = slurm
        for name in ("host", "key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.check_call(words)
        self.let_in()
        self.login("/bin/sh")
        (folder / "ssh_config").touch()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        host = (folder / "host.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {' '.join(host)}\n")
        lines = [
            f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {folder}/host", "StrictModes no", "UsePAM no",
            f"AuthorizedKeysFile {folder}/allowed", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password", "PidFile none", "PrintMotd no", f"ForceCommand {folder}/login", "",
        ]  # fmt: skip
        (folder / "sshd_config").write_text("\n".join(lines))
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        with (folder / "log").open("wb") as log:
            self.server = subprocess.Popen(
                [str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + 10
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                probe.recv(1)
                return
            if self.server.poll() is not None or time.monotonic() > end:
                pytest.skip(f"sshd does not start here: {(self.folder / 'log').read_text()[-300:]}")
            time.sleep(0.05)

    def let_in(self, yes: bool = True) -> None:
        (self.folder / "allowed").write_text((self.folder / "key.pub").read_text() if yes else "")

    def login(self, shell: str, *, banner: str = "", path: str = "") -> None:
        slurm = self.slurm.environment
        variables = {**slurm, "PATH": f"{path}:{slurm['PATH']}" if path else slurm["PATH"], "SHELL": shell}
        words = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items())
        told = f"printf '%s\\n' {shlex.quote(banner)}\n" if banner else ""
        as_user = " ".join(self.slurm.as_user)
        (self.folder / "login").write_text(
            f'#!/bin/sh\n{told}exec env -i {words} {as_user} {shell} -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        (self.folder / "login").chmod(0o755)

    def client(self, place: Place) -> SchedulerClient:
        config = TransportConfig.model_validate(
            {
                "kind": "openssh", "host": "127.0.0.1", "user": getpass.getuser(), "port": self.port,
                "config_file": str(self.folder / "ssh_config"), "identity_file": str(self.folder / "key"),
                "known_hosts": str(self.folder / "known_hosts"), "connect_timeout_s": 5,
                # A profile of the system would put its own PATH before ours.
                "login_shell": False,
            }
        )  # fmt: skip
        site = Site(name="behind", scheduler="slurm", work_root=str(place.root), settle_window_s=2, transport=config)
        pacing = HostPacing(f"127.0.0.1:{self.port}", gap_s=0.01, first_s=0.01, longest_s=0.1, pause_s=0.5)
        return SchedulerClient(SlurmDialect(), OpenSshTransport(config, pacing=pacing), site)

    def cut(self) -> None:
        """Break every connection; what was started through it goes on."""
        for each in psutil.Process(self.server.pid).children():
            with suppress(psutil.Error):
                for one in [each, *each.children(recursive=True)]:
                    if one.name().startswith("sshd"):
                        one.kill()

    def stop(self) -> None:
        self.cut()
        self.server.terminate()
        self.server.wait(10)


@pytest.fixture
def login_node(slurm: Slurm) -> Iterator[LoginNode]:
    if SSHD is None:
        pytest.skip("there is no sshd here (apt-get install openssh-server)")
    folder = Path(tempfile.mkdtemp(prefix="dgm-"))
    folder.chmod(0o711)
    node = LoginNode(folder, slurm)
    yield node
    node.stop()
    shutil.rmtree(folder)


@pytest.fixture
async def behind(login_node: LoginNode, place: Place) -> AsyncIterator[SchedulerClient]:
    client = login_node.client(place)
    yield client
    await client.transport.aclose()


SHELLS = [shell for shell in ("/bin/sh", "/bin/csh") if Path(shell).exists()]


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_job_runs_behind_a_banner_and_any_login_shell(
    place: Place, login_node: LoginNode, behind: SchedulerClient, shell: str
) -> None:
    login_node.login(shell, banner="*** Welcome ***\nSubmitted batch job 4711\n812")
    workload = (await behind.workload()).value
    assert workload is not None
    assert {queue.name for queue in workload.queues or ()} == {"debug", "gpu", "closed", "small"}
    attempt = await place.prepared(behind, place.attempt(body="exit 3"))
    record = await behind.submit(attempt)
    assert (record.state, record.adopted) == (AttemptState.SUBMITTED, False)
    assert (await behind.submit(attempt)).job == record.job
    (status,) = await place.ended(behind, record)
    assert (status.state, status.exit_code) == (JobState.FAILED, 3)
    assert place.runs() == ["0"]


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.campaign), "after"])
async def test_a_connection_that_breaks_in_the_middle_of_the_submit(
    place: Place, login_node: LoginNode, behind: SchedulerClient, when: str
) -> None:
    folder = place.root / "slow"
    real = shutil.which("sbatch", path="/usr/bin:/usr/local/bin")
    parts = {"before": f'touch {folder}/begun; sleep 2; exec {real} "$@"',
             "after": f'{real} "$@" >{folder}/out; touch {folder}/begun; sleep 2; cat {folder}/out'}  # fmt: skip
    script = f"mkdir {folder} && cat >{folder}/sbatch && chmod 755 {folder}/sbatch"
    words = [*place.slurm.as_user, "sh", "-c", script]
    await anyio.run_process(words, input=f"#!/bin/sh\n{parts[when]}\n".encode())
    login_node.login("/bin/sh", path=str(folder))
    attempt = await place.prepared(behind, place.attempt())
    troubles: list[TransportError] = []

    async def submit() -> None:
        try:
            await behind.submit(attempt)
        except TransportError as error:
            troubles.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(submit)
        with anyio.fail_after(20):
            begun = False
            while not begun:
                begun = await anyio.Path(folder / "begun").exists()
                await anyio.sleep(0.05)
        login_node.cut()
    assert len(troubles) == 1
    record = await place.settled(behind, attempt)
    await place.ended(behind, record)
    assert place.runs() == ["0"]
    assert len(await place.jobs()) == 1


async def test_expired_credentials_are_a_wait(place: Place, login_node: LoginNode, behind: SchedulerClient) -> None:
    """The job goes on; once the person has logged in again its end is seen."""
    record = await behind.submit(await place.prepared(behind, place.attempt(body="sleep 1")))
    assert record.job is not None
    login_node.let_in(False)
    await behind.transport.aclose()
    login_node.cut()
    with pytest.raises(LoginNeeded):
        await behind.status([record.job])
    with pytest.raises(LoginNeeded):
        await behind.reconcile(AttemptRecord(attempt=record.attempt))
    login_node.let_in()
    await anyio.sleep(1)
    (status,) = await place.ended(behind, record)
    assert status.state is JobState.COMPLETED
    assert place.runs() == ["0"]
