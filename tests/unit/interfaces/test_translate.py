"""`dragoman translate`: what goes where, what is refused, and what stays as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from interfaces.cli.main import app

SCRIPT = """\
#!/bin/bash
#SBATCH -J lammps
#SBATCH -N 2 --ntasks-per-node=8
#SBATCH -t 2:00:00 --nice=1
cd $SLURM_SUBMIT_DIR
srun -n 16 ./lmp
"""
PBS = """\
#!/bin/bash
#PBS -N lammps
#PBS -S /bin/bash
#PBS -l select=2:ncpus=8:mpiprocs=8
#PBS -l place=scatter
#PBS -l walltime=02:00:00
# not translated: line 4: --nice=1: PBS has no known equivalent of this option of Slurm (look for the site's own word)
cd $PBS_O_WORKDIR
mpiexec -n 16 ./lmp
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sbatch").write_text(SCRIPT)
    return tmp_path


def translate(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["translate", *arguments], input=stdin)


def test_the_script_is_on_stdout_and_the_rest_on_stderr(here: Path) -> None:
    done = translate("job.sbatch", "--to", "pbs")
    assert (done.exit_code, done.stdout) == (0, PBS)
    assert "-cd $SLURM_SUBMIT_DIR\n-srun -n 16 ./lmp\n+cd $PBS_O_WORKDIR\n+mpiexec -n 16 ./lmp\n" in done.stderr
    assert "line 5: Slurm's SLURM_SUBMIT_DIR is PBS_O_WORKDIR: PBS's own variable\n" in done.stderr
    assert "line 6: srun is mpiexec at PBS\n" in done.stderr
    assert "not translated: line 4: --nice=1: " in done.stderr


def test_the_documented_example(here: Path) -> None:
    blocks = re.findall(
        r"```\w+\n(.*?)```", (Path(__file__).parents[3] / "docs" / "translate.md").read_text(), re.DOTALL
    )
    (here / "job.sbatch").write_text(blocks[0])
    done = translate("job.sbatch", "--to", "pbs")
    assert done.stdout == blocks[1]
    assert done.stderr.endswith(blocks[2])


def test_stdin_and_json(here: Path) -> None:
    done = translate("-", "--to", "pbs", "--json", stdin=SCRIPT.encode())
    made = json.loads(done.stdout)
    assert done.exit_code == 0
    assert made["script"] == PBS
    assert [(each["kind"], each["line"], each["words"]) for each in made["report"] if "line" in each] == [
        ("lost", 4, "--nice=1")
    ]
    assert made["diff"].startswith("--- stdin\n+++ stdin (PBS)\n@@ ")
    assert made["request"]["walltime_s"] == 7200
    assert made["request"]["shapes"] == [{"nodes": 2, "tasks_per_node": 8}]


def test_a_file_is_written_whole_and_none_is_replaced_unasked(here: Path) -> None:
    assert translate("job.sbatch", "--to", "pbs", "-o", "job.pbs").exit_code == 0
    assert (here / "job.pbs").read_text() == PBS
    again = translate("job.sbatch", "--to", "flux", "-o", "job.pbs")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "job.pbs is there already (choose another name, or add --force)" in again.stderr
    assert (here / "job.pbs").read_text() == PBS
    assert translate("job.sbatch", "--to", "flux", "-o", "job.pbs", "--force").exit_code == 0
    assert (here / "job.pbs").read_text().startswith("#!/bin/bash\n#flux: ")
    own = translate("job.sbatch", "--to", "flux", "-o", "job.sbatch", "--force")
    assert own.exit_code == 2
    assert (here / "job.sbatch").read_text() == SCRIPT
    assert translate("job.sbatch", "--to", "pbs", "-o", "no/such/folder/x").exit_code == 2
    assert sorted(path.name for path in here.iterdir()) == ["job.pbs", "job.sbatch"]


def test_kubernetes_gets_a_job_that_holds_the_script(here: Path) -> None:
    (here / "one.sbatch").write_text("#!/bin/bash\n#SBATCH -J a_b -c 2 --mem=4G -t 10\necho 'a: b' # c\n\n\ttab\n")
    done = translate("one.sbatch", "--to", "k8s")
    job = yaml.safe_load(done.stdout)
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert (job["kind"], job["metadata"]["name"]) == ("Job", "a-b")
    assert (container["command"], container["args"]) == (["/bin/bash", "-c"], ["echo 'a: b' # c\n\n\ttab\n"])
    assert container["resources"]["limits"] == {"cpu": "2", "memory": "4Gi"}
    assert job["spec"]["template"]["spec"]["activeDeadlineSeconds"] == 600
    assert "volumes" not in job["spec"]["template"]["spec"]
    assert "&id" not in done.stdout


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the script is empty"),
        (b"\n \n", "the script is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "this is no job script"),
        (b"#!/bin/sh\n#SBATCH -n 1\n\x00\n", "line 3 holds the control character"),
        ("#!/bin/sh\n#SBATCH -n 1\n".encode("utf-16"), "UTF-16"),
        (b"#SBATCH -n 1\n" + b"x" * 10_000_000, "more than 4 MB"),
        (b"#!/bin/sh\n./app\n", "say whose it is with --from"),
        (b"#!/bin/sh\n#SBATCH -n\n./app\n", "line 2: -n has no value (give one or delete the line)"),
        (b"#!/bin/sh\n#SBATCH -n 1\n#SBATCH -t x --mem=q\n./app\n", "line 3: --mem: "),
        (b"#!/bin/sh\n#PBS -l select=x\n./app\n", "line 2: -l select 'x' is no resource of a chunk"),
    ],
)
def test_what_is_no_script_is_refused_with_the_cure(here: Path, data: bytes, told: str) -> None:
    (here / "x").write_bytes(data)
    done = translate("x", "--to", "lsf", "-o", "y")
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.startswith("error: x: ")
    assert not (here / "y").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing", "--to", "pbs"], "nothing: cannot be read: No such file or directory (name a readable file"),
        (["job.sbatch", "--to", "nosuch"], "there is no dialect 'nosuch' (there are cobalt, flux, "),
        (["job.sbatch", "--to", "pbs", "--from", "kubernetes"], "kubernetes has no job scripts"),
        (["job.sbatch", "--to", "cobalt"], "scripts of cobalt are read only"),
    ],
)
def test_wrong_arguments(here: Path, arguments: list[str], told: str) -> None:
    done = translate(*arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_bytes_that_are_no_utf8_are_kept(here: Path) -> None:
    body = b"echo 'caf\xe9 \xff' $SLURM_JOB_ID\n"
    (here / "x").write_bytes(b"#!/bin/bash\n#SBATCH -n 1\n" + body)
    done = translate("x", "--to", "lsf")
    assert done.stdout_bytes.endswith(body.replace(b"SLURM_JOB_ID", b"LSB_JOBID"))
    assert "the script is no UTF-8: its bytes are kept as they are" in done.stderr
    assert translate("x", "--to", "lsf", "-o", "y").exit_code == 0
    assert (here / "y").read_bytes() == done.stdout_bytes


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_scripts_from_windows_are_taken_as_they_were_meant(here: Path, end: str) -> None:
    (here / "x").write_bytes(b"\xef\xbb\xbf" + SCRIPT.replace("\n", end).encode())
    done = translate("x", "--to", "pbs")
    assert done.stdout_bytes == PBS.encode()
    assert "carriage returns" in done.stderr


def test_a_first_line_is_added_where_there_is_none(here: Path) -> None:
    (here / "x").write_text("\n#SBATCH -n 1\n./app\n")
    done = translate("x", "--to", "slurm")
    assert done.stdout == "#!/bin/bash\n#SBATCH -n 1\n./app\n"
    assert "/bin/bash is written" in done.stderr
    (here / "x").write_text("\n    #!/bin/zsh\n#SBATCH -n 1\n./app\n")
    assert translate("x", "--to", "slurm").stdout == "#!/bin/zsh\n#SBATCH -n 1\n./app\n"


def test_from_says_whose_script_it_is(here: Path) -> None:
    (here / "x").write_text("#!/bin/bash\n#SBATCH -n 4\n#PBS -l ncpus=8\n./app $PBS_JOBID\n")
    assert "#BSUB -n 4\n" in translate("x", "--to", "lsf").stdout
    other = translate("x", "--to", "lsf", "--from", "pbs")
    assert "#BSUB -n 8\n" in other.stdout
    assert other.stdout.endswith("./app $LSB_JOBID\n")
    (here / "plain").write_text("#!/bin/bash\n./app $SLURM_JOB_ID\n")
    assert translate("plain", "--to", "lsf", "--from", "slurm").stdout.endswith("./app $LSB_JOBID\n")
