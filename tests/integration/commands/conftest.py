"""Real launchers, modules and containers for commands; what is not there is installed where the tests may do that."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.request import JobRequest
from dragoman.run_plan import RunPlan
from providers.command_body import plan_body

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Open MPI starts nothing for root unless root says so twice."""


@pytest.fixture
def run_plan(tmp_path: Path) -> Callable[..., Any]:
    """Run a plan as the job would: its lines through sh, in the job's folder; exit code, stdout and stderr."""
    work = tmp_path / "my work"
    work.mkdir()

    async def run(plan: RunPlan, request: JobRequest | None = None, **more: str) -> tuple[int, str, str]:
        given = (*plan.environment, *(request.environment if request is not None else ()))
        environment = {each.name: each.value or "" for each in given}
        done = await anyio.run_process(
            ["/bin/sh", "-c", plan_body(plan)], cwd=work, check=False,
            env={"PATH": PATH, "HOME": str(tmp_path), **AS_ROOT, **environment, **more},
        )  # fmt: skip
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A folder with a shell and the libraries that it needs, as an image."""
    root = tmp_path / "image"
    for name in ("/bin/sh", "/usr/bin/env", "/usr/bin/cat"):
        _take(name, root)
        told = subprocess.run(["ldd", name], capture_output=True, text=True, check=True).stdout  # noqa: TID251  # a test may block
        for word in told.split():
            if word.startswith("/"):
                _take(word, root)
    for folder in ("dev", "proc", "sys", "etc", "tmp", "mnt"):
        (root / folder).mkdir(exist_ok=True)
    for file in ("passwd", "group", "hosts", "resolv.conf"):
        (root / "etc" / file).touch()
    return root


def _take(name: str, root: Path) -> None:
    target = root / name.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(name).resolve(), target)
