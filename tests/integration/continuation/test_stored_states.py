"""Threads that an older release has paused go on (a stored state of every schema version), and case LG07."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

import graph.migrations
from dragoman.errors import DragomanError
from dragoman.thread import ThreadStatus
from graph.migrations import SCHEMA_VERSION, graph_version, migrate

STATES = Path(__file__).parents[2] / "captures" / "states"
ROOT = Path("/tmp/dragoman-stored-state")
TABLES = (
    "dragoman_ledger.threads", "dragoman_ledger.requests", "dragoman_ledger.proposals", "dragoman_ledger.attempts",
    "dragoman_ledger.jobs", "dragoman_ledger.waits", "dragoman_ledger.decisions", "checkpoints", "checkpoint_blobs",
    "checkpoint_writes",
)  # fmt: skip


def state_file(version: int) -> Path:
    return STATES / f"schema-{version}.json"


def columns(connection: psycopg.Connection[Any], table: str) -> dict[str, str]:
    rows = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema || '.' || table_name = %s"
        " AND is_identity = 'NO'",
        [table if "." in table else f"public.{table}"],
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def dump(dsn: str) -> dict[str, list[dict[str, Any]]]:
    """All rows; bytes as base64."""
    stored: dict[str, list[dict[str, Any]]] = {}
    with psycopg.connect(dsn) as connection:
        for table in TABLES:
            kinds = columns(connection, table)
            listed = ", ".join(f"encode({name}, 'base64')" if kind == "bytea" else name for name, kind in kinds.items())
            rows = connection.execute(f"SELECT {listed} FROM {table}".encode()).fetchall()  # noqa: S608  # own names
            stored[table] = [dict(zip(kinds, row, strict=True)) for row in rows]
    read: dict[str, list[dict[str, Any]]] = json.loads(json.dumps(stored, default=str))
    return read


def load(dsn: str, stored: dict[str, list[dict[str, Any]]]) -> str:
    """Put the rows in, whatever columns were added since; the thread's id."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for table in TABLES:
            kinds = columns(connection, table)
            for row in stored[table]:
                names = [name for name in row if name in kinds]
                values = [_value(row[name], kinds[name]) for name in names]
                marks = ", ".join(["%s"] * len(names))
                into = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
                connection.execute(into.encode(), values)
    return str(stored["dragoman_ledger.threads"][0]["thread_id"])


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return None
    return base64.b64decode(value) if kind == "bytea" else Jsonb(value) if kind == "jsonb" else value


def write_outputs(work: Path) -> None:
    work.mkdir(parents=True)
    for name in ("stdout.log", "stderr.log"):
        (work / name).write_text("done\n")


@pytest.fixture
def root() -> Iterator[Path]:
    """The folder that stored states name, since their paths cannot be changed."""
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(mode=0o700)
    yield ROOT
    shutil.rmtree(ROOT)


async def test_there_is_a_stored_state_of_every_schema_version(desk: Any, database: str, root: Path) -> None:
    missing = [version for version in range(1, SCHEMA_VERSION + 1) if not state_file(version).exists()]
    if missing == [SCHEMA_VERSION]:
        site = desk.app.sites.fleet.sites[0].model_copy(update={"work_root": str(root)})
        desk.app.sites.fleet = desk.app.sites.fleet.model_copy(update={"sites": (site,)})
        thread = await desk.ask()
        await desk.settle(thread, "parked")
        state_file(SCHEMA_VERSION).write_text(json.dumps(dump(database), indent=1, sort_keys=True) + "\n")
        pytest.fail("the state of the new schema version is stored now: commit it with the change")
    assert not missing


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
async def test_a_thread_paused_by_an_older_release_goes_on(desk: Any, database: str, root: Path, version: int) -> None:
    stored = json.loads(state_file(version).read_text())
    await desk.app.checkpoints.ready()
    thread = load(database, stored)
    [attempt] = stored["dragoman_ledger.attempts"]
    write_outputs(Path(attempt["attempt"]["spec"]["work_dir"]))
    desk.tell(attempt["job"]["job_id"], "completed")
    row = await desk.settle(thread)
    assert (row.outcome, row.error) == ("completed", "")
    assert (desk.app.settings.results_dir / thread / "stdout.log").read_text() == "done\n"
    assert desk.submits() == []
    values = (await desk.app.graph.aget_state({"configurable": {"thread_id": thread}})).values
    assert values["outcome"] == "completed"


def test_older_states_are_taken_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph.migrations, "SCHEMA_VERSION", 3)
    steps = {
        1: lambda state: {"schema_version": 1, "second": state["first"]},
        2: lambda state: {**state, "third": state["second"] + 1},
    }
    monkeypatch.setattr(graph.migrations, "_STEPS", steps)
    assert migrate({"schema_version": 1, "first": 1}) == {"schema_version": 3, "second": 1, "third": 2}
    assert migrate({"schema_version": 2, "second": 5}) == {"schema_version": 3, "second": 5, "third": 6}
    assert migrate({"request": "new"}) == {"schema_version": 3, "request": "new"}
    given = {"schema_version": 1, "first": 1}
    migrate(given)
    assert given == {"schema_version": 1, "first": 1}


def test_a_newer_state_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(DragomanError, match="newer release") as refused:
        migrate({"schema_version": SCHEMA_VERSION + 1})
    assert "update" in refused.value.cure


# LG07: a thread does not go on with another graph than its own.


@pytest.mark.parametrize("made_with", ["other:1", f"dragoman:{SCHEMA_VERSION + 1}", "dragoman:x", "dragoman"])
async def test_lg07_another_graph_is_refused_and_changes_nothing(desk: Any, made_with: str) -> None:
    thread = await desk.ask()
    assert (await desk.row(thread)).graph == graph_version("dragoman")
    await desk.ledger._all(
        "UPDATE dragoman_ledger.threads SET graph = %(g)s WHERE thread_id = %(t)s RETURNING epoch",
        {"g": made_with, "t": thread},
    )
    assert await desk.engine(most_tries=1).resume(thread)
    row = await desk.row(thread)
    assert row.status is ThreadStatus.POISONED
    assert f"begun with {made_with}" in row.error
    assert (desk.submits(), await desk.ledger.timeline(thread)) == (
        [],
        [entry for entry in await desk.ledger.timeline(thread) if entry.step == "engine"],
    )


async def test_lg07_options_are_the_threads_own_and_not_the_process(desk: Any) -> None:
    thread = await desk.ask("ask")
    await desk.settle(thread, "parked")
    values = (await desk.app.graph.aget_state({"configurable": {"thread_id": thread}})).values
    assert values["options"].get("approve", "ask") == "ask"
    await desk.ask("auto")
    await desk.app.service.catch_up()
    assert (await desk.row(thread)).status is ThreadStatus.PARKED
