"""A real PostgreSQL for the tests of this folder."""

# A test may block its own event loop.
# ruff: noqa: ASYNC240

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from checkpoints.embedded import EmbeddedServer


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


async def _folder_and_stop(parent: Path) -> AsyncIterator[Path]:
    # Open to pass, unlike pytest's own: as root the server runs under another account.
    parent.chmod(0o711)
    yield parent / "data"
    for data_dir in parent.iterdir():
        server = await EmbeddedServer.find(data_dir)
        if server is not None:
            await server.stop()
    shutil.rmtree(parent)


@pytest.fixture
async def data_dir(anyio_backend: str) -> AsyncIterator[Path]:
    """A data folder that is not there yet; servers in it and beside it are stopped afterwards."""
    async for path in _folder_and_stop(Path(tempfile.mkdtemp(prefix="dragoman-test-"))):
        yield path


@pytest.fixture(scope="session")
async def server(anyio_backend: str) -> AsyncIterator[EmbeddedServer]:
    """One server for all tests that do not hurt it."""
    async for path in _folder_and_stop(Path(tempfile.mkdtemp(prefix="dragoman-test-"))):
        yield await EmbeddedServer.ensure(path)
