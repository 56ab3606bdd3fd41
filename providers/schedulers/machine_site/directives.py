"""The `#DRAGOMAN` lines of a job script, read without a shell.

Each line before the first command that begins with `#DRAGOMAN` holds options, separated by blanks: `--name=value` or
`--name`. In a value, `%20` stands for a blank and so on for any byte (percent encoding, RFC 3986), so that no value
can end a line or begin another option.
"""

from __future__ import annotations

from .trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "#DRAGOMAN"
TAG_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
AFTER = ("afterok", "afterany", "afternotok", "after")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DIGITS = frozenset("0123456789abcdefABCDEF")


def read_directives(text: str) -> dict[str, Any]:
    """Options of a script, by the names of the job's fields. Raises `Trouble` that names the line."""
    found: dict[str, Any] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if line.startswith(PREFIX) and line[len(PREFIX) : len(PREFIX) + 1] in ("", " ", "\t"):
            for word in line[len(PREFIX) :].split():
                try:
                    read_option(word, found)
                except ValueError as error:
                    raise Trouble("bad-request", f"line {number}: {word[:200]}: {error}") from error
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return found


def read_option(word: str, found: dict[str, Any]) -> None:
    """Read one `--name=value` into the options so far. Raises ValueError that says what is wrong with it."""
    name, has_value, raw = word.partition("=")
    field = name[2:].replace("-", "_")
    if not name.startswith("--") or field not in _READERS:
        raise ValueError("there is no such option (write a blank within a value as %20)")
    if field == "after":
        found.setdefault("after", []).append(_after(decode(raw)))
        return
    if field in found:
        raise ValueError("is given twice")
    if field == "exclusive":
        if has_value:
            raise ValueError("takes no value")
        found[field] = True
        return
    if not raw:
        raise ValueError("has no value")
    found[field] = _READERS[field](decode(raw))


def encode(text: str) -> str:
    """A value as it is written into a directive."""
    plain = TAG_CHARACTERS | frozenset("/:,+@=~")
    return "".join(
        character if character in plain else "".join(f"%{byte:02X}" for byte in character.encode("utf-8"))
        for character in text
    )


def decode(text: str) -> str:
    """The value of a directive. Raises ValueError for control characters and for what is no UTF-8."""
    data, position = bytearray(), 0
    raw = text.encode("utf-8", "surrogateescape")
    while position < len(raw):
        pair = raw[position + 1 : position + 3].decode("latin-1")
        if raw[position] == 0x25 and len(pair) == 2 and _DIGITS.issuperset(pair):
            data.append(int(pair, 16))
            position += 3
        else:
            data.append(raw[position])
            position += 1
    value = data.decode("utf-8")
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError("control characters are not allowed")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise ValueError("is no whole number")
    return int(text)


def _positive(text: str) -> int:
    if _count(text) < 1:
        raise ValueError("must be 1 or more")
    return int(text)


def _bytes(text: str) -> int:
    number = text.rstrip("bBiI").lower()
    unit = number[-1:] if number[-1:] in _UNITS else ""
    digits = number[: len(number) - len(unit)]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18 or int(digits) < 1:
        raise ValueError("is no amount of memory (write it like 4G)")
    return int(digits) * _UNITS[unit]


def _seconds(text: str) -> int:
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if (dash and len(parts) != 3) or len(parts) not in (1, 3):
        raise ValueError("is no walltime (write seconds, HH:MM:SS or D-HH:MM:SS)")
    numbers = [_count(part) for part in parts]
    seconds = numbers[0] if len(numbers) == 1 else numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    seconds += _count(days) * 86400 if dash else 0
    if seconds < 1:
        raise ValueError("must be 1 or more")
    return seconds


def _moment(text: str) -> float:
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise ValueError("is no time: write seconds since the epoch")
    return float(text)


def _after(text: str) -> list[str]:
    kind, _, job_id = text.partition(":")
    if kind not in AFTER or not (job_id.isascii() and job_id.isdigit()):
        raise ValueError("write it like afterok:12 ({})".format(", ".join(AFTER)))
    return [kind, str(int(job_id))]


def _tag(text: str) -> str:
    if not TAG_CHARACTERS.issuperset(text) or len(text) > 128 or text.startswith("."):
        raise ValueError("is no tag: letters, digits, '-', '_' and '.'")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("must be an absolute path")
    return text


_READERS: dict[str, Any] = {
    "tag": _tag, "name": str, "cpus": _positive, "tasks": _positive, "memory": _bytes, "gpus": _count,
    "walltime": _seconds, "work_dir": _absolute, "control_dir": _absolute, "output": str, "error": str,
    "begin": _moment, "after": _after, "exclusive": bool,
}  # fmt: skip
