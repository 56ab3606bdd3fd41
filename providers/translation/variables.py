"""Variables of one scheduler in a script's body as those of another."""

from __future__ import annotations

import re
from collections.abc import Iterable

from providers.translation.given import Given
from providers.translation.report import Edit, Remark
from providers.translation.shell import Scan

__all__ = ["line_at", "mentions", "variable_edits"]


def line_at(text: str, at: int) -> int:
    """The line of a place, from 1."""
    return text.count("\n", 0, at) + 1


def variable_edits(text: str, scan: Scan, given: Given) -> tuple[list[Edit], list[tuple[int, Remark]], set[int]]:
    """Changes, what has no equivalent with its place, and the places of names that were looked at."""
    source, target = given.source, given.target
    family = re.compile(source.family, re.ASCII)
    edits: list[Edit] = []
    remarks: list[tuple[int, Remark]] = []
    seen: set[int] = set()
    for reference in scan.references:
        name, meaning = reference.name, source.meaning(reference.name)
        if meaning is None and family.fullmatch(name) is None:
            continue
        seen.add(reference.start)
        if meaning is None and source.title != target.title and family.pattern == target.family:
            continue
        if source.title == target.title or (meaning is not None and name in target.variables.get(meaning, ())):
            continue
        line = line_at(text, reference.start)
        if _assigned(text, name, scan):
            why = f"the script sets {name} itself: it is left as it is"
            remarks.append((reference.start, Remark(kind="note", line=line, words=name, why=why)))
            continue
        found = given.name_for(meaning) if meaning is not None else None
        if found is None or reference.indirect:
            cure = "set it in the script, or do without it"
            why = f"{target.title} has no equivalent of {source.title}'s {name} ({cure})"
            remarks.append((reference.start, Remark(kind="lost", line=line, words=f"${name}", why=why)))
            continue
        new, reason = found
        reason = f"{source.title}'s {name} is {new}: {reason}"
        edits.append(Edit(start=reference.start, end=reference.end, new=new, reason=reason))
    return edits, remarks, seen


def _assigned(text: str, name: str, scan: Scan) -> bool:
    pattern = re.compile(
        rf"(?:^|[\s;&(])(?:(?:export|local|declare|typeset|readonly|setenv)\s+(?:-\w+\s+)*)?{name}=", re.M
    )
    return any(not _inside(match.end() - 1, scan.comments) for match in pattern.finditer(text))


def mentions(text: str, scan: Scan | None, given: Given, seen: set[int]) -> Iterable[Remark]:
    """Other places of the source's variables, which are left alone: one remark for each line.

    Args:
        text: the body.
        scan: None: it is no shell script.
        given: the job.
        seen: places that were looked at as variables.

    """
    if given.source.title == given.target.title or given.source.family == given.target.family:
        return
    told: set[tuple[int, str]] = set()
    for match in re.finditer(rf"(?<![A-Za-z0-9_])(?:{given.source.family})(?![A-Za-z0-9_])", text, re.ASCII):
        if match.start() in seen or (scan is not None and _inside(match.start(), scan.comments)):
            continue
        line = line_at(text, match.start())
        if (line, match[0]) in told:
            continue
        told.add((line, match[0]))
        place = "the script is not a shell's" if scan is None else "it is not expanded here by the shell"
        for start, end, what in scan.literal if scan is not None else ():
            if start <= match.start() < end:
                place = f"it stands in {what}"
        why = f"left as it is, because {place} (look whether {given.target.title} needs another word there)"
        yield Remark(kind="lost", line=line, words=match[0], why=why)


def _inside(at: int, stretches: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in stretches)
