"""Every captured output, read whole and compared with `expected.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef
from dragoman.model import Model
from providers.schedulers.slurm import SlurmDialect

FOLDER = Path(__file__).parents[3] / "captures" / "slurm"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())
AT = datetime(2026, 11, 30, 6, 55, tzinfo=UTC)


def capture(name: str) -> Completed:
    argv = tuple((FOLDER / f"{name}.cmd").read_text().split())
    rc = int((FOLDER / f"{name}.rc").read_text())
    return Completed(argv, rc, (FOLDER / f"{name}.stdout").read_bytes(), (FOLDER / f"{name}.stderr").read_bytes())


def plain(value: object) -> Any:
    """A whole answer as JSON, without fields at their defaults."""
    if isinstance(value, Model):
        return value.dump()
    if is_dataclass(value) and not isinstance(value, type):
        pairs = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {name: item for name, item in pairs.items() if item not in ("", [], {}, None, "unknown")}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def answer(slurm: SlurmDialect, verb: str, names: list[str], ids: list[str]) -> Any:
    done = [capture(name) for name in names]
    refs = [JobRef(job_id=job_id) for job_id in ids]
    if verb == "parse_estimate":
        return plain(slurm.parse_estimate(done[0], AT))
    if verb == "parse_workload":
        return plain(slurm.parse_workload(done))
    if verb in ("parse_status", "parse_history"):
        return plain(getattr(slurm, verb)(done[0], refs))
    return plain(getattr(slurm, verb)(done[0]))


@pytest.mark.parametrize("case", EXPECTED)
def test_capture(case: str, slurm: SlurmDialect) -> None:
    expected = EXPECTED[case]
    assert answer(slurm, expected["verb"], expected["captures"], expected.get("ids", [])) == expected["answer"]


def test_every_capture_is_used() -> None:
    """A capture that nothing reads proves nothing."""
    used = {name for expected in EXPECTED.values() for name in expected["captures"]}
    assert used == {path.stem for path in FOLDER.glob("*.cmd")}
