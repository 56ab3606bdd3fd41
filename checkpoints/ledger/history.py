"""What earlier threads can teach (`dragoman.ledger.Records`, last part): derived from what is kept anyway."""

from __future__ import annotations

from typing import Any

from checkpoints.ledger.rows import as_json
from checkpoints.ledger.tables import Tables
from checkpoints.storable import storable_text
from dragoman.attempt import Attempt
from dragoman.earlier_run import EarlierRun
from dragoman.job import JobStatus
from dragoman.request import MeasuredFigure

__all__ = ["HistoryTables"]

# The last request of a thread is what ran; its last attempt is the one whose end was told.
_RUNS = """
SELECT a.attempt, a.intended_at, j.status, d.record -> 'figure' AS figure
FROM dragoman_ledger.requests r
JOIN dragoman_ledger.attempts a ON a.thread_id = r.thread_id
JOIN dragoman_ledger.jobs j ON j.tag = a.tag AND j.place = 5
LEFT JOIN LATERAL (
    SELECT record FROM dragoman_ledger.decisions
    WHERE decisions.thread_id = r.thread_id AND kind = 'outcome' AND record ->> 'tag' = a.tag
    ORDER BY number DESC LIMIT 1
) d ON true
WHERE (r.request @> %(software)s OR r.request @> %(program)s)
    AND r.round = (SELECT max(round) FROM dragoman_ledger.requests WHERE thread_id = r.thread_id)
ORDER BY a.intended_at DESC LIMIT %(limit)s
"""


class HistoryTables(Tables):
    """Runs that have ended."""

    async def earlier_runs(self, application: str, *, limit: int = 20) -> list[EarlierRun]:
        """Ended jobs of an application (`JobRequest.application`), the newest first; none for an empty name."""
        if not application:
            return []
        name = storable_text(application)
        rows = await self._all(
            _RUNS,
            {
                "software": as_json({"software": [{"name": name}]}),
                "program": as_json({"command": [name]}),
                "limit": limit,
            },
        )
        return [_run(row) for row in rows]


def _run(row: dict[str, Any]) -> EarlierRun:
    attempt = Attempt.model_validate({**row["attempt"], "intended_at": row["intended_at"]})
    status = JobStatus.model_validate(row["status"])
    return EarlierRun(
        site=attempt.site,
        shape=attempt.spec.shape,
        walltime_s=attempt.spec.walltime_s,
        queue=attempt.spec.queue,
        state=status.state,
        exit_code=status.exit_code,
        run_s=status.run_s,
        max_rss_bytes=status.max_rss_bytes,
        figure=MeasuredFigure.model_validate(row["figure"]) if row["figure"] else None,
        ended_at=status.ended_at,
    )
