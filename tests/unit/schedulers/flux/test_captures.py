"""Every captured output, read whole and compared with `expected.json`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef
from dragoman.model import Model
from providers.registry import dialects

CAPTURES = Path(__file__).parents[3] / "captures"
CASES = [
    (folder, case, expected)
    for folder in ("flux",)
    for case, expected in json.loads((CAPTURES / folder / "expected.json").read_text()).items()
]


def capture(folder: str, name: str) -> Completed:
    at = CAPTURES / folder / name
    argv = tuple(shlex.split(Path(f"{at}.cmd").read_text()))
    rc = int(Path(f"{at}.rc").read_text())
    return Completed(argv, rc, Path(f"{at}.stdout").read_bytes(), Path(f"{at}.stderr").read_bytes())


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
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


@pytest.mark.parametrize(("folder", "case", "expected"), CASES, ids=[f"{folder}-{case}" for folder, case, _ in CASES])
def test_capture(folder: str, case: str, expected: dict[str, Any]) -> None:
    dialect = dialects.get(expected["dialect"])()
    done = [capture(folder, name) for name in expected["captures"]]
    refs = [JobRef(job_id=job_id) for job_id in expected.get("ids", [])]
    verb = getattr(dialect, expected["verb"])
    match expected["verb"]:
        case "parse_workload":
            answer = verb(done)
        case "parse_status" | "parse_history":
            answer = verb(done[0], refs)
        case "parse_follow":
            answer = verb(done[0], refs, None)
        case "parse_events":
            answer = verb(done[0], refs[0])
        case "parse_find":
            answer = verb(done[0], expected["tag"])
        case _:
            answer = verb(done[0])
    assert plain(answer) == expected["answer"]


@pytest.mark.parametrize("folder", ["flux"])
def test_every_capture_is_used(folder: str) -> None:
    """A capture that nothing reads proves nothing."""
    used = {name for where, _, expected in CASES if where == folder for name in expected["captures"]}
    assert used == {path.stem for path in (CAPTURES / folder).glob("*.cmd")}
