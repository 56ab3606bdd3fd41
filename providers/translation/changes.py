"""What a translation changed in a body: each change with its line and reason, and a unified diff."""

from __future__ import annotations

import difflib

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


def unified(found: BodyTranslation, body: str, lines: Lines, source: str, target: str) -> str:
    """The source against itself with its body changed, so that lines are counted as in the source."""
    if not found.before and not found.edits:
        return ""
    pieces = dict(zip(lines.body, _pieces(found, body), strict=False))
    insert_at = first_of_body(lines)
    old = [line for line in lines.all if line]
    new: list[str] = []
    for number, line in enumerate(lines.all, 1):
        if number == insert_at:
            new += [f"{text}\n" for text, _ in found.before]
        new += pieces.get(number, line).splitlines(keepends=True)
    made = difflib.unified_diff(old, new, source, target)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made)
