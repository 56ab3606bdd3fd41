"""Job scripts as lines: safe values on the way out; header, directives and body on the way in.

Every batch scheduler reads directives from comment lines before the first command (sbatch(1), qsub(1B), bsub(1)).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.errors import BadRequest
from dragoman.request import Source

__all__ = ["Directive", "ScriptParts", "checked", "clean_script", "find_source", "split_script", "split_words"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029]")
_LONGEST = 4096


def checked(value: str, *, where: str) -> str:
    """The value itself, if it can stand on one line of a script or one item of an argument list.

    Raises:
        BadRequest: for control characters and line separators, and for values over 4096 characters.

    """
    if _CONTROL.search(value):
        raise BadRequest(
            f"{value[:80]!r} contains a control character", where=where, cure="write it on one line, without tabs"
        )
    if len(value) > _LONGEST:
        raise BadRequest(f"the value has {len(value)} characters", where=where, cure=f"at most {_LONGEST}")
    return value


def clean_script(text: str) -> str:
    """The text without byte order mark and carriage returns: a script pasted from Windows works as it was meant."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive line before the first command."""

    line: int
    """Counted from 1."""
    text: str
    """What follows the prefix."""
    offset: int
    """Where that begins in the cleaned script, in characters."""


@dataclass(frozen=True, slots=True)
class ScriptParts:
    """A job script taken apart."""

    interpreter: str
    directives: tuple[Directive, ...]
    body: str
    """Everything but the first line and the directives that count, byte for byte."""
    ignored: tuple[Directive, ...] = ()
    """Directives after the first command: the scheduler does not read them."""
    lookalikes: tuple[Directive, ...] = ()
    """Comments that were perhaps meant as directives (`# SBATCH`, `#sbatch`); `text` is the whole line."""
    foreign: tuple[Directive, ...] = ()
    """Directives of other schedulers; `text` is the whole line."""


_FOREIGN = re.compile(r"#(?:SBATCH|PBS|BSUB|COBALT|OAR|MSUB|\$|flux:)\s*-")


def split_script(
    text: str, prefix: str, *, default_interpreter: str = "/bin/sh", whole_file: bool = False, glued: bool = False
) -> ScriptParts:
    """Take a script apart.

    Args:
        text: the script.
        prefix: the directives' beginning, such as `#SBATCH` (case counts).
        default_interpreter: where the first line names none.
        whole_file: directives behind the first command count too, and stay in the body, of which they are a part.
        glued: no blank has to follow the prefix (Grid Engine's rule).

    """
    text = clean_script(text)
    lookalike = re.compile(rf"\s*#\s*{re.escape(prefix.lstrip('#').strip())}\b", re.IGNORECASE)
    interpreter = default_interpreter
    found: list[Directive] = []
    ignored: list[Directive] = []
    alike: list[Directive] = []
    foreign: list[Directive] = []
    body: list[str] = []
    offset, commands, started = 0, False, False
    for number, line in enumerate(re.split(r"(?<=\n)", text), start=1):
        bare = line.strip()
        kept = True
        if not started and bare.startswith("#!"):
            interpreter, kept = bare[2:].strip() or default_interpreter, False
        elif re.match(rf"{re.escape(prefix)}(?:\s|$|{'-' if glued else '$'})", line):
            directive = Directive(number, line[len(prefix) :].rstrip("\n"), offset + len(prefix))
            (ignored if commands and not whole_file else found).append(directive)
            kept = commands
        elif lookalike.match(line):
            alike.append(Directive(number, bare, offset))
        elif _FOREIGN.match(line):
            foreign.append(Directive(number, bare, offset))
        elif bare and not bare.startswith("#"):
            commands = True
        started = started or bool(bare)
        offset += len(line)
        if kept:
            body.append(line)
    return ScriptParts(interpreter, tuple(found), "".join(body), tuple(ignored), tuple(alike), tuple(foreign))


def split_words(text: str, *, qsub: bool = False) -> tuple[list[str], str]:
    """The words of a directive line as sbatch takes them, and what is wrong with the line.

    Args:
        text: what follows the prefix.
        qsub: as qsub(1B) takes them: a backslash within quotes is itself, and `#` is a comment between words only.

    """
    words: list[list[str]] = []
    quote, inside = "", False
    characters = iter(text)
    for character in characters:
        escaped = character == "\\" and not (qsub and quote)
        if not quote and not escaped and (character.isspace() or (character == "#" and not (qsub and inside))):
            if character == "#":
                break
            inside = False
            continue
        if not inside:
            words.append([])
            inside = True
        if escaped:
            words[-1].append(next(characters, ""))
        elif character == quote or (not quote and character in "\"'"):
            quote = "" if quote else character
        else:
            words[-1].append(character)
    return [
        "".join(word) for word in words
    ], f"a quote ({quote}) is not closed (close it on the same line)" if quote else ""


def find_source(field_path: str, words: str, directive: Directive) -> Source:
    """Where a field came from, with its place in the cleaned script."""
    at = directive.text.find(words)
    return Source(field=field_path, words=words[:2000], origin="script", start=directive.offset + max(at, 0))
