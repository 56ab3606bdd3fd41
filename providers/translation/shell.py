"""Where a shell script names variables and starts commands (sh(1), "Shell Command Language" of POSIX.1-2017).

Only what the shell itself expands or runs is found: not what stands in comments, in single quotes, behind a backslash
or in a here-document with a quoted delimiter. No full parser: what it does not understand (aliases, `eval`, text that
another shell runs) it leaves alone, and every other place of a name is told by `Scan.kept`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Command", "Reference", "Scan", "Word", "scan_shell"]

_DEEPEST = 60
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PLAIN = re.compile(r"[^\\\s#'\"$`;&|()<>]+")
_QUOTED_PLAIN = re.compile(r"[^\\\"$`]+")
_REDIRECTION = re.compile(r"<<<|&>{1,2}|[<>]{1,2}[&|]?")
_DELIMITER = re.compile(r"[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s;&|<>()'\"\\])+)")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'?", re.DOTALL)
_NUMBER = re.compile(r"\d\w*")
_HERE_PLAIN = re.compile(r"[^\\$`\n]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a variable: `$NAME`, `${NAME...}`, or a bare name in arithmetic."""

    name: str
    start: int
    """Of the name itself."""
    end: int

    indirect: bool = False
    """`${!NAME}`: the value is the name of another variable."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command, as written."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Command:
    """The words of a simple command up to its first redirection."""

    words: tuple[Word, ...]


@dataclass(slots=True)
class Scan:
    """What was found."""

    references: list[Reference] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    literal: list[tuple[int, int, str]] = field(default_factory=list)
    """Stretches that the shell does not look into, and what they are."""
    complete: bool = True
    """False where it is nested too deep to be followed."""


class _TooDeep(Exception):
    """Nested deeper than scripts are."""


def scan_shell(text: str) -> Scan:
    """Look through a script."""
    scanner = _Scanner(text)
    try:
        scanner.code(0, "", 0)
    except _TooDeep:
        return Scan(complete=False)
    return scanner.found


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = Scan()
        self.pending: list[tuple[str, bool, bool]] = []
        """Here-documents that begin at the next line: delimiter, quoted, tabs are stripped."""

    def code(self, at: int, stop: str, depth: int) -> int:
        """Commands up to `stop` (`)`, a backquote or the end); the place behind it."""
        if depth > _DEEPEST:
            raise _TooDeep
        text, size = self.text, len(self.text)
        words: list[Word] = []
        start = -1
        redirected = False

        def end_word(here: int) -> None:
            nonlocal start
            if start >= 0 and not redirected:
                words.append(Word(start, here))
            start = -1

        def end_command(here: int) -> None:
            nonlocal redirected
            end_word(here)
            if words:
                self.found.commands.append(Command(tuple(words)))
                words.clear()
            redirected = False

        while at < size:
            plain = _PLAIN.match(text, at)
            if plain is not None:
                start = at if start < 0 else start
                at = plain.end()
                continue
            here = text[at]
            if stop and here == stop:
                end_command(at)
                return at + 1
            if here == "\\":
                if text[at + 1 : at + 2] != "\n":  # else the line goes on
                    start = at if start < 0 else start
                at += 2
            elif here == "\n":
                end_command(at)
                at = self.here_documents(at + 1, depth)
            elif here.isspace():
                end_word(at)
                at += 1
            elif here == "#" and start < 0:
                until = text.find("\n", at)
                until = size if until < 0 else until
                self.found.comments.append((at, until))
                at = until
            elif here in "'\"$`#":
                start = at if start < 0 else start
                at = self.quoted(at, depth)
            elif text.startswith(("<(", ">("), at):
                start = at if start < 0 else start
                at = self.code(at + 2, ")", depth + 1)
            elif here in "<>" or text.startswith("&>", at):
                # What stands before it is the number of a file, not a word.
                start = -1 if start >= 0 and text[start:at].isdigit() else start
                end_word(at)
                redirected = True
                at = self.redirection(at)
            elif here == "(" and text.startswith("((", at) and start < 0:
                end_command(at)
                at = self.arithmetic(at + 2, depth)
            else:  # one of ; & | ( )
                end_command(at)
                at += 1
        end_command(size)
        return size

    def redirection(self, at: int) -> int:
        """The place behind an operator."""
        text = self.text
        if text.startswith("<<", at) and not text.startswith("<<<", at):
            strip = text.startswith("<<-", at)
            return self._delimiter(at + (3 if strip else 2), strip)
        operator = _REDIRECTION.match(text, at)
        return operator.end() if operator is not None else at + 1

    def _delimiter(self, at: int, strip: bool) -> int:
        match = _DELIMITER.match(self.text, at)
        if match is None:
            return at
        written = match[1]
        bare = re.sub(r"\\(.)|['\"]", r"\1", written)
        self.pending.append((bare, bare != written, strip))
        return match.end()

    def here_documents(self, at: int, depth: int) -> int:
        """The bodies of here-documents that begin at this line; the place behind them."""
        waiting, self.pending = self.pending, []
        for delimiter, quoted, strip in waiting:
            begin = at
            while at < len(self.text):
                line_end = self.text.find("\n", at)
                line_end = len(self.text) if line_end < 0 else line_end
                line = self.text[at:line_end]
                if (line.lstrip("\t") if strip else line) == delimiter:
                    break
                at = line_end + 1
            at = min(at, len(self.text))
            if quoted:
                self.found.literal.append((begin, at, "a quoted here-document"))
            else:
                self.expanded(begin, at, depth)
            line_end = self.text.find("\n", at)
            at = len(self.text) if line_end < 0 else line_end + 1
        return at

    def expanded(self, at: int, end: int, depth: int) -> None:
        """The inside of a here-document that the shell expands."""
        while at < end:
            plain = _HERE_PLAIN.match(self.text, at, end)
            if plain is not None:
                at = plain.end()
            elif self.text[at] == "\\":
                at += 2
            elif self.text[at] in "$`":
                at = self.quoted(at, depth, inside=True)
            else:
                at += 1

    def quoted(self, at: int, depth: int, *, inside: bool = False) -> int:
        """A quote, an expansion or a lone `#` within a word; the place behind it.

        Args:
            at: where it begins.
            depth: how deep it is nested.
            inside: within double quotes or a here-document, where single quotes are letters.

        """
        text, size = self.text, len(self.text)
        here = text[at]
        if here == "'" and not inside:
            until = text.find("'", at + 1)
            until = size if until < 0 else until + 1
            self.found.literal.append((at, until, "single quotes"))
            return until
        if here == '"' and not inside:
            return self.double(at + 1, depth)
        if here == "`":
            return self.code(at + 1, "`", depth + 1)
        if here == "$":
            return self.dollar(at, depth, inside=inside)
        return at + 1

    def double(self, at: int, depth: int) -> int:
        """Behind an opening double quote; the place behind the closing one."""
        while at < len(self.text):
            plain = _QUOTED_PLAIN.match(self.text, at)
            if plain is not None:
                at = plain.end()
            elif self.text[at] == "\\":
                at += 2
            elif self.text[at] == '"':
                return at + 1
            else:
                at = self.quoted(at, depth, inside=True)
        return len(self.text)

    def dollar(self, at: int, depth: int, *, inside: bool) -> int:
        """An expansion; the place behind it."""
        text = self.text
        if text.startswith("$((", at):
            return self.arithmetic(at + 3, depth)
        if text.startswith("$(", at):
            return self.code(at + 2, ")", depth + 1)
        if text.startswith("${", at):
            return self.braces(at + 2, depth, inside=inside)
        if text.startswith("$'", at) and not inside:
            match = _ANSI.match(text, at)
            until = match.end() if match is not None else at + 2
            self.found.literal.append((at, until, "single quotes"))
            return until
        name = _NAME.match(text, at + 1)
        if name is None:
            return at + 1
        self.found.references.append(Reference(name[0], name.start(), name.end()))
        return name.end()

    def braces(self, at: int, depth: int, *, inside: bool) -> int:
        """Behind `${`; the place behind its brace."""
        if depth > _DEEPEST:
            raise _TooDeep
        text = self.text
        mark = text[at : at + 1] if text[at : at + 1] in ("#", "!") and _NAME.match(text, at + 1) else ""
        name = _NAME.match(text, at + len(mark))
        if name is not None:
            self.found.references.append(Reference(name[0], name.start(), name.end(), mark == "!"))
            at = name.end()
        while at < len(text) and text[at] != "}":
            if text[at] == "\\":
                at += 2
            elif text[at] in "$`" or (text[at] in "'\"" and not inside):
                at = self.quoted(at, depth + 1, inside=inside)
            elif text[at] == '"':
                at = self.double(at + 1, depth + 1)
            else:
                at += 1
        return min(at + 1, len(text))

    def arithmetic(self, at: int, depth: int) -> int:
        """Behind `((`; the place behind `))`. Bare names are variables there."""
        if depth > _DEEPEST:
            raise _TooDeep
        text, opened = self.text, 0
        while at < len(text):
            name = _NAME.match(text, at)
            if name is not None:
                self.found.references.append(Reference(name[0], name.start(), name.end()))
                at = name.end()
            elif text[at] == ")" and opened == 0:
                return at + 2 if text.startswith("))", at) else at + 1
            elif text[at] in "$`":
                at = self.quoted(at, depth + 1, inside=True)
            elif text[at] == "\\":
                at += 2
            else:
                opened += {"(": 1, ")": -1}.get(text[at], 0)
                number = _NUMBER.match(text, at)
                at = number.end() if number is not None else at + 1
        return len(text)
