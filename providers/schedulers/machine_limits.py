"""What a site's file lets jobs have of a machine (`machine: {cpus: 8, memory: 32GiB, gpus: 1}`): less than it has."""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from dragoman.units import parse_bytes

__all__ = ["NAMES", "limits_told", "within"]

NAMES = ("cpus", "memory", "gpus")


def limits_told(machine: JsonObject) -> dict[str, int]:
    """The limits by name, memory in bytes.

    Raises:
        BadRequest: a name or an amount that means nothing; `where` is the name.

    """
    found: dict[str, int] = {}
    for name, value in machine.items():
        if name not in NAMES:
            raise BadRequest(f"a machine has no limit {name!r}", where=name, cure=f"there are {', '.join(NAMES)}")
        try:
            amount = parse_bytes(value) if name == "memory" and isinstance(value, str) else int(str(value))
        except (ValueError, BadRequest) as error:
            cure = "write an amount like 64GiB" if name == "memory" else "write a whole number"
            raise BadRequest(f"{value!r} is no amount of {name}", where=name, cure=cure) from error
        if amount < (0 if name == "gpus" else 1) or isinstance(value, bool):
            raise BadRequest(f"{value!r} leaves nothing to run with", where=name, cure="write a larger number")
        found[name] = amount
    return found


def within(limits: JsonObject, free: JsonObject, told: Mapping[str, int]) -> tuple[JsonObject, JsonObject]:
    """What the queue has and what is free of it, cut to what the site's file lets jobs have.

    What runs counts against it; an amount that the queue does not know (memory 0) is the file's alone.
    """
    limits, free = dict(limits), dict(free)
    for name, most in told.items():
        has, left = limits.get(name), free.get(name)
        if not isinstance(has, int) or not isinstance(left, int):
            continue
        used = max(0, has - left)
        limits[name] = min(has, most) if has else most if name == "memory" else 0
        free[name] = max(0, int(str(limits[name])) - used)
        if name == "cpus" and most < has:
            limits.pop("cores", None)  # of which cores those are, nobody says
    return limits, free
