"""Programs that are seldom on the PATH: found by the site file, the PATH, a variable of the site, or a usual place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dragoman.command import Command
from dragoman.observation import Answer
from providers.probes.base import Paths, Results, brief, missing, no_answer, question, where_is

__all__ = ["located", "program_of"]

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")

# The text is fixed; every place and argument is an argument of the shell. Variables are named by probes alone.
_LOCATE = r"""
program=$1 variables=$2 places=$3; shift 3
case $program in
  */*) found=''; [ -f "$program" ] && [ -x "$program" ] && found=$program ;;
  *) found=$(command -v -- "$program" 2>/dev/null); case $found in /*) ;; *) found='' ;; esac
    old=$IFS; IFS=:; set -f
    for variable in $variables; do
      eval "root=\${$variable:-}"
      [ -z "$found" ] && [ -n "$root" ] && [ -x "$root/bin/$program" ] && found=$root/bin/$program
    done
    for place in $places; do
      case $place in '~'*) place=${HOME:-/nonexistent}${place#?} ;; esac
      [ -z "$found" ] && [ -x "$place/bin/$program" ] && found=$place/bin/$program
    done
    IFS=$old; set +f ;;
esac
if [ -z "$found" ]; then echo dragoman-no-program; exit 0; fi
real=$(readlink -f -- "$found" 2>/dev/null)
printf 'dragoman-program %s\n' "${real:-$found}"
exec "$found" "$@"
"""


def located(
    program: str,
    *arguments: str,
    paths: Paths,
    variables: Sequence[str] = (),
    places: Sequence[str] = (),
    timeout_s: float = 30.0,
) -> Command:
    """Run a program wherever it is; the answer's first line tells the path (see `program_of`).

    Args:
        program: its name, which is also its key in `paths`.
        arguments: as the program takes them.
        paths: of the site file; a path given there is the only place that is looked at.
        variables: of the site's environment, naming a prefix.
        places: usual prefixes; `~` is the user's home.
        timeout_s: of the whole.

    """
    if not all(_VARIABLE.fullmatch(name) for name in variables):
        raise ValueError(f"{variables} are no names of variables")
    call = where_is(program, paths)
    return question(
        "/bin/sh", "-c", _LOCATE, "sh", call, ":".join(variables), ":".join(places), *arguments, timeout_s=timeout_s
    )


def program_of(results: Results, name: str, program: str) -> tuple[str, str] | Answer[Any]:
    """Path of the located program and what it printed on stdout; or the answer where it is absent or did not run."""
    trouble = no_answer(results, name)
    done = results.done(name)
    if trouble is not None or done is None:
        return trouble or Answer[Any].unknown(f"{program} was not asked")
    for number, line in enumerate(lines := done.out.split("\n")):
        if line == "dragoman-no-program":
            return missing(f"there is no {program} here", results.paths, program)
        if line.startswith("dragoman-program "):
            return line.removeprefix("dragoman-program "), "\n".join(lines[number + 1 :])
    return Answer[Any].unknown(brief(done))
