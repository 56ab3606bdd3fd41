"""What `detect` and `providers` take; only names and help, like `interfaces.cli.main`."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["detect", "providers"]

_SitesFile = Annotated[
    str | None, typer.Option("--sites", metavar="FILE", help="the fleet; default: this machine alone")
]
_Json = Annotated[bool, typer.Option("--json", help="one JSON document on stdout (docs/json.md)")]


def detect(
    category: Annotated[
        str | None, typer.Argument(help="workload, software, container, storage, network, hardware or parallel")
    ] = None,
    site: Annotated[str | None, typer.Option("--site", metavar="SITE", help="one site; default: every site")] = None,
    sites: _SitesFile = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="ask anew what is known from earlier")] = False,
    json: _Json = False,
) -> None:
    """Show what the sites have: facts with their age, and what is unknown with its reason."""
    from interfaces.cli import detect as commands

    commands.detect(category, site, sites, fresh=fresh, as_json=json)


def providers(
    simulated: Annotated[bool, typer.Option("--simulated", help="those that a simulated site can have")] = False,
    site: Annotated[str | None, typer.Option("--site", metavar="SITE", help="those that are on at one site")] = None,
    sites: _SitesFile = None,
    json: _Json = False,
) -> None:
    """List the kinds of resources that can be asked for, with their questions."""
    from interfaces.cli import detect as commands

    commands.providers(site, sites, simulated=simulated, as_json=json)
