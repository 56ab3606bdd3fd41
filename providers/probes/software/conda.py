"""Packages of Conda environments (Conda, Mamba, micromamba), read from what is installed, without starting Conda.

Each environment keeps one file for each package, `conda-meta/NAME-VERSION-BUILD.json` (conda documentation, "Conda
environments"); version and build have no dash. Environments: those that `paths.conda` of the site file names (divided
by `:`), the active one, those of the programs on the PATH and of usual places, and those that Conda itself keeps in
`~/.conda/environments.txt`.
"""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass
from typing import Any

from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question
from providers.probes.packages import any_case, package_answer
from providers.probes.software.closed_folders import CLOSED
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["Conda"]

PLACES = (
    "/opt/conda", "/opt/miniconda3", "/opt/miniforge3", "/opt/mambaforge", "/opt/anaconda3", "~/miniconda3",
    "~/miniforge3", "~/mambaforge", "~/anaconda3", "~/micromamba",
)  # fmt: skip
MOST_ENVIRONMENTS = 200

# The names of files are the whole answer. A site file's environment that is not there is told as such.
_ENVIRONMENTS = (
    CLOSED
    + r"""
given=$1 most=$2; shift 2
seen=:; count=0
environment() {
  case $1 in /*) ;; *) return ;; esac
  if ! real=$(cd -- "$1" 2>/dev/null && pwd -P); then
    if closed "$1"; then printf 'dragoman-closed %s\n' "$1"; elif [ "$2" = given ]; then
      printf 'dragoman-missing %s\n' "$1"; fi
    return
  fi
  case $seen in *":$real:"*) return ;; esac
  seen=$seen$real:
  [ -d "$real/conda-meta" ] || { [ "$2" = given ] && printf 'dragoman-missing %s\n' "$1"; return; }
  count=$((count + 1)); [ "$count" -le "$most" ] || { [ "$count" -gt "$((most + 1))" ] || echo dragoman-more; return; }
  if [ -r "$real/conda-meta" ] && [ -x "$real/conda-meta" ]; then printf 'dragoman-environment %s\n' "$real"; else
    printf 'dragoman-closed %s\n' "$real"; return; fi
  for file in "$real"/conda-meta/*.json; do [ -f "$file" ] && printf '%s\n' "${file##*/}"; done
}
base() {
  environment "$1" usual
  if [ -d "$1/envs" ] && ! { [ -r "$1/envs" ] && [ -x "$1/envs" ]; }; then
    printf 'dragoman-closed %s\n' "$1/envs"; return; fi
  for inner in "$1"/envs/*; do
    if [ -d "$inner/conda-meta" ] || { [ -d "$inner" ] && [ ! -x "$inner" ]; }; then environment "$inner" usual; fi
  done
}
old=$IFS; IFS=:; set -f
for one in $given; do IFS=$old; set +f; environment "$one" given; base "$one"; IFS=:; set -f; done
IFS=$old; set +f
[ -z "${CONDA_PREFIX:-}" ] || environment "$CONDA_PREFIX" usual
for one in "${CONDA_EXE:-}" "${MAMBA_EXE:-}" conda mamba; do
  [ -n "$one" ] || continue
  where=$(command -v -- "$one" 2>/dev/null) || continue
  where=$(readlink -f -- "$where" 2>/dev/null) || continue
  where=${where%/*}; [ -z "$where" ] || base "${where%/*}"
done
[ -z "${MAMBA_ROOT_PREFIX:-}" ] || base "$MAMBA_ROOT_PREFIX"
for one do case $one in '~'*) one=${HOME:-/nonexistent}${one#?} ;; esac; [ -d "$one/conda-meta" ] && base "$one"
  [ -d "$one/envs" ] && base "$one"; closed "$one" && printf 'dragoman-closed %s\n' "$one"; done
list=${HOME:-/nonexistent}/.conda/environments.txt
if [ -r "$list" ]; then
  while IFS= read -r one; do environment "$one" usual; done <"$list"
elif [ -e "$list" ]; then printf 'dragoman-closed %s\n' "$list"
fi
echo dragoman-end
"""
)

# A record that an interrupted installation left half-written does not end in the brace that it begins with: Conda,
# Mamba and rattler indent what is inside. Where all stands on one line, as many braces are closed as are opened.
_WHOLE = r"""
for file do
  first=$(head -n 1 -- "$file" 2>/dev/null) last=$(tail -n 1 -- "$file" 2>/dev/null) told=cut
  case $first in
    '{') [ "$last" = '}' ] && told=whole ;;
    '{'*'}') opened=$(printf %s "$first" | tr -cd '{') closed=$(printf %s "$first" | tr -cd '}')
      [ "$first" = "$last" ] && [ ${#opened} -eq ${#closed} ] && told=whole ;;
  esac
  echo "$told"
done
"""


@dataclass(frozen=True, slots=True)
class _Environment:
    prefix: str
    packages: tuple[tuple[str, str, str], ...]
    """Name, version and build."""


@dataclass(frozen=True, slots=True)
class _Seen:
    environments: tuple[_Environment, ...]
    missing: tuple[str, ...]
    faults: tuple[str, ...]


def _ask(_: PackageQuery | NoArguments, paths: Paths) -> Ask:
    given = paths.get("conda", "")
    command = question("/bin/sh", "-c", _ENVIRONMENTS, "sh", given, str(MOST_ENVIRONMENTS), *PLACES, timeout_s=30.0)
    return Ask(commands={"environments": command})


def _see(results: Results) -> _Seen | Answer[Any]:
    trouble = no_answer(results, "environments")
    done = results.done("environments")
    if trouble is not None or done is None:
        return trouble or Answer[Any].unknown("the environments were not looked for")
    lines = done.out.splitlines()
    if done.rc != 0 or "dragoman-end" not in lines:
        return Answer[Any].unknown(brief(done))
    found: dict[str, list[tuple[str, str, str]]] = {}
    missing: list[str] = []
    faults: list[str] = []
    prefix = ""
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "dragoman-environment":
            prefix = rest
            found[prefix] = []
        elif word == "dragoman-missing":
            missing.append(rest)
        elif word == "dragoman-closed":
            faults.append(f"{rest} cannot be read: permission denied")
        elif word == "dragoman-more":
            faults.append(f"there are more than {MOST_ENVIRONMENTS} environments")
        elif prefix and line.endswith(".json"):
            parts = line.removesuffix(".json").rsplit("-", 2)
            if len(parts) == 3 and all(parts):
                found[prefix].append((parts[0], parts[1], parts[2]))
    seen = _Seen(
        tuple(_Environment(each, tuple(names)) for each, names in found.items()), tuple(missing), tuple(faults)
    )
    if seen.environments or seen.faults:
        return seen
    lost = f"; {', '.join(missing)} of the site file is no environment" if missing else ""
    return Answer[Any].absent(f"there is no Conda environment here{lost}")


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    seen = _see(results)
    if isinstance(seen, Answer):
        return seen
    if not seen.environments:
        return Answer[Presence].unknown("; ".join(seen.faults))
    tools = {name: version for each in seen.environments for name, version, _ in each.packages if name in _TOOLS}
    version = next((tools[name] for name in _TOOLS if name in tools), None)
    names = ", ".join(each.prefix for each in seen.environments[:20])
    return Answer[Presence].ok(Presence(version=version, path=seen.environments[0].prefix, detail=names))


_TOOLS = ("conda", "mamba", "micromamba")


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    seen = _see(results)
    if isinstance(seen, Answer):
        return seen
    hits = [
        (each.prefix, *package)
        for each in seen.environments
        for package in each.packages
        if any_case(package[0]) == any_case(query.name)
    ]
    whole, faults = hits, list(seen.faults) + [f"{each} is no environment" for each in seen.missing]
    if hits:
        files = [f"{prefix}/conda-meta/{name}-{version}-{build}.json" for prefix, name, version, build in hits]
        if not results.asked("whole"):
            return Ask(commands={"whole": question("/bin/sh", "-c", _WHOLE, "sh", *files, timeout_s=15.0)})
        done = results.whole("whole")
        words = done.out.split() if done is not None and done.rc == 0 else []
        told = [*words, *[""] * (len(hits) - len(words))]
        whole = [hit for hit, word in zip(hits, told, strict=False) if word == "whole"]
        cut = [file for file, word in zip(files, told, strict=False) if word != "whole"]
        faults += [f"{file} is half-written or cannot be read" for file in cut]
    bases = {each.prefix for each in seen.environments if any(name in _TOOLS[:2] for name, _, _ in each.packages)}
    packages = [
        Package(
            name=name, version=version, manager="conda", variants=(f"build={build}",), prefix=prefix,
            load=_load(prefix, bases),
        )
        for prefix, name, version, build in whole
    ]  # fmt: skip
    if not packages and faults:
        return Answer[Packages].unknown(f"not every environment could be read: {faults[0]}")
    known = {name for each in seen.environments for name, _, _ in each.packages}
    return package_answer(query.name, packages, known=known, where="Conda here")


def _load(prefix: str, bases: set[str]) -> tuple[str, ...]:
    """Activation by Conda where its set-up is at hand, since packages set variables there; else the PATH alone."""
    base = prefix if prefix in bases else posixpath.dirname(posixpath.dirname(prefix))
    if base in bases:
        return (f". {shlex.quote(base + '/etc/profile.d/conda.sh')}", f"conda activate {shlex.quote(prefix)}")
    return (f'export PATH={shlex.quote(prefix + "/bin")}:"$PATH"',)


@register_probe
class Conda(Probe):
    """`software/conda`: Conda, Mamba and micromamba share their environments."""

    category = Category.SOFTWARE
    name = "conda"
    verbs = (presence(_ask, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
