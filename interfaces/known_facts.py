"""Slow facts for a command that needs no database: from one that is there anyway, and only when a site is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkpoints.embedded import EmbeddedServer

if TYPE_CHECKING:
    from checkpoints.ledger.site_facts import SiteFactTables
    from checkpoints.pool import LoopPools
    from dragoman.kept_fact import FactPlace, KeptFact
    from dragoman.settings import Settings

__all__ = ["KnownFacts"]

CONNECT_S = 2
"""Longest wait for a connection: what is asked is quicker than a database that is away."""


class KnownFacts:
    """`dragoman.kept_fact.SiteFacts` over the configured database, or the embedded one where it runs already.

    No server is started, no table is made, and nothing of the database is loaded before the first use.

    Args:
        settings: `database_url`, `database_pooler` and `data_dir`.

    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pools: LoopPools | None = None

    async def kept_facts(self, place: FactPlace) -> list[KeptFact]:
        """What is known of a place. Raises `DatabaseError`, `SettingsError`."""
        tables = await self._tables()
        return await tables.kept_facts(place) if tables is not None else []

    async def keep_facts(self, place: FactPlace, facts: Sequence[KeptFact]) -> None:
        """Keep answers. Raises `DatabaseError`, `SettingsError`."""
        tables = await self._tables()
        if tables is not None:
            await tables.keep_facts(place, facts)

    async def forget_facts(self, place: FactPlace) -> None:
        """Drop what is kept of a place. Raises `DatabaseError`, `SettingsError`."""
        tables = await self._tables()
        if tables is not None:
            await tables.forget_facts(place)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._pools is not None:
            await self._pools.aclose()

    async def _tables(self) -> SiteFactTables | None:
        dsn = await self._dsn() if self._pools is None else ""
        if dsn is None:
            return None
        from checkpoints.ledger.site_facts import SiteFactTables
        from checkpoints.pool import LoopPools

        if self._pools is None:
            pooler = self._settings.database_pooler
            self._pools = LoopPools(dsn, max_size=1, pooler=pooler, connect_s=CONNECT_S)
        return SiteFactTables(self._pools)

    async def _dsn(self) -> str | None:
        url = self._settings.database_url
        if url is not None:
            return url.get_secret_value()
        server = await EmbeddedServer.find(self._settings.data_dir)
        return server.dsn if server is not None else None
