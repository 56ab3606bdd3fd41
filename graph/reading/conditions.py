"""Software under a condition: one that stands in for another, one that is used only where it happens to be there."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["in_its_absence", "only_if_there"]

_THERE = r"(?:available|installed|there|present|offered|found|provided)"
_ABSENT = re.compile(
    r"(?<![\w-])(?:should|if|in case|in the case that|where|when|unless) (?P<first>[^,;!?]{2,60}?),? (?:be |is |are "
    rf"|isn't |aren't |cannot be |can't be |should be )(?P<how>(?:un|not )?{_THERE}"
    r"|missing|absent|lacking|nowhere to be found)(?: there| at the site| on site| on the (?:machine|cluster))?,? "
    r"(?:(?:then|please|we|you|i|it|can|could|may|take|use|go|for|fall|back|to|on|the|version|with|run|just|simply"
    r"|try|do) ){0,6}$"
)
_THE_FIRST = ("it", "that", "this", "this one", "that one")
_SUPPOSED = re.compile(
    r"(?<![\w-])(?:if|unless|when|where|wherever|provided(?: that)?)(?: there is| you have| they have)? (?:an? |the )?$"
)
_IS_THERE = re.compile(rf" (?:is|are) {_THERE}(?![\w-])")


def in_its_absence(draft: Draft, start: int) -> bool:
    """Whether a name stands in for the one before it: `should CP2K be unavailable, VASP`; claims the condition."""
    first = max(0, start - 160)
    match = _ABSENT.search(draft.line.norm[first:start])
    if match is None:
        return False
    how = match["how"]
    denied = re.search(r"(?:n't|cannot be|can't be) $", match[0][: match.start("how") - match.start()]) is not None
    missing = denied or re.fullmatch(_THERE, how) is None
    begin, stop = first + match.start(), first + match.end("first")
    named = match["first"] in _THE_FIRST or any(begin < ended <= stop for ended in draft.software_ends)
    if missing == match[0].startswith("unless") or not named:
        return False
    draft.line.claim(begin, first + match.start("first"))
    if match["first"] in _THE_FIRST:
        draft.line.claim(begin, stop)
    draft.line.claim(stop, first + match.end("how"))
    return True


def only_if_there(draft: Draft, start: int, end: int) -> bool:
    """`if MUMPS is available, use it`: a condition that the person has to decide; its words are told back."""
    before = _SUPPOSED.search(draft.line.open[max(0, start - 40) : start])
    after = _IS_THERE.match(draft.line.open, end)
    if before is None or (after is None and " there " not in before[0] and " have " not in before[0]):
        return False
    first, last = start - len(before[0]), after.end() if after else end
    draft.unread.append(draft.words(first, last))
    draft.line.claim(first, last)
    return True
