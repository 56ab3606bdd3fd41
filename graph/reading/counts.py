"""Nodes, tasks, cores, threads and GPUs: how many, and per what as far as it is said beside the number."""

from __future__ import annotations

import re

from graph.reading.draft import MAX_ITEMS, Amount, Draft, Unit
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["PER", "read_counts", "read_scaled_counts"]

UNITS = {
    "node": r"nodes?|nds|hosts?|machines?|servers?|compute nodes?|box(?:es)?|blades?"
    r"|computers?(?! (?:science|scientist|vision|model|program|simulation|cluster|lab|cent(?:er|re)|room))",
    "task": r"tasks?|ranks?|processes|process|proces|procs?|mpi (?:tasks?|ranks?|processes|procs?)|instances? of mpi"
    r"|(?:matlab |dask |spark |parallel )?workers?(?! nodes?)",
    "core": r"cores?|cpus?|cpu cores?|physical cores?|processor cores?|processors?|vcpus?",
    "thread": r"threads?|openmp threads?|omp threads?|hardware threads?",
    "gpu": r"gpus?|gpu cards?|graphics cards?|accelerators?|gpu devices?",
}
_ADJECTIVE = (
    r"(?P<adjective>(?:(?:mpi|openmp|omp|compute|full|whole|entire|exclusive|physical|parallel|total|dedicated"
    r"|single(?!-)|identical"
    r"|cpu|worker|processor|separate|distributed|logical|(?:high|big|large)[ -]mem(?:ory)?"
    r"|fat)[ -]){0,2})(?:(?P<vendor>nvidia|amd|intel)[ -])?"
)
_BOUND = (
    r"(?:(?P<bound>at least|at most|up to|max(?:imum)?\.?(?: of)?|min(?:imum)?\.?(?: of)?|no more than|not more than"
    r"|no fewer than|not less than|no less than|less than|fewer than|more than|exactly|between|anywhere from|from"
    r"|around|about"
    r"|roughly|approximately|approx\.?|only|just|~|>=|<=|<|>|≥|≤) ?)?"
)
_UPPER = ("at most", "up to", "max", "no more", "not more", "<=", "≤")
_LOWER = ("at least", "min", "no fewer", "no less", "not less", ">=", "≥")
PER = (
    r"(?: ?(?:/|per|by(?= (?:node|task|rank|process|gpu|core)(?![\w-]))"
    r"|each|on each|for each|for every|on every|in each|in every|to an?|to each|to every|a"
    r"|for a single) ?(?:mpi "
    r"|compute )?(?P<per>node|host|machine"
    r"|server|task|rank|process(?:es)?|proc|worker|gpu|core|cpu|thread|job|card)s?(?![\w-])"
    r"| (?P<ofgpus>(?:for|on) each of)(?: the| these| our)?(?= \d{1,5} (?:gpus|cards)\b)"
    r"| (?P<ofnodes>on each of)(?: the)?(?= \d{1,5} (?:nodes|hosts|machines)\b)| (?P<total>(?:in|at) total|in all|total"
    r"|altogether|overall|all in all)"
    r"|(?:,| )(?: ?)(?P<each>(?:in|on|for) each of (?:them|these|those)"
    r"|in each(?= ?(?:[,.;:)\x00]|$))"
    r"|(?:in|on|for) each 1(?= ?(?:[,.;:)\x00]|$|(?:for|and|please|plus)(?!\w)))|each|apiece|on each"
    r"|per each|per(?= ?(?:[,;.)]|$)))(?! (?:\d|node"
    r"|task|rank|process|thread|cpu|host|machine|takes|needs|gets|uses|runs|gpu|core|with|has|have|having|of"
    r"|using|running"
    r"|containing)))?"
)
_QUANTITY = (
    rf"(?:(?:(?P<times>{NUMBER}) ?[x\u00d7*] ?)?(?P<n>{NUMBER})(?: ?(?:-|\u2013|up to|to|\.\.) ?(?P<m>{NUMBER}))?"
    r"|(?P<a>(?:an? )?single|an?|half (?:of )?(?:an?|one)|another))"
    r"(?P<dozen> dozens?)?(?: of)?"
)
FORWARD = (
    rf"(?<![\w.-])(?P<total0>(?:a )?total (?:of )?)?{_BOUND}{_QUANTITY}"
    rf"(?: ?[x\u00d7*] ?| |-|(?=[a-z]))(?:the )?{_ADJECTIVE}"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?: mpi)?(?![\w=-]|\.\w){PER}"
)
BETWEEN = (
    rf"(?<![\w.-])(?P<bound>between) (?P<n>{NUMBER}) and (?P<m>{NUMBER}) ?{_ADJECTIVE}"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?![\w-]|\.\w){PER}"
)
PART_OF_NODE = (
    r"(?<![\w.-])(?:(?P<half>half)|(?:an? )?(?P<quarter>quarter)|(?:an? )?(?P<third>third)) (?:of )?an? (?P<n>\d{1,4})"
    r"[ -]cores? (?:node|machine|server|host)(?![\w-])"
)
FRACTION = r"(?<![\w.,-])\d{1,2} ?% (?:of )?(?:a|one|1|the|each) nodes?(?![\w-])"
BACKWARD = (
    rf"(?<![\w.-])(?<!single )(?<!\ba )(?<!per )(?<!each )(?:number of |num[_ -]?|n[_-]?"
    rf"|#)?{_ADJECTIVE}(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})"
    r"(?:(?:[ _-]?(?:per|/)[ _-]?| (?:on|in|for) (?:an?|each|every) )(?P<per>node|host|machine|server|task|rank"
    r"|process|proc|gpu|core|cpu|job)s?)?"
    rf"(?: ?[:=] ?| (?:number|count|quantity)(?: is| are| of|:| ?=) ?)(?P<n>{NUMBER})(?![\w:-])"
    r"(?! (?:x )?(?:[cg]pus?|cores?|tasks?|ranks?|processes|threads?|nodes?|nvidia|amd|intel|[kmgt]i?b|hours?|days?)\b"
    r"(?! ?[:=]))"
)
_PER_WORD = {
    "host": "node", "machine": "node", "server": "node", "rank": "task", "process": "task", "proc": "task",
    "worker": "task",
    "cpu": "core", "card": "gpu",
}  # fmt: skip


_NAMED_UNITS = {
    "node": "nodes?|nnodes", "task": "tasks?|ntasks|ranks?|procs?|processes", "core": "cores?|ncores|cpus?|ncpus",
    "thread": "threads?|nthreads", "gpu": "gpus?|ngpus",
}  # fmt: skip
_NAMES = "|".join(_NAMED_UNITS.values())
_AND = r"(?:,? |; ?)"
LABELLED = (
    rf"(?<![\w.,/-])(?<!\d )(?:(?:{_NAMES}) {NUMBER}(?:{_AND}(?:{_NAMES}) {NUMBER}){{1,4}}"
    rf"|(?:nodes|nnodes|tasks|ntasks|ranks|procs|cores|ncores|cpus|ncpus|threads|nthreads|gpus|ngpus) {NUMBER})"
    rf"(?= ?[,;]| ?\x00| ?$| (?:time|walltime|mem|memory|for|with|per|queue|account|partition)(?![\w-]))"
)
"""`nodes 2 tasks 64 time 2h`: names before their numbers, as on a form."""
SCALED = (
    rf"(?<![\w.,-])(?P<n>\d{{1,4}}(?:\.\d{{1,3}})?) ?(?P<scale>k|m|thousand|million) (?:mpi )?"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?![\w-]|\.\w){PER}"
)
CORE_NODES = (
    rf"(?<![\w.-])(?:(?P<n>{NUMBER})(?: ?[x\u00d7*])?|an?) ?(?<=[ x\u00d7*])(?P<cores>\d{{1,4}})[ -]cores? "
    r"(?:nodes?|machines?|servers?|hosts?|box(?:es)?)(?![\w-])"
)
VAGUE = (
    r"(?<![\w-])(?:a )?(?:few|several|couple of|couple|handful of|bunch of|number of|some|many|lots of|enough) "
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})(?![\w-]|\.\w)"
)
_VAGUE_FIELD = {"node": "nodes", "task": "tasks", "core": "cpus", "thread": "cpus_per_task", "gpu": "gpus"}
PPN = rf"(?<![\w-])(?:ppn|tpn|rpn|(?P<cores>cpn)) ?[:=]? ?(?P<n>{NUMBER})(?![\w.])"
NUMBER_PER = (
    rf"(?<![\w-])(?P<n>{NUMBER}) ?(?:per|/|(?:of them )?(?:are )?(?:placed )?(?:(?:on|to|in) (?:each|every)|to an?"
    rf"|(?<=[,(:] \d )on a|(?<=[,(:] \d\d )on a)) ?"
    r"(?P<per>node|task|rank|gpu|host|machine)(?![\w-])"
)


COUNTED_AFTER = (
    rf"(?<![\w.-])(?:the )?{_ADJECTIVE}(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})"
    rf"(?:,? \(?(?P<n>{NUMBER}) (?:in all|in total|altogether|all told|overall)\)?"
    rf"|,? (?:of which|of them|of these) there (?:are|will be|should be) (?P<n2>{NUMBER})"
    rf"|(?:[^.;\x00]{{0,40}}?,|) \(?(?P<n3>{NUMBER}) (?:in number|of (?:them|these|those))\)?{PER})(?![\w.-]\w)"
)


COMPARED = rf"(?<![\w-])nodes? ?(?:>=|≥|(?P<most><=|≤)) ?(?P<n>{NUMBER})(?![\w.])"
NUMBER_OF = (
    rf"(?<![\w.-])(?:the )?(?:number|count) of (?:mpi |compute )?"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in UNITS.items())})"
    r"(?: (?:has|have|is|are|must|should|shall|needs?|ought|to|be|now|goes|go|gets?|up|down|raised|increased|lowered"
    r"|reduced|decreased|cut|changed|set|doubled|halved|rises?|grows?|drops?|falls?|changes?|becomes?|increases?"
    rf"|decreases?|moves)){{1,6}}(?: from {NUMBER})?(?: to)? (?P<n>{NUMBER})(?![\w:-]|[.,]\d){PER}"
)
"""`the number of ranks has to be 64`, `the number of nodes goes up to 5`."""


def _unit(match: re.Match[str]) -> str:
    return next(unit for unit in UNITS if match[unit])


def per_of(match: re.Match[str]) -> str | None:
    """What an amount is counted per, by the words beside it: a unit, `job`, `each`, or None."""
    groups = match.groupdict()
    if groups.get("per"):
        return _PER_WORD.get(match["per"].removesuffix("es"), match["per"])
    if groups.get("total") or groups.get("total0"):
        return "job"
    if groups.get("ofnodes"):
        return "node"
    if groups.get("ofgpus"):
        return "gpu"
    return "each" if groups.get("each") else None


def read_scaled_counts(draft: Draft) -> None:
    """`2M tasks`: thousands and millions, before `2M` can be memory or minutes."""
    for match in draft.line.find(SCALED):
        scale = draft.line.words(*match.span("scale"))
        size = {"k": 1000, "K": 1000, "M": 1_000_000, "thousand": 1000, "million": 1_000_000}.get(scale)
        value = float(match["n"]) * (size or 0)
        if scale == "m":
            draft.unread.append(draft.words(*match.span()))  # a million, a thousandth or minutes
            draft.line.claim(*match.span())
            continue
        if size is None or value < 1 or value != int(value) or draft.negated(*match.span()):
            continue
        draft.amounts.append(Amount(_unit(match), int(value), None, *match.span(), per=per_of(match)))  # type: ignore[arg-type]  # one of UNITS
        draft.line.claim(*match.span())


def _labelled(draft: Draft, match: re.Match[str]) -> None:
    for found in re.finditer(rf"({_NAMES}) ({NUMBER})", match[0]):
        unit = next(unit for unit, names in _NAMED_UNITS.items() if re.fullmatch(names, found[1]))
        count = count_of(found[2])
        start, end = match.start() + found.start(), match.start() + found.end()
        if count:
            draft.amounts.append(Amount(unit, count, None, start, end))  # type: ignore[arg-type]  # one of UNITS
            draft.line.claim(start, end)


def read_counts(draft: Draft) -> None:
    """Find every count of a unit."""
    for match in draft.line.find(PART_OF_NODE):
        part = 2 if match["half"] else 4 if match["quarter"] else 3
        if int(match["n"]) % part == 0 and int(match["n"]):
            draft.amounts.append(Amount("core", int(match["n"]) // part, None, *match.span()))
            draft.line.claim(*match.span())
    for match in draft.line.find(CORE_NODES):
        count, cores = count_of(match["n"]) if match["n"] else 1, count_of(match["cores"])
        if count and cores:
            draft.amounts.append(Amount("node", count, None, match.start(), match.start("cores")))
            draft.amounts.append(Amount("core", cores, None, match.start("cores"), match.end(), per="node"))
            draft.line.claim(*match.span())
    for match in draft.line.find(LABELLED):
        _labelled(draft, match)
    for match in draft.line.find(FRACTION):
        _half(draft, "node", match)
    shares = [*draft.line.find(NUMBER_PER)]
    for match in shares:
        draft.line.claim(*match.span())  # so that `128 to a node` counts no node
    for match in draft.line.find(COUNTED_AFTER):
        _counted_after(draft, match)
    for match in draft.line.find(COMPARED):
        low, high = (None, count_of(match["n"])) if match["most"] else (count_of(match["n"]), None)
        if (low or high) and not draft.negated(*match.span()):
            draft.amounts.append(Amount("node", low, high, *match.span()))
            draft.line.claim(*match.span())
    for match in draft.line.find(NUMBER_OF):
        _number_of(draft, match)
    for rule in (BETWEEN, BACKWARD, FORWARD):
        for match in draft.line.find(rule):
            _take(draft, match)
    for match in draft.line.find(VAGUE):
        unit = _unit(match)
        if any(amount.unit == unit for amount in draft.amounts):
            draft.line.claim(*match.span())  # how many is said elsewhere
        elif not draft.negated(*match.span()) and unit != "gpu":
            draft.ask(f"shapes.0.{_VAGUE_FIELD[unit]}", *match.span(), f"{draft.words(*match.span())!r}: how many?", [])
    for match in draft.line.find(PPN):
        of_each: Unit = "core" if match["cores"] else "task"
        draft.amounts.append(Amount(of_each, count_of(match["n"]), None, *match.span(), per="node"))
        draft.line.claim(*match.span())
    for match in shares:
        _same_unit(draft, match)


def _same_unit(draft: Draft, match: re.Match[str]) -> None:
    """`512 ranks on 16 nodes (32 per node)`: a number without a unit counts what was counted shortly before."""
    before = [a for a in draft.amounts if a.unit not in ("node", "memory") and 0 <= match.start() - a.end <= 60]
    count, last = count_of(match["n"]), max(before, key=_end, default=None)
    per_gpu = last is not None and last.unit == "task" and per_of(match) == "gpu"
    if count and per_gpu and last and last.low and last.low % count == 0 and not _counts_gpus(draft):
        draft.amounts.append(Amount("gpu", last.low // count, None, *match.span()))  # `8 ranks, 2 per GPU`
    elif count and last is not None and not per_gpu:
        draft.amounts.append(Amount(last.unit, count, None, *match.span(), per=per_of(match), model=last.model))
    elif count and any(0 <= match.start() - end <= 60 for _, _, end in draft.gpu_models):
        draft.amounts.append(Amount("gpu", count, None, *match.span(), per=per_of(match)))  # `MI250X cards, 2 per node`
    else:
        draft.unread.append(draft.words(*match.span()))


def _number_of(draft: Draft, match: re.Match[str]) -> None:
    count = count_of(match["n"])
    if count and not draft.negated(*match.span()):
        draft.amounts.append(Amount(_unit(match), count, None, match.start("n"), match.end(), per=per_of(match)))  # type: ignore[arg-type]  # one of UNITS
        draft.line.claim(*match.span())


def _end(amount: Amount) -> int:
    return amount.end


def _counts_gpus(draft: Draft) -> bool:
    return any(amount.unit == "gpu" for amount in draft.amounts) or draft.asks("shapes.0.gpus")


def _counted_after(draft: Draft, match: re.Match[str]) -> None:
    """`the ranks, 1024 in all`: the number stands behind its unit."""
    count = count_of(match["n"] or match["n2"] or match["n3"])
    if count:
        per = "job" if match["n"] else per_of(match)
        number = match.start("n") if match["n"] else match.start("n2" if match["n2"] else "n3")
        draft.amounts.append(Amount(_unit(match), count, None, number, match.end(), per=per))  # type: ignore[arg-type]  # one of UNITS
        draft.line.claim(match.start(), match.end(_unit(match)))
        draft.line.claim(number, match.end())


def _has_memory(draft: Draft) -> bool:
    return any(amount.unit == "memory" for amount in draft.amounts) or draft.asks("shapes.0.memory")


def _take(draft: Draft, match: re.Match[str]) -> None:
    if len(draft.amounts) > MAX_ITEMS:
        return  # more than any request has: it is refused when they are related
    groups = match.groupdict()
    unit = _unit(match)
    if draft.negated(*match.span()):
        return
    adjective, vendor = groups.get("adjective") or "", groups.get("vendor")
    if vendor and unit != "gpu":
        draft.unread.append(draft.words(*match.span("vendor")))
    if unit == "node" and any(word in adjective for word in ("exclusive", "dedicated", "whole", "full", "entire")):
        draft.fields["exclusive"] = True
    if unit == "node" and re.search(r"fat|mem", adjective) and not _has_memory(draft):
        words = draft.words(*match.span())
        draft.ask("shapes.0.memory", match.start("adjective"), match.start(unit), f"{words!r}: how much memory?", [])
    bound = (groups.get("bound") or "").strip(" .")
    if bound in ("more than", ">") and (
        denied := _DENIED.search(draft.line.open[max(0, match.start() - 60) : match.start()])
    ):
        bound = "at most"  # `must not be given more than 16 cores`
        word = match.start() - len(denied[0])
        draft.line.claim(word, word + len(denied[1]))
    if _LEFT_FREE.search(draft.line.norm[max(0, match.start() - 12) : match.start()]) and _FREE.match(
        draft.line.norm, match.end()
    ):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
        return
    start, end = match.span()
    if unit == "node" and groups.get("each"):
        end = match.start("each")  # `4 nodes, each with 192 GB`
    if groups.get("a"):
        if groups["a"].startswith("half"):
            if not groups["dozen"]:
                _half(draft, unit, match)
                return
            low: int | None = 6
        elif groups["a"] == "another":
            return
        else:
            low = 12 if groups["dozen"] else 1
    else:
        low = count_of(match["n"])
        if low is not None and groups.get("dozen"):
            low *= 12
        times = count_of(groups["times"]) if groups.get("times") else 1
        if times is None:
            start, times = match.start("n"), 1  # `2.5.0 x 8 cores`
        if low is not None and times and times > 1:
            if unit == "node" or match["m"] or per_of(match) in (None, "job"):
                return  # `2x8 cores`: of what there are two is not said
            draft.default(f"{draft.words(start, end)!r}: {low * times} {unit}s are asked for")
            low *= times
    high = count_of(groups["m"]) if groups.get("m") else None
    if low is None and high and bound != "between":  # `newer than 2.14 - 128 cores`
        low, high, start = high, None, match.start("m")
    if low is None or low == 0 or (groups.get("m") and match.start("m") != start and (high is None or high < low)):
        return
    if bound.startswith(_UPPER):
        low, high = None, low
    elif bound in ("less than", "fewer than", "<"):
        if low == 1:
            return
        low, high = None, (low or 1) - 1
    elif bound in ("more than", ">"):
        low += 1
    if bound.startswith(_LOWER) or bound in ("more than", ">"):
        draft.default(f"{draft.words(start, end)!r}: {low} {unit}s are asked for")
    elif bound in ("around", "about", "roughly", "approximately", "approx", "~"):
        draft.default(f"{draft.words(start, end)!r}: exactly {low} {unit}s are asked for")
    behind = _AT_MOST.match(draft.line.open, end) if unit == "node" and not bound and high is None and low else None
    if behind is not None:
        low, high, end = None, low, behind.end()
    amount = Amount(unit, low, high, start, end, per=None if unit == "node" else per_of(match))  # type: ignore[arg-type]  # one of UNITS
    amount.vendor = vendor if unit == "gpu" else None
    draft.amounts.append(amount)
    draft.line.claim(start, end)


_AT_MOST = re.compile(r",? \(?(?:max(?:imum|\.)?|at (?:the )?most|tops|or (?:fewer|less))\)?(?= ?(?:[,.;:)\x00]|$))")
_DENIED = re.compile(
    r"((?:(?:do|does|must|may|should|can|will|is|are) )?not|\w+n't|never|cannot)(?: [^\s.;,\x00]+){0,5}[\x00 ]*$"
)
_LEFT_FREE = re.compile(r"(?<![\w-])(?:leave|leaving|keep|keeping|spare|with) $")
_FREE = re.compile(r"(?: on (?:each|every|the) nodes?)? (?:free|idle|unused|untouched|spare)(?![\w-])")


def _half(draft: Draft, unit: str, match: re.Match[str]) -> None:
    if unit == "node":
        draft.ask(
            "shapes.0.cpus", *match.span(), f"{draft.words(*match.span())!r}: how many cores is that?",
            [Option(label="take one whole node", patch={"shapes.0.nodes": 1})],
        )  # fmt: skip
