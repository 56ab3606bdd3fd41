"""How a letter begins and ends: a greeting, and who wrote it. They ask for nothing; who wrote it is told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.reading.bearing import BEARING, LOOSE
from graph.reading.draft import Draft
from graph.reading.lexicon import FUNCTION_WORDS
from graph.reading.ordinary import is_ordinary

__all__ = ["hide_signature"]

_CLOSING = re.compile(
    r"(?i)(?<![\w-])(?:(?:many |kind |best |warm )?(?:thanks|regards)|thank you|thx|cheers|greetings|best|best wishes"
    r"|all the best"
    r"|sincerely|(?:yours|very)? ?(?:faithfully|truly|respectfully|cordially)|yours sincerely|yours|clear skies"
    r"|(?:(?:many|kind|best|warm|friendly|warmest|kindest) )?(?:regards|greetings|wishes"
    r"|thanks)(?: from [^\d\n,]{2,30})?|(?:vielen|besten|herzlichen|lieben|schönen|tausend) dank|danke(?: schön"
    r"| sehr)?|(?:(?:mit )?(?:viele|beste|liebe|freundliche|herzliche|schöne|sonnige|kollegiale)[nrs]? )?gr(?:ü|ue"
    r"|u)(?:ß"
    r"|ss)(?:en?)?(?: (?:aus|von|vom) [^\d\n,]{2,30})?|lg|vg|ta|cheerio|ciao|mvh|bests|hälsningar|saludos|-- ?(?=\n)"
    r"|mfg|merci(?: (?:beaucoup|bien|par avance|mille fois))?|(?:bien |très )?cordialement|cdt|bien à (?:vous|toi)"
    r"|bonne (?:journée|soirée|semaine|fin de journée)|bon week-?end|à bientôt|(?:grosses )?bises"
    r"|amicalement|amitiés|salutations(?: distinguées)?|(?:meilleures|sincères|respectueuses) salutations"
    r"|schönen (?:tag|abend|feierabend)(?: noch)?|schönes wochenende|bis (?:bald|dann)|servus|tschüss|hochachtungsvoll"
    r"|thanking you|(?:with )?(?:friendly|kind|cordial|best|warm|respectful) (?:greetings|regards|salutations)"
    r"|(?:many |kind )?thanks (?:and|with|for) [a-z ,-]{2,40}|have a (?:nice|good|great) (?:day|weekend|week|one))"
    r"(?: a lot| very much| so much| again| in advance| im voraus| d'avance| all| team| and regards| and best wishes"
    r"|,? best(?: regards| wishes)?)*(?:[ \t]*[,.!\n\u2013\u2014-]+\s*"
    r"|(?:(?<=[LVlv][Gg])|(?<=[Mm][Vv][Hh]))[ \t]+)(?=\S)"
)
_COURTESY = re.compile(
    r"(?i)\b(?:thank(?:s|ing)?(?: you)?|regards?|wish(?:es)?|greetings?|gratitude|grateful(?:ly)?|yours|kindly"
    r"|warmly|truly"
    r"|respectful(?:ly)?|sincerely|cordial(?:ly)?|faithfully|best|cheers|skies|luck|love|hugs|help|patience|take care"
    r"|appreciat\w+|bye|gruß|grüße|grüßen|dank|bises|salutations|cordialement|merci|amicalement|amitiés)\b"
)
_FAREWELL = re.compile(
    r"(?:^|[.!?;:)\n])[ \t\n]*(?P<bye>(?=\S)[^.!?;:\d\x00]{2,70}?)[ \t]*"
    r"(?:[,!\n][ \t\n]*(?=[A-ZÀ-Þ])|\.[ \t\n]+(?=[A-ZÀ-Þ][a-z'-]+ [A-ZÀ-Þ][\w'-]+\s*$))"
)
"""A last sentence that says farewell, before the name of who wrote it."""
_SHORT = re.compile(
    r"(?i)(?<![\w-])(?:thanks|thx|cheers|greetings|regards|greets|best|ta|lg|vg|gruß"
    r"|merci)[ ,]+(?P<who>(?-i:[A-ZÀ-Þ][^\W\d_]+"
    r"|[a-z]{1,3}))\W*$"
)
_CALLED = (
    r"(?:kolleginnen und kollegen|kollegen|kolleginnen|collègues|(?:admin|support|hpc)-?team"
    r"|(?:(?:herr|frau|hr\.|fr\.|mr\.?|mrs\.?|ms\.?|m\.|mme|dr\.?|prof\.?) ){0,3}"
    r"(?-i:[A-ZÀ-Þ][^\W\d_A-Z]+(?:[ -][A-ZÀ-Þ][^\W\d_A-Z]+){0,2}))"
)
"""Whom a letter greets: colleagues, or a person by name."""
_GREETING = re.compile(
    r"(?i)\s*(?:guten (?:tag|morgen|abend)|sehr geehrte[^,\n]{0,80}|(?:good )?(?:morning|afternoon|evening)|moin"
    r"|hallo|hello"
    r"|hi|hey|bonjour|bonsoir|dear (?:all|team|colleagues|support(?: team)?|sir or madam|[\w ]{0,24} team"
    r"|admins?|support|helpdesk|sirs?|madam)|respected (?:sirs?|madam|team)|salut|coucou|servus|liebe[rs]?|chère?s?"
    r"|dear"
    r"|grüß gott|grüezi)"
    rf"(?: (?:zusammen|all|everyone|everybody|there|team|folks|à tous|à l'équipe|tout le monde|{_CALLED}))?"
    r"[ \t]*[,!.\n]"
)
_LAST = re.compile(
    r"(?:\n|(?<=[.!?] )(?=(?:Prof|Dr|Dipl)\b))[ \t]*(?P<name>(?:(?:Prof|Dr"
    r"|Dipl)\.? )*[A-ZÀ-Þ][\w.'-]*[a-z]\.?(?:[ ,]+(?:[A-ZÀ-Þ][\w.'-]*|of"
    r"|\d+\.\d+)){0,8})\s*$"
)
"""The last line, or titles behind the last sentence, with names only."""
_VERSIONED = re.compile(r"[A-ZÀ-Þ][\w+-]*(?: [A-Z][\w+-]*)? \d+(?:\.\d+)+")
_WORD = re.compile(r"[^\s,;|()]+")
_PARTICLE = "(?:de|den|der|van|von|zu|zum|da|di|do|dos|del|della|la|le|el|al|bin|ibn|ten|ter|y|e)"
_NAME = r"[A-ZÀ-Þ][\w'\u2019-]+"
_INITIALS = r"(?:[A-ZÀ-Þ]\.[ -]?)*"
_PERSON = re.compile(
    rf"(?:(?:Dr|Prof|Dipl|Ing|Mr|Mrs|Ms)\.?[ -]?)*{_INITIALS}{_NAME}(?: (?:{_PARTICLE} )*{_INITIALS}{_NAME}){{0,3}}"
)
_ABOUT = re.compile(r"[ \t]*[,(/|\u2013\u2014\n-]")
_TITLE = re.compile(
    r"(?i)dr\.?|prof\.?|ph\.?d\.?|msc|bsc|mr\.?|mrs\.?|ms\.?|dipl\.?-?ing\.?|room|raum|building|bldg\.?|geb\.?"
    r"|tel\.?:?|phone:?|fax:?|mobile:?|ext\.?|office|e-?mail:?|dept\.?|department|institute|university|group|lab|of"
    r"|for|and|the|für|und|et|des|de|von|van|der|den|di|la|le|du"
    r"|level|support|team|\d(?:st|nd|rd|th)|-+|–|—|/|&"  # noqa: RUF001
)
_NUMBER = re.compile(r"\+?\(?\d[\d().\-/ ]*")
_PLACE = re.compile(
    r"(?i)(?:room|raum|building|bldg\.?|geb\.?|tel\.?:?|phone:?|fax:?|mobile:?|ext\.?|office|lab"
    r"|laboratory|floor|suite|hall|\+\S*)"
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+|(?:https?://|www\.)[\w./-]+")
_TRADES = frozenset(
    """
    core facility student students project projects computing data science sciences physics biology chemistry system
    systems computer energy water power network security hospital house centre center service services research
    """.split()  # noqa: SIM905
)
"""Words of trades and houses that could ask for something elsewhere."""
_LONGEST = 240


def hide_signature(draft: Draft, sites: Sequence[str]) -> None:
    """Claim the greeting, and a name below (or behind) the closing words where nothing else stands there."""
    text, known = draft.line.text, frozenset(site.lower() for site in sites)
    greeting = _GREETING.match(text)
    if greeting:
        draft.aside_text(*greeting.span())
    for match in _CLOSING.finditer(text):
        tail = text[match.end() :]
        says = text[: match.start()].strip() and not _KEEPS.search(match[0])
        if len(tail) <= _LONGEST and says and _is_signature(tail, known):
            draft.aside_text(match.start(), len(text))
            draft.default(f"{' '.join(tail.split())!r} is taken as who wrote it")
            return
    for match in _FAREWELL.finditer(text):
        tail = text[match.end() :]
        if (
            len(tail) <= _LONGEST
            and _COURTESY.search(match["bye"])
            and not _asks(match["bye"], known)
            and text[: match.start()].strip()
            and _is_signature(tail, known)
        ):
            draft.aside_text(match.start("bye"), len(text))
            draft.default(f"{' '.join(tail.split())!r} is taken as who wrote it")
            return
    short = _SHORT.search(text)
    if short and text[: short.start()].strip() and (short["who"].islower() or _is_signature(short["who"], known)):
        draft.aside_text(short.start(), len(text))
        draft.default(f"{short[0].split()[-1]!r} is taken as who wrote it")
        return
    last = _LAST.search(text)
    if last and _VERSIONED.fullmatch(last["name"]):
        return  # `Blender 4.1`: software
    if last and len(text[: last.start()].split()) > 8 and draft.line.is_open(*last.span("name")):
        draft.aside_text(*last.span("name"))
        draft.default(f"{' '.join(last['name'].split())!r} is taken as who wrote it")


_GIVEN = frozenset("bill will mark grant rob rich frank may april june august art ray pat sue drew dawn eve".split())  # noqa: SIM905
"""Names of people that are words too."""
_WISHES = frozenset(
    """
    for in and with from to so the of on at all again once now day days week weekend night evening morning afternoon
    time
    help much many more very that then out after before year month today soon some or as by your our my good
    """.split()  # noqa: SIM905
)
_KEEPS = re.compile(
    r"(?i)\b(?:keep\w*|avoid\w*|start\w*|run\w*|shar\w+|restart\w*|exclu\w+|not|no|never|only"
    r"|please)\b"
)


def _asks(farewell: str, sites: frozenset[str]) -> bool:
    """Whether a farewell may ask for something (`thanks for keeping it in Norway`)."""
    words = {word.strip(".,").lower() for word in farewell.split()}
    bearing = words & (BEARING - LOOSE - _WISHES)
    return bool(bearing or words & sites or _KEEPS.search(farewell))


def _is_name(word: str) -> bool:
    low = word.lower()
    plain = word[:1].isupper() and (low in _TRADES | _GIVEN or not (low in FUNCTION_WORDS or low in BEARING - LOOSE))
    return plain and re.fullmatch(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", word) is not None  # noqa: RUF001


def _tells_who(word: str) -> bool:
    """Whether a word behind a name can tell what somebody does, or is a letter of a building."""
    return is_ordinary(word) or word in _TRADES or re.fullmatch(r"[A-ZÀ-Þ]", word) is not None


def _is_signature(tail: str, sites: frozenset[str]) -> bool:
    """Whether every word is a name, a title, or a number that stands behind one of an address."""
    numbered = False
    words = _WORD.findall(tail)
    if {word.strip(".:!*_").lower() for word in words} & sites:
        return False
    person = _PERSON.match(tail)
    about = person is not None and _ABOUT.match(tail, person.end()) is not None
    for word in words:
        bare = word.strip(".:!*_")
        if _PLACE.fullmatch(word):
            numbered = True
        elif _NUMBER.fullmatch(word):
            if not numbered and not word.startswith("+"):
                return False
            numbered = True
        elif bare and not (
            _TITLE.fullmatch(word) or _ADDRESS.fullmatch(word) or _is_name(bare) or (about and _tells_who(bare))
        ):
            return False
        else:
            numbered = False
    return 0 < len(words) <= 24
