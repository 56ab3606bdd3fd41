"""Facts of a provider as one line for people."""

from __future__ import annotations

from dragoman.units import format_bytes, format_duration

__all__ = ["fact_words"]

MOST = 240
LONG_LISTS = ("features", "load")
"""Left out here: they are whole in the JSON document."""


def fact_words(value: object, limit: int = MOST) -> str:
    """`usable yes, rootless no, images 3`: what is known, nested facts in parentheses, long ones cut."""
    words = _words(value)
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _words(value: object) -> str:
    if isinstance(value, dict):
        named = value.get("name") or value.get("model") or value.get("implementation") or value.get("mount")
        parts = [str(named)] if named else []
        for key, item in value.items():
            if item in (None, "", [], {}) or item == named or key in LONG_LISTS or key == "observed_at":
                continue
            parts.append(_field(key, item))
        return ", ".join(parts)
    if isinstance(value, list):
        shown = [f"({_words(item)})" if isinstance(item, dict) else str(item) for item in value[:6]]
        more = f" and {len(value) - 6} more" if len(value) > 6 else ""
        return " ".join(shown) + more
    return str(value)


def _field(key: str, item: object) -> str:
    if isinstance(item, list):
        return f"{key} {len(item)}: {_words(item)}"
    if isinstance(item, dict):
        return f"{key} ({_words(item)})"
    if isinstance(item, int) and not isinstance(item, bool) and (key == "bytes" or "_bytes" in key):
        return f"{key.replace('_bytes', '').replace('_', ' ')} {format_bytes(item)}"
    if key == "gbit_s":
        return f"{item} Gbit/s"
    if isinstance(item, int | float) and key.endswith("_s"):
        return f"{key[:-2].replace('_', ' ')} {format_duration(float(item))}"
    return f"{key.replace('_', ' ')} {item}"
