"""The command of each shipped recipe against its application's manual: whole lines, on cores and on GPUs."""

from __future__ import annotations

import pytest

from dragoman.request import InputFile, JobRequest
from dragoman.run_plan import RunPlan
from dragoman.shape import Gpus, Shape
from dragoman.site import Site
from providers.command_body import plan_body
from providers.commands.means import Means, Starter
from providers.commands.plan import plan_run
from providers.recipes.shelf import shipped_shelf

SRUN = Means("slurm", starter=Starter("srun"))
OPENMPI = Means("pbs", starter=Starter("mpiexec", "openmpi"))
CORES = Shape(nodes=2, tasks_per_node=4, cpus_per_task=8)
GPUS = Shape(nodes=2, tasks_per_node=4, cpus_per_task=8, gpus=Gpus(count=4, per="node"))
NODES = Shape(nodes=2, cpus_per_task=8, gpus=Gpus(count=4, per="node"))
ON = "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=8 --cpu-bind=cores "


def planned(name: str, shape: Shape, means: Means = SRUN) -> RunPlan:
    recipe = next(one.use() for one in shipped_shelf().kept if one.name == name)
    files = [kind.names[0].replace("*", "a") for kind in recipe.inputs.values()]
    inputs = tuple(InputFile(source=f"/home/me/{file}", name=file) for file in files)
    request = JobRequest(shapes=(shape,), inputs=inputs, recipe=name)
    plan = plan_run(request, Site(name="there", scheduler=means.scheduler), shape, means, recipe=recipe)
    assert plan is not None
    return plan


def threads(plan: RunPlan) -> dict[str, str | None]:
    return {each.name: each.value for each in plan.environment}


@pytest.mark.parametrize(
    ("name", "shape", "line"),
    [
        ("cp2k", CORES, f"{ON}cp2k.psmp -i a.inp"),
        ("gromacs", CORES, f"{ON}gmx_mpi mdrun -s a.tpr -ntomp 8"),
        ("gromacs", GPUS, f"{ON}gmx_mpi mdrun -s a.tpr -ntomp 8 -nb gpu"),
        ("lammps", CORES, f"{ON}lmp -in in.a"),
        ("lammps", GPUS, f"{ON}lmp -in in.a -sf gpu -pk gpu 4"),
        ("quantum-espresso", CORES, f"{ON}pw.x -in a.pwi"),
        # An exception on one task ends all of them (mpi4py.run).
        ("python-mpi", CORES, f"{ON}python3 -m mpi4py a.py"),
        # The library paths of site and user stay (Rscript(1), --vanilla).
        ("r", CORES, "Rscript a.R"),
        # The user's and the site's configuration stay (nextflow -C would set them aside).
        ("nextflow", CORES, "nextflow -c nextflow.config run main.nf -params-file params.a -ansi-log false"),
        # What runs once has the first node's cores, whatever the others have.
        ("snakemake", CORES, "snakemake --snakefile Snakefile --configfile config.yaml --cores=all --cores=32"),
        ("namd", CORES, "namd3 +p32 a.namd"),
        ("namd", Shape(nodes=1, cpus=16), "namd3 +p16 a.namd"),
        ("script", CORES, "bash runa.sh"),
    ],
)
def test_the_line(name: str, shape: Shape, line: str) -> None:
    plan = planned(name, shape)
    assert (plan.problem, plan_body(plan)) == ("", f"{line}\n")


def test_threads_are_the_cores_of_a_task() -> None:
    assert threads(planned("cp2k", CORES)) == {"OMP_NUM_THREADS": "8"}
    assert threads(planned("r", CORES)) == {"OMP_NUM_THREADS": "8", "MC_CORES": "32"}


def test_openfoam_is_taken_apart_computed_and_put_together() -> None:
    lines = plan_body(planned("openfoam", CORES)).splitlines()
    assert lines[0].startswith("decomposePar -force")
    assert lines[1].startswith(f"{ON}/bin/sh -c ")
    assert "controlDict -parallel" in lines[1]
    assert lines[2] == "reconstructPar"


def test_torchrun_is_started_once_a_node_and_its_processes_share_the_cores() -> None:
    plan = planned("pytorch", NODES, OPENMPI)
    lines = plan_body(plan).splitlines()
    assert lines[-1] == (
        "mpiexec -n 2 --map-by ppr:1:node:PE=8 --bind-to core -x OMP_NUM_THREADS -x PET_RDZV_ENDPOINT -x PET_RDZV_ID"
        " -x PATH -x LD_LIBRARY_PATH torchrun --nnodes 2 --rdzv-backend c10d --nproc-per-node 4 traina.py"
    ), "what says where they meet reaches the other node"
    assert threads(plan) == {"OMP_NUM_THREADS": "2"}
    one = planned("pytorch", Shape(nodes=1, gpus=Gpus(count=2, per="node")))
    assert plan_body(one).splitlines()[-1] == "torchrun --standalone --nproc-per-node 2 traina.py"


def test_torchrun_is_never_started_twice_on_a_node() -> None:
    """Each would train by itself, into the same files: stated tasks are processes of the one."""
    plan = planned("pytorch", GPUS)
    on = "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=32 --cpu-bind=cores "
    torchrun = "torchrun --nnodes 2 --rdzv-backend c10d --nproc-per-node 4 traina.py"
    assert plan_body(plan).splitlines()[-1] == f"{on}{torchrun}"
    assert threads(plan) == {"OMP_NUM_THREADS": "8"}
    one = planned("pytorch", Shape(nodes=1, cpus_per_node=64, gpus=Gpus(count=4, per="node")))
    assert threads(one) == {"OMP_NUM_THREADS": "16"}
    spread = planned("pytorch", Shape(tasks=4))
    assert (spread.problem.partition(":")[0], spread.command) == ("shapes.0.nodes", ())
