"""`simulate site` and `simulate fleet`: sites files of simulated sites as YAML, to be used with `--sites` or edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast, get_args

import typer
import yaml
from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from dragoman.site import Fleet, Site
from interfaces.cli.running import emit, leave, say
from simulation.archetypes import Archetype, archetype_fleet, archetype_site

__all__ = ["fleet", "fleet_text", "site"]

_HEAD = "# {what}: made by `dragoman simulate`, docs/simulated-sites.md tells what may stand here.\n"


def site(archetype: str, seed: int, name: str | None, volatility: float, *, as_json: bool) -> NoReturn:
    """Print a sites file with one simulated site."""
    kind = _archetype(archetype)
    _print(
        lambda: Fleet(sites=(archetype_site(kind, seed, name),)), f"{kind}, seed {seed}", volatility, as_json=as_json
    )


def fleet(count: int, seed: int, archetype: str | None, volatility: float, *, as_json: bool) -> NoReturn:
    """Print a sites file with many simulated sites."""
    kind = _archetype(archetype) if archetype is not None else None

    def make() -> Fleet:
        if kind is None:
            return archetype_fleet(count, seed)
        return Fleet(sites=tuple(archetype_site(kind, f"{seed}-{index}") for index in range(count)))

    _print(make, f"{count} sites, seed {seed}", volatility, as_json=as_json)


def fleet_text(made: Fleet, what: str) -> str:
    """The fleet as the text of a sites file: the same text for the same fleet."""
    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    data: JsonObject = {"schema_version": 1, **made.dump()}
    return _HEAD.format(what=what) + yaml.dump(
        data, Dumper=dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
    )


def _print(make: Callable[[], Fleet], what: str, volatility: float, *, as_json: bool) -> NoReturn:
    try:
        made = _moving(make(), what, volatility)
    except ValidationError as error:
        first = error.errors()[0]
        say(f"error: {'.'.join(map(str, first['loc']))}: {first['msg']}")
        leave(BadRequest.exit_code)
    if as_json:
        emit({"schema_version": 1, **made.dump()})
    else:
        typer.echo(fleet_text(made, what), nl=False)
    leave(0)


def _moving(made: Fleet, words: str, volatility: float) -> Fleet:
    if not volatility:
        return made

    def moving(one: Site) -> Site:
        state = {
            **(one.simulated or {}),
            "volatility": dict.fromkeys(("workload", "storage", "hardware"), volatility),
            "seed": f"{one.name}, {words}",
        }
        return one.model_copy(update={"simulated": state})

    return made.model_copy(update={"sites": tuple(map(moving, made.sites))})


def _archetype(word: str) -> Archetype:
    kinds = get_args(Archetype)
    if word not in kinds:
        say(f"error: there is no archetype {word!r} (there are {', '.join(kinds)})")
        leave(BadRequest.exit_code)
    return cast("Archetype", word)
