"""On whose account and in which queue it runs: accounts, queues, QOS, reservations, the job's name, shared nodes."""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.everyday import EVERYDAY
from graph.reading.lexicon import KEYWORDS, PADDING
from graph.reading.verbs import VERBS

__all__ = ["NAME", "NOT_NAMES", "QUEUE_WORDS", "read_exclusive", "read_places"]

NAME = r"[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]?(?![\w/=]|:\S)"


ACCOUNT = (
    rf"(?<![\w-])(?:(?:charge(?:d)?(?: it| this)?(?: to)?|bill(?:ed)?(?: it| this)?(?: to)?|under|with|using|on"
    rf"|for|from|use|the|our|my|against|via|in|project|compute|cost|billing|slurm) ){{0,5}}"
    rf"(?P<word>account|acct\.?|project|allocation|alloc\.?|bank|grant|budget code|accounting group)(?:(?: \(?(?:is|id"
    rf"|called|named|code|name|head|number|it is|now)(?![\w-])"
    rf"| ?:| ?=){{1,6}} ?| ){NAME}"
)
ACCOUNT_AFTER = (
    r"(?<![\w-])(?:charge(?:d)?(?: it| this)?(?: to)?|bill(?:ed)?(?: it| this)?(?: to)?|under|with|using|on|from"
    r"|use) (?:the |our |my )?(?:(?P<name>[a-z0-9][\w@.-]*[\d_@][\w@.-]*)|charge)(?: (?:account|project"
    r"|allocation|bank|grant))(?![\w-])"
)
CHARGE_ITEM = r"(?<=[,;] )charge:? (?!it |this |the |to )(?P<name>[a-z0-9][\w@.-]*)(?= ?(?:[,;]|\.(?: |$)|$))"
CHARGE = (
    r"(?<![\w-])(?:(?:is |are )?to be )?(?:charged?|bill(?:ed)?) (?:it |this "
    r"|the job )?to (?:the )?(?P<name>[a-z0-9][\w@.-]*)(?![\w-])"
)
QUEUE = (
    rf"(?<![\w-])(?<!please )(?<!you )(?:(?:in|on|to|into|use|using|via|with|submit(?: it)? to|the) ){{0,3}}(?:queue"
    rf"|partition|file d'attente)(?:(?: (?:is|called|named|it is|now|name(?= is|[:= ]{{1,2}}[\"'`]))(?![\w-])"
    rf"| ?:| ?=){{1,6}} ?| (?!\w+ly\b)){NAME}"
)
SECOND_QUEUE = rf"(?<![\w-])(?:otherwise|else|fallback|backup) (?:queue|partition)(?: ?[:=]| is) ?{NAME}"
QUEUE_AFTER = (
    r"(?<![\w-])(?:in|on|to|into|use|using|via|with) (?:the )?[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]? (?:queue"
    r"|partition)(?![\w-])"
)
QUEUE_LISTED = r"(?<=, )[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]? (?:queue|partition)(?= ?[,.;]|$)"
QOS = (
    rf"(?<![\w-])(?:(?:with|and|using|the|use|in) ){{0,3}}(?:qos|quality of service)(?:(?: (?:is|called"
    rf"|named)(?![\w-])| ?:"
    rf"| ?=){{1,6}} ?| ){NAME}"
)
QOS_AFTER = r"(?<![\w-])(?:with|in|using|use) (?:the )?[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]? qos(?![\w-])"
RESERVATION = (
    rf"(?<![\w-])(?:(?:in|with|using|the|use|my|our) ){{0,3}}reservation(?:(?: (?:is|called|named)(?![\w-])| ?:"
    rf"| ?=){{1,6}} ?"
    rf"| ){NAME}"
)
NAMED = (
    r"(?<![\w-])(?<!licence )(?<!licences )(?<!license )(?<!licenses )(?<!file )(?<!files )(?<!variable )(?<!secret"
    r" )(?:(?:(?:call|name) (?:it|(?:the|this|my|our) (?:job|run|array))"
    r"|(?:(?:the|this|my|our) (?:job|run|array) (?:is |will be |gets |be )?"
    r"|(?:(?:the|this|my|our) (?:job|run|array)|it) (?:(?:should|must|shall|has to|is to|ought to|needs to) be "
    r"|to be ))called"
    r"|named|job name|jobname|(?:name|nom) (?:of"
    r"|du) (?:the )?job|name)(?![a-z])"
    r"(?: (?:is|should be|must be|shall be)(?!\w)|:| ?=){0,6} ?"
    r"|job called )[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]?(?![\w/])"
)
NAME_BEHIND = (
    r"(?<![\w-])(?:and |with |under |has |having |bears? )*[\"'`]?(?P<name>[a-z0-9][\w@.-]*)[\"'`]? as (?:the |its "
    r"|a |our )?"
    r"(?:job(?:'s)? )?name(?![\w-])"
)

_NODES = (
    r"(?:it|them|(?:(?:all|any) of )?(?:the|those|these|that|this|our|my|its"
    r"|their) (?:\d{1,6} )?(?:same )?(?:nodes?|machines?|hosts?))"
)
_OTHERS = (
    r"(?:nobody|no ?(?:one|1)|no other (?:jobs?|users?|people|groups?|work|programs?|process(?:es)?))(?: else)?"
    r"(?:'s (?:jobs?|work))?"
)
_BUT_US = r"(?:us|me|our group|our team|our job|ourselves|this job|my job|the job|it)"
EXCLUSIVE_IN_WORDS = (
    rf"(?<![\w-])(?:(?:and |but |with |so that |have |has |having |there ){{0,3}}{_OTHERS}"
    rf" (?:(?:must|may|should|shall|can|is|are|be|to|allowed|run|runs|running|working|work|active|present) ){{0,4}}"
    rf"(?:on|at|in|use|using|share|sharing) {_NODES}(?: with (?:us|me|it))?"
    rf"|(?:(?:must|should|may|has|have|is|are|to|be) ){{0,3}}(?:used|shared|occupied|touched)(?: only"
    rf"| exclusively)? by (?:{_OTHERS}"
    rf"|none)(?: other)? (?:but|than|except) {_BUT_US}"
    rf"|(?:(?:must|should|has|have|is|are|to|be) ){{0,3}}used (?:(?:only|exclusively) by {_BUT_US}|by {_BUT_US}"
    rf" (?:only|alone|exclusively))"
    r"|(?:and )?(?:without|no)(?: any)? (?:(?:other|foreign) (?:users?|jobs?|people|groups?|work)"
    r"|neighbou?rs?)(?:'s?)?(?: jobs?)?"
    rf" (?:(?:running|active|working) )?(?:on|at) {_NODES}"
    rf"|(?:to be |be |being |run |runs |running )(?:all )?alone on {_NODES}"
    rf"|(?:as |be |is |being )(?:the )?only (?:job|one|ones|user|users|program) on {_NODES}"
    rf"|{_NODES} (?:all |only |just )?(?:to|for) {_BUT_US} (?:alone|only)"
    r"|(?:(?:the|this|our|my) (?:run|job) )?(?:must|should|may|can) not share (?:(?:the|its|our) )?nodes with"
    r" (?:anybody"
    r"|anyone|others?|other (?:users|jobs|people|groups))(?: else)?"
    rf"|(?:(?:we|i) )?(?:(?:do|must|should|can|will) not|don't|mustn't|shouldn't|cannot|can't|won't)"
    rf" (?:(?:want|wish|like) to )?share {_NODES}(?: with (?:anybody|anyone|others?|other (?:users|jobs|people"
    rf"|groups)))?(?: else)?"
    r")(?![\w-])"
)
EXCLUSIVE = (
    r"(?<=\x00 )excl\.?(?= ?(?:[,;)\x00]|$))|(?<![\w-])(?:(?:with|in|on|as) )?(?:exclusive(?:ly)?(?: (?:access|use"
    r"|mode|node|nodes))?"
    r"|(?:(?:must|may|should|can) )?not (?:to )?(?:be )?shared(?: with (?:anybody|anyone|others|other (?:jobs"
    r"|users))(?: else)?)?"
    r"|(?:(?:that|which) (?:is|are) |(?:must|may|should|can|to) be |are )?shared with (?:nobody|no ?one|none"
    r"|no other (?:jobs?|users?|people|work))(?: else)?|no sharing|(?:whole|full|entire) nodes"
    r" (?:only |just )?(?:for|to) (?:us|me"
    r"|ourselves|myself)|of its own(?! \w)|(?:all )?to (?:itself"
    r"|myself|ourselves)|(?:with )?nobody else on (?:it|the nodes?"
    r"|them))(?![\w-])"
)
_SIMPLE = (
    ("account", (ACCOUNT, ACCOUNT_AFTER, CHARGE, CHARGE_ITEM)), ("queue", (QUEUE, QUEUE_AFTER, QUEUE_LISTED)),
    ("qos", (QOS, QOS_AFTER)),
    ("reservation", (RESERVATION,)), ("name", (NAMED, NAME_BEHIND)),
)  # fmt: skip

_LOOSE = ("project", "allocation", "alloc", "bank", "grant")
_FRENCH = re.compile(r"\b(?:compte|n(?:œ|oe)uds?|c(?:œ|oe)urs?|heures?|tâches?|taches?)\b", re.IGNORECASE)
FRENCH_QUEUE = rf"(?<![\w-])file ?:? {NAME}"


_TURNED = re.compile(
    r"(?<![\w-])(?:not|[a-z]*n't|never|if|unless|whether|hardly|was|were|had|used to)(?![\w-])[^.,;:!?]{0,40}$"
)
"""Before words that nodes are not shared, what turns them round or supposes them."""
_REFUSES_OTHERS = re.compile(r"(?:(?:with|in|on|as) )?(?:no sharing|(?:(?:must|may|should|can) )?not )")

QUEUE_WORDS = frozenset(
    [
        *("batch", "big", "compute", "cpu", "cpus", "gpu", "gpus", "high", "interactive", "large", "long", "low"),
        *("medium", "mpi", "night", "nodes", "parallel", "quick", "request", "serial", "short", "single", "small"),
        *("test", "weekly", "daily", "nightly", "urgent"),
    ]
)
"""Words of the language that queues are named by."""
NOT_NAMES = (
    PADDING
    | KEYWORDS
    | {
        "shortest",
        "longest",
        "emptiest",
        "quickest",
        "wait",
        "length",
        "latest",
        "earliest",
        "present",
        "which",
        "whatever",
        "least",
        "most",
        "more",
        "once",
        "only",
    }
)


_DOING = frozenset(("expire", "close", "open", "end", "begin", "start", "belong", "exist", "run", "allow", "grant"))


_GOES_ON = re.compile(r" (?!(?:and|or|but|please|pls|with|on|in|for|at|of|as|so|using|via|from|per|if)\b)[a-z]{2,}")


def read_places(draft: Draft) -> None:
    """Find account, queue, QOS, reservation and name."""
    second = next(((match["name"], match.span()) for match in draft.line.find(SECOND_QUEUE)), None)
    if second is not None:
        draft.line.claim(*second[1])
    for field, rules in _SIMPLE:
        for rule in rules:
            for match in draft.line.find(rule):
                name = draft.line.words(*match.span("name")).rstrip(".") if match["name"] else ""
                taken = match["name"] not in NOT_NAMES or (field == "queue" and match["name"] in QUEUE_WORDS)
                verb = rule is ACCOUNT and match["word"] in ("grant", "bank") and match.start("word") == match.start()
                if verb and match.end("word") + 1 == match.start("name"):
                    continue  # `Grant ANSYS 80 ranks`
                if rule is ACCOUNT and match["word"] in _LOOSE and name.isalpha() and name.islower():
                    said = match.end("word") + 1 < match.start("name")  # `grant money`, but `project is ocean`
                    listed = re.compile(r" ?(?:$|[,.;)]|please\b|and\b|on\b)").match(draft.line.norm, match.end())
                    taken = said or (match["word"] == "project" and listed is not None)
                told = re.search(r"(?:if|when|while|as|since|because|unless) $", draft.line.norm[: match.start()][-9:])
                if field == "queue" and told and " is " in match[0]:
                    continue  # `if the queue is long`
                does = name.endswith("s") and {name[:-1], name[:-2]} & (EVERYDAY | VERBS | _DOING)
                if (
                    field in ("queue", "account", "reservation")
                    and does
                    and "=" not in match[0]
                    and ":" not in match[0]
                ):
                    continue  # `the queue closes at 18:00`
                if (
                    re.fullmatch(r"[a-z]+", match["name"]) is not None
                    and name.islower()
                    and " is " in match[0]
                    and _GOES_ON.match(draft.line.norm, match.end())
                ):
                    continue  # `the grant is almost used up`
                if name.isdigit() and field == "account" and not re.search(r"[:=]| is ", match[0]):
                    continue  # `the allocation 4 nodes`
                if name and taken and "://" not in name:
                    draft.put(field, name, *match.span())
    if second is not None and "queue" in draft.fields and "queue" not in draft.contested:
        name = draft.line.words(*second[1]).split()[-1].strip(".\"'`")
        draft.fields["queues"] = (draft.fields["queue"], name)
        draft.source("queues", *second[1])
    elif second is not None:
        draft.unread.append(draft.words(*second[1]))
    if "queue" not in draft.fields and _FRENCH.search(draft.line.text):
        for match in draft.line.find(FRENCH_QUEUE):
            if draft.line.words(*match.span()).lower().startswith("file "):
                draft.put("queue", draft.line.words(*match.span("name")).rstrip("."), *match.span())


NOT_EXCLUSIVE = (
    r"(?<![\w-])(?:(?:they |it |the nodes? )?(?:needs? not|needn't|(?:does|do) not (?:have|need) to|(?:doesn't|don't)"
    r" (?:have|need) to|not necessarily|must not|should not) be (?:exclusive(?:ly mine)?|alone|unshared)"
    r"|(?:non-|not )exclusive(?:ly)?(?: is (?:fine|ok|okay))?"
    r"|(?:it |they |the nodes? )?(?:can|may|could) be shared(?: with (?:other|others|other jobs|other users))?"
    r"|sharing (?:is )?(?:ok|okay|fine|allowed)|shared (?:is |nodes? (?:are|is) )?(?:ok|okay|fine))(?![\w-])"
)


def read_exclusive(draft: Draft) -> None:
    """Find `exclusive`; `4 exclusive nodes` is read with the nodes."""
    for match in draft.line.find(NOT_EXCLUSIVE):
        draft.default(f"{draft.words(*match.span())!r}: nodes may be shared with other jobs")
        draft.line.claim(*match.span())
    for match in draft.line.find(EXCLUSIVE_IN_WORDS):
        if _TURNED.search(draft.line.norm[max(0, match.start() - 60) : match.start()]):
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
            continue
        draft.fields["exclusive"] = True
        draft.source("shapes.0.exclusive", *match.span())
    for match in draft.line.find(EXCLUSIVE):
        if _REFUSES_OTHERS.match(match[0]) or not draft.negated(*match.span(), wish=True):
            draft.fields["exclusive"] = True
            draft.source("shapes.0.exclusive", *match.span())
