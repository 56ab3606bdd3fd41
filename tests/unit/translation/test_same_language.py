"""A script for the scheduler that it was written for is the script itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.script_reading import dialect_of_script
from providers.translation.translate import translate_script

CAPTURES = Path(__file__).parents[2] / "captures"
HEADERS = sorted(
    path
    for folder, name in (("slurm_scripts", "slurm"), ("pbs_scripts", "pbs"), ("flux_scripts", "flux"))
    for path in (CAPTURES / folder).glob("*.txt")
    if "malformed" not in path.stem and name in folder
)
SLURM = """#!/bin/bash -l
#SBATCH --comment="a word" --open-mode=append -i in.txt
#SBATCH --mail-type=ALL,TIME_LIMIT_80,ARRAY_TASKS --mail-user=ann@example.org
#SBATCH -C "haswell&quad" --switches=2@30:00 --dependency=afterok:12
#SBATCH --export=NONE --wrap-site=x -o %x-%A_%a.%N.log
# a word of the author's
srun ./app "$SLURM_JOB_ID"
#SBATCH --time=1:00:00
"""


def test_every_option_survives() -> None:
    made = translate_script(SLURM, "slurm")
    assert made.script == SLURM
    assert (made.lost, made.changes, made.diff) == ((), (), "")
    assert [remark.line for remark in made.report if "after the first command" in remark.why] == [8]


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.stem)
def test_real_headers_stay(path: Path) -> None:
    script = f"#!/bin/bash\n{path.read_text()}\n./app\n"
    # Captures of PBS hold Torque's scripts too, which PBS would not take.
    own = dialect_of_script(script) or path.parent.name.removesuffix("_scripts")
    made = translate_script(script, own)
    assert (made.script, made.lost) == (script, ())


@pytest.mark.parametrize(
    ("source", "target", "line"),
    [
        ("pbs", "openpbs", "#PBS -l select=1:ncpus=4:host=n1 -W umask=022 -m abej"),
        ("sge", "gridengine", "#$ -pe x 4 -m as -hold_jid 12 -l arch=lx"),
        ("lsf", "lsf", '#BSUB -R "order[mem]" -Ne -data x -w done(7)'),
        ("oar", "oar", "#OAR --notify [END]exec:/x --checkpoint 60 -a 12"),
        ("flux", "flux", "#flux: --requires=fast --setopt=x --output=a.{{id}}"),
    ],
)
def test_in_every_language(source: str, target: str, line: str) -> None:
    script = f"#!/bin/sh\n{line}\n./app\n"
    made = translate_script(script, target, source=source)
    assert (made.script, made.lost) == (script, ())


def test_a_first_line_is_added_where_there_is_none() -> None:
    made = translate_script("#SBATCH -n 1\r\n./app\r\n", "slurm")
    assert made.script == "#!/bin/bash\n#SBATCH -n 1\n./app\n"
    assert len(made.report) == 2


TORQUE = [
    ("-l nodes=1:ppn=4:gpus=1", "-l select=1:ncpus=4:mpiprocs=4:ngpus=1"),
    ("-l nodes=1:ppn=2,walltime=28:00:00:00", "-l walltime=672:00:00"),
    ("-t 1-4%2", "-J 1-4%2"),
    ("-l nodes=2:ppn=4 -l naccesspolicy=singlejob", "-l place=scatter:excl"),
    ("-l procs=12", "-l select=12:ncpus=1:mpiprocs=1"),
]


@pytest.mark.parametrize(("line", "written"), TORQUE)
def test_torques_own_words_tell_its_scripts_from_those_of_pbs(line: str, written: str) -> None:
    script = f"#!/bin/bash\n#PBS {line}\n./app\n"
    assert dialect_of_script(script) == "torque"
    for source in (None, "pbs"):
        made = translate_script(script, "pbs", source=source)
        assert f"#PBS {written}" in made.script.splitlines()
        assert f"#PBS {line}" not in made.script
    assert translate_script(script, "torque").script == script


def test_a_variable_of_torque_tells_its_scripts_too() -> None:
    script = "#!/bin/bash\n#PBS -l nodes=1:ppn=4\n./app $PBS_ARRAYID\n"
    assert dialect_of_script(script) == "torque"
    assert dialect_of_script(script.replace("./app", "# not")) == "pbs"
    assert dialect_of_script(script.replace("nodes=1:ppn=4", "select=1:ncpus=4")) == "pbs"
    assert dialect_of_script(script.replace("PBS_ARRAYID", "{PBS_ARRAYID:-$PBS_ARRAY_INDEX}")) == "pbs"


def test_an_option_of_torque_among_those_of_pbs_is_translated() -> None:
    made = translate_script("#!/bin/bash\n#PBS -l select=1:ncpus=4 -t 1-4\n./app $PBS_ARRAY_INDEX\n", "pbs")
    assert "#PBS -J 1-4" in made.script.splitlines()
    assert " -t " not in made.script
    assert "./app $PBS_ARRAY_INDEX\n" in made.script
