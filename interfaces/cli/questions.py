"""What sites would have to be told: the questions behind NEEDS_INFORMATION, each once, with what may be answered."""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.model import JsonObject
from interfaces.cli.tables import clean, console

__all__ = ["open_questions", "print_open_questions"]

MOST_SITES = 6
_ASKED = {
    "account": ("Which account?", "account NAME"),
    "walltime_s": ("For how long at most?", "for 2 hours"),
    "queue": ("Which queue?", "queue NAME"),
    "budget": ("For how long at most?", "for 2 hours"),
    "deadline": ("For how long at most?", "for 2 hours"),
}
"""By the field of a check: the question, and words of a request that answer it."""
_STILL_OPEN = ("selected", "no-site", "waiting-approval", "waiting-question")


def open_questions(document: JsonObject) -> list[JsonObject]:
    """Each question with `question`, `field`, `why`, `options[]`, `say` (words that answer it) and `sites[]`."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    proposals = document.get("proposals")
    for each in proposals if isinstance(proposals, list) else []:
        if isinstance(each, dict) and each.get("verdict") == "NEEDS_INFORMATION":
            for check in _to_settle(each):
                options = check.get("options")
                named = tuple(str(one) for one in options) if isinstance(options, list) else ()
                key = str(check.get("field")), str(check.get("reason")), named
                found.setdefault(key, []).append(str(each.get("site")))
    return [
        {
            "question": _ASKED.get(field, (f"What of {field}?", ""))[0],
            "field": field,
            "why": why,
            "options": [*options],
            "say": _ASKED.get(field, ("", ""))[1],
            "sites": [*dict.fromkeys(sites)],
        }
        for (field, why, options), sites in found.items()
    ]


def _to_settle(proposal: JsonObject) -> Iterator[JsonObject]:
    """The checks of a proposal that the person can settle, the innermost of each."""
    checks = proposal.get("checks")
    waiting = [*checks] if isinstance(checks, list) else []
    while waiting:
        check = waiting.pop(0)
        if not isinstance(check, dict) or check.get("result") != "unknown" or not check.get("person_can_settle"):
            continue
        children = check.get("children")
        inner = [one for one in children if isinstance(one, dict)] if isinstance(children, list) else []
        deeper = [one for one in inner if one.get("result") == "unknown" and one.get("person_can_settle")]
        waiting[:0] = deeper
        if not deeper:
            yield check


def print_open_questions(document: JsonObject) -> None:
    """For people, as long as an answer would change anything."""
    if document.get("state") not in _STILL_OPEN:
        return
    for each in open_questions(document):
        sites = each["sites"] if isinstance(each["sites"], list) else []
        more = f" and {len(sites) - MOST_SITES} more" if len(sites) > MOST_SITES else ""
        where = clean(", ".join(str(site) for site in sites[:MOST_SITES]) + more)
        console().print(f"[bold]{clean(each['question'])}[/] {where}: {clean(each['why'])}", soft_wrap=True)
        options = each["options"] if isinstance(each["options"], list) else []
        for option in options[:20]:
            console().print(f"  - {clean(option)}", soft_wrap=True)
        if each["say"]:
            console().print(f"  say it in the request: `{clean(each['say'])}`", soft_wrap=True)
