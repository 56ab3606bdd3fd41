"""HTCondor: a description that says by itself what its script counts on."""

from __future__ import annotations

from providers.translation.translate import translate_script

SLURM = "#!/bin/bash\n#SBATCH -J relax -n 2 -t 60 -a 0-3 --requeue\n./app $SLURM_JOB_ID $SLURM_ARRAY_TASK_ID\n"


def test_the_time_limit_is_enforced_and_variables_are_set() -> None:
    made = translate_script(SLURM, "htcondor")
    head = [line for line in made.script.splitlines() if line.startswith("#CONDOR ")]
    rule = next(line for line in head if "periodic_remove" in line)
    assert "JobCurrentStartDate > DragomanWalltime" in rule
    assert "DragomanRequeue =!= true" in rule
    assert '#CONDOR environment = "DRAGOMAN_CLUSTER=$(ClusterId) DRAGOMAN_PROC=$(ProcId)"' in head
    for word in ("batch_name", "+DragomanRequeue", "+DragomanWalltime", "periodic_remove", "environment"):
        assert sum(line.startswith(f"#CONDOR {word} =") for line in head) == 1, word
    assert head[-1] == "#CONDOR queue 4"
    assert any("condor_submit" in remark.why for remark in made.report)


def test_it_comes_back_without_a_loss() -> None:
    made = translate_script(translate_script(SLURM, "htcondor").script, "slurm")
    assert made.lost == ()
    assert {"#SBATCH --time=01:00:00", "#SBATCH --requeue", "#SBATCH --array=0-3"} <= set(made.script.splitlines())


def test_files_are_read_too() -> None:
    made = translate_script("#!/bin/sh\n#CONDOR output = o.$(ClusterId)\n#CONDOR queue 1\n./app\n", "slurm")
    assert "#SBATCH --output=o.%A" in made.script.splitlines()
