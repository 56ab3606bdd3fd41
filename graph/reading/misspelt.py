"""Typing errors in words of the field and in frequent words: mended where one word is near and nothing else is meant.

Units are mended after a number or `per`, other words of the field anywhere. A word stays as it is where it may be a
name: after `account`, `queue` and the like, with a capital or a digit, before a version, and where it is a word itself.
"""

from __future__ import annotations

import re

from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS, FUNCTION_WORDS, KEYWORDS, PADDING, UNIT_WORDS

__all__ = ["mended_unit", "mended_word"]

_SIZES = frozenset("gigabyte gigabytes megabyte megabytes terabyte terabytes".split())  # noqa: SIM905
_UNITS = UNIT_WORDS | _SIZES
_NEAR_UNITS = "more care cares mode modes bank banks tank tanks mask masks your sour pour four ways rays bays rates"
_REAL = PADDING | EVERYDAY | KEYWORDS | FUNCTION_WORDS | frozenset(_NEAR_UNITS.split())
"""Words that are no typing errors of units, near as they are."""
_FIELD = frozenset(
    """
    account accounts partition partitions project projects memory tomorrow budget results walltime deadline please
    approximately simulation simulations program version supervisor processes reservation environment variable
    minutes computer computers cheapest earliest interconnect energy variables processors graphics urgently
    infiniband immediately exclusive exclusively simultaneously maximum minimum because urgent
    soonest monday tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)
"""Words of the field that a typing error is looked for in, wherever it stands."""
_OTHERS = frozenset(
    """
    protect protects projected projector budged pleased pleases processed processor partitioned accounted preservation
    stimulation minuted versions commands observation programs programme programmed programmer resulted computed
    computes variably variants simulating maxima minima memories memorise energies interconnects because projection
    """.split()  # noqa: SIM905
)
"""Words near those of the field that are words themselves."""
_FREQUENT = {
    "quee": "queue", "aray": "array", "arry": "array", "comand": "command", "comands": "commands", "woud": "would",
    "wuld": "would", "soo": "so", "finsh": "finish", "strat": "start", "satrt": "start",
    "haf": "half", "hlaf": "half", "requst": "request", "reqeust": "request", "necesary": "necessary",
    "nees": "needs", "neds": "needs",
    "shuld": "should", "shoud": "should", "shold": "should", "sould": "should", "abot": "about", "abuot": "about",
    "aobut": "about", "aprox": "approx", "appox": "approx", "aproximately": "approximately", "wana": "want",
    "wnat": "want", "watn": "want", "evry": "every", "eveyr": "every", "everey": "every", "plese": "please",
    "pleas": "please", "plase": "please", "teh": "the", "hte": "the", "taks": "tasks", "wich": "which",
    "whit": "with", "wiht": "with", "wtih": "with", "nede": "need", "neeed": "need", "hav": "have", "haev": "have",
    "runing": "running", "tommorow": "tomorrow", "tommorrow": "tomorrow", "tomorow": "tomorrow",
    "tomorro": "tomorrow", "tmorrow": "tomorrow", "enuf": "enough", "enogh": "enough", "enought": "enough",
    "becuase": "because", "becouse": "because", "thier": "their", "recieve": "receive", "untill": "until",
    "befor": "before", "befoer": "before", "aftre": "after", "atfer": "after", "queu": "queue", "qeue": "queue",
    "quene": "queue", "queueu": "queue", "partion": "partition", "partiton": "partition", "maxium": "maximum",
    "maximun": "maximum", "minium": "minimum", "atleast": "at least", "atmost": "at most", "mornign": "morning",
    "mroning": "morning", "thnx": "thanks", "thansk": "thanks", "rendr": "render", "grafics": "graphics",
    "grafic": "graphics", "nodse": "nodes", "noeds": "nodes", "coers": "cores", "corse": "cores", "huors": "hours",
    "horus": "hours", "housr": "hours", "minuets": "minutes", "cheepest": "cheapest", "cheapst": "cheapest",
    "tonite": "tonight", "tonihgt": "tonight", "usign": "using", "jsut": "just", "somthing": "something",
}  # fmt: skip
"""Typing errors that are made often, of words too short to look for others near them."""
_ONLY_AFTER_NUMBERS = frozenset("nodse noeds coers corse huors horus housr minuets taks".split())  # noqa: SIM905
_LABELS = frozenset(
    """
    account acct acount project projekt queue partition qos reservation named called name site on at image license
    user recipe secret variable with using software program app application code solver tool package module
    """.split()  # noqa: SIM905
)
"""Behind these a name may follow, which is taken as it is written."""
_VERSION = re.compile(
    r"[ \t]+(?:(?:version|release|v\.?|>=|<=|==?|>|<)[ ]?)?v?\d+(?:\.\d+)+(?![ ]?(?:[kmgtKMGT]i?[bB]|h|hours?)\b)"
)


def mended_unit(word: str) -> str | None:
    """The one unit that a lower-case word behind a number is a typing error of."""
    if word == "nod":
        return "node"
    if word in _FREQUENT and _FREQUENT[word] in _UNITS:
        return _FREQUENT[word]
    if not 4 <= len(word) <= 12 or word in _UNITS or word in _REAL:
        return None
    found = [unit for unit in sorted(_UNITS) if len(unit) > 3 and _one_off(word, unit)]
    return found[0] if found and (len(found) == 1 or len({unit.rstrip("s") for unit in found}) == 1) else None


def mended_word(word: str, before: str, following: str) -> str | None:
    """The one word of the field that a word is a typing error of; None where it may be meant as it stands.

    Args:
        word: as written.
        before: the word before it, in lower case.
        following: the text behind it.

    """
    if not word.islower() or before in _LABELS or before.startswith("-") or _VERSION.match(following):
        return None
    if word in _FREQUENT:
        return None if word in _ONLY_AFTER_NUMBERS else _FREQUENT[word]
    if not 5 <= len(word) <= 14 or word in _FIELD or word in _OTHERS or word in _REAL:
        return None
    if word in FOREIGN_WORDS or word in FOREIGN_UNITS:
        return None
    found = [other for other in sorted(_FIELD) if other[0] == word[0] and _one_off(word, other)]
    return found[0] if found and (len(found) == 1 or len({other.rstrip("s") for other in found}) == 1) else None


def _one_off(word: str, other: str) -> bool:
    """Whether one insertion, deletion, change or swap of neighbours makes `word` into `other`."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    rest, goal = word[at:], other[at:]
    swapped = len(rest) > 1 and rest[1:2] + rest[0:1] + rest[2:] == goal
    return rest[1:] == goal[1:] or rest[1:] == goal or rest == goal[1:] or swapped
