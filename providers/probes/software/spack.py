"""Packages installed by Spack: `spack find --json NAME`, which tells the package's own node and no dependency's.

Spack is found by `paths.spack` of the site file, on the PATH, by SPACK_ROOT, or in a usual place. Sources: `spack help
find`, and the specification files of Spack 0.17 to 1.0 (in 1.0 the compiler is a dependency with a virtual).
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import Any

from dragoman.command import Command
from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, presence
from providers.probes.json_output import first_json
from providers.probes.locating import located, program_of
from providers.probes.packages import package_answer
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["Spack", "parse_find"]

PLACES = ("/opt/spack", "/usr/local/spack", "/spack", "/apps/spack", "/sw/spack", "/software/spack", "~/spack")

_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")
"""Spack's own rule for names (spack.util.naming): neither a spec's signs nor an option can be among them.

That is the guard: Spack reads a `--` before a spec as a part of the spec.
"""
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]*")
_NONE = re.compile(r"^==> (?:Error: )?No package matches the query", re.MULTILINE)
_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+\S*")


def _spack(paths: Paths, *arguments: str) -> Command:
    return located(
        "spack", "--color=never", *arguments, paths=paths, variables=("SPACK_ROOT",), places=PLACES, timeout_s=45.0
    )


def _spec(query: PackageQuery) -> str | None:
    name = query.name.strip().lower()
    return name if _NAME.fullmatch(name) else None


def _ask_presence(_: NoArguments, paths: Paths) -> Ask:
    command = located("spack", "--version", paths=paths, variables=("SPACK_ROOT",), places=PLACES, timeout_s=30.0)
    return Ask(commands={"version": command})


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    found = program_of(results, "version", "spack")
    if isinstance(found, Answer):
        return found
    path, out = found
    done = results.done("version")
    version = _VERSION.search(out)
    if done is None or done.rc != 0 or version is None:
        return Answer[Presence].unknown(brief(done) if done else "spack was not asked")
    return Answer[Presence].ok(Presence(version=version[0], path=path))


def _ask(query: PackageQuery, paths: Paths) -> Ask:
    name = _spec(query)
    if name is None:  # presence is still looked at, so that absence of Spack itself is told as such
        return Ask(commands={"find": _spack(paths, "--version")})
    return Ask(commands={"find": _spack(paths, "find", "--json", name)})


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    found = program_of(results, "find", "spack")
    if isinstance(found, Answer):
        return found
    path, out = found
    done = results.done("find")
    name = _spec(query)
    if done is None:
        return Answer[Packages].unknown("spack was not asked")
    if name is None:
        if done.rc != 0 or not _VERSION.search(out):
            return Answer[Packages].unknown(brief(done))
        return Answer[Packages].absent(f"{query.name} cannot be a name of a Spack package")
    nodes = first_json(out, list)
    packages = parse_find(nodes, name, path) if isinstance(nodes, list) else []
    if done.rc == 0 and packages:
        return package_answer(query.name, packages)
    none = (done.rc == 0 and nodes == []) or (done.rc in (0, 1) and _NONE.search(f"{out}\n{done.err}"))
    if not none:
        return Answer[Packages].unknown(brief(done))
    if not results.asked("names"):
        return Ask(commands={"names": _spack(results.paths, "find", "--format", "{name}")})
    return package_answer(query.name, (), known=_names(results), where="Spack")


def _names(results: Results) -> set[str]:
    """Names of all installed packages; none where Spack does not tell, which only costs the names nearby."""
    found = program_of(results, "names", "spack")
    done = results.whole("names")
    if isinstance(found, Answer) or done is None or done.rc != 0:
        return set()
    return {line.strip() for line in found[1].splitlines() if _NAME.fullmatch(line.strip())}


def parse_find(nodes: list[Any], name: str, program: str) -> list[Package]:
    """The packages of exactly this name among the nodes of `spack find --json`."""
    packages = []
    for node in nodes:
        if not isinstance(node, dict) or node.get("name") != name:
            continue
        version, key = node.get("version"), node.get("hash")
        external = node.get("external")
        packages.append(
            Package(
                name=name,
                version=version if isinstance(version, str) and version else None,
                manager="spack",
                variants=_variants(node.get("parameters")),
                compiler=_compiler(node),
                load=_load(name, version, key, program),
                prefix=str(external["path"]) if isinstance(external, dict) and external.get("path") else None,
            )
        )
    return packages


def _variants(parameters: object) -> tuple[str, ...]:
    """`+mpi`, `~cuda`, `build_type=Release`, as Spack writes them; flags that are not set are left out."""
    if not isinstance(parameters, dict):
        return ()
    written: list[str] = []
    for name, value in sorted(parameters.items()):
        if isinstance(value, bool):
            written.append(f"{'+' if value else '~'}{name}")
        elif isinstance(value, list):
            written += [f"{name}={','.join(str(one) for one in value)}"] if value else []
        else:
            written.append(f"{name}={value}")
    return tuple(written)


def _compiler(node: dict[str, Any]) -> str | None:
    told = node.get("compiler")
    if isinstance(told, dict) and told.get("name"):
        return f"{told['name']}@{told['version']}" if told.get("version") else str(told["name"])
    notes = node.get("annotations")
    if isinstance(notes, dict) and notes.get("compiler"):
        return str(notes["compiler"])
    edges = node.get("dependencies")
    for edge in edges if isinstance(edges, list) else []:
        how = edge.get("parameters") if isinstance(edge, dict) else None
        virtuals = how.get("virtuals") if isinstance(how, dict) else None
        if isinstance(virtuals, list) and {"c", "cxx", "fortran"} & {str(one) for one in virtuals}:
            return str(edge["name"])
    return None


def _load(name: str, version: object, key: object, program: str) -> tuple[str, ...]:
    """`spack load NAME@VERSION/HASH` behind Spack's own set-up; nothing where a part is not what Spack would write."""
    if not (isinstance(version, str) and isinstance(key, str) and _WORD.fullmatch(version) and key.isalnum()):
        return ()
    root = posixpath.dirname(posixpath.dirname(program))
    setup = shlex.quote(f"{root}/share/spack/setup-env.sh")
    return (f". {setup}", f"spack load {name}@{version}/{key}")


@register_probe
class Spack(Probe):
    """`software/spack`."""

    category = Category.SOFTWARE
    name = "spack"
    verbs = (presence(_ask_presence, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
