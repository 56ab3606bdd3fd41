"""Accounts of PBS sites, by the tools that sites have for them."""

from pathlib import Path

import pytest

from dragoman.command import Command, Completed
from dragoman.errors import CommandTimeout
from dragoman.facts import Account
from dragoman.observation import Outcome
from dragoman.protocols import TellsAccounts
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.pbs import PbsDialect
from providers.schedulers.pbs_accounts import read_account_table, read_pbs_accounts
from providers.schedulers.torque import TorqueDialect
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

GOLD = """\
Project    Machines  Balance
---------- --------- --------
biology    ANY       25000000
chemistry  ANY       -120
geo        colony    100
geo        ANY       5
"""
SBANK = """\
 Allocation  Suballocation  Start       End         Resource  Project       Jobs  Charged      Available Balance
 ----------  -------------  ----------  ----------  --------  ------------  ----  -----------  -----------------
 6687        6555           2026-10-01  2027-10-01  polaris   datascience     15         12.5          101,202.3
 6689        6557           2026-11-01  2027-11-01  polaris   datascience      0          0.0              500.0
 7001        6600           2026-10-01  2027-10-01  polaris   fusion-x         2          1.0                N/A

Totals:
  Rows: 3
"""
MAM = """\
Id   Name         Balance  Reserved Effective CreditLimit Available
---- ------------ -------- -------- --------- ----------- ---------
3130 lp_climate    9995.52   100.00   9895.52        0.00   9895.52
3131 default_proj     0.00     0.00      0.00       10.00     10.00
"""


def done(out: str, rc: int = 0, err: str = "") -> Completed:
    return Completed(("/bin/sh",), rc, out.encode(), err.encode())


@pytest.mark.parametrize(
    ("table", "accounts"),
    [
        (GOLD, [("biology", 25000000), ("chemistry", -120), ("geo", None)]),
        (SBANK, [("datascience", 101702.3), ("fusion-x", None)]),
        (MAM, [("default_proj", 10.0), ("lp_climate", 9895.52)]),
        ("Project Balance\n------- -------\n", []),
    ],
)
def test_tables(table: str, accounts: list[tuple[str, float | None]]) -> None:
    told = read_account_table(table)
    assert told == tuple(Account(name=name, balance=balance) for name, balance in accounts)


@pytest.mark.parametrize("text", ["", "no allocation service today", "A B\n--- ---\n1 2\n", "------ -----\n"])
def test_what_is_no_table_of_accounts(text: str) -> None:
    assert read_account_table(text) is None
    assert read_pbs_accounts(done(f"dragoman-tool mybalance\n{text}")).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (done("dragoman-none\n"), Outcome.UNKNOWN, "site file"),
        (done("dragoman-tool mybalance\n", 1, "cannot reach the server"), Outcome.UNKNOWN, "cannot reach"),
        (done("dragoman-tool mybalance\nProject Balance\n------- -------\n"), Outcome.ABSENT, "no account"),
        (
            done("dragoman-tool mybalance\nProject Balance\n------- -------\n", err="u1 is no member"),
            Outcome.UNKNOWN,
            "no member",
        ),
        (
            done("dragoman-tool mybalance\nProject Balance\n------- -------\nbiology 2500"),
            Outcome.UNKNOWN,
            "whole table",
        ),
        (done(""), Outcome.UNKNOWN, ""),
        (CommandTimeout("no end within 60 s"), Outcome.UNKNOWN, "no end"),
    ],
)
def test_no_answer_is_no_absence(answer: Completed | Exception, outcome: Outcome, words: str) -> None:
    told = read_pbs_accounts(answer)
    assert told.outcome is outcome
    assert words in told.reason


@pytest.mark.parametrize("dialect", [PbsDialect(), TorqueDialect()], ids=lambda each: each.name)
async def test_the_tool_that_is_here_is_asked(dialect: PbsDialect | TorqueDialect, tmp_path: Path) -> None:
    assert isinstance(dialect, TellsAccounts)
    for name, script in (("mybalance", f"cat <<'END'\n{GOLD}END"), ("id", "echo ada")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    transport = LocalTransport({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    client = SchedulerClient(dialect, transport, Site(name="x", scheduler=dialect.name))
    told = (await client.accounts()).value
    assert told is not None
    assert [each.name for each in told.accounts] == ["biology", "chemistry", "geo"]


async def test_sbank_is_asked_for_this_user(tmp_path: Path) -> None:
    for name, script in (("sbank-list-allocations", 'echo "$*" >"${0%/*}/asked"'), ("id", "echo ada")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (command,) = PbsDialect().accounts_commands()
    assert isinstance(command, Command)
    await LocalTransport({"PATH": f"{tmp_path}:/usr/bin:/bin"}).run(command)
    assert (tmp_path / "asked").read_text() == "-u ada\n"
