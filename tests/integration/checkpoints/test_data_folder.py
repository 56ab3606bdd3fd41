"""Folders that the embedded server refuses, and what it does not touch."""

# A test may block its own event loop.
# ruff: noqa: ASYNC221, ASYNC240, TID251

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoints import file_systems
from checkpoints.data_folder import host_identity, prepare
from checkpoints.embedded import EmbeddedServer
from checkpoints.postgres_programs import programs_of_wheel
from dragoman.errors import DatabaseError, SettingsError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to run the server under another account")
CURES = ("DRAGOMAN_DATA_DIR", "DATABASE_URL")


def modes(path: Path) -> dict[str, int]:
    return {str(entry): entry.stat().st_mode for entry in (path, *path.parents)}


async def test_a_network_file_system_is_refused_and_left_alone(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 0:1 / / rw - ext4 /dev/root rw\n23 22 0:2 / {data_dir.parent} rw - lustre a:/b rw\n")
    monkeypatch.setattr(file_systems, "MOUNTINFO", table)
    with pytest.raises(SettingsError, match="lustre") as caught:
        await EmbeddedServer.ensure(data_dir)
    assert all(cure in caught.value.cure for cure in CURES)
    assert not data_dir.exists()


async def test_a_folder_of_another_host_is_refused_while_it_may_run_there(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    marker = data_dir / "postgres" / "host"
    pid_file = data_dir / "postgres" / "cluster" / "postmaster.pid"
    running = pid_file.read_text()
    await server.stop()
    other = json.dumps({"identity": "another", "hostname": "login3"})

    marker.write_text(other)
    pid_file.write_text(running)
    with pytest.raises(SettingsError, match="login3") as caught:
        await EmbeddedServer.ensure(data_dir)
    assert all(cure in caught.value.cure for cure in CURES)
    assert str(marker) in caught.value.cure
    assert pid_file.read_text() == running

    # Stopped cleanly there, it may move with its disk.
    pid_file.unlink()
    await EmbeddedServer.ensure(data_dir)
    assert json.loads(marker.read_text())["identity"] == host_identity()


def test_a_host_is_known_again_and_its_machine_id_is_not_given_away(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("0123456789abcdef0123456789abcdef\n")
    two.write_text("fedcba9876543210fedcba9876543210\n")
    assert host_identity(one) == host_identity(one) != host_identity(two)
    assert "0123456789abcdef" not in host_identity(one)
    assert host_identity(tmp_path / "absent") == host_identity(tmp_path / "absent") != host_identity(one)


@as_root
async def test_root_opens_no_private_folder(data_dir: Path) -> None:
    home = data_dir.parent / "home"
    home.mkdir(mode=0o700)
    before = modes(home)
    with pytest.raises(SettingsError, match="cannot pass") as caught:
        await EmbeddedServer.ensure(home / "share" / "dragoman")
    assert "/var/lib/dragoman" in caught.value.cure
    assert all(cure in caught.value.cure for cure in CURES)
    assert modes(home) == before
    assert list(home.iterdir()) == []


@as_root
async def test_root_does_not_work_in_a_users_folder(data_dir: Path) -> None:
    home = data_dir.parent / "home"
    home.mkdir(mode=0o755)
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(home, nobody, -1)
    with pytest.raises(SettingsError, match=f"belongs to user number {nobody}"):
        await EmbeddedServer.ensure(home / "dragoman")
    assert list(home.iterdir()) == []


@as_root
async def test_starting_changes_no_mode_of_what_was_there(data_dir: Path) -> None:
    before = modes(data_dir.parent)
    wheel = modes(programs_of_wheel("18") / "postgres")
    await EmbeddedServer.ensure(data_dir)
    assert modes(data_dir.parent) == before
    assert modes(programs_of_wheel("18") / "postgres") == wheel
    assert (data_dir / "postgres").stat().st_mode & 0o777 == 0o700


@as_root
async def test_other_users_reach_nothing(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    program = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    command = ["/usr/bin/env", "python3", "-c", program, str(data_dir / "postgres" / ".s.PGSQL.5432")]
    allowed = subprocess.run(command, capture_output=True, text=True)
    assert allowed.returncode == 0, allowed.stderr
    refused = subprocess.run(
        ["/usr/bin/perl", "-MIO::Socket::UNIX", "-e", "IO::Socket::UNIX->new(Peer => shift) or die $!", command[-1]],
        user="nobody",
        group="nogroup",
        extra_groups=[],
        capture_output=True,
        text=True,
    )
    assert refused.returncode != 0
    assert "Permission denied" in refused.stderr
    assert server.pid > 0


@as_root
async def test_programs_in_roots_private_home_are_copied_and_not_opened(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = data_dir.parent / "private"
    private.mkdir(mode=0o700)
    package = programs_of_wheel("18").parent.parent
    shutil.copytree(package / "pginstall18", private / package.name / "pginstall18")
    shutil.copytree(package.with_name(f"{package.name}.libs"), private / f"{package.name}.libs")
    (private / package.name / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(private))
    assert programs_of_wheel("18").is_relative_to(private)
    server = await EmbeddedServer.ensure(data_dir)
    executable = Path(f"/proc/{server.pid}/exe").readlink()
    assert executable.is_relative_to(data_dir / "postgres")
    assert private.stat().st_mode & 0o777 == 0o700


async def test_a_missing_wheel_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])
    with pytest.raises(SettingsError, match="not installed") as caught:
        await EmbeddedServer.ensure(data_dir)
    assert "dragoman[embedded]" in caught.value.cure


async def test_data_of_another_major_version_is_named(data_dir: Path) -> None:
    server = await EmbeddedServer.ensure(data_dir)
    await server.stop()
    (data_dir / "postgres" / "cluster" / "PG_VERSION").write_text("17\n")
    with pytest.raises(SettingsError, match="PostgreSQL 17"):
        await EmbeddedServer.ensure(data_dir)


@pytest.mark.parametrize("place", ["data", "postgres"])
async def test_a_file_in_the_way_is_named(data_dir: Path, place: str) -> None:
    if place == "data":
        data_dir.write_text("")
    else:
        data_dir.mkdir()
        (data_dir / "postgres").write_text("")
    with pytest.raises(SettingsError) as caught:
        await EmbeddedServer.ensure(data_dir)
    assert str(data_dir) in str(caught.value)


async def test_preparing_again_changes_nothing(data_dir: Path) -> None:
    assert await prepare(data_dir) == await prepare(data_dir)


@pytest.fixture
def small_disk(data_dir: Path) -> Iterator[Path]:
    """A file system of 60 MB: enough for a cluster, barely."""
    place = data_dir.parent / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("cannot mount")
    place.chmod(0o755)
    yield place / "data"
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Fill a file system but for some bytes."""
    filler = disk / "filler"
    descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT)
    try:
        rest = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - leave
        while rest > 0:
            rest -= os.write(descriptor, bytes(min(rest, 1 << 20)))
    finally:
        os.close(descriptor)
    return filler


@as_root
@pytest.mark.parametrize("free", [0, 2 << 20, 30 << 20])
async def test_a_disk_too_full_to_begin(small_disk: Path, free: int) -> None:
    filler = fill(small_disk.parent, free)
    with pytest.raises(DatabaseError, match="full") as caught:
        await EmbeddedServer.ensure(small_disk)
    assert "free at least" in caught.value.cure
    filler.unlink()
    await (await EmbeddedServer.ensure(small_disk)).stop()


@as_root
@pytest.mark.parametrize("free", [0, 4 << 10, 16 << 10])
async def test_a_disk_that_filled_up_meanwhile(small_disk: Path, free: int) -> None:
    await (await EmbeddedServer.ensure(small_disk)).stop()
    filler = fill(small_disk.parent, free)
    with pytest.raises(DatabaseError, match="full"):
        await EmbeddedServer.ensure(small_disk)
    filler.unlink()
    await (await EmbeddedServer.ensure(small_disk)).stop()
