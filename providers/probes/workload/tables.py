"""Tables as Cobalt's commands print them: a line of names, a line of `=`, then a line for each thing.

Source: `print_tabular` of Cobalt's client library. Columns are as wide as their widest cell and two spaces apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["read_table"]

Row = dict[str, str]

_MAY_BE_EMPTY = frozenset({"queue", "queues", "users", "groups"})
"""A node that no queue leads to has an empty cell."""


def read_table(text: str, needed: Sequence[str]) -> list[Row] | None:
    """The rows by lower-case column names; None where there is no such table, or where it was cut.

    What stands above the line of names (warnings of the configuration, a login's words) is left out. Every line below
    has to fill all columns, and the last line has to end: half a table says nothing about what there is.

    Args:
        text: what was printed.
        needed: names of columns without which it is another table.

    """
    lines = text.split("\n")
    if lines.pop() != "":  # the last line did not end
        return None
    rule = next((at for at, line in enumerate(lines) if at and re.fullmatch(r"\s*={8,}\s*", line)), None)
    if rule is None:
        return None
    head = [(match[0].lower(), match.start()) for match in re.finditer(r"\S+", lines[rule - 1])]
    names = [name for name, _ in head]
    if not set(needed) <= set(names) or len(set(names)) != len(names):
        return None
    rows: list[Row] = []
    for line in lines[rule + 1 :]:
        if not line.strip():
            continue
        row = _cells(line, head)
        if row is None:
            return None
        rows.append(row)
    return rows


def _cells(line: str, head: Sequence[tuple[str, int]]) -> Row | None:
    words = line.split()
    if len(words) == len(head):
        return {name: word for (name, _), word in zip(head, words, strict=True)}
    ends = [start for _, start in head[1:]] + [len(line) + 1]
    cells = {name: line[start:end].strip() for (name, start), end in zip(head, ends, strict=True)}
    whole = all(start == 0 or line[start - 1 : start] in ("", " ") for _, start in head)
    return cells if whole and all(text or name in _MAY_BE_EMPTY for name, text in cells.items()) else None
