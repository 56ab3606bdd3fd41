"""Sizes: memory per node, task, core or GPU; space on local disks and file systems."""

from __future__ import annotations

import re

from dragoman.request import StorageNeed
from graph.reading.counts import PER, per_of
from graph.reading.draft import Amount, Draft
from graph.reading.numbers import NUMBER, amounts_of, count_of
from graph.reading.reading import Option

__all__ = ["read_memory", "read_space"]

_SIZE = (
    rf"(?P<n>{NUMBER})(?: |-)?"
    r"(?P<unit>[kmgtp]i?bs?|[kmgtp]ib|(?:mega|giga|tera)bytes?|gigs?|[mgtp](?=[ ,.;/)]|$))(?!\w|/s\b)"
)
_BOUND = (
    r"(?:(?:at least|at most|up to|max(?:imum)?\.?(?: of)?|min(?:imum)?\.?(?: of)?|no more than|not more than"
    r"|no less than|not less than|no fewer than|about|around|roughly|>=|<=|~|with) ?)?"
)
_MEM = r"(?:(?:main |system |host |total |cpu )?(?:memory|ram|mem))"
LOCAL = (
    rf"(?<![\w.]){_BOUND}{_SIZE}(?: of)?(?: free| fast)? (?:node[- ]local |local )?(?:scratch |disk |ssd "
    rf"|nvme )?(?:(?:local|node-local) )?(?P<disk>scratch disk|scratch|disk|ssds?|nvme|tmp|temporary)(?: space| disk"
    rf"| storage"
    rf"| drive)?(?P<local> on (?:each|the|every) nodes?| per node| locally| on the node"
    r"| on the local disks?(?: (?:of|on) (?:the|each|every) nodes?)?)?(?![\w-])"
)
LOCAL_AFTER = (
    rf"(?<![\w.]){_BOUND}{_SIZE}(?: of)?(?: free| space| free space| available)? on (?:its |the |each |every "
    rf"|a )?(?:own |node's |each node's |nodes' )?(?P<local>local|node-local|internal|own|(?<=node's)"
    rf"|(?<=nodes')) ?(?P<disk>disk|scratch|ssds?|nvme|drive)"
    rf"(?: (?:of|on) (?:the|each|every) nodes?| space)?(?![\w-])"
)
LOCAL_WITH = (
    rf"(?<![\w-])(?:an? |the |its |their )?(?:own )?(?P<local>local|node-local|internal) (?P<disk>disk|scratch|ssd"
    rf"|nvme|drive)"
    rf"s?,? (?:with|of|having|that has|which has|has|(?:should|must)(?: have| be"
    rf"| hold)?) {_BOUND}{_SIZE}(?: of)?(?: free)?(?: space| storage"
    rf"| capacity)?(?! \w*memory)"
)
LOCAL_AROUND = (
    rf"(?<![\w-])(?P<disk>tmp|scratch|disk|ssd|nvme)(?: space)?:? (?:at least )?{_SIZE} (?P<local>local(?:ly)?"
    rf"|on the node"
    r"|(?:per|on each|on every) node)(?![\w-])(?! (?:disk|scratch|ssd|nvme))"
)
LOCAL_BEFORE = (
    rf"(?<![\w-])(?P<local>local|node-local) (?P<disk>disk|scratch|ssds?|nvme)(?: space| storage)?(?: of|:| ?=)?"
    rf" (?:at least )?{_SIZE}"
)
ON_NODES = (
    rf"(?<![\w-])(?<!\d )(?P<on>on |use |using |needs? )(?P<nodes>nodes|machines|hosts) (?:with|of|having|that have) "
    rf"{_BOUND}{_SIZE}(?: of)? {_MEM}(?:(?:,|:)? (?P<count>{NUMBER}) of (?:them|these|those))?(?![\w-])"
)
"""`on nodes with at least 1 TB of memory, 2 of them`."""
HALF = rf"(?<![\w-])(?<! of )(?P<half>half )?an? (?P<unit>tb|terabyte|gigabyte)(?: of)? {_MEM}{PER}"
UNITLESS = rf"(?<![\w.-]){_MEM}(?: of| is|:| ?=)? ?(?P<n>\d{{1,7}})(?= ?(?:[,;)\x00]|\.(?!\d)|$| please))"
SPACE_BEFORE = (
    rf"(?<![\w-])(?:(?:scratch|disk|storage)(?: space)?(?: of|:| ?=)|scratch(?: space)?) ?(?:at least |min\.? "
    rf"|>= ?)?{_SIZE}(?! (?:of )?{_MEM})"
)
ON_A_PATH = (
    rf"(?<![\w.]){_BOUND}{_SIZE}(?:(?: of)?(?: free| available)?(?: space| storage| disk| quota)|(?: of)?(?: free"
    rf"| available)"
    rf"|(?= on ))"
    r" (?:on|in|under|at|below) [\"'`]?(?P<path>/[\w./-]*\w)[\"'`]?(?![\w/.*]|\.\w)(?! as (?:an )?input)"
)
"""`100 GB on /tmp`: space, of a node's own disk or of a file system."""
PATH_WITH = (
    r"(?<![\w-])(?:(?:the|an?|on|our) ){0,2}(?:file ?system|storage|scratch)(?: space)? (?:(?:mounted "
    r"|available )?(?:at|on|under|in) )?"
    rf"[\"'`]?(?P<path>/[\w./-]*\w)[\"'`]?,? (?:with|having|that has) {_BOUND}{_SIZE}(?: of)? (?:free|available)"
    r"(?: space)?(?![\w-])"
)
"""`file system /work with at least 3 TB free`."""
LOTS = (
    rf"(?<![\w-])(?:lots of|plenty of|a lot of|much|loads of|large|big|huge|enough) {_MEM}(?![\w-])"
    r"(?! (?:nodes?|machines?|hosts?)(?![\w-]))"
)
RATE = (
    rf"(?<![\w.]){_BOUND}{_SIZE}(?: of data)? (?:a|an|per|each|every) (?:day|week|month|year|hour|night|second"
    rf"|minute)(?!\w)"
)
BACKWARD = (
    rf"(?<![\w.-]){_MEM}(?:[ _-]?(?:per|/)[ _-]?(?P<per>node|task|rank|process|core|cpu|gpu|job)(?:es|s)?)?(?: of| is|:"
    rf"| ?=)? ?(?:at least |up to |max\.? |>=? ?|<=? ?)?{_SIZE}{PER.replace('?P<per>', '?P<per2>')}"
)
FREE = (
    rf"(?<![\w.]){_BOUND}{_SIZE}(?: of)?(?: (?:should|must|has to|have to|needs? to) be)? (?:free"
    rf"|available)(?: (?:disk|space|storage|file ?system|quota)){{0,2}}"
    r"(?: (?:there|on it|in it|on scratch|on disk))?(?![\w-])(?! (?:memory|ram|mem))"
)
NODE_SIZE = (
    rf"(?<![\w.])(?:(?P<count>{NUMBER}) |(?P<a>an?) )?{_SIZE}[ -](?:{_MEM} )?(?P<nodes>nodes?|machines?"
    rf"|hosts?)(?![\w-])(?! (?:ram|mem(?:ory)?)\b)"
)
MEMORY = rf"(?<![\w.-]){_BOUND}{_SIZE}(?P<mem>(?: of)? {_MEM})?{PER}(?: (?:of )?{_MEM})?"
_BEHIND_A_PATH = re.compile(r"(?:[\w*]/[\w.*+-]+|[\w-]\.[a-z]\w{0,7}) \($")
_DATA = re.compile(
    r" (?:in size|large|big)\b| ?(?:of )?(?:(?:input|output|raw|training|my|the|trajectory|image|result"
    r"|simulation) ){0,2}(?:data(?:sets?|bases?)?|db|index|corpus|archive|inputs?|outputs?|files?|images?|results?"
    r"|(?:fast |shared |parallel |temp(?:orary)? |work )?(?:storage|space))\b"
)
_OF_DATA = re.compile(
    r"(?<![\w-])(?:inputs?|data(?:sets?)?|data sets?|files?)(?: (?:is|are|has|have|holds?|contains?|comprises?"
    r"|totals?|of|about|ca\.?|around|roughly|size)){0,3}:? $"
)
_FACTOR = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def bytes_of(number: str, unit: str, *, foreign: bool = False) -> tuple[int, ...]:
    """Bytes that a size in words can mean: `GB` is decimal, `GiB` and a bare letter are binary (dragoman/units.py)."""
    decimal = (unit.endswith(("b", "bs")) and "i" not in unit) or unit.startswith(("mega", "giga", "tera", "gig"))
    factor = int((1000 if decimal else 1024) ** _FACTOR[unit[0]])
    values = amounts_of(number)
    if foreign and len(values) == 2 and "," not in number:
        values = values[:1]  # `1.024 GB` on a German line
    amounts = [round(value * factor) for value in values if value > 0]
    return tuple(sorted(set(amounts), reverse=True))


def read_space(draft: Draft) -> None:
    """Find space by the path where it is wanted, before the path can be taken for a file."""
    for match in draft.line.find(PATH_WITH):
        sizes = bytes_of(match["n"], match["unit"])
        if len(sizes) == 1 and not draft.negated(*match.span()):
            path = draft.line.words(*match.span("path"))
            draft.add("storage", StorageNeed(mount=path, free_bytes=sizes[0]), *match.span())
    for match in draft.line.find(ON_A_PATH):
        sizes = bytes_of(match["n"], match["unit"])
        before = draft.line.norm[max(0, match.start() - 40) : match.start()]
        if len(sizes) != 1 or _OF_DATA.search(before) or re.search(r"\.\w{1,5}$", match["path"]):
            continue
        if draft.negated(*match.span()):
            continue
        if match["path"].startswith(("/tmp", "/dev/shm", "/local", "/var/tmp")):  # noqa: S108  # names in words
            draft.put("local_disk_bytes", sizes[0], *match.span())
        else:
            path = draft.line.words(*match.span("path"))
            draft.add("storage", StorageNeed(mount=path, free_bytes=sizes[0]), *match.span())


WRITTEN = (
    rf"(?<![\w-])(?:writes?|produces?|generates?|stores?|saves?|outputs?|will need|needs?)"
    rf"(?: out)? {_BOUND}{_SIZE}(?: of \w+)? (?:to|on|onto|into) (?:the |a |your )?(?:parallel |fast )?scratch"
    r"(?: space| disk| file ?system)?(?![\w-])"
)
"""`it writes about 500 GB to scratch`."""


def read_memory(draft: Draft) -> None:
    """Find sizes; where a size can be memory or data it is left for the person."""
    for match in draft.line.find(WRITTEN):
        _free(draft, match)
    for match in draft.line.find(RATE):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    for match in (
        found
        for rule in (LOCAL, LOCAL_AFTER, LOCAL_WITH, LOCAL_BEFORE, LOCAL_AROUND)
        for found in draft.line.find(rule)
    ):
        _local(draft, match)
    for match in draft.line.find(SPACE_BEFORE):
        _free(draft, match)
    for match in draft.line.find(HALF):
        size = bytes_of("1", match["unit"])[0] // (2 if match["half"] else 1)
        draft.amounts.append(Amount("memory", size, None, *match.span(), per=per_of(match)))
        draft.line.claim(*match.span())
    for match in draft.line.find(FREE):
        _free(draft, match)
    for match in draft.line.find(BACKWARD):
        _memory(draft, match, match["per"] or match["per2"])
    for match in draft.line.find(ON_NODES):
        _memory(draft, match, "node")
        if match["count"] and (count := count_of(match["count"])):
            draft.amounts.append(Amount("node", count, None, *match.span()))
    for match in draft.line.find(NODE_SIZE):
        count = count_of(match["count"]) if match["count"] else 1 if match["a"] else None
        _memory(draft, match, "node")
        if count:
            draft.amounts.append(Amount("node", count, None, *match.span()))
        else:
            _counted_before(draft, match)
    for match in draft.line.find(UNITLESS):
        options = [
            Option(label=f"{int(match['n'])} {unit}", patch={"shapes.0.memory": {"bytes": size, "per": "node"}})
            for unit in ("GB", "MB")
            for size in bytes_of(match["n"], unit.lower())
        ]
        draft.ask("shapes.0.memory", *match.span(), f"{draft.words(*match.span())!r}: in which unit?", options)
    for match in draft.line.find(MEMORY):
        before = draft.line.norm[max(0, match.start() - 40) : match.start()]
        if not match["mem"] and (
            _DATA.match(draft.line.norm, match.end()) or _OF_DATA.search(before) or _BEHIND_A_PATH.search(before)
        ):
            _data(draft, match)
        else:
            _memory(draft, match, None)
    _ask_how_much(draft)


def _ask_how_much(draft: Draft) -> None:
    """`lots of memory`, and no amount anywhere."""
    for match in draft.line.find(LOTS):
        if any(amount.unit == "memory" for amount in draft.amounts) or draft.asks("shapes.0.memory"):
            draft.line.claim(*match.span())
        else:
            draft.ask("shapes.0.memory", *match.span(), f"{draft.words(*match.span())!r}: how much?", [])


def _counted_before(draft: Draft, match: re.Match[str]) -> None:
    """`4 big 512 GB nodes`: the number before the size counts the nodes."""
    first = max(0, match.start() - 40)
    found = re.search(rf"({NUMBER}) (?:[\w-]{{1,16}} )?$", draft.line.norm[first : match.start()])
    count = count_of(found[1]) if found else None
    if found and count:
        draft.amounts.append(Amount("node", count, None, first + found.start(1), match.end()))
        draft.line.claim(first + found.start(1), first + found.end(1))


def _memory(draft: Draft, match: re.Match[str], per: str | None) -> None:
    values = bytes_of(match["n"], match["unit"], foreign=draft.line.foreign)
    if len(values) == 0 or draft.line.words(*match.span("unit")) == "m":
        return
    if len(values) > 1:
        options = [
            Option(label=f"{value:,} bytes", patch={"shapes.0.memory": {"bytes": value, "per": "node"}})
            for value in values
        ]
        draft.ask("shapes.0.memory", *match.span(), f"{draft.words(*match.span())!r}: which amount is meant?", options)
        return
    word = {"rank": "task", "process": "task", "cpu": "core"}.get(per or "", per) or per_of(match)
    if word is None and "total" in (match.groupdict().get("mem") or ""):
        word = "job"  # `144 GB of total memory`
    word = "core" if word == "thread" else word
    draft.amounts.append(Amount("memory", values[0], None, *match.span(), per=word))
    draft.line.claim(*match.span())


def _free(draft: Draft, match: re.Match[str]) -> None:
    """`1 TB free there`: on the one file system that is named, else on any."""
    values = bytes_of(match["n"], match["unit"])
    known = draft.fields.get("storage", [])
    if len(values) != 1:
        return
    if len(known) == 1 and known[0].free_bytes is None:
        known[0] = known[0].model_copy(update={"free_bytes": values[0]})
        draft.source("storage.0.free_bytes", *match.span())
    else:
        draft.add("storage", StorageNeed(free_bytes=values[0]), *match.span())


def _local(draft: Draft, match: re.Match[str]) -> None:
    values = bytes_of(match["n"], match["unit"])
    if len(values) != 1:
        return
    words = match[0]
    if match["disk"].startswith("scratch") and "local" not in words and not match["local"]:
        known, after = draft.fields.get("storage", []), draft.line.open[match.end() : match.end() + 8]
        if len(known) == 1 and known[0].free_bytes is None and re.match(r" ?(?:(?:on|in|at|under) )?\x00", after):
            known[0] = known[0].model_copy(update={"free_bytes": values[0]})  # `10 TB scratch on lustre`
            draft.source("storage.0.free_bytes", *match.span())
            return
        draft.add("storage", StorageNeed(free_bytes=values[0]), *match.span())
    else:
        draft.put("local_disk_bytes", values[0], *match.span())


def _data(draft: Draft, match: re.Match[str]) -> None:
    end = _DATA.match(draft.line.norm, match.end())
    values = bytes_of(match["n"], match["unit"])
    stop = end.end() if end else match.end()
    if len(values) == 1 and end and re.search(r"storage|space", end[0]):
        draft.add("storage", StorageNeed(free_bytes=values[0]), match.start(), stop)
        return
    words = draft.words(match.start(), stop)
    draft.ask("inputs", match.start(), stop, f"{words!r}: which files are these, and where do they lie?", [])
