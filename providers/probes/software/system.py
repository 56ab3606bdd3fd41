"""Packages of the operating system (dpkg, RPM, apk), and plain programs on the PATH, whose version is not known.

Sources: dpkg-query(1), rpm(8), apk(8). A distribution's own revision is taken off the version: `1:4.1.4-3+b1` is 4.1.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.command import Completed
from dragoman.facts import Package, Packages, Presence
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question
from providers.probes.packages import any_case, package_answer
from providers.registry import register_probe
from providers.verbs import FIND_PACKAGE, NoArguments, PackageQuery

__all__ = ["System", "upstream_version"]

# A built-in or function of the shell is no program: only what begins with a slash is told.
_PROGRAM = r"""
case $1 in */*) exit 3 ;; esac
where=$(command -v -- "$1" 2>/dev/null)
case $where in /*) printf 'dragoman-program %s\n' "$where" ;; *) echo dragoman-none ;; esac
"""

_LISTS = {
    "dpkg": ("dpkg-query", "-W", "-f", "${db:Status-Abbrev}\\t${binary:Package}\\t${Version}\\n"),
    "rpm": ("rpm", "-qa", "--queryformat", "%{NAME}\\t%{VERSION}\\t%{RELEASE}\\n"),
    "apk": ("apk", "info", "-v"),
}
Rows = list[tuple[str, str, str]]
"""Name, upstream version and whole version."""


def upstream_version(version: str) -> str:
    """The version as its makers gave it, of a Debian one (deb-version(7)): no epoch, revision or repacking mark."""
    plain = re.sub(r"^\d+:", "", version)
    plain = plain.rpartition("-")[0] or plain
    plain = re.sub(r"[+~.](?:dfsg|ds|repack|really)[\w.]*.*$", "", plain)
    return re.sub(r"~(?=rc|alpha|beta|pre|dev|git)", "", plain)


def _dpkg(text: str) -> Rows:
    rows: Rows = []
    for line in text.splitlines():
        state, _, rest = line.partition("\t")
        name, tab, version = rest.partition("\t")
        if tab and version and len(state) > 1 and state[1] == "i":
            rows.append((name.partition(":")[0], upstream_version(version), version))
    return rows


def _rpm(text: str) -> Rows:
    rows: Rows = []
    for line in text.splitlines():
        parts = line.split("\t")
        if len(parts) == 3 and all(parts):
            rows.append((parts[0], parts[1], f"{parts[1]}-{parts[2]}"))
    return rows


_APK = re.compile(r"(?P<name>[a-z0-9][\w.+-]*?)-(?P<version>\d[\w.]*)-r(?P<revision>\d+)")


def _apk(text: str) -> Rows:
    found = (_APK.fullmatch(line.strip()) for line in text.splitlines())
    return [(each["name"], each["version"], f"{each['version']}-r{each['revision']}") for each in found if each]


_WRONG = re.compile(
    r"\b(?:error|fatal|fail(?:ed|ure)?|cannot|can't|could not|damaged|corrupt\w*|denied)\b", re.IGNORECASE
)
_READ: dict[str, Callable[[str], Rows]] = {"dpkg": _dpkg, "rpm": _rpm, "apk": _apk}


def _ask(query: PackageQuery, paths: Paths) -> Ask:
    lists = {name: question(*argv, timeout_s=20.0) for name, argv in _LISTS.items()}
    return Ask(commands={**lists, "program": question("/bin/sh", "-c", _PROGRAM, "sh", query.name.strip())})


def _ask_presence(_: NoArguments, paths: Paths) -> Ask:
    versions = {name: question(argv[0], "--version") for name, argv in _LISTS.items()}
    return Ask(commands={**versions, "shell": question("/bin/sh", "-c", "command -v sh")})


def _parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    fault = ""
    for name, argv in _LISTS.items():
        done = results.whole(name)
        version = re.search(r"(?<!\d)\d+\.\d+[\w.]*", done.out) if done is not None and done.rc == 0 else None
        if version is not None:
            return Answer[Presence].ok(Presence(version=version[0], detail=argv[0]))
        trouble = no_answer(results, name)
        if done is not None or (trouble is not None and trouble.outcome is Outcome.UNKNOWN):
            fault = fault or (brief(done) if done is not None else trouble.reason if trouble else "")
    shell = results.whole("shell")
    if fault or shell is None or shell.rc != 0 or not shell.out.startswith("/"):
        return Answer[Presence].unknown(fault or "the site's shell gives no answer")
    return Answer[Presence].ok(Presence(detail="programs on the PATH alone"))


def _rows(results: Results) -> tuple[dict[str, Rows], str]:
    """What each manager that is there lists, and why one of them does not."""
    found: dict[str, Rows] = {}
    fault = ""
    for name in _LISTS:
        trouble = no_answer(results, name)
        done = results.done(name)
        if trouble is not None:
            fault = fault or (trouble.reason if trouble.outcome is Outcome.UNKNOWN else "")
        elif done is not None:
            rows = _READ[name](done.out)
            if rows and done.rc == 0 and done.out.endswith("\n"):
                found[name] = rows
            # An empty list is one only where nothing went wrong: dpkg-query(1) and rpm(8) end with another code then,
            # but a damaged database leaves packages out and words on stderr alone.
            silent = not done.out.strip() and not done.err.strip()
            if done.rc != 0 or (name not in found and not silent) or _WRONG.search(done.err):
                fault = fault or brief(done)
    return found, fault


def _program(done: Completed | None) -> str | None:
    """Path of the program of that name; None where it is not told."""
    first = done.out.strip() if done is not None and done.rc == 0 else ""
    return first.removeprefix("dragoman-program ") if re.fullmatch(r"dragoman-program /[^\n]+", first) else None


def _parse(query: PackageQuery, results: Results) -> Answer[Packages] | Ask:
    found, fault = _rows(results)
    done = results.whole("program")
    path = _program(done)
    packages = [
        Package(name=name, version=version, manager="system", variants=(f"{manager} {whole}",), executable=path)
        for manager, rows in found.items()
        for name, version, whole in dict.fromkeys(rows)
        if any_case(name) == any_case(query.name)
    ]
    if not packages and path is not None:
        packages = [Package(name=query.name.strip(), version=None, manager="system", executable=path)]
    if not packages:
        told = done is not None and (done.out.strip() == "dragoman-none" or done.rc == 3)
        if fault or not told:
            return Answer[Packages].unknown(fault or "the programs on the PATH were not shown")
        if all(results.done(name) is None for name in _LISTS):
            return Answer[Packages].unknown("there is neither dpkg, rpm nor apk here to list what is installed")
    known = {name for rows in found.values() for name, _, _ in rows}
    return package_answer(query.name, packages, known=known, where="the system")


@register_probe
class System(Probe):
    """`software/system`: dpkg, RPM or apk, and programs on the PATH."""

    category = Category.SOFTWARE
    name = "system"
    path_keys = ()
    verbs = (presence(_ask_presence, _parse_presence), ProbeVerb(FIND_PACKAGE, _ask, _parse))
