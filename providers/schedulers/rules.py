"""Tables of words and what they mean."""

from __future__ import annotations

import re
from typing import NamedTuple

from dragoman.job import ReasonClass

__all__ = ["Rule", "Rules", "classify", "table"]


class Rule(NamedTuple):
    """Words of a scheduler and what they mean for us."""

    pattern: re.Pattern[str]
    meaning: ReasonClass


Rules = tuple[Rule, ...]
"""In order: the first rule whose pattern is found in the text decides."""


def table(*rows: tuple[str, ReasonClass]) -> Rules:
    """Rules of regular expressions, matched anywhere in the text and without regard to case."""
    return tuple(Rule(re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in rows)


def classify(rules: Rules, text: str) -> ReasonClass:
    """What the text means by the first rule that is found in it."""
    for rule in rules:
        if rule.pattern.search(text):
            return rule.meaning
    return ReasonClass.UNKNOWN
