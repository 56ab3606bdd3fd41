"""Commands and files over each transport: the same words as at the site at hand."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from dragoman.command import Command, Completed, FileStat
from dragoman.errors import BadRequest, CommandMissing, CommandTimeout, FileMissing, StorageFull, TransportError
from providers.transports.remote import RemoteTransport

if TYPE_CHECKING:
    from tests.integration.ssh.conftest import Sshd

pytestmark = pytest.mark.anyio
SHOW = "import sys,os; sys.stdout.buffer.write(b'\\0'.join(os.fsencode(a) for a in sys.argv[1:]))"
NASTY = (
    "", "a b", "'", '"', "\\", "`id`", "$(id)", "!!", "; id", "%i|%j|%T", "--", "-n", "*", "a\nb", "é", "\udcff",
    "{a,b}", "~", "#", "&", ">x", "\t", "\x01", "(", "%s", "\\n", "日本",
)  # fmt: skip


def sh(line: str, **rest: object) -> Command:
    return Command(("/bin/sh", "-c", line), **rest)  # type: ignore[arg-type]


def gone(pid: str) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


async def test_an_answer_is_whole(there: RemoteTransport) -> None:
    done = await there.run(sh("printf out; printf err >&2; exit 255"))
    assert (done.rc, done.stdout, done.stderr, done.truncated) == (255, b"out", b"err", False)
    assert not there.local
    assert (await there.run(sh("kill -9 $$"))).rc == 137


async def test_identity_is_user_host_and_port(there: RemoteTransport, sshd: Sshd) -> None:
    assert there.identity == f"{sshd.user}@127.0.0.1:{sshd.port}"


async def test_arguments_arrive_unchanged(there: RemoteTransport) -> None:
    command = Command((sys.executable, "-c", SHOW, *NASTY))
    assert (await there.run(command)).stdout.split(b"\0") == [os.fsencode(one) for one in NASTY]
    many = await there.run_many([command, command])
    assert [one.stdout.split(b"\0") for one in many if isinstance(one, Completed)] == [
        [os.fsencode(one) for one in NASTY]
    ] * 2


async def test_input_environment_and_folder(there: RemoteTransport, tmp_path: Path) -> None:
    done = await there.run(
        sh(
            'cat; pwd; printf %s "$A"',
            stdin=b"\0in\n",
            cwd=str(tmp_path),
            environment={"A": "x y"},
            unset=("SBATCH_*",),
        )
    )
    assert done.stdout == f"\0in\n{tmp_path}\nx y".encode()
    assert (await there.run(Command(("cat",)))).stdout == b""


async def test_bytes_come_as_they_are(there: RemoteTransport) -> None:
    data = bytes(range(256)) * 1000
    assert (await there.run(Command(("cat",), stdin=data))).stdout == data


async def test_what_is_not_there(there: RemoteTransport) -> None:
    with pytest.raises(CommandMissing):
        await there.run(Command(("no-such-program",)))
    with pytest.raises(FileMissing):
        await there.run(Command(("true",), cwd="/none/such"))
    with pytest.raises(BadRequest):
        await there.run(Command(()))


async def test_50_megabytes_are_cut_at_the_limit(there: RemoteTransport) -> None:
    done = await there.run(sh("head -c 52428800 /dev/zero; echo end >&2; exit 3", max_output_bytes=2**20))
    assert (len(done.stdout), done.truncated, done.stderr, done.rc) == (2**20, True, b"end\n", 3)


async def test_a_time_limit_ends_the_remote_processes(there: RemoteTransport, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(CommandTimeout):
        await there.run(sh(f"sleep 300 & echo $! $$ >{pids}; wait", timeout_s=1))
    with anyio.fail_after(10):
        while not all(map(gone, pids.read_text().split())):  # noqa: ASYNC110  # another process changes it
            await anyio.sleep(0.05)


async def test_what_is_left_running_is_not_waited_for(there: RemoteTransport) -> None:
    begun = time.monotonic()
    assert (await there.run(sh("sleep 30 & echo left"))).stdout == b"left\n"
    assert time.monotonic() - begun < 10


async def test_one_that_hangs_leaves_the_others_alone(there: RemoteTransport) -> None:
    answers = await there.run_many(
        [Command(("sleep", "60"), timeout_s=1), Command(("echo", "1")), Command(("nothing-such",)), Command(("-x",)),
         Command(("cat",), stdin=b"\0x\n"), Command(("wc", "-c"), stdin=b"y" * 100_000), sh("exit 7")]
    )  # fmt: skip
    kinds = [type(one) for one in answers]
    assert kinds == [CommandTimeout, Completed, CommandMissing, BadRequest, Completed, Completed, Completed]
    assert [one.out.strip() for one in answers if isinstance(one, Completed)] == ["1", "\0x", "100000", ""]
    assert await there.run_many([]) == []


async def test_answers_come_before_what_hangs_has_run_into_its_limit(there: RemoteTransport, sshd: Sshd) -> None:
    counted = sshd.count_sessions()
    begun, when = time.monotonic(), dict[int, float]()
    hang = [Command(("sleep", "60"), timeout_s=6) for _ in range(10)]
    quick = [sh(f"echo {number}") for number in range(30)]
    answers = await there.run_many([*hang, *quick], lambda place, _: when.update({place: time.monotonic() - begun}))
    assert sorted(when) == list(range(40))
    assert max(when[place] for place in range(10, 40)) < 5.5 < min(when[place] for place in range(10))
    assert [one.out for one in answers if isinstance(one, Completed)] == [f"{number}\n" for number in range(30)]
    assert [type(one) for one in answers[:10]] == [CommandTimeout] * 10
    assert counted() == 1


async def test_what_was_told_before_the_connection_broke_stays_told(there: RemoteTransport, sshd: Sshd) -> None:
    told: dict[int, Completed | Exception] = {}

    async def cut() -> None:
        while not told:  # noqa: ASYNC110  # told by a callback
            await anyio.sleep(0.05)
        sshd.cut()

    async with anyio.create_task_group() as group:
        group.start_soon(cut)
        with anyio.fail_after(30):
            answers = await there.run_many(
                [Command(("sleep", "60")), sh("echo 1")], lambda n, one: told.update({n: one})
            )
    assert isinstance(answers[0], TransportError)
    assert isinstance(answers[1], Completed)
    assert told == dict(enumerate(answers))


async def test_40_commands_need_one_round_trip(there: RemoteTransport, sshd: Sshd) -> None:
    counted = sshd.count_sessions()
    answers = await there.run_many([sh(f"echo {number}") for number in range(40)])
    assert [one.out for one in answers if isinstance(one, Completed)] == [f"{number}\n" for number in range(40)]
    assert counted() == 1


async def test_a_file_is_written_read_and_looked_at(there: RemoteTransport, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "-a 'file' \n é"
    data = bytes(range(256)) * 40
    await there.write_file(str(path), data, mode=0o600)
    assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert await there.read_file(str(path)) == data
    assert await there.read_file(str(path), max_bytes=10) == data[:10]
    assert await there.read_file(str(path), max_bytes=10, tail=True) == data[-10:]
    seen = await there.stat(str(path))
    assert seen == FileStat(str(path), "file", len(data), seen.mtime if seen else 0, 0o600)
    assert seen is not None
    assert seen.mtime == pytest.approx(path.stat().st_mtime, abs=0.01)
    await there.write_file(str(path), b"")
    assert await there.read_file(str(path)) == b""


async def test_what_lies_at_a_path(there: RemoteTransport, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    kinds = {}
    for name in ("link", "file", "pipe", ".", "none", "link/x", "file/x"):
        seen = await there.stat(f"{tmp_path}/{name}")
        kinds[name] = seen.kind if seen else None
    assert kinds == {
        "link": "link", "file": "file", "pipe": "other", ".": "directory", "none": None, "link/x": None, "file/x": None,
    }  # fmt: skip
    with pytest.raises(FileMissing):
        await there.read_file(f"{tmp_path}/none")
    with pytest.raises(TransportError, match="no regular file"):
        await there.read_file(str(tmp_path))
    with pytest.raises(TransportError, match="no regular file"):
        await there.read_file(f"{tmp_path}/pipe")
    with pytest.raises(TransportError, match="is a folder"):
        await there.write_file(str(tmp_path), b"x")
    assert await there.read_file("/proc/self/status", max_bytes=5) == b"Name:"


@pytest.mark.skipif(os.geteuid() == 0, reason="for root everything can be read")
async def test_what_may_not_be_looked_at_is_not_absent(there: RemoteTransport, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(TransportError, match="Permission denied"):
        await there.stat(f"{closed}/x")
    with pytest.raises(TransportError, match="Permission denied"):
        await there.read_file(f"{closed}/x")
    with pytest.raises(TransportError, match="Permission denied"):
        await there.write_file(f"{closed}/x", b"")
    closed.chmod(0o700)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(  # noqa: TID251
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no small file system may be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: TID251


async def test_a_full_disk_changes_nothing_and_tells_what_is_needed(there: RemoteTransport, small_disk: Path) -> None:
    target = small_disk / "target"
    await there.write_file(str(target), b"before" * 300_000)
    with pytest.raises(StorageFull) as caught:
        await there.write_file(str(target), bytes(2**22))
    assert caught.value.needed == 2**22
    assert caught.value.free is not None
    assert caught.value.free < 2**22
    assert target.read_bytes() == b"before" * 300_000
    assert os.listdir(small_disk) == ["target"]  # noqa: PTH208


async def test_100_at_once_share_one_connection(there: RemoteTransport, sshd: Sshd) -> None:
    answers: dict[int, str] = {}

    async def one(number: int) -> None:
        answers[number] = (await there.run(Command(("echo", str(number))))).out

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(one, number)
    assert answers == {number: f"{number}\n" for number in range(100)}
    assert sshd.logins() == 1
