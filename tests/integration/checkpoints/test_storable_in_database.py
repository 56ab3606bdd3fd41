"""PG01 and its kind, asked of the real database: nothing that goes in is refused, nothing changed goes unmarked."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.types.json import Jsonb
from pydantic import JsonValue

from checkpoints.embedded import EmbeddedServer
from checkpoints.storable import MARK, REPLACEMENT, storable, storable_text

CASES: list[JsonValue] = [
    "ok\x00done",
    {"stdout\x00": {"tail": ["a", ["b\x00\x00"]]}},
    "literal \\u0000 and \\\\u0000",
    "name \udcff from a file system",
    {"\ud83d": "\ude00", "pair": "\ud83d\ude00"},
    [float("nan"), {"x": float("-inf")}],
    "\ufffe\uffff\ufeff\x01\x1f\x7f\u2028",
]


@pytest.mark.parametrize("value", CASES)
async def test_it_is_stored_and_read_back_as_it_went_in(server: EmbeddedServer, value: JsonValue) -> None:
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        rows = await connection.execute("SELECT %s::jsonb", [Jsonb(storable(value))])
        assert await rows.fetchone() == (storable(value),)


async def test_pg01_in_jsonb_and_in_text(server: EmbeddedServer) -> None:
    tail = "ok\x00done"
    async with await psycopg.AsyncConnection.connect(server.dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            await connection.execute("SELECT %s::jsonb", [Jsonb({"tail": tail})])
        with pytest.raises(psycopg.DataError):
            await connection.execute("SELECT %s::text", [tail])
        rows = await connection.execute("SELECT %s::jsonb, %s::text", [Jsonb(storable({"tail": tail})), storable(tail)])
        stored = f"ok{REPLACEMENT}done{MARK}"
        assert await rows.fetchone() == ({"tail": stored}, stored)


async def test_all_of_unicode_goes_in(server: EmbeddedServer) -> None:
    async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
        for plane in range(17):
            text = storable_text("".join(map(chr, range(plane << 16, (plane + 1) << 16))))
            rows = await connection.execute("SELECT %s::text, %s::jsonb", [text, Jsonb([text])])
            assert await rows.fetchone() == (text, [text])
            assert text.endswith(MARK) is (plane == 0)
