"""What an approver sees of a script that was written for another scheduler."""

from __future__ import annotations

import pytest

from dragoman.model import JsonObject
from interfaces.cli.tables import print_proposals
from providers.script_reading import read_any_script

SCRIPT = "#!/bin/bash\n#SBATCH -n 4\n#SBATCH --switches=1\necho $SLURM_JOB_ID\nsrun ./app\n./same [x]\n"


def document(scheduler: str) -> JsonObject:
    request = read_any_script(SCRIPT).request.model_dump(mode="json")
    proposal: JsonObject = {"site": "there", "verdict": "READY", "scheduler": scheduler, "start": {}, "cost": None}
    return {"request": {"request": request}, "proposals": [proposal], "selection": {"site": "there", "ranking": []}}


@pytest.mark.parametrize(("scheduler", "line"), [("pbs", "echo $PBS_JOBID"), ("lsf", "echo $LSB_JOBID")])
def test_every_change_is_shown(scheduler: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_proposals(document(scheduler))
    said = capsys.readouterr().out.splitlines()
    assert {"  -echo $SLURM_JOB_ID", f"  +{line}", "  -srun ./app", "   ./same [x]"} <= set(said)
    assert any(each.startswith("  +mpiexec -n ") for each in said)
    assert any("# not translated from Slurm: --switches=1" in each for each in said)


def test_at_its_own_scheduler_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    print_proposals(document("slurm"))
    assert "script" not in capsys.readouterr().out


def test_a_script_whose_scheduler_was_not_said_stays(capsys: pytest.CaptureFixture[str]) -> None:
    shown = document("pbs")
    shown["request"] = {"request": {"script": "#!/bin/sh\n./app\n"}}
    print_proposals(shown)
    assert "script" not in capsys.readouterr().out
