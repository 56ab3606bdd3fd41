"""What psycopg and its pool say, as errors of the project.

Only what concerns reaching and using the database is translated; a violated constraint or a wrong statement is the
caller's own business and passes unchanged.
Source: PostgreSQL manual, appendix "PostgreSQL Error Codes".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from dragoman.errors import DatabaseError

_POOLER = "add '?pooler=1' to DATABASE_URL: a transaction pooler forgets prepared statements"
CURES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.DiskFull, "make room on the disk of the database; nothing of this write was stored"),
    (errors.OutOfMemory, "give the database more memory"),
    (errors.TooManyConnections, "raise max_connections of the database, or run fewer processes"),
    (errors.ReadOnlySqlTransaction, "point DATABASE_URL at the primary: this server only reads"),
    (errors.InvalidSqlStatementName, _POOLER),
    (errors.DuplicatePreparedStatement, _POOLER),
)
"""Errors that have a cure of their own; the first that fits."""


@contextmanager
def database_errors(where: str = "database") -> Iterator[None]:
    """Turn failures to reach or use the database inside the block into ``DatabaseError``.

    Args:
        where: what was being done or where, without any secret.

    Raises:
        DatabaseError: from ``psycopg.OperationalError`` (lost connections, restarts, deadlocks, time-outs, resources),
            ``psycopg.InterfaceError``, the pool's own errors, and those of ``CURES``. Always transient.
    """
    try:
        yield
    except psycopg.Error as problem:
        cure = next((cure for kind, cure in CURES if isinstance(problem, kind)), None)
        if cure is None and not isinstance(problem, psycopg.OperationalError | psycopg.InterfaceError):
            raise
        raise DatabaseError(reason_of(problem), where=where, cure=cure or "try again") from problem


def reason_of(problem: psycopg.Error) -> str:
    """Say in one line what the server or libpq said, without the detail that may quote a row."""
    said = problem.diag.message_primary or str(problem)
    return " ".join(said.split()) or type(problem).__name__
