"""Secrets that are spread over lines: a dump of the environment, a key whose lines were sorted, a YAML block. Pure.

`env` prints a value as it is: a value of two lines takes two, and nothing marks the second. Such a text is told from
others by its lines: those around a secret's begin with `NAME=` too, and it is no script, where such a value is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["hide_blocks", "hide_dumped", "hide_keys", "hide_null_ended"]

_ASSIGNMENT = re.compile(
    r"(?:export |declare -\w+ )?(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:%%|\(\))?)=(?P<value>.*)", re.DOTALL
)
_NULL_ENDED = re.compile(r"^(?P<name>[A-Za-z_][A-Za-z0-9_]*)=", re.MULTILINE)
_COMMON = re.compile(r"^(?:PATH|HOME|PWD|SHLVL|USER|SHELL|LANG|TERM|OLDPWD|LOGNAME|HOSTNAME|_)=", re.MULTILINE)
_MOST_LINES = 100
"""A value of more lines is none that `env` printed."""
_KEY_MARK = re.compile(r"-----(?:BEGIN|END) [A-Z0-9 ]{1,40}-----")
_WHOLE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{1,40}-----(?P<body>(?:(?!-----(?:BEGIN|END) ).)*)-----END [A-Z0-9 ]{1,40}-----", re.DOTALL
)
_BEGUN_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{1,40}-----(?:(?:[ \t]+|(?:\\+[nr])+)[A-Za-z0-9+/]+={0,2}(?![\w=]))*")
"""A key whose end is elsewhere, with what of it stands in the same line."""
_BASE64 = re.compile(r"^[ \t]*[A-Za-z0-9+/]{3,}={0,2}[ \t]*(?=\r?$)", re.MULTILINE)
_LONG_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40,}={0,2}")
_VARIABLE = re.compile(r"^[A-Za-z_]\w*=[^=\s]", re.MULTILINE)
_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?:- )*[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_.\-]{0,127})[\"']?[ \t]*:[ \t]+[|>][-+0-9]*[ \t]*\n"
    r"(?P<body>(?:(?P=indent)[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)+)",
    re.MULTILINE,
)


def hide_dumped(text: str, hidden: str, is_secret: Callable[[str], bool]) -> str:
    """Hide the whole value of each secret variable in what `env` printed, be it of several lines or words."""
    if "\n" not in text or text.startswith("#!") or "\n#!" in text:
        return text
    lines = text.split("\n")
    starts = [index for index, line in enumerate(lines) if _ASSIGNMENT.fullmatch(line)]
    dump = len(set(_COMMON.findall(text))) > 1
    kept: list[str] = []
    done = 0
    for place, index in enumerate(starts):
        match = _ASSIGNMENT.fullmatch(lines[index])
        if match is None or index < done or not is_secret(match["name"]) or match["value"][:1] in ("'", '"', "$"):
            continue
        after = starts[place + 1] if place + 1 < len(starts) else None
        between = (after if after is not None else len(lines)) - index - 1
        beside = index == 0 or (place > 0 and starts[place - 1] >= index - _MOST_LINES)
        last = after is None and dump
        if between > _MOST_LINES or not beside or (after is None and not last):
            continue
        kept += [*lines[done:index], lines[index][: match.start("value")] + hidden]
        done = index + 1 + between
        if after is None and lines[-1] == "" and between:
            kept.append("")  # the text ended with a line's end
    return "\n".join([*kept, *lines[done:]])


def hide_null_ended(text: str, hidden: str, is_secret: Callable[[str], bool]) -> str:
    """Hide the whole value of each secret variable in what `env -0` printed, where NUL ends a value and no line's end.

    The same holds for the files `environ` of /proc.
    """
    *values, rest = text.split("\0")
    for place, value in enumerate(values):
        for match in _NULL_ENDED.finditer(value):
            if is_secret(match["name"]) and match.end() < len(value):
                values[place] = value[: match.end()] + hidden
                break
    return "\0".join([*values, rest])


def hide_keys(text: str, hidden: str) -> str:
    """Hide keys between their marks, and what may be a line of one where a mark stands alone.

    `env | sort` tears a key's lines from each other and puts harmless variables between them, which stay.
    """
    if not _KEY_MARK.search(text):
        return text

    def whole(match: re.Match[str]) -> str:
        return match[0] if _VARIABLE.search(match["body"]) else hidden

    def looks_random(match: re.Match[str]) -> str:
        found = match[0]
        mixed = all(any(test(letter) for letter in found) for test in (str.isupper, str.islower, str.isdigit))
        return hidden if mixed and found.count("/") * 12 <= len(found) else found

    text = _WHOLE_KEY.sub(whole, text)
    if not _KEY_MARK.search(text):
        return text
    text = _BASE64.sub(hidden, _BEGUN_KEY.sub(hidden, text))
    return _KEY_MARK.sub(hidden, _LONG_BASE64.sub(looks_random, text))


def hide_blocks(text: str, hidden: str, is_secret: Callable[[str], bool]) -> str:
    """Hide block values of YAML (`password: |`), which go on over all lines that are indented further."""

    def replaced(match: re.Match[str]) -> str:
        if not is_secret(match["name"]):
            return match[0]
        head = match[0][: match.start("body") - match.start()]
        inner = re.match(r"[ \t]*", match["body"])
        end = "\n" if match["body"].endswith("\n") else ""
        return f"{head}{inner[0] if inner else ' '}{hidden}{end}"

    return _BLOCK.sub(replaced, text) if ":" in text and "\n" in text else text
