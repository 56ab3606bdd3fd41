"""Which lines of a script are its directives, and whether all that they say has been looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Lines"]


@dataclass(frozen=True)
class Lines:
    """A script's lines, and how they lie to those of its body."""

    all: tuple[str, ...]
    """With their ends."""
    body: tuple[int, ...]
    """Number, from 1, of the line that each line of the body is."""
    late: frozenset[int] = frozenset()
    """Lines of the body that are directives too."""

    @classmethod
    def of(cls, text: str, body: str, late: str = "") -> Lines:
        """Directives stand before the first command, so the lines are found from the end.

        Args:
            text: the whole script.
            body: what a reader left of it: the script without its first line and its directives.
            late: the prefix of directives that count in the body too.

        """
        lines = tuple(re.split(r"(?<=\n)", text))
        places: list[int] = []
        at = len(lines) - 1
        for line in reversed(re.split(r"(?<=\n)", body)):
            while at > 0 and lines[at] != line:
                at -= 1
            places.append(at + 1)
            at = max(at - 1, 0)
        counted = [number for number in places if late and lines[number - 1].startswith(late)]
        return cls(lines, tuple(reversed(places)), frozenset(counted))

    def of_body(self, line: int) -> int:
        """The script's line that a line of the body is."""
        return self.body[min(line, len(self.body)) - 1] if self.body else 1

    @cached_property
    def directives(self) -> tuple[int, ...]:
        """Lines that are no lines of the body, without the first where it begins with `#!`."""
        inside = set(self.body)
        return tuple(
            number
            for number, line in enumerate(self.all, 1)
            if number in self.late or (number not in inside and line.strip() and not line.strip().startswith("#!"))
        )

    def find(self, words: str, near: int = 0) -> int | None:
        """The directive line that says these words; of several the nearest to `near`, else the last."""
        # An option's value alone, where a reader wrote its name in another way than the script.
        for wanted in (_plain(words), _plain("".join(re.split(r"[\s=]", words, maxsplit=1)[1:]))):
            found = [number for number in self.directives if wanted and wanted in _plain(self.all[number - 1])]
            if found:
                break
        else:
            return None
        return min(found, key=lambda number: abs(number - near)) if near else found[-1]

    def unread(self, said: Iterable[str], noted: Sequence[int], prefix: str, joints: str) -> list[tuple[int, str]]:
        """Directive lines of which something has not been looked at.

        Args:
            said: the words of all options that were read.
            noted: lines that something was told about.
            prefix: regular expression of what a directive begins with.
            joints: regular expression of what only joins its options.

        """
        known = sorted({_plain(words) for words in said} - {""}, key=len, reverse=True)
        found: list[tuple[int, str]] = []
        for number in self.directives:
            if number in noted:
                continue
            left = _plain(re.sub(rf"^{prefix}", "", self.all[number - 1]))
            for words in known:
                left = left.replace(words, "", 1)
            if re.sub(joints, "", left):
                found.append((number, self.all[number - 1].strip()))
        return found


def _plain(text: str) -> str:
    """Without blanks, quotes and backslashes, as far as they only say where a word ends."""
    return re.sub(r"[\s\"'\\]", "", re.sub(r"\s#.*$", "", text.rstrip("\n")))
