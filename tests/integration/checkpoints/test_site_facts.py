"""Slow facts of sites in PostgreSQL: by place and question, the newest, until they expire."""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
import pytest

from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.ledger.site_facts import LONGEST, SiteFactTables
from checkpoints.pool import LoopPools
from dragoman.errors import DatabaseError
from dragoman.kept_fact import FactPlace, KeptFact
from dragoman.model import now
from dragoman.observation import Observation, Outcome

HERE = FactPlace("here", "ann@host", "0" * 64)


def fact(provider: str, at: datetime, *, age: float = 3600, arguments: str = "{}", text: str = "") -> KeptFact:
    return KeptFact(
        arguments,
        Observation(
            id=f"obs-{provider}-{at:%H%M%S%f}", site="here", provider=provider, tool="probe", outcome=Outcome.OK,
            value={"version": text or provider}, observed_at=at, max_age_s=age,
        ),
    )  # fmt: skip


def names(facts: list[KeptFact]) -> list[str]:
    return [f"{each.observation.provider} {each.arguments}" for each in facts]


async def count(database: str) -> int:
    async with await psycopg.AsyncConnection.connect(database) as connection:
        row = await (await connection.execute("SELECT count(*) FROM dragoman_ledger.site_facts")).fetchone()
    return row[0] if row else -1


async def test_kept_as_they_were_the_newest_first(ledger: PostgresLedger) -> None:
    at = now()
    facts = [fact("a/1", at - timedelta(seconds=9)), fact("a/2", at), fact("a/1", at, arguments='{"name": "x"}')]
    await ledger.keep_facts(HERE, facts)
    assert sorted(names(await ledger.kept_facts(HERE))) == ['a/1 {"name": "x"}', "a/1 {}", "a/2 {}"]
    kept = await ledger.kept_facts(HERE)
    assert {each.observation.id: each for each in kept} == {each.observation.id: each for each in facts}
    assert kept[-1] == facts[0]


@pytest.mark.parametrize(
    "other",
    [
        FactPlace("there", "ann@host", "0" * 64),
        FactPlace("here", "bob@host", "0" * 64),
        FactPlace("here", "ann@host", "1" * 64),
    ],
)
async def test_another_site_identity_or_definition_sees_nothing_of_it(ledger: PostgresLedger, other: FactPlace) -> None:
    await ledger.keep_facts(HERE, [fact("a/1", now())])
    assert await ledger.kept_facts(other) == []
    assert len(await ledger.kept_facts(HERE)) == 1


async def test_an_older_answer_never_replaces_a_newer_one(ledger: PostgresLedger) -> None:
    at = now() - timedelta(seconds=9)
    await ledger.keep_facts(HERE, [fact("a/1", at, text="new")])
    await ledger.keep_facts(HERE, [fact("a/1", at - timedelta(seconds=5), text="old")])
    [kept] = await ledger.kept_facts(HERE)
    assert kept.observation.value == {"version": "new"}
    await ledger.keep_facts(HERE, [fact("a/1", at + timedelta(seconds=5), text="newer")])
    [kept] = await ledger.kept_facts(HERE)
    assert kept.observation.value == {"version": "newer"}


@pytest.mark.parametrize("ahead", [timedelta(seconds=20), timedelta(hours=2)])
async def test_an_answer_of_the_future_is_not_told_and_gives_way(
    ledger: PostgresLedger, database: str, ahead: timedelta
) -> None:
    await ledger.keep_facts(HERE, [fact("a/1", now() + ahead, text="before the clock was set back")])
    assert await ledger.kept_facts(HERE) == []
    await ledger.keep_facts(HERE, [fact("a/1", now(), text="since")])
    [kept] = await ledger.kept_facts(HERE)
    assert kept.observation.value == {"version": "since"}
    assert await count(database) == 1


async def test_an_answer_of_the_future_that_nobody_asks_again_does_not_come_to_life(
    ledger: PostgresLedger, database: str
) -> None:
    await ledger.keep_facts(HERE, [fact("a/1", now() + timedelta(hours=2))])
    await ledger.keep_facts(HERE, [fact("b/1", now())])
    assert names(await ledger.kept_facts(HERE)) == ["b/1 {}"]
    assert await count(database) == 1


async def test_what_has_expired_is_not_told_and_goes_with_the_next_write(ledger: PostgresLedger, database: str) -> None:
    at = now()
    old = [fact(f"a/{number}", at - timedelta(hours=2), age=3600) for number in range(50)]
    await ledger.keep_facts(HERE, old)
    await ledger.keep_facts(HERE, [fact("b/1", at - LONGEST - timedelta(seconds=1), age=1e9)])
    assert await ledger.kept_facts(HERE) == []
    await ledger.keep_facts(HERE, [fact("c/1", at)])
    assert names(await ledger.kept_facts(HERE)) == ["c/1 {}"]
    assert await count(database) == 1


async def test_text_that_the_database_cannot_hold_costs_only_its_own_fact(ledger: PostgresLedger) -> None:
    at = now()
    bad = KeptFact('{"name": "\x00"}', fact("a/1", at).observation)
    await ledger.keep_facts(HERE, [bad, fact("a/2", at), fact("a/3", at, text="half \ud800 pair")])
    told = names(await ledger.kept_facts(HERE))
    assert "a/2 {}" in told
    assert not [each for each in told if "a/1" in each]


async def test_a_database_without_the_table_says_so(empty_database: str) -> None:
    pools = LoopPools(empty_database, max_size=1)
    try:
        with pytest.raises(DatabaseError, match="does not exist"):
            await SiteFactTables(pools).kept_facts(HERE)
        with pytest.raises(DatabaseError, match="does not exist"):
            await SiteFactTables(pools).keep_facts(HERE, [fact("a/1", now())])
    finally:
        await pools.aclose()
