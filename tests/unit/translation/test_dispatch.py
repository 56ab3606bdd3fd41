"""Scripts handed in as requests: they keep their interpreter, and run at a site with another scheduler."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dragoman.errors import BadRequest
from dragoman.kleene import Truth
from dragoman.request import Dependency, JobRequest, Source
from dragoman.site import Site
from graph.job_spec import job_spec
from graph.verdict.evaluate import evaluate
from providers.script_reading import read_any_script
from providers.translation.dispatch import foreign_words, options_for, script_for, without_foreign_words

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
    first, told, rest = script_for(str(request.script), request, scheduler).split("\n", 2)
    assert told.startswith("# not translated from Slurm: --nice=5: ")
    assert f"{first}\n{rest}" == (
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


FOREIGN = read("#!/bin/bash\n#SBATCH -n 2 -d afterok:77 -C haswell --nice=5\n./a\n")


def test_job_ids_and_conditions_of_another_scheduler_are_told_and_not_used() -> None:
    told = foreign_words(FOREIGN, "pbs")
    assert sorted(told) == ["dependencies", "shapes.0.constraint"]
    assert "Slurm's job 77, which PBS does not know" in told["dependencies"]
    bare = without_foreign_words(FOREIGN, "pbs")
    assert (bare.dependencies, bare.shape.constraint, bare.native_options, bare.shape.tasks) == ((), None, (), 2)
    made = script_for(str(FOREIGN.script), FOREIGN, "pbs")
    assert [line.partition(": ")[2][:12] for line in made.splitlines() if line.startswith("# not")] == [
        "--nice=5: PB", "the script w", "the script s",
    ]  # fmt: skip


@pytest.mark.parametrize("scheduler", ["slurm", "nosuch"])
def test_its_own_words_stay(scheduler: str) -> None:
    assert foreign_words(FOREIGN, scheduler) == {}
    assert without_foreign_words(FOREIGN, "slurm") == FOREIGN


def test_one_reader_is_of_pbs_and_torque() -> None:
    request = read("#!/bin/sh\n#PBS -l nodes=2:ppn=4:fast -W depend=afterok:7\n./app\n")
    assert foreign_words(request, "torque") == {}
    assert without_foreign_words(request, "torque").shape.constraint == "fast"


def test_what_a_person_has_said_since_counts() -> None:
    theirs = Source(field="dependencies", words="afterok 12", origin="person")
    request = FOREIGN.model_copy(
        update={"dependencies": (Dependency(kind="afterok", job_id="12"),), "sources": (*FOREIGN.sources, theirs)}
    )
    assert sorted(foreign_words(request, "pbs")) == ["shapes.0.constraint"]
    assert without_foreign_words(request, "pbs").dependencies == request.dependencies


def test_the_site_asks_and_nothing_is_submitted_with_a_foreign_id() -> None:
    site = Site(name="there", scheduler="pbs", queues=())
    proposal = evaluate(FOREIGN, site, [], datetime(2026, 1, 1, tzinfo=UTC), 0)
    checks = {check.field: check for check in proposal.checks}
    assert checks["dependencies"].result is Truth.UNKNOWN
    assert checks["dependencies"].person_can_settle
    assert checks["shapes.0.constraint"].person_can_settle
    with pytest.raises(BadRequest, match="Slurm's job 77"):
        job_spec(FOREIGN, site, proposal, tag="dgm-0123456789ab-a0", control_dir="/c", work_dir="/c/work")
    mine = FOREIGN.model_copy(update={"dependencies": ()})
    spec = job_spec(mine, site, proposal, tag="dgm-0123456789ab-a0", control_dir="/c", work_dir="/c/work")
    assert (spec.shape.constraint, spec.native_options) == (None, ())
    assert "haswell" in spec.body
