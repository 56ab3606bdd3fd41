"""The local transport, with real processes and files."""

import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from dragoman.command import Command, Completed, FileStat
from dragoman.errors import BadRequest, CommandMissing, CommandTimeout, FileMissing, TransportError
from dragoman.settings import command_environment
from providers.transports.local import LocalTransport, is_missing

ROOT = os.geteuid() == 0


@pytest.fixture
def here() -> LocalTransport:
    return LocalTransport()


def sh(line: str, **rest: object) -> Command:
    return Command(("/bin/sh", "-c", line), **rest)  # type: ignore[arg-type]


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.rglob("*"))


async def until(test: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not await anyio.to_thread.run_sync(test):  # noqa: ASYNC110  # another process changes it
            await anyio.sleep(0.02)


async def test_answer_is_whole(here: LocalTransport) -> None:
    done = await here.run(sh("printf out; printf err >&2; exit 7"))
    assert (done.rc, done.stdout, done.stderr, done.truncated) == (7, b"out", b"err", False)
    assert here.local
    assert "@" in here.identity


async def test_arguments_are_not_read_by_a_shell(here: LocalTransport) -> None:
    odd = ("$HOME", "a b", "*", "; exit 3", "new\nline", "'\"\\", "", "\udcff")
    program = "import sys,os; sys.stdout.buffer.write(b'\\0'.join(os.fsencode(a) for a in sys.argv[1:]))"
    done = await here.run(Command((sys.executable, "-c", program, *odd)))
    assert done.stdout.split(b"\0") == [os.fsencode(one) for one in odd]


async def test_bytes_that_are_no_text_come_back_as_they_are(here: LocalTransport) -> None:
    done = await here.run(sh(r"printf '\377\000\376ok'"))
    assert done.stdout == b"\xff\0\xfeok"
    assert done.out == "�\0�ok"


async def test_death_by_a_signal_is_128_and_its_number(here: LocalTransport) -> None:
    assert (await here.run(sh("kill -9 $$"))).rc == 137


async def test_stdin_cwd_and_environment(here: LocalTransport, tmp_path: Path) -> None:
    done = await here.run(
        sh('cat; pwd; printf %s "$ADDED"', stdin=b"in\n", cwd=str(tmp_path), environment={"ADDED": "x y"})
    )
    assert done.out == f"in\n{tmp_path}\nx y"


async def test_no_stdin_is_empty_and_no_terminal(here: LocalTransport) -> None:
    done = await here.run(sh("cat; [ -t 0 ] || echo none; (: </dev/tty) 2>/dev/null || echo no-terminal"))
    assert done.out == "none\nno-terminal\n"


async def test_a_command_that_does_not_read_its_input_is_not_disturbed(here: LocalTransport) -> None:
    assert (await here.run(sh("exec 0<&-; sleep 0.1; echo done", stdin=b"x" * 2**20))).out == "done\n"


async def test_unset_takes_names_and_beginnings_and_added_wins() -> None:
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "SBATCH_A": "1", "SBATCH_B": "2", "SBATCHX": "3", "KEEP": "4"})
    done = await transport.run(Command(("env",), unset=("SBATCH_*", "PATHX"), environment={"SBATCH_A": "new"}))
    lines = {line for line in done.out.splitlines() if not line.startswith(("PWD=", "_=", "SHLVL="))}
    assert lines == {"PATH=/usr/bin:/bin", "SBATCHX=3", "KEEP=4", "SBATCH_A=new"}


def test_own_settings_and_secrets_are_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "OPENAI_API_KEY", "GOOGLE_API_KEY", "DRAGOMAN_POLICY"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OTHER", "kept")
    environment = command_environment()
    assert environment["OTHER"] == "kept"
    assert "secret" not in environment.values()


async def test_output_over_the_limit_is_cut_and_the_command_runs_on(here: LocalTransport, tmp_path: Path) -> None:
    mark = tmp_path / "end"
    done = await here.run(sh(f"head -c 3000000 /dev/zero; echo e >&2; touch {mark}", max_output_bytes=1000))
    assert (done.rc, len(done.stdout), done.stderr, done.truncated) == (0, 1000, b"e\n", True)
    assert mark.exists()


async def test_missing_command_missing_folder_and_no_permission_are_told_apart(
    here: LocalTransport, tmp_path: Path
) -> None:
    with pytest.raises(CommandMissing):
        await here.run(Command(("no-such-command-anywhere",)))
    with pytest.raises(CommandMissing):
        await here.run(Command((str(tmp_path / "absent"),)))
    with pytest.raises(FileMissing, match="folder"):
        await here.run(Command(("true",), cwd=str(tmp_path / "absent")))
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    done = await here.run(Command((str(plain),)))
    assert (done.rc, done.err) == (126, f"{plain}: Permission denied\n")
    plain.write_bytes(b"\x7fELFnot")
    plain.chmod(0o755)
    assert (await here.run(Command((str(plain),)))).rc == 126


@pytest.mark.parametrize(
    "command",
    [Command(()), Command(("",)), Command(("echo", "a\0b")), Command(("env",), environment={"A=B": "c"})],
)
async def test_what_cannot_be_a_command_is_refused(here: LocalTransport, command: Command) -> None:
    with pytest.raises(BadRequest):
        await here.run(command)


TREE = "setsid sleep 300 & echo $! > pids; sleep 300 & echo $! >> pids; echo $$ >> pids; trap '' TERM; wait"


def pids(folder: Path) -> list[int]:
    path = folder / "pids"
    found = [int(line) for line in path.read_text().split()] if path.exists() else []
    return found if len(found) == 3 else []


async def test_time_out_kills_the_whole_tree(here: LocalTransport, tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(CommandTimeout, match=r"no end within 0.5 s"):
        await here.run(sh(TREE, cwd=str(tmp_path), timeout_s=0.5))
    assert time.monotonic() - begun < 30
    assert len(pids(tmp_path)) == 3
    await until(lambda: all(gone(pid) for pid in pids(tmp_path)))


async def test_cancelled_task_kills_the_whole_tree(here: LocalTransport, tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(here.run, sh(TREE, cwd=str(tmp_path)))
        await until(lambda: len(pids(tmp_path)) == 3)
        group.cancel_scope.cancel()
    await until(lambda: all(gone(pid) for pid in pids(tmp_path)))


async def test_a_daemon_left_behind_is_neither_waited_for_nor_killed(here: LocalTransport, tmp_path: Path) -> None:
    done = await here.run(sh("setsid sleep 20 & echo $!"))
    pid = int(done.out)
    try:
        assert done.rc == 0
        assert done.seconds < 15
        assert not gone(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def descriptors() -> set[str]:
    return {f"{one.name} {one.readlink()}" for one in Path("/proc/self/fd").iterdir() if one.exists()}


async def test_no_pipe_is_left_open(here: LocalTransport) -> None:
    await here.run(sh("true"))
    before = descriptors()
    await here.run(sh("cat", stdin=b"x" * 300_000))
    left = await here.run(sh("setsid sleep 20 & echo $!"))
    with pytest.raises(CommandTimeout):
        await here.run(sh("sleep 20", timeout_s=0.1))
    with pytest.raises(CommandMissing):
        await here.run(Command(("no-such-command-anywhere",), stdin=b"x"))
    after = descriptors()
    os.kill(int(left.out), signal.SIGKILL)
    assert after == before


async def test_much_goes_in_and_out_at_the_same_time(here: LocalTransport) -> None:
    data = os.urandom(3_000_000)
    done = await here.run(Command(("tee", "/dev/stderr"), stdin=data))
    assert done.stdout == done.stderr == data


async def test_many_side_by_side_in_order_and_a_failure_is_its_own_item() -> None:
    transport = LocalTransport(at_once=3)
    many = [sh(f"echo {number}") for number in range(12)]
    many[4] = Command(("no-such-command-anywhere",))
    many[5] = sh("sleep 60", timeout_s=0.2)
    answers = await transport.run_many(many)
    assert isinstance(answers[4], CommandMissing)
    assert isinstance(answers[5], CommandTimeout)
    rest = [one.out for one in answers if isinstance(one, Completed)]
    assert rest == [f"{number}\n" for number in range(12) if number not in (4, 5)]
    assert await transport.run_many([]) == []


async def test_no_more_at_once_than_allowed(tmp_path: Path) -> None:
    transport = LocalTransport(at_once=2)
    line = f"mkdir {tmp_path}/$$; ls {tmp_path} | wc -l; sleep 0.1; rmdir {tmp_path}/$$"
    answers = await transport.run_many([sh(line)] * 8)
    assert max(int(one.out) for one in answers if isinstance(one, Completed)) == 2


async def test_files_are_written_whole_with_their_mode(here: LocalTransport, tmp_path: Path) -> None:
    path = tmp_path / "a b" / "new\nline" / "file"
    old = os.umask(0o077)
    try:
        await here.write_file(str(path), b"one", mode=0o640)
        await here.write_file(str(path), b"two", mode=0o600)
    finally:
        os.umask(old)
    assert await here.read_file(str(path)) == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["file"]


async def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(here: LocalTransport, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").touch()
    with pytest.raises(TransportError, match="cannot be written"):
        await here.write_file(str(tmp_path / "folder"), b"x")
    with pytest.raises(TransportError):
        await here.write_file(str(tmp_path / "folder" / "inside" / "below"), b"x")
    assert names(tmp_path) == ["folder", "inside"]


async def test_head_and_tail(here: LocalTransport, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bytes(range(256)) * 10)
    whole = path.read_bytes()
    assert await here.read_file(str(path)) == whole
    assert await here.read_file(str(path), max_bytes=10) == whole[:10]
    assert await here.read_file(str(path), max_bytes=10, tail=True) == whole[-10:]
    assert await here.read_file(str(path), max_bytes=9999, tail=True) == whole
    version = await here.read_file("/proc/version")
    assert len(version) > 5
    assert await here.read_file("/proc/version", max_bytes=5, tail=True) == version[-5:]


async def test_what_cannot_be_read_is_no_absence(here: LocalTransport, tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        await here.read_file(str(tmp_path / "absent"))
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(TransportError):
            await here.read_file(str(odd))
    with pytest.raises(TransportError):
        await here.stat(str(tmp_path / ("x" * 300)))
    with pytest.raises(BadRequest):
        await here.stat("a\0b")


@pytest.mark.skipif(ROOT, reason="root may read everything")
async def test_no_permission_is_no_absence(here: LocalTransport, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(TransportError):
        await here.stat(str(tmp_path / "closed" / "inside"))


async def test_stat_does_not_follow_links(here: LocalTransport, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "file").chmod(0o604)
    os.utime(tmp_path / "file", (1, 1000.5))
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    assert await here.stat(str(tmp_path / "file")) == FileStat(str(tmp_path / "file"), "file", 5, 1000.5, 0o604)
    kinds = {}
    for name in (".", "link", "pipe"):
        found = await here.stat(str(tmp_path / name))
        assert found is not None
        kinds[name] = found.kind
    assert kinds == {".": "directory", "link": "link", "pipe": "other"}
    assert await here.stat(str(tmp_path / "absent")) is None
    assert await here.stat(str(tmp_path / "file" / "below")) is None


async def test_the_loop_is_not_blocked_while_a_command_runs(here: LocalTransport) -> None:
    ticks = 0
    async with anyio.create_task_group() as group:

        async def tick() -> None:
            nonlocal ticks
            while True:
                await anyio.sleep(0.01)
                ticks += 1

        group.start_soon(tick)
        await here.run(sh("sleep 0.5"))
        group.cancel_scope.cancel()
    assert ticks > 20


async def test_closing_twice_is_fine(here: LocalTransport) -> None:
    await here.aclose()
    await here.aclose()


def test_a_command_is_missing_only_where_that_is_certain(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    path = {"PATH": f"/nonexistent:{tmp_path}/there:{tmp_path}"}
    seen = {name: is_missing(name, path) for name in ("there", "dangling", "gone", f"{tmp_path}/gone", "x" * 300)}
    assert seen == {"there": False, "dangling": True, "gone": True, f"{tmp_path}/gone": False, "x" * 300: False}
    assert not is_missing("gone", {"PATH": f"{tmp_path}:."}), "a relative folder depends on where it is started"
    assert not is_missing("sh", {}), "without a PATH there is a default one"
