"""The folder of the embedded PostgreSQL: who owns it, where it may lie, and what is in it.

::

    <data_dir>/postgres/      mode 0700, owned by the account that runs the server
        alive                 locked (flock) by every process of the server: free means that none is left
        cluster/              the data of PostgreSQL
        host                  which host may run a server here
        postgresql.conf       written at every start
        server.log            what the server says
        wheel-<n>/            a copy of the programs, only where root's own are closed to the account

Nothing outside it is written, except that root creates the account ``dragoman`` once (PostgreSQL refuses to run as
root), and that the socket goes to a folder under ``/tmp`` where the path is too long for one. Modes of folders that
were there before are never changed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from checkpoints.file_systems import shared_file_system
from checkpoints.server_account import ACCOUNT, server_account
from dragoman.errors import DatabaseError, DragomanError, SettingsError

CURE = "set DRAGOMAN_DATA_DIR to another folder on a local disk, or DATABASE_URL to a PostgreSQL that is already there"


@dataclass(frozen=True)
class DataFolder:
    """One checked folder.

    Args:
        root: ``<data_dir>/postgres``, absolute.
        uid: the user that runs the server.
        gid: its group.
    """

    root: Path
    uid: int
    gid: int

    @property
    def cluster(self) -> Path:
        """Where PostgreSQL keeps its data (``PGDATA``)."""
        return self.root / "cluster"

    @property
    def alive(self) -> Path:
        """The file that is locked while any process of the server lives."""
        return self.root / "alive"

    @property
    def log(self) -> Path:
        """What the server wrote since it was last cut."""
        return self.root / "server.log"

    def write(self, name: str, text: str) -> None:
        """Write a small file so that it is there whole or not at all, readable by the server's account."""
        new = self.root / f".{name}.{secrets.token_hex(4)}"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.root / name)
        except OSError as problem:
            new.unlink(missing_ok=True)
            raise disk_error(problem, self.root / name) from problem

    def claim_for_this_host(self) -> None:
        """Note that this host runs the server here; the caller holds the lock of ``alive``.

        A folder that was stopped cleanly may move to another host with its disk.

        Raises:
            SettingsError: another host started a server here and nothing shows that it has stopped.
        """
        identity = host_identity()
        marker = self.root / "host"
        try:
            owner = json.loads(marker.read_text(encoding="utf-8"))
        except FileNotFoundError:
            owner = {}
        except ValueError:
            owner = {"hostname": "unknown, the file cannot be read"}
        if owner.get("identity") == identity:
            return
        if owner and (self.cluster / "postmaster.pid").exists():
            raise SettingsError(
                f"the folder belongs to the PostgreSQL of another host ({owner.get('hostname', 'unknown')})",
                where=str(self.root),
                cure=f"{CURE}; stop it there with 'dragoman db stop'; if that host is gone for good, delete {marker}",
            )
        self.write("host", json.dumps({"identity": identity, "hostname": platform.node()}) + "\n")


def host_identity(machine_id: Path = Path("/etc/machine-id")) -> str:
    """Tell this host from others, over reboots, without giving the machine's id away (``machine-id(5)``)."""
    try:
        known = machine_id.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        known = ""
    return hashlib.sha256(f"dragoman {known or platform.node()}".encode()).hexdigest()[:32]


def disk_error(problem: OSError, where: Path) -> DragomanError:
    """Put the refusal of a file system into words."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return DatabaseError(
            "the disk or quota is full", where=str(where), cure=f"free at least 200 MB there; or {CURE}"
        )
    return SettingsError(f"the folder cannot be used: {problem.strerror or problem}", where=str(where), cure=CURE)


async def prepare(data_dir: Path) -> DataFolder:
    """Check a data folder and create what is missing.

    Raises:
        SettingsError: it lies on a network file system, belongs to another user, is closed to the account that has to
            run the server, or cannot be written.
        DatabaseError: the disk is full.
    """
    kind = await to_thread.run_sync(shared_file_system, data_dir)
    if kind is not None:
        raise SettingsError(
            f"the folder lies on a network file system ({kind}), where PostgreSQL's data is not safe",
            where=str(data_dir),
            cure=CURE,
        )
    uid, gid = (os.geteuid(), os.getegid()) if os.geteuid() != 0 else await server_account(CURE)
    return await to_thread.run_sync(_create, data_dir, uid, gid)


def _create(data_dir: Path, uid: int, gid: int) -> DataFolder:
    folder = DataFolder(root=data_dir / "postgres", uid=uid, gid=gid)
    if "\n" in str(data_dir):
        raise SettingsError("the folder's name contains a line break", where=repr(str(data_dir)), cure=CURE)
    try:
        missing = [path for path in (folder.root, *folder.root.parents) if not path.exists()]
        present = missing[-1].parent if missing else folder.root
        if os.geteuid() == 0:
            _check_for_root(present, uid, gid)
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
            # As root the account has to pass through to its own folder, which stays closed to everybody else.
            if os.geteuid() == 0 and path != folder.root:
                path.chmod(0o711)
        state = folder.root.lstat()
        # Empty and root's: just made, by this process or by one that runs beside it.
        if os.geteuid() == 0 == state.st_uid and stat.S_ISDIR(state.st_mode) and not any(folder.root.iterdir()):
            os.chown(folder.root, uid, gid, follow_symlinks=False)
            state = folder.root.lstat()
    except OSError as problem:
        raise disk_error(problem, data_dir) from problem
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != uid:
        raise SettingsError(
            f"the folder belongs to another user (number {state.st_uid}, and not {uid})",
            where=str(folder.root),
            cure=f"run dragoman as that user; or {CURE}",
        )
    if state.st_mode & 0o077:
        folder.root.chmod(0o700)
    return folder


def _check_for_root(present: Path, uid: int, gid: int) -> None:
    """Refuse what root would have to open, or what another user could exchange under root's hands."""
    for path in (present, *present.parents):
        state = path.stat()
        group = 0o010 if state.st_gid == gid else 0
        if not state.st_mode & (0o100 if state.st_uid == uid else 0o001 | group):
            raise SettingsError(
                f"PostgreSQL does not run as root, and the account '{ACCOUNT}' that it runs as cannot pass {path}",
                where=str(present),
                cure=f"use a folder outside private homes such as /var/lib/dragoman ({CURE}); "
                "or run dragoman as an ordinary user",
            )
    if present.stat().st_uid not in (0, uid):
        raise SettingsError(
            f"the folder belongs to user number {present.stat().st_uid}, and dragoman runs as root",
            where=str(present),
            cure=f"run dragoman as that user; or {CURE}",
        )
