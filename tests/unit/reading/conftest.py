"""Requests with what they mean, and the judge that tells exact, asked back and misread apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from dragoman.request import JobRequest
from graph.reading.read import read_request
from graph.reading.reading import Reading
from providers.script_reading import read_any_script

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def read() -> Callable[..., Reading]:
    """The reader on a Monday morning in Berlin."""

    def reader(given: Any, **more: Any) -> Reading:
        return read_request(given, **{"now": NOW, "time_zone": "Europe/Berlin", **more})

    return reader


@pytest.fixture
def stated() -> Callable[[Reading], dict[str, Any]]:
    """The fields that a reading states, as JSON, without their sources."""

    def fields(reading: Reading) -> dict[str, Any]:
        dumped: dict[str, Any] = reading.request.dump()
        return {name: value for name, value in dumped.items() if name not in ("sources", "schema_version")}

    return fields


@pytest.fixture
def judge(read: Callable[..., Reading], stated: Callable[..., Any]) -> Callable[[dict[str, Any]], tuple[str, Any]]:
    """`exact`, `asked` (nothing wrong is stated and what is missing is told) or `misread`, with the reading."""

    def verdict(entry: dict[str, Any]) -> tuple[str, Any]:
        reading = read(entry["text"])
        have, want = stated(reading), entry["request"]
        asked, told = {q.field for q in reading.questions}, list(reading.unread)
        if have == want and asked == set(entry.get("ask", ())) and sorted(told) == sorted(entry.get("unread", ())):
            return "exact", (have, asked, told)
        wrong = _wrong(have, want, "")
        missing = _missing(have, want, "")
        if not wrong and (not missing or asked or told):
            return "asked", (have, asked, told)
        return "misread", (have, asked, told)

    return verdict


def _wrong(have: Any, want: Any, path: str) -> list[str]:
    """Places where something is stated that was not meant."""
    if isinstance(have, dict) and isinstance(want, dict):
        return [
            place
            for key in have
            for place in ([f"{path}.{key}"] if key not in want else _wrong(have[key], want[key], f"{path}.{key}"))
        ]
    if isinstance(have, list) and isinstance(want, list) and path.split(".")[-1] != "command":
        if len(have) > len(want):
            return [path]
        return [place for a, b in zip(have, want, strict=False) for place in _wrong(a, b, path)]
    return [] if have == want else [path]


def _missing(have: Any, want: Any, path: str) -> list[str]:
    if isinstance(have, dict) and isinstance(want, dict):
        return [
            place
            for key in want
            for place in ([f"{path}.{key}"] if key not in have else _missing(have[key], want[key], f"{path}.{key}"))
        ]
    if isinstance(have, list) and isinstance(want, list):
        return [path] if len(have) < len(want) else []
    return []


@pytest.fixture
def judge_apart() -> Callable[[dict[str, Any]], tuple[str, Any]]:
    """The verdict on a request written apart from the reader: any of its right readings counts, in any spelling."""

    def verdict(entry: dict[str, Any]) -> tuple[str, Any]:
        places = {*entry.get("sites", ()), "juno", "titan", "helios"}
        reading = read_request(
            entry["text"], now=NOW, time_zone="Europe/Berlin", sites=sorted(places), script_reader=read_any_script
        )
        have = _spelled(reading.request.dump())
        asked = {question.field.removesuffix(".per") for question in reading.questions}
        wanted = [
            _spelled(JobRequest.model_validate(form).dump()) for form in (entry["request"], *entry.get("also", ()))
        ]
        wanted = [_in_order(form, have) for form in wanted]
        if have in wanted and asked == {field.removesuffix(".per") for field in entry.get("ask", ())}:
            return ("exact" if not reading.unread else "told"), (have, asked, reading.unread)
        right = any(not _wrong(have, want, "") for want in wanted)
        return ("asked" if right and (asked or reading.unread) else "misread"), (have, asked, reading.unread)

    return verdict


def _in_order(wanted: dict[str, Any], have: dict[str, Any]) -> dict[str, Any]:
    """What is wanted with its software in the order in which it was read."""
    names = [need["name"] for need in have.get("software", [])]
    needs = wanted.get("software", [])
    needs.sort(key=lambda need: names.index(need["name"]) if need["name"] in names else len(names))
    return wanted


def _spelled(dumped: dict[str, Any]) -> dict[str, Any]:
    """One spelling of what can be written in two: per node or in all on one node, letters of names, orders of lists."""
    fields = {name: value for name, value in dumped.items() if name not in ("sources", "schema_version", "notes")}
    for shape in fields.get("shapes", []):
        if shape.get("nodes") == 1 and "nodes_max" not in shape:
            for name in ("memory", "gpus"):
                if shape.get(name, {}).get("per") == "job":
                    shape[name]["per"] = "node"
            if "cpus_per_node" in shape:
                shape["cpus"] = shape.pop("cpus_per_node")
        if "model" in shape.get("gpus", {}):
            shape["gpus"].pop("vendor", None)
    for need in fields.get("software", []):
        for named in (need, *need.get("alternatives", [])):
            named["name"] = named["name"].lower().replace(" ", "-")
        if "version" in need:
            need["version"] = ",".join(sorted(need["version"].split(",")))
    for need in fields.get("networks", []):
        if "fabrics" in need:
            need["fabrics"].sort()
    if fields.get("urgent") is False:
        del fields["urgent"]
    return fields


def load(name: str) -> list[dict[str, Any]]:
    """One corpus file."""
    loaded: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return loaded


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each request of a corpus to the tests that ask for an `entry` of it."""
    corpora = {
        "entry": ("requests.yaml", "requests_tongues.yaml"), "sealed_entry": ("requests_sealed.yaml",),
        "other_entry": ("requests_more.yaml",), "mail_entry": ("requests_mails.yaml",),
    }  # fmt: skip
    for fixture, names in corpora.items():
        if fixture in metafunc.fixturenames:
            entries = [item for name in names for item in load(name)]
            metafunc.parametrize(fixture, entries, ids=lambda item: item["text"][:60])
    if "entry_apart" in metafunc.fixturenames:
        unread = pytest.mark.xfail(strict=True, reason="not read rightly yet")
        apart = [
            pytest.param(item, marks=[unread] * bool(item.get("not_yet")), id=item["text"][:60])
            for path in sorted((Path(__file__).parent / "apart").glob("*.yaml"))
            for item in load(f"apart/{path.name}")
        ]
        metafunc.parametrize("entry_apart", apart)
