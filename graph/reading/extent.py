"""Where a command ends that is followed by more of the sentence: `python x.py --lr 0.1 on 2 nodes for 3 hours`."""

from __future__ import annotations

import re

from graph.reading.closed_words import is_closed_word, joins_clauses
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import FOREIGN_UNITS, FOREIGN_WORDS, KEYWORDS, NUMBER_WORDS, UNIT_WORDS
from graph.reading.separators import line_of, parting_signs
from graph.reading.verbs import VERBS

__all__ = ["WORD", "extent"]

WORD = re.compile(
    r"\"[^\"\n]*\"|(?<![^\W\d_])'[^'\n]*'|(?:[^\s\"']|(?<=[^\W\d_])'(?=[^\W\d_]))+(?:(?<=[=:,(\[{])(?:\"[^\"\n]*\""
    r"|'[^'\n]*'))?"
    r"(?:[^\s\"']|(?<=[^\W\d_])'(?=[^\W\d_]))*"
)
_UNITS = (
    UNIT_WORDS
    | frozenset(word for word in FOREIGN_UNITS if word not in ("go", "mo", "to"))
    | frozenset("h hr hrs min mins s gb gib mb tb g ranks procs x times copies replicas mpi cards".split())  # noqa: SIM905
    | frozenset("a100 a100s h100 h100s v100 v100s".split())  # noqa: SIM905
    | frozenset("compute full whole entire exclusive physical parallel total gpu cpu openmp".split())  # noqa: SIM905
)
_SIGNS = ("w/", "w/o", "-", "--", "–", "—", "<-", "<--", "<=", "->", "=>", "←", "»", "«")  # noqa: RUF001  # as people type them
_VERBS = frozenset(
    [
        *("has", "have", "had", "must", "should", "will", "would", "can", "could", "is", "are", "was", "wherever"),
        *(
            "whenever",
            "whichever",
            "because",
            "since",
            "which",
            "whose",
            "that",
            "into",
            "onto",
            "until",
            "unless",
            "takes",
        ),
        *("i", "we", "they", "gets", "runs", "running", "ran", "be", "been", "being", "does", "did", "afterwards"),
        *("thereafter", "ought", "shall", "may", "might", "needs", "wants", "requires", "once", "while"),
        *(
            "plz",
            "pls",
            "thx",
            "ta",
            "cheers",
            "thanks",
            "during",
            "uses",
            "works",
            "starts",
            "takes",
            "lasts",
            "needs",
        ),
        *("und", "wird", "werden", "ohne", "bitte", "ist", "sind", "soll", "sollte", "muss", "laufen", "lassen"),
        *(
            "braucht",
            "darf",
            "dürfen",
            "kann",
            "können",
            "möchte",
            "frühestens",
            "spätestens",
            "nach",
            "egal",
            "wenn",
            "falls",
            "peut",
            "quel",
            "quelle",
            "benötigt",
            "sofort",
            "dringend",
            "dauert",
            "läuft",
            "möglichst",
            "höchstens",
            "mindestens",
            "heute",
        ),
        *(
            "demain",
            "aujourd'hui",
            "immédiatement",
            "urgent",
            "doit",
            "avant",
            "après",
            "merci",
            "pendant",
            "bis",
            "je",
        ),
        *("starten", "gestartet", "startet", "gerechnet", "ausgeführt", "lancer", "tourner"),
        *(
            "rechnen",
            "too",
            "there",
            "without",
            "except",
            "never",
            "not",
            "neither",
            "anywhere",
            "somewhere",
            "elsewhere",
        ),
        *(
            "exclusively",
            "exclusive",
            "together",
            "between",
            "natively",
            "interactively",
            "named",
            "thrice",
            "repeatedly",
            "continuously",
            "overnight",
            "nightly",
            "nicht",
            "nie",
            "niemals",
            "keinesfalls",
            "nur",
            "außer",
            "instead",
            "sans",
            "pas",
            "inside",
            "et",
            "est",
            "sur",
            "avec",
            "puis",
        ),
    ]
)
"""Words that a sentence goes on with behind a command."""
_DONE = frozenset(
    (
        "called", "started", "launched", "invoked", "executed", "compiled", "built", "installed", "located", "stored",
        "written", "named", "used", "linked",
    )
)  # fmt: skip
_NO_VALUES = frozenset("and or but it needs which whose then because please should must will needing".split())  # noqa: SIM905
"""Words of a sentence that no option has as its value."""
_OF_FILES = frozenset(
    "reads writes produces creates generates loads saves expects outputs consumes processes leaves".split()  # noqa: SIM905
)
_BY = frozenset("with on by as using via from in at under against into for".split())  # noqa: SIM905
_BEFORE_AMOUNT = frozenset(
    (
        "on",
        "for",
        "with",
        "using",
        "at",
        "within",
        "across",
        "over",
        "in",
        "sur",
        "avec",
        "pendant",
        "auf",
        "mit",
        "für",
    )
)
_ARTICLES = frozenset(("a", "an", "the", "each", "at", "un", "une", "ein", "einem", "einen", "einer"))
_ABOUT = frozenset(
    ("about", "around", "roughly", "nearly", "almost", "up", "only", "too", "very", "between", "our", "my")
)
_ADJECTIVES = frozenset(("single", "big", "fat", "large", "small", "seul", "seule", "einzigen", "gpu", "cpu"))
_COMMANDED = re.compile(
    r"(?i)(?:^|[.:;,\n(=>|/-]|\b(?:run|runs|running|execute|executes|executing|exec|launch|launching|start|starting"
    r"|call|calls"
    r"|invoke|do|args|arguments?|parameters?|command|cmd|via|then|is|as|like|lance|lancer|exécuter|lancez|starte"
    r"|starten|please|bitte|env|time|nice"
    r"|[A-Z_]+=\S*|\d+))[ \t]*[`\"']?$"
)
"""Before a command that is given, not told of: then plain words behind it are its arguments (`run ./x all`)."""
_SENTENCE = frozenset(word for word, meaning in FOREIGN_WORDS.items() if meaning in ("on", "with", "for", "before"))


def extent(text: str, start: int, limit: int) -> int:
    """End of a command that begins at `start` and is followed by more of the sentence."""
    end, option, first, previous = start, False, True, ""
    spoken = re.match(r"(?:echo|printf)\s", text[start : start + 8]) is not None  # words are what it is given
    told_of = _COMMANDED.search(text[max(0, start - 48) : start]) is None
    signs = parting_signs(line_of(text, start))
    words = WORD.finditer(text, start, limit)
    match, after = next(words, None), next(words, None)
    while match is not None:
        later = next(words, None)
        word = match[0]
        more = after is not None and after[0].startswith("-")
        plain = word.startswith(('"', "'")) or re.fullmatch(r"\.{1,2}[,;]?", word) or (word == ":" and more)
        plain = plain or (word.endswith(("=.", "=..", "/.", "/..")) and after is not None)
        bare = word.rstrip(",;") if plain else word.rstrip(",;").rstrip(".").rstrip(":")
        if not plain and (after is None or not after[0][0].islower()):
            bare = bare.rstrip("?!") or bare  # `could you run ./x?`
        if bare.endswith(")") and "(" not in text[start : match.end()]:
            bare = bare.rstrip(")")  # the sentence's bracket, not the command's
        flag = (
            option and previous.startswith("-") and len(previous) == 2 and bare.lower() in ("on", "at", "with", "using")
        )
        ended = _ends(bare, after) if not option else flag or _begins_an_amount(bare, after, later)
        prose = told_of and not option and re.fullmatch(r"[a-z][a-z'-]*|MPI", bare) is not None
        parts = word in signs or (word.startswith("(") and not option and re.match(r"\([\w~<>=]", word) is not None)
        ended = ended or (option and (bare.lower() in _NO_VALUES or joins_clauses(bare)))
        ended = ended or (word in ("<", ">", ">=", "≤", "≥", "~") and _counts(after, later))
        ended = ended or (not option and not plain and not spoken and _is_of_the_sentence(bare, match, after, limit))
        ended = ended or (not option and bare == word and _tells_what_it_does(word, after))
        if not first and ("\n" in text[end : match.start()] or ended or prose or parts):
            return end
        end = match.start() + len(bare)
        if len(bare) < len(word):
            return end
        if (
            re.fullmatch(r"[a-z]{2,}\.", word)
            and after is not None
            and re.match(
                r"[A-Z]|\d+(?:[.,]\d+)?(?:\s"
                r"|$)",
                text[after.start() :],
            )
        ):
            return end  # `... --cores 24 all. 24 cores.`
        option = (word.startswith("-") and "=" not in word) or word in ("<", ">", ">>", "2>", "|", "&&")
        previous = word
        first, match, after = False, after, later
    return end


def _ends(word: str, after: re.Match[str] | None) -> bool:
    """Whether a word belongs to the sentence and not to the command before it."""
    following = after[0].lower().strip(",.;?!)") if after else ""
    low = word.lower()
    if (word.replace(".", "").isdigit() or low in NUMBER_WORDS) and following in _UNITS:
        return True
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,3})?(?:h(?:\d{1,2}(?:m(?:in)?)?)?|hrs?|min|gb|gib|g|nodes?|x)", low):
        return True
    if following in _UNITS and _BOUNDED.fullmatch(low):
        return True
    if low == "ne" and following in ("doit", "doivent", "peut", "peuvent", "devrait", "faut", "pas"):
        return True
    if low in _OF_FILES and (re.search(r"[./*]", following) or following in _ARTICLES):
        return True  # `./x reads a.dat and writes b.dat`
    if low in ("array", "indices", "members", "seeds") and re.fullmatch(r"\d{1,7}-\d{1,7}(?:[:%]\d+)?", following):
        return True  # `./x array 1-50`
    if following in ("priority", "session", "queue", "partition") and low.isalpha():
        return True  # `./x high priority`
    if low == "to" and following in ("be", "run", "get", "start"):
        return True  # `the program ./x span.dat to be run on`
    if re.fullmatch(r"[a-zäöü]{3,8}mal", low):
        return True  # `zehnmal`
    if low in _DONE and following in _BY:
        return True  # `./x started with 4 nodes`
    return low in KEYWORDS or low in _SENTENCE or low in _VERBS or word in _SIGNS or low == "hybrid"


_BOUNDED = re.compile(r"[~<>=≤≥≈±]{0,2}\d{1,7}(?:[-–x×]\d{1,7})?[+]?")  # noqa: RUF001  # as typed
"""`2-4 nodes`, `>=4 nodes`, `2x4 GPUs`: the number of an amount."""
_REACH = re.compile(
    r"(?i)(?:(?:\d{1,7}|[a-z]{3,9}),[ \t]+){0,6}(?:\d{1,7}|[a-z]{3,9}),?[ \t]+"
    r"(?:to|through|up to|and|or|until|bis|oder|und|à|ou|-|–)[ \t]+"  # noqa: RUF001  # as typed
    r"(?:\d{1,7}|[a-z]{3,9})[ \t]+(?P<unit>[a-z]+)"
)


def _counts(after: re.Match[str] | None, later: re.Match[str] | None) -> bool:
    """`< 4 nodes`: a bound, no file to be read."""
    return after is not None and later is not None and after[0].isdigit() and later[0].lower().strip(",.;") in _UNITS


def _is_of_the_sentence(word: str, match: re.Match[str], after: re.Match[str] | None, limit: int) -> bool:
    """`even if`, `2 to 4 nodes`: a word of a closed class, or the lower end of an amount."""
    if word.isdigit() or word.lower() in NUMBER_WORDS:
        reach = _REACH.match(match.string, match.start(), limit)
        return reach is not None and reach["unit"].lower() in _UNITS
    return is_closed_word(word, after[0] if after else "")


def _tells_what_it_does(word: str, after: re.Match[str] | None) -> bool:
    """`./x simulates 10 years`, `./x costs about 20 euros`: a verb with what it does, not an argument."""
    following = after[0].lower().strip(",.;?!)") if after else ""
    verb = word.endswith("s") and bool({word[:-1].lower(), word[:-2].lower()} & (VERBS | EVERYDAY))
    return verb and (following in _ARTICLES | _ABOUT or following.isdigit() or following in NUMBER_WORDS)


def _begins_an_amount(word: str, after: re.Match[str] | None, later: re.Match[str] | None) -> bool:
    """`--flag on one node`: the word behind an option is a word of the sentence, with an amount behind it."""
    if word.lower() not in _BEFORE_AMOUNT or after is None:
        return False
    count, unit = after[0].lower(), later[0].lower().strip(",.;?!)") if later else ""
    if re.fullmatch(r"\d+(?:\.\d+)?[a-z]+[,.;]?", count):
        return True
    counted = count.isdigit() or count in NUMBER_WORDS or count in _ARTICLES or count in FOREIGN_WORDS
    return counted and (unit in _UNITS or unit in _ADJECTIVES)
