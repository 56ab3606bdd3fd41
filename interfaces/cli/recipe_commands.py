"""Names and help of `dragoman recipes`; what the commands do is loaded when one runs."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["recipes"]

recipes = typer.Typer(
    help="How applications are run: small files of yours, of your centre, and shipped ones.",
    invoke_without_command=True,
)

_Site = Annotated[
    str | None, typer.Option("--site", metavar="SITE", help="as this site has them; default: no site in particular")
]
_SitesFile = Annotated[
    str | None, typer.Option("--sites", metavar="FILE", help="the fleet; default: this machine alone")
]
_Json = Annotated[bool, typer.Option("--json", help="one JSON document on stdout (docs/json.md)")]


@recipes.callback()
def recipes_of(context: typer.Context, json: _Json = False) -> None:
    """How applications are run: small files of yours, of your centre, and shipped ones."""
    if context.invoked_subcommand is None:
        from interfaces.cli import recipes as commands

        commands.list_recipes(None, None, as_json=json)


@recipes.command("list")
def list_recipes(site: _Site = None, sites: _SitesFile = None, json: _Json = False) -> None:
    """List the recipes that count: the site's own, yours, your centre's, and those shipped."""
    from interfaces.cli import recipes as commands

    commands.list_recipes(site, sites, as_json=json)


@recipes.command("show")
def show_recipe(
    name: Annotated[str, typer.Argument(metavar="NAME", help="of the recipe", show_default=False)],
    site: _Site = None,
    sites: _SitesFile = None,
    json: _Json = False,
) -> None:
    """Show a recipe, and the command that it makes."""
    from interfaces.cli import recipes as commands

    commands.show(name, site, sites, as_json=json)


@recipes.command("check")
def check_recipe(
    file: Annotated[str, typer.Argument(metavar="FILE", help="a recipe of yours", show_default=False)],
    json: _Json = False,
) -> None:
    """Check a recipe's file: an error names its line, its field and the cure."""
    from interfaces.cli import recipes as commands

    commands.check(file, as_json=json)
