"""A scheduler that Dragoman does not know, from one file of at most 150 lines beside it: nothing else is touched.

It is installed as a package of its own, found by its entry point, in processes of their own, so that no other test sees
it. Every contract that holds for the schedulers here is held against it there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from providers.schedulers import option_rows
from providers.schedulers.pbs_values import read_walltime

ROOT = Path(__file__).parents[2]
DIALECT = ROOT / "tests" / "third_party" / "dragoman_pjm.py"
SCRIPT = """#!/bin/bash
#PJM -N relax
#PJM -L "node=4,elapse=01:30:00,rscgrp=small"
#PJM --mpi "proc=16"
#PJM -g hp000000
#PJM -j
cd $PJM_O_WORKDIR
mpiexec -n $PJM_MPI_PROC ./app
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a Python module where the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copy(DIALECT, folder)
    told = folder / "dragoman_pjm-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: dragoman-pjm\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[dragoman.providers]\npjm = dragoman_pjm\n")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "NO_COLOR": "1"}  # noqa: TID251  # a process of its own

    def start(*argv: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: TID251  # no event loop here
            [sys.executable, "-m", *argv], input=text, capture_output=True, text=True, cwd=ROOT, env=environment,
            timeout=300, check=False,
        )  # fmt: skip

    return start


def test_it_is_short_and_named_nowhere_else() -> None:
    assert len(DIALECT.read_text().splitlines()) <= 150
    rooms = [ROOT / room for room in ("dragoman", "providers", "tools", "graph", "interfaces")]
    named = [path for room in rooms for path in room.rglob("*.py") if re.search(r"\bpjm\b|#PJM\b", path.read_text())]
    assert named == []


def test_every_contract_and_the_whole_path_hold_for_it(run: Run) -> None:
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "pjm or whole_path",
        f"--ignore={Path(__file__).relative_to(ROOT)}",
    )
    done = run("pytest", *options, "tests/third_party/whole_path.py", "tests/contracts")
    passed = re.search(r"(\d+) passed", done.stdout)
    assert done.returncode == 0, done.stdout[-3000:]
    assert passed is not None
    assert int(passed[1]) >= 100


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("slurm", ["#SBATCH --job-name=relax", "#SBATCH --nodes=4", "#SBATCH --ntasks=16", "#SBATCH --time=01:30:00",
                   "mpiexec -n $SLURM_NTASKS ./app"]),
        ("pbs", ["#PBS -N relax", "#PBS -l walltime=01:30:00", "cd $PBS_O_WORKDIR"]),
        ("pjm", SCRIPT.splitlines()),
    ],
)  # fmt: skip
def test_its_scripts_are_translated(run: Run, target: str, lines: list[str]) -> None:
    done = run("interfaces.cli.main", "translate", "-", "--to", target, text=SCRIPT)
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if line not in done.stdout.splitlines()] == []
    assert "not translated" not in done.stdout


OWN = [
    "-m b,e", "--mail-list ann@example.org", "--bulk --sparam 0-9", "-S", "-L node=2x3", "-L node=12:noncont",
    "-L node=2x3x4:torus",
]  # fmt: skip


def test_options_without_a_word_of_ours_make_no_script_unreadable(run: Run) -> None:
    script = "#!/bin/bash\n#PJM -L elapse=01:00:00\n" + "".join(f"#PJM {line}\n" for line in OWN[:5]) + "./app\n"
    for text in (script, script.replace(OWN[4], OWN[5]), script.replace(OWN[4], OWN[6])):
        own = run("interfaces.cli.main", "translate", "-", "--to", "pjm", text=text)
        assert (own.returncode, own.stdout) == (0, text), own.stderr
        other = run("interfaces.cli.main", "translate", "-", "--to", "slurm", text=text)
        assert other.returncode == 0, other.stderr
        assert "#SBATCH --time=01:00:00" in other.stdout
        assert other.stderr.count("not translated: ") == 5  # all but whom to mail


def test_scripts_of_others_are_translated_for_it(run: Run) -> None:
    script = "#!/bin/bash\n#SBATCH -J relax -N 4 -n 16 -t 90 -A proj --mem=4G\ncd $SLURM_SUBMIT_DIR\nsrun ./app\n"
    done = run("interfaces.cli.main", "translate", "-", "--to", "fugaku", text=script)
    assert done.returncode == 0, done.stderr
    head = [line for line in done.stdout.splitlines() if line.startswith("#PJM")]
    assert head == ["#PJM -N relax", "#PJM -L elapse=01:30:00", "#PJM -g proj", "#PJM -L node=4", "#PJM --mpi proc=16"]
    assert "cd $PJM_O_WORKDIR\nmpiexec -n 16 ./app\n" in done.stdout
    assert "--mem=4G" in done.stderr


def test_the_rows_that_the_page_shows_are_rows() -> None:
    page = (ROOT / "docs" / "adding-a-scheduler.md").read_text()
    shown = page.split("```")[1].strip().splitlines()
    names = {**vars(option_rows), "read_walltime": read_walltime}
    rows = [eval(line.strip(), dict(names)) for line in shown]  # noqa: S307  # our own page
    assert [row.option for row in rows] == ["-L node", "-g", "-L rscgrp", "-L elapse", "-r"]
    assert all(isinstance(row, option_rows.Row) for row in rows)
