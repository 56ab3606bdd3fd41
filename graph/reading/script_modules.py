"""What a job script loads with `module load`: without those modules it fails, so that they are asked of a site."""

from __future__ import annotations

import re

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.request import SoftwareNeed
from dragoman.versions import VersionRange

__all__ = ["module_need", "modules_of"]

_LOAD = re.compile(r"^(?:module|ml)[ \t]+(?:load|add)[ \t]+(?P<names>[^\n#;&|]+)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z][\w.+-]*(?:/[\w.+-]+)*")
_OPENS = re.compile(r"^[ \t]*(?:if|case|for|while|until|function)\b|\{[ \t]*$", re.MULTILINE)
_MOST = 32


def modules_of(script: str) -> tuple[SoftwareNeed, ...]:
    """The modules that the script's outermost lines load, in their order.

    Lines that are indented, or behind the first branch, loop or function, may not run: they ask for nothing.
    """
    branch = _OPENS.search(script)
    found: dict[str, SoftwareNeed] = {}
    for match in _LOAD.finditer(script, 0, branch.start() if branch else len(script)):
        for written in match["names"].split():
            if _NAME.fullmatch(written) is None or len(found) >= _MOST:
                continue  # an option, or a name that the shell makes
            need = module_need(written)
            if need is not None:
                found[written] = need
    return tuple(found.values())


def module_need(written: str) -> SoftwareNeed | None:
    """The package that `NAME` or `NAME/VERSION` names; None where it is no such name."""
    name, _, version = written.rpartition("/")
    try:
        wanted = VersionRange.parse(f"=={version}") if name else None
        return SoftwareNeed(name=name or version, version=wanted, manager="modules")
    except (ValidationError, BadRequest):
        return None
