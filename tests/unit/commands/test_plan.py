"""From a request and what a site has to the lines that run there; the person's command stays word for word."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.request import ContainerNeed, EnvironmentVariable, InputFile, JobRequest
from dragoman.run_plan import RunPlan
from dragoman.shape import Gpus, Shape
from dragoman.site import Site
from providers.command_body import command_body, plan_body
from providers.commands.means import Loaded, Means, Starter
from providers.commands.plan import plan_run
from providers.recipes.model import Recipe

SITE = Site(name="there", scheduler="slurm")
SRUN = Means("slurm", starter=Starter("srun", words="the scheduler's own"))
LAMMPS = Loaded("lammps 2023 by modules", ("module load lammps/2023",))
FOUR = Shape(tasks=4)


def planned(request: JobRequest, means: Means = SRUN, shape: Shape | None = None, **more: Any) -> RunPlan:
    plan = plan_run(request, more.pop("site", SITE), shape or request.shape, means, **more)
    assert plan is not None
    return plan


def body(request: JobRequest, means: Means = SRUN, shape: Shape | None = None, **more: Any) -> str:
    plan = planned(request, means, shape, **more)
    assert plan.problem == ""
    return plan_body(plan)


def test_a_plain_command_runs_as_it_is() -> None:
    assert body(JobRequest(command=("python3", "a b.py"))) == "python3 'a b.py'\n"


def test_software_is_loaded_before_it() -> None:
    means = Means("slurm", loaded=(LAMMPS, Loaded("fftw 3 by spack", (". /s/setup-env.sh", "spack load fftw@3/abc"))))
    lines = body(JobRequest(command=("lmp",)), means).splitlines()
    assert lines == ["module load lammps/2023", ". /s/setup-env.sh", "spack load fftw@3/abc", "lmp"]


def test_lines_of_the_site_come_first_and_none_comes_twice() -> None:
    site = Site(name="there", scheduler="slurm", setup=("module purge",))
    means = Means("slurm", loaded=(LAMMPS, LAMMPS))
    assert body(JobRequest(command=("lmp",)), means, site=site).splitlines() == [
        "module purge", "module load lammps/2023", "lmp",
    ]  # fmt: skip


def test_several_tasks_and_a_plain_command_is_run_once_and_that_is_said() -> None:
    plan = planned(JobRequest(command=("python3", "pi.py"), shapes=(FOUR,)))
    assert plan_body(plan) == "python3 pi.py\n"
    assert "run once, not on each of 4 tasks" in plan.notes[0]


def test_several_tasks_are_started_where_that_is_asked_for() -> None:
    request = JobRequest(command=("python3", "pi.py"), shapes=(FOUR,), launch="tasks")
    assert body(request) == "srun --ntasks=4 python3 pi.py\n"


def test_no_launcher_is_a_problem_and_not_a_single_task() -> None:
    request = JobRequest(command=("./a",), shapes=(FOUR,), launch="tasks")
    plan = planned(request, Means("machine", no_starter="no MPI launcher was seen there"))
    assert "4 tasks cannot be started at there: no MPI launcher was seen there" in plan.problem
    assert "launch: once" in plan.problem
    assert plan.command == ()


@pytest.mark.parametrize(
    "command",
    [
        ("srun", "-n", "4", "./a"),
        ("mpirun", "-np", "2", "./a"),
        ("/usr/bin/mpiexec", "./a"),
        ("flux", "run", "-n4", "./a"),
        ("ibrun", "./a"),
        ("jsrun", "-n4", "./a"),
        ("aprun", "./a"),
    ],
)
def test_a_command_with_its_own_launcher_gets_no_second_one(command: tuple[str, ...]) -> None:
    request = JobRequest(command=command, shapes=(FOUR,), launch="tasks")
    assert body(request) == command_body(command)


@pytest.mark.parametrize(
    ("scheduler", "line", "expected"),
    [
        ("slurm", ("srun", "-n", "4"), "srun -n 4 ./app in.lj\n"),
        ("machine", ("mpirun", "-np", "4", "-x", "A=b c"), "mpirun -np 4 -x 'A=b c' ./app in.lj\n"),
        ("slurm", ("mpirun", "-np", "4"), "mpirun -np 4 ./app in.lj\n"),
        ("flux", ("flux", "run", "-n4"), "flux run -n4 ./app in.lj\n"),
        ("lsf", ("jsrun", "-n4"), "jsrun -n4 ./app in.lj\n"),
    ],
)
def test_a_launch_line_stays_as_written_where_its_launcher_is(
    scheduler: str, line: tuple[str, ...], expected: str
) -> None:
    request = JobRequest(command=("./app", "in.lj"), launch_line=line, shapes=(FOUR,))
    assert body(request, Means(scheduler)) == expected


def test_a_launch_line_of_another_scheduler_is_replaced_and_that_is_said() -> None:
    request = JobRequest(command=("./app",), launch_line=("srun", "-n", "4"), shapes=(FOUR,))
    plan = planned(request, Means("pbs", starter=Starter("mpiexec", "mpich")))
    assert plan_body(plan) == "mpiexec -n 4 ./app\n"
    assert plan.notes[0] == "the launch line srun -n 4 is not this scheduler's: the site's launcher is used"


def test_a_launch_line_that_an_edit_has_made_untrue_is_replaced() -> None:
    request = JobRequest(command=("./app",), launch_line=("srun", "-n", "4"), shapes=(Shape(tasks=8),))
    assert body(request, line_stays=False) == "srun --ntasks=8 ./app\n"


def test_a_person_may_want_it_once_all_the_same() -> None:
    request = JobRequest(command=("./app",), launch_line=("srun", "-n", "4"), shapes=(FOUR,), launch="once")
    assert body(request) == "./app\n"


def test_the_sites_launcher_gets_its_options() -> None:
    site = Site(name="there", scheduler="slurm", launcher_options=("--mpi=pmix",))
    assert body(JobRequest(command=("./a",), shapes=(FOUR,), launch="tasks"), site=site) == (
        "srun --ntasks=4 --mpi=pmix ./a\n"
    )


def test_launcher_then_container_then_command() -> None:
    need = ContainerNeed(image="app.sif")
    request = JobRequest(command=("./a", "$HOME"), containers=(need,), shapes=(FOUR,), launch="tasks")
    means = Means("slurm", starter=Starter("srun"), runtime="apptainer")
    assert body(request, means) == 'srun --ntasks=4 apptainer exec --bind "$PWD" --pwd "$PWD" app.sif ./a \'$HOME\'\n'


def test_an_image_of_the_person_and_an_image_of_the_site() -> None:
    image = InputFile(source="/h/app.sif", name="app.sif")
    request = JobRequest(command=("a",), containers=(ContainerNeed(image="app.sif"),), inputs=(image,))
    means = Means("slurm", runtime="apptainer", images=(("app.sif", "/shared/app.sif"),))
    assert '"$PWD"/app.sif a' in body(request, means)
    assert "/shared/app.sif a" in body(request.model_copy(update={"inputs": ()}), means)


def test_software_of_the_image_is_not_loaded_beside_it() -> None:
    request = JobRequest(command=("lmp",), containers=(ContainerNeed(image="a.sif"),))
    assert "module" not in body(request, Means("slurm", loaded=(LAMMPS,), runtime="apptainer"))


def test_gpus_reach_the_container() -> None:
    shape = Shape(nodes=1, gpus=Gpus(count=4, per="node"))
    request = JobRequest(command=("a",), containers=(ContainerNeed(image="a.sif"),), shapes=(shape,))
    assert " --rocm " in body(request, Means("slurm", runtime="apptainer", vendor="amd"))
    plan = planned(request, Means("slurm", runtime="apptainer"))
    assert " --nv " in plan_body(plan)
    assert any("taken to be NVIDIA" in note for note in plan.notes)


@pytest.mark.parametrize(
    "line",
    [
        "apptainer exec --nv --bind /scratch:/scratch img.sif lmp -in in.lj",
        "singularity run a.sif",
        "docker run -it a b",
    ],
)
def test_a_command_with_its_own_container_gets_no_second_one(line: str) -> None:
    command = tuple(line.split())
    request = JobRequest(command=command, containers=(ContainerNeed(image="other.sif"),))
    assert body(request, Means("slurm", runtime="apptainer")) == f"{line}\n"


def test_kubernetes_runs_the_image_itself() -> None:
    request = JobRequest(command=("a",), containers=(ContainerNeed(image="docker://x/y:1"),))
    plan = planned(request, Means("kubernetes"))
    assert (plan.image, plan_body(plan)) == ("x/y:1", "a\n")


def test_no_runtime_is_a_problem() -> None:
    request = JobRequest(command=("a",), containers=(ContainerNeed(image="a.sif"),))
    plan = planned(request, Means("slurm", no_runtime="no usable podman was seen"))
    assert "no usable podman was seen" in plan.problem
    assert plan.command == ()  # without its container it would look as if that were run


@pytest.mark.parametrize(
    ("shape", "stated", "threads"),
    [
        (Shape(tasks=4, cpus_per_task=8), (), "8"),
        (Shape(cpus=16), (), "16"),
        (Shape(nodes=2, cpus=16), (), None),
        (Shape(tasks=4), (), None),
        (Shape(cpus_per_task=8), (EnvironmentVariable(name="OMP_NUM_THREADS", value="2"),), None),
    ],
)
def test_threads(shape: Shape, stated: tuple[EnvironmentVariable, ...], threads: str | None) -> None:
    plan = planned(JobRequest(command=("a",), environment=stated, shapes=(shape,)))
    assert {each.name: each.value for each in plan.environment} == ({"OMP_NUM_THREADS": threads} if threads else {})


def test_a_script_says_it_all() -> None:
    request = JobRequest(script="srun ./a\n", containers=(ContainerNeed(image="x/y:1"),))
    assert plan_run(request, SITE, FOUR, SRUN) is None
    assert plan_run(request, SITE, FOUR, Means("kubernetes")) == RunPlan(image="x/y:1")


@pytest.mark.parametrize("launch", ["tasks", "once"])
def test_a_program_is_never_read_as_an_option_of_the_launcher(launch: Any) -> None:
    request = JobRequest(command=("--help", "x"), shapes=(FOUR,), launch=launch)
    plan = planned(request)
    assert ("would be read as an option" in plan.problem) is (launch == "tasks")


RECIPE = Recipe(
    name="flow",
    command=("solve", "{case}"),
    inputs={"case": {"names": ("*.case",)}},  # type: ignore[dict-item]  # as a file has it
    prepare=(("cut", "{tasks}", "{case}"),),
    finish=(("join", "a b"), ("tidy",)),
    launch="tasks",
    load=("module load flow",),
    setup=("ulimit -s unlimited",),
    environment={"FLOW_THREADS": "{cpus_per_task}", "FLOW_GPUS": "{gpus}"},
    launcher_options=("--hint=nomultithread",),
)
CASE = InputFile(source="/h/my $x.case", name="my $x.case")


def test_a_recipe_makes_the_whole_of_it() -> None:
    request = JobRequest(inputs=(CASE,), shapes=(Shape(tasks=4, cpus_per_task=2),), launch="tasks", recipe="flow")
    means = Means("slurm", loaded=(LAMMPS,), starter=Starter("srun"))
    plan = planned(request, means, recipe=RECIPE, where="flow (here)")
    assert plan_body(plan).splitlines() == [
        "module load flow",
        "ulimit -s unlimited",
        "cut 4 'my $x.case' || exit \"$?\"",
        "srun --ntasks=4 --cpus-per-task=2 --cpu-bind=cores --hint=nomultithread solve 'my $x.case' || exit \"$?\"",
        "join 'a b' || exit \"$?\"",
        "tidy",
    ]
    assert {each.name: each.value for each in plan.environment} == {"FLOW_THREADS": "2", "OMP_NUM_THREADS": "2"}
    assert plan.recipe == "flow (here)"


def test_a_recipe_never_changes_a_persons_command() -> None:
    request = JobRequest(command=("solve", "-x", "mine"), shapes=(FOUR,), launch="tasks", recipe="flow")
    assert body(request, recipe=RECIPE).splitlines()[-1] == "srun --ntasks=4 --hint=nomultithread solve -x mine"


def test_what_a_recipe_loads_is_not_for_a_program_of_ones_own() -> None:
    request = JobRequest(command=("./solve", "mine"), recipe="flow")
    assert body(request, recipe=RECIPE) == "./solve mine\n"


def test_a_recipe_without_its_input_is_a_problem() -> None:
    assert "needs case, and no input is named *.case" in planned(JobRequest(recipe="flow"), recipe=RECIPE).problem


def test_the_job_ends_with_the_code_of_what_failed_first(tmp_path: Path) -> None:
    def code(**plan: Any) -> int:
        text = plan_body(RunPlan(command=("sh", "-c", "exit 3"), **plan))
        return subprocess.run(["sh", "-c", text], cwd=tmp_path, check=False).returncode  # noqa: TID251  # a test may block

    assert code() == 3
    assert code(prepare=("(exit 5)",)) == 5
    assert code(finish=("true", "false")) == 3
    assert not (tmp_path / "after").exists()


NASTY = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a\ntouch pwned\n", "-rf", "--", "*",
     "~", "$HOME", "\\", "a\\\nb", "\r", "ü ß 日本", "'", '"', "!!", "#x", "=", "a=b", " ", "", "{tasks}", "}{"]
)  # fmt: skip
ECHO = (sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NASTY, max_size=5))
def test_arguments_arrive_as_they_were_given(tmp_path: Path, arguments: list[str]) -> None:
    """Through a shell, behind a launcher, with prepared lines around: every argument arrives, and nothing else runs."""
    request = JobRequest(command=(*ECHO, *arguments), launch_line=("mpirun",), launch="tasks", shapes=(FOUR,))
    plan = planned(request, line_stays=False)
    assert plan.before == ("srun", "--ntasks=4")
    text = plan_body(plan.model_copy(update={"before": ("env", "A='b c'"), "finish": ("true",)}))
    done = subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, check=True)  # noqa: TID251  # a test may block
    assert json.loads(done.stdout) == arguments
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NASTY.filter(lambda text: not any(ord(c) < 32 or ord(c) == 127 for c in text)), NASTY)
def test_values_of_a_recipe_stay_in_their_words(tmp_path: Path, name: str, other: str) -> None:
    """A file's name and a site's name put into a template make neither a second word nor a command."""
    recipe = Recipe(
        name="echo", command=(*ECHO, "{input}", "--file={input}"), inputs={"input": {"names": ("*",)}}  # type: ignore[dict-item]  # as a file has it
    )  # fmt: skip
    given_name = name.replace("/", "_") or "x"
    if ".." in given_name.split("/") or not given_name.strip() or given_name.startswith("~"):
        return
    request = JobRequest(inputs=(InputFile(source="/h/x", name=given_name),), recipe="echo")
    text = plan_body(planned(request, recipe=recipe))
    done = subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, check=True)  # noqa: TID251  # a test may block
    first = f"./{given_name}" if given_name.startswith("-") else given_name
    assert json.loads(done.stdout) == [first, f"--file={given_name}"]
    assert list(tmp_path.iterdir()) == []
