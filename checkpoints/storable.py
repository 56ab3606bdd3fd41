"""Text that PostgreSQL cannot store, made storable without hiding that it was changed.

``text`` and ``jsonb`` hold no character U+0000, and UTF-8 has no lone surrogates (PostgreSQL manual, "Character Types"
and "JSON Types"; RFC 8259 section 8.2). Such characters come with the ends of job logs and with file names, and one of
them must not lose the whole row it stands in.
"""

from __future__ import annotations

import math
import re

from pydantic import JsonValue

REPLACEMENT = "\ufffd"
MARK = " [unstorable characters replaced]"
"""Ends every text in which a character was replaced, keys included."""

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable_text(text: str) -> str:
    r"""Replace NUL and lone surrogates in one text by U+FFFD and add ``MARK``; join surrogates that form a pair.

    The six characters ``\u0000`` written out are ordinary text and stay.
    """
    if not _UNSTORABLE.search(text):
        return text
    joined = _PAIR.sub(lambda pair: pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
    clean = _UNSTORABLE.sub(REPLACEMENT, joined)
    return joined if clean == joined else clean + MARK


def storable(value: JsonValue) -> JsonValue:
    """Make a JSON value storable as ``jsonb``; what is storable already comes back as it is.

    Args:
        value: any JSON value; its own parts are never changed in place.

    Returns:
        The value with every text and key passed through ``storable_text``. Keys that become equal are numbered, so that
        none is lost. A float that JSON has no word for (NaN, infinities) becomes None, as pydantic writes it.
    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        items = [storable(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        pairs = [(key, storable_text(key), item, storable(item)) for key, item in value.items()]
        if all(new_key is key and new is old for key, new_key, old, new in pairs):
            return value
        kept = {key for key, new_key, _, _ in pairs if new_key is key}
        result: dict[str, JsonValue] = {}
        for key, new_key, _, new in pairs:
            free, number = new_key, 2
            while new_key is not key and (free in result or free in kept):
                free, number = f"{new_key} {number}", number + 1
            result[free] = new
        return result
    return value
