"""Lines that need a shell although only a part of them looks like a command: `source env.sh && ./x`.

What stands beside a shell's sign belongs to the line. It is never left out: the person is asked to have all of it.
"""

from __future__ import annotations

import re

from graph.reading.lexicon import KEYWORDS, UNIT_WORDS
from graph.reading.separators import line_of, parting_signs

__all__ = ["looks_like_shell", "negated_before", "shell_line"]

_BUILTINS = frozenset(
    [
        *(
            "alias",
            "cd",
            "chmod",
            "conda",
            "cp",
            "curl",
            "echo",
            "eval",
            "exec",
            "export",
            "git",
            "ln",
            "make",
            "mkdir",
        ),
        *("ml", "module", "mv", "pip", "popd", "pushd", "rm", "rsync", "scp", "sed", "setenv", "sleep", "source"),
        *("spack", "sudo", "tar", "touch", "trap", "ulimit", "umask", "unset", "unzip", "wait", "wget"),
    ]
)
"""Words that begin a clause of a shell line."""
_JOINED = re.compile(r"(?:&&|\|\|?|(?<![&\w])&)[ \t]*$")
_LEAD = re.compile(
    r"(?:^|(?<=[ \t]))(?:(?:alias|cd|eval|exec|export|module|ml|setenv|source|sudo|ulimit|unset)"
    r"(?:[ \t]+(?:load[ \t]+)?[\w./=-]+)?|\.)[ \t]+$"
)
_BLOCK = re.compile(
    r"(?:^|(?<=[ \t:;]))(?:(?:for|while|until|if|case)[ \t][^\n]*;[ \t]*(?:do|then)|[({])[ \t][^\n]*$|\((?=cd )"
)
_BLOCK_END = re.compile(r"(?<![\w-])(?:done|fi|esac)(?![\w-])|[)}]")
_JOINS = re.compile(r"[ \t]*(?:&&|\|\|?|>>?|<)[ \t]*\S|[ \t]*&(?=[ \t]*$)")
_VERBS = frozenset("run execute launch start do call submit command cmd".split())  # noqa: SIM905
_LABELS = KEYWORDS | {"arguments", "args", "exe", "program", "command", "cmd"}
_UNITS = UNIT_WORDS | frozenset("h hr hrs min mins s gb gib mb ranks please with for".split())  # noqa: SIM905
_FARTHEST = 2000
"""As far as a line is looked at, in characters on each side of the command."""
_SIGNS = frozenset(("&&", "||", "|", "&", ";"))
_STOP = re.compile(
    r",[ \t]|[ \t]+(?:on|for|with|using|at)[ \t]+(?=\d|an?[ \t]|one\b|two\b|[a-z]+ (?:nodes?|cores?|tasks?))"
)
_NEGATED = re.compile(
    r"(?i)(?<![\w-])(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|cannot|can't|may not|not|without"
    r"|instead of|rather than|avoid)[ \t]+(?:(?:ever|to|please)[ \t]+)?"
    r"(?:run|running|execute|executing|start|starting|launch|launching|use|using|call|calling|submit|submitting)?"
    r"(?:[ \t]+(?:the|my|this))?(?:[ \t]+(?:script|program|command))?[ \t:]*$"
)


def negated_before(text: str, start: int) -> int | None:
    """Where `do not run` begins that stands right before a command; None where nothing says so."""
    first = max(0, start - 60)
    found = _NEGATED.search(text[first:start])
    return None if found is None else first + found.start()


def looks_like_shell(body: str) -> bool:
    """Whether a line has a shell's signs between its words, or begins as only lines of a shell do."""
    words = body.split()
    return bool(words) and (words[0] in _BUILTINS or any(w in _SIGNS or w.endswith(";") for w in words))


def shell_line(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The whole shell line around a command at `start`, where more than the command belongs to it; else None."""
    line = max(text.rfind("\n", 0, start) + 1, start - _FARTHEST)
    before = text[line:start]
    signs = parting_signs(line_of(text, start))
    left, block = start, _BLOCK.search(before)
    clauses = before.rstrip().removesuffix(";")
    goes_on = clauses != before.rstrip() and _is_clause(clauses[_left(clauses) :])
    if block is not None:
        left = line + block.start()
    elif _joined(_JOINED.search(before), signs) or goes_on:
        left = line + _left(before)
    elif led := _LEAD.search(before):
        left = line + led.start()
    elif line and not before.strip():
        above = text.rfind("\n", 0, line - 1) + 1
        if text[above : line - 1].split()[:1] and text[above : line - 1].split()[0] in _BUILTINS:
            left = above
    right = end
    stop = text.find("\n", end)
    rest = text[end : min(end + _FARTHEST, len(text) if stop < 0 else stop)]
    closed = _BLOCK_END.search(rest) if block is not None else None
    after = re.match(r"[ \t]*;[ \t]*(?P<clause>[^;,\n]+)", rest)
    if closed is not None:
        right = end + closed.end()
    elif _joined(_JOINS.match(rest), signs) or (after is not None and _is_clause(after["clause"])):
        found = _STOP.search(rest)
        right = end + len((rest[: found.start()] if found else rest).rstrip())
    return (left, right) if left < start or right > end else None


def _joined(found: re.Match[str] | None, signs: frozenset[str]) -> bool:
    """Whether a shell's sign joins the command to more, and does not only part the items of a request."""
    sign = re.search(r"[|&<>]+", found[0]) if found else None
    return sign is not None and sign[0] not in signs


def _is_clause(clause: str) -> bool:
    """Whether words between semicolons are for a shell, and no part of a sentence."""
    words = clause.split(";")[-1].lstrip(" \t({").split()
    label = re.match(r"[a-z]+(?==)", words[0]) if words else None
    if label is not None and label[0] in _LABELS:
        return False  # `./x; nodes=2`
    return bool(words) and (
        words[0] in _BUILTINS or bool(re.fullmatch(r"\.|[A-Za-z_]\w*=\S*|(?:\.{1,2}|~)?/\S+", words[0]))
    )


def _left(before: str) -> int:
    """Where a shell line begins that ends a stretch of words: after `run`, a colon, a comma, or a unit."""
    left = len(before)
    for word in reversed(list(re.finditer(r"\S+", before))):
        bare = word[0].rstrip(";").lower()
        empty = before[left:].split()[:1] and before[left:].split()[0] in _SIGNS
        if word[0] not in _SIGNS and (word[0].endswith((":", ",")) or (bare in _VERBS | _UNITS and not empty)):
            break
        left = word.start()
    return left
