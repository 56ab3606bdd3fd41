"""Where versions stand: behind a name, before it with words that turn them round, or apart in the sentence."""

from __future__ import annotations

import re

from dragoman.versions import VersionBound, VersionRange
from graph.reading.draft import Draft
from graph.reading.version_words import MORE, RANGE, VERSION_WORD, version_range

__all__ = ["ASIDE", "as_written", "read_version_apart", "turned"]

ASIDE = re.compile(
    r"(?<![\w-])(?:(?P<only>no (?:other )?(?:version|release) of )|(?P<bound>at most|at least|up to) |(?:nothing"
    r"|no version|not) (?P<than>older|earlier"
    r"|newer"
    r"|later) than )$"
)


def turned(found: VersionRange, aside: re.Match[str], match: re.Match[str]) -> VersionRange:
    """`no version of Python other than 3.11`, `nothing older than MATLAB R2022a`: the words before turn it round."""
    bound = found.bounds[0]
    if aside["only"]:
        operator = "==" if match["op"] in ("other than", "except") else bound.operator
    elif aside["bound"] and bound.operator == "==":
        operator = ">=" if aside["bound"] == "at least" else "<="
    elif bound.operator == "==":
        operator = ">=" if aside["than"] in ("older", "earlier") else "<="
    else:
        operator = bound.operator
    return VersionRange(bounds=(VersionBound(operator=operator, version=bound.version),))


def as_written(draft: Draft, match: re.Match[str]) -> VersionRange | None:
    """The range that a match of RANGE states, each version in the letters of the text."""
    found = version_range(match)
    if found is None:
        return None
    original = draft.line.words(*match.span())
    bounds = []
    for bound in found.bounds:
        at = original.lower().replace(" ", "").find(bound.version.lower())
        squeezed = original.replace(" ", "")
        version = squeezed[at : at + len(bound.version)] if at >= 0 else bound.version
        bounds.append(VersionBound(operator=bound.operator, version=version.rstrip(".")))
    return VersionRange(bounds=tuple(bounds))


APART = (
    rf"(?<![\w-])[(,]?(?:and )?(?:(?P<bound>at least|at most) )?(?:in |the |and "
    rf"|any )*(?=(?:{VERSION_WORD}|any(?:thing)?|something|everything"
    rf"|starting)(?![\w])){RANGE}{MORE}\)?(?: please)?(?=[ ,.;:!?)]|$)"
)


def read_version_apart(draft: Draft) -> None:
    """`some ORCA calculations (version 5.0.4)`: of the one package, or runtime, that is named without a version."""
    known = draft.fields.get("software", [])
    path, needs = "software", known
    if not known:
        path, needs = "containers", [need for need in draft.fields.get("containers", []) if len(need.runtimes) == 1]
    bare = [index for index, need in enumerate(needs) if need.version is None and not getattr(need, "alternatives", ())]
    for match in draft.line.find(APART) if len(bare) == 1 and len(needs) == 1 else ():
        found = as_written(draft, match)
        if re.match(r" ?(?:or|and) \d| (?:is|are) not", draft.line.norm[match.end() :]):
            continue  # `Version 2.1 or 2.2 is not recent enough`
        if found is not None and match["bound"] and found.bounds[0].operator == "==":
            bound = found.bounds[0].version
            least = match["bound"] == "at least"
            found = VersionRange(bounds=(VersionBound(operator=">=" if least else "<=", version=bound),))
        if found is not None and not draft.negated(*match.span()):
            draft.fields[path][bare[0]] = needs[bare[0]].model_copy(update={"version": found})
            draft.source(f"{path}.{bare[0]}.version", *match.span())
            return
