"""Python packages of the interpreters and virtual environments at hand, read from their metadata, without pip.

Interpreters: `python3` and `python` on the PATH, the active environment, and what `paths.pip` of the site file names
(an environment, an interpreter, or several, separated by `:`). Names are compared as PEP 503 says; versions are those
that the package's own metadata states, never those of a dependency.
"""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from typing import Any

from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question
from providers.probes.packages import package_answer, pep503
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["Pip"]

# Runs in the site's interpreter (importlib.metadata came with 3.8), with the user's own packages and PYTHONPATH, as a
# job would, but without the current folder. The query is an argument. The answer's line has a mark of its own, because
# .pth files and shutdown warnings print as they like.
_READ = r"""
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import json, os, re
query = sys.argv[1] if len(sys.argv) > 1 else None
norm = lambda name: re.sub(r"[-_.]+", "-", name or "").lower()
answer = {"python": sys.version.split()[0], "prefix": sys.prefix, "executable": sys.executable,
          "venv": sys.prefix != getattr(sys, "base_prefix", sys.prefix)}
if query is not None:
    found, names, doubt = {}, set(), []
    for folder in sys.path:
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            doubt.append(folder)
    try:
        from importlib.metadata import distributions
        seen = ((one, lambda: (one.metadata["Name"], one.version)) for one in distributions())
    except ImportError:
        import pkg_resources
        seen = ((one, lambda: (one.project_name, one.version)) for one in pkg_resources.working_set)
    for one, read in seen:
        try:
            name, version = read()
        except Exception:
            name = version = None
        where = str(getattr(one, "_path", None) or "")
        parts = os.path.basename(where).rpartition(".")[0].split("-")
        stated = parts[1] if len(parts) > 1 else ""
        # What is empty or cut says less than the name of its folder.
        short = not name or not version or (len(version) < len(stated) and stated.startswith(version))
        if short or norm(name) != norm(parts[0]):
            if norm(query) in (norm(parts[0]), norm(name)) and (short or norm(parts[0]) == norm(query)):
                doubt.append(where or name)
                continue
        if not name:
            continue
        names.add(name)
        if norm(name) == norm(query):
            found.setdefault(norm(name), [name, version])
    answer["found"], answer["names"], answer["doubt"] = list(found.values()), sorted(names), doubt
print("\ndragoman-answer " + json.dumps(answer))
"""

# Whether Python is there is shown by Python itself, without its libraries and site packages (`-S`): what costs time is
# read from folders instead. A virtual environment is then told by its file alone (PEP 405).
_TELL = r"""
import posix, sys
prefix = base = sys.prefix
home = "/".join(sys.executable.split("/")[:-2])
try:
    open(home + "/pyvenv.cfg").close()
    prefix = home
except (IOError, OSError):
    pass
number = "%d.%d" % sys.version_info[:2]
pip = ""
for folder in (prefix + "/lib/python" + number + "/site-packages", prefix + "/local/lib/python" + number
               + "/dist-packages", prefix + "/lib/python3/dist-packages"):
    try:
        names = posix.listdir(folder)
    except OSError:
        continue
    for name in names:
        if name.startswith("pip-") and name.endswith((".dist-info", ".egg-info")):
            pip = pip or name.split("-")[1].replace(".dist", "").replace(".egg", "")
quoted = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
told = {"python": sys.version.split()[0], "prefix": prefix, "executable": sys.executable, "pip": pip}
print("\ndragoman-answer {" + ", ".join(quoted(key) + ": " + quoted(told[key]) for key in told) + "}")
"""

# The interpreters at hand, each once by its own prefix. Their paths are arguments of the shell, the program's text too.
# A shim of pyenv is a chain of scripts that takes longer than Python: what it would start is read from pyenv's files
# (pyenv's documentation, "Understanding Python version selection"), and where those do not tell, the shim is started.
_EACH = r"""
program=$1 has_query=$2 query=$3; shift 3
behind() {
  real=$1 root=${1%/shims/*} shim=''
  [ "$root" != "$1" ] && [ -d "$root/versions" ] || return 0
  while read -r line; do case $line in exec*pyenv*exec*) shim=y ;; esac; done <"$1"
  [ -n "$shim" ] || return 0
  versions=${PYENV_VERSION:-}
  if [ -z "$versions" ]; then
    above=$PWD
    while :; do [ -e "$above/.python-version" ] && return 0; [ -n "$above" ] || break; above=${above%/*}; done
    [ -r "$root/version" ] && while read -r line; do versions=$versions:$line; done <"$root/version"
  fi
  old=$IFS; IFS=:
  for each in $versions; do
    if [ "$each" = system ]; then break; fi
    if [ -n "$each" ] && [ -x "$root/versions/$each/bin/${1##*/}" ]; then
      real=$root/versions/$each/bin/${1##*/}; break; fi
  done
  IFS=$old
}
for one do
  case $one in
    */*) if [ -x "$one/bin/python3" ]; then set -- "$@" "$one/bin/python3"; elif [ -x "$one/bin/python" ]; then
           set -- "$@" "$one/bin/python"; elif [ -f "$one" ] && [ -x "$one" ]; then set -- "$@" "$one"; fi ;;
    *) where=$(command -v -- "$one" 2>/dev/null) && set -- "$@" "$where" ;;
  esac
  shift
done
if [ -n "${VIRTUAL_ENV:-}" ] && [ -x "$VIRTUAL_ENV/bin/python" ]; then set -- "$@" "$VIRTUAL_ENV/bin/python"; fi
if [ $# -eq 0 ]; then echo none; exit 0; fi
if command -v timeout >/dev/null 2>&1; then bounded() { timeout 12 "$@"; }; else bounded() { "$@"; }; fi
for python do
  behind "$python"; python=$real
  if [ "$has_query" = yes ]; then said=$(bounded "$python" -c "$program" "$query" 2>&1 </dev/null); else
    said=$(bounded "$python" -S -c "$program" 2>&1 </dev/null); fi
  code=$?
  line=$(printf '%s\n' "$said" | sed -n 's/^dragoman-answer //p' | tail -n 1)
  [ -n "$line" ] || line=$(printf '%s\n' "$said" | tail -n 1)
  printf 'interpreter %s %s\n%s\n' "$code" "$python" "$line"
  # One that answers shows that Python is there; starting each of them takes longer than all other probes together.
  [ "$has_query" != yes ] && [ "$code" = 0 ] && break
done
exit 0
"""


def _names(paths: Paths) -> tuple[str, ...]:
    return (*(part for part in paths.get("pip", "").split(":") if part), "python3", "python")


def _ask(query: PackageQuery | NoArguments, paths: Paths) -> Ask:
    name = query.name if isinstance(query, PackageQuery) else ""
    asked = "yes" if isinstance(query, PackageQuery) else "no"
    command = question(
        "/bin/sh", "-c", _EACH, "sh", _READ if asked == "yes" else _TELL, asked, name, *_names(paths), timeout_s=30.0
    )
    return Ask(commands={"python": command})


def _interpreters(results: Results) -> tuple[list[dict[str, Any]], str, Answer[Any] | None]:
    """What each interpreter said, why one did not, and the answer where none was there or could be asked."""
    trouble = no_answer(results, "python")
    done = results.done("python")
    if trouble is not None or done is None:
        return [], "", trouble
    lines = done.out.splitlines()
    if done.rc == 0 and lines[-1:] == ["none"]:
        return [], "", Answer[Any].absent("there is no Python interpreter on the PATH")
    said: dict[str, dict[str, Any]] = {}
    fault = ""
    for head, answer in pairwise(lines):
        if not head.startswith("interpreter "):
            continue
        _, code, python = head.split(" ", 2)
        try:
            told = json.loads(answer)
        except ValueError:
            told = None
        if code == "0" and isinstance(told, dict) and "prefix" in told:
            said.setdefault(str(told["prefix"]), told)
        else:
            fault = f"{python} exit {code}: {brief(answer)}"
    if not said:
        return [], fault, Answer[Any].unknown(fault or brief(done))
    return list(said.values()), fault, None


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    told, _fault, answer = _interpreters(results)
    if answer is not None:
        return answer
    detail = ", ".join(f"{one['prefix']} ({one['python']}{_pip(one)})" for one in told)
    return Answer[Presence].ok(Presence(version=told[0]["python"], path=told[0]["executable"], detail=detail))


def _pip(one: dict[str, Any]) -> str:
    return f", pip {one['pip']}" if one.get("pip") else ""


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    told, fault, answer = _interpreters(results)
    if answer is not None:
        return answer
    packages = [
        Package(
            name=str(name),
            version=str(version) if version else None,
            manager="pip",
            load=_load(one),
            prefix=str(one["prefix"]),
            executable=str(one["executable"]),
        )
        for one in told
        for name, version in one.get("found", [])
    ]
    if not packages and fault:
        return Answer[Packages].unknown(f"not every interpreter answered: {fault}")
    doubt = [str(where) for one in told for where in one.get("doubt", [])]
    if not packages and doubt:
        return Answer[Packages].unknown(f"its metadata is not whole or cannot be read: {brief(', '.join(doubt))}")
    known = {str(name) for one in told for name in one.get("names", [])}
    return package_answer(query.name, packages, known=known, same=pep503, where="no Python environment here")


def _load(one: dict[str, Any]) -> tuple[str, ...]:
    """A virtual environment comes first on the PATH; an interpreter on the PATH needs nothing."""
    return (f'export PATH={shlex.quote(str(one["prefix"]) + "/bin")}:"$PATH"',) if one.get("venv") else ()


@register_probe
class Pip(Probe):
    """`software/pip`."""

    category = Category.SOFTWARE
    name = "pip"
    verbs = (presence(_ask, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
