"""Bodies: what changes, what stays to the byte, and what is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.translation.report import Translation
from providers.translation.translate import translate_script

HEAD = {
    "slurm": "#SBATCH -N 2\n#SBATCH --ntasks-per-node=4\n#SBATCH -c 2\n#SBATCH -a 1-10\n#SBATCH -D /work\n",
    "pbs": "#PBS -l select=2:ncpus=8:mpiprocs=4:ompthreads=2\n#PBS -J 1-10\n",
    "torque": "#PBS -l nodes=2:ppn=4\n#PBS -t 1-10\n",
    "lsf": '#BSUB -n 8\n#BSUB -J "a[1-10]"\n',
    "sge": "#$ -pe smp 8\n#$ -t 1-10\n#$ -cwd\n",
    "oar": "#OAR -l /nodes=2/core=8\n#OAR --array 10\n",
    "flux": "#flux: -N 2\n#flux: -n 8\n#flux: -c 2\n",
    "cobalt": "#COBALT -n 2\n",
}


def translated(source: str, target: str, body: str) -> Translation:
    return translate_script(f"#!/bin/bash\n{HEAD[source]}{body}", target, source=source)


def body_of(made: Translation) -> str:
    """What follows directives, what is told and what was put before."""
    lines = made.script.split("\n")
    added = {change.after for change in made.changes if not change.before}
    while lines and (lines[0].startswith("#") or lines[0] in added):
        lines.pop(0)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("slurm", "pbs", "a $SLURM_JOB_ID", "a $PBS_JOBID"),
        ("slurm", "pbs", "a ${SLURM_JOBID%%.*}", "a ${PBS_JOBID%%.*}"),
        ("slurm", "pbs", "a $SLURM_ARRAY_TASK_ID", "a $PBS_ARRAY_INDEX"),
        ("slurm", "torque", "a $SLURM_ARRAY_TASK_ID", "a $PBS_ARRAYID"),
        ("slurm", "lsf", "a ${SLURM_ARRAY_TASK_ID:-1}", "a ${LSB_JOBINDEX:-1}"),
        ("slurm", "sge", 'a "$SLURM_ARRAY_TASK_ID"', 'a "$SGE_TASK_ID"'),
        ("slurm", "oar", "a $SLURM_ARRAY_TASK_ID", "a $OAR_ARRAY_INDEX"),
        ("slurm", "kubernetes", "a $SLURM_ARRAY_TASK_ID", "a $DRAGOMAN_TASK"),
        ("slurm", "pbs", "cd $SLURM_SUBMIT_DIR", "cd $PBS_O_WORKDIR"),
        ("slurm", "lsf", "cd $SLURM_SUBMIT_DIR", "cd $LS_SUBCWD"),
        ("slurm", "pbs", "a ${SLURM_NTASKS:-4}", "a ${DRAGOMAN_TASKS:-4}"),
        ("slurm", "sge", "a $((SLURM_NTASKS * 2))", "a $((DRAGOMAN_TASKS * 2))"),
        ("slurm", "torque", "a $SLURM_NNODES", "a $PBS_NUM_NODES"),
        ("slurm", "flux", "a $SLURM_JOB_ID", "a $DRAGOMAN_JOB_ID"),
        ("pbs", "slurm", "cd $PBS_O_WORKDIR", "cd $SLURM_SUBMIT_DIR"),
        ("pbs", "slurm", "a ${PBS_JOBID%.*} $PBS_ARRAYID", "a ${SLURM_JOB_ID%.*} $SLURM_ARRAY_TASK_ID"),
        ("pbs", "torque", "a $PBS_ARRAY_INDEX $PBS_JOBID", "a $PBS_ARRAYID $PBS_JOBID"),
        ("pbs", "lsf", "mpirun -f $PBS_NODEFILE ./a", "mpirun -f $LSB_DJOB_HOSTFILE ./a"),
        ("pbs", "oar", "cat $PBS_NODEFILE", "cat $OAR_NODEFILE"),
        ("pbs", "slurm", "a $PBS_O_HOME", "a $HOME"),
        ("lsf", "slurm", "a $LSB_JOBID $LSB_JOBINDEX", "a $SLURM_JOB_ID $SLURM_ARRAY_TASK_ID"),
        ("lsf", "slurm", "cd $LS_SUBCWD", "cd $SLURM_SUBMIT_DIR"),
        ("sge", "slurm", "a $JOB_ID $NSLOTS $SGE_TASK_ID", "a $SLURM_JOB_ID $DRAGOMAN_SLOTS $SLURM_ARRAY_TASK_ID"),
        ("oar", "slurm", "a $OAR_JOB_ID $OAR_WORKDIR", "a $SLURM_JOB_ID $SLURM_SUBMIT_DIR"),
        ("flux", "slurm", "a $FLUX_JOB_ID", "a $SLURM_JOB_ID"),
        ("cobalt", "pbs", "a $COBALT_JOBID", "a $PBS_JOBID"),
    ],
)  # fmt: skip
def test_variables(source: str, target: str, before: str, after: str) -> None:
    made = translated(source, target, f"./start\n{before}\n")
    if target == "kubernetes":
        assert f"          {after}\n" in made.script
    else:
        assert body_of(made) == f"./start\n{after}\n"
    assert [remark for remark in made.lost if remark.line is None or remark.line > HEAD[source].count("\n") + 1] == []
    assert f"-{before}\n" in made.diff
    assert f"+{after}\n" in made.diff
    assert all(change.reason for change in made.changes)


@pytest.mark.parametrize(
    "line",
    [
        "# $SLURM_JOB_ID and srun -n 4",
        "echo '$SLURM_JOB_ID srun'",
        "cat >x <<'E'\n$SLURM_JOB_ID\nsrun a\nE",
        "a $SLURM_JOB_IDX ${SLURM_JOB_ID_OF}",
        "a \\$SLURM_JOB_ID",
        "a $MY_SLURM_JOB_ID",
        "./srun -n 4 a; srunner -n 4; my/srun.py",
    ],
)
@pytest.mark.parametrize("target", ["pbs", "flux", "lsf"])
def test_what_is_not_touched(line: str, target: str) -> None:
    made = translated("slurm", target, f"./start\n{line}\n")
    if line.startswith("./srun"):
        pytest.skip("a program's path is its own: see test_a_launcher_may_have_a_path")
    assert body_of(made) == f"./start\n{line}\n"


def test_a_launcher_may_have_a_path() -> None:
    assert body_of(translated("slurm", "pbs", "./start\n/usr/bin/srun -n 4 a\n")) == "./start\nmpiexec -n 4 a\n"


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("slurm", "pbs", "srun -n 4 ./app -n 3", "mpiexec -n 4 ./app -n 3"),
        ("slurm", "flux", "srun -n 4 ./app", "flux run -n4 ./app"),
        ("slurm", "lsf", "srun ./app", "mpiexec -n 8 ./app"),
        ("slurm", "pbs", "srun --ntasks=4 --mpi=pmix ./app", "mpiexec -n 4 ./app"),
        ("slurm", "pbs", "srun -c 2 --ntasks-per-node 4 ./app", "mpiexec -n 8 ./app"),
        ("slurm", "flux", "srun -N1 -n4 -c1 -l ./app", "flux run -n4 -N1 -c1 --label-io ./app"),
        ("slurm", "pbs", "OMP_NUM_THREADS=2 time srun -n 4 \\\n  ./app >out 2>&1 &",
         "OMP_NUM_THREADS=2 time mpiexec -n 4 \\\n  ./app >out 2>&1 &"),
        ("slurm", "pbs", "x=$(srun -n 2 hostname | sort)", "x=$(mpiexec -n 2 hostname | sort)"),
        ("slurm", "pbs", "if srun -n 2 a; then srun -n 3 b; fi", "if mpiexec -n 2 a; then mpiexec -n 3 b; fi"),
        ("slurm", "torque", "srun -n $SLURM_NTASKS ./app", "mpiexec -n $PBS_NP ./app"),
        ("slurm", "pbs", "srun -n1 ./app", "./app"),
        ("flux", "slurm", "flux run -n 4 -c 2 ./app", "srun -n 4 -c 2 ./app"),
        ("flux", "pbs", "flux run -n4 ./app", "mpiexec -n 4 ./app"),
        ("flux", "slurm", "flux run ./app", "srun -n 1 ./app"),
        ("pbs", "flux", "mpiexec -n 4 ./app", "flux run -n4 ./app"),
        ("pbs", "flux", "mpirun -np 4 -machinefile $PBS_NODEFILE ./app", "flux run -n4 ./app"),
        ("pbs", "flux", "mpirun ./app", "flux run -n8 ./app"),
        ("cobalt", "slurm", "aprun -n 4 -N 2 ./app", "srun -n 4 --ntasks-per-node=2 ./app"),
        ("pbs", "slurm", "mpirun -np 4 ./app", "mpirun -np 4 ./app"),
    ],
)  # fmt: skip
def test_launchers(source: str, target: str, before: str, after: str) -> None:
    made = translated(source, target, f"./start\n{before}\n")
    assert body_of(made) == f"./start\n{after}\n"
    assert [remark for remark in made.lost if (remark.line or 99) > HEAD[source].count("\n") + 1] == []


@pytest.mark.parametrize(
    ("source", "target", "line", "told"),
    [
        ("slurm", "pbs", "srun --cpu-bind=cores ./app", "--cpu-bind has no equal"),
        ("slurm", "pbs", "srun --multi-prog conf", "--multi-prog has no equal"),
        ("slurm", "pbs", "srun -n 2 ./a : -n 4 ./b", "several programs in one line"),
        ("slurm", "pbs", "srun -n 4 --label ./app", "label"),
        ("slurm", "pbs", "srun -N 1 -n 4 ./app", "nodes 1"),
        ("slurm", "pbs", "RUN='srun -n 4'; $RUN ./app", "does not stand where the shell starts it"),
        ("slurm", "pbs", "sbatch next.sh", "sbatch is a command of Slurm"),
        ("slurm", "flux", "hosts=$(scontrol show hostnames)", "scontrol is a command of Slurm"),
        ("pbs", "slurm", "pbsdsh -u a", "pbsdsh is a command of PBS"),
        ("pbs", "slurm", "mpirun -machinefile $PBS_NODEFILE ./a", "no equivalent of PBS's PBS_NODEFILE"),
        ("slurm", "pbs", "a $SLURM_JOB_NODELIST", "no equivalent of Slurm's SLURM_JOB_NODELIST"),
        ("slurm", "pbs", "a ${!SLURM_JOB_ID}", "no equivalent"),
        ("slurm", "pbs", "python3 - <<'E'\nprint('SLURM_JOB_ID')\nE", "it stands in a quoted here-document"),
        ("slurm", "pbs", "sh -c 'echo $SLURM_JOB_ID'", "it stands in single quotes"),
        ("slurm", "pbs", "export SLURM_CPU_BIND=none", "not expanded here"),
        ("lsf", "slurm", "jsrun -n 4 -a 1 ./app", "has no equal"),
        ("flux", "slurm", "flux resource list", "flux is a command of Flux"),
    ],
)
def test_what_has_no_equal_is_told_with_its_line_and_left(source: str, target: str, line: str, told: str) -> None:
    made = translated(source, target, f"./start\n{line}\n")
    assert body_of(made) == f"./start\n{line}\n"
    at = 2 + HEAD[source].count("\n")
    lines = [remark.line for remark in made.lost if told in remark.why]
    assert lines
    assert all(number is not None and at + 1 <= number <= at + 1 + line.count("\n") for number in lines)


def test_a_variable_that_the_script_sets_is_its_own() -> None:
    made = translated("slurm", "pbs", "SLURM_NTASKS=3\na $SLURM_NTASKS\n")
    assert body_of(made) == "SLURM_NTASKS=3\na $SLURM_NTASKS\n"
    assert any("sets SLURM_NTASKS itself" in remark.why for remark in made.report)


@pytest.mark.parametrize(
    ("target", "line"),
    [("pbs", "#PBS -l walltime=1:00:00"), ("lsf", "#BSUB -W 10"), ("sge", "#$ -l h_rt=60"), ("oar", "#OAR -q x"),
     ("flux", "# flux: --queue=x")],
)  # fmt: skip
def test_a_line_that_the_target_would_read_is_switched_off(target: str, line: str) -> None:
    """Scripts with directives of two schedulers: those that come first are read, the others do not come into force."""
    made = translate_script(f"#!/bin/bash\n#SBATCH -n 4\n{line}\n./app\n", target)
    assert f"\n#off {line}\n" in made.script
    remark = next(remark for remark in made.lost if remark.words == line)
    assert remark.line == 3
    assert "--from" in remark.why
    again = translate_script(f"#!/bin/bash\n#SBATCH -n 4\n{line}\n./app\n", target, source=target)
    assert "#off" not in again.script


@pytest.mark.parametrize(("target", "off"), [("pbs", False), ("slurm", False), ("sge", True), ("flux", True)])
def test_behind_the_first_command_each_scheduler_has_its_own_rule(target: str, off: bool) -> None:
    line = {"pbs": "#PBS -q x", "slurm": "#SBATCH -q x", "sge": "#$ -q x", "flux": "#flux: -q x"}[target]
    source = "slurm" if target != "slurm" else "pbs"
    made = translated(source, target, f"./start\n{line}\n")
    assert body_of(made) == f"./start\n{'#off ' if off else ''}{line}\n"


def test_late_directives_of_the_source_are_told() -> None:
    made = translate_script("#!/bin/bash\n#SBATCH -n 4\n./app\n#SBATCH -n 99\n", "pbs")
    assert made.request.shape.tasks == 4
    assert any(remark.line == 4 and "comes after the first command" in remark.why for remark in made.report)
    assert made.script.endswith("./app\n#SBATCH -n 99\n")


def test_jobs_start_where_they_did() -> None:
    script = "#!/bin/bash\n#SBATCH -n 4\n./app\n"
    assert 'cd "$PBS_O_WORKDIR" || exit 1\n./app\n' in translate_script(script, "pbs").script
    assert "#$ -cwd\n" in translate_script(script, "sge").script
    assert "cd " not in translate_script(script, "lsf").script
    assert (
        "cd /work || exit 1\n"
        in translate_script(script.replace("./", "").replace("-n 4", "-n 4 -D /work"), "pbs").script
    )
    entered = script.replace("./app", "cd $SLURM_SUBMIT_DIR\n./app")
    assert translate_script(entered, "pbs").script.endswith("\ncd $PBS_O_WORKDIR\n./app\n")
    notes = [remark.why for remark in translate_script("#!/bin/sh\n#PBS -l ncpus=1\n./app\n", "slurm").report]
    assert any(why.startswith("PBS starts a job in the home directory") for why in notes)


@pytest.mark.parametrize(
    ("target", "variable", "first"), [("oar", "OAR_ARRAY_INDEX", 1), ("kubernetes", "JOB_COMPLETION_INDEX", 0)]
)
def test_indices_that_are_only_counted_are_computed(tmp_path: Path, target: str, variable: str, first: int) -> None:
    made = translate_script("#!/bin/sh\n#SBATCH -a 4-10:3,20\necho $SLURM_ARRAY_TASK_ID\n", target)
    lines = "\n".join([*(change.after for change in made.changes if not change.before), "echo $DRAGOMAN_TASK"])
    for position, index in enumerate([4, 7, 10, 20]):
        done = subprocess.run(  # noqa: TID251  # a shell is what computes them
            ["/bin/sh", "-c", lines], env={variable: str(first + position)}, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{index}\n"


@pytest.mark.parametrize(
    ("option", "target", "line"),
    [
        ("--export=ALL", "pbs", "#PBS -V\n"), ("--export=ALL,A=1", "sge", "#$ -V\n"), ("--export=ALL", "lsf", ""),
        ("--export=NONE", "lsf", "#BSUB -env none\n"), ("--export=NONE", "pbs", ""),
    ],
)  # fmt: skip
def test_the_submitters_environment(option: str, target: str, line: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH -n 1 {option}\n./app\n", target)
    assert line in made.script
    assert "-V" not in made.script or line
    assert made.lost == ()
    assert ("export A=1\n" in made.script) == ("A=1" in option)


def test_scripts_of_other_languages_are_not_changed() -> None:
    text = '#!/usr/bin/python3\n#SBATCH -n 1\nimport os\nprint(os.environ["SLURM_JOB_ID"])  # $SLURM_JOB_ID\n'
    made = translate_script(text, "lsf")
    assert made.script.startswith("#!/usr/bin/python3\n")
    assert made.script.endswith('import os\nprint(os.environ["SLURM_JOB_ID"])  # $SLURM_JOB_ID\n')
    assert [(remark.line, remark.words) for remark in made.lost] == [(4, "SLURM_JOB_ID")]


def test_c_shells_get_their_own_words() -> None:
    made = translate_script("#!/bin/csh\n#PBS -v A=x\n#PBS -l nodes=2:ppn=4\necho $PBS_NUM_PPN\n", "lsf")
    assert "setenv A x\n" in made.script
    assert "setenv DRAGOMAN_CPUS_ON_NODE 4\n" in made.script
    assert made.script.endswith("echo $DRAGOMAN_CPUS_ON_NODE\n")


texts = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=120)


@given(texts)
def test_a_body_without_words_of_the_scheduler_stays_to_the_byte(body: str) -> None:
    body = body.replace("srun", "x").replace("SLURM", "x").replace("#", "")
    made = translate_script(f"#!/bin/bash\n#SBATCH -n 1\n./a\n{body}", "lsf")
    assert made.script.endswith(f"./a\n{body}")
    assert made.changes == ()
    assert made.diff == ""


@given(
    st.lists(
        st.sampled_from(["$SLURM_JOB_ID", "${SLURM_NTASKS:-4}", "srun -n 4 a", "'", '"', "`", "$(", ")", "<<E", "E",
                         "#", "\n", "\\\n", " ", "#PBS -q x", "((", "))", ";"]),
        max_size=30,
    ).map("".join)
)  # fmt: skip
@pytest.mark.parametrize("target", ["pbs", "flux", "kubernetes"])
def test_the_diff_and_the_changes_tell_all_that_was_changed(target: str, body: str) -> None:
    made = translate_script(f"#!/bin/bash\n#SBATCH -n 4\n{body}", target)
    assert bool(made.diff) == bool(made.changes)
    removed = [line[1:] for line in made.diff.split("\n")[2:] if line.startswith("-")]
    before = [line for change in made.changes if change.before for line in change.before.split("\n")]
    assert set(removed) <= set(before)
