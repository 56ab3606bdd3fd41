"""Slow facts of sites (`dragoman.kept_fact.SiteFacts`): what the next process need not ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import psycopg

from checkpoints.database_errors import reason_of
from checkpoints.ledger.rows import as_json, stored
from checkpoints.ledger.tables import Tables
from checkpoints.storable import storable_text
from dragoman.errors import BadRequest, DatabaseError
from dragoman.kept_fact import FactPlace, KeptFact
from dragoman.model import JsonValue
from dragoman.observation import Observation

__all__ = ["SiteFactTables"]

MOST = 4096
"""Facts of one place that are read."""
LONGEST = timedelta(days=7)
"""No fact is kept longer, whatever age its verb allows."""
SWEEP = 1000
"""Expired rows that one write takes away with it."""

_KEPT = """
SELECT arguments, observation FROM dragoman_ledger.site_facts
WHERE site = %(site)s AND identity = %(identity)s AND definition = %(definition)s AND expires_at > clock_timestamp()
    AND observed_at <= clock_timestamp()
ORDER BY observed_at DESC LIMIT %(most)s
"""
# In the order of the key, so that two processes that keep the same facts wait for each other and never in a ring.
_KEEP = """
INSERT INTO dragoman_ledger.site_facts
    (site, identity, definition, question, arguments, observation, observed_at, expires_at)
SELECT %(site)s, %(identity)s, %(definition)s, f ->> 'question', f ->> 'arguments', f -> 'observation',
    (f ->> 'observed_at')::timestamptz, (f ->> 'expires_at')::timestamptz
FROM jsonb_array_elements(%(facts)s) AS f
ORDER BY f ->> 'question'
ON CONFLICT (site, identity, definition, question) DO UPDATE
SET observation = excluded.observation, observed_at = excluded.observed_at, expires_at = excluded.expires_at
WHERE excluded.observed_at > site_facts.observed_at OR site_facts.observed_at > clock_timestamp()
RETURNING question
"""
# Seen in the future: the clock was set back since, and such a fact would come to life again and live too long. A minute
# is left to hosts whose clocks differ from the database's.
_UNTIMELY = """
DELETE FROM dragoman_ledger.site_facts
WHERE site = %(site)s AND identity = %(identity)s AND definition = %(definition)s
    AND observed_at > clock_timestamp() + interval '1 minute'
RETURNING question
"""
_FORGET = """
DELETE FROM dragoman_ledger.site_facts
WHERE site = %(site)s AND identity = %(identity)s AND definition = %(definition)s
RETURNING question
"""
_SWEEP = """
DELETE FROM dragoman_ledger.site_facts WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM dragoman_ledger.site_facts WHERE expires_at <= clock_timestamp()
    ORDER BY expires_at LIMIT %(sweep)s FOR UPDATE SKIP LOCKED
))
RETURNING question
"""


class SiteFactTables(Tables):
    """Facts by place and question; what has expired goes with the next write."""

    async def kept_facts(self, place: FactPlace) -> list[KeptFact]:
        """What is known of a place, was not seen in the future and has not expired, the newest first."""
        with _reported():
            rows = await self._all(_KEPT, {**_place(place), "most": MOST})
        return [KeptFact(row["arguments"], Observation.model_validate(row["observation"])) for row in rows]

    async def keep_facts(self, place: FactPlace, facts: Sequence[KeptFact]) -> None:
        """Keep answers in one write; a newer answer to the same question stays, unless it is of the future."""
        rows = {row["question"]: row for row in map(_row, facts) if row is not None}
        if rows:
            with _reported():
                await self._all(_UNTIMELY, _place(place))
                await self._all(_KEEP, {**_place(place), "facts": as_json(list(rows.values()))})
                await self._all(_SWEEP, {"sweep": SWEEP})

    async def forget_facts(self, place: FactPlace) -> None:
        """Drop all that is kept of a place, so that it is asked anew."""
        with _reported():
            await self._all(_FORGET, _place(place))


@contextmanager
def _reported() -> Iterator[None]:
    """Tables of another release, or without leave to write, are a database that cannot be used, and nobody's fault."""
    try:
        yield
    except psycopg.Error as problem:
        raise DatabaseError(reason_of(problem), where="facts of sites", cure="run 'dragoman db migrate'") from problem


def _place(place: FactPlace) -> dict[str, str]:
    return {
        "site": storable_text(place.site),
        "identity": storable_text(place.identity),
        "definition": place.definition,
    }


def _row(fact: KeptFact) -> dict[str, JsonValue] | None:
    """A row's values; None where it holds what PostgreSQL cannot store: it is asked again instead."""
    observation = fact.observation
    question = json.dumps([observation.provider, observation.tool, fact.arguments])
    try:
        value = stored(observation).obj
    except BadRequest:
        return None
    if storable_text(fact.arguments) != fact.arguments:
        return None
    expires = observation.observed_at + min(timedelta(seconds=observation.max_age_s), LONGEST)
    return {
        "question": hashlib.sha256(question.encode()).hexdigest(),
        "arguments": fact.arguments,
        "observation": value,
        "observed_at": observation.observed_at.isoformat(),
        "expires_at": expires.isoformat(),
    }
