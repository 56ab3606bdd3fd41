"""Secret values of requests, one file of mode 0600 each, outside the database."""

from __future__ import annotations

import os
import re
from pathlib import Path

import anyio
import anyio.to_thread

from dragoman.errors import BadRequest

__all__ = ["SecretStore"]

_KEY = re.compile(r"[A-Za-z0-9_.\-]{1,128}")


class SecretStore:
    """Keeps values by key; a request holds only the key.

    Args:
        folder: private to the user; made on first use.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def put(self, key: str, value: str) -> None:
        """Keep a value; it replaces an earlier one.

        Raises:
            BadRequest: for a key that is no plain name.

        """
        await anyio.to_thread.run_sync(self._put, self._path(key), value)

    async def get(self, key: str) -> str | None:
        """The value, or None where there is none."""
        try:
            return await anyio.Path(self._path(key)).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    async def forget(self, key: str) -> None:
        """Remove a value; nothing happens where there is none."""
        await anyio.Path(self._path(key)).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key) or key.startswith("."):
            raise BadRequest(f"{key!r} is no name of a secret", where="secret", cure="use letters, digits, . _ -")
        return self.folder / key

    def _put(self, path: Path, value: str) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(value)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
