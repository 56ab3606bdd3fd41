"""From evidence to the plan: which load lines, launcher and runtime are used, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import ContainerImage, ContainerRuntime, MpiLibraries, MpiLibrary, Package, Packages, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Proposal, Verdict
from dragoman.request import ContainerNeed, InputFile, JobRequest, MpiNeed, SoftwareNeed
from dragoman.shape import Gpus, Shape
from dragoman.site import Site
from dragoman.versions import VersionRange
from graph.job_spec import job_spec
from graph.planned import planned
from graph.secretary import questions_for
from graph.verdict.conventions import Conventions
from graph.verdict.evaluate import evaluate
from providers.command_body import plan_body
from providers.recipes.read import parse_recipe
from providers.recipes.shelf import Kept, Shelf, shipped_shelf

Make = Callable[..., Observation]
SLURM = Site(name="there", scheduler="slurm")
PBS = Site(name="there", scheduler="pbs")
OPENMPI = MpiLibrary(implementation="openmpi", version="4.1.4", launcher="mpirun", path="/usr/bin")
FOUR = (Shape(tasks=4),)


@pytest.fixture
def plan(workload: Workload, observed: Make, at: datetime) -> Callable[..., Proposal]:
    def make(request: JobRequest, *more: Observation, site: Site = SLURM, shelf: Shelf | None = None) -> Proposal:
        told = workload.model_copy(update={"scheduler": site.scheduler})
        seen = [observed(f"workload/{site.scheduler}", "resources", told), *more]
        proposal = evaluate(request, site, seen, at, 0)
        return planned(proposal, request, site, seen, shelf or shipped_shelf())

    return make


def body(proposal: Proposal) -> str:
    assert proposal.run is not None, proposal.reasons
    assert proposal.run.problem == ""
    return plan_body(proposal.run)


def lammps(version: str, manager: str, *load: str) -> Package:
    return Package(name="lammps", version=version, manager=manager, load=load)


def test_the_load_lines_of_a_version_that_fits(plan: Any, observed: Make) -> None:
    packages = (
        lammps("2020", "modules", "module load lammps/2020"),
        lammps("2023", "modules", "module load lammps/2023"),
    )
    need = SoftwareNeed(name="lammps", version=VersionRange.parse("<=2022"))
    seen = observed("software/modules", "find_package", Packages(packages=packages), name="lammps")
    request = JobRequest(command=("./mine",), software=(need,))
    assert body(plan(request, seen)).splitlines() == ["module load lammps/2020", "./mine"]
    newest = request.model_copy(update={"software": (SoftwareNeed(name="lammps"),)})
    assert body(plan(newest, seen)).splitlines() == ["module load lammps/2023", "./mine"]


def test_the_sites_own_managers_come_before_a_persons(plan: Any, observed: Make) -> None:
    seen = [
        observed(
            "software/conda", "find_package", Packages(packages=(lammps("9", "conda", "activate"),)), name="lammps"
        ),
        observed(
            "software/spack", "find_package", Packages(packages=(lammps("1", "spack", "spack load"),)), name="lammps"
        ),
    ]
    request = JobRequest(command=("./mine",), software=(SoftwareNeed(name="lammps"),))
    assert body(plan(request, *seen)).splitlines() == ["spack load", "./mine"]
    asked = request.model_copy(update={"software": (SoftwareNeed(name="lammps", manager="conda"),)})
    assert body(plan(asked, *seen)).splitlines() == ["activate", "./mine"]


@pytest.mark.parametrize("scheduler", ["slurm", "flux"])
def test_a_scheduler_with_a_launcher_of_its_own(plan: Any, scheduler: str) -> None:
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks")
    first = {"slurm": "srun", "flux": "flux run"}[scheduler]
    assert body(plan(request, site=Site(name="there", scheduler=scheduler))).startswith(f"{first} --ntasks=4 ./a")


def test_elsewhere_the_library_that_was_seen_starts_it(plan: Any, observed: Make) -> None:
    seen = observed("parallel/openmpi", "libraries", MpiLibraries(libraries=(OPENMPI,)))
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks")
    proposal = plan(request, seen, site=PBS)
    assert body(proposal) == "mpirun -n 4 ./a\n"
    check = next(each for each in proposal.checks if each.field == "launch")
    assert (check.result, check.observations) == (Truth.YES, (seen.id,))


def test_the_library_that_is_asked_for(plan: Any, observed: Make) -> None:
    mpich = MpiLibrary(implementation="mpich", version="4.0", launcher="/m/bin/mpiexec", load=("export PATH=/m/bin",))
    seen = [
        observed("parallel/openmpi", "libraries", MpiLibraries(libraries=(OPENMPI,))),
        observed("parallel/mpich", "libraries", MpiLibraries(libraries=(mpich,))),
    ]
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks", mpi=MpiNeed(implementations=("mpich",)))
    assert body(plan(request, *seen, site=PBS)).splitlines() == ["export PATH=/m/bin", "/m/bin/mpiexec -n 4 ./a"]


def test_a_library_that_has_to_be_loaded_first(plan: Any, observed: Make) -> None:
    seen = [
        observed("parallel/openmpi", "libraries", None),
        observed("software/modules", "find_package", Packages(packages=(
            Package(name="openmpi", version="5", manager="modules", load=("module load openmpi/5",)),
        )), name="openmpi"),
    ]  # fmt: skip
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks")
    # Its nodes are not stated, so that what was loaded is handed to the others too.
    line = "mpiexec -n 4 -x PATH -x LD_LIBRARY_PATH ./a"
    assert body(plan(request, *seen, site=PBS)).splitlines() == ["module load openmpi/5", line]


def test_no_launcher_does_not_fit_and_an_unseen_one_is_unknown(plan: Any, observed: Make) -> None:
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks")
    absent = plan(request, observed("parallel/openmpi", "libraries", None), site=PBS)
    assert (absent.verdict, absent.run) == (Verdict.INCOMPATIBLE, None)
    assert absent.reasons[0].startswith("no MPI launcher was seen there: name the site's launcher")
    assert plan(request, site=PBS).fits is Truth.UNKNOWN


@pytest.mark.parametrize(("launcher", "first"), [("ibrun", "ibrun ./a"), ("mpiexec", "mpiexec -n 4 ./a")])
def test_the_sites_file_has_the_last_word(plan: Any, launcher: Any, first: str) -> None:
    request = JobRequest(command=("./a",), shapes=FOUR, launch="tasks")
    assert body(plan(request, site=Site(name="there", scheduler="slurm", launcher=launcher))) == f"{first}\n"
    none = plan(request, site=Site(name="there", scheduler="slurm", launcher="none"))
    assert none.verdict is Verdict.INCOMPATIBLE


def test_a_persons_own_mpirun_needs_no_evidence(plan: Any) -> None:
    request = JobRequest(command=("./a",), launch_line=("mpirun", "-n", "4"), shapes=FOUR)
    assert body(plan(request, site=PBS)) == "mpirun -n 4 ./a\n"


def test_a_launch_line_that_an_edit_made_untrue(plan: Any) -> None:
    request = JobRequest(command=("./a",), launch_line=("srun", "-n", "4"), shapes=(Shape(tasks=8),))
    assert body(plan(request)) == "srun --ntasks=8 ./a\n"


def test_runtimes_in_the_order_of_the_request(plan: Any, observed: Make) -> None:
    seen = [
        observed("container/apptainer", "status", ContainerRuntime(
            runtime="apptainer", usable=Truth.YES, images=(ContainerImage(name="a.sif", path="/img/a.sif"),))),
        observed("container/charliecloud", "status", ContainerRuntime(runtime="charliecloud", usable=Truth.YES)),
        observed("container/singularity", "status", ContainerRuntime(runtime="singularity-ce", usable=Truth.NO)),
    ]  # fmt: skip

    def run(*runtimes: str) -> str:
        need = ContainerNeed(image="a.sif", runtimes=runtimes)
        return body(plan(JobRequest(command=("x",), containers=(need,)), *seen))

    assert run() == 'apptainer exec --bind "$PWD" --pwd "$PWD" /img/a.sif x\n'
    assert "\nch-run " in run("singularity", "charliecloud", "apptainer")


def test_an_image_that_no_runtime_can_run_does_not_fit(plan: Any, observed: Make) -> None:
    seen = observed("container/podman", "status", ContainerRuntime(runtime="podman", usable=Truth.YES))
    request = JobRequest(command=("x",), containers=(ContainerNeed(image="a.sif"),))
    proposal = plan(request, seen)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert "podman runs no image from the file a.sif" in proposal.reasons[0]


def test_kubernetes_needs_no_runtime_on_the_host(plan: Any) -> None:
    request = JobRequest(command=("x",), containers=(ContainerNeed(image="x/y:1"),))
    proposal = plan(request, site=Site(name="there", scheduler="kubernetes"))
    assert proposal.verdict is Verdict.READY
    spec = job_spec(
        request, SLURM, proposal, tag="dgm-0123456789ab-a0", control_dir="/w/t", work_dir="/w/t/work"
    )  # fmt: skip
    assert (spec.image, spec.body) == ("x/y:1", "x\n")


@pytest.mark.parametrize(
    ("asked", "wanted", "runtime", "version", "fits"),
    [
        ("apptainer", ">=1.0", "apptainer", "1.2.5", Truth.YES),
        ("singularity", ">=3.5", "singularity-ce", "3.11.4", Truth.YES),
        ("singularity", ">=3.5", "singularity", "3.8.7", Truth.YES),
        ("singularity", ">=3.9", "singularity", "3.8.7", Truth.NO),
    ],
)
def test_versions_of_a_runtime_are_counted_by_its_flavour(
    plan: Any, observed: Make, asked: str, wanted: str, runtime: str, version: str, fits: Truth
) -> None:
    seen = observed(
        f"container/{asked}", "status", ContainerRuntime(runtime=runtime, version=version, usable=Truth.YES)
    )
    need = ContainerNeed(runtimes=(asked,), version=VersionRange.parse(wanted))
    assert plan(JobRequest(command=("x",), containers=(need,)), seen).fits is fits


@pytest.mark.parametrize(
    ("asked", "found", "version", "wanted", "fits"),
    [
        ("singularity", "apptainer", "1.2.5", ">=3.5", Truth.YES),
        ("singularity", "apptainer", "1.0.3", ">=3.8", Truth.YES),
        ("singularity", "apptainer", "1.2.5", ">=3.11", Truth.UNKNOWN),
    ],
)
def test_apptainer_is_no_older_than_singularity_where_it_may_stand_for_it(
    observed: Make, workload: Workload, at: datetime, asked: str, found: str, version: str, wanted: str, fits: Truth
) -> None:
    alike = Conventions(name="ours", runtimes_alike=(("apptainer", "singularity"),))
    need = ContainerNeed(runtimes=(asked,), version=VersionRange.parse(wanted))
    seen = [
        observed("workload/slurm", "resources", workload),
        observed(f"container/{found}", "status", ContainerRuntime(runtime=found, version=version, usable=Truth.YES)),
    ]
    request = JobRequest(command=("x",), containers=(need,))
    assert evaluate(request, SLURM, seen, at, 0, alike).fits is fits
    assert evaluate(request, SLURM, seen, at, 0).fits is fits
    by_name = Conventions(name="names", apptainer_is_singularity=False)
    assert evaluate(request, SLURM, seen, at, 0, by_name).fits is Truth.NO


def test_the_vendor_of_the_queues_gpus(plan: Any, observed: Make) -> None:
    seen = observed("container/apptainer", "status", ContainerRuntime(runtime="apptainer", usable=Truth.YES))
    shape = Shape(nodes=1, gpus=Gpus(count=1, per="node"))
    request = JobRequest(command=("x",), containers=(ContainerNeed(image="a.sif"),), shapes=(shape,))
    assert "apptainer exec --nv " in body(plan(request, seen))


def test_the_recipe_of_the_site_makes_the_command_there(plan: Any) -> None:
    here = parse_recipe("name: lammps\nsites: [there]\ncommand: [lmp_there, '{input}']\n"
                        "inputs: {input: {names: ['in.*']}}\nload: [module load ours]\n", "x")  # fmt: skip
    shelf = Shelf((Kept("lammps", "/etc/recipes/lammps.yaml", here), *shipped_shelf().kept))
    request = JobRequest(recipe="lammps", inputs=(InputFile(source="/h/in.lj", name="in.lj"),))
    proposal = plan(request, shelf=shelf)
    assert body(proposal).splitlines() == ["module load ours", "lmp_there in.lj"]
    assert proposal.run.recipe == "lammps (/etc/recipes/lammps.yaml)"
    assert body(plan(request, site=Site(name="elsewhere", scheduler="slurm"), shelf=shelf)) == "lmp -in in.lj\n"


def test_a_wrong_recipe_is_told_and_nothing_else_is_run_in_its_place(plan: Any) -> None:
    request = JobRequest(recipe="nope")
    proposal = plan(request)
    assert proposal.verdict is Verdict.INCOMPATIBLE
    assert "there is no recipe 'nope'" in proposal.reasons[0]


def test_what_is_approved_is_what_is_run(plan: Any, observed: Make) -> None:
    packages = Packages(packages=(lammps("1", "modules", "module load lammps/1"),))
    seen = observed("software/modules", "find_package", packages, name="lammps")
    request = JobRequest(
        command=("lmp", "$x"), software=(SoftwareNeed(name="lammps"),), shapes=(Shape(tasks=2, cpus_per_task=3),),
        launch="tasks",
    )  # fmt: skip
    proposal = plan(request, seen)
    again = Proposal.model_validate_json(proposal.model_dump_json())
    spec = job_spec(request, SLURM, again, tag="dgm-0123456789ab-a0", control_dir="/w/t", work_dir="/w/t/work")
    assert spec.body == plan_body(proposal.run)
    assert spec.body.splitlines()[-1] == "srun --ntasks=2 --cpus-per-task=3 --cpu-bind=cores lmp '$x'"
    assert {each.name: each.value for each in spec.environment}["OMP_NUM_THREADS"] == "3"


def test_launchers_are_looked_for_only_where_one_is_needed() -> None:
    def asked(**fields: Any) -> bool:
        return any(verb == "libraries" for _, verb, _ in questions_for(JobRequest(**fields)))

    assert asked(command=("./a",), launch="tasks")
    assert asked(command=("./a",), launch_line=("srun",))
    assert not asked(command=("./a",))
    assert not asked(command=("mpirun", "./a"), launch="tasks")
    assert not asked(script="srun ./a\n", launch="tasks")
