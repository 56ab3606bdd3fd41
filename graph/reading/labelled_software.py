"""Software that stands behind a label and needs no version to be known for it: `Application: Nek5000`."""

from __future__ import annotations

from dragoman.request import SoftwareNeed
from graph.reading.draft import Draft
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS

__all__ = ["read_labelled_software"]

_SOFTWARE = (
    r"(?:^|(?<=[;,\n|])|(?<=[;,|] ))(?:software|application|app|code|package|simulation code|solver|tool"
    r"|program name|software package) ?[:=] ?(?P<name>[a-z][\w+-]*(?:\.[a-z]+)?(?: (?!v\d)[a-z][\w+-]*){0,2})"
    r"(?= ?(?:[;|,]|\.(?: |$)|\x00|$))"
)
_NO_NAME = FUNCTION_WORDS | KEYWORDS | {"none", "any", "n", "na", "mine", "own", "custom", "see", "my", "our"}


def read_labelled_software(draft: Draft) -> None:
    """`Application: Nek5000`: a name without a version, which is software because the label says so."""
    for match in draft.line.find(_SOFTWARE):
        name = draft.line.words(*match.span("name")).rstrip(".")
        if set(name.lower().split()) & _NO_NAME:
            continue
        draft.add("software", SoftwareNeed(name=name), *match.span())
