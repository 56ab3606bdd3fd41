"""Arrays: what tells one task's files and folders from another's."""

from __future__ import annotations

import pytest

from providers.translation.translate import translate_script

SLURM = "#!/bin/bash\n#SBATCH -J relax -n 1 -a 1-4 -o out.%j -e err.%j\nmkdir run.$SLURM_JOB_ID\n./app\n"


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("lsf", ["#BSUB -o out.%J-%I", "#BSUB -e err.%J-%I", 'export DRAGOMAN_JOB_ID="${LSB_JOBID}-${LSB_JOBINDEX}"']),
        ("sge", ["#$ -o out.$JOB_ID.$TASK_ID", "#$ -e err.$JOB_ID.$TASK_ID",
                 'export DRAGOMAN_JOB_ID="${JOB_ID}.${SGE_TASK_ID}"']),
        ("htcondor", ["#CONDOR output = out.$(ClusterId).$(ProcId)", "#CONDOR error = err.$(ClusterId).$(ProcId)",
                      'export DRAGOMAN_JOB_ID="${DRAGOMAN_CLUSTER}.${DRAGOMAN_PROC}"']),
    ],
)  # fmt: skip
def test_tasks_with_ids_of_their_own_keep_files_of_their_own(target: str, lines: list[str]) -> None:
    made = translate_script(SLURM, target)
    written = made.script.splitlines()
    assert [line for line in lines if line not in written] == []
    assert "mkdir run.$DRAGOMAN_JOB_ID" in written


@pytest.mark.parametrize("target", ["lsf", "sge", "htcondor"])
def test_jobs_without_an_array_keep_their_plain_id(target: str) -> None:
    made = translate_script(SLURM.replace(" -a 1-4", ""), target)
    assert "DRAGOMAN_JOB_ID" not in made.script
    assert "-%I" not in made.script
    assert "TASK_ID" not in made.script


def test_a_file_that_has_the_index_stays_as_it_is() -> None:
    made = translate_script(SLURM.replace("out.%j", "%A_%a.out").replace("err.%j", "e-%j-%a"), "lsf")
    assert {"#BSUB -o %J_%I.out", "#BSUB -e e-%J-%I"} <= set(made.script.splitlines())


def test_the_arrays_id_is_shared_as_it_was() -> None:
    made = translate_script(SLURM.replace("$SLURM_JOB_ID", "$SLURM_ARRAY_JOB_ID"), "lsf")
    assert "mkdir run.$LSB_JOBID" in made.script.splitlines()


def test_where_tasks_share_an_id_already_nothing_is_added() -> None:
    made = translate_script('#!/bin/bash\n#BSUB -n 1 -J "a[1-4]" -o o.%J\n./app $LSB_JOBID\n', "sge")
    assert {"#$ -o o.$JOB_ID", "./app $JOB_ID"} <= set(made.script.splitlines())
