"""Banks that a user of Flux may charge: flux-accounting's `flux account view-user` (flux-account-view-user(1)).

Flux itself keeps no accounts. Releases print the associations as JSON (a list, an object for each, or `banks` of one
object) or as a table; a bank has shares and limits, and no balance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from dragoman.command import Completed
from dragoman.errors import CommandMissing
from dragoman.facts import Account, Accounts
from dragoman.observation import Answer
from providers.schedulers.base import one_line

__all__ = ["ACCOUNTS_SCRIPT", "read_banks"]

ACCOUNTS_SCRIPT: Final = 'exec flux account view-user "$(id -un)"'

_NO_ACCOUNTING = re.compile(r"not a flux command|no such command|accounting\.\w+: (?:No service|Function not impl)")
_NOT_THERE = re.compile(r"not found in association_table|no such user", re.IGNORECASE)
_FILLED = ("active", "username", "userid", "bank", "default_bank")
"""Columns of the table that are never empty; behind them a row cannot be told into columns."""


def read_banks(done: Completed | Exception) -> Answer[Accounts]:
    """What the accounting told; unknown where there is none or where it failed."""
    if isinstance(done, Exception):
        why = "there is no flux here" if isinstance(done, CommandMissing) else one_line(str(done))
        return Answer[Accounts].unknown(why or type(done).__name__)
    words = one_line(f"{done.err} {done.out}")
    if _NOT_THERE.search(words):
        return Answer[Accounts].absent("the accounting knows no bank that this user may charge")
    if _NO_ACCOUNTING.search(words):
        return Answer[Accounts].unknown("Flux has no accounting here (`accounts` of the site file)")
    if done.rc != 0 or done.truncated:
        return Answer[Accounts].unknown(words or f"flux account: exit code {done.rc}")
    rows = list(_associations(done.out))
    if not rows:
        return Answer[Accounts].unknown(f"flux account printed nothing that can be read: {words[:200]}")
    found: dict[str, Account] = {}
    for row in rows:
        if str(row.get("active", "1")).lower() in ("0", "false"):
            continue
        name = str(row["bank"])
        found.setdefault(name, Account(name=name, default=name == str(row.get("default_bank", ""))))
    if not found:
        return Answer[Accounts].absent("the accounting shows this user's banks as no longer active")
    return Answer[Accounts].ok(Accounts(accounts=tuple(found[name] for name in sorted(found))))


def _associations(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    start = re.search(r"[\[{]", text)
    at = start.start() if start is not None else len(text)
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield from _rows(value, {})
        at += len(text[at:]) - len(text[at:].lstrip())
    if start is None:
        yield from _table(text)


def _rows(value: object, above: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        for one in value:
            yield from _rows(one, above)
    elif isinstance(value, dict):
        if isinstance(value.get("banks"), list):
            yield from _rows(value["banks"], {key: one for key, one in value.items() if key != "banks"})
        row = {**above, **value}
        if isinstance(row.get("bank") or row.get("bank_name"), str):
            yield {**row, "bank": row.get("bank") or row.get("bank_name")}


def _table(text: str) -> Iterator[Mapping[str, object]]:
    lines = [line.split() for line in text.splitlines() if line.strip() and not re.fullmatch(r"[-+| ]+", line)]
    header = next((index for index, words in enumerate(lines) if "bank" in words and "username" in words), None)
    if header is None:
        return
    names = lines[header]
    for words in lines[header + 1 :]:
        row = dict(zip(names, words, strict=False))
        if "bank" in row:
            yield {name: row[name] for name in _FILLED if name in row}
