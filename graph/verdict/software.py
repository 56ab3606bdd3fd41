"""Software and MPI: a package by its own name and version, never by a text match or a dependency's version."""

from __future__ import annotations

import re

from dragoman.facts import MpiLibraries, MpiLibrary, Package, Packages, Presence
from dragoman.kleene import Truth, all_of, any_of
from dragoman.observation import Category, Outcome
from dragoman.proposal import Check, Suggestion
from dragoman.request import MpiNeed, SoftwareNeed
from dragoman.versions import VersionRange
from graph.verdict.evidence import Evidence, alternatives, switched_off

__all__ = [
    "admits",
    "check_mpi",
    "check_software",
    "implementation_of",
    "mpi_not_asked",
    "mpi_packages",
    "software_suggestions",
]

_PACKAGES = {"mvapich": ("mvapich", "mvapich2"), "intel-mpi": ("intel-mpi", "intel-oneapi-mpi", "impi")}
_IMPLEMENTATIONS = ("openmpi", "mpich", "mvapich", "intel-mpi", "cray-mpich", "spectrum-mpi")
_YEARS_FOLLOW = frozenset({"gromacs", "abaqus", "ansys", "intel", "intel-oneapi-compilers", "intel-mpi", "impi"})
"""Whose releases are numbered by year after smaller numbers, in one line: GROMACS 5.1 was followed by 2016."""


def _wanted(need: SoftwareNeed) -> str:
    return f"{need.name} {need.version}" if need.version else need.name


def numbered_otherwise(name: str, wanted: VersionRange, version: str | None) -> bool:
    """Whether a bound and a version count in different ways, as `v2312` of one line and `11` of another do."""
    if version is None or name.lower() in _YEARS_FOLLOW:
        return False
    there = _first_number(version)
    for bound in wanted.bounds:
        asked = _first_number(bound.version)
        if there is None or asked is None or bound.operator in ("==", "!="):
            continue
        small, large = sorted((there, asked))
        if large >= 1000 and small < 100:
            return True
    return False


def _first_number(version: str) -> int | None:
    """None for days, such as 2Aug2023 and 20230802, which have an order of their own."""
    match = re.match(r"v?(\d{1,4})(?![\da-z])", version.strip().lower())
    return int(match[1]) if match is not None else None


def version_admits(name: str, wanted: VersionRange, version: str | None) -> Truth:
    """Whether a version of a package is in the range; unknown where the two are not of one numbering."""
    if version is None or numbered_otherwise(name, wanted, version):
        return Truth.UNKNOWN
    return wanted.admits(version)


def admits(package: Package, need: SoftwareNeed) -> Truth:
    """Whether one installed package is what is needed, alternatives aside."""
    parts = []
    if need.version is not None:
        parts.append(version_admits(package.name, need.version, package.version))
    parts += [_has_variant(each, package) for each in need.variants]
    return all_of(parts)


def _version_words(need: SoftwareNeed) -> tuple[str, ...]:
    return (str(need.version),) if need.version is not None else ()


def _has_variant(asked: str, package: Package) -> Truth:
    """Whether it was built so, as Spack writes it: `+cuda`, `~cuda`, `key=value`; a bare name is one that is on.

    A build tells its flags with signs or it tells none: what is not told of (by a module, say) is not known.
    """
    wanted = _signed(asked)
    there = {each if "=" in each else _signed(each) for each in package.variants}
    if wanted in there:
        return Truth.YES
    sign, name = wanted[0], wanted[1:]
    key = wanted.partition("=")[0]
    if "=" in wanted:
        told = any(each.startswith(f"{key}=") for each in there)
    else:
        told = ("~" if sign == "+" else "+") + name in there
    return Truth.NO if told or (package.manager == "spack" and package.variants) else Truth.UNKNOWN


def _signed(variant: str) -> str:
    """With its sign: `cuda` is `+cuda`, `-cuda` is `~cuda`."""
    bare = variant.strip()
    if "=" in bare or bare[:1] in ("+", "~"):
        return bare
    return f"~{bare[1:]}" if bare.startswith("-") else f"+{bare}"


def _check_one(need: SoftwareNeed, field: str, evidence: Evidence) -> Check:
    seen = [
        each
        for each in evidence.of(Category.SOFTWARE, "find_package", Packages, name=need.name)
        if need.manager is None or each.provider == need.manager
    ]
    found = [package for each in seen if each.value for package in each.value.packages]
    results = [admits(package, need) for package in found]
    unknown = [each.observation.reason for each in seen if each.observation.outcome is Outcome.UNKNOWN]
    result = any_of(results)
    off = [name for name in evidence.not_asked(Category.SOFTWARE, "find_package") if need.manager in (None, name)]
    if off:
        unknown.append(switched_off(off))
    if result is Truth.NO and unknown:
        result = Truth.UNKNOWN
    versions = ", ".join(dict.fromkeys(f"{p.version or 'version unknown'} ({p.manager})" for p in found))
    if result is Truth.YES:
        good = next(p for p, fits in zip(found, results, strict=True) if fits is Truth.YES)
        reason = f"{need.name} {good.version or ''} by {good.manager}".replace("  ", " ")
    elif result is Truth.UNKNOWN and unknown:
        reason = f"{need.name}: " + "; ".join(unknown)
    elif found:
        reason = f"has {need.name} {versions}, asked {' '.join((*_version_words(need), *need.variants))}"
        if result is Truth.UNKNOWN and need.variants:
            reason += ", and how it was built is not told"
        if need.version is not None and any(numbered_otherwise(p.name, need.version, p.version) for p in found):
            reason += ", which is numbered in another way"
    elif seen:
        reason = f"{need.name} is not installed"
    else:
        reason = f"no {need.manager or 'software manager'} at the site"
    return Check(
        requirement=f"software {_wanted(need)}",
        field=field,
        result=result,
        reason=reason[:1000],
        kind="software",
        observations=tuple(each.observation.id for each in seen),
    )


def check_software(need: SoftwareNeed, field: str, evidence: Evidence) -> Check:
    """The package, or any of its alternatives."""
    checks = [_check_one(each, field, evidence) for each in (need, *need.alternatives)]
    return alternatives(
        f"software {' or '.join(_wanted(n) for n in (need, *need.alternatives))}", field, "software", checks
    )


def software_suggestions(need: SoftwareNeed, field: str, evidence: Evidence) -> list[Suggestion]:
    """Versions that are there where the asked one is not."""
    if need.version is None:
        return []
    seen = evidence.of(Category.SOFTWARE, "find_package", Packages, name=need.name)
    versions = dict.fromkeys(p.version for each in seen if each.value for p in each.value.packages if p.version)
    if not versions or any(version_admits(need.name, need.version, each) is Truth.YES for each in versions):
        return []
    offered = ", ".join(versions)
    return [
        Suggestion(
            field=f"{field}.version",
            asked=str(need.version),
            offered=offered,
            words=f"has {need.name} {offered}, asked {need.version}",
        )
    ]


def mpi_packages(need: MpiNeed) -> tuple[str, ...]:
    """Names under which package managers have the implementations that will do (Spack, EasyBuild, conda-forge)."""
    wanted = need.implementations or _IMPLEMENTATIONS
    return tuple(name for one in wanted for name in _PACKAGES.get(one, (one,)))


def implementation_of(package: str) -> str:
    """The implementation that a package of this name is."""
    return next((key for key, names in _PACKAGES.items() if package in names), package)


def check_mpi(need: MpiNeed, evidence: Evidence) -> Check:
    """An MPI library of one of the implementations and a fitting version; also as a package of a software manager."""
    seen = evidence.of(Category.PARALLEL, "libraries", MpiLibraries)
    libraries = [library for each in seen if each.value for library in each.value.libraries]
    observations = [each.observation.id for each in seen]
    unknown = [each.observation.reason for each in seen if each.observation.outcome is Outcome.UNKNOWN]
    probed = evidence.of(Category.SOFTWARE, "probe", Presence)
    looked = bool(probed)
    for name in mpi_packages(need):
        for each in evidence.of(Category.SOFTWARE, "find_package", Packages, name=name):
            looked = True
            observations.append(each.observation.id)
            packages = each.value.packages if each.value else ()
            one = implementation_of(name)
            libraries += [MpiLibrary(implementation=one, version=package.version) for package in packages]
            if each.observation.outcome is Outcome.UNKNOWN:
                unknown.append(each.observation.reason)
    off = mpi_not_asked(need, evidence)
    if off:
        unknown.append(switched_off(off))
    elif not looked:
        unknown.append("no library or launcher shows one, and packages were not looked through")
    fitting = [
        library for library in libraries if not need.implementations or library.implementation in need.implementations
    ]
    result = any_of(_version_fits(need.version, library.version) for library in fitting)
    if result is Truth.NO and unknown:
        result = Truth.UNKNOWN
    there = (
        ", ".join(dict.fromkeys(f"{each.implementation} {each.version or ''}".strip() for each in libraries))
        or "no MPI"
    )
    wanted = f"MPI {' or '.join(need.implementations) or 'of any kind'} {need.version or ''}".strip()
    return Check(
        requirement=wanted,
        field="mpi",
        result=result,
        reason=("; ".join(dict.fromkeys(unknown)) if result is Truth.UNKNOWN and unknown else f"has {there}")[:1000],
        kind="mpi",
        observations=tuple(dict.fromkeys((*observations, *(each.observation.id for each in probed)))),
    )


def mpi_not_asked(need: MpiNeed, evidence: Evidence) -> list[str]:
    """Providers that might show one of the implementations, and were switched off."""
    libraries = evidence.not_asked(Category.PARALLEL, "libraries")
    managers = (each for verb in ("find_package", "probe") for each in evidence.not_asked(Category.SOFTWARE, verb))
    wanted = need.implementations
    return list(dict.fromkeys((*(name for name in libraries if not wanted or name in wanted), *managers)))


def _version_fits(wanted: VersionRange | None, version: str | None) -> Truth:
    if wanted is None:
        return Truth.YES
    return Truth.UNKNOWN if version is None else wanted.admits(version)
