"""No number changes without a word: nodes, cores and GPUs that the target counts otherwise are told with their line."""

from __future__ import annotations

import pytest

from providers.translation.report import Translation
from providers.translation.translate import dialect_named, translate_script

PREFIX = {"pbs": "#PBS", "slurm": "#SBATCH", "sge": "#$"}


def translated(source: str, options: str, target: str) -> Translation:
    return translate_script(f"#!/bin/bash\n{PREFIX[source]} {options}\n./app\n", target, source=source)


def told(made: Translation) -> list[str]:
    return [remark.why for remark in made.lost if remark.line == 2]


@pytest.mark.parametrize(
    ("select", "written"),
    [
        ("2:ncpus=10:mpiprocs=3", "--cpus-per-task=3 --mincpus=10"),
        ("1:ncpus=36:mpiprocs=5", "--cpus-per-task=7 --mincpus=36"),
        ("1:ncpus=7:mpiprocs=2", "--cpus-per-task=3 --mincpus=7"),
        ("1:ncpus=4:mpiprocs=8", "--cpus-per-task=1"),
        ("1:ncpus=1:mpiprocs=4:ompthreads=2", "--cpus-per-task=2"),
    ],
)
def test_cores_that_do_not_divide_over_tasks_are_told_and_never_more_than_asked(select: str, written: str) -> None:
    made = translated("pbs", f"-l select={select}", "slurm")
    assert "cores in all become" in " ".join(told(made))
    assert written.split() == [
        line.split()[1] for line in made.script.splitlines() if line.startswith(("#SBATCH --cpus", "#SBATCH --min"))
    ]


@pytest.mark.parametrize("select", ["2:ncpus=9:mpiprocs=3", "1:ncpus=8:mpiprocs=2:ompthreads=4", "3:ncpus=4"])
def test_cores_that_divide_are_not_told(select: str) -> None:
    made = translated("pbs", f"-l select={select}", "slurm")
    assert not told(made)
    assert "mincpus" not in made.script


@pytest.mark.parametrize(("chunks", "cores"), [(4, 2), (3, 1), (2, 8)])
@pytest.mark.parametrize("join", [",place=pack", " -l place=pack"])
def test_each_packed_chunk_is_a_task(chunks: int, cores: int, join: str) -> None:
    made = translated("pbs", f"-l select={chunks}:ncpus={cores}{join}", "slurm")
    shape = dialect_named("slurm").read_script(made.script).request.shape
    assert (shape.node_count, shape.task_count, shape.total_cpus) == (1, chunks, chunks * cores)


@pytest.mark.parametrize("target", ["lsf", "oar", "sge", "pbs", "torque", "flux"])
@pytest.mark.parametrize(
    "options", ["-N 3 -G 4", "-G 5 -N 2", "-N 2 --ntasks=7 --gpus-per-task=1", "-N 4 --gpus=a100:6"]
)
def test_gpus_that_do_not_divide_over_nodes_are_told(options: str, target: str) -> None:
    made = translated("slurm", options, target)
    after = dialect_named(target).read_script(made.script).request
    asked = made.request.shape.total_gpus
    assert any("GPU" in why for why in told(made)) or after.components or after.shape.total_gpus == asked


@pytest.mark.parametrize(
    "options", ["-N 4 --exclusive", "-N 2 --ntasks-per-node=8", "-N 3 -n 9", "-n 16 --ntasks-per-node=4"]
)
def test_the_spread_over_nodes_is_told_where_a_parallel_environment_decides(options: str) -> None:
    said = [why for why in told(translated("slurm", options, "sge")) if "nodes become" in why or "no equivalent" in why]
    assert said
    assert not any("nodes become" in why for why in told(translated("slurm", options, "lsf")))


@pytest.mark.parametrize(("options", "slots"), [("-n 128", 128), ("-n 2", 2), ("-n 10 -c 2", 20)])
def test_tasks_that_may_spread_are_not_put_on_one_host(options: str, slots: int) -> None:
    assert f"#$ -pe mpi {slots}\n" in translated("slurm", options, "sge").script
    assert "#$ -pe smp 8\n" in translated("slurm", "-N 1 -n 8", "sge").script
    assert "nodes=1" not in translated("slurm", options, "oar").script


@pytest.mark.parametrize("target", ["oar", "torque"])
@pytest.mark.parametrize("options", ["-n 8 -G 4", "-n 4 --gpus-per-task=1", "-n 16 -c 2 -G 8"])
def test_tasks_that_are_put_on_one_host_are_told(options: str, target: str) -> None:
    made = translated("slurm", options, target)
    nodes = dialect_named(target).read_script(made.script).request.shape.node_count
    assert nodes is None or any("was free to choose" in why for why in told(made))


@pytest.mark.parametrize(
    ("source", "options", "count"), [("pbs", "-l ncpus=4", 4), ("sge", "-pe smp 8", 8), ("sge", "-pe openmp 2", 2)]
)
@pytest.mark.parametrize("target", ["slurm", "lsf", "oar", "torque", "flux"])
def test_cores_of_one_host_stay_on_one(source: str, options: str, count: int, target: str) -> None:
    made = translated(source, options, target)
    shape = dialect_named(target).read_script(made.script).request.shape
    assert (shape.node_count, shape.total_cpus) == (1, count)


def test_an_environment_of_unknown_spread_is_told() -> None:
    made = translated("sge", "-pe orte 8", "slurm")
    assert any("over how many nodes orte spreads" in why for why in told(made))
    assert "--nodes" not in made.script


@pytest.mark.parametrize("options", ["-N 2 -n 7 -c 2", "-N 2 -n 5 -c 2", "-N 4 -n 6 -c 4", "-n 10 -c 2"])
@pytest.mark.parametrize("target", ["lsf", "oar", "sge"])
def test_tasks_that_may_be_torn_are_told(options: str, target: str) -> None:
    assert told(translated("slurm", options, target))


@pytest.mark.parametrize(
    "options", ["-N 4 --ntasks-per-node=4 -c 8", "-N 2 --ntasks-per-node=2", "-N 3 --ntasks-per-node=1 -c 5"]
)
def test_cores_of_other_hosts_are_told_at_one_machine(options: str) -> None:
    assert any("cores in all become" in why for why in told(translated("slurm", options, "machine")))


@pytest.mark.parametrize(
    ("select", "threads"), [("1:ncpus=8:ompthreads=8", 8), ("2:ncpus=8:mpiprocs=2:ompthreads=4", 4)]
)
@pytest.mark.parametrize("target", ["slurm", "lsf", "torque"])
def test_ompthreads_is_exported(select: str, threads: int, target: str) -> None:
    assert f"\nexport OMP_NUM_THREADS={threads}\n" in translated("pbs", f"-l select={select}", target).script
    assert "OMP_NUM_THREADS" not in translated("pbs", f"-l select={select}", "pbs").script
    assert "OMP_NUM_THREADS" not in translated("pbs", "-l select=1:ncpus=8", target).script


def test_ompthreads_that_differ_by_the_chunk_are_told() -> None:
    made = translated("pbs", "-l select=1:ncpus=8:ompthreads=8+2:ncpus=4:ompthreads=2", "slurm")
    assert any("OMP_NUM_THREADS to 2 or 8" in remark.why for remark in made.lost)


@pytest.mark.parametrize(
    ("source", "options", "target"),
    [
        ("slurm", "--dependency=afterok:123", "pbs"), ("slurm", "-d afterany:7:8", "lsf"),
        ("pbs", "-W depend=afterok:12.server", "torque"), ("sge", "-hold_jid 12", "slurm"),
        ("slurm", "--dependency=afternotok:9", "flux"), ("slurm", "-d afterok:5", "machine"),
    ],
)  # fmt: skip
def test_a_job_of_another_scheduler_is_waited_for_nowhere(source: str, options: str, target: str) -> None:
    made = translated(source, options, target)
    assert any("is unknown to" in why for why in told(made))
    assert not dialect_named(target).read_script(made.script).request.dependencies
    same = translated(source, options, source)
    assert dialect_named(source).read_script(same.script).request.dependencies


@pytest.mark.parametrize("select", ["1:ncpus=10:mpiprocs=3+1:ncpus=4", "2:ncpus=7:mpiprocs=2+1:ncpus=2:mpiprocs=1"])
def test_each_component_is_counted(select: str) -> None:
    made = translated("pbs", f"-l select={select}", "slurm")
    assert any("cores in all become" in why for why in told(made))


@pytest.mark.parametrize("target", ["lsf", "sge", "oar", "torque"])
@pytest.mark.parametrize(("line", "warned"), [("mpirun ./a", True), ("mpiexec ./a", True), ("mpirun -np 4 ./a", False)])
def test_mpirun_that_would_start_a_task_on_each_core_is_told(line: str, warned: bool, target: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH -N 2 -n 4 -c 3\n{line}\n", target)
    assert any("may start 12 tasks, not 4" in why for why in told(made)) is warned


@pytest.mark.parametrize(
    "options", ["-n 8 --ntasks-per-node=3 -c 2", "-n 8 --ntasks-per-node=3 --exclusive", "-n 5 --ntasks-per-node=2"]
)
def test_tasks_that_become_more_are_told(options: str) -> None:
    made = translated("slurm", options, "pbs")
    assert dialect_named("pbs").read_script(made.script).request.shape.task_count != made.request.shape.task_count
    assert any("tasks in all become" in why for why in told(made))


@pytest.mark.parametrize("target", ["lsf", "oar", "sge", "pbs", "torque"])
@pytest.mark.parametrize("options", ["--ntasks-per-node=3 -c 2", "--ntasks-per-node=4", "--ntasks-per-node=2 -c 8"])
def test_what_is_stated_for_each_node_is_of_one(options: str, target: str) -> None:
    assert not any("in all become" in why for why in told(translated("slurm", options, target)))
