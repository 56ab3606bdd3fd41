"""People that a request names beside its work: who is written to, who writes, who is spoken of with a title."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["hide_people"]

_NAME = r"[A-Z][^\W\d_]*[^\W\d_A-Z](?:['’-][^\W\d_]+)*"  # noqa: RUF001  # as typed
_INITIAL = r"(?:[A-Z]\.[ -]?){1,3}"
_PARTICLE = r"(?:de|den|der|van|von|zu|zum|da|di|do|dos|del|della|la|le|el|al|bin|ibn|ten|ter)"
_NAMES = rf"(?:{_INITIAL} ?)?{_NAME}(?: (?:{_PARTICLE} ){{0,2}}(?:{_INITIAL} ?)?{_NAME}){{0,3}}"
_HONOURED = re.compile(
    r"(?<![\w.-])(?:[Mm]r|[Mm]rs|[Mm]s|[Mm]iss|[Dd]r|[Pp]rof|[Pp]rofessor|[Hh]err|[Ff]rau|[Mm]adame|[Mm]onsieur|Mme|MM?"
    rf"|[Dd]ipl\.?-[Ii]ng)\.?(?: [Dd]r\.?| [Mm]ed\.?){{0,2}} (?:{_INITIAL} ?)?{_NAME}(?: (?:{_PARTICLE} )?{_NAME})?"
)
_WRITTEN_TO = re.compile(
    r"\s*(?:[Dd]ear|[Hh]i|[Hh]ey|[Hh]ello|[Hh]iya|[Hh]allo|[Mm]oin|[Ll]iebe[rs]?|[Bb]onjour|[Ss]alut|[Cc]hère?s?"
    r"|[Gg]uten \w+"
    rf"|[Gg]ood \w+)(?: (?:and|&|und|et|all|the|our|my|,)| {_NAME}| [a-z]+){{1,6}}?[ \t]*[,!:\n]"
)
_INTRODUCED = re.compile(
    rf"(?:(?<=[Mm]y name is )|(?<=[Mm]y name's )|(?<=I am )|(?<=I'm )|(?<=[Mm]yself )){_NAMES}(?=[ ]*[,.;!(\n]| from"
    rf"| and|$)"
    rf"|(?:(?<=[Tt]his is )|(?<=[Hh]ere is )|(?<=[Ii]t's )){_NAMES}(?=,? (?:from|here|speaking|of the|at the)\b)"
)
_OWNER = re.compile(r"['’]s\b")  # noqa: RUF001  # as typed


def hide_people(draft: Draft) -> None:
    """Claim names of people, where their title or the words around say that they are such."""
    text = draft.line.text
    greeting = _WRITTEN_TO.match(text)
    if greeting and not re.search(r"[\d/]", greeting[0]):
        draft.aside_text(*greeting.span())
    for rule in (_HONOURED, _INTRODUCED):
        for match in rule.finditer(text):
            owner = _OWNER.match(text, match.end())
            end = owner.end() if owner else match.end()
            if draft.line.is_open(match.start(), end):
                draft.aside_text(match.start(), end)
