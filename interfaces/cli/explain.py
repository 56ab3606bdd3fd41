"""`ask --explain`: the words that each requirement came from, and the checks of a site with their evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from rich.table import Table
from rich.tree import Tree

from dragoman.ledger import Ledger
from dragoman.model import JsonObject, JsonValue
from dragoman.observation import Observation
from dragoman.proposal import Check, Proposal
from dragoman.units import format_duration
from interfaces.cli.tables import clean, console, start_words

__all__ = ["explained", "model_use", "print_explained", "requirements"]

_MARKS = {"yes": "[green]yes[/]", "no": "[red]no[/]", "unknown": "[magenta]unknown[/]"}
SHORT = 160


def requirements(request: JsonObject) -> list[JsonValue]:
    """Each stated requirement with its value, the words it was read from and who said them."""
    found: list[JsonValue] = []
    sources = request.get("sources")
    for source in sources if isinstance(sources, list) else []:
        if isinstance(source, dict):
            value = _value(request, str(source.get("field", "")))
            found.append({**source, "value": value})
    return found


def _value(request: JsonObject, path: str) -> JsonValue:
    value: JsonValue = request
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


async def explained(ledger: Ledger, thread_id: str, document: JsonObject, site: str | None) -> JsonObject:
    """What `explained` holds in the JSON document: `requirements[]`, `notes[]`, and `sites` with checks and evidence.

    Evidence is told of one site when it is named, else of none: it would be long.
    """
    request = document.get("request") or _asked(document).get("read_so_far") or {}
    assert isinstance(request, dict)  # noqa: S101  # documents hold requests as objects
    notes = request.get("notes")
    sites: JsonObject = {}
    if site is not None:
        proposals = await ledger.proposals(thread_id, await _round(ledger, thread_id))
        chosen = [each for each in proposals if each.site == site]
        cited = {one for each in chosen for check in _all(each.checks) for one in check.observations}
        cited |= {one for each in chosen for one in each.start.observations}
        seen = {each.id: each for each in await ledger.observations(thread_id, sorted(cited))}
        sites = {each.site: _site(each, seen) for each in chosen}
    return {"requirements": requirements(request), "notes": notes if isinstance(notes, list) else [], "sites": sites}


async def _round(ledger: Ledger, thread_id: str) -> int:
    """The newest round that was decided on."""
    decisions = await ledger.decisions(thread_id)
    return max((int(str(each["round"])) for each in decisions), default=0)


def _asked(document: JsonObject) -> JsonObject:
    waiting = document.get("waiting_for")
    asked = waiting.get("asked") if isinstance(waiting, dict) else None
    return asked if isinstance(asked, dict) else {}


def _all(checks: tuple[Check, ...]) -> Iterator[Check]:
    for check in checks:
        yield check
        yield from _all(check.children)


def _site(proposal: Proposal, seen: dict[str, Observation]) -> JsonObject:
    model = proposal.model.model_dump(mode="json") if proposal.model else None
    checks: list[JsonValue] = [check.model_dump(mode="json", exclude_defaults=True) for check in proposal.checks]
    evidence: JsonObject = {name: _evidence(one, proposal.made_at) for name, one in seen.items()}
    return {
        "verdict": proposal.verdict.value,
        "fits": proposal.fits.value,
        "start": proposal.start.model_dump(mode="json"),
        "checks": checks,
        "evidence": evidence,
        "would_fit": [*(suggestion.words for suggestion in proposal.suggestions)],
        "constraints": proposal.constraints,
        "model": model,
    }


def _evidence(observation: Observation, at: datetime) -> JsonObject:
    age = (at - observation.observed_at).total_seconds()
    return {
        "provider": observation.provider,
        "tool": observation.tool,
        "arguments": observation.arguments,
        "outcome": observation.outcome.value,
        "value": observation.value,
        "reason": observation.reason,
        "age_s": round(max(0.0, age), 3),
        "max_age_s": observation.max_age_s,
        "simulated": observation.simulated,
    }


def print_explained(told: JsonObject) -> None:
    """For people."""
    table = Table("requirement", "value", "words", "said by")
    for each in _list(told.get("requirements")):
        value = json.dumps(each.get("value"), ensure_ascii=False)
        table.add_row(
            clean(each.get("field")), clean(_short(value)), clean(each.get("words")), clean(each.get("origin"))
        )
    console().print(table)
    notes = told.get("notes")
    for note in notes if isinstance(notes, list) else []:
        console().print(f"  {clean(note)}")
    sites = told.get("sites")
    for name, site in sites.items() if isinstance(sites, dict) else ():
        if isinstance(site, dict):
            console().print(_tree(name, site))


def _tree(name: str, site: JsonObject) -> Tree:
    tree = Tree(f"{clean(name)}: {clean(site.get('verdict'))}")
    evidence = site.get("evidence")
    seen: dict[str, JsonObject] = {
        key: value for key, value in (evidence.items() if isinstance(evidence, dict) else ()) if isinstance(value, dict)
    }
    told: set[str] = set()
    for check in _list(site.get("checks")):
        _branch(tree, check, seen, told)
    start = site.get("start")
    if isinstance(start, dict) and site.get("verdict") in ("READY", "BUSY"):
        branch = tree.add(f"start: {clean(start_words(start))}")
        cited = start.get("observations")
        for one in cited if isinstance(cited, list) else ():
            if str(one) in seen:
                branch.add(_observed(str(one), seen[str(one)], again=str(one) in told))
                told.add(str(one))
    would_fit = site.get("would_fit")
    for words in would_fit if isinstance(would_fit, list) else []:
        tree.add(f"→ {clean(words)}")
    model = site.get("model")
    if isinstance(model, dict):
        branch = tree.add(f"{clean(model.get('model'))}: {clean(model.get('outcome'))}, {clean(model_use(model))}")
        for line in str(model.get("reasoning") or "").splitlines():
            branch.add(clean(line))
    return tree


def model_use(model: JsonObject) -> str:
    """What a model took: calls, tokens and, where prices are known, money; where some is not known, `at least`."""
    calls, least = f"{model.get('calls')} calls", model.get("at_least")
    if isinstance(least, dict) and not least.get("tokens_in"):
        return f"{calls}, tokens unknown"
    known = least if isinstance(least, dict) else model
    cost = known.get("cost_usd")
    took = f"{known.get('tokens_in')} tokens in, {known.get('tokens_out')} out"
    usd = f", {cost:g} USD" if isinstance(cost, int | float) else ""
    return f"{calls}, {'at least ' if known is least else ''}{took}{usd}"


def _branch(tree: Tree, check: JsonObject, seen: dict[str, JsonObject], told: set[str]) -> None:
    result = str(check.get("result"))
    reason = f": {clean(check['reason'])}" if check.get("reason") else ""
    branch = tree.add(f"{_MARKS.get(result, clean(result))} {clean(check.get('requirement'))}{reason}")
    children = _list(check.get("children"))
    for child in children:
        _branch(branch, child, seen, told)
    cited = check.get("observations")
    for name in cited if isinstance(cited, list) and not children else ():
        if str(name) in seen:
            branch.add(_observed(str(name), seen[str(name)], again=str(name) in told))
            told.add(str(name))


def _observed(name: str, one: JsonObject, *, again: bool) -> str:
    arguments = one.get("arguments")
    given = ", ".join(f"{key}={value}" for key, value in (arguments.items() if isinstance(arguments, dict) else ()))
    age = one.get("age_s")
    old = format_duration(float(age)) if isinstance(age, int | float) else "?"
    shown = one.get("reason") or json.dumps(one.get("value"), ensure_ascii=False)
    words = (
        f"{clean(one.get('provider'))} {clean(one.get('tool'))}({clean(given)}), {clean(one.get('outcome'))}, {old} old"
    )
    return f"[dim]{words}, as above[/]" if again else f"[dim]{words}: {clean(_short(str(shown)))}[/]"


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"


def _list(value: object) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
