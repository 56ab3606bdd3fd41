"""What was read beside words that nobody understood and that may turn it: asked, not stated.

`our quota on titan is exhausted` names a site, `docker is banned by our administrators` a runtime: where a word of
the same clause is told back, a site is wanted only if the person says so, and so is a queue, a runtime, a library, a
network or a file system where the told word denies or scorns.
"""

from __future__ import annotations

import re
from typing import Any

from dragoman.request import Source
from graph.reading.bearing import SCORN
from graph.reading.draft import Draft
from graph.reading.ordinary import SURE_OF_A_SITE, base_form, clause_about
from graph.reading.reading import Option

__all__ = ["ask_about_doubtful"]

_DENIES = frozenset(
    """
    not no never none nor neither without don't doesn't isn't aren't won't can't cannot shouldn't wouldn't mustn't
    nobody ban banned forbid forbidden prohibit prohibited refuse reject drop instead elsewhere
    nicht kein keine nie pas jamais
    """.split()  # noqa: SIM905
)
_ONLY = re.compile(r"(?:only|solely|exclusively|nowhere|else|just|must|after|before|until)")
"""What turns no name of a site."""
_KEYS = {
    "queue": "queue", "queues": "queues", "account": "account", "reservation": "reservation", "qos": "qos",
    "containers": "containers", "mpi": "mpi", "networks": "network", "storage": "storage",
}  # fmt: skip
"""Fields that can be wanted or refused, and where a draft keeps them."""


def ask_about_doubtful(draft: Draft, fields: dict[str, Any]) -> None:
    """Ask about fields whose clause holds a told word that may turn them; they are not stated meanwhile."""
    asked: set[str] = set()
    for source in [*draft.sources]:
        root = source.field.split(".")[0]
        if source.start is None or source.origin != "text" or root in asked:
            continue
        told = _told_beside(draft, source)
        if root == "sites" and told and not SURE_OF_A_SITE.search(source.words.lower()):
            _ask_site(draft, fields, source, told)
        elif root in _KEYS and (root in fields or _KEYS[root] in fields) and (denied := _denied(draft, source)):
            asked.add(root)
            fields.pop(root if root in fields else _KEYS[root])
            draft.ask_plain(
                root, source.words, source.start, f"{source.words!r} stands beside {denied!r}: is it wanted?", []
            )


def _told_beside(draft: Draft, source: Source) -> list[str]:
    at = draft.line.place(source.start or 0)
    first, last = clause_about(draft.line.norm, at, at + max(1, len(source.words)))
    told = [draft.words(*run).strip(" .,:;") for run in draft.told if first <= run[0] < last]
    return [words for words in told if not _ONLY.fullmatch(words.lower())]


def _denied(draft: Draft, source: Source) -> str:
    """The first word of a source's clause that no rule read and that denies or scorns; empty: there is none."""
    at = draft.line.place(source.start or 0)
    first, last = clause_about(draft.line.norm, at, at + max(1, len(source.words)))
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", draft.line.open[first:last])  # noqa: RUF001  # as typed
    return next((word for word in words if word in _DENIES or word in SCORN or base_form(word) in SCORN), "")


def _ask_site(draft: Draft, fields: dict[str, Any], source: Source, told: list[str]) -> None:
    sites = fields.get("sites", [])
    place = int(source.field.split(".")[1]) if source.field.count(".") else -1
    named = [site for site in sites if site.lower() in source.words.lower()]
    if not named or place < 0:
        return
    site = named[0]
    fields["sites"] = [one for one in sites if one != site]
    if not fields["sites"]:
        del fields["sites"]
    options = [
        Option(label=f"yes, only at {site}", patch={"sites": [site]}),
        Option(label=f"not at {site}", patch={"sites_not": [site]}),
        Option(label="neither"),
    ]
    draft.ask_plain(
        "sites",
        source.words,
        source.start or 0,
        f"{source.words!r} stands beside {told[0]!r}: is {site} wanted?",
        options,
    )
