"""Every captured output of Grid Engine, OAR, LSF and Kubernetes, read whole and compared with `expected.json`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef
from dragoman.model import Model
from dragoman.protocols import Dialect
from providers.registry import dialects
from providers.schedulers.kubernetes_watch import read_watch
from providers.schedulers.lsf import LsfDialect
from providers.schedulers.sge import SgeDialect

CAPTURES = Path(__file__).parents[3] / "captures"
FOLDERS = {"gridengine": "sge", "oar": "oar", "lsf": "lsf", "kubernetes": "kubernetes"}
NOW = datetime(2024, 6, 1, tzinfo=UTC)
CASES = [
    (folder, case, expected)
    for folder in FOLDERS
    for case, expected in json.loads((CAPTURES / folder / "expected.json").read_text()).items()
]


def made(folder: str) -> Dialect:
    return LsfDialect(lambda: NOW) if folder == "lsf" else dialects.get(FOLDERS[folder])()


def capture(folder: str, name: str) -> Completed:
    at = CAPTURES / folder / name
    argv = tuple(shlex.split(Path(f"{at}.cmd").read_text()))
    rc = int(Path(f"{at}.rc").read_text())
    return Completed(argv, rc, Path(f"{at}.stdout").read_bytes(), Path(f"{at}.stderr").read_bytes())


def together(done: list[Completed]) -> Completed:
    """What `kubectl get jobs,pods` would have shown, of calls that asked for one kind each."""
    things = [json.loads(one.out) for one in done]
    items = [item for thing in things for item in thing.get("items", [thing])]
    return Completed(done[0].argv, 0, json.dumps({"kind": "List", "items": items}).encode(), b"")


def plain(value: object) -> Any:
    """A whole answer as JSON, without fields at their defaults."""
    if isinstance(value, Model):
        return value.dump()
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return {name: plain(item) for name, item in zip(names, value, strict=True)}
    if is_dataclass(value) and not isinstance(value, type):
        pairs = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {name: item for name, item in pairs.items() if item not in ("", [], {}, None, "unknown")}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


def answer_of(folder: str, expected: Mapping[str, Any]) -> Any:
    dialect = made(folder)
    done = [capture(folder, name) for name in expected["captures"]]
    refs = [JobRef(job_id=job_id) for job_id in expected.get("ids", [])]
    match expected["verb"]:
        case "parse_workload":
            return plain(dialect.parse_workload(done))
        case "parse_status":
            return plain(dialect.parse_status(done[0] if len(done) == 1 else together(done), refs))
        case "explain":
            assert isinstance(dialect, SgeDialect)
            return plain(dialect.parse_explain(done[1], dialect.parse_status(done[0], refs).jobs[refs[0].job_id]))
        case "parse_history":
            return plain(dialect.parse_history(done[0], refs))
        case "parse_find":
            return plain(dialect.parse_find(done[0], expected["tag"]))
        case "parse_estimate":
            return plain(dialect.parse_estimate(done[0], NOW))
        case "read_watch":
            body = done[0].out.partition("\r\n\r\n")[2] if done[0].out.startswith("HTTP/") else done[0].out
            told = read_watch(body)
            return plain(told._replace(things=tuple((kind, thing["metadata"]["name"]) for kind, thing in told.things)))
        case verb:
            return plain(getattr(dialect, verb)(done[0]))


@pytest.mark.parametrize(("folder", "case", "expected"), CASES, ids=[f"{folder}-{case}" for folder, case, _ in CASES])
def test_capture(folder: str, case: str, expected: dict[str, Any]) -> None:
    assert answer_of(folder, expected) == expected["answer"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_capture_is_used(folder: str) -> None:
    used = {name for _, _, expected in (one for one in CASES if one[0] == folder) for name in expected["captures"]}
    assert {path.stem for path in (CAPTURES / folder).glob("*.cmd")} == used


STRUCTURED = [
    (folder, expected["captures"][0], expected["ids"])
    for folder, _, expected in CASES
    if expected["verb"] == "parse_status" and capture(folder, expected["captures"][0]).stdout[:1] in (b"<", b"{")
]


@pytest.mark.parametrize(("folder", "name", "ids"), STRUCTURED, ids=[f"{one[0]}-{one[1]}" for one in STRUCTURED])
def test_what_was_cut_off_is_neither_absent_nor_ended(folder: str, name: str, ids: list[str]) -> None:
    """At any place, without a sign of it but the missing end."""
    dialect, whole = made(folder), capture(folder, name)
    refs = [JobRef(job_id=job_id) for job_id in ids]
    text = whole.stdout.rstrip()
    for part in range(1, 20):
        cut = Completed(whole.argv, 0, text[: len(text) * part // 20], b"")
        answers = dialect.parse_status(cut, refs)
        assert answers.trouble
        assert answers.absent == frozenset()
        assert not any(status.state.final for status in answers.jobs.values())
