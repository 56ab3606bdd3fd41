"""What `module spider NAME/VERSION` of Lmod tells: which modules lead to one that is not in sight (module(1), Lmod)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from providers.probes.software.module_names import is_module_name

__all__ = ["Way", "parse_spider"]

_LINES_BELOW = re.compile(r"You will need to load all module\(s\) on any one of the lines below")
_DIRECTLY = re.compile(r"can be loaded directly")
_EXTENSION = re.compile(r"extension is provided by the following modules")
_NOT_FOUND = re.compile(r"Unable to find|Lmod has detected the following error")


@dataclass(frozen=True, slots=True)
class Way:
    """How a module is reached: `before` has alternatives, each a list of modules to load first, in order."""

    before: tuple[tuple[str, ...], ...] = ()
    direct: bool = False
    extension: bool = False
    """No module of its own: each alternative of `before` ends with the module that holds it."""


def parse_spider(text: str) -> Way | None:
    """The way to one module; None where the text does not tell."""
    if _NOT_FOUND.search(text):
        return None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _LINES_BELOW.search(line):
            before = tuple(_alternatives(lines[number + 1 :]))
            return Way(before=before, direct=_DIRECTLY.search(text) is not None) if before else None
        if _EXTENSION.search(line):
            return Way(before=tuple(_holders(lines[number + 1 :])), extension=True)
    return Way(direct=True) if _DIRECTLY.search(text) else None


def _block(lines: list[str]) -> list[str]:
    """The first lines that stand together, behind empty ones and the end of a sentence that was wrapped."""
    block: list[str] = []
    for line in lines:
        words = line.split()
        if words and all(is_module_name(word) or re.fullmatch(r"\(\S.*|.*\)|,", word) for word in words):
            block.append(line.strip())
        elif block:
            break
    return block


def _alternatives(lines: list[str]) -> list[tuple[str, ...]]:
    """One alternative a line, its modules divided by spaces. The sentence before may be wrapped over two lines."""
    while lines and lines[0].strip():
        if all("/" in word and is_module_name(word) for word in lines[0].split()):
            break
        lines = lines[1:]
    return [tuple(line.split()) for line in _block(lines) if all(is_module_name(word) for word in line.split())]


def _holders(lines: list[str]) -> list[tuple[str, ...]]:
    """`openmpi/4.1.5 (gcc/13.1.0)`: the module that holds it, and in parentheses what is to be loaded before."""
    found: list[tuple[str, ...]] = []
    for line in _block(lines):
        match = re.fullmatch(r"(?P<module>\S+)(?:\s+\((?P<before>[^()]*)\))?", line)
        if match is None or not is_module_name(match["module"]):
            continue
        before = tuple(re.split(r"[\s,]+", match["before"].strip())) if match["before"] else ()
        if all(is_module_name(word) for word in before):
            found.append((*before, match["module"]))
    return found
