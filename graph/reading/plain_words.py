"""Words of the language of requests, which name no software and no site."""

from __future__ import annotations

from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, NUMBER_WORDS, PADDING

__all__ = ["LABELS", "NOUNS", "plain_word"]

_COMPARED = frozenset("later earlier newer older higher lower above below".split())  # noqa: SIM905
LABELS = frozenset("benchmark module modules package software application app program tool library".split())  # noqa: SIM905
_THINGS = (
    "package software application code program module tool library release container containers heterogeneous which"
)
NOUNS = frozenset((*_THINGS.split(), "version", "versions"))
"""What software is, or comes in."""


def plain_word(word: str) -> bool:
    """Whether a word belongs to the language of requests and so names no software."""
    return (
        word in PADDING
        or word in EVERYDAY
        or word in FUNCTION_WORDS
        or word in KEYWORDS
        or word in NUMBER_WORDS
        or len(word) < 2
        or word in _COMPARED
        or word.endswith("-installed")
    )
