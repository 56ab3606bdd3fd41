"""Each launcher is told the layout in its own words."""

from __future__ import annotations

import pytest

from dragoman.shape import Gpus, Shape
from providers.commands.launchers import is_launcher, launcher_name, launcher_words, own_launcher
from providers.commands.layout import Layout, layout_of

TWO_NODES = layout_of(Shape(nodes=2, tasks_per_node=4, cpus_per_task=8, gpus=Gpus(count=1, per="task")))
FOUR = layout_of(Shape(tasks=4))


def words(program: str, layout: Layout = TWO_NODES, **more: object) -> str:
    return " ".join(launcher_words(program, layout, **more))  # type: ignore[arg-type]  # as the tables give them


@pytest.mark.parametrize(
    ("program", "implementation", "line"),
    [
        ("srun", None, "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=8 --cpu-bind=cores "
                       "--gpus-per-task=1"),
        ("flux run", None, "flux run --nodes=2 --ntasks=8 --cores-per-task=8 --setopt=cpu-affinity=per-task "
                           "--gpus-per-task=1 --setopt=gpu-affinity=per-task"),
        ("mpirun", "openmpi", "mpirun -n 8 --map-by ppr:4:node:PE=8 --bind-to core -x OMP_NUM_THREADS"),
        ("/opt/mpi/bin/mpiexec", "spectrum-mpi", "/opt/mpi/bin/mpiexec -n 8 --map-by ppr:4:node:PE=8 --bind-to core "
                                                 "-x OMP_NUM_THREADS"),
        ("mpiexec.hydra", "mpich", "mpiexec.hydra -n 8 -ppn 4 -bind-to core:8"),
        ("mpiexec", "mvapich", "mpiexec -n 8 -ppn 4 -bind-to core:8"),
        ("mpirun", "intel-mpi", "mpirun -n 8 -ppn 4 -genv I_MPI_PIN_DOMAIN 8"),
        ("mpiexec", "cray-mpich", "mpiexec -n 8 --ppn 4 --depth 8 --cpu-bind depth"),
        ("mpiexec", None, "mpiexec -n 8"),
        ("aprun", None, "aprun -n 8 -N 4 -d 8 -cc depth"),
        ("jsrun", None, "jsrun --nrs 8 --tasks_per_rs 1 --cpu_per_rs 8 --gpu_per_rs 1 --rs_per_host 4 --bind packed:8"),
        ("lrun", None, "lrun -N 2 -T 4 -c 8 -g 1"),
        ("ibrun", None, "ibrun"),
    ],
)  # fmt: skip
def test_two_nodes_with_cores_and_gpus(program: str, implementation: str | None, line: str) -> None:
    assert words(program, implementation=implementation, exported=("OMP_NUM_THREADS",)) == line


@pytest.mark.parametrize(
    ("program", "implementation", "line"),
    [
        ("srun", None, "srun --ntasks=4"),
        ("flux run", None, "flux run --ntasks=4"),
        ("mpirun", "openmpi", "mpirun -n 4"),
        ("mpiexec", "mpich", "mpiexec -n 4"),
        ("jsrun", None, "jsrun --nrs 4 --tasks_per_rs 1 --cpu_per_rs 1 --bind packed:1"),
        ("lrun", None, "lrun -n 4"),
    ],
)
def test_what_is_not_stated_is_not_told(program: str, implementation: str | None, line: str) -> None:
    assert words(program, FOUR, implementation=implementation) == line


def test_open_mpi_names_variables_only_where_tasks_may_lie_elsewhere() -> None:
    one_node = layout_of(Shape(nodes=1, tasks=4))
    assert words("mpirun", one_node, implementation="openmpi", exported=("A",)) == "mpirun -n 4"
    assert words("mpirun", FOUR, implementation="openmpi", exported=("A",)) == "mpirun -n 4 -x A"


def test_tasks_that_share_cores_are_not_bound() -> None:
    shared = layout_of(Shape(nodes=1, tasks=8), shared=True)
    assert words("mpirun", shared, implementation="openmpi") == "mpirun -n 8 --oversubscribe --bind-to none"


def test_hosts_of_oar_are_told_to_every_library_that_does_not_know_them() -> None:
    line = words("mpirun", FOUR, implementation="openmpi", scheduler="oar")
    assert line == 'mpirun -n 4 --hostfile "$OAR_NODEFILE" --mca plm_rsh_agent oarsh'
    assert "OAR" not in words("mpirun", layout_of(Shape(nodes=1, tasks=4)), implementation="openmpi", scheduler="oar")


def test_the_sites_options_stay_one_word_each() -> None:
    assert launcher_words("srun", FOUR, options=("--mpi=pmix", "a b; rm -rf"))[-2:] == ("--mpi=pmix", "'a b; rm -rf'")


def test_a_path_with_blanks_stays_one_word() -> None:
    assert launcher_words("/opt/my mpi/mpirun", FOUR)[0] == "'/opt/my mpi/mpirun'"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("srun", "-n", "4", "./a"), "srun"),
        (("/usr/bin/mpiexec", "./a"), "mpiexec"),
        (("flux", "run", "./a"), "flux run"),
        (("flux", "jobs"), None),
        (("jsrun", "./a"), "jsrun"),
        (("ibrun", "./a"), "ibrun"),
        (("lrun", "./a"), "lrun"),
        (("aprun", "./a"), "aprun"),
        (("./srun.sh",), None),
        (("python3", "mpirun"), None),
        ((), None),
    ],
)
def test_a_command_that_starts_its_tasks_itself_is_known(command: tuple[str, ...], name: str | None) -> None:
    assert launcher_name(command) == name
    assert is_launcher(command) is (name is not None)


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        (Shape(), Layout(tasks=1)),
        (Shape(nodes=3), Layout(tasks=3, nodes=3, tasks_per_node=1)),
        (Shape(nodes=2, tasks=5), Layout(tasks=5, nodes=2, cpus=5)),
        (Shape(tasks=1, gpus=Gpus(count=2, per="job")),
         Layout(tasks=1, cpus=1, gpus=2, gpus_per_node=2)),
        (Shape(nodes=2, gpus=Gpus(count=8, per="job")),
         Layout(tasks=2, nodes=2, tasks_per_node=1, gpus=8, gpus_per_node=4)),
        (Shape(nodes=2, gpus=Gpus(count=4, per="node", vendor="amd")),
         Layout(tasks=2, nodes=2, tasks_per_node=1, gpus=8, gpus_per_node=4, vendor="amd")),
    ],
)  # fmt: skip
def test_layout(shape: Shape, layout: Layout) -> None:
    assert layout_of(shape) == layout


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("env", "OMP_NUM_THREADS=2", "mpirun", "-np", "2", "./a"), "mpirun"),
        (("time", "-p", "/usr/bin/srun", "./a"), "srun"),
        (("timeout", "60", "mpiexec", "./a"), "mpiexec"),
        (("sh", "-c", "mpirun -np 2 ./a"), "mpirun"),
        (("/bin/bash", "-e", "-c", "cd run && A=1 flux run ./a"), "flux run"),
        (("sh", "-c", "./a mpirun.log"), None),
        (("sh", "-c"), None),
        (("env",), None),
        (("echo", "mpirun"), None),
    ],
)
def test_a_launcher_behind_other_words_is_one_all_the_same(command: tuple[str, ...], name: str | None) -> None:
    assert own_launcher(command) == name
    assert is_launcher(command) is (name is not None)
