"""Numbers of several words: `one hundred and twenty eight`, `two thousand`, `sixty four`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.lexicon import NUMBER_WORDS

__all__ = ["compound_numbers"]

_LARGE = {"hundred": 100, "thousand": 1000}
_ONE = "|".join(sorted({*NUMBER_WORDS, *_LARGE}, key=len, reverse=True))
_RUN = re.compile(rf"(?<![\w-])(?:{_ONE})(?:[ -](?:and )?(?:{_ONE}))+(?![\w-])", re.IGNORECASE)


def compound_numbers(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of each; words that make no number together are none."""
    for match in _RUN.finditer(text):
        value = _value([word for word in re.split(r"[ -]", match[0].lower()) if word != "and"])
        if value is not None:
            yield match.start(), match.end(), value


def _value(words: list[str]) -> int | None:
    if "thousand" in words:
        at = words.index("thousand")
        before, after = _below_thousand(words[:at]), _below_thousand(words[at + 1 :])
        whole = before is not None and after is not None and (before > 0 or at == 0)
        return (before or 1) * 1000 + (after or 0) if whole else None
    return _below_thousand(words)


def _below_thousand(words: list[str]) -> int | None:
    """0 for no words; None where they make no number."""
    if "hundred" in words:
        at = words.index("hundred")
        before, after = _below_hundred(words[:at]), _below_hundred(words[at + 1 :])
        fits = before is not None and after is not None and before < 10
        return (before or 1) * 100 + (after or 0) if fits else None
    return _below_hundred(words)


def _below_hundred(words: list[str]) -> int | None:
    numbers = [NUMBER_WORDS.get(word, -1) for word in words]
    if not numbers:
        return 0
    if len(numbers) == 1:
        return numbers[0] if 0 < numbers[0] < 100 else None
    tens = len(numbers) == 2 and numbers[0] in range(20, 100, 10) and 0 < numbers[1] < 10
    return sum(numbers) if tens else None
