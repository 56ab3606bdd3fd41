"""What of a reading is stored, looked at for secrets that would be stored with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from dragoman.shown_secrets import Shown, refusal, refuse_shown, shown_secrets
from graph.reading.reading import Reading
from graph.reading.scripts import directive

__all__ = ["refuse_secrets", "refuse_secrets_of_script"]


_MIXED = 6
"""Characters from which letters with digits are no word of their own."""
_LINE_OF_KEY = 16
"""Characters from which a line of a key is looked for by itself."""


def refuse_secrets(reading: Reading, given: object = None) -> None:
    """Let no reading pass that shows a secret in the request, in an answer that is offered, or in words about them.

    Args:
        reading: what was read.
        given: the text that it was read from. What is hidden where the whole text is kept may stand in no part of the
            reading either: a part alone does not tell that it is a secret.

    Raises:
        BadRequest: its field and the option before the secret; never the secret.

    """
    refuse_shown(reading.request.dump())
    for question in reading.questions:
        for option in question.options:
            refuse_shown(option.patch)  # by the fields that it would set
            refuse_shown(option.label, question.field)
        refuse_shown([question.text], question.field)
        refuse_shown([question.words], question.field)
    refuse_shown({"unread": list(reading.unread), "defaults": list(reading.defaults)})
    if isinstance(given, str):
        _refuse_parts(reading, given)


def _refuse_parts(reading: Reading, text: str) -> None:
    found = shown_secrets(text)
    if not found:
        return
    kept = "\n".join(_texts(reading.model_dump(mode="json")))
    put_away = set(reading.secrets.values())
    for shown in found:
        for part in _parts(text, shown):
            if (part not in put_away or _mixed(part)) and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", kept):
                raise refusal("request", shown)


def _parts(text: str, shown: Shown) -> Iterator[str]:
    """The value, and what a reader of words may make of it: without its quotes, its lines, its words."""
    bare = text[shown.start : shown.end].strip().strip("\"'`").rstrip(".:,;")
    if re.search(r"\w", bare):
        yield bare
    yield from (piece for piece in re.findall(r"[\w+/=]{6,}", bare) if _mixed(piece) or len(piece) >= _LINE_OF_KEY)


def _mixed(value: str) -> bool:
    return len(value) >= _MIXED and bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def refuse_secrets_of_script(script: str, put_away: Collection[str], named: Collection[str]) -> None:
    """The same for a whole job script, its directives too, with the line.

    Args:
        script: without the values of its variables.
        put_away: secrets that its directives set, which go to the secret store.
        named: variables that the job is given otherwise.

    Raises:
        BadRequest: the line and the option before the secret.

    """
    values = tuple(value for value in put_away if value)
    for shown in shown_secrets(script):
        in_directive = directive().match(script[script.rfind("\n", 0, shown.start) + 1 :]) is not None
        kept_apart = script[shown.start :].lstrip("\"'").startswith(values)
        if not kept_apart and not (in_directive and shown.name in named):
            raise refusal(f"script, line {script.count(chr(10), 0, shown.start) + 1}", shown)
