"""Shapes of which one will do (`2 nodes with 4 GPUs each or 4 nodes with 2`), and components of one job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from typing import Any

from dragoman.shape import Shape
from graph.reading.draft import Amount, Draft
from graph.reading.line import pattern
from graph.reading.ordinary import is_ordinary
from graph.reading.plain_words import plain_word
from graph.reading.shape import resolve_shape

__all__ = ["read_preference", "resolve_alternatives", "resolve_components"]

_BETTER = r" (?:is|are|would be) (?:preferred|preferable|best|ideal),? but"
_OR = re.compile(
    r"(?: (?:with )?cpus?[ -]only| with only cpus?| without (?:any )?gpus?)?(?: each| apiece)?"
    rf"(?:{_BETTER}|,? ?\(?(?:or|alternatively|otherwise))(?: else|,? alternatively"
    r"|,? instead(?: of (?:them|that|it|those))?)?"
    r"(?:,? (?:failing that|if not|if that is not possible|if necessary|if need be|just|maybe|even))?,? "
    r"(?:on |with |using |also )?"
)
_IF_NOT = (
    r"[.;,]? ?(?:or,? |and,? |but,? )?(?:if (?:that|this|it|these|those|they)(?:'s| is| are| can)?(?:n't| not|not)?"
    r"(?: be)? (?:possible|available|free|to be had|there|doable|feasible|had)|if not(?: possible| available)?"
    r"|failing that|alternatively"
    r"|otherwise|if none (?:is|are) (?:free|available))(?: then)?,? (?:then )?(?:on |with |using |use |take |also )?"
)
_PREFERRED = (
    r"(?<![\w-])(?:preferably|ideally|if possible,?|(?:i|we)(?:'d| would)? prefer)(?: on| with| using)? (?=\d|\x00)"
)
_TOGETHER = re.compile(
    r"[ ,]*(?:and|with|plus|of|having|each|each with|with each|with per|per|x|à|\+|&|@)?[ ,]*(?:each )?(?:with )?"
)
_IF_NOT_RULE = re.compile(rf"(?: each| apiece)?{_IF_NOT}")
_SIZES = {"node", "gpu", "core", "task"}
_EITHER = r"(?<![\w-])either (?:on |with )?(?=\x00|\d)"
_COMPONENT = (
    r"(?<![\w-])(?:(?:an?|one|1|the first|the second|the third|another|a second|a third) component (?:of|with|has"
    r"|needs|gets|uses|is|that has"
    r"|having|consisting of)(?= )|(?:the )?(?:component|part|group) (?:\d{1,2}|[a-d])(?: is| has| needs| gets"
    r"| runs on| uses|:| ?=)?(?= ))"
)
_PART_ON = (
    r"(?:the |an? |our |my )[a-z-]{3,20}(?: [a-z-]{3,20})? (?:(?:runs?|running|goes|comes) )?"
    r"(?:on|with|uses?|takes?|gets?|needs?|has|wants?) "
)
"""`the atmosphere on 10 nodes`."""
_JOINT = (
    r"(?:[,;+] ?|,? ?(?:and|plus|with|together with|alongside),? )(?:and )?(?:at the same time,? |also |in parallel "
    rf"|additionally |another )?(?:{_PART_ON})?"
)
_HETEROGENEOUS = r"(?<![\w-])(?:as )?(?:an? )?(?:heterogeneous|het)(?: job)?(?: with(?: 2| 3)? components)?:?(?![\w-])"


def read_preference(draft: Draft) -> None:
    """`Preferably 1 node ...; if that is not possible, 2 nodes`: the first of two is no wish that may be dropped."""
    for match in draft.line.find(rf"{_BETTER}(?= (?:\d|an? ))"):
        draft.line.claim(match.start(), match.end())
    if pattern(_IF_NOT).search(draft.line.norm):
        for match in draft.line.find(_PREFERRED):
            draft.line.claim(*match.span())


def resolve_alternatives(draft: Draft, base: Shape | None) -> list[dict[str, Any]]:
    """Fields of both shapes that an `or` stands between, with all counts that are common; none: there is no `or`."""
    norm, amounts = draft.line.norm, sorted(draft.amounts, key=_start)
    for index in range(1, len(amounts)):
        instead = _IF_NOT_RULE.fullmatch(norm, amounts[index - 1].end, amounts[index].start)
        if not instead and not _OR.fullmatch(norm, amounts[index - 1].end, amounts[index].start):
            continue
        left, right = _run(norm, amounts, index - 1, -1), _run(norm, amounts, index, 1)
        if not all({amount.unit for amount in side} & _SIZES for side in (left, right)):
            continue
        for one, other in zip(left, right, strict=False):
            if one.unit == other.unit and one.per is None and other is right[-1]:
                one.per = other.per  # `either 4 A100s or 4 H100s each`
        if not any(amount.unit == "node" for amount in right) and len(left) > 1:
            left = [amount for amount in left if amount.unit != "node"]  # `one node, eight A100 or eight H100`
        if not any(amount.unit == "memory" for amount in left):
            right = [one for one in right if one.unit != "memory" or not norm[: one.start].endswith((", ", ", with "))]
        common = [amount for amount in amounts if amount not in left and amount not in right]
        shapes = [_alone(draft, [*common, *part], base, f"shapes.{place}.") for place, part in enumerate((left, right))]
        if all(shapes):
            draft.line.claim(left[-1].end, right[0].start)
            for match in draft.line.find(_EITHER):
                draft.line.claim(*match.span())
            return [shape for shape in shapes if shape]
    return []


def resolve_components(draft: Draft, base: Shape | None) -> list[dict[str, Any]]:
    """Fields of each component of a heterogeneous job; none: there are no components."""
    marks = [match.span() for match in pattern(_COMPONENT).finditer(draft.line.norm)]
    if len(marks) < 2 and pattern(_HETEROGENEOUS).search(draft.line.norm):
        marks = _side_by_side(draft)
    if len(marks) < 2:
        return []
    ends = [start for start, _ in marks[1:]] + [len(draft.line.norm)]
    parts = [
        [amount for amount in draft.amounts if stop <= amount.start < end]
        for (_, stop), end in zip(marks, ends, strict=True)
    ]
    if sum(map(len, parts)) != len(draft.amounts):
        return []
    shapes = [_alone(draft, part, base, f"components.{place}.") for place, part in enumerate(parts)]
    if not all(shapes):
        return []
    for start, stop in marks:
        draft.line.claim(start, stop)
    for match in draft.line.find(_HETEROGENEOUS):
        draft.line.claim(*match.span())
    return [shape for shape in shapes if shape]


def _side_by_side(draft: Draft) -> list[tuple[int, int]]:
    """Where the parts of `one node with 1 TB and at the same time 4 nodes with 4 GPUs` begin."""
    nodes = [amount for amount in sorted(draft.amounts, key=_start) if amount.unit == "node"]
    named = re.search(rf"(?:^|[ :;,.]){_PART_ON}$", draft.line.norm[: nodes[0].start][-60:]) if nodes else None
    first = len(named[0].lstrip(" :;,.")) if named and _of_the_language(named[0]) else 0
    marks = [(nodes[0].start - first, nodes[0].start)] if len(nodes) > 1 else []
    for node in nodes[1:]:
        joint = re.search(rf"{_JOINT}$", draft.line.norm[max(0, node.start - 60) : node.start])
        if joint is None or not _of_the_language(joint[0]):
            return []
        marks.append((node.start - len(joint[0]), node.start))
    return marks


def _of_the_language(words: str) -> bool:
    """Whether no word can be the name of a program: `the atmosphere on`, not `the xios servers on`."""
    return all(plain_word(word) or is_ordinary(word) for word in re.findall(r"[a-z-]+", words))


def _start(amount: Amount) -> int:
    return amount.start


def _run(norm: str, amounts: Sequence[Amount], index: int, step: int) -> list[Amount]:
    """The counts that stand together with one of them, on one side of the `or`."""
    found = [amounts[index]]
    while 0 <= index + step < len(amounts):
        first, second = sorted((amounts[index], amounts[index + step]), key=_start)
        if not _TOGETHER.fullmatch(norm, first.end, second.start) or (step > 0 and second.unit == found[0].unit):
            break
        found.append(amounts[index + step])
        index += step
    return sorted(found, key=_start)


def _alone(draft: Draft, amounts: list[Amount], base: Shape | None, path: str) -> dict[str, Any] | None:
    """One shape by itself; None where something of it had to be asked, so that the whole is asked as it stands."""
    part = copy(draft)
    part.amounts = [copy(amount) for amount in amounts]
    part.questions, part.sources, part.defaults, part.unread = [], [], [], []
    fields = resolve_shape(part, base)
    if part.questions or part.unread or not fields:
        return None
    draft.defaults += [sentence for sentence in part.defaults if sentence not in draft.defaults]
    draft.sources += [
        source.model_copy(update={"field": source.field.replace("shapes.0.", path, 1)}) for source in part.sources
    ]
    return fields
