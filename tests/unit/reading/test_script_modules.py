"""The modules that a job script loads are asked of a site."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.reading.reading import Reading
from graph.reading.script_modules import modules_of
from providers.script_reading import read_any_script


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("module load gromacs/2024.2\nsrun gmx mdrun\n", ["gromacs ==2024.2"]),
        ("ml load gcc/12.2 openmpi/4.1.5 # both\n", ["gcc ==12.2", "openmpi ==4.1.5"]),
        ("module purge\nmodule load cuda\n", ["cuda None"]),
        ("module load chem/gromacs/2024\n", ["chem/gromacs ==2024"]),
        ("module load $MODULES\nmodule load --force x/$V\n", []),
        ("if [ -n x ]; then\nmodule load a/1\nfi\nmodule load b/2\n", []),
        ("setup() {\nmodule load a/1\n}\n", []),
        ("# module load a/1\necho module load b/2\n  module load c/3\n", []),
        ("module load a/1; module load b/2\n", ["a ==1"]),
    ],
)
def test_what_surely_runs_is_loaded(body: str, named: list[str]) -> None:
    found = modules_of("#!/bin/sh\n" + body)
    assert [f"{need.name} {need.version}" for need in found] == named
    assert all(need.manager == "modules" for need in found)


def test_a_script_asks_for_its_modules(read: Callable[..., Reading]) -> None:
    script = "#!/bin/bash\n#SBATCH -N 2\nmodule load gromacs/2024.2\nsrun gmx_mpi mdrun\n"
    request = read(script, script_reader=read_any_script).request
    assert [(need.name, str(need.version)) for need in request.software] == [("gromacs", "==2024.2")]
    assert "module load gromacs/2024.2" in (request.script or "")
