"""Where attempts lie at a site: an absolute folder, or one that begins with variables of the site's own.

`$SCRATCH/dragoman` and `/scratch/$USER/dragoman` let one sites file serve everybody: compute nodes see the scratch file
system, and at many sites not the home. The site is asked for the values; a variable that is not set there is an error
and never an empty name.
"""

from __future__ import annotations

import re

from dragoman.command import Command
from dragoman.errors import TransportError
from dragoman.protocols import Transport

__all__ = ["IN_HOME", "WORK_ROOT", "find_work_root", "is_plain"]

IN_HOME = "$HOME/.dragoman"
"""Where no folder is stated."""

WORK_ROOT = re.compile(r"(?:/|\$[A-Za-z_][A-Za-z0-9_]*(?=/|$))(?:[^$\x00-\x1f\x7f]|\$[A-Za-z_][A-Za-z0-9_]*(?=/|$))*")
"""An absolute path whose components may be variables: `$NAME` between slashes."""

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_MARK = "dragoman-value "
_ASK = 'for name; do printf "dragoman-value %s\\n" "$(printenv "$name")"; done'


def is_plain(work_root: str) -> bool:
    """Whether the folder is known without asking."""
    return "$" not in work_root


async def find_work_root(work_root: str, transport: Transport, site: str) -> str:
    """The absolute folder.

    Raises:
        TransportError: the site does not tell a variable, or what it tells makes no absolute path.

    """
    names = list(dict.fromkeys(_VARIABLE.findall(work_root)))
    if not names:
        return work_root.rstrip("/")
    done = await transport.run(Command(("/bin/sh", "-c", _ASK, "sh", *names)))
    told = [line.removeprefix(_MARK) for line in done.out.splitlines() if line.startswith(_MARK)]
    values = dict(zip(names, told, strict=False))
    for name in names:
        if done.rc != 0 or not values.get(name):
            raise TransportError(
                f"the site does not tell ${name}", where=site, cure="state the site's work_root as an absolute path"
            )
    root = _VARIABLE.sub(lambda match: values[match[1]], work_root).rstrip("/")
    if not root.startswith("/"):
        raise TransportError(
            f"work_root {work_root} is {root} there, which is not absolute", where=site, cure="begin it with /"
        )
    return root
