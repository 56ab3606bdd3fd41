"""What is counted per what, in another scheduler's units (public reports of tools that got it wrong)."""

from __future__ import annotations

import pytest

from providers.translation.translate import dialect_named, translate_script

TARGETS = ["pbs", "torque", "flux", "lsf", "sge", "oar", "slurm"]


def asked(options: str, target: str, source: str = "#SBATCH") -> tuple[int | None, int | None, str]:
    """GPUs and cores in all, as the target reads its own script."""
    made = translate_script(f"#!/bin/bash\n{source} {options}\n./app\n", target)
    shape = dialect_named(target).read_script(made.script).request.shape
    return shape.total_gpus, shape.total_cpus, made.script


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("source", "options", "gpus"),
    [
        ("#SBATCH", "--gpus=8 -n 2", 8),
        ("#SBATCH", "--gres=gpu:2 -N 1 -n 2", 2),
        ("#SBATCH", "--gpus-per-task=2 -n 2", 4),
        ("#PBS", "-l select=1:ncpus=4:ngpus=4:mpiprocs=4", 4),
        ("#BSUB", '-n 4 -gpu "num=2" -R "span[hosts=1]"', 2),
    ],
)
def test_gpus_are_as_many_in_all(source: str, options: str, gpus: int, target: str) -> None:
    assert asked(options, target, source)[0] == gpus


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("options", "cpus"), [("-N 2 --ntasks-per-node=8 --mem=64G", 16), ("-n 6 -c 2", 12), ("-n 5 -N 1", 5)]
)
def test_cores_are_as_many_in_all(options: str, cpus: int, target: str) -> None:
    """A node's memory never becomes a core's."""
    _, found, script = asked(options, target)
    assert found == cpus
    assert "per-cpu=64G" not in script
    assert "pmem=64gb" not in script


@pytest.mark.parametrize("target", TARGETS)
def test_other_resources_beside_gpus_are_told(target: str) -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -n 1 --gres=gpu:a100:2,nvme:1\n./app\n", target)
    assert dialect_named(target).read_script(made.script).request.shape.total_gpus == 2
    assert target == "slurm" or any("nvme:1" in remark.words for remark in made.lost)
    assert target != "slurm" or "nvme:1" in made.script


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "slurm"])
def test_the_upper_end_of_a_range_of_nodes_is_told(target: str) -> None:
    made = translate_script("#!/bin/bash\n#SBATCH --nodes=2-4 -n 8\n./app\n", target)
    assert (made.request.shape.nodes, made.request.shape.nodes_max) == (2, 4)
    assert any(remark.words == "--nodes=2-4" and remark.line == 2 for remark in made.lost)
