"""The account that runs the embedded server when root starts it: PostgreSQL refuses to run as root.

Source: ``useradd(8)``.
"""

from __future__ import annotations

import pwd

import anyio
from anyio import to_thread

from dragoman.errors import SettingsError

ACCOUNT = "dragoman"


async def server_account(cure: str) -> tuple[int, int]:
    """Find or create the account.

    Args:
        cure: what else a person can do, for the error.

    Returns:
        Its user and group number.

    Raises:
        SettingsError: it is not there and cannot be created.
    """
    reason = "it does not exist"
    for attempt in range(10):
        try:
            entry = await to_thread.run_sync(pwd.getpwnam, ACCOUNT)
        except KeyError:
            pass
        else:
            return entry.pw_uid, entry.pw_gid
        if attempt:
            # Another process may be creating it: useradd locks the password file and fails for the second.
            await anyio.sleep(0.3)
        command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        try:
            done = await anyio.run_process([*command, "--shell", "/usr/sbin/nologin", ACCOUNT], check=False)
        except OSError as problem:
            reason = f"useradd: {problem.strerror}"
            break
        reason = done.stderr.decode(errors="replace").strip() or f"useradd ended with {done.returncode}"
    raise SettingsError(
        f"PostgreSQL does not run as root, and its account '{ACCOUNT}' cannot be had: {reason}",
        cure=f"run dragoman as an ordinary user, create the account, or {cure}",
    )
