"""Values in directives of schedulers whose own quoting is written down nowhere: what is doubtful is refused."""

from __future__ import annotations

import re

from dragoman.errors import BadRequest
from providers.schedulers.directives import checked

__all__ = ["plain_word"]


def plain_word(value: str, *, where: str, scheduler: str, bare: bool = False) -> str:
    """A value as one word of a directive line, between double quotes where it needs them.

    Args:
        value: the value.
        where: the field, for the message.
        scheduler: the scheduler's name, for the message.
        bare: leave out the quotes, for values that are put into a larger quoted text.

    Raises:
        BadRequest: it is empty, would be taken for an option, or holds a quote, backquote or backslash.

    """
    value = checked(value, where=where)
    if not value.strip() or value.startswith("-") or re.search(r"[\"'`\\]", value):
        cure = "choose one without quotes, backslashes and a leading dash"
        raise BadRequest(f"{value[:60]!r} cannot stand in a directive of {scheduler}", where=where, cure=cure)
    return value if bare or re.fullmatch(r"[\w.,:;=+@/%*$-]+", value, re.ASCII) else f'"{value}"'
