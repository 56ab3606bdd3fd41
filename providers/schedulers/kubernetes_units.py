"""Kubernetes' names and quantities (API conventions: object names, labels, resource.Quantity)."""

from __future__ import annotations

import hashlib
import math
import re
from fractions import Fraction

from dragoman.errors import BadRequest

__all__ = ["cpu_quantity", "label_value", "memory_quantity", "object_name", "read_quantity", "translate_memory"]

_LONGEST = 63
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1), "k": Fraction(10**3),
    "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
}  # fmt: skip
_QUANTITY = re.compile(
    r"([+-]?\d{1,30}(?:\.\d{0,30})?|[+-]?\.\d{1,30})(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?)|[eE]([+-]?\d{1,2}))", re.ASCII
)


def object_name(base: str, suffix: str) -> str:
    """`<base>-<suffix>` in 63 characters of a-z, 0-9 and `-`; different bases stay different when they are changed."""
    clean = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-") or "job"
    room = _LONGEST - len(suffix) - 1
    if clean != base or len(clean) > room:
        mark = hashlib.sha256(base.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        head = clean[: room - 7]
        clean = f"{head[:-1]}x-{mark}" if head.endswith("-") else f"{head}-{mark}"
    return f"{clean}-{suffix}"


def label_value(text: str) -> str:
    """At most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends; empty where none is left."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)[:_LONGEST].strip("._-")


def read_quantity(text: object) -> Fraction | None:
    """The number that a quantity stands for (`500m` is 1/2, `1.5Gi`, `1e3`), or None."""
    match = _QUANTITY.fullmatch(str(text).strip()) if isinstance(text, str | int | float) else None
    if match is None or isinstance(text, bool):
        return None
    number = Fraction(match[1])
    if match[3] is not None:
        return number * Fraction(10) ** int(match[3])
    return number * (_BINARY[match[2]] if match[2] in _BINARY else _DECIMAL[match[2]])


def cpu_quantity(cores: int) -> str:
    """Whole cores."""
    return str(cores)


def memory_quantity(amount: int) -> str:
    """Bytes in the largest binary unit that keeps them whole, from MiB on rounded up: `4Gi`, `4095Mi`."""
    mebibytes = math.ceil(amount / 2**20)
    for unit in ("Ti", "Gi"):
        if mebibytes % (_BINARY[unit] // 2**20) == 0:
            return f"{mebibytes // (_BINARY[unit] // 2**20)}{unit}"
    return f"{mebibytes}Mi"


def translate_memory(text: str) -> str | None:
    """An amount as batch schedulers write it, as a quantity: `4G` and `4GB` are `4Gi`, bare it is MiB, `0` no limit.

    Raises:
        BadRequest: it is no such amount.

    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtTpPeE]?)(i?[bB]?)\s*", text, re.ASCII)
    if match is None:
        raise BadRequest(
            f"{text[:60]!r} is not an amount of memory", where="memory", cure="write it like 64Gi or 4096M"
        )
    unit = f"{(match[2] or 'm').upper()}i"
    amount = Fraction(match[1])
    if amount == 0:
        return None
    while amount.denominator != 1:
        smaller = {"Ei": "Pi", "Pi": "Ti", "Ti": "Gi", "Gi": "Mi", "Mi": "Ki"}.get(unit)
        if smaller is None:
            amount = Fraction(math.ceil(amount))
            break
        amount, unit = amount * 1024, smaller
    return f"{amount}{unit}"
