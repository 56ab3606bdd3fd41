"""The local mover: whole or not at all, verified, never out of the root."""

import errno
import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import anyio
import pytest

from dragoman.errors import SourceChanging, StorageFull, TransferError
from dragoman.transfer import TransferItem, TransferPlan, TransferState
from providers.movers import local as local_module
from providers.movers import local_copy
from providers.movers.local import LocalMover
from providers.movers.local_copy import part_name

pytestmark = pytest.mark.anyio


def plan_of(
    root: Path, *pairs: tuple[Path, str], direction: Literal["in", "out"] = "in", sha256: str | None = None
) -> TransferPlan:
    items = tuple(
        TransferItem(source=str(source), destination=f"{root}/{name}", name=name, sha256=sha256)
        for source, name in pairs
    )
    return TransferPlan(id="dgm-0-in", mover="local", direction=direction, site="local", items=items, root=str(root))


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


async def test_copies_content_mode_and_reports_a_verified_manifest(tmp_path: Path) -> None:
    data = os.urandom(9 * 2**20 + 17)
    source = tmp_path / "run me.sh"
    source.write_bytes(data)
    source.chmod(0o750)
    root = tmp_path / "site" / "work"
    mover = LocalMover()
    plan = plan_of(root, (source, "bin/run.sh"))
    status = await mover.start(plan)
    assert status.state is TransferState.SUCCEEDED
    assert (root / "bin/run.sh").read_bytes() == data
    assert (root / "bin/run.sh").stat().st_mode & 0o777 == 0o750
    assert status.manifest is not None
    (entry,) = status.manifest.entries
    assert (entry.name, entry.bytes, entry.sha256) == ("bin/run.sh", len(data), hashlib.sha256(data).hexdigest())
    assert everything(root) == ["bin", "bin/run.sh"]
    assert (await mover.verify(plan)).entries == status.manifest.entries


async def test_starting_twice_is_once_and_a_changed_source_is_copied_again(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("one")
    root = tmp_path / "work"
    mover, plan = LocalMover(), plan_of(root, (source, "a"))
    await mover.start(plan)
    first = (root / "a").stat()
    again = await LocalMover().start(plan)
    assert (root / "a").stat().st_ino == first.st_ino
    assert again.state is TransferState.SUCCEEDED
    assert again.manifest is not None
    source.write_text("two")
    assert (await mover.poll(plan, {"plan": plan.id})).state is TransferState.SUCCEEDED
    assert (root / "a").read_text() == "two"


async def test_two_starts_at_once_both_end_well(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_bytes(os.urandom(8 * 2**20))
    root = tmp_path / "work"
    plan = plan_of(root, (source, "a"))
    states = []

    async def start() -> None:
        states.append((await LocalMover().start(plan)).state)

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(start)
    assert states == [TransferState.SUCCEEDED] * 4
    assert everything(root) == ["a"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("out/x.dat", "out/x.dat"), ("out/x.dat", "OUT/X.dat"), ("caf\u00e9.txt", "cafe\u0301.txt"), ("out", "out/x.dat")],
)
async def test_destinations_that_meet_are_refused_before_anything_is_copied(
    tmp_path: Path, first: str, second: str
) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.dat").write_text(folder)
    root = tmp_path / "work"
    plan = plan_of(root, (tmp_path / "a/x.dat", first), (tmp_path / "b/x.dat", second))
    with pytest.raises(TransferError, match=r"become|folder for") as caught:
        await LocalMover().start(plan)
    assert caught.value.cure
    assert everything(root) == []


async def test_files_of_two_folders_that_meet_are_refused(tmp_path: Path) -> None:
    for folder, name in (("a", "X.dat"), ("b", "x.dat")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(folder)
    root = tmp_path / "work"
    with pytest.raises(TransferError, match="become"):
        await LocalMover().start(plan_of(root, (tmp_path / "a", "in"), (tmp_path / "b", "IN")))
    assert everything(root) == []


async def test_a_folder_is_copied_with_its_empty_folders_and_inner_links_as_files(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "empty").mkdir()
    (tree / "deep/er/f").write_text("f")
    (tree / "g").symlink_to("deep/er/f")
    root = tmp_path / "work"
    status = await LocalMover().start(plan_of(root, (tree, "data")))
    assert everything(root) == ["data", "data/deep", "data/deep/er", "data/deep/er/f", "data/empty", "data/g"]
    assert not (root / "data/g").is_symlink()
    assert status.manifest is not None
    assert sorted(entry.name for entry in status.manifest.entries) == ["data/deep/er/f", "data/g"]


@pytest.mark.parametrize("kind", ["link-out", "dangling", "fifo"])
async def test_what_is_no_file_inside_the_folder_is_refused(tmp_path: Path, kind: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a").write_text("a")
    if kind == "fifo":
        os.mkfifo(tree / "z")
    else:
        (tree / "z").symlink_to("/etc/passwd" if kind == "link-out" else "nowhere")
    root = tmp_path / "work"
    with pytest.raises(TransferError):
        await LocalMover().start(plan_of(root, (tree, "data")))
    assert everything(root) == []


@pytest.mark.parametrize("name", ["../../.ssh/authorized_keys", "a/../../b", "/etc/cron.d/x", "a//../../b"])
async def test_a_destination_out_of_the_root_is_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / "a"
    source.write_text("a")
    root = tmp_path / "home" / "req" / "work"
    item = TransferItem(source=str(source), destination=os.path.join(root, name), name="a")  # noqa: PTH118
    plan = TransferPlan(id="p", mover="local", direction="out", site="local", items=(item,), root=str(root))
    with pytest.raises(TransferError, match="leaves"):
        await LocalMover().start(plan)
    assert everything(tmp_path) == ["a"]


async def test_a_link_at_the_destination_is_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "home" / "bob"
    home.mkdir(parents=True)
    root = tmp_path / "work"
    root.mkdir()
    (root / "out").symlink_to(home)
    (root / "plain").symlink_to(home / "target")
    source = tmp_path / "a"
    source.write_text("a")
    with pytest.raises(TransferError, match="link"):
        await LocalMover().start(plan_of(root, (source, "out/a")))
    await LocalMover().start(plan_of(root, (source, "plain")))
    assert everything(home) == []
    assert (root / "plain").read_text() == "a"
    assert not (root / "plain").is_symlink()


@pytest.mark.parametrize("where", ["file", "folder"])
async def test_a_link_that_a_job_left_does_not_lead_out_of_its_folder(tmp_path: Path, where: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("private")
    job = tmp_path / "job"
    job.mkdir()
    if where == "file":
        (job / "key").symlink_to(secret / "key")
        name = "key"
    else:
        (job / "out").symlink_to(secret)
        name = "out/key"
    results = tmp_path / "results"
    with pytest.raises(TransferError, match="leads out"):
        await LocalMover().start(plan_of(results, (job / name, name), direction="out"))
    assert everything(results) == []


async def test_a_missing_source_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    root = tmp_path / "work"
    with pytest.raises(TransferError, match="is not there"):
        await LocalMover().start(plan_of(root, (tmp_path / "a", "a"), (tmp_path / "b", "b")))
    assert everything(root) == []


@pytest.mark.parametrize("keep_time", [False, True])
@pytest.mark.parametrize("change", ["append", "same-size", "shrink"])
async def test_a_source_that_does_not_lie_still_is_not_staged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, keep_time: bool
) -> None:
    source = tmp_path / "log"
    source.write_bytes(b"x" * 2**20)
    real, writes = local_copy._copy, []

    def written_meanwhile(*args: object) -> str:
        before = source.stat()
        digest = real(*args)  # type: ignore[arg-type]
        writes.append(1)
        data = {"append": b"y" * (2**20 + len(writes)), "same-size": bytes([len(writes)]) * 2**20, "shrink": b"y"}
        with source.open("r+b") as file:
            file.write(data[change])
            file.truncate()
        if keep_time:
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        return digest

    monkeypatch.setattr(local_copy, "_copy", written_meanwhile)
    root = tmp_path / "work"
    with pytest.raises(SourceChanging, match="was written"):
        await LocalMover(quiet_s=0.01, tries=1).start(plan_of(root, (source, "log")))
    assert everything(root) == []


async def test_a_source_that_becomes_quiet_is_copied_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "log"
    source.write_bytes(b"x")
    real, calls = local_copy.copy_file, []

    def once_changing(*args: object, **more: object) -> object:
        calls.append(1)
        if len(calls) == 1:
            raise SourceChanging("was written while it was copied")
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(local_module, "copy_file", once_changing)
    status = await LocalMover(quiet_s=0.01).start(plan_of(tmp_path / "work", (source, "log")))
    assert status.state is TransferState.SUCCEEDED
    assert len(calls) == 2


async def test_a_replaced_source_counts_as_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a"
    source.write_bytes(b"one")
    real = local_copy._copy

    def replaced(*args: object) -> str:
        digest = real(*args)  # type: ignore[arg-type]
        other = tmp_path / "b"
        other.write_bytes(b"two")
        os.utime(other, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
        other.rename(source)
        return digest

    monkeypatch.setattr(local_copy, "_copy", replaced)
    with pytest.raises(SourceChanging):
        await LocalMover(quiet_s=0.01, tries=1).start(plan_of(tmp_path / "work", (source, "a")))
    assert everything(tmp_path / "work") == []


async def test_content_that_is_not_what_was_asked_for_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("other")
    plan = plan_of(tmp_path / "work", (source, "a"), sha256="0" * 64)
    with pytest.raises(TransferError, match="SHA-256 differs"):
        await LocalMover().start(plan)
    assert everything(tmp_path / "work") == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB of its own."""
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(mount)], capture_output=True)  # noqa: TID251
    if done.returncode != 0:
        pytest.skip("needs the right to mount a tmpfs")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)  # noqa: TID251


async def test_no_room_is_seen_before_copying(tmp_path: Path, small_disk: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(b"x" * 3 * 2**20)
    with pytest.raises(StorageFull) as caught:
        await LocalMover().start(plan_of(small_disk / "work", (source, "big")))
    assert caught.value.needed == 3 * 2**20
    assert caught.value.free is not None
    assert caught.value.free <= 2**20
    assert not caught.value.transient
    assert everything(small_disk) == []


async def test_a_disk_that_fills_while_copying_leaves_nothing_partial(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_module, "_check_room", lambda root, files: None)
    small = tmp_path / "small"
    small.write_bytes(b"y" * 2**19)
    source = tmp_path / "big"
    source.write_bytes(b"x" * 3 * 2**20)
    root = small_disk / "work"
    plan = plan_of(root, (small, "small"), (source, "big"))
    with pytest.raises(StorageFull) as caught:
        await LocalMover().start(plan)
    assert caught.value.needed == 3 * 2**20
    assert caught.value.free is not None
    assert everything(root) == ["small"]


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.ENOSPC, errno.EFBIG])
@pytest.mark.parametrize("call", ["write", "fsync"])
async def test_a_quota_is_a_full_disk_and_not_a_network_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    def full(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    source = tmp_path / "a"
    source.write_bytes(b"abc")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(StorageFull) as caught:
        await LocalMover().start(plan_of(tmp_path / "work", (source, "a")))
    monkeypatch.undo()
    assert (caught.value.needed, caught.value.transient) == (3, False)
    assert isinstance(caught.value.free, int)
    assert everything(tmp_path / "work") == []


@pytest.mark.parametrize("what", ["file", "folder"])
async def test_a_root_that_cannot_be_made_is_a_transfer_error(tmp_path: Path, what: str) -> None:
    (tmp_path / "occupied").write_text("a file")
    source = tmp_path / "source"
    if what == "folder":
        (source / "empty").mkdir(parents=True)
    else:
        source.write_text("a")
    with pytest.raises(TransferError) as caught:
        await LocalMover().start(plan_of(tmp_path / "occupied" / "work", (source, "a")))
    assert "occupied" in caught.value.where


async def test_cancel_stops_and_removes_what_is_partial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_copy, "CHUNK", 4096)
    source = tmp_path / "big"
    source.write_bytes(os.urandom(64 * 2**20))
    root = tmp_path / "work"
    mover, plan = LocalMover(), plan_of(root, (source, "big"))
    states = []

    async def start() -> None:
        states.append((await mover.start(plan)).state)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(start)
        while not (root / part_name(plan.id, "big")).exists():  # noqa: ASYNC110  # the file is the event
            await anyio.sleep(0.001)
        assert (await mover.cancel(plan, {})).state is TransferState.CANCELLED
    assert states == [TransferState.CANCELLED]
    assert everything(root) == []


async def test_cancel_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("a")
    root = tmp_path / "work"
    root.mkdir()
    plan = plan_of(root, (source, "a"))
    (root / part_name(plan.id, "a")).write_text("half")
    await LocalMover().cancel(plan, {})
    assert everything(root) == []
    (root / part_name(plan.id, "a")).write_text("half")
    await LocalMover().start(plan)
    assert everything(root) == ["a"]


async def test_verify_tells_a_difference_and_an_absence(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("abc")
    root = tmp_path / "work"
    mover, plan = LocalMover(), plan_of(root, (source, "a"))
    with pytest.raises(TransferError, match="is not there"):
        await mover.verify(plan)
    await mover.start(plan)
    (root / "a").write_text("abd")
    with pytest.raises(TransferError, match="differs"):
        await mover.verify(plan)
