"""What `translate` takes; only names and help, like `interfaces.cli.main`."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["translate"]


def translate(
    script: Annotated[str, typer.Argument(help="a job script's file; `-` reads stdin", show_default=False)],
    to: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="slurm, pbs, torque, flux, lsf, sge, oar, htcondor, k8s, machine", show_default=False
        ),
    ],
    source: Annotated[
        str | None, typer.Option("--from", metavar="NAME", help="whose script it is; default: whose directives lead")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="write the script there; default: stdout")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file of --output")] = False,
    json: Annotated[bool, typer.Option("--json", help="one JSON document on stdout (docs/translate.md)")] = False,
) -> None:
    """Translate a job script for another scheduler: the script on stdout, changes and losses on stderr."""
    from interfaces.cli import translate as commands

    commands.translate(script, to, source, output, force=force, as_json=json)
