"""`detect` and `providers`: what the sites have, and what can be asked at all. No database is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import anyio
from rich.table import Table

from dragoman.errors import DragomanError, UnknownName
from dragoman.kleene import Truth
from dragoman.model import JsonObject, now
from dragoman.observation import Category, Observation, Outcome
from dragoman.protocols import Provider, Verb
from dragoman.settings import Settings, read_settings
from dragoman.units import format_duration
from interfaces.cli.fact_words import fact_words
from interfaces.cli.running import emit, run_command, say
from interfaces.cli.tables import clean, console
from interfaces.known_facts import KnownFacts
from interfaces.sites import Sites
from providers.evidence import Ask, provider_id
from providers.registry import dialects, probes
from providers.site_runtime import SiteRuntime
from providers.verbs import NoArguments, category_verbs

__all__ = ["detect", "providers"]

PARTS = ("partitions", "nodes", "queue")
"""Parts of what `resources` tells as a whole; in the table once, in the document each."""
KNOWN_S = 5.0
"""Younger facts are of this moment: a site takes seconds to answer."""
_PRESENT = {Outcome.OK: Truth.YES, Outcome.ABSENT: Truth.NO, Outcome.UNKNOWN: Truth.UNKNOWN}


def detect(category: str | None, site: str | None, sites: str | None, *, fresh: bool, as_json: bool) -> NoReturn:
    """Ask every provider of the sites; a site that cannot be reached is told and holds no other up."""

    async def command() -> int:
        settings = _settings(sites)
        fleet, known = await Sites.read(settings.sites_file), KnownFacts(settings)
        fleet.keep_facts_in(known, fresh=fresh)
        try:
            names = [fleet.site(site).name] if site is not None else [each.name for each in fleet.fleet.sites]
            reports = await _ask_sites(fleet, names, _categories(category), settings)
        finally:
            await fleet.aclose()
            await known.aclose()
        if as_json:
            emit({"sites": reports})
        else:
            for report in reports:
                _print_site(report)
        return 0

    run_command(command)


def _settings(sites: str | None) -> Settings:
    return read_settings(**({"sites_file": Path(sites).absolute()} if sites is not None else {}))


def _categories(word: str | None) -> tuple[Category, ...]:
    if word is None:
        return tuple(Category)
    try:
        return (Category(word.strip().lower()),)
    except ValueError:
        there = ", ".join(each.value for each in Category)
        raise UnknownName(f"there is no category {word!r}", where="category", cure=f"there are {there}") from None


async def _ask_sites(
    fleet: Sites, names: Sequence[str], categories: Sequence[Category], settings: Settings
) -> list[JsonObject]:
    found: dict[str, JsonObject] = {}
    limit = anyio.Semaphore(settings.sites_at_once)

    async def one(name: str) -> None:
        async with limit:
            begun = anyio.current_time()
            try:
                runtime = fleet.open(name)
                report = await _ask_site(runtime, categories)
            except DragomanError as error:
                if len(names) == 1:
                    raise
                report = {"site": name, "error": str(error), "providers": []}
            found[name] = report | {"seconds": round(anyio.current_time() - begun, 3)}

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(one, name)
    return [found[name] for name in names]


def _asked(provider: Provider) -> list[str]:
    """The verbs that need no arguments: presence and facts."""
    return [name for name, verb in provider.verbs.items() if verb.arguments is NoArguments]


async def _ask_site(runtime: SiteRuntime, categories: Sequence[Category]) -> JsonObject:
    chosen = [provider for provider in (*runtime.providers, *runtime.managers) if provider.category in categories]
    asks = [Ask(provider, verb) for provider in chosen for verb in _asked(provider)]
    seen = await runtime.observe_many(asks)
    told: dict[str, dict[str, Observation]] = {}
    for ask, observation in zip(asks, seen, strict=True):
        told.setdefault(provider_id(ask.provider), {})[ask.verb] = observation
    return {
        "site": runtime.site.name,
        "simulated": runtime.simulated,
        "identity": runtime.identity,
        "error": "",
        "providers": [
            _provider(provider_id(each), each.category, told.get(provider_id(each), {}), each) for each in chosen
        ],
    }


def _provider(name: str, category: Category, told: dict[str, Observation], provider: Provider) -> JsonObject:
    first = told.get("probe") or next(iter(told.values()), None)
    return {
        "provider": name,
        "category": category.value,
        "present": (_PRESENT[first.outcome] if first else Truth.UNKNOWN).value,
        "reason": first.reason if first else "it has no question without arguments here",
        "facts": {verb: _fact(observation) for verb, observation in told.items()},
        "verbs": list(provider.verbs),
    }


def _fact(observation: Observation) -> JsonObject:
    age = max(0.0, (now() - observation.observed_at).total_seconds())
    return {
        "outcome": observation.outcome.value,
        "value": observation.value,
        "reason": observation.reason,
        "observed_at": observation.observed_at.isoformat(),
        "age_s": round(age, 3),
        "max_age_s": observation.max_age_s,
    }


def _print_site(report: JsonObject) -> None:
    title = f"{clean(report['site'])}{' (simulated)' if report.get('simulated') else ''}"
    if report["error"]:
        console().print(f"[bold]{title}[/]: unknown: {clean(report['error'])}")
        return
    table = Table("provider", "there", "facts", "age", title=f"{title}, {report['seconds']} s", title_justify="left")
    absent, old = list[str](), False
    for each in _objects(report["providers"]):
        if each["present"] == "no":
            absent.append(str(each["provider"]))
            continue
        facts = each["facts"] if isinstance(each["facts"], dict) else {}
        shown = [verb for verb in facts if verb not in ("probe", *PARTS)] or list(facts)
        words = [_words(verb, fact) for verb in shown if isinstance(fact := facts[verb], dict)]
        ages = [float(str(fact["age_s"])) for fact in facts.values() if isinstance(fact, dict)]
        colour = "green" if each["present"] == "yes" else "magenta"
        table.add_row(
            clean(each["provider"]),
            f"[{colour}]{each['present']}[/]",
            "\n".join(dict.fromkeys(clean(word) for word in words if word)),
            _age(max(ages, default=0)),
        )
        old = old or max(ages, default=0) >= KNOWN_S
    console().print(table)
    if old:
        say("what has an age was known from earlier; --fresh asks anew")
    if absent:
        console().print(f"not there: {clean(', '.join(absent))}\n")


def _words(verb: str, fact: JsonObject) -> str:
    age = float(str(fact["age_s"]))
    known = f" ({_age(age)} ago)" if age >= KNOWN_S else ""
    if fact["outcome"] != "ok":
        return f"{'' if verb == 'probe' else f'{verb} '}{fact['outcome']}: {str(fact['reason'])[:200]}{known}"
    words = fact_words(fact["value"])
    return f"{words}{known}" if words else ""


def _age(seconds: float) -> str:
    return format_duration(round(seconds)) if seconds >= KNOWN_S else "now"


def _objects(value: object) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def providers(site: str | None, sites: str | None, *, simulated: bool, as_json: bool) -> NoReturn:
    """List what can be asked: every registered provider, or those that one site leaves switched on."""

    async def command() -> int:
        if site is None:
            named = [(Category.WORKLOAD, name) for name in dialects.names()]
            named += [(Category(each.partition("/")[0]), each.partition("/")[2]) for each in probes.names()]
            listed = [(category, name, category_verbs(category, name)) for category, name in dict.fromkeys(named)]
        else:
            fleet = await Sites.read(_settings(sites).sites_file)
            try:
                runtime = fleet.open(site)
                there = sorted(
                    (*runtime.providers, *runtime.managers), key=lambda each: [*Category].index(each.category)
                )
                listed = [(each.category, each.name, tuple(each.verbs.values())) for each in there]
            finally:
                await fleet.aclose()
        document: JsonObject = {
            "simulated": simulated,
            "providers": [_listed(*each) for each in listed],
            "failures": {name: str(error) for name, error in {**dialects.failures(), **probes.failures()}.items()},
        }
        if as_json:
            emit(document)
        else:
            _print_providers(document)
        return 0

    run_command(command)


def _listed(category: Category, name: str, verbs: Sequence[Verb]) -> JsonObject:
    return {
        "provider": f"{category.value}/{name}",
        "verbs": {verb.name: {"description": verb.description, "max_age_s": verb.max_age_s} for verb in verbs},
    }


def _print_providers(document: JsonObject) -> None:
    table = Table("provider", "verbs")
    for each in _objects(document["providers"]):
        verbs = each["verbs"] if isinstance(each["verbs"], dict) else {}
        table.add_row(clean(each["provider"]), clean(", ".join(verbs)))
    console().print(table)
    if document["simulated"]:
        say("each of them can be simulated: a site's `simulated` state says what it answers")
    failures = document["failures"] if isinstance(document["failures"], dict) else {}
    for name, error in failures.items():
        say(f"failed to import: {name}: {error}")
