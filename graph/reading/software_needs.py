"""What is found as software becomes a need: beside others, in their place, once more, or in other versions."""

from __future__ import annotations

import re

from dragoman.request import SoftwareNeed
from graph.reading.builds import with_build
from graph.reading.conditions import in_its_absence, only_if_there
from graph.reading.draft import Draft
from graph.reading.reading import Option
from graph.reading.version_lists import with_other_versions

__all__ = ["add_need", "ask_about", "joined"]

_INSTEAD = re.compile(
    r"(?: ?\))? (?:(?:is|are|can|may|should|will) (?:to )?be (?:used|taken)(?: instead)?|(?:would|will|can|could|is"
    r"|works?)(?: also)?) ?(?:do|be|work|serve)?(?: (?:ok|okay|fine|good|alright))?"
    r" ?(?:as well|too|also|instead)?(?= ?[.,;)!?]|$)"
)
_IF_ABSENT = re.compile(
    r",? (?:if|where|when|in case|should) (?:(?P<first>that|it|this|the (?:first|former))(?: one)?"
    r"|(?P<name>[a-z][\w+.-]*))"
    r" (?:is|are|be|turns out(?: to be)?) ?(?:missing|absent|unavailable|(?:not|n't) (?:there|installed|available"
    r"|present"
    r"|offered|provided|possible))(?![\w-])"
)
"""`or PETSc if Trilinos is missing`: a condition that any alternative has."""


def ask_about(draft: Draft, name: str, start: int, end: int) -> None:
    """`LAMMPS with KOKKOS`: how it must be built, or software of its own."""
    known = draft.fields["software"]
    index, last = len(known) - 1, known[-1]
    variants = [*last.variants, name]
    options = [
        Option(label=f"{last.name} must be built with it", patch={f"software.{index}.variants": variants}),
        Option(label="it is software of its own", patch={f"software.{index + 1}": {"name": name}}),
        Option(label="neither"),
    ]
    draft.ask(f"software.{index}.variants", start, end, f"Is {name!r} part of {last.name}?", options)


def joined(draft: Draft, start: int) -> str | None:
    """`and` or `or` where a name follows other software in a list."""
    before = draft.line.norm[max(0, start - 56) : start]
    match = re.search(
        r"(?:(?: (?:is|are) (?:required|needed|wanted|requested|to be used|what (?:i|we) (?:need|want)))?,? (and|or)"
        r"(?:,? (?:failing that|as an? alternative|if not|alternatively|else"
        r"|if (?:that|it)(?: is|'s) not (?:there|available|possible|installed)|if (?:you|they) (?:do not"
        r"|don't) have (?:that|it|this)(?: one)?|if (?:that|it) is missing"
        r"|if that isn't (?:there|available)))?,?|,| ?[+&]) $",
        before,
    )
    if match is None or start - len(match[0]) not in draft.software_ends:
        return None
    return match[1] or "and"


def add_need(draft: Draft, need: SoftwareNeed, start: int, end: int) -> None:
    """Add a need to what is known, unless its words say that it is not wanted or only supposed."""
    if draft.negated(start, end, wish=True) or only_if_there(draft, start, end):
        return
    known = draft.fields.setdefault("software", [])
    if known and (joined(draft, start) == "or" or in_its_absence(draft, start)):
        last = known[-1]
        known[-1] = last.model_copy(update={"alternatives": (*last.alternatives, need)})
        draft.source(f"software.{len(known) - 1}.alternatives", start, end)
        draft.line.claim(max(ended for ended in draft.software_ends if ended < start), start)
        draft.software_ends.add(end)
        absent = _IF_ABSENT.match(draft.line.norm, end)
        if absent and (absent["first"] or absent["name"] == last.name.lower()):
            draft.line.claim(*absent.span())
        return
    instead = _INSTEAD.match(draft.line.norm, end)
    if known and instead and re.search(r"\b(?:do|well|too|also|instead|fine|ok|okay)\b", instead[0]):
        known[-1] = known[-1].model_copy(update={"alternatives": (*known[-1].alternatives, need)})
        draft.source(f"software.{len(known) - 1}.alternatives", start, instead.end())
        draft.software_ends.add(instead.end())
        return
    need, end = with_other_versions(draft, need, end)
    need, start, end = with_build(draft, need, start, end)
    draft.software_ends.add(end)
    for index, other in enumerate(known):
        if other.name.lower() != need.name.lower():
            continue
        if need.version is not None and other.version is None:
            known[index] = need
        elif need.version is not None and need.version != other.version:
            draft.ask(
                f"software.{index}.version", start, end, f"Which version of {need.name} counts?",
                [Option(label=str(v), patch={f"software.{index}.version": str(v)})
                 for v in (other.version, need.version)],
            )  # fmt: skip
            return
        draft.source(f"software.{index}", start, end)
        return
    draft.add("software", need, start, end)
