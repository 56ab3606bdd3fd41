"""Numbers as people write them: 1,024 and 1.024 and 2,5, each read only where it can mean one thing."""

from __future__ import annotations

import re

__all__ = ["NUMBER", "amounts_of", "count_of"]

NUMBER = r"(?:(?<![\w.,])|(?<=x)(?<![a-z]x))\d{1,15}(?:[.,]\d{1,9}){0,4}(?![\d]|[.,]\d)"
"""A number in the normal form, not a part of a name or of a longer number."""

_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_BOTH = re.compile(r"\d{1,3}(?:([.,])\d{3})+(?!\1)[.,]\d{1,4}")
_DECIMAL = re.compile(r"\d+[.,]\d+")


def count_of(text: str) -> int | None:
    """A whole number: groups of three are thousands, because nothing that is counted has fractions."""
    if text.isdigit():
        return int(text)
    if _GROUPED.fullmatch(text) and not text.startswith("0"):
        return int(re.sub(r"[.,]", "", text))
    return None


def amounts_of(text: str) -> tuple[float, ...]:
    """The amounts a number can mean: one, or two where a separator can be thousands or decimals, or none."""
    if text.isdigit():
        return (float(text),)
    grouped = _GROUPED.fullmatch(text)
    if grouped and not text.startswith("0"):
        whole = float(re.sub(r"[.,]", "", text))
        if text.count(grouped[1]) > 1:
            return (whole,)
        return (whole, float(text.replace(",", ".")))
    both = _BOTH.fullmatch(text)
    if both:  # `1.200,50` and `1,200.50`
        return (float(text.replace(both[1], "").replace(",", ".")),)
    if _DECIMAL.fullmatch(text):
        return (float(text.replace(",", ".")),)
    return ()
