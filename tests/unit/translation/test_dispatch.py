"""Scripts handed in as requests: they keep their interpreter, and run at a site with another scheduler."""

from __future__ import annotations

import pytest

from dragoman.request import JobRequest
from providers.script_reading import read_any_script
from providers.translation.dispatch import options_for, script_for

SCRIPT = """\
#!/bin/bash
#SBATCH -N 2 --ntasks-per-node=4 -a 3-9:3
#SBATCH --nice=5
cd $SLURM_SUBMIT_DIR
names=(a b)
srun ./app ${names[1]} $SLURM_ARRAY_TASK_ID
"""


def read(text: str = SCRIPT) -> JobRequest:
    return read_any_script(text).request


def test_the_first_line_stays_with_the_script() -> None:
    request = read()
    assert request.script_dialect == "slurm"
    assert request.script is not None
    assert request.script.startswith("#!/bin/bash\ncd $SLURM_SUBMIT_DIR\n")
    assert read_any_script(SCRIPT).body.startswith("cd ")
    assert read("#PBS -l ncpus=1\n./app\n").script == "./app\n"
    assert read("#!/bin/sh\n#$-pe smp 2\n./app\n").script_dialect == "sge"


@pytest.mark.parametrize("scheduler", ["slurm", "nosuch"])
def test_its_own_scheduler_gets_it_as_it_is(scheduler: str) -> None:
    request = read()
    assert script_for(str(request.script), request, scheduler) == request.script


@pytest.mark.parametrize(
    ("scheduler", "launch", "index"),
    [
        ("pbs", "mpiexec -n 8", "PBS_ARRAY_INDEX"), ("torque", "mpiexec -n 8", "PBS_ARRAYID"),
        ("lsf", "mpiexec -n 8", "LSB_JOBINDEX"), ("sge", "mpiexec -n 8", "SGE_TASK_ID"),
        ("oar", "mpiexec -n 8", "DRAGOMAN_TASK"), ("kubernetes", "mpiexec -n 8", "DRAGOMAN_TASK"),
    ],
)  # fmt: skip
def test_another_scheduler_gets_its_own_words(scheduler: str, launch: str, index: str) -> None:
    """Where it was submitted is where Dragoman starts it: inputs lie there."""
    request = read()
    assert script_for(str(request.script), request, scheduler) == (
        '#!/bin/bash\nexport DRAGOMAN_SUBMIT_DIR="$PWD"\ncd $DRAGOMAN_SUBMIT_DIR\nnames=(a b)\n'
        f"{launch} ./app ${{names[1]}} ${index}\n"
    )


def test_what_has_no_equal_is_told_in_the_script() -> None:
    request = read("#!/bin/bash\n#SBATCH -n 2\nsrun --cpu-bind=cores ./a $SLURM_JOB_NODELIST\n")
    made = script_for(str(request.script), request, "pbs")
    assert made.startswith("#!/bin/bash\n# not translated from Slurm: ")
    assert made.endswith("\nsrun --cpu-bind=cores ./a $SLURM_JOB_NODELIST\n")
    assert made.count("# not translated") == 2


def test_options_of_one_scheduler_go_to_no_other() -> None:
    request = read()
    assert options_for(request, "slurm") == ("--nice=5",)
    assert options_for(request, "pbs") == ()
    pbs = read("#!/bin/sh\n#PBS -l ncpus=1,scratch=4gb\n./app\n")
    assert options_for(pbs, "torque") == options_for(pbs, "pbs") == ("-l scratch=4gb",)
    assert options_for(JobRequest(native_options=("--x",)), "pbs") == ("--x",)
