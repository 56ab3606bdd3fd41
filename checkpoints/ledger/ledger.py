"""The ledger in PostgreSQL: all parts of `dragoman.ledger.Ledger` over one set of tables (`checkpoints/migrations`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkpoints.ledger.attempts import AttemptTables
from checkpoints.ledger.evidence import EvidenceTables
from checkpoints.ledger.history import HistoryTables
from checkpoints.ledger.leases import LeaseTables
from checkpoints.ledger.site_facts import SiteFactTables
from checkpoints.ledger.threads import ThreadTables
from checkpoints.ledger.transfers import TransferTables
from checkpoints.ledger.waits import WaitTables
from checkpoints.ledger.watches import WatchTables

if TYPE_CHECKING:
    from checkpoints.pool import LoopPools
    from dragoman.kept_fact import SiteFacts
    from dragoman.ledger import Ledger

__all__ = ["PostgresLedger"]


class PostgresLedger(
    EvidenceTables, AttemptTables, TransferTables, HistoryTables, WaitTables, ThreadTables, LeaseTables, WatchTables,
    SiteFactTables,
):  # fmt: skip
    """`dragoman.ledger.Ledger` and `dragoman.kept_fact.SiteFacts` in PostgreSQL.

    Args:
        pools: of a migrated database (see `checkpoints.open`).

    """


def _keeps_facts(pools: LoopPools) -> SiteFacts:
    return PostgresLedger(pools)


def _is_a_ledger(pools: LoopPools) -> Ledger:
    return PostgresLedger(pools)
