"""What tests everywhere may ask for: one real PostgreSQL for the whole run, and a database of its own for each test."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import pytest

# What a test does not ask for is not imported: unit tests stay quick.
if TYPE_CHECKING:
    from checkpoints.ledger.ledger import PostgresLedger
    from checkpoints.pool import LoopPools

T = TypeVar("T")
_NUMBERS = count(1)
_TEMPLATE = "migrated"
INSTALL = Path(__file__).parent / "integration" / "probes" / "install.sh"
MAY_NOT = 77
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROGRAMS = ("mpirun.openmpi", "mpiexec.mpich", "podman", "ch-run")
_FIRST = ("integration/slurm/", "integration/continuation/test_campaign.py", "acceptance/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile`, one worker has all tests of a file, and one has all that need the one Slurm of the run.

    (`--dist loadgroup` would say the same with marks, but pytest-xdist 3.8 cannot name its groups under pytest 9.2.)
    """
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it has no types

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # of a base without types
        def _split_scope(self, nodeid: str) -> str:
            return "slurm" if "/integration/slurm/" in nodeid else nodeid.partition("::")[0]

    return ByFile(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with what takes longest."""
    if not hasattr(config, "workerinput"):
        return
    here = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        path = item.path.relative_to(here).as_posix()
        return next((i for i, first in enumerate(_FIRST) if path.startswith(first)), len(_FIRST))

    items.sort(key=place)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def _install(folder: Path) -> None:
    """Put real programs of the distribution on this host, and Lmod into the folder; skips where tests may not."""
    process = subprocess.Popen(
        [str(INSTALL), str(folder)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _, err = process.communicate(timeout=500)
    if process.returncode == MAY_NOT:
        pytest.skip(err.strip())
    assert process.returncode == 0, err


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with an unpacked Lmod; the other real programs are installed."""
    folder = tmp_path_factory.mktemp("parts")
    _install(folder)
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Open MPI, MPICH, environment modules, Podman and Charliecloud, installed where they are missing."""
    if not all(shutil.which(name, path=PATH) for name in PROGRAMS) or not Path("/usr/share/modules/init/sh").exists():
        _install(tmp_path_factory.mktemp("parts"))


def _apart(function: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """Run it in a thread of its own: this one has an event loop already where an asynchronous fixture came first."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, function, *arguments).result()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """DSN of a PostgreSQL of the run's own; it is stopped and removed at the end."""
    from checkpoints.embedded import EmbeddedServer

    parent = Path(tempfile.mkdtemp(prefix="dragoman-postgres-"))
    # Open to pass, unlike pytest's own folders: as root the server runs under another account.
    parent.chmod(0o711)
    server = _apart(EmbeddedServer.ensure, parent / "data")
    yield server.dsn
    _apart(server.stop)
    shutil.rmtree(parent)


async def _make_template(dsn: str) -> None:
    import psycopg
    from psycopg.conninfo import make_conninfo

    from checkpoints.migrate import migrate
    from checkpoints.pool import open_pool

    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(f'CREATE DATABASE "{_TEMPLATE}"'.encode())
    pool = await open_pool(make_conninfo(dsn, dbname=_TEMPLATE))
    await migrate(pool)
    await pool.close()


@pytest.fixture(scope="session")
def migrated(postgres: str) -> str:
    """Name of a database with all tables and no rows, to copy from."""
    _apart(_make_template, postgres)
    return _TEMPLATE


def _database(postgres: str, template: str) -> Iterator[str]:
    import psycopg
    from psycopg.conninfo import make_conninfo

    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        yield make_conninfo(postgres, dbname=name)
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@pytest.fixture
def database(postgres: str, migrated: str) -> Iterator[str]:
    """DSN of a fresh, migrated database."""
    yield from _database(postgres, migrated)


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """DSN of a fresh database without any table."""
    yield from _database(postgres, "template0")


@pytest.fixture
async def pools(database: str) -> AsyncIterator[LoopPools]:
    """Pools of the test's own database."""
    from checkpoints.pool import LoopPools

    opened = LoopPools(database, max_size=8)
    yield opened
    await opened.aclose()


@pytest.fixture
def ledger(pools: LoopPools) -> PostgresLedger:
    """An empty ledger."""
    from checkpoints.ledger.ledger import PostgresLedger

    return PostgresLedger(pools)
