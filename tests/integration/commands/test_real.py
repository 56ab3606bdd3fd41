"""Planned commands run by real launchers, module systems and container runtimes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.kleene import Truth
from dragoman.model import now
from dragoman.observation import Answer, Observation, Outcome
from dragoman.proposal import Proposal, Verdict
from dragoman.request import ContainerNeed, EnvironmentVariable, InputFile, JobRequest, MpiNeed, SoftwareNeed
from dragoman.run_plan import RunPlan
from dragoman.shape import Shape
from dragoman.site import Site
from graph.planned import planned
from providers.commands.means import Means
from providers.commands.plan import plan_run
from providers.probed import Question, ask_many
from providers.recipes.read import parse_recipe
from providers.recipes.shelf import Kept, Shelf, shipped_shelf
from providers.registry import probes
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SITE = Site(name="here", scheduler="machine")
FOUR = (Shape(nodes=1, tasks=4),)
RANK = "echo rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-none}} threads=$OMP_NUM_THREADS arg=$1"


async def observed(
    tmp_path: Path, provider: str, verb: str, name: str | None = None, **environment: str
) -> Observation:
    """What a real probe tells of this host."""
    query = PackageQuery(name=name) if name else NoArguments()
    transport = LocalTransport({"PATH": PATH, "HOME": str(tmp_path), **environment})
    answer: Answer[Any] = (await ask_many(transport, [Question(probes.get(provider)(), verb, query)]))[0]
    assert answer.outcome is Outcome.OK, answer
    assert answer.value is not None
    return Observation(
        id=provider, site="here", provider=provider, tool=verb, arguments={"name": name} if name else {},
        outcome=answer.outcome, value=answer.value.dump(), reason="", observed_at=now(), max_age_s=600, simulated=False,
    )  # fmt: skip


def plan_of(request: JobRequest, *seen: Observation, shelf: Shelf | None = None, **constraints: Any) -> RunPlan:
    proposal = Proposal(
        site="here", verdict=Verdict.READY, fits=Truth.YES, scheduler="machine", constraints=constraints, made_at=now()
    )
    plan = planned(proposal, request, SITE, seen, shelf or shipped_shelf()).run
    assert plan is not None
    assert plan.problem == ""
    return plan


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
async def test_tasks_are_started_by_the_library_that_was_seen(
    programs: None, tmp_path: Path, run_plan: Callable[..., Any], library: str
) -> None:
    seen = await observed(tmp_path, f"parallel/{library}", "libraries")
    request = JobRequest(
        command=("sh", "-c", RANK, "sh", "a b; $(exit 3)"), shapes=(Shape(nodes=1, tasks=3),), launch="tasks",
        mpi=MpiNeed(implementations=(library,)), environment=(EnvironmentVariable(name="OMP_NUM_THREADS", value="5"),),
    )  # fmt: skip
    code, out, err = await run_plan(plan_of(request, seen, cpus=1), request)
    assert code == 0, err
    assert sorted(out.splitlines()) == [f"rank={n} threads=5 arg=a b; $(exit 3)" for n in range(3)]


@pytest.mark.parametrize("line", [("mpirun.openmpi", "-np", "2", "--oversubscribe"), ("mpiexec.mpich", "-n", "2")])
async def test_a_persons_launch_line_runs_as_written(
    programs: None, run_plan: Callable[..., Any], line: tuple[str, ...]
) -> None:
    request = JobRequest(command=("sh", "-c", RANK, "sh", "x"), launch_line=line, shapes=(Shape(tasks=2),))
    plan = plan_of(request)
    assert plan.before == line
    code, out, err = await run_plan(plan, request)
    assert code == 0, err
    assert sorted(out.split()[::3]) == ["rank=0", "rank=1"]


async def test_one_failed_task_fails_the_job(programs: None, tmp_path: Path, run_plan: Callable[..., Any]) -> None:
    seen = await observed(tmp_path, "parallel/openmpi", "libraries")
    request = JobRequest(command=("sh", "-c", "exit 7"), shapes=(Shape(nodes=1, tasks=2),), launch="tasks")
    code, _, _ = await run_plan(plan_of(request, seen, cpus=1), request)
    assert code == 7


@pytest.fixture
def modulefiles(tmp_path: Path) -> Path:
    """A module `greet/1.0` that puts a program on the PATH."""
    folder = tmp_path / "modulefiles" / "greet"
    folder.mkdir(parents=True)
    bin_folder = tmp_path / "opt" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "greet").write_text("#!/bin/sh\nprintf 'hello %s\\n' \"$@\"\n")
    (bin_folder / "greet").chmod(0o755)
    (folder / "1.0").write_text(f"#%Module1.0\nprepend-path PATH {bin_folder}\n")
    return tmp_path / "modulefiles"


async def test_a_module_is_loaded_before_the_command(
    programs: None, tmp_path: Path, modulefiles: Path, run_plan: Callable[..., Any]
) -> None:
    where = {"MODULEPATH": str(modulefiles)}
    seen = await observed(tmp_path, "software/modules", "find_package", "greet", **where)
    request = JobRequest(command=("greet", "two words", "$x"), software=(SoftwareNeed(name="greet"),))
    plan = plan_of(request, seen)
    assert "module load greet/1.0" in plan.setup
    assert await run_plan(plan, request, **where) == (0, "hello two words\nhello $x\n", "")


async def test_a_module_that_is_gone_ends_the_job_before_the_command(
    programs: None, tmp_path: Path, modulefiles: Path, run_plan: Callable[..., Any]
) -> None:
    where = {"MODULEPATH": str(modulefiles)}
    seen = await observed(tmp_path, "software/modules", "find_package", "greet", **where)
    (modulefiles / "greet" / "1.0").unlink()
    request = JobRequest(command=("echo", "ran all the same"), software=(SoftwareNeed(name="greet"),))
    code, out, err = await run_plan(plan_of(request, seen), request, **where)
    assert (code, out) == (1, "")
    assert "greet/1.0" in err


async def test_charliecloud_runs_it_in_the_image_and_in_the_jobs_folder(
    programs: None, tmp_path: Path, image: Path, run_plan: Callable[..., Any]
) -> None:
    request = JobRequest(
        command=("sh", "-c", 'echo "$1" >made; cat made; echo $OMP_NUM_THREADS', "sh", "a $b"),
        shapes=(Shape(cpus_per_task=4),), containers=(ContainerNeed(image=str(image), runtimes=("charliecloud",)),),
    )  # fmt: skip
    plan = plan_run(request, SITE, request.shape, Means("machine", runtime="charliecloud"))
    assert plan is not None
    code, out, err = await run_plan(plan, request)
    if code and "unshare" in err:
        pytest.skip(f"no user namespaces here: {err.strip()[:200]}")
    assert (code, out) == (0, "a $b\n4\n"), err
    assert (tmp_path / "my work" / "made").read_text() == "a $b\n"


async def test_podman_runs_it_in_the_image_and_in_the_jobs_folder(
    programs: None, tmp_path: Path, image: Path, run_plan: Callable[..., Any]
) -> None:
    name = f"dragoman-test-{tmp_path.name.lower()}:1"
    archive = tmp_path / "image.tar"
    await anyio.run_process(["tar", "-C", str(image), "-cf", str(archive), "."])
    await anyio.run_process(["podman", "import", str(archive), name])
    try:
        plain = await anyio.run_process(["podman", "run", "--rm", name, "/bin/sh", "-c", "exit 0"], check=False)
        if plain.returncode:
            pytest.skip(f"Podman runs no container here: {plain.stderr.decode().strip()[:200]}")
        request = JobRequest(
            command=("/bin/sh", "-c", 'echo "$1 $OMP_NUM_THREADS" >made', "sh", "a $b"),
            shapes=(Shape(cpus_per_task=4),), containers=(ContainerNeed(image=name, runtimes=("podman",)),),
        )  # fmt: skip
        plan = plan_run(request, SITE, request.shape, Means("machine", runtime="podman"))
        assert plan is not None
        code, _, err = await run_plan(plan, request)
        assert code == 0, err
        assert (tmp_path / "my work" / "made").read_text() == "a $b 4\n"
    finally:
        await anyio.run_process(["podman", "rmi", "--force", name], check=False)


async def test_a_recipe_with_several_commands(programs: None, tmp_path: Path, run_plan: Callable[..., Any]) -> None:
    text = """
name: parts
inputs: {case: {names: ["*.case"]}}
prepare: [[cp, "{case}", cut]]
command: [sh, -c, 'cat "$1"; echo "$2"', sh, cut, "{tasks}"]
finish: [[mv, cut, joined]]
launch: tasks
"""
    seen = await observed(tmp_path, "parallel/openmpi", "libraries")
    work = tmp_path / "my work"
    (work / "it's.case").write_text("the case\n")
    request = JobRequest(
        recipe="parts", inputs=(InputFile(source=str(work / "it's.case"), name="it's.case"),), launch="tasks",
        shapes=(Shape(nodes=1, tasks=2),),
    )  # fmt: skip
    shelf = Shelf((Kept("parts", "parts.yaml", parse_recipe(text, "parts.yaml")),))
    code, out, err = await run_plan(plan_of(request, seen, shelf=shelf, cpus=1), request)
    assert code == 0, err
    assert sorted(out.splitlines()) == ["2", "2", "the case", "the case"]
    assert (work / "joined").read_text() == "the case\n"
