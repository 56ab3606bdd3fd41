"""What words change in a launch line or in directives that stand beside them: `this time 96 ranks`, `6 hours, not 4`.

A line and words that differ are asked about. Where the words say that they change something, they count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graph.reading.closed_words import is_closed_word
from graph.reading.draft import Amount, Draft
from graph.reading.environment import variable
from graph.reading.launchers import Launch
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["line_with", "read_changes", "without_outdone", "words_change"]

_UNIT = (
    r"(?:(?P<node>nodes?|hosts?|machines?)|(?P<task>(?:mpi )?(?:tasks?|ranks?|process(?:es)?|procs?))"
    r"|(?P<core>cores?|cpus?)|(?P<gpu>gpus?|cards?))"
)
RAISE = (
    r"(?<![\w-])(?:please )?(?:raise|increase|lower|reduce|double[ds]?|halve[ds]?|half|twice|extend(?:ed)?|shorten"
    r"(?:ed)?|prolong(?:ed)?|decrease|cut|change|set|bring)(?: the)?"
    rf"(?: (?:number|count) of)?(?: the)? {_UNIT}(?: from {NUMBER})? to (?P<n>{NUMBER})"
    r"(?![\w:-]|[.,]\d)(?! (?:per|on|for|in|to) )"
)
"""`raise the ranks from 4 to 8`."""
HALF = (
    rf"(?<![\w-])(?:half|double|twice|triple|thrice|\d times) (?:the |as many |of the )"
    rf"(?:number of )?{_UNIT}[^.;\x00]{{0,24}}?"
    rf"[,:(]? ?\(?(?:so|i\.e\.?|that is|that makes|namely|hence|which is|:)[ ,]{{1,2}}(?P<n>{NUMBER})(?![\w.:-]\w)"
)
"""`half the nodes will do, so 4`."""
_SECONDS = {
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60), **dict.fromkeys(("day", "days"), 86400),
}  # fmt: skip
_OF = rf"(?P<old>{NUMBER}) ?(?:{_UNIT}|(?P<time>{'|'.join(_SECONDS)}))"
ELIDED = (
    rf"(?<![\w-])(?:instead of|rather than|in place of|no need for|not) (?:the |these )?{_OF}(?: any ?more)?[,:;]? "
    rf"(?:only |just |but )?(?P<n>{NUMBER})(?= ?(?:[.,;\x00]|$)| (?:are|is|will|would|suffice|enough|please|should))"
    r"(?: (?:are|is|will|would|be|do|suffices?|enough|should)){0,4}"
)
PAIR = (
    rf"(?<![\w.-])(?:(?:change|turn|make) )?(?:the )?{_OF} (?:to|into|become|->|→|=>) (?P<n>{NUMBER})"
    r"(?![\w:-]|[.,]\d)(?! (?:[a-z]+ )?(?:nodes|ranks|tasks|cores|gpus|hours|minutes|days|h|min)\b)"
)
"""`instead of five hours three are enough`, `change 4 nodes to 6`."""
_COMPARES = (
    r"(?<![\w-])(?:twice|half|double|thrice|\d times) (?:as (?:long|much|many)|the (?:memory|time|nodes|ranks|cores"
    r"|gpus)"
    r"(?: per \w+)?)(?=[ ,.:;])"
)
_LINES = r"(?:directives?|options?|settings?|header|lines?|rest|others?|script|job|thing|flags?)"
_KEPT = (
    rf"(?:please )?(?:keep|leave|take|use) (?:all (?:of )?)?(?:the|these|those|this|them|it|everything|all)"
    rf"(?: {_LINES})*(?: (?:just |exactly )?as (?:they|it|that) (?:are|is|stands?))?"
    rf"|(?:all )?(?:of )?(?:the |these |those )?(?:{_LINES}|everything|all|these)(?: (?:above|else))?"
    r"(?: (?:stays?|remains?|is|are|to|be|kept|left|can|may|should))+(?: (?:just |exactly )?as (?:they|it) (?:are|is)"
    r"| the same| unchanged)?"
    rf"|(?:all )?(?:the )?(?:same|just|exactly)?(?: {_LINES})? ?(?:as|like) (?:above|before|shown|in (?:the|this"
    rf"|these) (?:header|script|lines?|directives?))"
    rf"|(?:the )?same(?: {_LINES})?"
)
_THING = (
    r"(?:the )?(?:run ?|wall ?)?(?:time(?: limit)?|queue|partition|account|memory"
    r"|(?:number of )?(?:nodes?|ranks?|tasks?|cores?|gpus?)|name|site)"
)
STAYS = (
    rf"(?<![\w-])(?:{_KEPT})(?![\w-])(?:,? (?:except|only|but|save) that(?: (?:it|i|we) (?=\x00))?"
    rf"|,? (?:but |except |apart from |save |other than )(?:for )?(?={_THING}(?: ?[:,;]| which| that))"
    r"|,? but(?![\w-])|,? (?:only|just)(?= (?:with|on|for|in)\b))?"
    r"|(?:^|(?<=[.;] )|(?<=, ))(?:except|only|but) that(?![\w-])"
    r"|(?<![\w-])(?:otherwise|apart from that|beyond that)(?: (?:all|everything|it|the rest))?(?: (?:is|are|stays?"
    r"|remains?))?(?: (?:left )?(?:unchanged|the same|as (?:before|above|it is)))"
)
"""`keep these, except that`, `as above, only that`: what follows is changed, and the rest stays."""
_CHANGES = re.compile(
    r"(?<![\w-])(?:this time|(?<!it )(?<!this )(?<!job )(?<!right )now|instead|rather than|though|however|make (?:it"
    r"|that|this)|change[sd]?|raise|increase"
    r"|double[ds]?|halve[ds]?|half|twice|extend(?:ed)?|shorten(?:ed)?|lower"
    r"|reduce|actually|correction|sorry|from now on|no longer|not \d[\d.:]*|set to|up to|down to|switch(?:ed)?"
    r"|lieu|statt|replace[sd]?|overrides?|override|differs?|except|unlike)(?![\w-])"
)
_BUT = re.compile(
    r"(?<![\w-])but(?: (?:with|on|for|in|use|using|take|give|now|please|i|we|need|want|only|at|it)){0,4} $"
)
_NOT_THE = (
    r",? ?(?<![\w-])(?:and |but )?(?:instead of|rather than|in place of|no longer|not)(?: in| on| the| queue| account)*"
)
_PASSED = (
    r"(?P<lead>(?<![\w-])(?:and |but )?(?:instead of|rather than|in place of|no longer|not|instead(?= )|lieu of"
    rf"|at lieu of)) (?:the |only |just )?(?P<n>{NUMBER})(?: ?(?P<unit>[a-z]+))?(?![\w-]|[.,]\d)"
)
_VARIABLE = (
    r"(?<![\w.-])(?:set |the variable |variable )*(?P<name>{0})(?: ?[=:]|(?: (?:has|is|must|should|shall|ought|needs"
    r"|to|be|now"
    r"|become|becomes|set|changed|equal)(?!\w))+)(?: to)? ?(?P<value>[^\s,;\x00]{{1,200}})"
)


def read_changes(draft: Draft) -> None:
    """Find what words say of a line's or directives' counts and variables; only where there are such."""
    launch = draft.fields.get("launched")
    if draft.known is None and not (isinstance(launch, Launch) and (launch.shape or launch.fields or launch.line)):
        return
    for match in (found for rule in (HALF, RAISE) for found in draft.line.find(rule)):
        count = count_of(match["n"])
        unit = next(name for name in ("node", "task", "core", "gpu") if match[name])
        if count:
            draft.amounts.append(Amount(unit, count, None, *match.span()))  # type: ignore[arg-type]  # one of these
            draft.line.claim(*match.span())
    names = {name.lower(): name for name in reversed(_variables(draft, launch))}
    if names:
        for match in draft.line.find(_VARIABLE.format("|".join(map(re.escape, names)))):
            value = draft.line.words(*match.span("value")).rstrip(".:\"'").lstrip("\"'")
            if value and not is_closed_word(value, ""):
                draft.add("environment", variable(draft.secrets, names[match["name"]], value), *match.span())
                draft.default(f"{draft.words(*match.span())!r} counts, not what the line says")
    for match in draft.line.find(_COMPARES):
        draft.line.claim(*match.span())
    if draft.known is not None:
        for match in draft.line.find(STAYS):
            draft.line.claim(*match.span())
    for match in draft.line.find(r"(?<=[\x00 ,])(?:though|however|nevertheless|nonetheless)(?= ?(?:[,.;!\x00]|$))"):
        draft.line.claim(*match.span())
    _pass_over_old(draft, launch)


def _variables(draft: Draft, launch: object) -> list[str]:
    known = [item.name for item in draft.known.environment] if draft.known else []
    return known + ([name for name, _ in launch.environment] if isinstance(launch, Launch) else [])


def _replaced(draft: Draft, match: re.Match[str], old: set[int]) -> None:
    """`change 4 nodes to 6`, `instead of five hours three`: of the unit that was said with the old number."""
    before, count, size = count_of(match["old"]), count_of(match["n"]), _SECONDS.get(match["time"] or "", 1)
    if before is None or not count or before * size not in old:
        return
    if match["time"]:
        draft.put("walltime_s", count * size, match.start("n"), match.end())
        draft.line.claim(*match.span())
        return
    unit = next(name for name in ("node", "task", "core", "gpu") if match[name])
    draft.amounts.append(Amount(unit, count, None, match.start("n"), match.end("n")))  # type: ignore[arg-type]  # one of these
    draft.line.claim(*match.span())


def without_outdone(draft: Draft, stated: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says of the shape, without the shares of each node that a total in the words does not fit.

    Where the words do not say that they change it, it is asked.
    """
    kept = dict(said)
    nodes = stated.get("nodes", said.get("nodes"))
    for total, share in (("cpus", "cpus_per_node"), ("tasks", "tasks_per_node")):
        new, each = stated.get(total), said.get(share)
        if new is None or each is None or share in stated or not isinstance(nodes, int):
            continue
        if (nodes - 1) * each < new <= nodes * each:
            continue
        kept.pop(share)
        path = f"shapes.0.{total}"
        if words_change(draft, path, each) or words_change(draft, path, each * nodes):
            draft.default(f"{total}: {new} counts, not {each} on each of {nodes} nodes as the line says")
            continue
        draft.contested.add(path)
        options = [Option(label=f"{new} in all (words)", patch={path: new}),
                   Option(label=f"{each} on each node (line)", patch={f"shapes.0.{share}": each})]  # fmt: skip
        draft.ask_plain(path, str(new), 0, f"The line says {each} on each of {nodes} nodes. Which counts?", options)
    return kept


def _pass_over_old(draft: Draft, launch: object) -> None:
    """`instead of 10`, where the line says 10: its own number, which is not asked for once more."""
    old = set(_numbers(draft.known.dump() if draft.known else {}))
    if isinstance(launch, Launch):
        old |= set(_numbers({**launch.shape, **launch.fields}))
    for match in (found for rule in (ELIDED, PAIR) for found in draft.line.find(rule)):
        _replaced(draft, match, old)
    names = "|".join(map(re.escape, _old_names(draft, launch)))
    for match in draft.line.find(rf"{_NOT_THE} (?:{names})(?: (?:queue|account))?(?![\w-])") if names else ():
        draft.line.claim(*match.span())
    for match in draft.line.find(_PASSED):
        count, unit = count_of(match["n"]), match["unit"] or ""
        sizes = [_SECONDS[unit]] if unit in _SECONDS else [1, 60, 3600, 86400]
        if count is not None and any(count * size in old for size in sizes):
            draft.line.claim(match.start(), match.end() if unit in _SECONDS else match.end("n"))


def _old_names(draft: Draft, launch: object) -> set[str]:
    """Names that a line or directives say: the queue, the account."""
    fields = ("queue", "account", "qos", "name", "reservation")
    known = [getattr(draft.known, name) for name in fields] if draft.known else []
    known += [launch.fields.get(name) for name in fields] if isinstance(launch, Launch) else []
    return {name.lower() for name in known if isinstance(name, str)}


def _numbers(values: Any) -> Iterator[int]:  # noqa: ANN401  # values of any field
    if hasattr(values, "model_dump"):
        values = values.model_dump()
    if isinstance(values, dict):
        for value in values.values():
            yield from _numbers(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _numbers(value)
    elif isinstance(values, int) and not isinstance(values, bool):
        yield values


def words_change(draft: Draft, path: str, old: object) -> bool:
    """Whether the words that state a field say that they change the `old` value, which a line says."""
    norm = draft.line.norm
    denied = rf"(?<![\w-])not (?:in |on |the |queue |account )*{re.escape(str(old).lower())}(?![\w-])"
    for source in draft.sources:
        if source.field != path or source.start is None:
            continue
        at = draft.line.place(source.start)
        stop = draft.line.place(source.start + len(source.words))
        first = max((norm.rfind(sign, 0, at) for sign in (". ", "; ", ", ", "! ")), default=-1) + 1
        line = draft.line.text.rfind("\n", 0, source.start) + 1
        first = max(first, draft.line.place(line))
        last = re.search(
            r"[.;!]|,(?! (?:please|not|instead|rather than|though|this time|now"
            r"|and not)\b)",
            norm[stop : stop + 80],
        )
        clause = f"{norm[first:stop]} {norm[stop : stop + (last.start() if last else 80)]}"
        if _CHANGES.search(clause) or re.search(denied, clause) or _BUT.search(norm[first:at]):
            return True
    return False


def line_with(line: tuple[str, ...], environment: list[tuple[str, str]], stated: dict[str, str]) -> tuple[str, ...]:
    """A launch line with the values of its variables as words state them."""
    words = list(line)
    for name, value in environment:
        new = stated.get(name, value)
        for at, word in enumerate(words):
            if word == f"{name}={value}":
                words[at] = f"{name}={new}"
            elif word == name and words[at + 1 : at + 2] == [value]:
                words[at + 1] = new
    return tuple(words)
