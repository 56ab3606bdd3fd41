"""Environment variables of the job; values that look secret are separated out and only their key stays."""

from __future__ import annotations

import re

from dragoman.request import EnvironmentVariable
from dragoman.secrets import is_secret_name, is_secret_value
from graph.reading.draft import Draft
from graph.reading.lexicon import KEYWORDS

__all__ = ["read_environment", "variable"]

RULE = (
    r"(?<![\w/.-])(?:(?:with|and|set|setting|export|env|environment|variables?|having|using):? (?:the )?"
    r"(?:environment |env )?(?:variables? )?)?"
    r"(?P<name>[a-z_][a-z0-9_]{0,120}) ?= ?"
    r"(?P<value>(?:\"[^\"\x00]{0,4096}\"|'[^'\x00]{0,4096}'){1,16}|(?![\"'](?:[\s,;]|$))[^\s,;\x00]{1,4096})"
)


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
"""A piece of a value; a shell joins those that stand together (`'it''s'`)."""
_NAMED = re.compile(r"\b(?:export|env|environment|variables?|set|setting)\b")
_SET_TO = (
    r"(?<![\w/.-])(?:set |with |and |having |export ){1,2}(?:the )?(?:variables? |environment variables? )?"
    r"(?P<name>[a-z][a-z0-9]*_[a-z0-9_]{1,120}) (?:set )?to "
    r"(?P<value>\"[^\"\x00]{0,4096}\"|'[^'\x00]{0,4096}'|[^\s,;\x00]{1,4096})"
)
_VALUE = r"(?P<value>\"[^\"\x00]{0,4096}\"|'[^'\x00]{0,4096}'|[^\s,;\x00]{1,4096})"
_VARIABLE = r"(?:the )?(?:environment |env )?variables? "
_MUST = r"(?:must|should|shall|has to|have to|needs? to|is to|ought to)"
HAS_VALUE = (
    rf"(?<![\w/.-])(?P<lead>{_VARIABLE})?(?P<name>[a-z_][a-z0-9_]{{1,120}}) (?:{_MUST} (?:be set to|be"
    rf"|have the value|equal|get)"
    rf"|(?:needs|gets|with|has) the value(?: of)?|(?:is )?set to) {_VALUE}"
)
SET_VARIABLE = (
    rf"(?<![\w/.-])(?:set|setting|put|give|with|export) (?P<lead>{_VARIABLE})(?P<name>[a-z_][a-z0-9_]{{1,120}})"
    rf" (?:(?:set )?to|as|the value) {_VALUE}"
)
_SUPPOSED = re.compile(
    r"(?<![\w-])(?:if|when|unless|whether|not|never|[a-z]*n't|was|were|had|until"
    r"|once)(?: [^\s.,;:]+){0,4} $"
)
_NO_VALUE = re.compile(
    r"(?:the|an?|as|not|no|at|to|in|on|for|its|their|our|my|your|whatever|something|anything|any|set|used|defined"
    r"|there|present"
    r"|exported|passed|kept|given|available|equal|larger|smaller|higher|lower|more|less|either|one|exactly|up)\.?"
)
_VARIABLE_IS = (
    r"(?<![\w/.-])(?:set |with |and |having |export |the |an? )*(?:environment |env )?variable [\"'`]?"
    r"(?P<name>[a-z_][a-z0-9_]{0,120})[\"'`]?(?:,? (?:which |that )?(?:is|has|must|should|needs|to|be|shall|gets"
    r"|being)){0,5}"
    r" (?:(?:set|equal|put|changed|pointing|points?) to|=|to(?! be)|(?:with )?the value(?: of)?|equals)"
    r" (?P<value>[^\s,;\x00]{1,4096})"
)
_LETTER = r"(?<![\w./-])(?P<name>[a-z]) ?= ?(?P<value>\d[^\s,;\x00]{0,64})"


def variable(secrets: dict[str, str], name: str, value: str) -> EnvironmentVariable:
    """One variable; a secret value goes to `secrets` under the variable's name and is referred to by it.

    Another value of the same variable gets a key of its own: every value that was seen has to be known, to be hidden.
    """
    if is_secret_name(name, value) or is_secret_value(value):
        key, number = name, 1
        while secrets.get(key, value) != value:
            number += 1
            key = f"{name[:60]}.{number}"
        secrets[key] = value
        return EnvironmentVariable(name=name, secret=key)
    return EnvironmentVariable(name=name, value=value)


def read_environment(draft: Draft) -> None:
    """Find `NAME=value` with a name in capitals, or a secret-looking one."""
    found = [each for rule in (_SET_TO, SET_VARIABLE, HAS_VALUE) for each in draft.line.find(rule)]
    for match in sorted(found, key=lambda each: each.start()):
        if "\x00" not in draft.line.open[slice(*match.span())]:
            _in_words(draft, match)
    last = 0
    for match in draft.line.find(_VARIABLE_IS):
        name = draft.line.words(*match.span("name"))
        if name.isupper():
            value = draft.line.words(*match.span("value")).rstrip(".:")
            draft.add("environment", variable(draft.secrets, name, value), *match.span())
    for match in draft.line.find(RULE):
        name = draft.line.words(*match.span("name"))
        if not (name.isupper() or is_secret_name(name)) or name.isdigit():
            continue
        value = draft.line.words(*match.span("value")).rstrip(".:")
        said = _NAMED.search(match[0][: match.start("name") - match.start()]) is not None
        if name.lower() in KEYWORDS and " " in draft.line.norm[match.end("name") : match.start("value")] and not said:
            continue  # `memory for each GPU = 60 GB`
        listed = last and re.fullmatch(r"[ ,;]*(?:and )?", draft.line.norm[last : match.start("name")])
        if len(name) == 1 and not said and not listed:
            continue
        if not _QUOTED.sub("", value):
            value = "".join(piece[1:-1] for piece in _QUOTED.findall(value))
        draft.add("environment", variable(draft.secrets, name, value), *match.span())
        last = match.end()
    for match in draft.line.find(_LETTER):
        # `N=2, t=2h`: whose letters these are is not said.
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())


def _in_words(draft: Draft, match: re.Match[str]) -> None:
    """`the environment variable SEED has to be set to 17`."""
    name, value = draft.line.words(*match.span("name")), draft.line.words(*match.span("value")).rstrip(".:!?)")
    if (
        not name.isupper()
        or not (match.groupdict().get("lead") or "_" in name)
        or not value
        or _NO_VALUE.fullmatch(value.lower())
    ):
        return
    if _SUPPOSED.search(draft.line.norm[max(0, match.start() - 60) : match.start()]):
        return
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        value = value[1:-1]
    draft.add("environment", variable(draft.secrets, name, value), *match.span())
