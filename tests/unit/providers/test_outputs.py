"""Which files of a job are brought back."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.request import OutputFile
from providers.outputs import find_logs, find_outputs
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio


async def found(root: Path, *patterns: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    outputs = [OutputFile(pattern=pattern) for pattern in patterns]
    seen = await find_outputs(LocalTransport(), str(root), outputs, staged={"in.txt"}, latency_s=0)
    return seen.names, seen.missing


async def test_what_each_task_of_an_array_printed_comes_with_the_stated_results(tmp_path: Path) -> None:
    names = ["stdout.log.1", "stderr.log.12", "stdout.log", "part.1", "part.12", "stdout.log.bak", "other", "in.txt"]
    for name in names:
        (tmp_path / name).touch()
    assert await found(tmp_path, "part.*") == (
        ("part.1", "part.12", "stderr.log.12", "stdout.log", "stdout.log.1"),
        (),
    )
    assert await found(tmp_path) == (tuple(sorted(set(names) - {"in.txt"})), ())


async def test_a_log_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "stdout.log.1").touch()
    assert await found(tmp_path, "part.*") == (("stdout.log.1",), ("part.*",))


async def test_what_was_printed_so_far_is_found_task_after_task(tmp_path: Path) -> None:
    for name in ("stdout.log.10", "stderr.log.2", "stdout.log.2", "stdout.log.bak", "std.log", "out", "stdout.log.x"):
        (tmp_path / name).touch()
    (tmp_path / "stderr.log.10").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "stdout.log.1").touch()
    assert await find_logs(LocalTransport(), str(tmp_path)) == ("stdout.log.2", "stderr.log.2", "stdout.log.10")
    assert await find_logs(LocalTransport(), str(tmp_path / "nowhere")) == ()
