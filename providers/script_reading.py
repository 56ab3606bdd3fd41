"""Job scripts of any scheduler that has them: told apart by their directives, read by its dialect."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace

from dragoman.errors import BadRequest
from dragoman.protocols import ScriptReading
from providers.registry import dialects

__all__ = ["dialect_of_script", "directive_pattern", "read_any_script"]


def dialect_of_script(text: str) -> str | None:
    """The scheduler whose directives come first; None: it is no job script.

    Of dialects with the same directives (PBS and Torque, whose reader is one) it is the one that is told by options
    or variables that no other of them has, else the first by name.
    """
    first = directive_pattern().search(text)
    names = [name for name, prefix in _prefixes().items() if first is not None and re.match(_mark(prefix), first[0])]
    told = [name for name in names if _told_by(name, text)] if len(names) > 1 else []
    return told[0] if len(told) == 1 else min(names, default=None)


def _told_by(name: str, text: str) -> bool:
    words = getattr(dialects.get(name), "script_words", None)
    patterns = (words.told_by, words.told_by_body) if words is not None else ()
    return any(pattern and re.search(pattern, text, re.MULTILINE) is not None for pattern in patterns)


@functools.cache
def directive_pattern() -> re.Pattern[str]:
    """How a directive of any dialect begins a line."""
    return re.compile("|".join(rf"^(?:{mark})" for mark in map(_mark, _prefixes().values())), re.MULTILINE)


@functools.cache
def _prefixes() -> Mapping[str, str]:
    """How the directives of each dialect that has job scripts begin."""
    words = {name: getattr(make, "script_words", None) for name, make in dialects.items()}
    return {name: told.prefix for name, told in words.items() if told is not None and told.whole is None}


def _mark(prefix: str) -> str:
    # A mark without letters (`#$`) begins comments too, so an option has to follow.
    follows = r"(?:\s|$)" if prefix[-1].isalnum() else r"[ \t]*-"
    return rf"(?:{re.escape(prefix)}|{re.escape(prefix.upper())}){follows}"


def read_any_script(text: str) -> ScriptReading:
    """Read a job script by the dialect of its directives; the request's script keeps its first line.

    Raises:
        BadRequest: no scheduler's directives are in it, or its dialect cannot read it.

    """
    name = dialect_of_script(text)
    if name is None:
        cure = f"begin lines with {', '.join(dict.fromkeys(_prefixes().values()))}"
        raise BadRequest("no scheduler's directives are in the script", where="script", cure=cure)
    reading = dialects.get(name)().read_script(text)
    script = reading.request.script
    if script is not None and reading.interpreter != "/bin/sh":
        # What is handed on runs by its own first line.
        script = f"#!{reading.interpreter}\n{script}"
    request = reading.request.model_copy(update={"script": script, "script_dialect": name})
    return replace(reading, request=request)
