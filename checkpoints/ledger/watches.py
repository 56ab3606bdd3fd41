"""Who looks at which site for all threads (`dragoman.ledger.Watches`)."""

from __future__ import annotations

from checkpoints.ledger.tables import Tables
from checkpoints.storable import storable_text
from dragoman.event import Wait
from dragoman.job import JobRef, JobStatus
from dragoman.thread import SiteWatch

__all__ = ["WatchTables"]

# Goes from one site to the next in the index, so that it costs by the number of sites and not of waits.
_AWAITED = """
WITH RECURSIVE found (site) AS (
    (SELECT site FROM dragoman_ledger.waits
     WHERE closed_at IS NULL AND site IS NOT NULL AND kind IN ('job', 'transfer')
     ORDER BY site LIMIT 1)
    UNION ALL
    SELECT (SELECT w.site FROM dragoman_ledger.waits w
            WHERE w.closed_at IS NULL AND w.site IS NOT NULL AND w.kind IN ('job', 'transfer') AND w.site > found.site
            ORDER BY w.site LIMIT 1)
    FROM found WHERE found.site IS NOT NULL
)
SELECT site FROM found WHERE site IS NOT NULL ORDER BY site
"""
_TAKE = """
WITH free AS (
    SELECT site, identity FROM dragoman_ledger.site_watches
    WHERE site = %(site)s AND identity = %(identity)s
        AND (lease_until IS NULL OR lease_until <= clock_timestamp())
        AND (next_look_at IS NULL OR next_look_at <= clock_timestamp())
    FOR NO KEY UPDATE SKIP LOCKED
)
, taken AS (
    UPDATE dragoman_ledger.site_watches w
    SET holder = %(holder)s, lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
    FROM free WHERE w.site = free.site AND w.identity = free.identity
    RETURNING w.*
)
, made AS (
    INSERT INTO dragoman_ledger.site_watches (site, identity, holder, lease_until)
    SELECT %(site)s, %(identity)s, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s)
    WHERE NOT EXISTS (
        SELECT FROM dragoman_ledger.site_watches WHERE site = %(site)s AND identity = %(identity)s
    )
    ON CONFLICT DO NOTHING
    RETURNING *
)
SELECT * FROM taken UNION ALL SELECT * FROM made
"""
# The day is against a host whose clock runs ahead: its sites are not forgotten for longer.
_NOTE = """
UPDATE dragoman_ledger.site_watches SET
    holder = '', lease_until = NULL,
    next_look_at = CASE WHEN hastened AND %(failures)s = 0 THEN clock_timestamp() + make_interval(secs => %(least_s)s)
        ELSE least(
            coalesce(%(next_look_at)s, clock_timestamp() + make_interval(secs => %(interval_s)s)),
            clock_timestamp() + interval '1 day'
        ) END,
    interval_s = %(interval_s)s, least_s = %(least_s)s, failures = %(failures)s, error = %(error)s,
    last_ok_at = coalesce(%(last_ok_at)s, last_ok_at), looked_at = clock_timestamp(), hastened = false
WHERE site = %(site)s AND identity = %(identity)s AND holder = %(holder)s
RETURNING site
"""
_HOLD = """
UPDATE dragoman_ledger.site_watches SET lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE site = %(site)s AND identity = %(identity)s AND holder = %(holder)s
RETURNING site
"""
_HASTEN = "SELECT dragoman_ledger.hasten_watch(%(site)s)"
_AWAITED_JOBS = """
SELECT to_jsonb(w) - 'number' - 'has_event' AS wait, a.tag, a.job, j.status
FROM dragoman_ledger.waits w
JOIN dragoman_ledger.attempts a ON a.tag = w.subject ->> 'tag' AND a.job IS NOT NULL
LEFT JOIN dragoman_ledger.jobs j ON j.tag = a.tag
WHERE w.closed_at IS NULL AND NOT w.has_event AND w.kind = 'job' AND w.site = %(site)s
ORDER BY w.number
"""
_ALL_WATCHES = "SELECT * FROM dragoman_ledger.site_watches ORDER BY site, identity"


class WatchTables(Tables):
    """Watches of sites, each held by one process at a time."""

    async def awaited_sites(self) -> list[str]:
        """Sites with an open job or transfer wait, by name."""
        return [row["site"] for row in await self._all(_AWAITED, {})]

    async def awaited_jobs(self, site: str) -> list[tuple[Wait, JobRef, JobStatus | None]]:
        """Open job waits of a site without an event yet, with the job of each and what was last kept of it."""
        return [
            (
                Wait.model_validate(row["wait"]),
                JobRef.model_validate({**row["job"], "tag": row["tag"]}),
                None if row["status"] is None else JobStatus.model_validate(row["status"]),
            )
            for row in await self._all(_AWAITED_JOBS, {"site": site})
        ]

    async def hold_watch(self, watch: SiteWatch, seconds: float) -> bool:
        """Hold on longer during a long look; 0 gives the watch back without a look. False: another has it by now."""
        parameters = {"site": watch.site, "identity": watch.identity, "holder": watch.holder, "seconds": seconds}
        return await self._one(_HOLD, parameters) is not None

    async def hasten_watch(self, site: str) -> None:
        """Have the site looked at as soon as its bound allows; one that gives no answers is left its pauses."""
        await self._all(_HASTEN, {"site": site})

    async def take_watch(self, site: str, identity: str, holder: str, seconds: float) -> SiteWatch | None:
        """Lease a site's watch if it is free or expired, and due now; None otherwise."""
        row = await self._one(_TAKE, {"site": site, "identity": identity, "holder": holder, "seconds": seconds})
        return None if row is None else SiteWatch.model_validate(row)

    async def note_look(self, watch: SiteWatch) -> None:
        """Keep when to look next and how the last look went, and give the lease back.

        Without `next_look_at` the next look is `interval_s` from now by the database's clock. Nothing happens where
        another holder has the watch by now.
        """
        await self._all(_NOTE, {**watch.model_dump(mode="python"), "error": storable_text(watch.error)})

    async def site_watches(self) -> list[SiteWatch]:
        """All watches, for people."""
        return [SiteWatch.model_validate(row) for row in await self._all(_ALL_WATCHES, {})]
