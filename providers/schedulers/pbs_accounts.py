"""Accounts on sites of PBS and Torque: neither keeps any itself, so the accounting tools that sites add are asked.

Sources: Gold's users' guide ("Check The Balance", `mybalance`), mam-balance(8) of Moab Accounting Manager and its older
name gbalance, sbank-list-allocations(1). Each prints one table whose columns are ruled by a line of dashes. What is
charged is no part of the table, so a balance has no unit.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.command import Completed
from dragoman.facts import Account, Accounts
from dragoman.observation import Answer
from providers.schedulers.base import one_line

__all__ = ["ACCOUNTS_SCRIPT", "read_account_table", "read_pbs_accounts"]

ACCOUNTS_SCRIPT: Final = r"""
me=$(id -un) || exit 1
for tool in sbank-list-allocations mybalance mam-balance gbalance; do
  command -v "$tool" >/dev/null 2>&1 || continue
  printf 'dragoman-tool %s\n' "$tool"
  case $tool in mybalance) exec mybalance ;; *) exec "$tool" -u "$me" ;; esac
done
echo dragoman-none
"""
"""Asks the first of them that is here."""

_NAMES: Final = ("Project", "Account", "Fund", "Name")
_WHERE: Final = ("Resource", "Machines", "Machine")
_LEFT: Final = ("Available Balance", "Available", "Balance")


def read_pbs_accounts(done: Completed | Exception) -> Answer[Accounts]:
    """What the tool told; unknown where there is none, or where it failed."""
    if isinstance(done, Exception):
        return Answer[Accounts].unknown(one_line(str(done)) or type(done).__name__)
    head, _, text = done.out.partition("\n")
    if done.rc == 0 and head == "dragoman-none":
        return Answer[Accounts].unknown(
            "PBS keeps no accounts, and there is no accounting tool that is known here (`accounts` of the site file)"
        )
    tool = head.removeprefix("dragoman-tool ").strip()
    if done.rc != 0 or tool == head or done.truncated:
        return Answer[Accounts].unknown(one_line(done.err or done.out) or f"{tool} exit code {done.rc}")
    accounts = read_account_table(text)
    if accounts is None:
        return Answer[Accounts].unknown(f"{tool} printed no table that can be read: {one_line(text, limit=200)}")
    if not text.endswith("\n") or (not accounts and done.err.strip()):
        return Answer[Accounts].unknown(
            f"{tool} did not print its whole table: {one_line(done.err or text, limit=200)}"
        )
    if not accounts:
        return Answer[Accounts].absent(f"{tool} knows no account that this user may charge")
    return Answer[Accounts].ok(Accounts(accounts=accounts))


def read_account_table(text: str) -> tuple[Account, ...] | None:
    """The accounts of one table, in order of names. None: no table.

    Several allocations of one account on one machine count together. On several machines the balance is unknown, for
    their names are the tool's own, and so it is where a cell is no number.
    """
    lines = text.splitlines()
    ruler = next((index for index, line in enumerate(lines) if index and re.fullmatch(r"\s*-+(?:\s+-+)+\s*", line)), 0)
    if not ruler:
        return None
    spans = [match.span() for match in re.finditer(r"-+", lines[ruler])]
    ends = [start for start, _ in spans[1:]] + [None]
    cells = [
        [line[start:end].strip() for (start, _), end in zip(spans, ends, strict=True)]
        for line in (lines[ruler - 1], *lines[ruler + 1 :])
    ]
    header, rows = cells[0], cells[1:]
    name = next((header.index(word) for word in _NAMES if word in header), None)
    left = next((header.index(word) for word in _LEFT if word in header), None)
    if name is None or left is None:
        return None
    where = next((header.index(word) for word in _WHERE if word in header), None)
    found: dict[str, list[tuple[str, float | None]]] = {}
    for row, line in zip(rows, lines[ruler + 1 :], strict=True):
        # A sum or a sentence stands below the table, behind an empty line or a rule.
        if not line.strip() or re.match(r"\s*(?:-|=|Totals?\b)", line):
            break
        if re.fullmatch(r"[A-Za-z0-9_][\w.+@/-]*", row[name]):
            found.setdefault(row[name], []).append(("" if where is None else row[where], _number(row[left])))
    return tuple(Account(name=each, balance=_sum(amounts)) for each, amounts in sorted(found.items()))


def _sum(amounts: list[tuple[str, float | None]]) -> float | None:
    numbers = [number for _, number in amounts if number is not None]
    alike = len({machine for machine, _ in amounts}) == 1
    return sum(numbers) if alike and len(numbers) == len(amounts) else None


def _number(text: str) -> float | None:
    """`101,202.3` and `-5`; None for a word."""
    plain = text.replace(",", "")
    return float(plain) if re.fullmatch(r"-?\d+(?:\.\d+)?", plain) else None
