"""What was asked, seen, proposed, decided and told in a thread (`dragoman.ledger.Records`, first half)."""

from __future__ import annotations

from collections.abc import Sequence

from checkpoints.ledger.rows import as_json, stored, stored_texts
from checkpoints.ledger.tables import Tables
from checkpoints.storable import storable_text
from dragoman.ledger import SiteAnswer
from dragoman.model import JsonObject, JsonValue
from dragoman.observation import Observation
from dragoman.proposal import Proposal
from dragoman.thread import TimelineEntry

__all__ = ["EvidenceTables"]

_SAVE_REQUEST = """
INSERT INTO dragoman_ledger.requests (thread_id, round, request)
VALUES (%(thread_id)s, %(round)s, %(request)s)
ON CONFLICT DO NOTHING
RETURNING round
"""
_REQUESTS = """
SELECT round, request FROM dragoman_ledger.requests WHERE thread_id = %(thread_id)s ORDER BY round
"""
_SAVE_OBSERVATIONS = """
INSERT INTO dragoman_ledger.observations (thread_id, id, observation)
SELECT %(thread_id)s, o ->> 'id', o FROM jsonb_array_elements(%(observations)s::text::jsonb) AS o
ON CONFLICT DO NOTHING
RETURNING id
"""
_OBSERVATIONS = """
SELECT observation FROM dragoman_ledger.observations
WHERE thread_id = %(thread_id)s AND (%(ids)s::text[] IS NULL OR id = ANY(%(ids)s))
ORDER BY number
"""
_SAVE_PROPOSAL = """
INSERT INTO dragoman_ledger.proposals (thread_id, round, site, proposal)
VALUES (%(thread_id)s, %(round)s, %(site)s, %(proposal)s)
ON CONFLICT DO NOTHING
RETURNING site
"""
_SAVE_ANSWERS = """
WITH observed AS (
    INSERT INTO dragoman_ledger.observations (thread_id, id, observation)
    SELECT %(thread_id)s, o ->> 'id', o FROM jsonb_array_elements(%(observations)s::text::jsonb) AS o
    ON CONFLICT DO NOTHING
), told AS (
    INSERT INTO dragoman_ledger.timeline (thread_id, step, words, data, key)
    SELECT %(thread_id)s, %(step)s, l ->> 'words', l -> 'data', l ->> 'key' FROM jsonb_array_elements(%(lines)s) AS l
    ON CONFLICT (thread_id, key) WHERE key IS NOT NULL DO NOTHING
)
INSERT INTO dragoman_ledger.proposals (thread_id, round, site, proposal)
SELECT %(thread_id)s, coalesce((p ->> 'round')::integer, 0), p ->> 'site', p
FROM jsonb_array_elements(%(proposals)s::text::jsonb) AS p
ON CONFLICT DO NOTHING
RETURNING site
"""
_PROPOSALS = """
SELECT proposal FROM dragoman_ledger.proposals
WHERE thread_id = %(thread_id)s AND round = %(round)s
ORDER BY site COLLATE "C"
"""
_SAVE_DECISION = """
INSERT INTO dragoman_ledger.decisions (thread_id, kind, round, record)
VALUES (%(thread_id)s, %(kind)s, %(round)s, %(record)s)
ON CONFLICT DO NOTHING
RETURNING number
"""
_DECISIONS = """
SELECT kind, round, at, record FROM dragoman_ledger.decisions WHERE thread_id = %(thread_id)s ORDER BY number
"""
_SAY = """
INSERT INTO dragoman_ledger.timeline (thread_id, step, words, data, key)
VALUES (%(thread_id)s, %(step)s, %(words)s, %(data)s, %(key)s)
ON CONFLICT (thread_id, key) WHERE key IS NOT NULL DO NOTHING
RETURNING number
"""
_TIMELINE = """
SELECT thread_id, step, words, data, at FROM dragoman_ledger.timeline
WHERE thread_id = %(thread_id)s ORDER BY number
"""


class EvidenceTables(Tables):
    """Requests, observations, proposals, decisions and the timeline. The first of each stays."""

    async def save_request(self, thread_id: str, round_: int, request: JsonObject) -> None:
        """Keep the request of a round; the same round again overwrites nothing."""
        await self._all(_SAVE_REQUEST, {"thread_id": thread_id, "round": round_, "request": as_json(request)})

    async def requests(self, thread_id: str) -> dict[int, JsonObject]:
        """The requests of a thread by round."""
        return {row["round"]: row["request"] for row in await self._all(_REQUESTS, {"thread_id": thread_id})}

    async def save_observations(self, thread_id: str, observations: Sequence[Observation]) -> None:
        """Keep evidence; an id that is there already stays as it is."""
        if observations:
            values = stored_texts(observations)
            await self._all(_SAVE_OBSERVATIONS, {"thread_id": thread_id, "observations": values})

    async def observations(self, thread_id: str, ids: Sequence[str] | None = None) -> list[Observation]:
        """Evidence of a thread, all or by id, in the order it was stored."""
        wanted = None if ids is None else list(ids)
        rows = await self._all(_OBSERVATIONS, {"thread_id": thread_id, "ids": wanted})
        return [Observation.model_validate(row["observation"]) for row in rows]

    async def save_proposal(self, thread_id: str, proposal: Proposal) -> None:
        """Keep by (thread, round, site); the first one stays."""
        await self._all(
            _SAVE_PROPOSAL,
            {
                "thread_id": thread_id,
                "round": proposal.round,
                "site": proposal.site,
                "proposal": stored(proposal),
            },
        )

    async def save_answers(self, thread_id: str, step: str, answers: Sequence[SiteAnswer]) -> frozenset[str]:
        """Keep what several sites answered, in one write; the sites whose proposal was not there yet."""
        if not answers:
            return frozenset()
        lines: list[JsonValue] = [
            {
                "words": each.words,
                "key": each.key,
                "data": {"site": each.proposal.site, "verdict": each.proposal.verdict.value},
            }
            for each in answers
            if each.words
        ]
        seen = {one.id: one for each in answers for one in each.observations}
        rows = await self._all(
            _SAVE_ANSWERS,
            {
                "thread_id": thread_id,
                "step": storable_text(step),
                "observations": stored_texts(list(seen.values())),
                "lines": as_json(lines),
                "proposals": stored_texts([each.proposal for each in answers]),
            },
        )
        return frozenset(row["site"] for row in rows)

    async def proposals(self, thread_id: str, round_: int) -> list[Proposal]:
        """The proposals of a round so far, by site name."""
        rows = await self._all(_PROPOSALS, {"thread_id": thread_id, "round": round_})
        return [Proposal.model_validate(row["proposal"]) for row in rows]

    async def save_decision(self, thread_id: str, kind: str, round_: int, record: JsonObject) -> None:
        """Keep a selection or approval for replay; the first of (thread, kind, round) stays."""
        await self._all(
            _SAVE_DECISION, {"thread_id": thread_id, "kind": kind, "round": round_, "record": as_json(record)}
        )

    async def decisions(self, thread_id: str) -> list[JsonObject]:
        """All decisions of a thread, the oldest first, each with `kind`, `round`, `at` (ISO 8601) and `record`."""
        rows = await self._all(_DECISIONS, {"thread_id": thread_id})
        return [{**row, "at": row["at"].isoformat()} for row in rows]

    async def say(
        self, thread_id: str, step: str, words: str, data: JsonObject | None = None, *, key: str | None = None
    ) -> bool:
        """Add one line to the thread's timeline. False: the line of this key is there already."""
        added = await self._all(
            _SAY,
            {
                "thread_id": thread_id,
                "step": storable_text(step),
                "words": storable_text(words),
                "data": as_json(data or {}),
                "key": key,
            },
        )
        return bool(added)

    async def timeline(self, thread_id: str) -> list[TimelineEntry]:
        """The thread's story, the oldest first."""
        return [TimelineEntry.model_validate(row) for row in await self._all(_TIMELINE, {"thread_id": thread_id})]
