"""Files to and from a site over a connection: by rsync, and piece by piece where there is none."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import pytest

from dragoman.errors import SourceChanging, StorageFull, TransferError, TransportError
from dragoman.site import Site
from dragoman.transfer import TransferItem, TransferPlan, TransferState
from providers.movers import local_ends, remote_stream, rsync, rsync_run
from providers.movers.rsync import RsyncMover
from providers.site_runtime import open_site

if TYPE_CHECKING:
    from tests.integration.ssh.conftest import Needed, Sshd, Transports

pytestmark = pytest.mark.anyio
Direction = Literal["in", "out"]
NASTY = ("plain", "a b/'c' \"d\"", "$(id);`x`", "-n", "--delete", "#x", "é/日本", "host:path", "*?[a]", "back\\slash")


@pytest.fixture(params=["rsync", "pieces-openssh", "pieces-asyncssh"])
def way(request: pytest.FixtureRequest, needed: Needed) -> str:
    if request.param == "rsync":
        needed("rsync", "rsync")
    return str(request.param)


@pytest.fixture
def mover(way: str, reach: Transports) -> RsyncMover:
    there = reach("asyncssh" if way == "pieces-asyncssh" else "openssh", login_shell=False)
    program = "rsync" if way == "rsync" else "/no/such/rsync"
    return RsyncMover(there, quiet_s=0.1, program=program)


def plan_of(
    source: Path, root: Path, names: tuple[str, ...], direction: Direction = "in", sha256: str | None = None
) -> TransferPlan:
    items = tuple(
        TransferItem(source=f"{source}/{name}", destination=f"{root}/{name}", name=name, sha256=sha256)
        for name in names
    )
    return TransferPlan(id="dgm-0-in", mover="rsync", direction=direction, site="there", items=items, root=str(root))


def fill(folder: Path, *names: str, size: int = 1000) -> dict[str, str]:
    """Random files; their SHA-256."""
    sums = {}
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = os.urandom(size)
        path.write_bytes(data)
        path.chmod(0o640)
        sums[name] = hashlib.sha256(data).hexdigest()
    return sums


def everything(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if not one.is_dir())


@pytest.mark.parametrize("direction", ["in", "out"])
async def test_moves_verifies_and_is_started_once(
    mover: RsyncMover, way: str, tmp_path: Path, direction: Direction
) -> None:
    source, root = tmp_path / "my files", tmp_path / "work root"
    source.mkdir()
    sums = fill(source, *NASTY)
    (source / "empty").touch(mode=0o755)
    plan = plan_of(source, root, (*NASTY, "empty"), direction)
    status = await mover.start(plan)
    assert mover.used == ("rsync" if way == "rsync" else "pieces")
    assert status.state is TransferState.SUCCEEDED
    assert status.bytes_done == 1000 * len(NASTY)
    assert status.manifest is not None
    entries = {one.name: one for one in status.manifest.entries}
    assert {name: entries[name].sha256 for name in NASTY} == sums
    assert {entries[name].mode for name in NASTY} == {0o640}
    assert all((root / name).read_bytes() == (source / name).read_bytes() for name in NASTY)
    assert (root / "plain").stat().st_mode & 0o777 == 0o640
    assert everything(root) == everything(source)
    again = await mover.poll(plan, status.handle)
    assert again.manifest is not None
    assert again.manifest.entries == status.manifest.entries
    (source / "plain").write_bytes(b"x" * 1000)
    os.utime(source / "plain", (1, 1))
    os.utime(root / "plain", (1, 1))
    await mover.start(plan)
    assert (root / "plain").read_bytes() == b"x" * 1000, "the same size and time, another content"


async def test_a_file_may_have_another_name_there_and_a_folder_is_taken_whole(
    mover: RsyncMover, tmp_path: Path
) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    fill(source, "a.txt", "folder/b", "folder/deep er/c")
    items = (
        TransferItem(source=f"{source}/a.txt", destination=f"{root}/in put/b.txt", name="b.txt"),
        TransferItem(source=f"{source}/folder", destination=f"{root}/folder", name="folder"),
    )
    for direction in ("in", "out"):
        target = root if direction == "in" else tmp_path / "back"
        moved = tuple(
            one.model_copy(update={"destination": one.destination.replace(str(root), str(target))}) for one in items
        )
        plan = TransferPlan(id="p", mover="rsync", direction=direction, site="s", items=moved, root=str(target))
        status = await mover.start(plan)
        assert status.manifest is not None
        assert [one.name for one in status.manifest.entries] == ["b.txt", "folder/b", "folder/deep er/c"]
        assert everything(target) == ["folder/b", "folder/deep er/c", "in put/b.txt"]
        assert (await mover.verify(plan)).entries == status.manifest.entries


@pytest.mark.parametrize("direction", ["in", "out"])
async def test_what_cannot_be_moved(mover: RsyncMover, tmp_path: Path, direction: Direction) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    fill(source, "a")
    with pytest.raises(TransferError, match="not there"):
        await mover.start(plan_of(source, root, ("none",), direction))
    os.mkfifo(source / "pipe")
    with pytest.raises(TransferError, match="neither a file nor a folder"):
        await mover.start(plan_of(source, root, ("pipe",), direction))
    with pytest.raises(TransferError, match="SHA-256 differs"):
        await mover.start(plan_of(source, root, ("a",), direction, sha256="0" * 64))
    outside = plan_of(source, root, ("a",), direction).model_copy(update={"root": f"{root}/inner"})
    with pytest.raises(TransferError, match="leaves"):
        await mover.start(outside)
    (source / "link").symlink_to("/etc/passwd")
    if direction == "out":
        with pytest.raises(TransferError, match="is a link"):
            await mover.start(plan_of(source, root, ("link",), direction))


async def test_ends_that_differ_are_found(mover: RsyncMover, tmp_path: Path) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    fill(source, "a", "b")
    plan = plan_of(source, root, ("a", "b"))
    with pytest.raises(TransferError, match="not there"):
        await mover.verify(plan)
    await mover.start(plan)
    (root / "b").write_bytes(b"y" * 1000)
    with pytest.raises(TransferError, match="differs"):
        await mover.verify(plan)


async def test_a_line_that_breaks_is_gone_on_with(
    mover: RsyncMover, way: str, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_stream, "PIECE", 2**18)
    source, root = tmp_path / "source", tmp_path / "root"
    sums = fill(source, "big", size=(60 if way == "rsync" else 5) * 2**20)
    plan = plan_of(source, root, ("big",))

    async def cut() -> None:
        with anyio.fail_after(60):
            while not any(one.stat().st_size > 2**20 for one in root.rglob(".*") if one.is_file()):  # noqa: ASYNC110
                await anyio.sleep(0.005)
        sshd.cut()

    async with anyio.create_task_group() as group:
        group.start_soon(cut)
        # Between two pieces a lost connection is made anew without anybody noticing.
        with suppress(TransportError):
            await mover.start(plan)
            assert way != "rsync"
    await anyio.sleep(0.3)
    status = await mover.start(plan)
    assert status.manifest is not None
    assert status.manifest.entries[0].sha256 == sums["big"]
    assert everything(root) == ["big"]


async def test_cancelling_leaves_nothing_partial(
    mover: RsyncMover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_stream, "PIECE", 2**16)
    source, root = tmp_path / "source", tmp_path / "root"
    fill(source, "big", size=60 * 2**20)
    plan = plan_of(source, root, ("big",))
    states = []

    async def start() -> None:
        states.append((await mover.start(plan)).state)

    async with anyio.create_task_group() as group:
        group.start_soon(start)
        with anyio.fail_after(60):
            while not [one for one in root.rglob(".*") if one.is_file()]:  # noqa: ASYNC110
                await anyio.sleep(0.005)
        cancelled = await mover.cancel(plan, {})
    assert cancelled.state is TransferState.CANCELLED
    assert states == [TransferState.CANCELLED]
    assert everything(root) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    argv = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode != 0:  # noqa: TID251
        pytest.skip("no small file system may be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: TID251


@pytest.mark.parametrize("direction", ["in", "out"])
async def test_no_room_is_said_before_and_while_it_is_moved(
    mover: RsyncMover, tmp_path: Path, small_disk: Path, direction: Direction, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    fill(source, "big", size=6 * 2**20)
    plan = plan_of(source, small_disk / "root", ("big",), direction)
    with pytest.raises(StorageFull) as caught:
        await mover.start(plan)
    assert caught.value.needed == 6 * 2**20
    assert caught.value.free is not None
    assert caught.value.free <= 4 * 2**20

    async def unknown(*_: object) -> None:
        return None

    monkeypatch.setattr(rsync, "room_at", unknown)
    monkeypatch.setattr(local_ends, "room_for", lambda root, targets: (None, {}))
    with pytest.raises(StorageFull) as caught:
        await mover.start(plan)
    assert caught.value.needed is not None
    assert everything(small_disk) == []


async def test_a_source_that_is_written_all_the_time(mover: RsyncMover, tmp_path: Path) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    fill(source, "log")
    stop = threading.Event()

    def write() -> None:
        with (source / "log").open("ab", buffering=0) as file:
            while not stop.wait(0.01):
                file.write(b"more\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(SourceChanging):
            await mover.start(plan_of(source, root, ("log",)))
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("spoiled", ["noise", "no-rsync"])
async def test_where_rsync_cannot_work_files_go_in_pieces(
    sshd: Sshd, reach: Transports, needed: Needed, tmp_path: Path, spoiled: str
) -> None:
    needed("rsync", "rsync")
    if spoiled == "noise":
        sshd.login_shell("/bin/bash")
        (sshd.home / ".bashrc").write_text("echo Welcome; echo to the machine\n")
    else:
        sshd.login_shell("/bin/sh", PATH=f"{sshd.folder}/tools")
        (sshd.folder / "tools").mkdir()
        for tool in ("sha256sum", "wc", "stat", "cat", "mkdir", "mv", "rm", "chmod", "df", "tail", "sync", "sleep"):
            (sshd.folder / "tools" / tool).symlink_to(needed(tool, "coreutils"))
    fill(tmp_path / "source", "a")
    mover = RsyncMover(reach("openssh", login_shell=False))
    status = await mover.start(plan_of(tmp_path / "source", tmp_path / "root", ("a",)))
    assert status.state is TransferState.SUCCEEDED
    assert mover.used == "pieces"


def test_exit_codes_are_told_apart() -> None:
    def kind(rc: int, said: str = "") -> type | None:
        found = rsync_run.outcome(rc, said, host="h", needed=1, free=0)
        return None if found is None else type(found)

    full = "rsync: [receiver] write failed on x: No space left on device (28)\nrsync error: error in file IO (code 11)"
    assert kind(0) is None
    assert kind(11, full) is StorageFull
    assert kind(23, "rsync: mkstemp: Disk quota exceeded (122)") is StorageFull
    assert kind(11, "rsync: mkdir failed: Permission denied (13)") is TransferError
    assert kind(23, 'rsync: send_files failed to open "x": Permission denied (13)') is TransferError
    assert kind(24, "file has vanished: x") is SourceChanging
    assert kind(23, "file has vanished: x") is SourceChanging
    assert {kind(rc) for rc in (10, 12, 20, 30, 35, 255)} == {TransportError}
    assert {kind(rc) for rc in (1, 2, 4, 5, 127)} == {rsync_run.NoRsync}
    assert kind(12, "bash: line 1: rsync: command not found") is rsync_run.NoRsync


def test_the_remote_shell_is_quoted_as_rsync_reads_it() -> None:
    assert rsync_run.rsh_text(["ssh", "-o", 'X="/a b"', "it's"]) == "ssh -o 'X=\"/a b\"' 'it''s'"


async def test_a_site_over_a_connection_offers_it(sshd: Sshd, kind: str) -> None:
    runtime = open_site(Site(name="there", scheduler="slurm", transport=sshd.config(kind)))
    assert {*runtime.movers} >= {"rsync"}
    assert "rsync" not in open_site(Site(name="here", scheduler="machine")).movers
