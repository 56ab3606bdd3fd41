"""What goes wrong on the way: told apart from answers, and never hanging."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import psutil
import pytest

from dragoman.command import Command
from dragoman.errors import CommandTimeout, HostKeyChanged, LoginNeeded, TransportError
from dragoman.model import now
from providers.attempts import Attempts
from providers.transports.openssh import OpenSshTransport
from providers.transports.pacing import HostPacing

if TYPE_CHECKING:
    from tests.integration.ssh.conftest import Keygen, Sshd, Transports

pytestmark = pytest.mark.anyio
TRUE = Command(("true",))


def masters(sshd: Sshd) -> list[psutil.Process]:
    """Our shared connections' processes."""
    return [
        one
        for one in psutil.process_iter(["cmdline"])
        if any(str(sshd.folder / "run") in word for word in one.info["cmdline"] or ())
    ]


async def test_a_line_that_breaks_in_mid_command_is_no_answer(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    caught: list[Exception] = []

    async def long() -> None:
        with pytest.raises(TransportError, match="mid-command") as info:
            await there.run(Command(("/bin/sh", "-c", "echo Permission denied; sleep 20; exit 3")))
        caught.append(info.value)

    async with anyio.create_task_group() as group:
        group.start_soon(long)
        await anyio.sleep(1.5)
        begun = time.monotonic()
        sshd.cut()
    assert type(caught[0]) is TransportError
    assert time.monotonic() - begun < 8
    assert (await there.run(Command(("echo", "again")))).out == "again\n"


async def test_a_line_that_breaks_in_mid_submit_leaves_the_answer_at_the_site(
    sshd: Sshd, kind: str, reach: Transports
) -> None:
    there = reach(kind)
    attempts = Attempts(there)
    control = f"{sshd.home}/dgm-0123456789ab-a1"
    await attempts.prepare(control, f"{control}/work")
    script = f"#!/bin/sh\necho x >>{sshd.home}/submitted; sleep 4; echo 'Submitted batch job 4711'\n"
    submit = Command(("/bin/sh", f"{control}/script"), timeout_s=20)
    spec = sshd.job_spec(control)
    async with anyio.create_task_group() as group:
        group.start_soon(_cut_soon, sshd, 2.5)
        with pytest.raises(TransportError):
            await attempts.submit(spec, script, submit)
    with anyio.fail_after(30):
        while not (look := (await attempts.look([control]))[control]).answers:  # noqa: ASYNC110  # another host's doing
            await anyio.sleep(0.3)
    answer = look.answers[1]
    assert (answer.how, answer.rc, answer.out.strip()) == ("ended", 0, "Submitted batch job 4711")
    again, claimed = await attempts.submit(spec, script, submit)
    assert not claimed
    assert len(again.claims) == 1
    assert (sshd.home / "submitted").read_text() == "x\n"


async def _cut_soon(sshd: Sshd, seconds: float) -> None:
    await anyio.sleep(seconds)
    sshd.cut()


async def test_a_slow_login_shell_is_waited_for(sshd: Sshd, kind: str, reach: Transports) -> None:
    (sshd.home / ".profile").write_text("sleep 2\n")
    assert (await reach(kind).run(Command(("echo", "here"), timeout_s=1))).out == "here\n"


async def test_a_login_shell_that_hangs_is_a_time_out(
    sshd: Sshd, kind: str, reach: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("providers.transports.remote.GRACE_S", 1.0)
    (sshd.home / ".profile").write_text("sleep 60\n")
    there = reach(kind)
    with pytest.raises(CommandTimeout):
        await there.run(Command(("true",), timeout_s=1))
    (sshd.home / ".profile").write_text("")
    assert (await there.run(Command(("echo", "here")))).out == "here\n"


async def test_a_host_key_that_changed_needs_a_person(sshd: Sshd, kind: str, reach: Transports, keygen: Keygen) -> None:
    sshd.stop()
    for name in ("host_key", "host_key.pub"):
        (sshd.folder / name).unlink()
    keygen(sshd.folder / "host_key")
    known = sshd.known_hosts.read_text()
    sshd.start()
    sshd.known_hosts.write_text(known)
    with pytest.raises(HostKeyChanged, match="not the known one"):
        await reach(kind).run(TRUE)
    assert sshd.known_hosts.read_text() == known
    assert sshd.logins() == 0


async def test_a_laxer_configuration_does_not_accept_a_changed_key(
    sshd: Sshd, reach: Transports, keygen: Keygen
) -> None:
    (sshd.folder / "ssh_config").write_text("StrictHostKeyChecking no\nBatchMode no\n")
    await test_a_host_key_that_changed_needs_a_person(sshd, "openssh", reach, keygen)


async def test_a_host_key_that_nobody_knows_needs_a_person(sshd: Sshd, kind: str, reach: Transports) -> None:
    sshd.known_hosts.write_text("")
    with pytest.raises(HostKeyChanged) as caught:
        await reach(kind).run(TRUE)
    assert "not the known one" not in str(caught.value)
    assert sshd.known_hosts.read_text() == ""


async def test_a_key_that_expired_or_was_removed_needs_a_login_and_then_it_goes_on(
    sshd: Sshd, kind: str, reach: Transports
) -> None:
    there = reach(kind)
    sshd.allow('expiry-time="20200101"')
    with pytest.raises(LoginNeeded):
        await there.run(TRUE)
    sshd.authorized.write_text("")
    await anyio.sleep(0.2)
    with pytest.raises(LoginNeeded):
        await there.run(TRUE)
    sshd.allow()
    await anyio.sleep(0.2)
    assert (await there.run(TRUE)).rc == 0


async def test_a_certificate_that_expired_needs_a_login(
    sshd: Sshd, kind: str, reach: Transports, keygen: Keygen
) -> None:
    authority = keygen(sshd.folder / "authority")

    def sign(validity: str) -> None:
        subprocess.run(  # noqa: TID251  # a test may block
            ["ssh-keygen", "-q", "-s", str(authority), "-I", "t", "-n", sshd.user, "-V", validity, f"{sshd.key}.pub"],
            check=True, capture_output=True,
        )  # fmt: skip

    sshd.stop()
    sshd.authorized.write_text("")
    sshd.settings.append(f"TrustedUserCAKeys {authority}.pub")
    sshd.start()
    await anyio.to_thread.run_sync(sign, "-2d:-1d")
    there = reach(kind)
    with pytest.raises(LoginNeeded):
        await there.run(TRUE)
    await anyio.to_thread.run_sync(sign, "-1d:+1d")
    await anyio.sleep(0.2)
    assert (await there.run(TRUE)).rc == 0


async def test_where_only_a_password_is_taken_nothing_asks_and_nothing_hangs(
    sshd: Sshd, kind: str, reach: Transports
) -> None:
    sshd.stop()
    sshd.settings += ["PubkeyAuthentication no", "PasswordAuthentication yes"]
    sshd.start()
    begun = time.monotonic()
    with pytest.raises(LoginNeeded):
        await reach(kind).run(TRUE)
    assert time.monotonic() - begun < 10


async def test_a_key_with_a_passphrase_does_not_ask(sshd: Sshd, kind: str, reach: Transports) -> None:
    done = subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", str(sshd.key)], check=False)  # noqa: ASYNC221, TID251
    assert done.returncode == 0
    with pytest.raises(LoginNeeded):
        await reach(kind).run(TRUE)


async def test_a_server_that_is_down_and_comes_back(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    sshd.stop()
    for _ in range(2):
        with pytest.raises(TransportError) as caught:
            await there.run(TRUE)
        assert type(caught.value) is TransportError
        await anyio.sleep(0.1)
    sshd.start()
    assert (await there.run(TRUE)).rc == 0


async def test_after_many_failures_the_host_is_left_alone_for_a_while(sshd: Sshd, kind: str, reach: Transports) -> None:
    sshd.stop()
    pacing = HostPacing("slow-host", gap_s=0, first_s=0.001, longest_s=0.001, failures_allowed=3, pause_s=600)
    there = reach(kind, pacing=pacing)
    for _ in range(3):
        with pytest.raises(TransportError, match=r"refused|Connect"):
            await there.run(TRUE)
        await anyio.sleep(0.01)
    with pytest.raises(TransportError, match="not tried before") as caught:
        await there.run(TRUE)
    assert caught.value.transient
    until = caught.value.what.split("not tried before ")[1][:16]
    assert until in {(now() + timedelta(minutes=minutes)).isoformat()[:16] for minutes in range(9, 17)}
    assert all("not tried" in str(one) for one in await there.run_many([TRUE, TRUE]))


@contextmanager
def silent_server() -> Iterator[int]:
    """Takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def take() -> None:
            with suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for one in kept:
            one.close()


async def test_a_server_without_a_banner_is_given_up_in_time(sshd: Sshd, kind: str, reach: Transports) -> None:
    with silent_server() as port:
        begun = time.monotonic()
        with pytest.raises(TransportError) as caught:
            await reach(kind, port=port, connect_timeout_s=1).run(TRUE)
        assert type(caught.value) is TransportError
        assert time.monotonic() - begun < 10


async def test_fewer_sessions_than_we_would_like_are_waited_for(sshd: Sshd, kind: str, reach: Transports) -> None:
    sshd.stop()
    sshd.settings.append("MaxSessions 2")
    sshd.start()
    there = reach(kind)
    outs: list[str] = []

    async def one(number: int) -> None:
        outs.append((await there.run(Command(("/bin/sh", "-c", f"sleep 0.2; echo {number}")))).out)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(one, number)
    assert sorted(outs) == sorted(f"{number}\n" for number in range(10))
    assert sshd.logins() == 1


async def test_a_shared_connection_that_was_killed_is_not_used_again(sshd: Sshd, reach: Transports) -> None:
    there = reach("openssh")
    await there.run(TRUE)
    (master,) = masters(sshd)
    os.kill(master.pid, signal.SIGKILL)
    with suppress(psutil.NoSuchProcess):
        master.wait(5)
    assert (await there.run(TRUE)).rc == 0
    assert sshd.logins() == 2


async def test_two_transports_and_two_processes_share_one_connection(sshd: Sshd, reach: Transports) -> None:
    first, second = reach("openssh"), reach("openssh")
    async with anyio.create_task_group() as group:
        for there in (first, second, first, second):
            group.start_soon(there.run, TRUE)
    await first.aclose()
    await first.aclose()
    assert (await second.run(TRUE)).rc == 0
    assert sshd.logins() == 1
    assert len(masters(sshd)) == 1


async def test_a_connection_that_the_user_opened_is_used_and_never_ended(sshd: Sshd, reach: Transports) -> None:
    own = f"{sshd.folder}/own"
    (sshd.folder / "ssh_config").write_text(f"ControlPath {own}\n")
    words = ["-F", f"{sshd.folder}/ssh_config", "-p", str(sshd.port), "-l", sshd.user]
    files = ["-i", str(sshd.key), "-o", f"UserKnownHostsFile={sshd.known_hosts}"]
    login = ["ssh", *words, *files, "-M", "-N", "-f", "127.0.0.1"]
    subprocess.run(login, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: ASYNC221, TID251
    try:
        # Whatever they logged in with is gone since: only their open connection can do it.
        sshd.authorized.write_text("")
        there = reach("openssh")
        assert isinstance(there, OpenSshTransport)
        assert (await there.run(TRUE)).rc == 0
        await there.disconnect()
        await there.aclose()
        assert (await there.run(TRUE)).rc == 0
        assert sshd.logins() == 1
    finally:
        subprocess.run(["ssh", *words, "-O", "exit", "127.0.0.1"], check=True, capture_output=True)  # noqa: ASYNC221, TID251
    with pytest.raises(LoginNeeded):
        await there.run(TRUE)


async def test_a_cancelled_call_leaves_no_client_behind(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    with anyio.move_on_after(1):
        await there.run(Command(("sleep", "30")))
    children = [one for one in psutil.Process().children() if one.name() == "ssh" and one.status() != "zombie"]
    assert children == []
    assert (await there.run(TRUE)).rc == 0


async def test_names_of_the_users_own_configuration(sshd: Sshd, reach: Transports) -> None:
    (sshd.folder / "ssh_config").write_text(
        f"Host cluster\n  HostName 127.0.0.1\n  Port {sshd.port}\n  User {sshd.user}\n  RequestTTY force\n"
        f"  RemoteCommand tmux\n  IdentityFile {sshd.key}\n  LocalForward {sshd.port} localhost:1\n"
    )
    there = reach("openssh", host="cluster", port=None, user=None, identity_file=None)
    assert there.identity == f"{sshd.user}@127.0.0.1:{sshd.port}"
    assert (await there.run(Command(("echo", "here")))).out == "here\n"
