"""The local transport where things are not what they seem: pipes, broken programs, paths that lead nowhere."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from dragoman.command import Command
from dragoman.errors import BadRequest, CommandMissing, TransportError
from dragoman.site import TransportConfig
from interfaces.cli.session import who
from providers.transports import remote_files
from providers.transports.asyncssh_transport import AsyncSshTransport
from providers.transports.local import LocalTransport


@pytest.fixture
def here() -> LocalTransport:
    return LocalTransport()


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.rglob("*"))


@pytest.mark.parametrize("by_link", [False, True])
async def test_no_pipe_or_device_is_replaced(here: LocalTransport, tmp_path: Path, by_link: bool) -> None:
    pipe = target = tmp_path / "pipe"
    os.mkfifo(pipe)
    if by_link:
        target = tmp_path / "link"
        target.symlink_to(pipe)
    before = names(tmp_path)
    with pytest.raises(TransportError, match="is no regular file"):
        await here.write_file(str(target), b"x")
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert names(tmp_path) == before
    assert target.is_symlink() is by_link


@pytest.mark.parametrize("lies", ["", "link"])
async def test_nor_at_a_remote_site(here: LocalTransport, tmp_path: Path, lies: str) -> None:
    pipe = target = tmp_path / "pipe"
    os.mkfifo(pipe)
    if lies:
        target = tmp_path / lies
        target.symlink_to(pipe)
    before = names(tmp_path)
    done = await here.run(remote_files.write_command(str(target), b"x" * 200_000, 0o644, timeout_s=20))
    with pytest.raises(TransportError, match="is no regular file"):
        remote_files.write_answer(str(target), b"x", done)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert names(tmp_path) == before


@pytest.mark.parametrize("there", [True, False])
async def test_a_link_to_a_file_or_to_nothing_is_replaced_itself(
    here: LocalTransport, tmp_path: Path, there: bool
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    if there:
        (tmp_path / "file").write_text("old")
    await here.write_file(str(tmp_path / "link"), b"new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_text() == "new"
    assert not there or (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("first_line", ["#!/opt/gone/python3", "#!/etc/passwd/python3"])
@pytest.mark.parametrize("how", ["path", "name", "folder"])
async def test_a_program_whose_interpreter_is_gone_is_there_and_failed(
    tmp_path: Path, first_line: str, how: str
) -> None:
    program = tmp_path / "docker"
    program.write_text(f"{first_line}\nprint(1)\n")
    program.chmod(0o755)
    there = LocalTransport({"PATH": f"/usr/bin:{tmp_path}"})
    command = {
        "path": Command((str(program),)),
        "name": Command(("docker",)),
        "folder": Command(("./docker",), cwd=str(tmp_path)),
    }[how]
    done = await there.run(command)
    assert (done.rc, done.stdout) == (126, b"")
    assert "bad interpreter" in done.err


async def test_of_two_programs_of_a_name_the_one_that_runs_is_taken(tmp_path: Path) -> None:
    for folder, line in (("a", "#!/opt/gone/sh"), ("b", "#!/bin/sh\necho here")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text(f"{line}\n")
        (tmp_path / folder / "tool").chmod(0o755)
    there = LocalTransport({"PATH": f"{tmp_path}/a:{tmp_path}/b"})
    assert (await there.run(Command(("tool",)))).out == "here\n"


async def test_a_link_that_leads_nowhere_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "tool").symlink_to("/opt/gone/tool")
    with pytest.raises(CommandMissing):
        await LocalTransport({"PATH": str(tmp_path)}).run(Command(("tool",)))


@pytest.mark.parametrize("path", ["", "/gone", ":", "/gone:/gone/too"])
async def test_a_path_that_leads_nowhere_shows_nothing_to_be_missing(path: str) -> None:
    with pytest.raises(TransportError, match="PATH") as raised:
        await LocalTransport({"PATH": path}).run(Command(("dragoman-no-such-program",)))
    assert not isinstance(raised.value, CommandMissing)


async def test_half_a_surrogate_pair_is_a_bad_request(here: LocalTransport, tmp_path: Path) -> None:
    odd = f"{tmp_path}/\ud800"
    for command in (
        Command(("ls", odd)),
        Command((odd,)),
        Command(("ls",), cwd=odd),
        Command(("ls",), environment={"A": odd}),
    ):
        with pytest.raises(BadRequest, match="no argument can hold") as raised:
            await here.run(command)
        str(raised.value).encode()
    for work in (here.read_file(odd), here.write_file(odd, b"x"), here.stat(odd)):
        with pytest.raises(BadRequest, match="no path can hold") as raised:
            await work
        str(raised.value).encode()
    assert names(tmp_path) == []


def test_identity_is_the_user_whose_rights_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    mine = pwd.getpwuid(os.geteuid()).pw_name
    assert LocalTransport().identity.partition("@")[0] == mine
    assert AsyncSshTransport(TransportConfig(kind="asyncssh", host="h")).identity.partition("@")[0] == mine
    assert who(None) == mine
