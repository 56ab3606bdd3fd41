"""The nodes of a sites file before anything is made of them: what would hang, crash or be lost silently is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import yaml

__all__ = ["MOST_NODES", "Loc", "Refused", "check"]

Loc = tuple[int | str, ...]

MOST_NODES = 100_000
"""Nodes that aliases may add to those that are written."""
MOST_DEEP = 60
_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile("-?(?:0|[1-9][0-9]{0,29})")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Refused(Exception):
    """What is wrong with a node, and where it stands."""

    def __init__(self, loc: Loc, node: yaml.Node, what: str, cure: str) -> None:
        super().__init__(what)
        self.loc, self.node, self.what, self.cure = loc, node, what, cure


def check(root: yaml.Node) -> None:
    """Look at every node once; surrogate pairs in text become the characters that they stand for.

    Raises:
        Refused: the first that is wrong.

    """
    walk = _Walk()
    whole = walk.size(root, ())
    if whole - len(walk.sizes) > MOST_NODES:
        what = f"its aliases stand for more than {MOST_NODES} parts"
        raise Refused((), root, what, "write them out, or split the file")


class _Walk:
    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        """Nodes at and below one, aliases followed; 0: not counted to the end."""

    def size(self, node: yaml.Node, loc: Loc) -> int:
        known = self.sizes.get(id(node))
        if known is not None:
            if not known:
                raise Refused(loc, node, "is an alias of what it stands in", "write it out")
            return known
        if len(loc) > MOST_DEEP:
            raise Refused(loc[:8], node, f"is nested more than {MOST_DEEP} deep", "nothing in such a file is")
        self.sizes[id(node)] = 0
        size = 1
        if isinstance(node, yaml.MappingNode):
            _is_tagged(node, loc, "map")
            size += self._pairs(node, loc)
        elif isinstance(node, yaml.SequenceNode):
            _is_tagged(node, loc, "seq")
            size += sum(self.size(value, (*loc, index)) for index, value in enumerate(node.value))
        else:
            _check_scalar(node, loc)
        self.sizes[id(node)] = size
        return size

    def _pairs(self, node: yaml.MappingNode, loc: Loc) -> int:
        keys: set[str] = set()
        size = 0
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Refused(loc, key, "a list or mapping cannot be a key", "write a name there")
            size += self.size(key, loc)
            here = (*loc, str(key.value))
            if key.value in keys and key.tag != f"{_TAG}merge":
                # YAML and JSON keep the last of two equal keys silently.
                raise Refused(here, key, "is written twice", "keep one of them")
            keys.add(key.value)
            size += self.size(value, here)
        return size


def _is_tagged(node: yaml.Node, loc: Loc, kind: str) -> None:
    if node.tag != _TAG + kind:
        raise Refused(loc, node, f"has the tag {_short(node.tag)}, which means nothing here", "leave the tag out")


def _check_scalar(node: yaml.Node, loc: Loc) -> None:
    if _SURROGATE.search(node.value):
        try:
            node.value = node.value.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            cure = "write the whole character"
            raise Refused(loc, node, "holds half of a character (a lone surrogate)", cure) from None
    if "\0" in node.value:
        raise Refused(loc, node, "holds a NUL character", "leave it out")
    reads = _READS.get(node.tag.removeprefix(_TAG))
    if reads is None:
        raise Refused(loc, node, f"has the tag {_short(node.tag)}, which means nothing here", "leave the tag out")
    try:
        fine = reads(node.value)
    except ValueError:
        fine = False
    if not fine:
        shown = repr(node.value if len(node.value) <= 40 else f"{node.value[:40]}...")
        raise Refused(loc, node, f"{shown} is not {_KINDS[node.tag.removeprefix(_TAG)]}", "write it as it is meant")


def _short(tag: str) -> str:
    return tag.replace(_TAG, "!!")[:60]


def _is_number(value: str) -> bool:
    return math.isfinite(float(value))


def _is_whole(value: str) -> bool:
    return _WHOLE.fullmatch(value) is not None


_READS: dict[str, Callable[[str], bool]] = {
    "str": lambda value: True,
    "merge": lambda value: True,
    "bool": lambda value: value.lower() in ("true", "false"),
    "null": lambda value: value.lower() in ("", "~", "null"),
    "int": _is_whole,
    "float": _is_number,
}
_KINDS = {"bool": "true or false", "null": "null", "int": "a whole number of at most 30 digits", "float": "a number"}
