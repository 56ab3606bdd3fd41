"""Sites at which it may run, must run, or must not run: of the fleet, or named as such."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.reading.draft import Draft
from graph.reading.gpus import MODEL
from graph.reading.lexicon import KEYWORDS, PADDING
from graph.reading.past import was_so
from graph.reading.places import NAME, NOT_NAMES
from graph.reading.plain_words import plain_word
from graph.reading.reading import Option
from graph.reading.site_mentions import read_mentions
from graph.reading.submit_lines import SUBMITTERS

__all__ = ["read_sites", "read_unknown_sites"]

_MORE = (
    r"(?P<more>(?:(?:,? (?:and|or|nor|noch|ni) |, ?|/)(?:at |on )?(?:site )?[\"'`]?(?!not\b|on\b|at\b|but\b|for\b"
    r"|with\b"
    r"|before\b|in\b|\d+(?:[hmdg:. ]|$))[a-z0-9][\w@-]*[\"'`]?(?= ?[,.;)]|$| (?:and|or|please|but|not|may|can|must"
    r"|should|shall|will|is|are|has|have|do|does)\b)){0,8})"
)
NOT_SITE = (
    rf"(?<![\w-])(?:,? ?but |sites? ?[:=] ?)?(?:not (?:at|on|to)|(?<=site: )not|(?<=sites: )not|(?:don't|do not"
    rf"|never|must not|should not) (?:(?:run|submit|go"
    rf"|send)(?: it| this| anything)?(?: (?:at|on|to))|use)|never (?:at|on)|(?:apart|away|aside) from|other than"
    rf"|except(?: for)?(?: at"
    rf"| on)?|excluding|exclude|avoid(?:ing)?|stay(?:ing)? off|keep (?:away from|off)|weder|neither|ni"
    rf"|alles außer|(?:elsewhere|other sites) than|any(?:where| (?:site|place|cluster|machine))(?: else)? (?:but"
    rf"|except)(?: at| on)?|(?:on )?anything but|(?:on )?(?:anything |anywhere )?other than(?: at"
    rf"| on)?) (?:the )?(?:sites? |cluster |machine )?{NAME}{_MORE}"
)
ONLY_SITE = (
    rf"(?<![\w-])(?:(?:run |it |must |should |submit |please ){{0,6}}(?:only|exclusively|strictly|just) (?:at|on"
    rf"|to) (?:the )?(?:sites? |cluster |machine )?|(?:at|on|to) (?:the )?sites?:? |sites? ?[:=] ?|(?:use"
    rf"|using) (?:only )?sites? (?:only )?){NAME}{_MORE}(?: only)?"
)
ONLY_AFTER = r"(?<![\w-])(?:at|on) (?P<name>[a-z0-9][\w@-]*) (?:only|exclusively)(?![\w-])"
AT_UNKNOWN = (
    r"(?<![\w-])(?:at|on) (?:the )?(?P<name>[a-z][\w-]{2,40})(?= ?[,.;!?]|$| ?\x00| (?:with|for|using|and|before"
    r"|by|please|cluster|supercomputer|system|machine)\b)(?: (?:cluster|supercomputer|system|machine))?"
)
_OF_A_MACHINE = re.compile(
    r"(?<![\w-])(?:old|older|oldest|fast|faster|fastest|slow|slower|slowest|local|broken|small|smaller|smallest"
    r"|larger|largest"
    r"|bigger|biggest|newest|newer|latest|current|central|main|shared|remote|nearest|closest|cheapest|quiet|busy"
    r"|idle|crowded"
    r"|favourite|favorite|usual|wrong|right|common|public|private|former|previous|first|second|third"
    r"|[a-z]{4,}(?:mental|tional"
    r"|ional|ful|less|ous|ive|able)) (?:cluster|supercomputer|system|machine)$"
)
"""What a machine is like, which no site is called by."""
SAME_SITE = (
    r"(?<![\w-])(?:on |at )?(?:the )?(?:same (?:machine|site|cluster|place) as|(?:machine |site |place )?where (?:we"
    r"|i) ran)"
)
_NO_SITE = re.compile(
    rf"(?:{MODEL})s?|(?:[cg]pu|amd|nvidia|intel|arm|x86|windows|linux|cloud|edge|laptop|premis|campus|node|nid|login"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week(?:end|day)|holiday|night|morning|evening)(?:e?s)?[\w-]*"
)
_CLOSED = re.compile(
    r"(?: only| please)?(?: ?[,.;:!?()\x00]| ?$| (?:and|or|but|for|with|please|before|by|using|because|since|as|if"
    r"|on|in"
    r"|at|then|to|until|till|when|while|from|nor|not|under|is|are|has|have|will|can|may|must|should|run|start)\b)"
)


_SAID_BAD = re.compile(
    r"(?:exclud\w+|forbidden|black-?list(?:ed)?|not|no|disallowed|denied|without|avoid|except|bad|wrong|refused"
    r"|unwanted"
    r"|verboten\w*|ausgeschlossen\w*|exclus?) $"
)
"""Before `sites: a, b`: those that are not wanted."""
_NONE_BUT = re.compile(
    r"(?:no(?: other)? (?:sites?|places?|machines?|clusters?)|nowhere|nothing|none|not (?:on|at) any(?: other)?"
    r"(?: (?:sites?|clusters?|machines?|places?))?) $"
)
"""Before `other than a`: only there."""
_IS_FINE = re.compile(r" (?:is|are|would be) (?:also |both )?(?:ok|okay|fine|good|possible|allowed|welcome)\b")


def read_sites(draft: Draft, sites: Sequence[str]) -> None:
    """Find the sites that are wanted and those that are not."""
    known = draft.named(sites)
    for rule, field in ((NOT_SITE, "sites_not"), (ONLY_SITE, "sites"), (ONLY_AFTER, "sites")):
        for match in draft.line.find(rule):
            names = [draft.line.words(*match.span("name")).rstrip(".")]
            more = match.groupdict().get("more") or ""
            names += [
                word
                for word in more.replace(",", " ").replace("/", " ").split()
                if word not in ("and", "or", "nor", "noch", "ni", "at", "on", "site") and word not in PADDING | KEYWORDS
            ]
            if match["name"] in NOT_NAMES | SUBMITTERS or re.fullmatch(r"v?\d[\w.-]*", match["name"]):
                continue
            if match["name"].rstrip(".") not in known and not _may_be_a_site(match):
                continue
            if re.match(r"neither|weder|ni |avoid", match[0]) and names[0].lower() not in known:
                continue  # `neither older than 4.5`
            before = draft.line.norm[max(0, match.start() - 40) : match.start()]
            if field == "sites" and _SAID_BAD.search(before):
                field_of = "sites_not"
            elif field == "sites_not" and _NONE_BUT.search(before):
                field_of = "sites"
            else:
                field_of = field
            end = match.end()
            fine = _IS_FINE.match(draft.line.norm, end) is not None and bool(more)
            if fine:
                names, end = names[:1], match.end("name")  # `avoid a, b and c are okay`
            while not fine and (further := _further(known, draft.line.norm, end)) is not None:
                names.append(further["name"])
                end = further.end()
            for name in names:
                draft.add(field_of, known.get(name.lower(), name), match.start(), end)
    read_mentions(draft, known)
    _same_site(draft)
    _there(draft)
    twice = set(draft.fields.get("sites", ())) & set(draft.fields.get("sites_not", ()))
    if twice:
        draft.default(f"not at {', '.join(sorted(twice))}, as it says")
        draft.fields["sites"] = [site for site in draft.fields["sites"] if site not in twice]


def _may_be_a_site(match: re.Match[str]) -> bool:
    """Whether a name that no site of the fleet has can be one: `not on titan,` but not `not on shared nodes`."""
    if re.search(r"\b(?:sites?|cluster|machine)\b", match[0][: match.start("name") - match.start()]):
        return True
    closed = (
        match["name"].endswith(".") or match.groupdict().get("more") or _CLOSED.match(match.string, match.end("name"))
    )
    name = match["name"].rstrip(".")
    return bool(closed) and not plain_word(name) and not _NO_SITE.fullmatch(name)


def _further(known: dict[str, str], norm: str, end: int) -> re.Match[str] | None:
    """`avoid juno and helios for ...`: another site of the fleet in the same breath."""
    if not known:
        return None
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.compile(rf"(?:,? (?:and|or|nor) |, ?|/)(?:at |on )?(?P<name>{names})(?![\w/@-]|\.\w)").match(norm, end)


THERE = (
    r"(?<![\w-])(?:run|runs|start|execute|compute|calculate|process|do|job|work)\b(?:(?!\. )[^;!?]){0,80}? "
    r"(?P<there>(?:only |right |just )?there)(?= ?(?:[,.:;!?)]|$| (?:on|with|for|please|using)\b))"
)
_LIE_THERE = re.compile(
    r"(?<![\w-])(?:data|dataset|files?|inputs?|mesh|images?|reads|grid)(?: (?:is|are|lies?|sits?|stays?|resides?|has"
    r"|have"
    r"|been|stored|kept|already|all|only|staged|located|available|right))* (?:there|on site)(?= ?(?:[,.:;!?)\x00]|$))"
)
WHERE_DATA = (
    r"(?<![\w-])(?:(?P<run>run|start|execute|compute|calculate|process|do|stay|go)\b[^.;:!?\x00]{0,30}?)?"
    r"(?<![\w-])(?:at the (?:site|place) )?where(?:ver)? (?:the|my|our|its|all) (?:input )?(?:data|inputs?|files?"
    r"|mesh|input data|dataset)"
    r" (?:already )?(?:lies?|is|are|sits?|lives?|resides?|is stored|are stored)(?: already)?(?= ?(?:[,.;:!?)\x00]|$))"
)
_NOT_THERE = re.compile(
    r"(?<![\w-])(?:not|never|[a-z]*n't|whether|if|unless|nor|no|cannot|might|could|avoid\w*|used to|was|were"
    r"|elsewhere)(?![\w-])"
)


def _there(draft: Draft) -> None:
    """`my data lie on titan in ...; run ./x there`: at the one site that was named for the data, or the other way."""
    if len(draft.fields.get("sites", ())) == 1 and _LIE_THERE.search(draft.line.norm):
        site = draft.fields["sites"][0]
        draft.fields["inputs"] = [
            item if item.site or "://" in item.source else item.model_copy(update={"site": site})
            for item in draft.fields.get("inputs", ())
        ]
    places = {item.site for item in draft.fields.get("inputs", ()) if item.site}
    for match in draft.line.find(WHERE_DATA):
        if draft.fields.get("sites"):
            draft.line.claim(*match.span())
        elif len(places) == 1 and match["run"]:
            draft.add("sites", next(iter(places)), *match.span())
        else:
            options = [Option(label=f"only at {place}", patch={"sites": [place]}) for place in sorted(places)]
            draft.ask("sites", *match.span(), f"{draft.words(*match.span())!r}: which site is that?", options)
    if len(places) != 1 or draft.fields.get("sites"):
        return
    for match in re.finditer(THERE, draft.line.norm):
        before = draft.line.norm[max(0, match.start() - 40) : match.start("there")]
        if not _NOT_THERE.search(re.split(r"[;:!?,]|\.(?= )", before)[-1]):
            draft.add("sites", places.pop(), *match.span("there"))
            return


def _same_site(draft: Draft) -> None:
    for match in draft.line.find(SAME_SITE):
        draft.ask("sites", *match.span(), f"{draft.words(*match.span())!r}: which site is that?", [])


def read_unknown_sites(draft: Draft) -> None:
    """`on frontier`: a site nobody knows is asked about, not dropped."""
    for match in draft.line.find(AT_UNKNOWN):
        if match["name"] in NOT_NAMES or plain_word(match["name"]) or _OF_A_MACHINE.search(match[0]):
            continue
        if was_so(draft.line.norm, *match.span()):
            continue
        name = draft.line.words(*match.span("name"))
        if draft.of_a_story(match.start()):
            continue
        draft.ask(
            "sites", *match.span(), f"Is {name!r} a site it must run at?",
            [Option(label=f"yes, only at {name}", patch={"sites": [name]}), Option(label="no")],
        )  # fmt: skip
