"""GPUs by model (`8 A100s`), by memory (`40 GB GPUs`), on GPU nodes, or as one of two ways (`CPU or 4 GPUs`)."""

from __future__ import annotations

import re

from dragoman.errors import BadRequest
from dragoman.units import parse_bytes
from graph.reading.counts import PER, per_of
from graph.reading.draft import Amount, Draft
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["read_gpus"]

_VENDOR = r"(?:(?P<vendor>nvidia|amd|intel)[ -])?(?:tesla |instinct |data center |geforce )?"
MODEL = (
    r"(?:a(?:2|10|16|30|40|100|800)x?|h(?:20|100|200|800)|gh200|gb?[23]00|b(?:100|200|300)|v100s?|p(?:4|40|100)"
    r"|t4|l4|l40s?"
    r"|k(?:20x?|40|80)|m(?:40|60)|mi(?:50|60|100|210|250x?|300[axs]?|325x|355x)|rtx ?(?:a?\d{4})(?: ?ti)?"
    r"|gtx ?\d{3,4}(?: ?ti)?|pvc|max[ -]?1[15]\d0|arc a\d{3})"
)
_SIZE = r"(?:(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?!\w))"
_GPU = r"(?:gpus?|accelerators?|graphics cards?|gpu cards?|cards?)"
_QUANTITY = (
    rf"(?:(?P<bound>at least|up to|at most|max\.?|exactly) )?(?:(?P<n>{NUMBER}) ?(?:x|\u00d7|\*)? ?"
    r"(?:of (?:your|the|our|these|those|them) )?"
    rf"|(?P<a>(?:an? )?single|an?) )"
)
_TAIL = (
    rf"(?:(?: |-|/| \()?(?:with |having )?(?:(?:at least|min(?:imum)?\.?(?: of)?|>=|>) ?)?{_SIZE}"
    r"(?! (?:of )?(?:ram|memory|host|system))(?: (?:vram|hbm\w*|gpu memory))?(?: each)?\)?)?"
)
BY_MODEL = (
    rf"(?<![\w.-]){_QUANTITY}{_VENDOR}(?:(?P<size1>\d{{1,4}} ?gi?b)[ -])?(?P<model>{MODEL})(?!\w"
    rf"|\.\d)(?<!\d\d\.\d)s?(?:(?<=\d)s)?{_TAIL}(?:[ -]{_GPU})?{PER}"
)
BY_MODEL_PLURAL = BY_MODEL.replace("(?!\\w|\\.\\d)(?<!\\d\\d\\.\\d)s?(?:(?<=\\d)s)?", "(?:s|'s)?(?![\\w]|\\.\\d)")
BY_SIZE = rf"(?<![\w.-]){_QUANTITY}{_VENDOR}(?P<size>\d{{1,4}}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)[ -]{_GPU}(?!\w){PER}"
BEFORE_MODEL = (
    rf"(?<![\w.-]){_QUANTITY}{_VENDOR}{_GPU}(?: of type|,? type| \(|:"
    rf"|,? model| (?=[a-z]{{0,3}}\d)) ?{_VENDOR.replace('vendor', 'vendor2')}(?P<model>{MODEL})"
    rf"(?:,? ?(?:of |with |de |\u00e0 |mit )?(?:(?:each|per|je|jeweils) (?:with |having )?)?"
    rf"(?P<size>\d{{1,4}} ?g(?:i?b|igs?|igabytes?)?)(?! ?(?:of )?(?:main|system|host|ram|memory|mem)(?!\w))"
    rf"(?: each| per (?:gpu|card))?)?\)?(?!\w){PER}"
)
IN_BRACKETS = (
    rf"\((?:nvidia |amd )?(?P<model>{MODEL})s?(?:(?:,| with)?(?: (?:each|per)(?: with)?)? ?"
    r"(?P<size>\d{1,4} ?g(?:i?b|igs?|igabytes?)?)(?: each| per (?:gpu|card))?)?\)"
)
_MAKER = r"(?: (?:from|by|of|made by|produced by) (?P<vendor2>nvidia|amd|intel)(?!\w))?"
WITH_SIZE = (
    rf"(?<![\w.-]){_QUANTITY}{_VENDOR}(?:(?P<model>{MODEL})s?[ -])?{_GPU}{_MAKER}{PER}(?:,? (?P<link>with|having|of"
    rf"|that have"
    rf"|which have|each with"
    r"|each having|each of them with|each of which has|with each|with per|each|à|à each) | \(?)"
    r"(?:at least |(?:no|not) less than |>= ?"
    rf"|(?:a )?min(?:imum)?\.?(?: of)? )?"
    r"(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?P<sure>(?: or more)?(?: (?:of )?(?:vram|hbm\w*"
    r"|gpu memory|vmem))?(?: each"
    r"| per gpu| on each| on it| on board| on the card)?)"
    r"(?P<memory>(?: (?:of )?(?:main |system |its own |their own )?(?:ram|memory)(?: or more)?)?)(?![\w])"
)
COMMA_SIZE = (
    rf"(?<![\w.-]){_QUANTITY}{_VENDOR}{_GPU},? (?:each )?(?:with )?(?:at least |>= ?|min(?:imum)?\.? )?"
    r"(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?: (?:of )?(?:vram|hbm\w*|gpu memory|vmem"
    r"|memory))? each(?![\w])"
)
SIZED = (
    r"(?<![\w.-])(?:at least |>= ?|min(?:imum)?\.? |with |the )?(?:(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?"
    r"|igabytes?)?)[ -]"
    rf"(?:{_GPU}|ones?)(?!\w)|{_GPU} (?:with|having|of) (?:at least )?(?P<size2>\d{{1,4}}(?:\.\d)? ?g(?:i?b|igs?"
    rf"|igabytes?)?)"
    rf"(?! (?:of )?(?:ram|host|main|system))(?!\w)(?: (?:of )?(?:memory|vram|hbm\w*))?)"
    rf"(?:,? (?:and )?(?P<n>{NUMBER}) (?:of (?:them|these|those)|(?=per |on each )){PER})?"
)
ON_CARD = (
    r"(?<![\w.-])(?:(?:with|and|having|at least|min(?:imum)?\.?(?: of)?"
    r"|>=) ?){0,3}(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?: (?:of )?(?:memory|ram|mem))?"
    r" (?:on|in) (?:the|each|every|a) (?:card|gpu)s?(?!\w)"
)
EACH_WITH = (
    r"(?:(?<=gpus)|(?<=cards)),? each (?:with |having |of )?(?:at least |more than |over |>=? ?)?"
    r"(?P<size>\d{1,3}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?!\w)(?: (?:of )?(?:memory|vram"
    r"|hbm\w*))?(?! (?:of )?(?:ram|main|host|system))"
)
OWN_MEMORY = (
    r"(?<![\w.-])(?:,? ?(?:(?:that|which) (?:has|have)|each (?:with|having)|with|having) )?(?:at least |>= ?)?"
    r"(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?) (?:of )?(?:its|their) own (?:memory|ram|vram)(?![\w-])"
)
EACH_GPU = (
    r"(?<![\w.-])(?:each|every|per) (?:gpu|card)s?:? (?:(?:with|has|have|having|needs|must have|should have|at least"
    r"|min(?:imum)?\.?(?: of)?|>=) ?){1,3}(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?)(?: (?:of )?(?:memory"
    r"|vram"
    r"|hbm\w*))?(?![\w])"
    r"(?! (?:of )?(?:ram|host|main|system|cpu))"
)
VRAM = (
    r"(?<![\w.-])(?:(?:with|and|having|at least|min(?:imum)?\.?(?: of)?|>=|each with) ?){0,3}"
    r"(?:(?P<size>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?) ?(?:of )?(?:vram|v-ram|hbm\w*|gpu (?:memory|ram|mem)"
    r"|video (?:memory|ram)|vmem|device memory|gpu-memory)"
    r"|(?:vram|gpu (?:memory|ram|mem)|video memory|gpu-memory)(?: of| is|:| ?=|,| (?:should|must|has to|needs"
    r" to) be)?(?: at least| >=)? ?"
    r"(?P<size2>\d{1,4}(?:\.\d)? ?g(?:i?b|igs?|igabytes?)?))(?: each| per (?:gpu|card)| on each"
    r"|(?P<all>,? (?:in total|altogether|in all|overall|all told"
    r"|combined)))?(?![\w])"
)
RELATIVE = (
    rf"(?<![\w.-])(?:(?:an? |the )?gpus? )?(?:that (?:is|are) )?(?:newer|older|better|faster|slower|bigger|larger"
    rf"|smaller|other"
    rf"|more (?:recent|modern|powerful)|less powerful) than (?:an? |the )?{_VENDOR}{MODEL}s?(?!\w)"
    rf"|(?<![\w.-])(?:at least (?:an? )?)?{_VENDOR.replace('vendor', 'vendor2')}{MODEL}s?,? or (?:newer|better|later"
    r"|above|higher|faster|more recent|equivalent|similar|comparable)(?!\w)"
)
"""`newer than V100`, `A100 or better`: an order of models that is the person's own."""
MODEL_ONLY = (
    rf"(?<![\w.-])(?:on |with |using |needs |an? |gpu(?: model| type)?[:=]? "
    rf"|the ){{0,6}}(?:gpu(?:[ _-]model|[ _-]type)? ?[:=] ?)?{_VENDOR}(?:(?P<size>\d{{1,4}} ?gi?b) )?(?P<model>{MODEL})"
    rf"s?(?![\w]|\.\d)(?: {_GPU})?(?: ?[x\u00d7] ?(?P<n>\d{{1,3}})(?!\w))?"
    r"(?:,? (?:with|having|that has|which has|that have|which have) (?:at least )?(?P<size2>\d{1,4} ?gi?b)"
    r"(?: (?:of )?(?:its own |their own )?(?:memory|vram|hbm\w*))?(?!\w)"
    r"(?! (?:of )?(?:ram|main|system|host)))?"
)
MAKE_ONLY = (
    rf"(?<![\w.-])(?<!\d )(?:on |with |using |any |only )?(?P<vendor>nvidia|amd|intel)[ -]{_GPU}(?: only"
    rf"| please)?(?!\w)"
)
MAKE_SAID = (
    r"(?<![\w-])(?:,? ?(?:and )?(?:they|these|which|the gpus|the cards) )?(?:all )?(?:have to|must|should|need to) be "
    r"(?:from |of |by |made by )?(?P<vendor>nvidia|amd|intel)(?: ones| gpus| cards| hardware)?(?![\w-])"
)
MAKE_BEHIND = rf"(?<![\w-]){_GPU}(?P<said> (?:from|made by|produced by) (?P<vendor>nvidia|amd|intel))(?!\w)"
MAKE_IN_BRACKETS = r"\((?P<vendor>nvidia|amd|intel)\)"
MODEL_NODES = (
    rf"(?<![\w.-])(?:(?P<n>{NUMBER}) |(?P<a>an?|one) )(?P<kind>{_VENDOR}(?P<model>{MODEL})(?:[ -]gpu)?)[ -]"
    r"(?:nodes?|hosts?|machines?|servers?)(?!\w)"
)
"""`4 A100 nodes`: nodes are counted, and how many GPUs each has is not said."""
ANY_IN_BRACKETS = (
    r"\((?:any |all )?(?:(?P<vendor>nvidia|amd|intel)(?: models?| gpus?| cards?)?|gpus?|cards?|models?)"
    r",? (?:(?:with|of|having) )?(?:(?:at least|min(?:imum)?\.?(?: of)?|>=) ?)?(?P<size>\d{1,4} ?g(?:i?b|igs?)?)"
    r"(?: (?:of )?(?:vram|memory|gpu memory))?(?: or more)?(?: each)?\)"
)
"""`two GPUs (any NVIDIA with 24 GB or more)`."""
SLICE = r"(?<![\w.-])(?:mig )?\d{1,2}g\.\d{1,3}gb(?![\w.])"
"""`3g.20gb`: a part of a GPU, as NVIDIA names it."""
GPU_NODES = (
    rf"(?<![\w.-])(?:(?P<n>{NUMBER}) |(?P<a>an?|(?<=need )|(?<=want )|(?<=needs )) ?)"
    r"gpu[ -](?:nodes?|hosts?|machines?|servers?)(?!\w)"
)
NONE = (
    r"(?<![\w-])(?:no|without(?: any)?|not?(?: on| using)?|don't need(?: any)?"
    r"|do not need(?: any)?) gpus?(?: (?:needed|required|necessary))?(?![\w-])"
    r"|(?<![\w-])(?:only )?(?:on )?cpus?[ -]only(?![\w-])|(?<![\w-])cpu (?:nodes )?only(?![\w-])"
)
CPU_OR = (
    r"(?<![\w-])(?:to run |running |run |(?:which |that )?(?:may|can|could) be )?(?:on |either "
    r"|either on )?(?:the )?cpus?"
    r"(?: only| alone| nodes?)?,? or (?:on |with |have |having |use |using )?(?=(?:\d{1,4}|an?) (?:[\w-]{1,12} )?gpus?)"
)
CPU_AND = (
    r"(?<![\w-])(?:to run |running |run )?(?:on )?(?:both )?(?:the )?cpus?,? (?:and|plus|\+|&) (?=(?:\d{1,4}"
    r"|an?) (?:[\w-]{1,12} )?gpus?)"
)
OR_CPU = (
    r"(?:gpus?(?:(?: per| /| a| on each|/) ?node| each| in total)?|\x00),? (?P<or>or (?:else )?(?:on |just "
    r"|plain )?(?:the )?cpus?(?: only| alone| nodes?)?)(?![\w-])"
)


def read_gpus(draft: Draft) -> None:
    """Find GPUs that are described by more than a number; plain counts are found by `read_counts`."""
    for match in draft.line.find(RELATIVE):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    for match in draft.line.find(SLICE):
        draft.unread.append(draft.words(*match.span()))
        draft.line.claim(*match.span())
    for match in draft.line.find(NONE):
        draft.default("no GPUs are asked for")
        draft.source("shapes.0.gpus", *match.span())
    for rule, choice in ((CPU_OR, "cpu"), (CPU_AND, "")):
        for match in draft.line.find(rule):
            if choice:
                draft.fields["alternative"] = choice
            draft.source("shapes.0.gpus", *match.span())
    for match in draft.line.find(MODEL_NODES):
        count = count_of(match["n"]) if match["n"] else 1
        if count and not draft.negated(*match.span(), wish=True):
            draft.amounts.append(Amount("node", count, None, match.start(), match.end()))
            draft.gpu_models.append((re.sub(r"\s", "", match["model"]), *match.span("kind")))
            draft.line.claim(*match.span())
    for rule in (WITH_SIZE, COMMA_SIZE, BEFORE_MODEL, BY_MODEL_PLURAL, BY_SIZE):
        for match in draft.line.find(rule):
            _described(draft, match)
    for match in draft.line.find(IN_BRACKETS):
        draft.gpu_models.append((re.sub(r"\s", "", match["model"]), *match.span()))
        each = _bytes(match["size"]) if match["size"] else None
        draft.gpu_memory += [(each, *match.span())] if each else []
        draft.line.claim(*match.span())
    for match in draft.line.find(ANY_IN_BRACKETS):
        if match["vendor"]:
            draft.gpu_vendors.append((match["vendor"], *match.span()))
        draft.gpu_memory.append((_bytes(match["size"]) or 0, *match.span()))
        draft.line.claim(*match.span())
    for match in draft.line.find(VRAM):
        if match["all"]:
            draft.unread.append(draft.words(*match.span()))  # of all together: of how many is not known yet
            draft.line.claim(*match.span())
        else:
            _gpu_memory(draft, match, match["size"] or match["size2"])
    for match in (found for rule in (ON_CARD, EACH_WITH, OWN_MEMORY, EACH_GPU) for found in draft.line.find(rule)):
        _gpu_memory(draft, match, match["size"])
    for match in draft.line.find(SIZED):
        count = count_of(match["n"]) if match["n"] else None
        size = match["size"] or match["size2"]
        if count:
            start, end = match.span()
            draft.amounts.append(Amount("gpu", count, None, start, end, each_bytes=_bytes(size), per=per_of(match)))
            draft.line.claim(start, end)
        else:
            _gpu_memory(draft, match, size)
    for match in draft.line.find(OR_CPU):
        draft.fields["alternative"] = "gpu"
        draft.source("shapes.0.gpus", *match.span("or"))
    for match in draft.line.find(GPU_NODES):
        count = count_of(match["n"]) if match["n"] else 1
        if count:
            cut = match.end("n") if match["n"] else match.end("a")
            draft.amounts.append(Amount("node", count, None, match.start(), match.end()))
            draft.gpu_vendors.append((None, cut + 1, match.end()))
            draft.line.claim(*match.span())
    for match in draft.line.find(MODEL_ONLY):
        _model_only(draft, match)
    for match in draft.line.find(MAKE_BEHIND):
        draft.gpu_vendors.append((match["vendor"], *match.span("said")))
        draft.line.claim(*match.span("said"))
    for match in (found for rule in (MAKE_IN_BRACKETS, MAKE_ONLY, MAKE_SAID) for found in draft.line.find(rule)):
        draft.gpu_vendors.append((match["vendor"], *match.span()))
        draft.line.claim(*match.span())


def _bytes(size: str) -> int | None:
    try:
        return parse_bytes(re.sub(r"g(?:igs?|igabytes?)?$", "gb", size))
    except BadRequest:
        return None


def _gpu_memory(draft: Draft, match: re.Match[str], size: str) -> None:
    """`16 GB VRAM`: of the GPUs that are counted elsewhere; kept until the counts are known."""
    each, end = _bytes(size), _or_more(draft, match.end())
    if each is not None and not draft.negated(*match.span(), wish=True):
        draft.gpu_memory.append((each, match.start(), end))
        draft.line.claim(match.start(), end)


def _or_more(draft: Draft, end: int) -> int:
    """Where `or more` ends behind an amount, which is the least that a GPU must have anyway."""
    more = _MORE.match(draft.line.open, end)
    return more.end() if more else end


_MORE = re.compile(
    r" ?\(?(?:(?:or|and) (?:more|above|up|better|higher|upwards?)|at (?:the )?least|minimum"
    r"|min\.?)(?![\w-])\)?"
    r"(?! (?:than )?(?:[\d\x00]|an? ))"
)
_PART_OF = re.compile(r"(?:half|a quarter|quarter|a third|third|a fraction|part|a part|a slice|slice|1/\d) (?:of )?$")


def _described(draft: Draft, match: re.Match[str]) -> None:
    groups = match.groupdict()
    if re.match(r"\d{1,4}(?:[kmptl]\d{1,2}|h20)(?!\d)", match[0]):
        return  # `8p4` is a version, `4k80` is no way to write four of them
    part = _PART_OF.search(draft.line.open[max(0, match.start() - 24) : match.start()])
    if part is not None:
        draft.unread.append(draft.words(match.start() - len(part[0]), match.end()))
        draft.line.claim(match.start() - len(part[0]), match.end())
        return
    if draft.negated(*match.span(), wish=True):
        return
    count = count_of(groups["n"]) if groups.get("n") else 1
    if not count:
        return
    size = groups.get("size") or groups.get("size1")
    try:
        each = parse_bytes(re.sub(r"g(?:igs?|igabytes?)?$", "gb", size)) if size else None
    except BadRequest:
        return
    if "sure" in groups and not _says_of_gpu(match) and not _is_of_the_gpu(draft, match):
        _which_memory(draft, match, count, each or 0)
        return
    named = re.sub(r"\s", "", groups.get("model") or "")
    model = (named if named == "l40s" else named.rstrip("s")) or None
    vendor = groups.get("vendor") or groups.get("vendor2") or None
    bound = groups.get("bound") or ""
    if bound.startswith(("at least", "up", "at most", "max")):
        draft.default(f"{draft.words(*match.span())!r}: {count} GPUs are asked for")
    start, end = match.start(), _or_more(draft, match.end()) if each else match.end()
    draft.amounts.append(
        Amount("gpu", count, None, start, end, per=per_of(match), model=model, vendor=vendor, each_bytes=each)
    )
    draft.line.claim(start, end)


def _says_of_gpu(match: re.Match[str]) -> bool:
    """`a GPU with 24 GB of memory` is a GPU's; `with 24 GB` can be anything's, and RAM is the node's."""
    if match["link"] == "of" and match["model"]:
        return True  # `V100 GPUs of 32 GB`
    if match["memory"]:
        return not re.search(r"ram|main|system", match["memory"])
    if re.search(r"each|per", match["link"] or ""):
        return True  # `2 GPUs with each at least 40 GB`
    before = match[0][: match.start("size") - match.start()]
    least = re.search(r"(?:>=|at least|(?:no|not) less than|min(?:imum)?\.?(?: of)?) ?$", before) is not None
    return least or match["sure"] not in ("", " or more")  # `1 gpu >= 24GB`: what it must have


def _is_of_the_gpu(draft: Draft, match: re.Match[str]) -> bool:
    """Whether this can only be the GPU's: main memory is stated elsewhere, or it stands in brackets behind them."""
    if "(" in match[0] and draft.line.norm[match.end() : match.end() + 1] == ")":
        return "ram" not in (match["memory"] or "")
    rest = draft.line.norm[: match.start()] + " " + draft.line.norm[match.end() :]
    main = re.search(rf"{NUMBER} ?(?:g|t)i?b?(?: of)?(?: main| system| host)? (?:ram|memory|mem)\b", rest)
    return main is not None and "ram" not in (match["memory"] or "")


def _which_memory(draft: Draft, match: re.Match[str], count: int, size: int) -> None:
    """`2 GPUs with 64 GB`: of each GPU, or of the job; the GPUs themselves are counted."""
    cut = match.start("size")
    draft.amounts.append(Amount("gpu", count, None, match.start(), cut, per=per_of(match)))
    draft.ask(
        "shapes.0.memory", cut, match.end(),
        f"{draft.words(*match.span())!r}: is that memory of each GPU, or main memory?",
        [Option(label="main memory of the job", patch={"shapes.0.memory": {"bytes": size, "per": "job"}}),
         Option(label="main memory of each node", patch={"shapes.0.memory": {"bytes": size, "per": "node"}}),
         Option(label="memory of each GPU", patch={"shapes.0.gpus.memory_bytes": size})],
    )  # fmt: skip
    draft.line.claim(match.start(), cut)


def _model_only(draft: Draft, match: re.Match[str]) -> None:
    """A model without a number: of the GPUs that are counted elsewhere; kept until the counts are known."""
    if draft.negated(*match.span(), wish=True):
        return
    model = re.sub(r"\s", "", match["model"])
    if model == "v100s" and draft.line.words(*match.span("model")).endswith("s"):
        model = "v100"  # several of them, not the V100S
    if match["n"] and int(match["n"]):
        draft.amounts.append(Amount("gpu", int(match["n"]), None, *match.span(), model=model))
    else:
        draft.gpu_models.append((model, *match.span()))
    each = _bytes(match["size2"] or match["size"]) if match["size2"] or match["size"] else None
    draft.gpu_memory += [(each, *match.span())] if each else []
    draft.line.claim(*match.span())
