"""Real programs for probes: what the distribution offers, installed where the tests may do that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from dragoman.observation import Answer
from providers.probed import Question, ask_many
from providers.registry import probes
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

Find = Callable[..., Awaitable[Any]]


@pytest.fixture
def find(parts: Path, tmp_path: Path) -> Find:
    """Ask one verb of a probe on this host, in a plain environment."""

    async def ask(
        probe: str, verb: str, name: str | None = None, paths: dict[str, str] | None = None, **environment: str
    ) -> Answer[Any]:
        arguments: BaseModel = PackageQuery(name=name) if name else NoArguments()
        transport = LocalTransport({"PATH": PATH, "HOME": str(tmp_path), **environment})
        return (await ask_many(transport, [Question(probes.get(probe)(), verb, arguments)], paths=paths))[0]

    return ask


async def shell(lines: tuple[str, ...], *, shell: str = "bash", **environment: str) -> tuple[int, str, str]:
    """Run lines as a job script would; exit code, stdout and stderr."""
    done = await anyio.run_process(
        [shell, "-c", "\n".join(lines)], check=False, env={"PATH": PATH, "HOME": "/nonexistent", **environment}
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def run_lines() -> Callable[..., Awaitable[tuple[int, str, str]]]:
    """See `shell`."""
    return shell
