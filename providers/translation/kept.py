"""What a script says besides needs (files, mail, folder), from the options that a reader lists as not carried over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from dragoman.protocols import ScriptReading
from providers.schedulers.script_words import Kept, ScriptWords, read_path

__all__ = ["KeptReading", "read_kept", "split_option"]


@dataclass(slots=True)
class KeptReading:
    """What was understood, and from which words each field of it."""

    kept: Kept
    words: dict[str, str] = field(default_factory=dict)
    partly: list[tuple[str, str]] = field(default_factory=list)
    """Words of an option that has no equal for them, though it was understood, each with what it is about."""
    rest: list[str] = field(default_factory=list)
    """Options that are no need and nothing of `Kept`: of this scheduler alone."""


def split_option(written: str, names: Sequence[str], whole: frozenset[str] = frozenset()) -> tuple[str, str]:
    """An option's name and value; the name is the longest of `names` that it begins with, else its first word.

    Args:
        written: the option.
        names: those that are looked for.
        whole: options of one dash that are words: where there are any, no letters are glued to an option.

    """
    for name in sorted(names, key=len, reverse=True):
        if written == name or written.startswith((f"{name} ", f"{name}=")):
            return name, written[len(name) :].lstrip(" =").strip()
    short = re.fullmatch(r"(-[A-Za-z])(\S.*)", written, re.DOTALL)
    if short is not None and short[1] in names and not (whole and short[2][0].isalpha()):
        return short[1], short[2]
    name, _, value = written.replace("=", " ", 1).partition(" ")
    return name, value.strip()


def read_kept(reading: ScriptReading, words: ScriptWords, interpreter: str) -> KeptReading:
    """Take the options apart that are no needs.

    Args:
        reading: what the dialect read.
        words: the dialect's.
        interpreter: what runs the script.

    """
    request = reading.request
    found = KeptReading(Kept(name=request.name, interpreter=interpreter, requeue=request.requeue))
    found.kept.array = request.array is not None
    for written in reading.not_carried:
        name, value = split_option(written, tuple(words.reads), words.options)
        told = words.reads.get(name)
        if told is None or not _take(found, told, _unquoted(value), words):
            found.rest.append(written)
        elif told == "notify":
            found.words |= {"mail_to": written, "mail_on": written}
        else:
            found.words["work_dir" if told == "cwd" else "mail_on" if told.startswith("mail_on") else told] = written
    for source in request.sources:
        name, value = split_option(source.words, tuple(words.reads), words.options)
        if source.field == "environment" and words.reads.get(name) == "export" and value.split(",")[0] == "ALL":
            found.kept.inherits = True
    kept = found.kept
    if kept.joined is None and kept.stdout is not None:
        kept.joined = words.joins and kept.stderr is None
    if kept.joined is False and kept.stdout is None:
        kept.joined = None
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _take(found: KeptReading, told: str, value: str, words: ScriptWords) -> bool:
    """Whether the option was understood."""
    kept = found.kept
    match told:
        case "quiet":
            return True
        case "stdout" | "stderr" if value:
            setattr(kept, told, read_path(value, words.fills))
        case "joined":
            if value not in ("", "oe", "eo", "y", "yes", "n", "no"):
                return False
            kept.joined = value not in ("n", "no")
        case "work_dir" if value:
            kept.work_dir = value
        case "cwd":
            kept.work_dir = "."
        case "mail_to" if value:
            kept.mail_to = value
        case "notify" if (match := re.fullmatch(r"(?:\[([\w, ]+)\]\s*)?mail:(.+)", value)) is not None:
            kept.mail_to = match[2].strip()
            return _mail(found, match[1] or "ALL", words)
        case "mail_on":
            return _mail(found, value, words)
        case "mail_on=begin" | "mail_on=end" | "mail_on=fail" | "mail_on=all ends":
            events = {"mail_on=all ends": {"end", "fail"}}.get(told, {told.removeprefix("mail_on=")})
            kept.mail_on = (kept.mail_on or frozenset()) | events
        case "inherits":
            kept.inherits = True
        case "export" if value.upper() in ("NONE", "ALL"):
            kept.inherits = value.upper() == "ALL"
        case "held" if value in ("", "u"):
            kept.held = True
        case "start" if (moment := _moment(value)) is not None:
            kept.start = moment
        case "interpreter" if value:
            kept.interpreter = value
        case _:
            return False
    return True


def _moment(text: str) -> datetime | None:
    """`2027-01-31T10:00[:00]`, `202701311000[.00]`, `2027:01:31:10:00`; None: days or years are left to be guessed."""
    form = r"(\d{4})[-:]?(\d\d)[-:]?(\d\d)[T :]?(\d\d):?(\d\d)(?:[:.](\d\d))?"
    match = re.fullmatch(form, text.strip(), re.ASCII)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    with suppress(ValueError):
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001  # by the site's clock
    return None


def _mail(found: KeptReading, value: str, words: ScriptWords) -> bool:
    """What a job's owner is mailed about; events of this scheduler alone are kept apart."""
    letters = any(len(word) == 1 for word in words.mail)
    parts = list(value) if letters else [part.strip().upper() for part in value.split(",")]
    if not any(part in words.mail for part in parts):
        return False
    meant = [words.mail[part] for part in parts if part in words.mail]
    found.kept.mail_on = frozenset({"begin", "end", "fail"} if "all" in meant else {one for one in meant if one})
    found.partly += [(part, part) for part in parts if part not in words.mail]
    return True
