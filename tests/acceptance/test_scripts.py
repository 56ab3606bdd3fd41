"""A job script of a cluster as a request, run on this host."""

from __future__ import annotations

from typing import Any

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=relax
#SBATCH -n 1 -t 5 --switches=1
cd $SLURM_SUBMIT_DIR
names=(a b)
srun sh -c 'echo "$0" >names.txt' "${names[1]}"
"""


def test_a_script_for_slurm_runs_where_there_is_none(dragoman: Any) -> None:
    """It runs by its own first line, in the folder of its results, without the launcher that is not there."""
    (dragoman.folder / "job.sbatch").write_text(SCRIPT)
    done = dragoman("run", "--file", "job.sbatch", "--approve", "auto", "--sites", str(dragoman.sites), "--json")
    assert (done.code, done.document["state"], done.document["exit_code"]) == (0, "completed", 0), done.err
    assert dragoman.result(done.document, "names.txt") == "b\n"


def test_a_job_script_is_the_request_by_its_name(dragoman: Any) -> None:
    """One word that is a file here, with directives in it; of any other path it is asked what should be run."""
    (dragoman.folder / "job.sbatch").write_text(SCRIPT)
    (dragoman.folder / "plain.sh").write_text("#!/bin/sh\necho done\n")
    asked = dragoman("ask", "job.sbatch", "--sites", str(dragoman.sites), "--json")
    request = asked.document["request"]
    assert (request["name"], request["shapes"][0]["tasks"], request["walltime_s"]) == ("relax", 1, 300)
    assert "script" in request
    assert "job script job.sbatch" in asked.err
    plain = dragoman("ask", "./plain.sh", "--sites", str(dragoman.sites), "--json")
    assert "job script" not in plain.err
    assert "only a path" in plain.err + plain.out
