"""Labels of what was: `time of the last run: 4 h`, `old queue: fast`. Their values are told and ask for nothing."""

from __future__ import annotations

from graph.reading.draft import Draft

__all__ = ["tell_past_labels"]

_BEFORE = r"(?:the |my |our |its |in |of |on |for |with |at |run ?|wall ?|number |amount |[a-z]{3,12} ){0,4}"
_PAST = r"(?:previous|previously|last|old|former|formerly|earlier|past|so far|until now|back then|yesterday's)"
RULE = (
    rf"(?:^|(?<=[;|] )|(?<=\n))(?:[*-] )?{_BEFORE}{_PAST}"
    rf"(?: [a-z']{{2,12}}){{0,3}} ?[:=] (?! )(?P<value>[^;\n\x00]{{1,200}})"
)
_ITS_OWN = ("not ", "no ", "start", "end", "finish", "deadline", "resort")
"""Words with which such a label still asks for something: `no later than last Friday: ...`."""


def tell_past_labels(draft: Draft) -> None:
    """Tell what stands behind such a label, before any rule counts it."""
    for match in draft.line.find(RULE):
        label = match[0][: match.start("value") - match.start()]
        if any(word in label for word in _ITS_OWN):
            continue
        value = match["value"]
        cut = value.find(", ") if match.start() == 0 and ";" not in draft.line.norm else -1
        end = match.start("value") + (cut if cut >= 0 else len(value.rstrip()))
        draft.unread.append(draft.words(match.start(), end))
        draft.line.claim(match.start(), end)
