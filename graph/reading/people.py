"""People that a request names beside its work: who is written to, who writes, who is spoken of with a title."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.reading.draft import Draft

__all__ = ["hide_people"]

_NAME = r"[A-ZÀ-Þ][^\W\d_]*[^\W\d_A-Z](?:['’-][^\W\d_]+)*"  # noqa: RUF001  # as typed
_INITIAL = r"(?:[A-ZÀ-Þ]\.[ -]?){1,3}"
_PARTICLE = r"(?:de|den|der|van|von|zu|zum|da|di|do|dos|del|della|la|le|el|al|bin|ibn|ten|ter)"
_NAMES = rf"(?:{_INITIAL} ?)?{_NAME}(?: (?:{_PARTICLE} ){{0,2}}(?:{_INITIAL} ?)?{_NAME}){{0,3}}"
_HONOURED = re.compile(
    r"(?<![\w.-])(?:[Mm]r|[Mm]rs|[Mm]s|[Mm]iss|[Dd]r|[Pp]rof|[Pp]rofessor|[Hh]err|[Ff]rau|[Mm]adame|[Mm]onsieur|Mme|MM?"
    rf"|[Dd]ipl\.?-[Ii]ng)\.?(?: [Dd]r\.?| [Mm]ed\.?){{0,2}} (?:{_INITIAL} ?)?{_NAME}(?: (?:{_PARTICLE} )?{_NAME})?"
)
_WRITTEN_TO = re.compile(
    r"\s*(?:[Dd]ear|[Hh]i|[Hh]ey|[Hh]ello|[Hh]iya|[Aa]hoy|[Hh]allo|[Mm]oin|[Ll]iebe[rs]?|[Bb]onjour|[Ss]alut"
    r"|[Cc]hère?s?"
    rf"|[Gg]uten (?:[Tt]ag|[Mm]orgen|[Aa]bend)|[Gg]ood (?:day|morning|afternoon|evening))(?:,? (?:{_NAME}|(?i:and|&"
    rf"|und|et|all"
    r"|the|our|my|there|again|both|everyone|everybody|together|zusammen|team|teams|folks|friends?|colleagues?"
    r"|support|help"
    r"|desk|helpdesk|hpc|it|computing|computer|cluster|data|archive|service|services|staff|admins?|administrators?"
    r"|operators?"
    r"|operations|centre|center|facility|group|people|sir|sirs|madam|secretary|committee|university|institute|kollegen"
    r"|kolleginnen|à|tous|toutes|équipe|messieurs|mesdames|in|of|at|from))){1,7}[ \t]*[,!:\n]"
)
_INTRODUCED = re.compile(
    rf"(?:(?<=[Mm]y name is )|(?<=[Mm]y name's )|(?<=I am )|(?<=I'm )|(?<=[Mm]yself )){_NAMES}(?=[ ]*[,.;!(\n]| from"
    rf"| and|$)"
    rf"|(?:(?<=[Tt]his is )|(?<=[Hh]ere is )|(?<=[Ii]t's )){_NAMES}(?=,? (?:from|here|speaking|of the|at the)\b)"
)
_OWNER = re.compile(r"['’]s\b")  # noqa: RUF001  # as typed


def hide_people(draft: Draft, sites: Sequence[str]) -> None:
    """Claim names of people, where their title or the words around say that they are such; no site is a person."""
    text = draft.line.text
    known = {site.lower() for site in sites}
    greeting = _WRITTEN_TO.match(text)
    if greeting and not re.search(r"[\d/]", greeting[0]) and not known & set(greeting[0].lower().split()):
        draft.aside_text(*greeting.span())
    for rule in (_HONOURED, _INTRODUCED):
        for match in rule.finditer(text):
            owner = _OWNER.match(text, match.end())
            end = owner.end() if owner else match.end()
            if draft.line.is_open(match.start(), end) and not known & set(match[0].lower().split()):
                draft.aside_text(match.start(), end)
