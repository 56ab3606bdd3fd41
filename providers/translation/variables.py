"""Variables of one scheduler in a script's body as those of another."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache

from providers.translation.given import Given
from providers.translation.report import Edit, Remark
from providers.translation.shell import Scan
from providers.translation.stretches import Stretches

__all__ = ["line_at", "mentions", "variable_edits"]


def line_at(text: str, at: int) -> int:
    """The line of a place, from 1."""
    return bisect_left(_ends(text), at) + 1


@lru_cache(maxsize=2)
def _ends(text: str) -> tuple[int, ...]:
    """Where its lines end."""
    return tuple(match.start() for match in re.finditer("\n", text))


def variable_edits(text: str, scan: Scan, given: Given) -> tuple[list[Edit], list[tuple[int, Remark]], set[int]]:
    """Changes, what has no equivalent with its place, and the places of names that were looked at."""
    source, target = given.source, given.target
    family = re.compile(source.family, re.ASCII)
    edits: list[Edit] = []
    remarks: list[tuple[int, Remark]] = []
    seen: set[int] = set()
    comments = Stretches(scan.comments)
    assigned: dict[str, bool] = {}
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
        if name not in assigned:
            assigned[name] = _assigned(text, name, comments)
        if assigned[name]:
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


def _assigned(text: str, name: str, comments: Stretches) -> bool:
    pattern = re.compile(
        rf"(?:^|[\s;&(])(?:(?:export|local|declare|typeset|readonly|setenv)\s+(?:-\w+\s+)*)?{name}=", re.M
    )
    return any(match.end() - 1 not in comments for match in pattern.finditer(text))


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
    comments = Stretches(scan.comments if scan is not None else ())
    literal = Stretches((start, end) for start, end, _ in scan.literal) if scan is not None else Stretches(())
    for match in re.finditer(rf"(?<![A-Za-z0-9_])(?:{given.source.family})(?![A-Za-z0-9_])", text, re.ASCII):
        if match.start() in seen or match.start() in comments:
            continue
        line = line_at(text, match.start())
        if (line, match[0]) in told:
            continue
        told.add((line, match[0]))
        place = "the script is not a shell's" if scan is None else "it is not expanded here by the shell"
        if scan is not None and (number := next(literal.holding(match.start()), None)) is not None:
            place = f"it stands in {scan.literal[number][2]}"
        why = f"left as it is, because {place} (look whether {given.target.title} needs another word there)"
        yield Remark(kind="lost", line=line, words=match[0], why=why)
