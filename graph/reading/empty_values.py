"""Values of a form that state nothing: `walltime: none`, `gpus: n/a`, `budget: unlimited`."""

from __future__ import annotations

import re

from graph.reading.draft import Draft

__all__ = ["says_nothing"]

_EMPTY = re.compile(
    r"(?i)\s*(?:none|null|nil|n/?a|n\.a\.|not (?:applicable|known|set|specified|stated|needed|required)|unknown|unset"
    r"|undefined|unspecified|default|any|whatever|tbd|\?+|-+|–|—|\.+|keine?s?|aucune?)\s*"  # noqa: RUF001  # as people type them
)
_ENDLESS = re.compile(r"(?i)\s*(?:unlimited|no limit|infinite|infinity|endless|max(?:imum)?|∞|unbegrenzt|illimité)\s*")
_NAMES = frozenset(("name", "account", "queue", "qos", "reservation", "script", "command", "constraint"))
"""Fields whose value can be a name, which `default` may be too."""
_REFUSED = frozenset(("gpus", "containers", "array", "dependencies", "licenses", "mpi", "inputs", "deadline", "budget"))
_OF_ANY_KIND = frozenset(("gpus", "mpi", "software", "command", "script", "name"))
"""Fields where `any` asks for something."""


def says_nothing(draft: Draft, raw: str, name: str, value: str) -> bool:
    """`walltime: none`, `gpus: n/a`: a value that states nothing; it is named, and nothing is stated."""
    text = value.strip()
    if _ENDLESS.fullmatch(text) and name in ("walltime", "walltime_s", "budget"):
        time = name != "budget"
        limit, more = ("time limit", "; sites apply their own, so set one") if time else ("limit", "")
        draft.default(f"'{raw}: {text}': no {limit} is asked for{more}")
        return True
    word = text.lower()
    if word == "no" and name in _REFUSED:
        draft.default(f"'{raw}: {text}' asks for none")
        return True
    if not _EMPTY.fullmatch(text) or (word == "default" and name in _NAMES) or (word == "any" and name in _OF_ANY_KIND):
        return False
    draft.default(f"'{raw}: {text}' states nothing")
    return True
