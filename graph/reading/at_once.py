"""`at once`: urgent only where a start is meant; of several things it is said that they are together."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["is_together"]

_ALL = re.compile(
    r"(?<![\w-])(?:all|both|them|these|together|everything|jobs|tasks|runs|members|elements|simulations|ones|copies"
    r"|cases"
    r"|programs|commands|\d+)(?: (?:of|them|run|running|the|start|started|should|must|may|can|be|to|jobs|tasks|runs))*"
    r" $"
)
_STARTS = re.compile(
    r"(?<![\w-])(?:start(?:s|ed|ing)?|begin(?:s|ning)?|begun|launch(?:ed|ing)?|run|running|go|going|submit(?:ted)?"
    r"|schedul(?:e|ed)|execut(?:e|ed)|kick(?:ed)? off|queue[d]?|need(?:s|ed)?|want(?:ed|s)?|required|due|wish|have|get"
    r"|happen|done|is)(?P<what>(?: [^\s.,;:!?\x00]+|[ \x00]+){0,4}) ?$"
)
_OPENS = re.compile(r"(?:^|[.,;:!?()\x00-]) ?(?:(?:and|but|so|please|pls|now|right) )*$")
_SEVERAL = re.compile(
    r"(?<![\w-])(?:all|both|every|each|whole|entire|several|many|most|more|most|max|only|them|together|two|three|\d+"
    r"|(?!(?:this|is|was|has|does|needs|wants|starts|begins|always|thanks|us|as|yes)(?!\w))[a-z]{2,}s)(?![\w-])"
)
"""Counts and plurals, as written: names in capitals (`GROMACS`) are none."""
_BREAK = re.compile(r"[.;:!?,()]")


def is_together(draft: Draft, match: re.Match[str]) -> bool:
    """Whether `at once` is said of several that are together, or of something else than a start; claims it then."""
    at = match.start() + match[0].index("at once")
    several = "array" in draft.fields or "&" in str(draft.fields.get("script", ""))
    behind_them = "array" not in draft.fields and several and draft.line.open[: match.start()].endswith("\x00 ")
    if behind_them or _ALL.search(draft.line.norm[max(0, match.start() - 40) : match.start()]):
        draft.default(f"{draft.words(*match.span())!r}: together, not urgently")
    elif several:
        draft.unread.append(draft.words(*match.span()))
    else:
        first = max(0, at - 100)
        clause = _BREAK.split(draft.line.open[first:at])[-1]
        start = _STARTS.search(clause)
        began = at - len(clause) + start.start("what") if start else 0
        if start and not _SEVERAL.search(draft.line.words(began, at)):
            return False
        if _SEVERAL.search(draft.line.words(at - len(clause), at) if clause.strip() else ""):
            draft.default(f"{draft.words(at, match.end())!r}: together, not urgently")
        elif _OPENS.search(clause or ","):
            return False
        else:
            draft.unread.append(draft.words(at, match.end()))
        draft.line.claim(at, match.end())
        return True
    draft.line.claim(*match.span())
    return True
