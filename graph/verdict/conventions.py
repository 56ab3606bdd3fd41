"""What may stand for what when a request is held against a site: strict, unless a conventions file says otherwise.

A set of requests with a truth of its own, or a centre, may have other customs than ours: one container runtime that is
taken for another, a container that brings its software along. Such customs are named in a file and kept with each
proposal that was made under them; no check has one built in.
"""

from __future__ import annotations

from typing import Literal

import yaml
from pydantic import Field, ValidationError

from dragoman.errors import BadRequest
from dragoman.model import Model

__all__ = ["STRICT", "Conventions", "read_conventions"]


class Conventions(Model):
    """The customs of one file."""

    schema_version: Literal[1] = 1
    name: str = Field(default="strict", min_length=1, max_length=64)
    source: str = Field(default="", max_length=500)
    """Whose customs these are."""
    runtimes_alike: tuple[tuple[str, ...], ...] = ()
    """Groups of container runtimes of which each may stand for any other of its group."""
    apptainer_is_singularity: bool = True
    """Apptainer continues Singularity and may stand for it, never the other way round; `false`: by name alone."""
    container_replaces_software: bool = False
    """Where a container is asked for, the software is taken to be inside of its image."""
    urgent_busy: Literal["incompatible", "busy"] = "incompatible"
    """An urgent request at a site that fits and is not free now: strictly it does not fit the wish."""

    def standing_for(self, runtimes: tuple[str, ...]) -> tuple[str, ...]:
        """The runtimes asked for, and those that may stand for one of them."""
        alike = [each for group in self.runtimes_alike if set(group) & set(runtimes) for each in group]
        alike += ["apptainer"] if self.apptainer_is_singularity and "singularity" in runtimes else []
        return tuple(dict.fromkeys((*runtimes, *alike)))


STRICT = Conventions()
"""Nothing stands for anything else, but Apptainer for the Singularity that it continues."""


def read_conventions(text: str, *, where: str) -> Conventions:
    """The customs that a YAML text states.

    Raises:
        BadRequest: with the field that is wrong.

    """
    try:
        data = yaml.safe_load(text)
        return Conventions.model_validate(data if data is not None else {})
    except yaml.YAMLError as error:
        raise BadRequest(f"is not YAML: {error}", where=where, cure="mend the line named") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise BadRequest(first["msg"], where=f"{where}: {field}", cure="see `Conventions`") from error
