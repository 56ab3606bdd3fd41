"""A command at the end of a request, after its last colon: `2 nodes for 1 hour: lmp -in in.lj`.

The program may be one that nobody knows. With an option, a file or a path behind it, it is a command line; a bare word
is one only where no other rule understands it, and the person is told.
"""

from __future__ import annotations

import re
from itertools import pairwise

from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, NUMBER_WORDS, PADDING
from graph.reading.plain_programs import PLAIN

__all__ = ["INPUT_LABELS", "LABELS", "after_last_colon", "bare_program", "is_command_line"]

_PROGRAM = re.compile(r"[A-Za-z_][\w.+-]*|(?:\.{0,2}|~)/[\w./+-]+")
_SIGN = re.compile(
    r"--?[A-Za-z][\w.-]*(?:=\S*)?|\+[A-Za-z]\w*|(?:\.{0,2}|~)/\S*"
    r"|(?!v?\d+(?:\.\d+)*\.[xX](?!\w))[\w./+-]*[\w]\.[A-Za-z]\w{0,7}|[A-Za-z_]\w*=\S+"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_PROSE = frozenset(
    [
        *("a", "an", "and", "are", "but", "for", "i", "if", "in", "is", "it", "my", "need", "needs", "of", "on", "or"),
        *("our", "please", "that", "the", "then", "they", "this", "to", "we", "when", "which", "with", "would", "you"),
    ]
)
LABELS = frozenset(
    [
        *(
            "account",
            "allocation",
            "app",
            "application",
            "applications",
            "args",
            "arguments",
            "budget",
            "code",
            "contact",
        ),
        *("container", "containers", "data", "deadline", "directory", "env", "environment", "fabric", "file", "files"),
        *("filesystem", "folder", "image", "images", "input", "inputs", "interconnect", "job", "memory", "module"),
        *("modules", "mpi", "name", "needs", "network", "note", "notes", "objective", "options", "output", "outputs"),
        *("package", "packages", "partition", "policy", "priority", "project", "ps", "queue", "re", "requirement"),
        *("requirements", "result", "results", "runtime", "site", "sites", "software", "storage", "subject", "time"),
        *(
            "using",
            "variables",
            "walltime",
            "with",
            "remarks",
            "remark",
            "comments",
            "comment",
            "purpose",
            "user",
            "title",
        ),
        *(
            "description",
            "qos",
            "start",
            "email",
            "mail",
            "fs",
            "network",
            "class",
            "level",
            "type",
            "model",
            "version",
            "licence",
            "licences",
            "license",
            "licenses",
        ),
    ]
)
_FILES = """
    data file files folder in input inputs out output outputs result results image back home daten datei dateien
    eingabe eingaben eingabedatei eingabedateien eingabedaten ausgabe ausgaben ausgabedatei ausgabedateien ergebnis
    ergebnisse ergebnisdatei ergebnisdateien zurück fichier fichiers données entrée entrées d'entrée sortie sorties
    résultat résultats rapatrier récupérer ramener renvoyer abbild
"""
INPUT_LABELS = frozenset(_FILES.split())
"""What stands before a colon with files behind it."""
_NOTHING = frozenset("none nothing na any default unknown normal high low yes no thanks unlimited".split())  # noqa: SIM905
_WORDS = PADDING | FUNCTION_WORDS | KEYWORDS | frozenset(NUMBER_WORDS)


def after_last_colon(text: str) -> tuple[int, int] | None:
    """Where the last line's words after its last colon stand; None where a label or no amount is before it."""
    colons = list(re.finditer(r":[ \t]+(?=\S)|:[ \t]*\n[ \t]*(?=\S)", text))
    if not colons:
        return None
    found = colons[-1]
    before, start, end = text[: found.start()].rstrip(), found.end(), len(text.rstrip())
    last = re.search(r"[\w-]+$", before)
    if "\n" in text[start:end] or (last is not None and last[0].lower() in LABELS):
        return None
    words = {word.lower() for word in re.findall(r"[^\W\d_]+", before)}
    return (start, end) if re.search(r"\d", before) or words & set(NUMBER_WORDS) else None


def is_command_line(body: str) -> bool:
    """A program with at least one argument that only a command has, and no sentence."""
    words = body.split()
    first = words[0] if words else ""
    if not _PROGRAM.fullmatch(first) or first.lower() in _WORDS or ", " in body:
        return False
    if first in PLAIN:
        return len(words) > 1 or first not in ("true", "false")
    rest = [word for word in words[1:] if word not in ("|", "&&", ";", ">", ">>", "<", "2>&1")]
    prose = any(word.lower() in _PROSE and not before.startswith("-") for before, word in pairwise(words))
    return not prose and any(_SIGN.fullmatch(word.strip("\"'")) for word in rest)


def bare_program(body: str) -> bool:
    """One lower-case word that is no word of the language, alone or with numbers behind it."""
    words = body.split()
    if not words or not re.fullmatch(r"[a-z][\w.+-]*[a-z0-9]", words[0]) or words[0] in _WORDS | _NOTHING:
        return False
    return all(_NUMBER.fullmatch(word) for word in words[1:])
