"""The lines around a body, run by every POSIX shell that is here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import EnvironmentVariable
from dragoman.shape import Shape
from providers.schedulers.job_script import (
    CLAIM_RC,
    DUPLICATE_RC,
    SECRET_RC,
    WORK_DIR_RC,
    body_changes,
    job_lines,
)

SHELLS = [
    shell
    for shell in (["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["ksh"], ["mksh"])
    if shutil.which(shell[0])
]


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    command: list[str] = request.param
    return command


def spec(root: Path, body: str, **options: object) -> JobSpec:
    control = root / "control"
    (control / "secrets").mkdir(parents=True, exist_ok=True)
    (control / "work").mkdir(exist_ok=True)
    fields = {
        "tag": "dgm-0123456789ab-a0",
        "shape": Shape(),
        "control_dir": str(control),
        "work_dir": str(control / "work"),
        "body": body,
    }
    return JobSpec.model_validate({**fields, **options})


def script(job: JobSpec) -> str:
    lines = job_lines(job, job_id="${JOB_ID:-}", restart="${RESTARTS:-0}", task="${TASK:-}")
    assert all("\n" not in line for line in lines)
    return "\n".join(["#!/bin/sh", *lines, ""])


def start(shell: list[str], job: JobSpec, **environment: str) -> subprocess.Popen[bytes]:
    path = Path(job.control_dir) / "script"
    if not path.exists():
        path.write_text(script(job), newline="")
    return subprocess.Popen(
        [*shell, str(path)], env={"PATH": os.defpath, "JOB_ID": "7", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(shell: list[str], job: JobSpec, **environment: str) -> tuple[int, str, str]:
    process = start(shell, job, **environment)
    out, err = process.communicate(timeout=30)
    return process.returncode, out.decode(), err.decode()


def record(job: JobSpec, task: str = "") -> dict[str, str]:
    path = Path(job.control_dir) / f"exit{task}"
    return {key: value for key, _, value in (line.partition(" ") for line in path.read_text().splitlines())}


def test_runs_the_body_and_records_its_end(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "pwd; echo $DRAGOMAN_TAG; exit 3")
    assert run(shell, job) == (3, f"{job.work_dir}\n{job.tag}\n", "")
    told = record(job)
    assert (told["rc"], told["signal"], told["job"], told["restart"]) == ("3", "", "7", "0")
    assert told["started"] <= told["ended"]
    assert (Path(job.control_dir) / "ended").exists()
    assert sorted(path.name for path in (Path(job.control_dir) / "run").iterdir()) == ["body", "owner", "starts"]


def test_a_second_job_does_not_run_it(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "echo ran")
    assert run(shell, job)[1] == "ran\n"
    rc, out, err = run(shell, job, JOB_ID="8")
    assert (rc, out) == (DUPLICATE_RC, "")
    assert "belongs to job:7" in err
    assert record(job)["job"] == "7"
    assert "duplicate 8 owner job:7" in (Path(job.control_dir) / "duplicates").read_text()


def test_racing_jobs_run_it_once(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "echo ran")
    processes = [start(shell, job, JOB_ID=str(number)) for number in range(12)]
    outcomes = [(process.communicate(timeout=30)[0], process.returncode) for process in processes]
    assert sorted(outcomes) == sorted([(b"", DUPLICATE_RC)] * 11 + [(b"ran\n", 0)])


def test_a_requeued_job_runs_again_and_its_last_end_counts(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "echo ran; exit $RC")
    assert run(shell, job, RC="9")[0] == 9
    assert run(shell, job, RC="0", RESTARTS="1")[:2] == (0, "ran\n")
    assert (record(job)["rc"], record(job)["restart"]) == ("0", "1")
    starts = (Path(job.control_dir) / "run/starts").read_text().splitlines()
    assert [line.split(" ")[1] for line in starts] == ["0", "1"]


def test_a_start_that_was_overtaken_records_no_end(shell: list[str], tmp_path: Path) -> None:
    """The node was thought lost, the job restarted elsewhere, and the first start still ends one day."""
    job = spec(tmp_path, '[ "$SLOW" = 1 ] && { echo up; read -r line < "$FIFO"; exit 5; }; exit 0')
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    slow = start(shell, job, SLOW="1", FIFO=str(fifo))
    assert slow.stdout is not None
    assert slow.stdout.readline() == b"up\n"
    assert run(shell, job, SLOW="0", RESTARTS="1")[0] == 0
    fifo.write_text("go\n")
    slow.communicate(timeout=20)
    assert slow.returncode == 5
    assert (record(job)["rc"], record(job)["restart"]) == ("0", "1")


def test_tasks_of_an_array_share_the_claim_and_have_their_own_ends(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "exit $TASK")
    assert [run(shell, job, TASK=str(task))[0] for task in (0, 1, 2)] == [0, 1, 2]
    assert [record(job, f".{task}")["rc"] for task in (0, 1, 2)] == ["0", "1", "2"]
    assert run(shell, job, JOB_ID="8", TASK="3")[0] == DUPLICATE_RC


@pytest.fixture
def _no_signal_ignored() -> Iterator[None]:
    """A shell cannot trap what was ignored when it began, as HUP is under nohup(1)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_no_signal_ignored")
@pytest.mark.parametrize("name", ["TERM", "USR1", "USR2", "HUP"])
def test_signals_reach_the_body(shell: list[str], tmp_path: Path, name: str) -> None:
    job = spec(tmp_path, f"sleep 20 & s=$!\ntrap 'kill $s; echo got; exit 44' {name}\necho up\nwait $s\necho no")
    process = start(shell, job)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.send_signal(getattr(signal, f"SIG{name}"))
    assert process.communicate(timeout=10)[0] == b"got\n"
    assert process.returncode == 44
    assert record(job)["rc"] == "44"


def test_a_signal_before_the_body_is_there_reaches_it(shell: list[str], tmp_path: Path) -> None:
    """A job that is cancelled while it starts would else run on until it is killed."""
    job = spec(tmp_path, "exec sleep 20\n")
    last = "trap 'dgm_forward USR2' USR2\n"
    text = script(job)
    assert text.count(last) == 1
    (Path(job.control_dir) / "script").write_text(text.replace(last, f"{last}kill -TERM $$\n"))
    process = start(shell, job)
    process.communicate(timeout=10)
    assert process.returncode == 143
    assert record(job)["signal"] == "15"


def test_a_body_ended_by_a_signal_is_recorded_as_such(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "kill -9 $$")
    assert run(shell, job)[0] == 137
    assert (record(job)["rc"], record(job)["signal"]) == ("137", "9")


def test_an_early_signal_does_not_cost_the_exit_code(shell: list[str], tmp_path: Path) -> None:
    """The body ignores the warning and ends by itself later."""
    job = spec(tmp_path, "trap '' USR1\necho up\nsleep 0.3\nexit 12")
    process = start(shell, job)
    assert process.stdout is not None
    process.stdout.readline()
    for _ in range(5):
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.02)
    process.communicate(timeout=10)
    assert process.returncode == 12


EVIL = 'it\'s $(touch x) `touch y` "q" \\ $HOME * ~ %s \\n !'


def test_values_arrive_as_they_are(shell: list[str], tmp_path: Path) -> None:
    lines = f"{EVIL}\nDRAGOMAN_BODY\n#$ -l evil\n#BSUB -q evil\r\n\ttab\n"
    job = spec(
        tmp_path,
        'printf "<%s>" "$ONE" "$TWO" "$NONE"',
        environment=(
            EnvironmentVariable(name="ONE", value=EVIL),
            EnvironmentVariable(name="TWO", value=lines),
            EnvironmentVariable(name="NONE", value=""),
        ),
    )
    assert run(shell, job)[1] == f"<{EVIL}><{lines}><>"
    assert sorted(path.name for path in Path(job.work_dir).iterdir()) == []


BODIES = [
    "DRAGOMAN_BODY\nEOF\n",
    "|first\n^second\n\n\n",
    "#$ -q evil\n#BSUB -P evil\n#OAR -l evil\n#PBS -A evil\n#SBATCH -A evil",
    "cat <<'E'\n" + EVIL + "\nE\n",
    "no newline at the end",
    "\n",
    "tab\there é ü 漢 \x01\x7f\n",
    "x" * 300_000,
]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_the_body_arrives_byte_for_byte(shell: list[str], tmp_path: Path, body: str) -> None:
    job = spec(tmp_path, body, body_interpreter="/bin/cat")
    assert run(shell, job)[1] == (body if body.endswith("\n") else body + "\n")


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_no_line_of_the_script_is_a_directive(tmp_path: Path, body: str) -> None:
    value = "\n#$ -q evil\n#SBATCH -A evil\n"
    job = spec(tmp_path, body, environment=(EnvironmentVariable(name="A", value=value),))
    assert not [line for line in script(job).split("\n")[1:] if line.startswith(("#$", "#BSUB", "#OAR", "#PBS", "#SB"))]


def test_cr_lf_goes_from_shell_bodies_and_stays_in_others(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "#!/bin/sh\r\necho one\r\nexit 0\r\n")
    assert run(shell, job) == (0, "one\n", "")
    assert len(body_changes(job)) == 1
    other = spec(tmp_path / "b", "one\r\ntwo\r\n|three\r\n", body_interpreter="/usr/bin/od -An -c")
    assert body_changes(other) == ()
    assert "\r\n" not in script(other)
    assert "".join(run(shell, other)[1].split()) == r"one\r\ntwo\r\n|three\r\n"


def test_the_interpreter_is_the_one_named_or_that_of_the_first_line(shell: list[str], tmp_path: Path) -> None:
    python = spec(tmp_path / "a", "#!/usr/bin/env python3\nimport sys; print(len(sys.argv))\n")
    assert run(shell, python)[:2] == (0, "1\n")
    named = spec(tmp_path / "b", "#!/bin/false\nprint(2)\n", body_interpreter="/usr/bin/env python3")
    assert run(shell, named)[:2] == (0, "2\n")


def test_secrets_reach_the_body_and_nothing_else(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, 'printf "<%s>" "$TOKEN"', environment=(EnvironmentVariable(name="TOKEN", secret="hub-token"),))
    secret = "s3'c\nret\n"
    (Path(job.control_dir) / "secrets/TOKEN").write_text(secret)
    assert secret.split("\n")[0] not in script(job)
    rc, out, err = run([*shell, "-x"], job)
    assert (rc, out) == (0, f"<{secret}>")
    assert "s3" not in err


def test_a_missing_secret_or_folder_runs_nothing(shell: list[str], tmp_path: Path) -> None:
    variables = (EnvironmentVariable(name="TOKEN", secret="hub-token"),)
    job = spec(tmp_path / "a", "echo ran", environment=variables)
    assert run(shell, job)[:2] == (SECRET_RC, "")
    assert record(job)["rc"] == str(SECRET_RC)
    job = spec(tmp_path / "b", "echo ran", work_dir=str(tmp_path / "nowhere"))
    assert run(shell, job)[:2] == (WORK_DIR_RC, "")
    assert record(job)["rc"] == str(WORK_DIR_RC)


def test_without_a_job_id_or_the_attempts_folder_nothing_runs(shell: list[str], tmp_path: Path) -> None:
    job = spec(tmp_path, "echo ran")
    assert run(shell, job, JOB_ID="")[:2] == (CLAIM_RC, "")
    path = tmp_path / "script"
    path.write_text(script(job))
    shutil.rmtree(job.control_dir)
    done = subprocess.Popen([*shell, str(path)], env={"PATH": os.defpath, "JOB_ID": "7"}, stderr=subprocess.PIPE)
    assert b"is not to be seen" in done.communicate(timeout=20)[1]
    assert done.returncode == CLAIM_RC
    assert not Path(job.control_dir).exists()


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"body": "a\0b"}, "body"),
        ({"body": "\ud800"}, "body"),
        ({"body_interpreter": "/bin/sh\n#$ -q x"}, "body_interpreter"),
        ({"body_interpreter": "/bin/sh 'x"}, "body_interpreter"),
        ({"body_interpreter": " "}, "body_interpreter"),
        ({"control_dir": "/a\n#$ -q x"}, "control_dir"),
        ({"work_dir": "/a\x1b[0m"}, "work_dir"),
        ({"environment": (EnvironmentVariable(name="A", value="\x1b]0;x\x07"),)}, "environment.A"),
        ({"environment": (EnvironmentVariable.model_construct(name="A;B", value="", secret=None),)}, "environment"),
    ],
)
def test_what_cannot_be_written_safely_is_refused(tmp_path: Path, options: dict[str, object], where: str) -> None:
    job = spec(tmp_path, "true").model_copy(update=options)
    with pytest.raises(BadRequest) as caught:
        script(job)
    assert caught.value.where == where
    assert caught.value.cure
