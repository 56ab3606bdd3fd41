"""What a DATABASE_URL says about a pooler, and what of it reaches libpq."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from checkpoints.dsn import read_dsn
from dragoman.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "pooler"),
    [
        ("postgresql://u:p@db.example.org/d", False),
        ("postgresql://u:p@db.example.org:5432/d?sslmode=require", False),
        ("postgresql://u:p@db.example.org/d?pooler=1", True),
        ("postgresql://u:p@db.example.org/d?sslmode=require&pooler=true", True),
        ("postgres://u:p@db.example.org/d?pgbouncer=true&connect_timeout=5", True),
        ("postgresql+psycopg://u:p@db.example.org/d?pooler=yes", True),
        ("host=db.example.org dbname=d pooler=1 user=u", True),
        ("host=db.example.org dbname=d pooler = 'on'", True),
        ("host=db.example.org dbname=d", False),
        ("host=db.example.org dbname=d password='a pooler=1 b'", False),
        ("postgresql://u:p@db.example.org:6432/d", True),
        ("postgresql://u:p@ep-cool-name-123-pooler.eu-central-1.aws.example.tech/d", True),
        ("postgresql://u:p@aws-0-eu.pooler.example.com:6543/d", True),
        ("postgresql://u:p@db.example.org:6432/d?pooler=0", False),
        ("postgresql://u:p@spooler.example.org/d", False),
        ("postgresql://u@/d?host=%2Frun%2Fpg.pooler%2Fx", False),
    ],
)
def test_pooler_is_known_and_never_passed_on(text: str, pooler: bool) -> None:
    read = read_dsn(text)
    assert read.pooler is pooler
    known = conninfo_to_dict(read.conninfo)
    assert not {"pooler", "pgbouncer"} & set(known)
    assert known["dbname"] == "d"


def test_other_parameters_reach_libpq() -> None:
    read = read_dsn("postgresql://u:p%40ss@h1:1,h2:2/d?pooler=1&sslmode=require&target_session_attrs=read-write")
    assert conninfo_to_dict(read.conninfo) == {
        "user": "u",
        "password": "p@ss",
        "host": "h1,h2",
        "port": "1,2",
        "dbname": "d",
        "sslmode": "require",
        "target_session_attrs": "read-write",
    }
    assert read.where == "PostgreSQL h1,h2:1,2/d"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:sesame@h/d?schema=public",
        "mysql://u:sesame@h/d",
        "postgresql://u:sesame@h:x y/d?%",
        "host=h password=sesame bogus=1",
        "postgresql://u:sesame@h/d?pooler=maybe",
        "sesame",
    ],
)
def test_what_libpq_cannot_take_is_named_without_the_password(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_dsn(text)
    assert caught.value.where.startswith("DATABASE_URL")
    assert caught.value.cure
    assert "sesame" not in str(caught.value)
    assert caught.value.__cause__ is None
