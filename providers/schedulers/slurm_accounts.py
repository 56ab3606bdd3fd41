"""Accounts that a user may charge, as Slurm's accounting tells them (sacctmgr(1), sshare(1)).

Slurm has no allocation balance of its own. What comes closest is a limit on an account's use, `GrpTRESMins`: jobs do
not start once the use counted against it (`GrpTRESRaw`, which decays where the site lets it) has reached it. Where an
account or one above it has such a limit, the least that is left is its balance; elsewhere the balance is unknown.
Limits of a QOS and the counters of sites' own tools are not seen here.
"""

from __future__ import annotations

from typing import Final, Literal

from dragoman.facts import Account
from providers.schedulers.slurm_values import read_tres

__all__ = ["account_commands", "read_accounts"]

_ASSOCIATIONS: Final = "defaultaccount%64,cluster%64,account%64,partition%64,qos%1024"
_SHARES: Final = "Account,User,GrpTRESMins,GrpTRESRaw"
_AS_USER: Final = 'exec sacctmgr --readonly --noheader --parsable2 show user name="$(id -un)" withassoc format="$1"'
"""sacctmgr knows no `--me`."""

Unit = Literal["node-hours", "core-hours", "gpu-hours"]
_UNITS: Final[dict[str, Unit]] = {"node": "node-hours", "cpu": "core-hours", "gres/gpu": "gpu-hours"}


def account_commands(on: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Argument lists: the user's associations, then limits and use of their accounts.

    Args:
        on: the option that names a cluster, where one is known.

    """
    which = ("/bin/sh", "-c", _AS_USER, "dragoman", _ASSOCIATIONS)
    return [which, ("sshare", *on, "--noheader", "--parsable2", f"--format={_SHARES}")]


def read_accounts(associations: str, shares: str | None) -> tuple[Account, ...]:
    """The accounts in the order of their names; one with an association for some partitions only counts as well.

    Args:
        associations: output of the first command.
        shares: output of the second; None where it gave none.

    """
    found: dict[str, Account] = {}
    left = _left(shares) if shares is not None else {}
    for line in associations.splitlines():
        fields = line.split("|")
        if len(fields) != 5 or not fields[2].strip():
            continue
        default, _, name, _, qos = (field.strip() for field in fields)
        levels = tuple(part for part in qos.split(",") if part)
        known = found.get(name)
        balance, unit = left.get(name, (None, None))
        found[name] = Account(
            name=name,
            balance=balance,
            unit=unit,
            default=name == default,
            qos=tuple(dict.fromkeys((*(known.qos if known else ()), *levels))),
        )
    return tuple(found[name] for name in sorted(found))


def _left(shares: str) -> dict[str, tuple[float, Unit]]:
    """What is left of the tightest limit on an account's way up, in hours.

    Accounts are indented by their depth, the user's own rows below their account.
    """
    above: list[tuple[float, Unit] | None] = []
    found: dict[str, tuple[float, Unit]] = {}
    for line in shares.splitlines():
        fields = line.split("|")
        if len(fields) != 4:
            continue
        depth = len(fields[0]) - len(fields[0].lstrip(" "))
        own = _tightest(read_tres(fields[2]), read_tres(fields[3]))
        del above[depth:]
        above.extend([None] * (depth - len(above)))
        above.append(own)
        limits = [limit for limit in above if limit is not None]
        if limits:
            # Amounts in different units cannot be compared: the nearest limit's unit counts.
            unit = limits[-1][1]
            found[fields[0].strip()] = min(limit for limit in limits if limit[1] == unit)
    return found


def _tightest(limits: dict[str, str], used: dict[str, str]) -> tuple[float, Unit] | None:
    """The limit of which the smallest share is left; minutes become hours."""
    known: list[tuple[float, float, Unit]] = []
    for name, unit in _UNITS.items():
        most, spent = limits.get(name, ""), used.get(name, "")
        if most.isdigit() and spent.isdigit():
            left = max(int(most) - int(spent), 0)
            known.append((left / int(most) if int(most) else 0.0, left / 60, unit))
    if not known:
        return None
    _, hours, unit = min(known)
    return hours, unit
