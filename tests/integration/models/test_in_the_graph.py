"""A model in the whole graph: a person confirms what it reads, its ranking is stored, its faults change nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

SITES = """
schema_version: 1
sites:
  - {name: near, scheduler: machine, work_root: ROOT/near, charges: {currency: none, per_core_hour: 0}}
  - {name: far, scheduler: machine, work_root: ROOT/far, charges: {currency: none, per_core_hour: 0}}
"""


@pytest.fixture
async def app(tmp_path: Path, database: str, served: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    from dragoman.selection import ApprovalRule
    from dragoman.settings import read_settings
    from interfaces.app import open_app

    sites = tmp_path / "sites.yaml"
    sites.write_text(SITES.replace("ROOT", str(tmp_path)))
    monkeypatch.setenv("DRAGOMAN_SETTINGS", str(tmp_path / "none.yaml"))
    monkeypatch.setenv("DATABASE_URL", database)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", served.url)
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", served.url)
    rules = (ApprovalRule(name="all that is free", max_cost=0.0),)
    settings = read_settings(
        data_dir=tmp_path / "data", sites_file=sites, model=f"{served.form}:scripted", approval_rules=rules
    )
    async with open_app(settings) as opened:
        yield opened


async def begin(app: Any, request: str, **options: Any) -> str:
    from graph.state import Options
    from interfaces.requests import take_request

    row, _ = await take_request(app, request, Options.model_validate(options))
    await app.service.resumer.resume(row.thread_id)
    return str(row.thread_id)


async def pending(app: Any, thread: str) -> dict[str, Any]:
    snapshot = await app.graph.aget_state({"configurable": {"thread_id": thread}})
    return dict(snapshot.interrupts[0].value) if snapshot.interrupts else {}


async def say(app: Any, thread: str, answer: str) -> dict[str, Any]:
    from interfaces.answers import answer_wait, find_thread, person_wait

    ledger = app.checkpoints.ledger
    wait = await person_wait(ledger, await find_thread(ledger, thread), "approval", "question")
    await answer_wait(ledger, wait, {"answer": answer}, by="pi")
    await app.service.resumer.resume(thread)
    return await pending(app, thread)


WORDS = "1 task, frobnicate the zork: sh -c true"


async def test_what_it_reads_is_confirmed_and_never_approved_by_a_rule(app: Any, served: Any, reply: Any) -> None:
    readings = [
        {"field": "sites", "value": '["evil"]', "words": "frobnicate the zork"},
        {"field": "walltime_s", "value": "600", "words": "frobnicate the zork"},
        {"field": "shapes.0.tasks", "value": "64", "words": "frobnicate the zork"},
        {"field": "account", "value": '"evil"', "words": "words that nobody wrote"},
        {"field": "command", "value": '["rm"]', "words": "frobnicate the zork"},
    ]
    served.script = lambda call: reply(calls=[("readings", {"readings": readings})])
    thread = await begin(app, WORDS, approve="auto")
    asked = await pending(app, thread)
    assert asked["about"]["field"] == "walltime_s"
    assert "zork" in asked["question"]
    asked = await say(app, thread, "yes")
    assert asked["kind"] == "approval", asked
    assert len(served.calls) == 1
    state = (await app.graph.aget_state({"configurable": {"thread_id": thread}})).values["reading"]
    assert (state["walltime_s"], state["shapes"][0]["tasks"], state["command"][0]) == (600, 1, "sh")
    assert {"field": "walltime_s", "words": "frobnicate the zork", "origin": "model"} in state["sources"]


async def test_a_refused_reading_counts_for_nothing(app: Any, served: Any, reply: Any) -> None:
    readings = [{"field": "walltime_s", "value": "600", "words": "frobnicate the zork"}]
    served.script = lambda call: reply(text=f'Sure! ```json\n{{"readings": {readings}}}```'.replace("'", '"'))
    thread = await begin(app, WORDS)
    await say(app, thread, "no, ignore these words")
    state = (await app.graph.aget_state({"configurable": {"thread_id": thread}})).values["reading"]
    assert "walltime_s" not in state


@pytest.mark.parametrize("answer", [{"status": 429}, {"text": "no idea"}, {"raw": b"["}])
async def test_where_it_fails_the_person_is_asked_as_without_it(
    app: Any, served: Any, reply: Any, answer: dict[str, Any]
) -> None:
    served.script = lambda call: reply(**answer)
    asked = await pending(app, await begin(app, WORDS))
    assert asked["unread"] == ["frobnicate", "zork"]


async def test_its_ranking_is_stored_and_read_again(app: Any, served: Any, reply: Any) -> None:
    served.script = lambda call: reply(calls=[("rank", {"sites": ["evil", "near", "far"], "why": "near is near"})])
    thread = await begin(app, "1 task for 1 minute: sh -c true", policy="agentic")
    assert (await pending(app, thread))["kind"] == "approval"
    kept = [each["record"] for each in await app.checkpoints.ledger.decisions(thread) if each["kind"] == "selection-0"]
    assert [each["site"] for each in kept[0]["ranking"]] == ["near", "far"]
    assert (kept[0]["policy"], kept[0]["inputs"]["model"]["outcome"]) == ("agentic", "ok")
    assert "why" not in served.calls[0].text or "near is near" not in served.calls[0].text
    assert len(served.calls) == 1


@pytest.mark.parametrize("answer", [{"status": 429}, {"calls": [("rank", {"sites": ["evil"], "why": ""})]}])
async def test_without_a_usable_order_the_soonest_is_first(
    app: Any, served: Any, reply: Any, answer: dict[str, Any]
) -> None:
    served.script = lambda call: reply(**answer)
    thread = await begin(app, "1 task for 1 minute: sh -c true", policy="agentic", dispatch=False)
    record = next(e["record"] for e in await app.checkpoints.ledger.decisions(thread) if e["kind"] == "selection-0")
    assert {each["site"] for each in record["ranking"]} == {"near", "far"}
    assert "soonest" in record["why"]


async def test_what_the_rules_decide_costs_no_call(app: Any, served: Any) -> None:
    await begin(app, "1 task for 1 minute: sh -c true", dispatch=False)
    assert served.calls == []


async def test_it_is_told_of_earlier_runs_of_the_application(app: Any, served: Any, reply: Any) -> None:
    served.script = lambda call: reply(calls=[("conclude", {"explanation": [], "suggestions": []})])
    form = {
        "command": ["sh", "-c", "echo Performance: 12.5 ns/day"],
        "shapes": [{"tasks": 1}],
        "walltime_s": 60,
        "figure_of_merit": {"after": "Performance:", "unit": "ns/day"},
        "sites": ["near"],
    }
    first = await begin(app, json.dumps(form), approve="auto")
    with anyio.fail_after(60):
        while (await app.checkpoints.ledger.thread(first)).outcome != "completed":
            await app.service.catch_up()
            await anyio.sleep(0.2)
    assert served.calls == []
    done = (await app.graph.aget_state({"configurable": {"thread_id": first}})).values
    assert done["results"]["figure"] == {"value": 12.5, "unit": "ns/day", "better": "higher"}
    await begin(app, json.dumps({**form, "shapes": [{"nodes": 50}]}))
    assert served.calls
    told = served.calls[0].text
    assert all(words in told for words in ("earlier_runs", "12.5", "ns/day", "near")), told
