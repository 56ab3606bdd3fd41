"""LangGraph's checkpoints in PostgreSQL, written only by who owns the thread.

Differences from `AsyncPostgresSaver` (langgraph-checkpoint-postgres 3.2.0), whose tables and reading are used as they
are:

- A write is one statement that checks the thread's lease and writes, so that a process that was frozen or cut off
  cannot write after another took the thread over.
- Everything is serialised before a connection is taken: no transaction waits for Python, however large the state is.
- Runs do not queue behind one lock: each call takes its own connection from the pool of its event loop.
- Text that `jsonb` cannot hold (NUL) does not lose the write: state keeps it, metadata gets it replaced and marked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.postgres.base import BasePostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from checkpoints.database_errors import database_errors
from checkpoints.migrate import migrate
from checkpoints.pool import LoopPools
from checkpoints.storable import storable, storable_text
from dragoman.errors import DatabaseError, LeaseLost

__all__ = ["FencedSaver"]

T = TypeVar("T")

SMALL = 100_000
"""Bytes that are read back on the event loop itself: about a millisecond."""

_PUT = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(lease_epoch)s) AS held)
, blobs AS (
    INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT %(thread_id)s, %(checkpoint_ns)s, b.channel, b.version, b.type, b.blob
    FROM lease, unnest(%(channels)s::text[], %(versions)s::text[], %(types)s::text[], %(blobs)b::bytea[])
        AS b (channel, version, type, blob)
    WHERE lease.held
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING
)
, saved AS (
    INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
    SELECT %(thread_id)s, %(checkpoint_ns)s, %(checkpoint_id)s, %(parent_id)s,
           %(checkpoint)s::jsonb, %(metadata)s::jsonb
    FROM lease WHERE lease.held
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
    DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata
)
SELECT held FROM lease
"""
_WRITES = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(lease_epoch)s) AS held)
, saved AS (
    INSERT INTO checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
    SELECT %(thread_id)s, %(checkpoint_ns)s, %(checkpoint_id)s, %(task_id)s, %(task_path)s,
           w.idx, w.channel, w.type, w.blob
    FROM lease, unnest(%(idx)s::integer[], %(channels)s::text[], %(types)s::text[], %(blobs)b::bytea[])
        AS w (idx, channel, type, blob)
    WHERE lease.held
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO UPDATE
        SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob
        WHERE %(replace)s
)
SELECT held FROM lease
"""
# A thread that has ended and that nobody holds may be forgotten by anybody who is allowed to.
_DELETE = """
WITH lease AS MATERIALIZED (
    SELECT dragoman_ledger.may_write(%(thread_id)s, %(lease_epoch)s) OR EXISTS (
        SELECT FROM dragoman_ledger.threads
        WHERE thread_id = %(thread_id)s AND status = 'done'
            AND (lease_until IS NULL OR lease_until <= clock_timestamp())
    ) AS held
)
, c AS (DELETE FROM checkpoints USING lease WHERE lease.held AND thread_id = %(thread_id)s)
, b AS (DELETE FROM checkpoint_blobs USING lease WHERE lease.held AND thread_id = %(thread_id)s)
, w AS (DELETE FROM checkpoint_writes USING lease WHERE lease.held AND thread_id = %(thread_id)s)
SELECT held FROM lease
"""
_COPY = """
WITH lease AS MATERIALIZED (SELECT dragoman_ledger.may_write(%(thread_id)s, %(lease_epoch)s) AS held)
, c AS (
    INSERT INTO checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    SELECT %(thread_id)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
    FROM lease, checkpoints WHERE lease.held AND thread_id = %(source)s
    ON CONFLICT DO NOTHING
)
, b AS (
    INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    SELECT %(thread_id)s, checkpoint_ns, channel, version, type, blob
    FROM lease, checkpoint_blobs WHERE lease.held AND thread_id = %(source)s
    ON CONFLICT DO NOTHING
)
, w AS (
    INSERT INTO checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
    SELECT %(thread_id)s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
    FROM lease, checkpoint_writes WHERE lease.held AND thread_id = %(source)s
    ON CONFLICT DO NOTHING
)
SELECT held FROM lease
"""


class FencedSaver(AsyncPostgresSaver):
    """`AsyncPostgresSaver` that obeys leases: `config["configurable"]["lease_epoch"]` is the lease a run holds.

    Without it only threads that the ledger does not know, or knows as a LangGraph server's (master `api`), are written.
    It may be made where no event loop runs yet, and used on several.

    Args:
        pools: of a migrated database.
        graph: name and version of the graph, noted with every checkpoint that it writes; empty: not noted.

    """

    def __init__(self, pools: LoopPools, *, graph: str = "") -> None:
        # Plain JSON is all that state holds; a class that got in by mistake is not brought back to life.
        BasePostgresSaver.__init__(self, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._pools = pools
        self._graph = graph
        self.pipe = None
        self.supports_pipeline = False
        self._used_on: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:  # type: ignore[override]
        """The event loop that LangGraph's calls from other threads are sent to: the one it was last used on.

        Raises:
            DatabaseError: it was not used on any yet.

        """
        if self._used_on is None:
            raise DatabaseError("no event loop uses the checkpoints yet", where="checkpoints", cure="use async calls")
        return self._used_on

    async def setup(self) -> None:
        """Bring the whole database to this code's tables, under the lock that all processes share."""
        await migrate(await self._pools.get())

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint, whole or not at all.

        Raises:
            LeaseLost: the run no longer owns the thread; nothing was written.
            DatabaseError: the database cannot be reached.

        """
        configurable = config.get("configurable", {})
        place = {key: configurable[key] for key in ("thread_id", "checkpoint_ns")}
        parameters = await asyncio.to_thread(self._serialised, config, checkpoint, metadata, new_versions)
        await self._write(_PUT, config, {**place, **parameters})
        following = {**place, "checkpoint_id": checkpoint["id"]}
        if "lease_epoch" in configurable:
            following["lease_epoch"] = configurable["lease_epoch"]
        return {"configurable": following}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task of the checkpoint wrote, all or nothing.

        Raises:
            LeaseLost: the run no longer owns the thread; nothing was written.
            DatabaseError: the database cannot be reached.

        """
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        configurable = config.get("configurable", {})
        place = {key: configurable[key] for key in ("thread_id", "checkpoint_ns", "checkpoint_id")}
        values = await asyncio.to_thread(lambda: [self.serde.dumps_typed(value) for _, value in writes])
        rows = [
            (WRITES_IDX_MAP.get(channel, number), channel, kind, blob)
            for number, ((channel, _), (kind, blob)) in enumerate(zip(writes, values, strict=True))
        ]
        # One statement may not touch a row twice: of special writes of one kind the last counts, of others the first.
        kept = list({row[0]: row for row in (rows if special else reversed(rows))}.values())
        await self._write(
            _WRITES,
            config,
            {
                **place,
                "replace": special,
                "task_id": task_id,
                "task_path": task_path,
                "idx": [row[0] for row in kept],
                "channels": [row[1] for row in kept],
                "types": [row[2] for row in kept],
                "blobs": [row[3] for row in kept],
            },
        )

    async def adelete_thread(self, thread_id: str, *, lease_epoch: int | None = None) -> None:
        """Delete a thread's checkpoints and writes: of a thread that has ended, or by who owns it.

        Raises:
            LeaseLost: the thread goes on, and it is not the caller's; nothing was deleted.
            DatabaseError: the database cannot be reached.

        """
        configurable = {"thread_id": str(thread_id), "lease_epoch": lease_epoch}
        await self._write(_DELETE, {"configurable": configurable}, {"thread_id": str(thread_id)})

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints and writes to a thread that is not one of our own.

        Raises:
            LeaseLost: the target takes a lease; nothing was copied.
            DatabaseError: the database cannot be reached.

        """
        parameters = {"source": str(source_thread_id), "thread_id": str(target_thread_id)}
        await self._write(_COPY, {"configurable": {}}, parameters)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As LangGraph's; `delete` obeys leases like `adelete_thread`.

        Raises:
            LeaseLost: `delete` of a thread that goes on.
            DatabaseError: the database cannot be reached, or a run wrote while its thread was pruned.

        """
        if strategy == "delete" and not isinstance(thread_ids, str):
            for thread_id in thread_ids:
                await self.adelete_thread(thread_id)
            return
        await super().aprune(thread_ids, strategy=strategy)

    def _serialised(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> dict[str, Any]:
        """Parameters of a checkpoint's statement: small plain values inline in its row, all others as blobs."""
        inline: dict[str, Any] = {}
        blobs: list[tuple[str, str, str, bytes]] = []
        for channel, value in checkpoint["channel_values"].items():
            # What jsonb cannot hold (NUL in a text, NaN) is kept as it is in a blob.
            if value is None or (isinstance(value, str | int | float) and storable(value) is value):
                inline[channel] = value
                continue
            if isinstance(value, _DeltaSnapshot):
                inline[channel] = True
            if channel in new_versions:
                kind, blob = self.serde.dumps_typed(value)
                blobs.append((channel, cast(str, new_versions[channel]), kind, blob))
        noted = cast("dict[str, Any]", get_serializable_checkpoint_metadata(_marked(config), _marked(metadata)))
        if self._graph:
            noted["graph"] = self._graph
        return {
            "checkpoint_id": checkpoint["id"],
            "parent_id": config.get("configurable", {}).get("checkpoint_id"),
            "checkpoint": _json({**checkpoint, "channel_values": inline}),
            "metadata": _json(noted),
            "channels": [blob[0] for blob in blobs],
            "versions": [blob[1] for blob in blobs],
            "types": [blob[2] for blob in blobs],
            "blobs": [blob[3] for blob in blobs],
        }

    async def _write(self, sql: LiteralString, config: RunnableConfig, parameters: dict[str, Any]) -> None:
        """Run one fenced statement."""
        epoch = config.get("configurable", {}).get("lease_epoch")
        if not isinstance(epoch, int) or isinstance(epoch, bool):
            epoch = None
        async with self._cursor() as cursor:
            await cursor.execute(sql, {**parameters, "lease_epoch": epoch})
            row = await cursor.fetchone()
        if row is None or not row["held"]:
            raise LeaseLost(
                "the checkpoint was not written: "
                + ("the thread takes a lease" if epoch is None else f"the lease (epoch {epoch}) has ended"),
                where=f"thread {parameters['thread_id']}",
                cure="leave the thread to its owner",
            )

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """A cursor on a connection of its own; `pipeline` is LangGraph's wish for one round trip, met otherwise."""
        self._used_on = asyncio.get_running_loop()
        pool = await self._pools.get()
        with database_errors("checkpoints"):
            async with (
                pool.connection() as connection,
                connection.cursor(binary=True, row_factory=dict_row) as cursor,
            ):
                yield cursor

    async def _load_checkpoint_tuple(self, value: DictRow) -> CheckpointTuple:
        """As LangGraph's, with the work on large values off the event loop."""
        blobs = value["channel_values"]
        # A thread costs more than small values do.
        large = sum(len(blob) for _, _, blob in blobs or [] if blob) > SMALL
        values = await asyncio.to_thread(self._load_blobs, blobs) if large else self._load_blobs(blobs)
        loaded = await super()._load_checkpoint_tuple({**value, "channel_values": None})
        loaded.checkpoint["channel_values"].update(values)
        return loaded


def _marked(value: T) -> T:
    """A config or metadata whose texts are storable, before LangGraph drops from them what is not."""
    if isinstance(value, dict):
        return cast(T, {key: _marked(item) for key, item in value.items()})
    return cast(T, storable_text(value)) if isinstance(value, str) else value


def _json(value: Any) -> str:  # noqa: ANN401 - whatever LangGraph puts there
    """JSON that `jsonb` takes."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        text = ""
    # NUL and surrogates are written as escapes; the exact look is taken only where there may be one.
    if text and "\\u0000" not in text and "\\ud" not in text:
        return text
    return json.dumps(storable(json.loads(json.dumps(value))))
