"""Forget what is finished, and the checkpoints that newer ones replaced. What is needed to go on is never touched."""

from __future__ import annotations

from checkpoints.database_errors import database_errors
from checkpoints.pool import LoopPools
from checkpoints.saver import FencedSaver
from dragoman.errors import DatabaseError

__all__ = ["prune"]

BATCH = 200
"""Threads removed by one statement, so that none holds its locks for long."""

# All of a thread or nothing. Its tags stay behind (`past_tags`), so that its jobs are known as ours for ever.
_FORGET = """
WITH old AS MATERIALIZED (
    SELECT thread_id FROM dragoman_ledger.threads
    WHERE status = 'done' AND updated_at < clock_timestamp() - make_interval(secs => %(older_than_s)s)
        AND (lease_until IS NULL OR lease_until <= clock_timestamp())
    ORDER BY updated_at LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
)
, c AS (DELETE FROM checkpoints USING old WHERE checkpoints.thread_id = old.thread_id RETURNING 1)
, b AS (DELETE FROM checkpoint_blobs USING old WHERE checkpoint_blobs.thread_id = old.thread_id)
, w AS (DELETE FROM checkpoint_writes USING old WHERE checkpoint_writes.thread_id = old.thread_id)
, t AS (DELETE FROM dragoman_ledger.threads USING old WHERE threads.thread_id = old.thread_id RETURNING 1)
SELECT (SELECT count(*) FROM t) AS threads, (SELECT count(*) FROM c) AS checkpoints
"""
_AT_REST = """
SELECT t.thread_id, count(*) AS checkpoints
FROM dragoman_ledger.threads t JOIN checkpoints c ON c.thread_id = t.thread_id
WHERE t.status IN ('done', 'parked') AND t.master = 'direct' AND t.thread_id > %(after)s
    AND t.updated_at < clock_timestamp() - make_interval(secs => %(older_than_s)s)
    AND (t.lease_until IS NULL OR t.lease_until <= clock_timestamp())
GROUP BY t.thread_id HAVING count(*) > 1
ORDER BY t.thread_id LIMIT %(batch)s
"""
_COUNT = "SELECT count(*) AS checkpoints FROM checkpoints WHERE thread_id = ANY(%(threads)s)"


async def prune(pools: LoopPools, saver: FencedSaver, older_than_s: float) -> dict[str, int]:
    """Remove threads that have ended, and of threads that rest all checkpoints but the newest.

    Threads that go on keep their ledger whole, and lose only checkpoints that a newer one replaced: they can be
    continued, and no longer be looked at as they once were.

    Args:
        pools: of a migrated database.
        saver: over the same database.
        older_than_s: only what was not touched for so many seconds.

    Returns:
        How many `threads` and `checkpoints` were removed.

    Raises:
        DatabaseError: the database cannot be reached; what was removed until then stays so.

    """
    removed = {"threads": 0, "checkpoints": 0}
    pool = await pools.get()
    parameters = {"older_than_s": older_than_s, "batch": BATCH}
    while True:
        with database_errors("prune"):
            async with pool.connection() as connection:
                row = await (await connection.execute(_FORGET, parameters)).fetchone()
        if row is None or row["threads"] == 0:
            break
        removed["threads"] += row["threads"]
        removed["checkpoints"] += row["checkpoints"]
    after = ""
    while True:
        with database_errors("prune"):
            async with pool.connection() as connection:
                rows = await (await connection.execute(_AT_REST, {**parameters, "after": after})).fetchall()
        if not rows:
            return removed
        after = rows[-1]["thread_id"]
        for row in rows:
            removed["checkpoints"] += await _keep_newest(pools, saver, row["thread_id"], row["checkpoints"])


async def _keep_newest(pools: LoopPools, saver: FencedSaver, thread_id: str, before: int) -> int:
    try:
        await saver.aprune([thread_id])
    except (DatabaseError, NotImplementedError):
        # A run began in this moment, or the thread keeps its state as changes only: next time, or never.
        return 0
    pool = await pools.get()
    with database_errors("prune"):
        async with pool.connection() as connection:
            row = await (await connection.execute(_COUNT, {"threads": [thread_id]})).fetchone()
    return max(0, before - (row["checkpoints"] if row else 0))
