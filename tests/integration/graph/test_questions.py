"""What a person answers to intake and selector: taken whole, or asked again with what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

TOO_MUCH = "1000 nodes for 1 hour: sh -c true"


async def test_words_that_were_not_understood(hub: Any) -> None:
    thread = await hub.ask("1 task for 1 minute, frobnicate the zork: sh -c true")
    asked = await hub.pending(thread)
    assert (asked["kind"], "zork" in str(asked["unread"]), asked["problem"]) == ("question", True, "")
    for answer, says in [({}, "no words"), (True, "no words"), ("flummox it", "")]:
        asked = await hub.say(thread, answer)
        assert asked["kind"] == "question"
        assert says in asked["problem"]
    assert "flummox" in str(asked["unread"])
    assert (await hub.say(thread, "ignore"))["kind"] == "approval"


@pytest.mark.parametrize("answer", ["on 1 node", {"edit": "on 1 node"}, {"edit": {"shapes": [{"nodes": 1}]}}])
async def test_where_no_site_can_the_request_is_changed(hub: Any, answer: Any) -> None:
    thread = await hub.ask(TOO_MUCH)
    assert (await hub.pending(thread))["kind"] == "question"
    asked = await hub.say(thread, answer)
    assert asked["kind"] == "approval"
    assert asked["request"]["shapes"][0]["nodes"] == 1


@pytest.mark.parametrize("answer", [{}, True, "frobnicate", {"edit": {"nodse": 1}}, {"edit": 7}])
async def test_an_answer_that_changes_nothing_does_not_end_the_thread(hub: Any, answer: Any) -> None:
    thread = await hub.ask(TOO_MUCH)
    asked = await hub.say(thread, answer)
    assert (asked["kind"], bool(asked["problem"])) == ("question", True)
    assert await hub.say(thread, "stop") == {}
    assert (await hub.app.checkpoints.ledger.thread(thread)).outcome == "no-site"


async def test_the_sites_are_asked_again(hub: Any) -> None:
    thread = await hub.ask(TOO_MUCH)
    assert (await hub.say(thread, "again"))["kind"] == "question"
    assert (await hub.state(thread))["round"] == 1
