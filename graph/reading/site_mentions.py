"""Sites of the fleet wherever their names stand: wanted, refused, or asked about where words can turn them round."""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import KEYWORDS, PADDING
from graph.reading.past import was_so
from graph.reading.reading import Option
from graph.reading.verbs import VERBS

__all__ = ["read_mentions"]

KNOWN = (
    r"(?<![\w./@-])(?:(?:only |not |nor |never )?(?:at|on|to|use|using|with|from|in) |not |no |nor |never "
    r"|only )?(?:the )?(?P<name>%s)(?![\w/@-]|\.\w)"
    r"(?P<out>(?: is| are)? (?:out of the question|not (?:an option|possible|allowed)|excluded|off limits|ruled out"
    r"|forbidden|taboo|not wanted|to be avoided|no good)| only)?"
)
_DATA = re.compile(
    r"(?:\b(?:data|datasets?|inputs?|input data|files?|results?|checkpoints?|stored|lies?|lying|located|kept"
    r"|resides?|sits?"
    r"|lives?)"
    r"|\d ?[kmgtp]i?b)(?: of (?:input )?data)?(?: is| are)? $"
)
_TOLD_OF = re.compile(
    r"(?<![\w-])(?:used to|was|were|ran|tested|benchmarked|compared?|compare|if|unless|moved?|(?:is|are) (?:down"
    r"|full|busy"
    r"|broken|closed))(?![\w-])"
)
"""Words of sentences that tell of a site, or name a condition, and ask for nothing yet."""
_CALLED = re.compile(
    r"(?<![\w-])(?!(?:sites?|clusters?|machines?|systems?|supercomputers?|one|computers?"
    r"|places?)(?![\w-]))[a-z]+(?: (?:is|are|was|we))?"
    r" (?:called|named) $"
)
"""Before a name that something else has."""
_PLACE = r"(?:at|on|to|in|from|auf|sur|with|using|use|bei|site|cluster|the|be|run)"
_INSTEAD = re.compile(
    rf"(?<![\w-])(?:instead of|rather than|in place of|no longer|statt|anstatt|anstelle(?: von)?|plut\u00f4t (?:que"
    rf"|than)|au lieu de"
    rf"|at lieu of|not|in preference to|over)(?: {_PLACE})*[ ,]*$"
)
"""Between two sites: the first is wanted, the second is not."""
_REFUSED = re.compile(
    r"(?:(?<![\w-])(?:not|never|except(?: for)?|excluding|exclude|avoid(?:ing)?|other than|apart from|aside from"
    r"|away from"
    r"|far from|outside(?: of)?|instead of|rather than|anstatt|statt|sauf|jamais|\u00e9viter|au\u00dfer"
    r"|(?:any|every|all)(?:thing|where|body| sites?| machines?| clusters?| places?)?(?: \w+){0,2} but|wherever but)"
    rf"(?: {_PLACE})*[ ,:]*|(?:!=|<>|\u2260|[!~])[ ]?)$"
)
_TURNS = re.compile(
    r"(?<![\w-])(?:not|no|none|nobody|never|\w+n't|do not|cannot|without|avoid\w*|away|apart|aside|besides|except\w*"
    r"|but"
    r"|exclud\w+|ruled|forbid\w*|forbidden|unless|instead|other than|rather|elsewhere|leave|skip|spare|stop|refus\w+"
    r"|lieu"
    r"|last (?:choice|resort|option)|worst|out|off|dislike|hate|against|neither|nor|anything but|anywhere but|outside"
    r"|blacklist\w*|disallow\w*|ignore|drop|boycott|replace|forget|too|geht nicht|blo\u00df|keinesfalls|statt"
    r"|anstatt|au\u00dfer"
    r"|meide\w*|sauf|jamais|\u00e9vite\w*|partout|plut\u00f4t|prefer\w*|if you can|far|less|fewer|everything|everywhere"
    r"|every|->)(?![\w-])"
)
"""Words beside a site that can mean the opposite; where no rule has read them, it is asked."""
_NOWHERE_BUT = re.compile(
    r"(?<![\w-])(?:nowhere|no(?: other)? (?:sites?|places?|machines?|clusters?)|nothing|none)(?: else)? but"
    rf"(?: {_PLACE})*[ ,]*$"
)
_RUN_NOT = re.compile(
    r"(?<![\w-])(?:(?:must|may|should|shall|can|will|do|does|is|are)(?: not|n't)|cannot|can't|won't|mustn't|shouldn't"
    r"|never|not)(?: (?:to|be|ever|please|under any circumstances)){0,3} (?:run|sen[dt]|submit(?:ted)?|go|execut\w+"
    r"|placed?|start(?:ed)?|land|launch(?:ed)?|scheduled?|happen|take place|calculated?|computed?|brought|moved?|work)"
    r"(?: (?:it|this|that|them|anything|(?:this|the|my|our) (?:jobs?|runs?|work|data)))?[\x00 ]*$"
    r"|(?<![\w-])(?:don't|do not|never|must not|should not|cannot|can't|may not)[ ]?\x00[\x00 ]*$"
)
_IS = re.compile(
    r" ?(?:(?:is|are|was|were|would|will|should|shall|must|can|cannot|can't|isn't|won't|has|have|seems)\b"
    r"|[:=-]+ ?(?:no|not"
    r"|never|nein|non|nope)\b)"
)
_DO_NOT_RUN = re.compile(
    r"(?<![\w-])(?:don't|do not|never|please don't) (?:ever )?(?:run|start|submit|send|launch|execute|put"
    r"|place)\b[^;!?]{0,60}$"
)
_SURELY = re.compile(r"(?<![\w-])(?:must|has to|have to|needs to|only|please run|has got to)(?: [\w\x00]+){0,4} ?$")
_NEAR = re.compile(r"([^\s\x00,.;!?()]+)[ :]*$")
_PLACES = ("centre", "centres", "center", "centers", "facility", "facilities", "systems", "locations", "hosts")
_KNOWN_WORDS = PADDING | EVERYDAY | VERBS | KEYWORDS | frozenset(_PLACES)


def read_mentions(draft: Draft, known: dict[str, str]) -> None:
    """State or ask about each site of the fleet by the words around its name, in the order of the text."""
    found = sorted(
        ((match.start(), key, match) for key in known for match in draft.line.find(KNOWN % re.escape(key))), key=_place
    )
    sure = {
        known[key] for _, key, one in found if _SURELY.search(draft.line.open[max(0, one.start() - 60) : one.start()])
    }
    past = [one for _, _, one in found if was_so(draft.line.norm, *one.span())]
    stated = {site.lower() for field in ("sites", "sites_not") for site in draft.fields.get(field, ())}
    now = stated | {key for _, key, one in found if one not in past}
    for _, key, one in found:
        if one in past and key in now:
            draft.line.claim(*one.span())  # `I had trouble at titan`, and what is wanted is said elsewhere
    found = [each for each in found if each[2] not in past or each[1] not in now]
    last: tuple[int, str] | None = None
    for index, (_, key, match) in enumerate(found):
        site, between = known[key], ""
        if last is not None and last[0] <= match.start() and match.start() - last[0] <= 120:
            between = draft.line.norm[last[0] : match.start()]
        following = found[index + 1][2] if index + 1 < len(found) else None
        how = _how(draft, match, between, last[1] if last and between else "", site in sure)
        if how == "wanted" and following is not None and _is_corrected(draft, match, following):
            draft.default(f"not {site}: what is said after it counts")
            draft.line.claim(*match.span())
            continue
        if re.fullmatch(r" ?(?:,|,? or|,? and|/|nor) ?", between) or (between and _INSTEAD.search(between)):
            draft.line.claim(match.start() - len(between), match.start())
        _state(draft, match, site, how)
        last = match.end(), how


def _how(draft: Draft, match: re.Match[str], between: str, before_it: str, sure: bool) -> str:  # told by the text
    """`wanted`, `refused`, or what is to be asked: `data`, `turned`, `told`."""
    lead = draft.line.norm[max(0, match.start() - 60) : match.start()]
    behind_a_file = lead.endswith("(") and draft.line.follows_claimed(match.start() - 1)
    if behind_a_file or (match[0].startswith(("at ", "on ", "in ", "from ")) and _DATA.search(lead[-40:])):
        return "data"
    if match[0].startswith("from ") and lead.endswith(("far ", "away ", "apart ", "aside ")):
        return "refused"
    if match[0].startswith(("not ", "no ", "nor ", "never ")) or match["out"] not in (None, " only"):
        return "refused"
    if re.fullmatch(r",? (?:or|and|nor) ?|/", between) and before_it in ("refused", "wanted"):
        return before_it
    if before_it == "turned" and re.fullmatch(r",? (?:or|and|nor) ?|/|, ?", between):
        return before_it
    if _NOWHERE_BUT.search(lead):
        return "wanted"
    if (
        (between and _INSTEAD.search(between))
        or _REFUSED.search(lead)
        or _RUN_NOT.search(_open_lead(draft, match))
        or _DO_NOT_RUN.search(lead)
    ):
        return "refused"
    if _CALLED.search(lead) or was_so(draft.line.norm, *match.span()):
        return "told"
    if _TOLD_OF.search(_clause(draft.line.norm, *match.span())):
        return "told"
    if not sure and (_TURNS.search(_segment(draft, match)) or _unknown_beside(draft, match)):
        return "turned"
    return "wanted"


def _open_lead(draft: Draft, match: re.Match[str]) -> str:
    return draft.line.open[max(0, match.start() - 100) : match.start()]


def _is_corrected(draft: Draft, match: re.Match[str], following: re.Match[str]) -> bool:
    between = draft.line.norm[match.end() : following.start()]
    return (
        match.end() <= following.start()
        and not _INSTEAD.search(between)
        and draft.corrected(match.end(), following.start())
    )


def _state(draft: Draft, match: re.Match[str], site: str, how: str) -> None:
    only, never = (
        Option(label=f"only at {site}", patch={"sites": [site]}),
        Option(label=f"not at {site}", patch={"sites_not": [site]}),
    )
    if how == "data":
        draft.ask(
            "sites", *match.span(), f"Must it run at {site!r}, or do only its data lie there?",
            [Option(label=f"it runs only at {site}", patch={"sites": [site]}), Option(label="only its data lie there")],
        )  # fmt: skip
    elif how == "told":
        draft.ask("sites", *match.span(), f"Must it run at {site!r}?", [only, never, Option(label="no matter")])
    elif how == "turned":
        text = f"Must it run at {site!r}, or not at {site!r}? Words beside it can turn it round."
        draft.ask("sites", *match.span(), text, [only, never, Option(label="no matter")])
    else:
        draft.add("sites_not" if how == "refused" else "sites", site, *match.span())


def _unknown_beside(draft: Draft, match: re.Match[str]) -> bool:
    """Whether a name without `at` stands beside a word that nothing knows: `blacklist: titan`, `boycott titan`."""
    if match[0].startswith(("at ", "on ", "to ", "in ", "use ", "using ", "only ", "with ", "from ")):
        return False
    lead = _NEAR.search(draft.line.open[max(0, match.start() - 40) : match.start()])
    word = lead[1].strip("'\"`*:") if lead else ""
    return bool(word) and word.isalpha() and word not in _KNOWN_WORDS


def _clause(norm: str, start: int, end: int) -> str:
    """The sentence around a stretch, up to 160 characters before and behind it."""
    before = re.split(r"[.;!?](?: |$)", norm[max(0, start - 160) : start])[-1]
    return before + norm[start:end] + re.split(r"[.;!?](?: |$)", norm[end : end + 160])[0]


def _segment(draft: Draft, match: re.Match[str]) -> str:
    """What no rule has read around a site, up to the next sign on each side."""
    start, end = match.start(), match.end()
    norm = "".join(
        "\x00" if hidden == "\x00" and sign not in ",;:!?()" else sign
        for sign, hidden in zip(draft.line.norm, draft.line.open, strict=True)
    )
    first = start - len(re.split(r"[,.;:!?()]", norm[max(0, start - 60) : start])[-1])
    last = end + len(re.split(r"[,.;!?()]", norm[end : end + 60])[0])
    stands_at = norm.startswith(("at ", "on ", "to ", "in ", "use ", "using "), start)
    behind = "" if stands_at and not _IS.match(norm, end) else draft.line.open[end:last]
    return draft.line.open[first:start] + " " + behind


def _place(found: tuple[int, str, re.Match[str]]) -> int:
    return found[0]
