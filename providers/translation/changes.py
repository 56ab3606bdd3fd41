"""What a translation changed in a body: each change with its line and reason, and a unified diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from providers.translation.body import BodyTranslation
from providers.translation.launchers import apply_edits
from providers.translation.lines import Lines
from providers.translation.report import Change
from providers.translation.variables import line_at

__all__ = ["changes_of", "first_of_body", "unified"]


def changes_of(found: BodyTranslation, body: str, lines: Lines) -> tuple[Change, ...]:
    """Each change, in order; those of one line together with all their reasons."""
    first = first_of_body(lines)
    changes = [Change(line=first, before="", after=line, reason=reason) for line, reason in found.before]
    at = 0
    while at < len(found.edits):
        start = body.rfind("\n", 0, found.edits[at].start) + 1
        end = _line_end(body, found.edits[at].end)
        here = [found.edits[at]]
        at += 1
        while at < len(found.edits) and found.edits[at].start < end:
            end = max(end, _line_end(body, found.edits[at].end))
            here.append(found.edits[at])
            at += 1
        moved = [edit.model_copy(update={"start": edit.start - start, "end": edit.end - start}) for edit in here]
        reason = "; ".join(dict.fromkeys(edit.reason for edit in here))
        before = body[start:end]
        line = lines.of_body(line_at(body, start))
        changes.append(Change(line=line, before=before, after=apply_edits(before, moved), reason=reason))
    return tuple(changes)


def first_of_body(lines: Lines) -> int:
    """The line that what is put before the body stands in front of: behind the last directive, or the first line."""
    last = max(lines.directives, default=1 if lines.all[0].startswith("#!") else 0)
    return min(last + 1, len(lines.all))


def _pieces(found: BodyTranslation, body: str) -> list[str]:
    """What each line of the body becomes; of lines that became one, the first has it all."""
    starts = [0, *(at + 1 for at, character in enumerate(body) if character == "\n")]
    changed = apply_edits(body, found.edits)
    edits = iter(found.edits)
    edit = next(edits, None)
    moved, places = 0, []
    for start in starts:
        while edit is not None and edit.end <= start and (edit.end, edit.start) != (start, start):
            moved += len(edit.new) - (edit.end - edit.start)
            edit = next(edits, None)
        inside = edit is not None and edit.start < start
        places.append(edit.start + moved + len(edit.new) if inside and edit is not None else start + moved)
    ends = [*places[1:], len(changed)]
    return [changed[start:end] for start, end in zip(places, ends, strict=True)]


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


_AROUND = 3
"""Lines that are shown before and behind what changed."""


def unified(found: BodyTranslation, body: str, lines: Lines, source: str, target: str) -> str:
    """The source against itself with its body changed, so that lines are counted as in the source.

    Which lines changed is known, so they are not looked for: it takes as long as the script has lines.
    """
    if not found.before and not found.edits:
        return ""
    marked = list(_marked(found, body, lines))
    changed = [number for number, (mark, _) in enumerate(marked) if mark != " "]
    if not changed:
        return ""
    old = list(accumulate((mark != "+" for mark, _ in marked), initial=0))
    new = list(accumulate((mark != "-" for mark, _ in marked), initial=0))
    parts = [f"--- {source}\n+++ {target}\n"]
    for first, last in _hunks(changed):
        start, end = max(first - _AROUND, 0), min(last + 1 + _AROUND, len(marked))
        places = " ".join(f"{sign}{_range(count[start], count[end])}" for sign, count in (("-", old), ("+", new)))
        parts.append(f"@@ {places} @@\n")
        for mark, line in marked[start:end]:
            parts.append(f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _marked(found: BodyTranslation, body: str, lines: Lines) -> Iterator[tuple[str, str]]:
    """Each line with its mark; of changed lines beside each other those of the source come first."""
    pieces = dict(zip(lines.body, _pieces(found, body), strict=False))
    insert_at = first_of_body(lines)
    gone: list[str] = []
    come: list[str] = []
    begun = ""  # of a line that goes on in what the next one became
    for number, line in enumerate(lines.all, 1):
        if number == insert_at:
            come += [f"{text}\n" for text, _ in found.before]
        piece = begun + pieces.get(number, line)
        begun = ""
        if piece != line:
            gone += [line] if line else []
            *whole, begun = re.split(r"(?<=\n)", piece)
            come += whole
            continue
        yield from (("-", each) for each in gone)
        yield from (("+", each) for each in come)
        gone, come = [], []
        if line:
            yield " ", line
    yield from (("-", each) for each in gone)
    yield from (("+", each) for each in (*come, begun) if each)


def _hunks(changed: list[int]) -> Iterator[tuple[int, int]]:
    """First and last changed line of each stretch that is shown as one."""
    first = last = changed[0]
    for number in changed[1:]:
        if number - last > 2 * _AROUND + 1:
            yield first, last
            first = number
        last = number
    yield first, last


def _range(start: int, end: int) -> str:
    count = end - start
    return str(start + 1) if count == 1 else f"{start + (count > 0)},{count}"
