"""Software installed by EasyBuild: its folders `software/NAME/VERSION-TOOLCHAIN`, and the easyconfig kept in each.

EasyBuild writes a folder `easybuild` with the easyconfig into every installation (EasyBuild documentation, "Archived
easyconfigs"); a folder without it is no finished installation. Prefixes: `paths.easybuild` of the site file (divided by
`:`), EASYBUILD_INSTALLPATH, EASYBUILD_PREFIX, and usual places.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import Any

from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question
from providers.probes.packages import any_case, package_answer
from providers.probes.software.closed_folders import CLOSED
from providers.probes.software.module_names import is_module_name, split_version
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["EasyBuild", "parse_easyconfig"]

PLACES = (
    "/opt/easybuild",
    "/easybuild",
    "/apps/easybuild",
    "/software/easybuild",
    "/sw/easybuild",
    "~/.local/easybuild",
)
MOST_FOUND = 40

_FOLDERS = (
    CLOSED
    + r"""
given=$1; shift
seen=:
root() {
  if ! real=$(cd -- "$1" 2>/dev/null && pwd -P); then
    if closed "$1"; then printf 'dragoman-closed %s\n' "$1"; elif [ "$2" = given ]; then
      printf 'dragoman-missing %s\n' "$1"; fi
    return
  fi
  case $seen in *":$real:"*) return ;; esac
  seen=$seen$real:
  [ -d "$real/software" ] || { [ "$2" = given ] && printf 'dragoman-missing %s\n' "$1/software"; return; }
  [ -r "$real/software" ] && [ -x "$real/software" ] || { printf 'dragoman-closed %s\n' "$real/software"; return; }
  printf 'dragoman-root %s\n' "$real"
  for folder in "$real"/software/*; do
    [ -d "$folder" ] || continue
    [ -r "$folder" ] && [ -x "$folder" ] || printf 'dragoman-shut %s\n' "${folder#"$real"/software/}"
  done
  for folder in "$real"/software/*/*; do
    [ -d "$folder" ] || continue
    [ -x "$folder" ] || { printf 'dragoman-shut %s\n' "${folder#"$real"/software/}"; continue; }
    [ -d "$folder/easybuild" ] && printf '%s\n' "${folder#"$real"/software/}"
  done
}
old=$IFS; IFS=:; set -f
for one in $given; do IFS=$old; set +f; root "$one" given; IFS=:; set -f; done
IFS=$old; set +f
for one in "${EASYBUILD_INSTALLPATH:-}" "${EASYBUILD_PREFIX:-}" "$@"; do
  case $one in '~'*) one=${HOME:-/nonexistent}${one#?} ;; /*) ;; *) continue ;; esac
  root "$one" usual
done
echo dragoman-end
"""
)


def _ask(_: PackageQuery | NoArguments, paths: Paths) -> Ask:
    command = question("/bin/sh", "-c", _FOLDERS, "sh", paths.get("easybuild", ""), *PLACES, timeout_s=30.0)
    return Ask(commands={"folders": command})


def _see(results: Results, name: str = "") -> tuple[dict[str, list[str]], str] | Answer[Any]:
    """Installations as `NAME/FOLDER` by prefix, and a fault that may hide one of the software `name`."""
    trouble = no_answer(results, "folders")
    done = results.done("folders")
    if trouble is not None or done is None:
        return trouble or Answer[Any].unknown("the folders were not looked for")
    lines = done.out.splitlines()
    if done.rc != 0 or "dragoman-end" not in lines:
        return Answer[Any].unknown(brief(done))
    found: dict[str, list[str]] = {}
    fault = ""
    here: list[str] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "dragoman-root":
            here = found.setdefault(rest, [])
        elif word == "dragoman-closed":
            fault = f"{rest} cannot be read: permission denied"
        elif word == "dragoman-missing":
            fault = f"{rest} of the site file is not there"
        elif word == "dragoman-shut":
            if any_case(rest.partition("/")[0]) == any_case(name):
                fault = f"software/{rest} cannot be read: permission denied"
        elif line.count("/") == 1:
            here.append(line)
    if not found and not fault:
        return Answer[Any].absent("there is no installation of EasyBuild here")
    return found, fault


def _ask_presence(_: NoArguments, paths: Paths) -> Ask:
    return Ask(commands={**_ask(NoArguments(), paths).commands, "eb": question("eb", "--version", timeout_s=20.0)})


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    seen = _see(results)
    done = results.whole("eb")
    told = re.search(r"EasyBuild (\d\S*)", done.out) if done is not None and done.rc == 0 else None
    if isinstance(seen, Answer):
        if told:
            return Answer[Presence].ok(Presence(version=told[1], detail="no software installed yet"))
        trouble = no_answer(results, "eb")
        failed = done is not None or (trouble is not None and trouble.outcome is Outcome.UNKNOWN)
        outcome = Outcome.UNKNOWN if failed else seen.outcome
        return Answer[Presence](outcome=outcome, reason=brief(done) if done else seen.reason)
    found, fault = seen
    if not found:
        return Answer[Presence].unknown(fault)
    version = told[1] if told else None
    return Answer[Presence].ok(Presence(version=version, path=next(iter(found)), detail=", ".join(found)))


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    seen = _see(results, query.name)
    if isinstance(seen, Answer):
        return seen
    found, fault = seen
    hits = [
        (root, *entry.split("/"))
        for root, entries in found.items()
        for entry in entries
        if any_case(entry.partition("/")[0]) == any_case(query.name)
    ][:MOST_FOUND]
    files = tuple(_easyconfigs(root, name, folder) for root, name, folder in hits)
    trees = tuple(dict.fromkeys(_tree(root, name) for root, name, _ in hits))
    if any(path not in results.files for path in (*files, *trees)):
        return Ask(files=(*files, *trees))
    packages = [_package(root, name, folder, results) for root, name, folder in hits]
    if not packages and fault:
        return Answer[Packages].unknown(fault)
    known = {entry.partition("/")[0] for entries in found.values() for entry in entries}
    return package_answer(query.name, packages, known=known, where="EasyBuild")


def _easyconfigs(root: str, name: str, folder: str) -> str:
    quoted = re.sub(r"([*?\[\\])", r"[\1]", f"{root}/software/{name}/{folder}")
    return f"{quoted}/easybuild/*.eb"


def _tree(root: str, name: str) -> str:
    return f"{root}/modules/all/{name}"


def _package(root: str, name: str, folder: str, results: Results) -> Package:
    read = next((each for each in results.found(_easyconfigs(root, name, folder)) if each.value), None)
    told = parse_easyconfig(read.text) if read is not None else {}
    version, variants, compiler = split_version(folder)
    if told.get("version"):
        version = told["version"]
        chain = " ".join(filter(None, (told.get("toolchain"), told.get("toolchain_version"))))
        compiler = "@".join(chain.split()) if chain and told.get("toolchain") != "system" else compiler
        variants = (told["versionsuffix"],) if told.get("versionsuffix") else ()
    modules = {each.removesuffix(".lua") for each in results.file(_tree(root, name)).names}
    full = f"{name}/{folder}"
    load: tuple[str, ...] = ()
    if folder in modules and is_module_name(full):
        load = (f"module use {shlex.quote(root + '/modules/all')}", f"module load {full}")
    return Package(
        name=name, version=version, manager="easybuild", variants=variants, compiler=compiler, load=load,
        prefix=posixpath.join(root, "software", name, folder),
    )  # fmt: skip


_ASSIGNED = re.compile(r"^(name|version|versionsuffix)\s*=\s*(['\"])([^'\"\n%]*)\2\s*(?:#.*)?$", re.MULTILINE)
_TOOLCHAIN = re.compile(r"^toolchain\s*=\s*(?:SYSTEM|\{(?P<words>[^{}]*)\})", re.MULTILINE)
_WORD = re.compile(r"['\"](name|version)['\"]\s*:\s*['\"]([^'\"\n%]*)['\"]")


def parse_easyconfig(text: str) -> dict[str, str]:
    """Name, version, suffix and toolchain of an easyconfig: Python that is read, never run; templates stay out."""
    told = {match[1]: match[3] for match in _ASSIGNED.finditer(text)}
    toolchain = _TOOLCHAIN.search(text)
    if toolchain is not None and toolchain["words"] is None:
        told["toolchain"] = "system"
    elif toolchain is not None:
        words = dict(_WORD.findall(toolchain["words"]))
        told |= {"toolchain": words.get("name", ""), "toolchain_version": words.get("version", "")}
    return told


@register_probe
class EasyBuild(Probe):
    """`software/easybuild`."""

    category = Category.SOFTWARE
    name = "easybuild"
    verbs = (presence(_ask_presence, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
