"""What a DATABASE_URL says, and what of it libpq may see.

Our own parameter ``pooler`` tells that a transaction pooler stands before the database. libpq refuses parameters it
does not know, so it is taken out here; so is ``pgbouncer``, which other tools write for the same thing.
Source: PostgreSQL manual, "Connection Strings".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from dragoman.errors import SettingsError

OURS = ("pooler", "pgbouncer")
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})
POOLER_PORTS = frozenset({"6432", "6543"})
"""Ports that transaction poolers listen on by custom, and PostgreSQL does not (PgBouncer; Supabase)."""

_SCHEME = re.compile(r"^(?:postgres|postgresql)(?:\+\w+)?://")
_PAIR = re.compile(r"(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)")


@dataclass(frozen=True)
class Dsn:
    """A connection string that libpq takes.

    Args:
        conninfo: for libpq; it may hold the password.
        where: host, port and database, for messages; never the password.
        pooler: whether a transaction pooler is before the database, as far as the string tells.
    """

    conninfo: str
    where: str
    pooler: bool


def read_dsn(text: str) -> Dsn:
    """Read a URL or a ``key=value`` string.

    A pooler is there where ``pooler`` (or ``pgbouncer``) says so; where neither is given, where the host names itself
    one (a label ``pooler`` or one ending in ``-pooler``) or an explicit port is one of ``POOLER_PORTS``.

    Raises:
        SettingsError: libpq cannot use it, or ``pooler`` is neither yes nor no.
    """
    said: dict[str, str] = {}
    if _SCHEME.match(text):
        head, _, query = _SCHEME.sub("postgresql://", text, count=1).partition("?")
        kept = []
        for part in query.split("&"):
            key, _, value = part.partition("=")
            if key in OURS:
                said[key] = unquote_plus(value)
            elif part:
                kept.append(part)
        rest = head + ("?" + "&".join(kept) if kept else "")
    else:
        rest = _PAIR.sub(lambda pair: _taken(pair, said), text)
    try:
        known = conninfo_to_dict(rest)
    except psycopg.ProgrammingError:
        # libpq quotes the part it stumbled over, which can be the password.
        raise SettingsError(
            "this is no connection string that PostgreSQL's client library takes",
            where="DATABASE_URL",
            cure="write postgresql://user:password@host:port/database, with @ : / % in the password as %40 %3A %2F %25",
        ) from None
    hosts = str(known.get("host") or known.get("hostaddr") or "local socket")
    ports = str(known.get("port") or "")
    where = f"PostgreSQL {hosts}{':' + ports if ports else ''}/{known.get('dbname') or ''}"
    return Dsn(make_conninfo(rest), where, _pooler(said, hosts, ports))


def _taken(pair: re.Match[str], said: dict[str, str]) -> str:
    if pair[1] not in OURS:
        return pair[0]
    said[pair[1]] = pair[2].strip("'")
    return ""


def _pooler(said: dict[str, str], hosts: str, ports: str) -> bool:
    for key in OURS:
        answer = said.get(key)
        if answer is None:
            continue
        if answer.lower() not in YES | NO:
            raise SettingsError(f"'{answer}' is neither yes nor no", where=f"DATABASE_URL: {key}", cure=f"{key}=1 or 0")
        return answer.lower() in YES
    labels = [label for host in hosts.split(",") if not host.startswith("/") for label in host.lower().split(".")]
    named = any(label == "pooler" or label.endswith("-pooler") for label in labels)
    return named or bool(POOLER_PORTS & set(ports.split(",")))
