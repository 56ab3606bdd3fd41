"""Environment modules, Lmod's and the Tcl ones: what `module avail` lists, and in Lmod's hierarchies what leads to it.

`module` is a function of the shell, set up by a script that is found by `paths.modules` (that script, or the prefix),
MODULESHOME, LMOD_PKG, or in a usual place; `paths.modulepath` stands for MODULEPATH. No name is ever given to `module
avail`: the whole list is read and names are compared here, so that one listing answers for every package. Modules that
a site hides are not listed and not offered. Sources: module(1) of Lmod 8 and of Environment Modules 3.2 to 5.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from dragoman.command import Command
from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, missing, no_answer, presence, question
from providers.probes.packages import package_answer
from providers.probes.software.module_names import Module, is_module_name, named, parse_listing
from providers.probes.software.module_spider import Way, parse_spider
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["Modules", "load_lines"]

PLACES = (
    "/usr/share/lmod/lmod", "/usr/share/modules", "/usr/share/Modules", "/opt/cray/pe/lmod/lmod", "/opt/apps/lmod/lmod",
    "/apps/lmod/lmod", "/opt/lmod/lmod", "/usr/local/lmod/lmod", "/opt/ohpc/admin/lmod/lmod", "/usr/local/Modules",
    "/opt/modules/default",
)  # fmt: skip
MOST_DETAILS = 24
"""Modules out of sight of which the way is asked, for one package."""

# What the set-up script prints is dropped; where a fault in it ends the shell, the answer has no head and is unknown.
# MODULEPATH is often set by a login alone, so /etc/profile.d is looked at where it is empty. Only Lmod knows `spider`.
_MODULE = r"""
what=$1 given=$2 modulepath=$3; shift 3
export LMOD_PAGER=none LMOD_COLORIZE=no LMOD_REDIRECT=no MODULES_PAGER= MODULES_COLOR=never PAGER=cat TERM=dumb
places=$#; init=''
for place in ${given:+"$given" "$given/init/sh" "$given/lmod/init/sh"} ${MODULESHOME:+"$MODULESHOME/init/sh"} \
    ${LMOD_PKG:+"$LMOD_PKG/init/sh"}; do
  [ -z "$init" ] && [ -f "$place" ] && [ -r "$place" ] && init=$place
done
while [ "$places" -gt 0 ]; do
  [ "$1" = -- ] && { shift; break; }
  [ -z "$init" ] && [ -z "$given" ] && [ -r "$1/init/sh" ] && init=$1/init/sh
  shift; places=$((places - 1))
done
[ -n "$init" ] || { echo dragoman-no-modules; exit 0; }
if [ "$what" = spider ] && ! grep -q LMOD_ "$init"; then
  printf 'dragoman-init %s\ndragoman-no-spider\n' "$init"; exit 0; fi
was=${MODULEPATH:-}
. "$init" >/dev/null 2>&1 </dev/null
[ -n "$was" ] && MODULEPATH=$was
[ -n "$modulepath" ] && MODULEPATH=$modulepath
if [ -z "${MODULEPATH:-}" ]; then
  for profile in /etc/profile.d/*lmod*.sh /etc/profile.d/*modules*.sh /etc/profile.d/*modulepath*.sh; do
    [ -r "$profile" ] && [ -z "${MODULEPATH:-}" ] &&
      MODULEPATH=$( . "$profile" >/dev/null 2>&1 </dev/null; printf %s "${MODULEPATH:-}")
  done
fi
export MODULEPATH
printf 'dragoman-init %s\ndragoman-lmod %s\ndragoman-path %s\n' "$init" "${LMOD_CMD:-}" "${MODULEPATH:-}"
section() { label=$1; shift; printf 'dragoman-begin %s\n' "$label"; module "$@" 2>&1 </dev/null
  printf '\ndragoman-end %s\n' "$?"; }
case $what in
  version) section version --version ;;
  avail) section avail -t avail ;;
  spider) [ -z "${LMOD_CMD:-}" ] || section spider -t spider ;;
  way) for one do section "$one" spider "$one"; done ;;
esac
"""


def _module(what: str, paths: Paths, *names: str, timeout_s: float = 45.0) -> Command:
    given, modulepath = paths.get("modules", ""), paths.get("modulepath", "")
    return question(
        "/bin/sh", "-c", _MODULE, "sh", what, given.rstrip("/"), modulepath, *PLACES, "--", *names, timeout_s=timeout_s
    )


_HEADS = frozenset(f"dragoman-{each}" for each in ("init", "lmod", "path", "no-modules", "no-spider"))


class _Told:
    """What one run of the script told: head lines, and sections with their exit codes."""

    def __init__(self, text: str) -> None:
        self.head: dict[str, str] = {}
        self.sections: dict[str, tuple[str, int | None]] = {}
        label: str | None = None
        lines: list[str] = []
        for line in text.split("\n"):
            word, _, rest = line.partition(" ")
            if label is None and word in _HEADS:
                self.head.setdefault(word.removeprefix("dragoman-"), rest)
            elif label is None and word == "dragoman-begin":
                label, lines = rest, []
                self.sections[label] = ("", None)
            elif label is not None and word == "dragoman-end" and rest.isdigit():
                self.sections[label] = ("\n".join(lines), int(rest))
                label = None
            elif label is not None:
                lines.append(line)


def _told(results: Results, name: str) -> _Told | Answer[Any]:
    trouble = no_answer(results, name)
    done = results.done(name)
    if trouble is not None or done is None:
        return trouble or Answer[Any].unknown("module was not asked")
    told = _Told(done.out)
    if "no-modules" in told.head:
        none = "there are no environment modules here: no set-up script of `module` was found"
        return missing(none, results.paths, "modules")
    if "init" not in told.head:
        return Answer[Any].unknown(brief(done))
    return told


def _ask_presence(_: NoArguments, paths: Paths) -> Ask:
    return Ask(commands={"version": _module("version", paths, timeout_s=20.0)})


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    told = _told(results, "version")
    if isinstance(told, Answer):
        return told
    text, _code = told.sections.get("version", ("", None))
    version = re.search(r"(?:Version|Release|VERSION=|release)\s*v?(\d[\w.]*)", text)
    kind = "Lmod" if told.head.get("lmod") else "Environment Modules"
    if version is None and "not found" in text:
        return Answer[Presence].unknown(f"{told.head['init']} did not set `module` up: {brief(text)}")
    detail = f"{kind}, MODULEPATH {told.head.get('path') or 'empty'}"
    return Answer[Presence].ok(Presence(version=version[1] if version else None, path=told.head["init"], detail=detail))


def _ask(_: PackageQuery, paths: Paths) -> Ask:
    return Ask(commands={"avail": _module("avail", paths), "spider": _module("spider", paths)})


_ERROR = re.compile(r"Lmod has detected the following error|^ *ERROR|Cannot read|permission denied", re.I | re.M)


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    told = _told(results, "avail")
    if isinstance(told, Answer):
        return told
    if not told.head.get("path"):
        return Answer[Packages].unknown("MODULEPATH is empty here (`paths.modulepath` of the site file can name it)")
    text, code = told.sections.get("avail", ("", None))
    fault = "the listing was cut short" if code is None else ""
    if not fault and (_ERROR.search(text) or code != 0):
        fault = brief(text) or f"module avail ended with {code}"
    seen = [module for module in parse_listing(text) if not module.hidden]
    spider = _told(results, "spider")
    beyond: list[Module] = []
    if isinstance(spider, _Told) and spider.head.get("lmod"):
        names, spider_code = spider.sections.get("spider", ("", None))
        fault = fault or ("" if spider_code == 0 else brief(names) or "module spider did not end")
        there = {module.full for module in seen if not module.extension}
        beyond = [module for module in parse_listing(names) if module.full not in there and not module.hidden]
    elif isinstance(spider, Answer):
        fault = fault or spider.reason
    elif not {"lmod", "no-spider"} & set(spider.head):
        fault = fault or "what is behind a hierarchy was cut short"
    if "\ufffd" in text or any("\ufffd" in each for each, _ in getattr(spider, "sections", {}).values()):
        fault = fault or "a name in the listing is no UTF-8"
    hits = [module for module in beyond if named(module.full, query.name)][:MOST_DETAILS]
    if hits and not results.asked("ways"):
        return Ask(commands={"ways": _module("way", results.paths, *(module.full for module in hits))})
    init = told.head["init"]
    packages = [*(_package(module, query.name, init, ()) for module in seen if not module.extension)]
    ways = _told(results, "ways") if hits else None
    for module in hits:
        way = parse_spider(ways.sections.get(module.full, ("", None))[0]) if isinstance(ways, _Told) else None
        packages.append(_behind(module, query.name, init, way))
    found = [package for package in packages if package is not None]
    if not found:
        if any(module.extension and named(module.full, query.name) for module in seen):
            return Answer[Packages].unknown(f"{query.name} is inside of some module, which one was not told")
        if fault:
            return Answer[Packages].unknown(f"not every module could be listed: {fault}")
    known = {part for module in (*seen, *beyond) for part in module.full.split("/")[:1]}
    return package_answer(query.name, found, known=known, where="the module tree")


def _package(module: Module, wanted: str, init: str, before: tuple[str, ...]) -> Package | None:
    parts = named(module.full, wanted)
    if parts is None:
        return None
    name, version, variants, compiler = parts
    marks = ("default",) if module.default else ()
    return Package(
        name=name, version=version, manager="modules", variants=(*variants, *marks), compiler=compiler,
        load=load_lines(init, (*before, module.full)),
    )  # fmt: skip


def _behind(module: Module, wanted: str, init: str, way: Way | None) -> Package | None:
    """A module out of sight: its load lines take the first way that leads to it, the others are told."""
    if way is not None and way.direct and not way.before:
        return _package(module, wanted, init, ())
    found = _package(module, wanted, init, ())
    if found is None:
        return None
    if way is None or not way.before:
        return found.model_copy(update={"load": ()})
    chain = way.before[0] if way.extension else (*way.before[0], module.full)
    told = tuple(f"behind {' '.join(before)}" for before in way.before)
    first = "inside of a module" if way.extension else None
    variants = (*found.variants, *((first,) if first else ()), *told)
    compiler = found.compiler or next((each for each in map(_compiler_module, way.before[0]) if each), None)
    return found.model_copy(update={"load": load_lines(init, chain), "variants": variants, "compiler": compiler})


def _compiler_module(full: str) -> str | None:
    name, _, version = full.partition("/")
    return (
        f"{name}@{version}" if version and name.lower() in ("gcc", "intel", "nvhpc", "clang", "aocc", "cce") else None
    )


def load_lines(init: str, chain: tuple[str, ...]) -> tuple[str, ...]:
    """Shell lines that load these modules in order, and stop the job where one of them is not loaded.

    Neither exit code nor stderr of `module load` tells: notes are printed on success, and Tcl modules of version 3 end
    with 0 on failure. LOADEDMODULES is what both kinds keep.
    """
    if not chain or not all(is_module_name(name) for name in chain):
        return ()
    loaded = 'case ":${{LOADEDMODULES:-}}:" in *":{0}:"*) ;; *) echo "module {0} was not loaded" >&2; exit 1 ;; esac'
    return (
        f"command -v module >/dev/null 2>&1 || . {shlex.quote(init)}",
        *(line for name in chain for line in (f"module load {name}", loaded.format(name))),
    )


@register_probe
class Modules(Probe):
    """`software/modules`."""

    category = Category.SOFTWARE
    name = "modules"
    path_keys = ("modules", "modulepath")
    verbs = (presence(_ask_presence, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
