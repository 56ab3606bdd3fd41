"""Sites at which it may run, must run, or must not run: of the fleet, or named as such."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from graph.reading.draft import Draft
from graph.reading.gpus import MODEL
from graph.reading.lexicon import KEYWORDS, PADDING
from graph.reading.places import NAME, NOT_NAMES
from graph.reading.plain_words import plain_word
from graph.reading.reading import Option
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
KNOWN = (
    r"(?<![\w./@-])(?:(?:only |not |nor |never )?(?:at|on|to|use|using|with|from|in) |not |no |nor |never "
    r"|only )?(?:the )?(?P<name>%s)(?![\w/@-]|\.\w)"
    r"(?P<out>(?: is| are)? (?:out of the question|not (?:an option|possible|allowed)|excluded|off limits|ruled out"
    r"|forbidden|taboo|not wanted|to be avoided|no good)| only)?"
)
AT_UNKNOWN = (
    r"(?<![\w-])(?:at|on) (?:the )?(?P<name>[a-z][\w-]{2,40})(?= ?[,.;!?]|$| ?\x00| (?:with|for|using|and|before"
    r"|by|please|cluster|supercomputer|system|machine)\b)(?: (?:cluster|supercomputer|system|machine))?"
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
_TURNS = re.compile(
    r"(?<![\w-])(?:not|no|never|don't|do not|can't|cannot|isn't|won't|without|avoid\w*|away|apart|aside|besides"
    r"|except\w*"
    r"|exclud\w+|ruled|forbid\w*|forbidden|unless|instead|other than|rather|elsewhere|leave|skip|spare|stop|refus\w+"
    r"|last (?:choice|resort|option)|worst|out|off|dislike|hate|against|neither|nor|anything but|anywhere but)(?![\w-])"
)
"""Words beside a site that can mean the opposite; where no rule has read them, it is asked."""
_RUN_NOT = re.compile(
    r"(?<![\w-])(?:(?:must|may|should|shall|can|will|do|does|is|are)(?: not|n't)|cannot|can't|won't|mustn't"
    r"|shouldn't|never"
    r"|not)(?: (?:to|be|ever|please|under any circumstances)){0,3} (?:run|sen[dt]|submit(?:ted)?|go|execut\w+"
    r"|placed?|start(?:ed)?"
    r"|land|launch(?:ed)?|scheduled?|happen|take place|calculated?|computed?|brought|moved?)"
    r"(?: (?:it|this|that|them|anything|(?:this|the|my|our) (?:jobs?|runs?|work|data)))? $"
)
_IS = re.compile(r" (?:is|are|was|were|would|will|should|shall|must|can|cannot|can't|isn't|won't|has|have|seems)\b")
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
            end = match.end()
            while (further := _further(known, draft.line.norm, end)) is not None:
                names.append(further["name"])
                end = further.end()
            for name in names:
                draft.add(field, known.get(name.lower(), name), match.start(), end)
    _known_sites(draft, known)
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


def _known_sites(draft: Draft, known: dict[str, str]) -> None:
    """Names of the fleet wherever they stand, in the order of the text."""
    found = sorted(
        ((match.start(), key, match) for key in known for match in draft.line.find(KNOWN % re.escape(key))), key=_place
    )
    for (_, _, first), (_, _, second) in pairwise(found):
        if first.end() <= second.start() and re.fullmatch(
            r" ?(?:,|,? or|,? and|/) ?", draft.line.norm[first.end() : second.start()]
        ):
            draft.line.claim(first.end(), second.start())
    dropped = {
        first.start()
        for (_, _, first), (_, _, second) in pairwise(found)
        if first.end() <= second.start() and draft.corrected(first.end(), second.start())
    }
    plain = set(draft.fields.get("sites", ()))
    plain |= {known[key] for _, key, one in found if not _TURNS.search(_segment(draft, *one.span()))}
    for _, key, match in found:
        site = known[key]
        if match.start() in dropped:
            draft.default(f"not {site}: what is said after it counts")
            draft.line.claim(*match.span())
            continue
        before = draft.line.norm[max(0, match.start() - 40) : match.start()]
        behind_a_file = before.endswith("(") and draft.line.follows_claimed(match.start() - 1)
        if behind_a_file or (match[0].startswith(("at ", "on ", "in ", "from ")) and _DATA.search(before)):
            draft.ask(
                "sites", *match.span(), f"Must it run at {site!r}, or do only its data lie there?",
                [Option(label=f"it runs only at {site}", patch={"sites": [site]}),
                 Option(label="only its data lie there")],
            )  # fmt: skip
            continue
        if _TOLD_OF.search(_clause(draft.line.norm, *match.span())):
            draft.ask(
                "sites", *match.span(), f"Must it run at {site!r}?",
                [Option(label=f"yes, only at {site}", patch={"sites": [site]}),
                 Option(label=f"no, not at {site}", patch={"sites_not": [site]}), Option(label="no matter")],
            )  # fmt: skip
            continue
        turned = None if site in plain else _TURNS.search(_segment(draft, *match.span()))
        told_not = _RUN_NOT.search(draft.line.norm[max(0, match.start() - 80) : match.start()])
        if told_not and match[0].startswith(("at ", "on ", "to ", "in ", "use ", "using ")):
            draft.add("sites_not", site, match.start() - len(told_not[0]), match.end())
            continue
        refused = match[0].startswith(("not ", "no ", "nor ", "never ")) or match["out"] not in (None, " only")
        if turned and not refused:
            draft.ask(
                "sites", *match.span(), f"Must it run at {site!r}, or not at {site!r}? It says {turned[0]!r}.",
                [Option(label=f"only at {site}", patch={"sites": [site]}),
                 Option(label=f"not at {site}", patch={"sites_not": [site]}), Option(label="no matter")],
            )  # fmt: skip
            continue
        draft.add("sites_not" if refused else "sites", site, *match.span())


THERE = (
    r"(?<![\w-])(?:run|runs|start|execute|compute|calculate|process|do|job|work)\b(?:(?!\. )[^;!?]){0,80}? "
    r"(?P<there>(?:only |right |just )?there)(?= ?(?:[,.;!?)]|$| (?:on|with|for|please|using)\b))"
)


def _there(draft: Draft) -> None:
    """`my data lie on titan in ...; run ./x there`: at the one site that was named for the data."""
    places = {item.site for item in draft.fields.get("inputs", ()) if item.site}
    if len(places) != 1 or draft.fields.get("sites"):
        return
    for match in re.finditer(THERE, draft.line.norm):
        draft.add("sites", places.pop(), *match.span("there"))
        return


def _clause(norm: str, start: int, end: int) -> str:
    """The sentence around a stretch, up to 160 characters before and behind it."""
    before = re.split(r"[.;!?](?: |$)", norm[max(0, start - 160) : start])[-1]
    return before + norm[start:end] + re.split(r"[.;!?](?: |$)", norm[end : end + 160])[0]


def _segment(draft: Draft, start: int, end: int) -> str:
    """What no rule has read around a stretch, up to the next sign on each side."""
    norm = draft.line.norm
    first = start - len(re.split(r"[,.;:!?()]", norm[max(0, start - 60) : start])[-1])
    last = end + len(re.split(r"[,.;:!?()]", norm[end : end + 60])[0])
    stands_at = norm.startswith(("at ", "on ", "to ", "in ", "use ", "using "), start)
    behind = "" if stands_at and not _IS.match(norm, end) else draft.line.open[end:last]
    return draft.line.open[first:start] + " " + behind


def _same_site(draft: Draft) -> None:
    for match in draft.line.find(SAME_SITE):
        draft.ask("sites", *match.span(), f"{draft.words(*match.span())!r}: which site is that?", [])


def _place(found: tuple[int, str, re.Match[str]]) -> int:
    return found[0]


def read_unknown_sites(draft: Draft) -> None:
    """`on frontier`: a site nobody knows is asked about, not dropped."""
    for match in draft.line.find(AT_UNKNOWN):
        if match["name"] in NOT_NAMES or plain_word(match["name"]):
            continue
        name = draft.line.words(*match.span("name"))
        if draft.of_a_story(match.start()):
            continue
        draft.ask(
            "sites", *match.span(), f"Is {name!r} a site it must run at?",
            [Option(label=f"yes, only at {name}", patch={"sites": [name]}), Option(label="no")],
        )  # fmt: skip
