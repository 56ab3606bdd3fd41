from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from dragoman.thread import ThreadStatus
from graph.approval_payload import ApprovalPayload

REQUEST = "1 task for 1 minute: sh -c 'echo done > out.txt'"
CHEAP = {"policy": "min-cost"}


async def test_approve(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    asked = await hub.pending(thread)
    ApprovalPayload.model_validate(asked)
    assert (asked["kind"], asked["selected"], asked["problem"]) == ("approval", "local", "")
    assert [each["site"] for each in asked["proposals"]] == ["local", "other", "twin"]
    assert (await hub.say(thread, {"decision": "approve", "reason": "go"}))["kind"] == "job"
    assert await hub.ended(thread) == "completed"
    (kept,) = await hub.decisions(thread)
    assert (kept["decision"], kept["site"], kept["by"], kept["reason"]) == ("approve", "local", "pi", "go")
    assert "rule" not in kept


async def test_the_script_shown_is_the_script_submitted(hub: Any) -> None:
    thread = await hub.ask(f"{REQUEST} with GREETING='it''s $HOME; `date`'", **CHEAP)
    asked = await hub.pending(thread)
    await hub.say(thread, "approve")
    await hub.ended(thread)
    (record,) = await hub.app.checkpoints.ledger.attempts(thread)
    written = hub.root / "local" / record.attempt.tag / "script"
    assert asked["script"] == written.read_text()
    assert record.attempt.tag in asked["script"]


async def test_nothing_is_written_at_the_site_before_the_approval(hub: Any) -> None:
    await hub.ask(REQUEST, **CHEAP)
    assert not list((hub.root / "local").glob("dgm-*"))


@pytest.mark.parametrize("answer", [{"decision": "approve", "site": "other"}, "approve other", "approve at other"])
async def test_choose_another_site(hub: Any, answer: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    assert (await hub.say(thread, answer))["site"] == "other"
    assert await hub.ended(thread) == "completed"
    assert (await hub.state(thread))["prediction"]["cost_unit"] == "USD"


@pytest.mark.parametrize("edit", ["but 2 minutes", {"walltime_s": 120}, None])
async def test_edit_the_request(hub: Any, edit: Any) -> None:
    answer = {"decision": "edit", "edit": edit} if edit else "edit 2 minutes"
    thread = await hub.ask(REQUEST, **CHEAP)
    before = await hub.pending(thread)
    asked = await hub.say(thread, answer)
    assert (asked["kind"], asked["request"]["walltime_s"]) == ("approval", 120)
    changed = set(asked["script"].splitlines()) ^ set(before["script"].splitlines())
    assert len(changed) == 2, changed
    assert all("time" in line for line in changed)
    state = await hub.state(thread)
    assert (state["round"], state["reading"]["command"]) == (1, ["sh", "-c", "echo done > out.txt"])
    proposals = await hub.app.checkpoints.ledger.proposals(thread, 1)
    assert {each.site for each in proposals} == {"local", "other", "twin"}
    await hub.say(thread, "approve")
    assert await hub.ended(thread) == "completed"


@pytest.mark.parametrize("answer", [{"decision": "refuse", "reason": "too dear"}, "refuse too dear"])
async def test_refuse(hub: Any, answer: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    assert await hub.say(thread, answer) == {}
    row = await hub.app.checkpoints.ledger.thread(thread)
    assert (row.status, row.outcome) == (ThreadStatus.DONE, "refused")
    assert (await hub.state(thread))["outcome_words"] == "too dear"
    assert await hub.app.checkpoints.ledger.attempts(thread) == []
    assert (await hub.decisions(thread))[0]["decision"] == "refuse"


async def test_hold_until_asks_the_sites_and_the_person_again(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    until = datetime.now(UTC) + timedelta(seconds=1)
    held = await hub.say(thread, {"decision": "hold", "hold_until": until.isoformat()})
    assert held["kind"] == "until"
    await hub.app.service.catch_up()
    assert (await hub.pending(thread))["kind"] == "until"
    await anyio.sleep(1)
    await hub.app.service.catch_up()
    asked = await hub.pending(thread)
    assert (asked["kind"], asked["selected"]) == ("approval", "local")
    made = {each.made_at for each in await hub.app.checkpoints.ledger.proposals(thread, 1)}
    assert len(made) == 3
    assert min(made) >= until
    await hub.say(thread, "approve")
    assert await hub.ended(thread) == "completed"
    assert [each["decision"] for each in await hub.decisions(thread)] == ["hold", "approve"]


async def test_a_hold_can_be_ended_before_its_time(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    await hub.say(thread, "hold until tomorrow 8:00 UTC")
    assert (await hub.say(thread, "approve"))["kind"] == "job"
    assert await hub.ended(thread) == "completed"


async def test_a_hold_can_be_prolonged(hub: Any) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    first = await hub.say(thread, "hold until tomorrow 8:00 UTC")
    second = await hub.say(thread, "hold until tomorrow 9:00 UTC")
    assert (first["kind"], second["kind"]) == ("until", "until")
    assert second["hold_until"] > first["hold_until"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("maybe", "no decision"),
        ("no, at other", "no decision"),
        (True, "no decision"),
        ("", "no decision"),
        ({}, "no decision"),
        ({"decision": "aprove"}, "decision"),
        ({"decision": ["approve"]}, "decision"),
        ({"decision": "approve", "site": "twn"}, "twn cannot take the work"),
        ({"decision": "approve", "site": 7}, "site"),
        ({"decision": "approve", "edit": "2 hours"}, "edit"),
        ({"decision": "hold"}, "hold_until"),
        ({"decision": "hold", "hold_until": "soon"}, "soon"),
        ({"decision": "hold", "hold_until": "2026-13-45T99:00Z"}, "hold_until"),
        ({"decision": "edit", "edit": {"walltime_s": -5}}, "walltime_s"),
        ({"decision": "edit", "edit": {"nodse": 3}}, "nodse"),
        ({"decision": "edit", "edit": "blorf the quux"}, "blorf"),
        ({"decision": "edit", "edit": {"inputs": [{"source": "/no/such/file", "name": "x"}]}}, "/no/such/file"),
        ('{"decision": ', "JSON"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_asked_again(hub: Any, answer: Any, says: str) -> None:
    thread = await hub.ask(REQUEST, **CHEAP)
    asked = await hub.say(thread, answer)
    assert asked["kind"] == "approval"
    assert says in asked["problem"]
    assert asked["request"]["walltime_s"] == 60
    assert (await hub.say(thread, "refuse")) == {}
    assert (await hub.app.checkpoints.ledger.thread(thread)).outcome == "refused"


async def test_a_rule_approves(hub: Any) -> None:
    thread = await hub.ask(REQUEST, approve="auto", **CHEAP)
    (kept,) = await hub.decisions(thread)
    assert (kept["by"], kept["rule"], kept["site"]) == ("rule", "this machine at no cost", "local")
    assert await hub.ended(thread) == "completed"


async def test_without_a_rule_that_allows_a_person_is_asked(hub: Any) -> None:
    thread = await hub.ask(REQUEST, approve="auto", site="other")
    assert (await hub.pending(thread))["kind"] == "approval"


async def test_the_rules_of_who_asked_count_whichever_process_runs_the_thread(hub: Any) -> None:
    asked = await hub.pending(await hub.ask(REQUEST, approve="auto", approval_rules=[], **CHEAP))
    assert asked["kind"] == "approval", "the process has the shipped rule, the person has none"
    object.__setattr__(hub.app.deps, "approval_rules", [])
    thread = await hub.ask(REQUEST, approve="auto", approval_rules=[_rule("my own").dump()], **CHEAP)
    (kept,) = await hub.decisions(thread)
    assert (kept["by"], kept["rule"]) == ("rule", "my own")


async def test_no_rule_answers_once_a_person_was_asked(hub: Any) -> None:
    """A rule that is written while the question stands must not overrule what the person says."""
    thread = await hub.ask(REQUEST, approve="auto", site="other")
    object.__setattr__(hub.app.deps, "approval_rules", [_rule("all")])
    assert await hub.say(thread, "refuse") == {}
    assert (await hub.app.checkpoints.ledger.thread(thread)).outcome == "refused"


async def test_no_rule_approves_what_a_person_held(hub: Any) -> None:
    thread = await hub.ask(REQUEST, approve="auto", site="other")
    await hub.say(thread, {"decision": "hold", "hold_until": datetime.now(UTC).isoformat()})
    object.__setattr__(hub.app.deps, "approval_rules", [_rule("all")])
    await hub.app.service.catch_up()
    assert (await hub.pending(thread))["kind"] == "approval"


def _rule(name: str) -> Any:
    from dragoman.selection import ApprovalRule

    return ApprovalRule(name=name)


async def test_what_is_to_be_run_is_asked_before_the_sites_are(hub: Any) -> None:
    """Nothing reaches approval, a rule neither, before it says what to run."""
    thread = await hub.ask({"shapes": [{"tasks": 1}], "walltime_s": 60}, approve="auto", **CHEAP)
    asked = await hub.pending(thread)
    assert (asked["kind"], "What is to be run?" in asked["question"]) == ("question", True)
    again = await hub.say(thread, "make all && ./x")
    assert (again["kind"], "backticks" in again["problem"]) == ("question", True)
    ready = await hub.say(thread, "`sh -c 'echo now > out.txt'`")
    assert ready.get("kind") in ("approval", "job")
    if ready["kind"] == "approval":
        await hub.say(thread, "approve")
    assert await hub.ended(thread) == "completed"
