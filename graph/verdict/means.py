"""What a command can be run with at a site, read from its evidence: the same observations that the checks rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dragoman.facts import ContainerRuntime, Gpu, MpiLibraries, MpiLibrary, Package, Packages, Workload
from dragoman.kleene import Truth
from dragoman.observation import Category, Outcome
from dragoman.proposal import Check
from dragoman.request import ContainerNeed, JobRequest, MpiNeed, SoftwareNeed
from dragoman.shape import Shape
from dragoman.site import Site
from dragoman.versions import compare
from graph.verdict.conventions import STRICT, Conventions
from graph.verdict.evidence import Evidence, switched_off
from graph.verdict.software import admits, implementation_of, mpi_not_asked, mpi_packages
from graph.verdict.surroundings import container_fits
from providers.commands.launchers import MPI_LAUNCHERS, launcher_name, works_under
from providers.commands.layout import layout_of
from providers.commands.means import Loaded, Means, Starter
from providers.commands.plan import wants_launcher

__all__ = ["check_launch", "means_of"]

_OF_SCHEDULER = {"slurm": "srun", "flux": "flux run"}
_WITHOUT = {"kubernetes": "a pod has no launcher of the site", "htcondor": "HTCondor starts one program"}
_CURE = "name the site's launcher in the sites file, or state `launch: once`"
_MANAGERS = ("modules", "easybuild", "spack", "conda", "pip", "system")
"""The site's own managers first, for what they load was made for its nodes."""


def means_of(
    request: JobRequest, site: Site, scheduler: str, queue: str | None, evidence: Evidence,
    conventions: Conventions = STRICT,
) -> Means:  # fmt: skip
    """The means for one request: of several that fit, the one that the request prefers, then the site's own."""
    starter, why = _starter(request, site, scheduler, evidence)
    runtime, no_runtime, images = _runtime(request, evidence, conventions)
    return Means(
        scheduler=scheduler,
        loaded=tuple(loaded for need in request.software if (loaded := _loaded(need, evidence)) is not None),
        starter=starter,
        no_starter=why,
        runtime=runtime,
        no_runtime=no_runtime,
        images=images,
        vendor=_vendor(request, queue, evidence),
    )


def check_launch(request: JobRequest, site: Site, shape: Shape, scheduler: str, evidence: Evidence) -> Check | None:
    """Whether something there can start the tasks, where the command does not bring its own launcher."""
    if not wants_launcher(request) or request.components or layout_of(shape).tasks == 1 or site.simulated is not None:
        return None
    line = launcher_name(request.launch_line)
    if line is not None and works_under(line, scheduler):
        return None
    starter, why = _starter(request, site, scheduler, evidence)
    seen = evidence.of(Category.PARALLEL, "libraries", MpiLibraries)
    unknown = any(each.observation.outcome is Outcome.UNKNOWN for each in seen) or not seen
    ruled_out = scheduler in _WITHOUT or site.launcher == "none"
    off = mpi_not_asked(request.mpi or MpiNeed(), evidence) if starter is None and not ruled_out else []
    if off:
        why = f"{why}; {switched_off(off)}"
    sure = ruled_out or not (unknown or off)
    return Check(
        requirement="a launcher for the tasks",
        field="launch",
        kind="mpi",
        result=Truth.YES if starter is not None else Truth.NO if sure else Truth.UNKNOWN,
        reason=f"{starter.program} ({starter.words})" if starter is not None else f"{why[:900]}: {_CURE}",
        observations=tuple(each.observation.id for each in seen),
    )


def _loaded(need: SoftwareNeed, evidence: Evidence) -> Loaded | None:
    for one in (need, *need.alternatives):
        seen = [
            each
            for each in evidence.of(Category.SOFTWARE, "find_package", Packages, name=one.name)
            if one.manager is None or each.provider == one.manager
        ]
        fitting = [
            package
            for each in seen
            if each.value
            for package in each.value.packages
            if admits(package, one) is Truth.YES
        ]
        if fitting:
            best = _best(fitting)
            words = f"{best.name} {best.version or ''} by {best.manager}".replace("  ", " ")
            return Loaded(words, best.load)
    return None


def _best(packages: Sequence[Package]) -> Package:
    """Of the first manager that has one, the newest version; of equals the first told."""
    order = {name: place for place, name in enumerate(_MANAGERS)}
    first = min(order.get(package.manager, len(order)) for package in packages)
    best: Package | None = None
    for package in packages:
        if order.get(package.manager, len(order)) == first and (best is None or _newer(package, best)):
            best = package
    assert best is not None  # noqa: S101  # there is at least one
    return best


def _newer(one: Package, other: Package) -> bool:
    if bool(one.load) != bool(other.load) and one.manager != "system":
        return bool(one.load)
    if one.version is None or other.version is None:
        return other.version is None and one.version is not None
    return compare(one.version, other.version) == 1


def _starter(request: JobRequest, site: Site, scheduler: str, evidence: Evidence) -> tuple[Starter | None, str]:
    if site.launcher == "none":
        return None, "the sites file says that there is no launcher"
    library = _library(request.mpi or MpiNeed(), evidence)
    if site.launcher is not None:
        mpi = library if site.launcher in MPI_LAUNCHERS else None
        implementation, load = (mpi.implementation, mpi.load) if mpi is not None else (None, ())
        return Starter(site.launcher, implementation, load, "by the sites file"), ""
    if scheduler in _OF_SCHEDULER:
        return Starter(_OF_SCHEDULER[scheduler], words="the scheduler's own"), ""
    if scheduler in _WITHOUT:
        return None, _WITHOUT[scheduler]
    if library is None or library.launcher is None:
        seen = evidence.of(Category.PARALLEL, "libraries", MpiLibraries)
        reasons = [each.observation.reason for each in seen if each.observation.outcome is Outcome.UNKNOWN]
        return None, "; ".join(dict.fromkeys(reasons)) or "no MPI launcher was seen there"
    where = f" at {library.path}" if library.path else ""
    words = f"{library.implementation} {library.version or ''}".strip() + where
    return Starter(library.launcher, library.implementation, library.load, words), ""


def _library(need: MpiNeed, evidence: Evidence) -> MpiLibrary | None:
    """The MPI library whose launcher is used: one that is there as it is before one of a package manager."""
    libraries = [
        library
        for each in evidence.of(Category.PARALLEL, "libraries", MpiLibraries)
        if each.value
        for library in each.value.libraries
    ]
    libraries += [
        MpiLibrary(
            implementation=implementation_of(name), version=package.version, launcher="mpiexec", load=package.load,
            path=package.prefix,
        )
        for name in mpi_packages(need)
        for each in evidence.of(Category.SOFTWARE, "find_package", Packages, name=name)
        if each.value
        for package in each.value.packages
        if package.load
    ]  # fmt: skip
    for library in libraries:
        if need.implementations and library.implementation not in need.implementations:
            continue
        if need.version is not None and (
            library.version is None or need.version.admits(library.version) is not Truth.YES
        ):
            continue
        if library.launcher is not None:
            return library
    return None


def _runtime(
    request: JobRequest, evidence: Evidence, conventions: Conventions
) -> tuple[str | None, str, tuple[tuple[str, str], ...]]:
    """The runtime to use: usable, fitting, in the order that the request prefers."""
    need = next((each for each in request.containers if each.image), None) or next(iter(request.containers), None)
    need = need or ContainerNeed()
    seen = evidence.of(Category.CONTAINER, "status", ContainerRuntime)
    able = conventions.standing_for(need.runtimes)
    order = {name: place for place, name in enumerate(able)}
    fitting = [
        each
        for each in seen
        if each.value is not None
        and (not need.runtimes or each.provider in able)
        and container_fits(need, each.provider, each.value) is Truth.YES
    ]
    fitting.sort(key=lambda each: (order.get(each.provider, len(order)), _BEFORE.get(each.provider, len(_BEFORE))))
    if not fitting:
        wanted = " or ".join(need.runtimes) or "container runtime"
        return None, f"no usable {wanted} was seen", ()
    runtime = fitting[0].value
    images = (runtime.images if runtime is not None else None) or ()
    return fitting[0].provider, "", tuple((image.name, image.path) for image in images if image.path)


_BEFORE = {
    name: place
    for place, name in enumerate(
        ("apptainer", "singularity", "sarus", "shifter", "podman", "charliecloud", "enroot", "docker")
    )
}
"""Where the request names none: those first that pass devices, variables and MPI on as they are."""


def _vendor(request: JobRequest, queue: str | None, evidence: Evidence) -> Literal["nvidia", "amd", "intel"] | None:
    """The vendor of the GPUs that the job would get, where all that it could get are of one."""
    stated = request.shape.gpus.vendor if request.shape.gpus is not None else None
    if stated is not None or request.shape.gpus is None:
        return stated
    kinds: list[Gpu] = [
        kind
        for each in evidence.of(Category.WORKLOAD, "resources", Workload)
        if each.value is not None
        for group in each.value.groups or ()
        if queue is None or not group.queues or queue in group.queues
        for kind in group.gpus or ()
    ]
    first = kinds[0].vendor if kinds else None
    return first if all(kind.vendor == first for kind in kinds) else None
