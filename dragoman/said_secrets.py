"""Secrets that are told in words: `the password is hunter2`, `with HF_TOKEN abc123`, `login bob:hunter2`. Pure.

A sentence marks no value, so one is taken for a secret by what stands before it and, where no verb leads to it, by its
letters and digits. `the token is missing` and `HF_TOKEN is set` tell none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["hide_said", "said_secrets"]

_GAP = r"[ \t]{1,3}"
_NAME = r"(?P<name>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+){1,8})"
_ENDS = r"\.?(?![^\s,;])"
_MIXED = r"(?=[^\s,;]*\d)(?=[^\s,;]*[A-Za-z])"
_WORD = (
    r"(?:passwords?|passwd|passphrase|passcode|passwort|kennwort|mot de passe|mdp|contraseña|contrasena|wachtwoord|pw)"
)
_SERVICE = (
    r"(?:wandb|weights (?:and|&) biases|hf|hugging ?face|open ?ai|anthropic|kaggle|comet|neptune|aws|azure|gcp|git ?hub"
    r"|git ?lab|slack|ngc|nvidia|ncbi|s3|db|database|registry|docker|vault|mlflow|clearml|licen[cs]e)"
)
_KEY = (
    r"(?:(?:api|access|auth|bearer|secret|private|license|account)[ \t\-]?(?:tokens?|keys?)|apikey|token|secret|pwd"
    rf"|credentials?|creds|zugangstoken|clé d'api|jeton|pin"
    rf"|{_SERVICE}[ \t](?:api[ \t])?(?:key|token|secret|pass|pw|login)"
    rf"|(?:key|pass)(?={_GAP}(?:for|of|to|für|pour){_GAP}(?:(?:the|my|our|das|den|le|la){_GAP})?{_SERVICE}\b))"
)
_FOR = rf"(?:{_GAP}(?:for|of|to|für|von|zu|pour|de){_GAP}(?:(?:the|my|our|das|den|le|la){_GAP})?[\w.\-]{{1,64}})?"
_BE = (
    rf"(?:{_GAP}(?:variable|value|env var|wert)){{0,2}}"
    rf"(?:[ \t]{{0,3}}[:=]|{_GAP}(?:is|ist|est|lautet|should be|must be|shall be|will be|soll|doit être|equals"
    rf"|(?:set|equal|changed){_GAP}to)"
    rf"|{_GAP}(?:to|as|auf|à)"
    rf"(?:{_GAP}(?:set to|now|sein))?)"
)
_NO_FILE = r"(?![^\s,;]*\.(?:py|sh|txt|json|ya?ml|csv|h5|gz|sif|exe|out|log|env|toml|r|jl|ipynb)\b)"
_OTHER = (
    r"(?!\*\*\*|[$<{(\[~/]|\.{1,2}/|(?:not|no|required|needed|wrong|expired|set|kept|asked|stored|missing|in|on|at"
    r"|from|"
    r"the|a|an|my|our|for|of|to|as|already|still|also|only|and|or|given|invalid|correct(?=\W*$)|incorrect|valid|unset|"
    r"empty|available|optional|there|here|be|by|with|found|read|used|taken|exported|defined|passed|none|null|true"
    r"|false|"
    r"nicht|kein|keine|noch|schon|im|in|der|die|das|pas|dans|un|une|obligatoire|requis|nötig|gesetzt|falsch|protected|"
    r"you|it|we|this|that|too|very|about|up|being|expected|secret|hidden|safe|unknown|stale|old|new)\b)"
)
_TOLD = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        # a password, with a verb: any word
        rf"(?<![\w./\-])(?:{_WORD}|pwd){_FOR}{_BE}{_GAP}{_OTHER}(?P<value>[^\s,;]{{4,}})",
        # a name and the password behind it
        rf"(?<![\w./\-])(?:(?:{_WORD}|credentials?|creds|login|log{_GAP}in)(?:{_GAP}(?:is|are|ist|est|as|with|mit"
        rf"|als))?"
        rf"[ \t]{{0,3}}:?{_GAP}[A-Za-z][\w.\-]{{0,63}}(?:[:/]|[ \t][:/][ \t])"
        rf"|(?:user|benutzer){_GAP}[A-Za-z][\w.\-]{{0,63}}:)"
        rf"(?=[^\s,;/]*\d)(?=[^\s,;/]*[A-Za-z])(?P<value>[^\s,;/.@]{{6,}}){_ENDS}",
        rf"(?<![\w./\-])log(?:{_GAP})?in{_GAP}(?:as|with|for){_GAP}[A-Za-z][\w.\-]{{0,63}}{_GAP}"
        rf"(?:with|using|and|by){_GAP}{_MIXED}(?P<value>[^\s,;/.]{{6,}}){_ENDS}",
        rf"(?<![\w./\-])(?!passwd){_WORD}{_GAP}{_MIXED}(?P<value>[^\s,;/.]{{6,}}){_ENDS}",
        # a token or key
        rf"(?<![\w./\-]){_KEY}{_FOR}{_BE}{_GAP}{_OTHER}{_MIXED}(?P<value>[^\s,;/.]{{6,}}){_ENDS}",
        rf"(?<![\w./\-])(?:my|our|the|mein|das|le|ma|mon){_GAP}(?:\w+{_GAP}){{0,2}}{_KEY}{_FOR}{_GAP}"
        rf"(?:is|ist|est|lautet|should be|must be){_GAP}{_OTHER}"
        rf"(?P<value>[A-Za-z][\w\-]{{5,}})(?=\.?(?:[,;]|\s*$)|\.\s)",
        rf"(?<![\w./\-])(?:(?:api|access|auth|bearer|secret)[ \t\-]?(?:token|key)|apikey|{_SERVICE}[ \t](?:key|token)"
        r"|(?:(?<=with )|(?<=use )|(?<=using )|(?<=my ))(?:token|pass|pin))"
        rf"{_GAP}(?![A-Za-z][\w.\-]*:\d{{1,5}}(?!\w)){_MIXED}(?P<value>[^\s,;/.]{{8,}}){_ENDS}",
    )
)
_NAMED = tuple(
    re.compile(rule)
    for rule in (
        rf"(?<![\w./\-$={{]){_NAME}{_BE}{_GAP}{_OTHER}(?P<value>[^\s,;]{{4,}})"
        r"(?=\.?(?:[,;]|\s*$|\s+(?:and|on|for|und|auf|then)\b)|\.\s)",
        rf"(?<![\w./\-$={{]){_NAME}{_BE}{_GAP}{_OTHER}{_MIXED}{_NO_FILE}(?P<value>[^\s,;>|]{{6,}})",
        # no verb, and no option of a launcher that passes the variable on
        r"(?:^|(?<=[,;:.(])[ \t]*|\b(?:with|using|uses?|set|my|the|our|and|has|given|takes?|through|by|variable|env"
        rf"|environment|mit|avec|login|log in){_GAP}){_NAME}(?:{_GAP}(?:variable|value))?{_GAP}{_OTHER}"
        rf"(?!python|perl|node|bash|cuda|gcc){_MIXED}{_NO_FILE}(?P<value>[^\s,;>|]{{6,}})",
    )
)
"""The same with the variable's own name before."""
_PHRASE = re.compile(
    rf"(?<![\w./\-]){_WORD}{_FOR}(?:[ \t]?:|{_GAP}(?:is|ist|est|lautet)){_GAP}{_OTHER}"
    r"(?P<value>[a-z]\w{2,}(?:[ \t]{1,3}(?!(?:for|of|on|in|at|with|to|by|is|was|and|or|the|a|an|from|as|not|use|using|"
    r"please|per|für|auf|mit|und|sur|avec|et|then|nodes?|hours?|user|login|must|has|failed|was|does)\b)"
    r"[A-Za-z]\w{2,}(?![\w:=/(.]*[:=/(])){2,7})",
    re.IGNORECASE,
)
"""A password of several words."""


def said_secrets(text: str, is_secret: Callable[[str], bool]) -> list[tuple[int, int, int]]:
    """Where secrets are told, in order: the begin of the words about each, of its value, and the end."""
    found: list[tuple[int, int, int]] = []
    for rule in (_PHRASE, *_TOLD, *_NAMED):
        for match in rule.finditer(text):
            if "name" in rule.groupindex and not is_secret(match["name"]):
                continue
            place = (match.start(), *match.span("value"))
            if match["value"].endswith("ed") and match["value"].isalpha():
                continue  # `is exported`
            if all(place[2] <= one[1] or one[2] <= place[1] for one in found):
                found.append(place)
    return sorted(found, key=lambda place: place[1])


def hide_said(text: str, hidden: str, is_secret: Callable[[str], bool]) -> str:
    """Hide the values of secrets that are told in words."""
    pieces: list[str] = []
    position = 0
    for _, start, end in said_secrets(text, is_secret):
        value = text[start:end]
        tail = value[len(value.rstrip(".")) :]
        if value.strip("\"'`.") != hidden:
            pieces += (text[position:start], hidden, tail)
            position = end
    return "".join(pieces) + text[position:]
