"""What GPUs are and have, given to those that are counted elsewhere; where none are, it is asked how many."""

from __future__ import annotations

import re

from dragoman.model import JsonValue
from graph.reading.counts import PER, per_of
from graph.reading.draft import Amount, Draft
from graph.reading.line import pattern
from graph.reading.numbers import NUMBER, count_of
from graph.reading.reading import Option

__all__ = ["give_what_gpus_have", "read_some_gpus"]

SOME = (
    r"(?<![\w-])(?:(?:on|with|using|needs?|requires?|some|the|multiple|several|many) ){1,3}(?:nvidia |amd "
    r"|intel )?gpus?(?![\w-])(?: (?:support|acceleration|accelerated))?|(?<![\w-])gpu[ -](?:jobs?|runs?"
    r"|workloads?|accelerated|enabled|code|version|support|acceleration)(?![\w-])"
)
OF_WHICH = (
    rf",? ?(?:of which|and)? ?(?:i|we)(?:'d| would)? (?:want|need|ask for|require|use|take|like) (?P<n>{NUMBER})"
    r"(?: of (?:them|those|these|which))?(?![\w.-])(?! (?!in\b|on\b|for\b|both\b|and\b)\w)"
)
"""`at least 80 GB on each GPU, of which I want two`."""
OF_THEM = (
    rf"(?<![\w.-])(?P<n>{NUMBER}) of (?:them|those|these)(?: (?:will do|suffice|are enough|are needed))?{PER}"
    r"(?= ?(?:[,.;:)\x00]|$|for\b|and\b|please\b|in\b|on\b))"
)
_WHAT_IT_IS = re.compile(
    r"(?:(?:must|should|shall|has to|have to|needs? to|ought to) be|namely|i\.e\.|that is|specifically|to be precise"
    r"|more precisely),? $"
)


def _complete_each_other(draft: Draft) -> None:
    """`one GPU, it has to be an A100 with 80 GB`: said twice of one GPU, the second time what it is."""
    counted = [amount for amount in draft.amounts if amount.unit == "gpu"]
    plain = [amount for amount in counted if not (amount.model or amount.vendor or amount.each_bytes)]
    rest = [amount for amount in counted if amount not in plain]
    if len(rest) != 1 or not plain or any((amount.low, amount.high) != (1, None) for amount in counted):
        return
    named = rest[0]
    lead = draft.line.norm[max(0, named.start - 40) : named.start]
    if _WHAT_IT_IS.search(lead) or (lead.endswith(", ") and named.start - 2 in {amount.end for amount in plain}):
        named.per = named.per or next((amount.per for amount in plain if amount.per), None)
        draft.amounts[:] = [amount for amount in draft.amounts if not any(amount is one for one in plain)]


def _one_each(draft: Draft) -> None:
    """`4 ranks per node, 1 rank per GPU`: each task has a GPU, where they are counted in no other way."""
    tasks = [amount for amount in draft.amounts if amount.unit == "task"]
    of_gpus = [amount for amount in tasks if amount.per == "gpu" and (amount.low, amount.high) == (1, None)]
    if len(of_gpus) == 1 and len(tasks) > 1 and all(amount.unit != "gpu" for amount in draft.amounts):
        draft.amounts.append(Amount("gpu", 1, None, of_gpus[0].start, of_gpus[0].end, per="task"))
        draft.amounts[:] = [amount for amount in draft.amounts if amount is not of_gpus[0]]


def give_what_gpus_have(draft: Draft) -> None:
    """Give the model and memory that were said of GPUs to those that are counted; else asked or told back."""
    _complete_each_other(draft)
    _one_each(draft)
    _give_models(draft)
    counted = [amount for amount in draft.amounts if amount.unit == "gpu"]
    for each, start, end in draft.gpu_memory:
        if len(counted) == 1 and counted[0].each_bytes in (None, each):
            counted[0].each_bytes = each
            draft.source("shapes.0.gpus", start, end)
        elif not counted and (said := pattern(OF_WHICH).match(draft.line.open, end)) and count_of(said["n"]):
            number = Amount("gpu", count_of(said["n"]), None, *said.span(), each_bytes=each)
            draft.amounts.append(number)
            counted.append(number)
            draft.source("shapes.0.gpus", start, said.end())
        elif counted or draft.asks("shapes.0.gpus"):
            draft.unread.append(draft.words(start, end))
        else:
            _how_many(draft, start, end, None, each)


def read_some_gpus(draft: Draft) -> None:
    """`with GPUs` and no number anywhere: asked back."""
    give_what_gpus_have(draft)
    for match in draft.line.find(SOME):
        if any(amount.unit == "gpu" for amount in draft.amounts) or "shapes.0.gpus" in {
            q.field for q in draft.questions
        }:
            draft.source("shapes.0.gpus", *match.span())
        else:
            _how_many(draft, *match.span(), None)


def _give_models(draft: Draft) -> None:
    counted = [amount for amount in draft.amounts if amount.unit == "gpu"]
    for name, found in (("vendor", draft.gpu_vendors), ("model", draft.gpu_models)):
        for value, start, end in found:
            if counted and all(value is None or getattr(amount, name) in (None, value) for amount in counted):
                for amount in counted if value else ():
                    setattr(amount, name, value)
                draft.source("shapes.0.gpus", start, end)
            elif counted or draft.asks("shapes.0.gpus") or (name == "vendor" and draft.gpu_models):
                draft.unread.append(draft.words(start, end))
            elif name == "model" and (said := _of_them(draft, end)):
                draft.amounts.append(
                    Amount("gpu", count_of(said["n"]), None, start, end, model=value, per=per_of(said))
                )
                draft.source("shapes.0.gpus", *said.span())
                draft.line.claim(start, end)
                counted = [draft.amounts[-1]]
            else:
                _how_many(draft, start, end, value if name == "model" else None)


def _of_them(draft: Draft, end: int) -> re.Match[str] | None:
    """`it has to have H100s. Two of them suffice`: their number, where nothing else was counted between."""
    said = pattern(OF_THEM).search(draft.line.open, end, end + 80)
    holder = (
        any(amount.unit in ("node", "task") and amount.start < said.start() for amount in draft.amounts)
        if said
        else True
    )
    if said is None or holder or any(end <= amount.start < said.start() for amount in draft.amounts):
        return None
    return said if count_of(said["n"]) else None


def _how_many(draft: Draft, start: int, end: int, model: str | None, each: int | None = None) -> None:
    named: dict[str, JsonValue] = {"model": model} if model else {}
    named |= {"memory_bytes": each} if each else {}
    options = [
        Option(label=f"{count} per node", patch={"shapes.0.gpus": {"count": count, "per": "node", **named}})
        for count in (1, 2, 4, 8)
    ]
    draft.ask("shapes.0.gpus", start, end, f"{draft.words(start, end)!r}: how many GPUs?", options)
