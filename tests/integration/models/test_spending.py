"""What many talks at once take of money, calls and patience: bounded before a call is sent, recorded as it was."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from langchain_core.messages import HumanMessage

from graph.model.talk import ModelTrouble, Talk
from graph.model.trouble import fault_of
from graph.secretary import ask_secretary
from graph.secretary_model import consult

WORDS = [HumanMessage("how do you do")]
PRICES = {"usd_in": 100.0, "usd_out": 100.0}
COST = (100 + 10) * 100.0 / 1e6
"""Of one answer: the served models tell 100 tokens in and 10 out."""


async def many(session: Any, count: int, calls: int = 1) -> list[Any]:
    """So many talks at once, of one question each; what is kept of them."""
    kept: list[Any] = []

    async def one() -> None:
        talk = Talk(session, calls)
        try:
            await talk.say(WORDS, ())
            kept.append(talk.use("ok"))
        except ModelTrouble as trouble:
            kept.append(talk.use(trouble.outcome))

    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(one)
    return kept


async def test_many_at_once_keep_within_the_money(served: Any, reply: Any, desk: Any) -> None:
    served.script = lambda call: reply(text="well", delay=0.05)
    session = desk(**PRICES, answer_tokens=100, most_usd=5.5 * COST, at_once=50).session()
    kept = await many(session, 50)
    assert len(served.calls) * COST <= 5.5 * COST
    assert len(served.calls) >= 3, "those that turned out cheaper made room for others"
    assert sum(use.calls for use in kept) == len(served.calls)
    assert sum(use.cost_usd for use in kept) == pytest.approx(len(served.calls) * COST)
    left_out = [use for use in kept if use.outcome != "ok"]
    assert len(left_out) == 50 - len(served.calls)
    assert all(use.outcome.startswith("left out: a call may cost ") and use.cost_usd == 0 for use in left_out)


async def test_what_was_never_answered_counts_as_the_most(served: Any, reply: Any, desk: Any) -> None:
    served.script = lambda call: reply(text="well", delay=2.0 if call.number == 0 else 0.0)
    worst = (200 + 1000) * 100.0 / 1e6
    session = desk(**PRICES, answer_tokens=1000, most_usd=1.5 * worst, seconds=0.5).session()
    (use,) = await many(session, 1)
    assert (use.outcome, use.calls, use.uncounted) == ("timed out", 1, 1)
    assert (use.tokens_in, use.tokens_out, use.cost_usd) == (None, None, None)
    assert use.at_least is not None
    assert (use.at_least.tokens_in, use.at_least.cost_usd) == (0, 0.0)
    assert use.most_usd > 1000 * 100.0 / 1e6
    (use,) = await many(session, 1)
    assert (use.outcome[:8], use.calls, len(served.calls)) == ("left out", 0, 1)


async def test_a_bound_without_prices_lets_nothing_through(served: Any, desk: Any) -> None:
    (use,) = await many(desk(most_usd=1.0).session(), 1)
    assert (use.outcome, served.calls) == ("left out: its cost is bounded, and its prices are not known", [])


async def test_what_an_earlier_run_of_it_spent_counts(served: Any, desk: Any) -> None:
    limited = desk(**PRICES, most_usd=1.0)
    (use,) = await many(limited.session(0.99), 1)
    assert (use.outcome[:8], len(served.calls)) == ("left out", 0)


async def test_after_the_third_failure_none_begins(served: Any, reply: Any, desk: Any) -> None:
    served.script = lambda call: reply(status=401, delay=0.1)
    kept = await many(desk(at_once=4).session(), 40)
    assert 3 <= len(served.calls) <= 3 + 3, "three that failed, and those that were on their way then"
    left_out = [use.outcome for use in kept if use.calls == 0]
    assert len(left_out) == 40 - len(served.calls)
    assert set(left_out) == {"left out after 3 failures: not allowed: check the key"}


async def test_a_late_answer_does_not_bring_it_back(served: Any, reply: Any, desk: Any) -> None:
    served.script = lambda call: reply(text="well", delay=0.5) if call.number == 0 else reply(status=401)
    session = desk(at_once=4).session()
    kept = await many(session, 4)
    assert sorted(use.outcome for use in kept) == ["not allowed: check the key"] * 3 + ["ok"]
    (use,) = await many(session, 1)
    assert (use.outcome[:22], len(served.calls)) == ("left out after 3 failu", 4)


@pytest.mark.parametrize(
    ("first", "calls", "tokens"),
    [({"status": 503}, 2, None), ({"status": 429}, 2, 100), ({"status": 400}, 1, 0), ({"raw": b"{"}, 1, None)],
)
async def test_each_try_is_a_call(
    served: Any, reply: Any, desk: Any, first: dict[str, Any], calls: int, tokens: int | None
) -> None:
    served.script = lambda call: reply(**first) if call.number == 0 else reply(text="well")
    (use,) = await many(desk(pause_s=0.01).session(), 1, calls=2)
    assert (use.calls, len(served.calls)) == (calls, calls)
    assert (use.tokens_in, use.uncounted) == (tokens, int(tokens is None))
    assert (use.at_least.tokens_in if use.at_least else 0) == (100 if tokens is None and calls == 2 else 0)


async def test_tries_are_within_the_calls_of_a_talk(served: Any, reply: Any, desk: Any) -> None:
    served.script = lambda call: reply(status=503)
    (use,) = await many(desk(pause_s=0.01).session(), 1, calls=1)
    assert (use.outcome, use.calls, len(served.calls)) == ("failed: 503", 1, 1)
    (use,) = await many(desk(pause_s=0.01).session(), 1, calls=9)
    assert (use.outcome, use.calls, len(served.calls)) == ("failed: 503", 2, 3)


async def test_nobody_there_took_no_tokens(desk: Any, served: Any) -> None:
    served.http.shutdown()
    served.http.server_close()
    (use,) = await many(desk(pause_s=0.01).session(), 1, calls=2)
    assert (use.outcome, use.tokens_in, use.uncounted) == ("not reachable", 0, 0)


def test_a_lost_connection_may_have_taken_some() -> None:
    from openai import APIConnectionError

    lost = APIConnectionError.__new__(APIConnectionError)
    assert (fault_of(lost).outcome, fault_of(lost).free) == ("not reachable", False)


@pytest.mark.parametrize(
    "arguments",
    [
        {"verdict": "PROBABLY", "explanation": [], "suggestions": []},
        {"verdict": "ready", "explanation": [], "suggestions": []},
        {"decision": "READY", "explanation": [], "suggestions": []},
        {"explanation": [], "suggestions": [{"field": "walltime_s", "value": "60", "verdict": "FINE"}]},
        {},
    ],
)
@pytest.mark.parametrize("mended", [True, False])
async def test_an_odd_conclusion_is_none(
    served: Any, reply: Any, desk: Any, undecided: Any, arguments: dict[str, Any], mended: bool
) -> None:
    runtime, request = undecided
    good: dict[str, Any] = {"explanation": [], "suggestions": []}
    served.script = lambda call: reply(calls=[("conclude", good if mended and call.number else arguments)])
    proposal, seen = await ask_secretary(runtime, request, round_=0, timeout_s=5)
    after, _ = await consult(desk().session(), runtime, request, proposal, seen)
    assert (after.verdict, after.checks, after.suggestions) == (proposal.verdict, proposal.checks, proposal.suggestions)
    assert after.model is not None
    words = "ok; 1" if mended else "could not decide: it came to no conclusion; 2"
    assert after.model.outcome == f"{words} answers could not be read"
    assert (after.model.calls, len(served.calls)) == (2, 2)


async def test_a_verdict_that_nobody_asked_for_counts_for_nothing(
    served: Any, reply: Any, desk: Any, undecided: Any
) -> None:
    runtime, request = undecided
    served.script = lambda call: reply(calls=[("conclude", {"verdict": "READY", "explanation": [], "suggestions": []})])
    proposal, seen = await ask_secretary(runtime, request, round_=0, timeout_s=5)
    after, _ = await consult(desk().session(), runtime, request, proposal, seen)
    assert after.verdict is proposal.verdict
    assert after.model is not None
    assert after.model.outcome == "ok"


async def test_many_at_once_open_it_once(desk: Any, served: Any, reply: Any) -> None:
    served.script = lambda call: reply(text="well")
    shared = desk()
    opened: list[Any] = []
    make = shared.make

    def counted() -> Any:
        opened.append(1)
        return make()

    shared.make = counted
    await many(shared.session(), 12)
    assert (len(opened), len(served.calls)) == (1, 12)
