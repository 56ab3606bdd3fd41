"""Reported faults of programs that reach sites over ssh, each with two more of its kind; words are OpenSSH's."""

from __future__ import annotations

import anyio
import pytest

from dragoman.command import Command
from dragoman.errors import BadRequest, HostKeyChanged, LoginNeeded, TransportError
from dragoman.site import TransportConfig
from providers.transports.openssh_errors import classify, never_began, session_refused
from providers.transports.openssh_options import command_argv, control_argv, host_of, master_argv, resolve_argv
from providers.transports.pacing import HostPacing
from providers.transports.remote_frames import Frame, answer, read_frame
from providers.transports.remote_script import line

pytestmark = pytest.mark.anyio

BANNER = (
    b"  _ welcome _\n Your Home Directories\n  Size Avail Used\n 175T 142T 48k /storage/brno11/home/alice\n"
    b"@@HX-7f3a-BEGIN\n1001|RUNNING\n@@HX-7f3a-END rc=0\n"
)


@pytest.mark.parametrize(
    ("raw", "rc", "data"),
    [
        pytest.param(BANNER, 0, b"1001|RUNNING\n", id="SH01"),
        pytest.param(b"@@HX-0000-BEGIN\n7|FAILED\n@@HX-0000-END rc=0\n" + BANNER, 0, b"1001|RUNNING\n",
                     id="SH01-forged"),
        pytest.param(b"@@HX-7f3a-BEGIN\nno newline@@HX-7f3a-END rc=255 \nlogout\n", 255, b"no newline",
                     id="SH01-after"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_only_what_lies_between_the_marks_is_the_answer(raw: bytes, rc: int, data: bytes, step: int) -> None:
    frame = Frame("@@HX-7f3a", 1000)
    for start in range(0, len(raw), step):
        frame.feed(raw[start : start + step])
    assert frame.end is not None
    assert (frame.end.rc, bytes(frame.data), frame.truncated) == (rc, data, False)
    assert bytes(read_frame(raw, "@@HX-7f3a").data) == data


@pytest.mark.parametrize("cut", [b"@@HX-7f3a-END", b"-END rc=0\n", b"\n"])
def test_without_its_end_there_is_no_answer(cut: bytes) -> None:
    raw = BANNER[: BANNER.rindex(cut)]
    with pytest.raises(TransportError):
        read_frame(raw, "@@HX-7f3a")
    frame = Frame("@@HX-7f3a", 1000)
    frame.feed(raw)
    with pytest.raises(TransportError):
        answer(Command(("squeue",)), frame, frame, 0)


def test_a_frame_keeps_what_there_is_room_for() -> None:
    frame = Frame("@@M", 10)
    for _ in range(1000):
        frame.feed(b"@@M-BEGIN\n" if not frame.begun else b"0123456789" * 100)
    frame.feed(b"@@M-END rc=4 \nmore")
    assert (bytes(frame.data), frame.truncated, frame.end and frame.end.rc) == (b"0123456789", True, 4)


CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Host key for login.example.org has changed and you have requested strict checking.
Host key verification failed.
"""


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param("mux_client_hello_exchange: write packet: Broken pipe", TransportError, id="SH03"),
        pytest.param("mux_client_read_packet: read header failed: Broken pipe", TransportError, id="SH03-read"),
        pytest.param(
            "Control socket connect(/run/x): Connection refused\nConnection closed by UNKNOWN port 65535",
            TransportError, id="SH03-dead",
        ),
        pytest.param("alice@h: Permission denied (password,keyboard-interactive).", LoginNeeded, id="SH05"),
        pytest.param("alice@h: Permission denied (publickey,gssapi-with-mic).", LoginNeeded, id="SH05-key"),
        pytest.param(
            'sign_and_send_pubkey: signing failed for ED25519 "a" from agent: agent refused operation', LoginNeeded,
            id="SH05-agent",
        ),
        pytest.param("Received disconnect from h: 2: Too many authentication failures", LoginNeeded,
                     id="too-many-keys"),
        pytest.param("ssh: connect to host h port 22: Connection refused", TransportError, id="refused"),
        pytest.param("Connection timed out during banner exchange", TransportError, id="SH07-banner"),
        pytest.param("kex_exchange_identification: Connection closed by remote host", TransportError, id="SH07-kex"),
        pytest.param("ssh_exchange_identification: read: Connection reset by peer", TransportError, id="SH07-reset"),
        pytest.param("ssh: Could not resolve hostname h: Temporary failure in name resolution", TransportError,
                     id="dns"),
        pytest.param(CHANGED, HostKeyChanged, id="SH10"),
        pytest.param(
            "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.",
            HostKeyChanged, id="SH10-unknown",
        ),
        pytest.param("@ WARNING: REVOKED HOST KEY DETECTED! @\nHost key verification failed.", HostKeyChanged,
                     id="SH10-revoked"),
        pytest.param("cat: /secret: Permission denied", TransportError, id="a-command's-own-words"),
    ],
)  # fmt: skip
def test_what_the_client_says_is_told_apart(said: str, error: type[TransportError]) -> None:
    found = classify(said, host="h", rc=255)
    assert type(found) is error
    assert found.transient is (error is TransportError)
    assert found.what
    assert found.cure
    # Once a command has begun to answer, the login was fine: whatever is said then is about the line.
    assert type(classify(said, host="h", rc=255, begun=True)) is TransportError


def test_a_session_that_was_refused_ran_nothing() -> None:
    said = "mux_client_request_session: session request failed: Session open refused by peer\n"
    assert session_refused(said)
    assert not session_refused("Permission denied (publickey)")


NOBODY = "Connection closed by UNKNOWN port 65535\n"


@pytest.mark.parametrize(
    ("said", "never"),
    [
        ("mux_client_hello_exchange: write packet: Broken pipe\n" + NOBODY, True),
        ("kex_exchange_identification: Connection closed by remote host\n" + NOBODY, True),
        ("Control socket connect(/s): Connection refused\nConnection to UNKNOWN port 65535: Broken pipe\n", True),
        ("mux_client_request_session: read from master failed: Broken pipe\n" + NOBODY, False),
        ("mux_client_read_packet: read header failed: Broken pipe\n", False),
        ("kex_exchange_identification: Connection closed by remote host\n", False),
        ("", False),
    ],
)
def test_only_a_command_that_was_never_taken_never_began(said: str, never: bool) -> None:  # SH03
    assert never_began(said) is never
    assert ("before the command began" in classify(said, host="h", rc=255).what) is never


@pytest.mark.parametrize(
    "config",
    [
        TransportConfig(kind="openssh", host="cluster"),
        TransportConfig(kind="openssh", host="h", user="alice", port=2222, config_file="/a b/c", identity_file="/k %h"),
        TransportConfig(kind="openssh", host="::1", known_hosts="/known hosts", connect_timeout_s=0.2),
    ],
)
def test_no_call_can_ask_or_accept_a_key(config: TransportConfig) -> None:
    for argv in (
        resolve_argv(config), control_argv(config, "/s", "check"), master_argv(config, "/s", 60),
        command_argv(config, "/s", "true"),
    ):  # fmt: skip
        options = [argv[index + 1] for index, word in enumerate(argv) if word == "-o"]
        assert {"BatchMode=yes", "StrictHostKeyChecking=yes", "NumberOfPasswordPrompts=0", "RequestTTY=no"} <= {
            *options
        }
        assert any(each.startswith("ConnectTimeout=") and each != "ConnectTimeout=0" for each in options)
        assert "ServerAliveInterval=15" in options
        assert not any(word in {"-t", "-tt", "-A", "-X", "-Y"} for word in argv)
        assert argv[argv.index("--") + 1] == config.host
    command = command_argv(config, "/s", "true")
    assert "ControlMaster=no" in command
    assert "ProxyCommand=false" in command, "never a connection beside the shared one"
    if config.identity_file:
        assert 'IdentityFile="/k %%h"' in command


@pytest.mark.parametrize(
    "changes", [{"host": None}, {"host": "-oProxyCommand=id"}, {"user": "-l"}, {"user": "a b"}, {"known_hosts": 'a"b'}]
)
def test_values_that_would_be_read_as_something_else_are_refused(changes: dict[str, str | None]) -> None:
    config = TransportConfig(kind="openssh", host="h").model_copy(update=changes)
    with pytest.raises(BadRequest):
        command_argv(config, "/s", "true")
    if "host" in changes:
        with pytest.raises(BadRequest):
            host_of(config)


def test_the_login_shell_never_sees_a_command() -> None:  # SH09, SH11
    config = TransportConfig(kind="openssh", host="h")
    for login in (True, False):
        assert command_argv(config, "/s", line(login=login))[-1].startswith("exec /bin/sh -c '")


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


async def test_failures_are_followed_by_longer_waits_and_then_a_pause() -> None:  # SH07
    clock = Clock()
    pacing = HostPacing("h", gap_s=0, first_s=8, longest_s=20, failures_allowed=5, pause_s=300, clock=clock)
    for wait in (8, 16, 20, 20):
        await pacing.turn(0)
        pacing.failed(TransportError("Error reading SSH protocol banner"))
        clock.at += wait / 2 - 0.01
        with pytest.raises(TransportError, match=r"not tried before .*banner"):
            await pacing.turn(0)
        clock.at += wait / 2 + 0.02
    await pacing.turn(0)
    pacing.failed(TransportError("Error reading SSH protocol banner"))
    clock.at += 299
    with pytest.raises(TransportError, match="5 connections in a row") as caught:
        await pacing.turn(100)
    assert type(caught.value) is TransportError
    assert caught.value.transient
    clock.at += 152
    await pacing.turn(0)
    pacing.succeeded()
    await pacing.turn(0)


async def test_a_short_wait_is_borne() -> None:
    pacing = HostPacing("h", gap_s=0, first_s=0.2)
    pacing.failed(TransportError("reset"))
    begun = anyio.current_time()
    await pacing.turn(5)
    assert 0.05 < anyio.current_time() - begun < 5


async def test_whoever_connects_next_waits_for_the_gap() -> None:
    pacing = HostPacing("h", gap_s=0.1)
    begun = anyio.current_time()
    for _ in range(4):
        await pacing.turn(5)
    assert anyio.current_time() - begun >= 0.29


@pytest.mark.parametrize("kind", [LoginNeeded, HostKeyChanged])
async def test_what_a_person_must_do_is_said_again_without_asking_the_host(kind: type[TransportError]) -> None:
    clock = Clock()
    pacing = HostPacing("h", gap_s=0, first_s=8, clock=clock)
    pacing.failed(kind("refused", where="h", cure="log in"))
    with pytest.raises(kind, match="refused"):
        await pacing.turn(100)
    clock.at += 9
    await pacing.turn(0)
