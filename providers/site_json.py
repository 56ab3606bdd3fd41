"""JSON text as data and as nodes with their places, so that errors in it name lines as those in YAML do.

YAML's reader would refuse some of it (keys over 1024 characters, a raw U+007F) and take surrogate pairs for two
characters. Decimal fractions stay text as in YAML: a version 2.10 would become 2.1. Source: RFC 8259.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import yaml

__all__ = ["read_json"]

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"[^\s,\]}]+")
_TAG = "tag:yaml.org,2002:"


def read_json(name: str, text: str) -> tuple[yaml.Node, Any]:
    """The nodes of a JSON document and its data, where of two equal keys the nodes hold both.

    Raises:
        ValueError: it is not JSON (`json.JSONDecodeError`, with its line).
        RecursionError: it is nested too deeply.

    """
    data = json.loads(text, parse_float=_fraction, parse_int=_whole, parse_constant=str)
    return _Places(name, text).node(_skip(text, 0))[0], data


def _whole(word: str) -> int | str:
    """The look at the nodes refuses what is longer, with its line."""
    return int(word) if len(word) <= 31 else word


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _fraction(word: str) -> int | str:
    """Text, as in YAML; what writers make of large whole numbers (`1e+17`) is a whole number."""
    digits, _, power = word.lower().partition("e")
    if not power or len(word) > 31 or not 0 <= int(power) <= 30:
        return word
    value = Fraction(digits) * 10 ** int(power)
    return value.numerator if value.denominator == 1 else word


class _Places:
    """Walks over a text that is known to be JSON."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.decoder = json.JSONDecoder()
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def node(self, at: int) -> tuple[yaml.Node, int]:
        """The node that begins there, and where it ends."""
        text, mark = self.text, self._mark(at)
        first = text[at]
        if first == '"':
            value, end = self.decoder.raw_decode(text, at)
            return yaml.ScalarNode(f"{_TAG}str", value, mark, style='"'), end
        if first in "{[":
            return self._pairs(at, mark) if first == "{" else self._items(at, mark)
        match = _PLAIN.match(text, at)
        word = match[0] if match else ""
        kind = {"t": "bool", "f": "bool", "n": "null", "N": "float", "I": "float"}.get(
            first.lstrip("-") or text[at + 1]
        )
        kind = kind or ("int" if word.lstrip("-").isdigit() else "str")
        return yaml.ScalarNode(_TAG + kind, word, mark), at + len(word)

    def _pairs(self, at: int, mark: yaml.Mark) -> tuple[yaml.Node, int]:
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        at = _skip(self.text, at + 1)
        while self.text[at] != "}":
            key, at = self.node(at)
            value, at = self.node(_skip(self.text, _skip(self.text, at) + 1))
            pairs.append((key, value))
            at = self._next(at)
        return yaml.MappingNode(f"{_TAG}map", pairs, mark), at + 1

    def _items(self, at: int, mark: yaml.Mark) -> tuple[yaml.Node, int]:
        items: list[yaml.Node] = []
        at = _skip(self.text, at + 1)
        while self.text[at] != "]":
            item, at = self.node(at)
            items.append(item)
            at = self._next(at)
        return yaml.SequenceNode(f"{_TAG}seq", items, mark), at + 1

    def _next(self, at: int) -> int:
        at = _skip(self.text, at)
        return _skip(self.text, at + 1) if self.text[at] == "," else at

    def _mark(self, at: int) -> yaml.Mark:
        line = bisect_right(self.starts, at) - 1
        return yaml.Mark(self.name, at, line, at - self.starts[line], None, 0)
