"""Containers and fabrics around the job."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.facts import ContainerRuntime, Interface, Interfaces
from dragoman.kleene import Truth, all_of, any_of, truth
from dragoman.observation import Category, Outcome
from dragoman.proposal import Check, CheckKind
from dragoman.request import ContainerNeed, NetworkNeed
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.evidence import Evidence, switched_off
from providers.probes.container.flavours import FLAVOURS, flavour_admits

__all__ = ["check_container", "check_network", "container_fits"]

_DOUBT = "(whether it works is not known)"


def check_container(
    need: ContainerNeed, field: str, evidence: Evidence, conventions: Conventions = STRICT, scheduler: str = ""
) -> Check:
    """One of the runtimes, usable now; a runtime is no software package and, strictly, none stands for another.

    Apptainer continues Singularity, so that it stands for that one; nothing stands for Apptainer.

    Kubernetes runs an image by itself where no runtime is named.
    """
    if scheduler == "kubernetes" and need.image is not None and not need.runtimes and need.version is None:
        return _check("container image", field, "container", Truth.YES, "Kubernetes runs the image itself", [])
    seen = evidence.of(Category.CONTAINER, "status", ContainerRuntime)
    able = conventions.standing_for(need.runtimes)
    asked = [each for each in seen if not need.runtimes or each.provider in able]
    results, words = [], []
    for each in asked:
        runtime = each.value
        if runtime is None:
            unknown = each.observation.outcome is Outcome.UNKNOWN
            results.append(Truth.UNKNOWN if unknown else Truth.NO)
            words.append(f"{each.provider}: {each.observation.reason or 'not there'}")
            continue
        results.append(container_fits(need, each.provider, runtime))
        why = runtime.reason or (_DOUBT if runtime.usable is Truth.UNKNOWN else "")
        words.append(" ".join(part for part in (runtime.runtime, runtime.version, why) if part))
    off = [name for name in evidence.not_asked(Category.CONTAINER, "status") if not need.runtimes or name in able]
    result, more = _not_absent(any_of(results), off)
    wanted = " or ".join(need.runtimes) or "any container runtime"
    reason = "; ".join([*words, *more]) or f"no {wanted} at the site"
    return _check(f"container {wanted}", field, "container", result, reason, [e.observation.id for e in asked])


def _not_absent(result: Truth, off: Sequence[str]) -> tuple[Truth, list[str]]:
    """A no that a provider which was switched off might have answered otherwise is unknown, and why."""
    if result is not Truth.NO or not off:
        return result, []
    return Truth.UNKNOWN, [switched_off(off)]


def container_fits(need: ContainerNeed, provider: str, runtime: ContainerRuntime) -> Truth:
    """Whether a runtime works now as it is needed, its name aside."""
    parts = [runtime.usable]
    if need.rootless is not None:
        parts.append(runtime.rootless if need.rootless else Truth.YES)
    if need.version is not None:
        parts.append(_version_fits(need, provider, runtime))
    return all_of(parts)


def _version_fits(need: ContainerNeed, provider: str, runtime: ContainerRuntime) -> Truth:
    """Versions of a flavour are counted by that flavour: Apptainer 1.2 is no older than Singularity 3.8."""
    if runtime.runtime in FLAVOURS:
        able = [each for each in need.runtimes if each in FLAVOURS] or [*need.runtimes, provider]
        asked = provider if provider in need.runtimes else able[0]
        return flavour_admits(asked, need.version, runtime.runtime, runtime.version)
    return Truth.UNKNOWN if runtime.version is None or need.version is None else need.version.admits(runtime.version)


def _interface_fits(interface: Interface, need: NetworkNeed) -> Truth:
    parts = [interface.up]
    if need.fabrics:
        parts.append(truth(interface.fabric in need.fabrics))
    if need.low_latency:
        parts.append(interface.low_latency)
    if need.min_gbit_s is not None:
        parts.append(truth(None if interface.gbit_s is None else interface.gbit_s >= need.min_gbit_s))
    return all_of(parts)


def check_network(need: NetworkNeed, field: str, evidence: Evidence) -> Check:
    """A fabric that is up, of one of the kinds, fast and low in latency as asked; no MPI library stands for one."""
    seen = evidence.of(Category.NETWORK, "interfaces", Interfaces)
    interfaces = [interface for each in seen if each.value for interface in each.value.interfaces]
    unknown = [each.observation.reason for each in seen if each.observation.outcome is Outcome.UNKNOWN]
    result = any_of(_interface_fits(interface, need) for interface in interfaces)
    off = [name for name in evidence.not_asked(Category.NETWORK, "interfaces") if name in (need.fabrics or (name,))]
    result, more = _not_absent(result, off)
    unknown += more
    if result is Truth.NO and unknown:
        result = Truth.UNKNOWN
    there = ", ".join(dict.fromkeys(interface.fabric for interface in interfaces)) or "no fabric"
    wanted = " or ".join(need.fabrics) or ("a low-latency fabric" if need.low_latency else "a network")
    reason = "; ".join(unknown) if result is Truth.UNKNOWN and unknown else f"has {there}"
    if result is Truth.UNKNOWN and not unknown:
        reason += ", of which it is not known whether it is up or as fast as asked"
    return _check(f"network {wanted}", field, "network", result, reason, [e.observation.id for e in seen])


def _check(requirement: str, field: str, kind: CheckKind, result: Truth, reason: str, observations: list[str]) -> Check:
    return Check(
        requirement=requirement, field=field, kind=kind, result=result, reason=reason[:1000],
        observations=tuple(observations),
    )  # fmt: skip
