"""Arguments that stand behind a command in words: `./x with args --lr 0.1`, `./sim, called with -v 3`."""

from __future__ import annotations

import re

from graph.reading.extent import extent
from graph.reading.find_commands import SHELL_SIGN, Found
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS

__all__ = ["with_arguments", "with_interpreter"]

_NOUN = (
    r"(?:(?:command[- ]line |cmd |input |additional |extra |following )?"
    r"(?:args?|arguments?|parameters?|options?|flags?|switch(?:es)?)(?!\w))"
)
_HANDED = (
    r"(?:and|with|using|taking|gets|takes|giving(?: it)?|passing(?: it)?|plus|given|called with|started with|run with) "
)
_CALLED = r"(?:and|to be|is|being|gets?|called|invoked|started|launched|run|executed|used|passed|given|with)"
_ARGUMENTS = re.compile(
    r"(?i),?[ \t]+\(?(?:"
    rf"(?:{_HANDED})+(?:the |its |these |this )?{_NOUN}[ \t]*:?[ \t]*"
    r"|(?:mit|avec) (?:den |dem |les |l'|des )?(?:argument(?:en|s)?|parametern?|optionen|options?|paramètres?)"
    r"(?!\w)[ \t]*:?[ \t]*"
    rf"|{_NOUN}[ \t]*[:=]?[ \t]*(?=-)"
    rf"|(?:{_CALLED}[ \t]+)+(?:with |using |as )?(?=--?[A-Za-z])"
    r")(?=\S)"
)
_MORE = re.compile(r"(?:,|[ \t]+and|,[ \t]*and)[ \t]+(?=--?[A-Za-z])")
_REFERRING = frozenset("is are has have that which below above attached to be not like per".split())  # noqa: SIM905
_NO_ARGUMENTS = KEYWORDS | FUNCTION_WORDS | _REFERRING


def with_arguments(text: str, item: Found) -> Found:
    """The command with the arguments that words behind it add, up to the next word of the sentence."""
    body, told = item.body, None
    if SHELL_SIGN.search(body):
        return item
    if item.start == item.inner:
        told = re.search(r"(?i)[ \t]+(?:called|invoked|started|launched|used)$", body)
        body = body[: told.start()] if told else body
    named = _ARGUMENTS.match(text, item.start + len(body) if told else item.end)
    if named is None:
        return item
    quoted = re.match(r"([`\"'])(?P<words>[^`\"'\n]+)\1", text[named.end() :])
    if quoted is not None:
        return Found(item.start, named.end() + quoted.end(), item.inner, f"{body} {quoted['words']}")
    stop = text.find("\n", named.end())
    limit = len(text) if stop < 0 else stop
    end = extent(text, named.end(), limit)
    added = [text[named.end() : end]]
    options = added[0].startswith("-")
    while options and (more := _MORE.match(text, end)) is not None:
        end = extent(text, more.end(), limit)
        added.append(text[more.end() : end])
    words = re.sub(r",?[ \t]+and[ \t]+(?=--?[A-Za-z])", " ", " ".join(added))
    if not words.strip() or SHELL_SIGN.search(words) or words.split()[0].lower() in _NO_ARGUMENTS:
        return item
    if text[end : end + 1] == "," and not options and not _ends_here(text, end, words):
        return item
    return Found(item.start, end, item.inner, f"{body} {words}")


def _ends_here(text: str, end: int, words: str) -> bool:
    """Whether the comma behind plain arguments parts them from the next item, and no list of them goes on."""
    following = [word.lower().strip(",;.") for word in text[end + 1 :].split()[:2]]
    if not following:
        return True
    if not re.search(r"[./=\d]", words) and len(words.split()) < 2:  # one plain word
        return False
    first, second = following[0], following[-1]
    return first in KEYWORDS or (first[0].isdigit() and (not first.isdigit() or second in KEYWORDS))


_INTERPRETED = re.compile(
    r"(?i)(?<![\w-])(?P<by>python[23]?|julia|perl|ruby|bash|rscript|r)[ -](?:script|program|file|code)(?: file)?"
    r"(?: is| called| named)*[ \t]+[`\"']?$"
)
_WRITTEN_IN = {".py": "python", ".jl": "julia", ".pl": "perl", ".rb": "ruby", ".sh": "bash", ".r": "r"}


def with_interpreter(text: str, item: Found) -> Found:
    """`a python script called predict.py`: what runs it stands before its name."""
    said = _INTERPRETED.search(text[max(0, item.inner - 48) : item.inner])
    first = item.body.split()[0] if item.body.split() else ""
    ending = re.search(r"\.\w+$", first)
    if said is None or ending is None or "/" in first:
        return item
    language = "r" if said["by"].lower() == "rscript" else said["by"].lower().rstrip("23")
    if _WRITTEN_IN.get(ending[0].lower()) != language:
        return item
    by = "Rscript" if language == "r" else said["by"].lower()
    return Found(item.start, item.end, item.inner, f"{by} {item.body}", item.named)
