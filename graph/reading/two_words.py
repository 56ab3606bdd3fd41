"""Words of German and French that are two in English: `l'image`, `CP2K-Lauf`, `GPU-Speicher`."""

from __future__ import annotations

import re

from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS, PADDING

__all__ = ["two_words"]

_ELIDED = re.compile(r"(?i)(?P<word>l|d|qu|n|j|c|m|t|s)['\u2019](?=[^\W_])")
_WHOLE = {"l": "the", "d": "of", "qu": "that", "n": "ne", "j": "i", "c": "it", "m": "me", "t": "you", "s": "se"}
"""French words that lose their vowel before another."""
_SET = frozenset(("d'ici", "d'urgence", "d'accord", "d'abord", "d'ailleurs", "l'un", "l'une", "d'après"))
"""Turns of phrase that are known as they stand."""
_COMPOUND = re.compile(
    r"(?P<first>[^\W_][\w+.]{0,30}(?:-[\w+.]{1,30}){0,3})-(?P<noun>l(?:auf|äufe|äufen|aufs|izenz|izenzen)"
    r"|rechnung(?:en)?|berechnung(?:en)?|simulation(?:en)?|jobs?|skripte?|prozesse?n?|kerne?n?|knoten|container|images?"
    r"|module?n?|version(?:en)?|programme?n?|codes?|speichers?|karten?|gpus?|dateisystem|partition|konto|projekt"
    r"|reservierung|scratch|datei(?:en)?|arrays?|ränge?n?|tasks|threads|trainings?|umgebung|pakete?|bibliothek"
    r"|umgebungsvariablen?|netz|netzwerk|platten?|queue|warteschlange)",
    re.IGNORECASE,
)


def two_words(core: str) -> tuple[str | None, int, int] | None:
    """How a word falls into two: the first in English (None: as written), where it ends, where the second begins."""
    low = core.lower().replace("\u2019", "'")
    if low in FOREIGN_UNITS or low in FOREIGN_WORDS or low in EVERYDAY or low in PADDING or low in _SET:
        return None
    elided, compound = _ELIDED.match(core), _COMPOUND.fullmatch(core)
    if elided:
        return _WHOLE[elided["word"].lower()], elided.end(), elided.end()
    if compound:
        return None, compound.end("first"), compound.start("noun")
    return None
