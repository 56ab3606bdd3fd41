"""Banks as the releases of flux-accounting print them."""

from __future__ import annotations

import json

import pytest

from dragoman.command import Completed
from dragoman.errors import CommandMissing, CommandTimeout
from dragoman.facts import Account
from dragoman.observation import Outcome
from dragoman.protocols import TellsAccounts
from providers.schedulers.flux import FluxDialect

A = {"active": 1, "username": "alice", "userid": 1006, "bank": "chem", "default_bank": "phys", "fairshare": 0.5}
B = {**A, "bank": "phys", "queues": ""}
OLD = {**A, "bank": "gone", "active": 0}
BOTH = (Account(name="chem"), Account(name="phys", default=True))
TABLE = (
    "creation_time   mod_time   active username userid bank default_bank shares job_usage fairshare queues projects\n"
    "1677276554      1677276554 1      alice    1006   chem phys         1      0.0       0.5              *\n"
    "1677276554      1677276554 1      alice    1006   phys phys         1      0.0       0.5       x      *\n"
)
DASHED = "username|bank\n--------+----\n".replace("|", " ") + "alice chem\n"


def told(out: str, rc: int = 0, err: str = "") -> tuple[Outcome, tuple[Account, ...], str]:
    answer = FluxDialect().parse_accounts([Completed(("flux",), rc, out.encode(), err.encode())])
    return answer.outcome, answer.value.accounts if answer.value is not None else (), answer.reason


@pytest.mark.parametrize(
    ("text", "accounts"),
    [
        (json.dumps([A, B, OLD]), BOTH),
        (json.dumps(A, indent=2) + "\n" + json.dumps(B, indent=2), BOTH),
        (json.dumps({"username": "alice", "default_bank": "phys", "banks": [A, B]}), BOTH),
        (json.dumps({"default_bank": "phys", "banks": [{"bank": "phys"}, {"bank": "chem"}]}), BOTH),
        (f"Welcome, user 17!\n{json.dumps([A, B])}\n", BOTH),
        (TABLE, BOTH),
        (DASHED, (Account(name="chem"),)),
    ],
)
def test_every_form_tells_the_banks(text: str, accounts: tuple[Account, ...]) -> None:
    assert told(text) == (Outcome.OK, accounts, "")


@pytest.mark.parametrize(
    ("out", "rc", "err", "outcome"),
    [
        ("", 1, "view-user: User bob not found in association_table", Outcome.ABSENT),
        (json.dumps([OLD]), 0, "", Outcome.ABSENT),
        ("", 1, "flux: `account' is not a flux command.  See 'flux --help'", Outcome.UNKNOWN),
        ("", 1, "flux-account: ERROR: accounting.view_user: No service matching accounting.view_user", Outcome.UNKNOWN),
        ("", 1, "flux-account: ERROR: could not connect", Outcome.UNKNOWN),
        ("", 0, "", Outcome.UNKNOWN),
        ('[{"bank": "che', 0, "", Outcome.UNKNOWN),
        ("[[[]]]", 0, "", Outcome.UNKNOWN),
        ("17", 0, "", Outcome.UNKNOWN),
    ],
)
def test_what_does_not_tell_them(out: str, rc: int, err: str, outcome: Outcome) -> None:
    answer = told(out, rc, err)
    assert (answer[0], answer[1], bool(answer[2])) == (outcome, (), True)


def test_no_answer_is_unknown() -> None:
    dialect = FluxDialect()
    assert isinstance(dialect, TellsAccounts)
    for error in (CommandMissing("no flux", where="flux"), CommandTimeout("late", where="flux")):
        assert dialect.parse_accounts([error]).outcome is Outcome.UNKNOWN
    assert "id -un" in dialect.accounts_commands()[0].argv[2]
