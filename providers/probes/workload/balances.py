"""Accounts and balances by the accounting tools that sites put beside Moab and Cobalt.

Sources: `gbalance` and `mybalance` of Gold's and Moab Accounting Manager's guides ("Querying the Balance"),
mam-balance(8) of Moab Accounting Manager 9, sbank-list-allocations(1) and its forerunner cbank. Each prints one table
whose columns are ruled by dashes. A unit is told by sbank alone, in the sums below its table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dragoman.command import Command
from dragoman.facts import Accounts
from dragoman.observation import Answer
from providers.probes.base import Results, brief, no_answer, question
from providers.schedulers.pbs_accounts import read_account_table

__all__ = ["ask_balances", "read_balances"]

_SCRIPT = r"""
me=$(id -un) || exit 1
for tool do
  command -v "$tool" >/dev/null 2>&1 || continue
  printf 'dragoman-tool %s\n' "$tool"
  case $tool in
    mybalance) "$tool" ;;
    *) "$tool" -u "$me" ;;
  esac
  printf '\ndragoman-end %s\n' "$?"
  exit 0
done
echo dragoman-none
"""
_UNIT = re.compile(
    r"^[ \t]*Available Balance\s*:\s*-?[\d,.]+\s+(node|core|gpu)[ -]hours\s*$", re.MULTILINE | re.IGNORECASE
)


def ask_balances(*tools: str) -> Mapping[str, Command]:
    """Asks the first of these tools that is here."""
    return {"balance": question("/bin/sh", "-c", _SCRIPT, "sh", *tools, timeout_s=30.0)}


def read_balances(results: Results) -> Answer[Accounts]:
    """What the tool told; unknown where there is none, or where it failed."""
    trouble, done = no_answer(results, "balance"), results.done("balance")
    if trouble is not None or done is None:
        return Answer[Accounts].unknown(trouble.reason if trouble else "balances were not asked")
    lines = done.out.splitlines()
    head = next((at for at, line in enumerate(lines) if line.startswith("dragoman-")), len(lines))
    if lines[head : head + 1] == ["dragoman-none"]:
        return Answer[Accounts].unknown(
            "there is no accounting tool that is known here (`accounts` of the site file can name the accounts)"
        )
    tool = lines[head].removeprefix("dragoman-tool ").strip() if head < len(lines) else ""
    end = next((at for at in range(len(lines) - 1, head, -1) if lines[at].startswith("dragoman-end ")), None)
    if not tool or end is None:
        return Answer[Accounts].unknown(f"the answer was cut: {brief(done)}" if tool else brief(done))
    text = "\n".join(lines[head + 1 : end])
    if lines[end] != "dragoman-end 0":
        code = lines[end].removeprefix("dragoman-end ")
        return Answer[Accounts].unknown(brief(f"{tool} exit {code}: {done.err.strip() or text.strip() or 'no output'}"))
    accounts = read_account_table(text)
    if accounts is None:
        return Answer[Accounts].unknown(f"{tool} printed no table that can be read: {brief(text or done.err, 200)}")
    if not accounts:
        trouble_words = done.err.strip()
        if trouble_words:
            return Answer[Accounts].unknown(brief(f"{tool}: {trouble_words}"))
        return Answer[Accounts].absent(f"{tool} knows no account that this user may charge")
    units = {match[1].lower() for match in _UNIT.finditer(text)}
    if len(units) == 1:
        unit = f"{units.pop()}-hours"
        accounts = tuple(each.model_copy(update={"unit": unit}) for each in accounts)
    return Answer[Accounts].ok(Accounts(accounts=accounts))
