"""From words to results on a real Slurm, as the account that submits there.

One request goes by the command line alone; the others are made by `desk.py` and run beside each other, and each test
looks at its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Person, Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

NASTY = ["a b", "two  blanks", "it's", 'say "x"', "$(touch /tmp/dragoman-hurt)", "`id`", "; exit 9", "-n", "--", "*",
         "line\nbreak", "cr\r\nlf", "\\", "ü€", "#SBATCH --hold", "%j", "&", ""]  # fmt: skip
SHOW_WORDS = "import json, sys; json.dump([sys.argv[1:], open('in put;$(id).csv').read()], open('words.json', 'w'))"

MAIN = "4 tasks on one node for 5 minutes: python3 pi.py, needs input.csv"

REQUESTS: dict[str, Any] = {
    "failed": "1 task for 1 minute: sh -c 'echo oops >&2; exit 7'",
    "late": {"command": ["sleep", "300"], "shapes": [{"tasks": 1}], "walltime_s": 30},
    "hungry": {
        "command": ["python3", "-c", "import time; held = bytearray(300_000_000); time.sleep(60)"],
        "shapes": [{"tasks": 1, "memory": {"bytes": 50 * 2**20, "per": "node"}}],
        "walltime_s": 120,
    },
    "cancelled": {"command": ["sleep", "250"], "shapes": [{"tasks": 1}], "walltime_s": 300},
    "cancelled-array": {
        "command": ["sh", "-c", "echo early $SLURM_ARRAY_TASK_ID; sleep 250"],
        "array": {"ranges": [{"first": 9, "last": 12}], "at_once": 2},
        "shapes": [{"tasks": 1}],
        "walltime_s": 300,
    },
    "killed-there": {"command": ["sleep", "251"], "shapes": [{"tasks": 1}], "walltime_s": 300},
    "array": {
        "command": ["sh", "-c", "i=$SLURM_ARRAY_TASK_ID; echo part $i; echo $i >part.$i"],
        "array": {"ranges": [{"first": 1, "last": 5, "step": 2}, {"first": 8, "last": 8}], "at_once": 2},
        "shapes": [{"tasks": 1}],
        "walltime_s": 60,
        "outputs": [{"pattern": "part.*"}],
    },
    "environment": {
        "command": ["sh", "-c", 'printf "%s|%s|%s" "$PLAIN" "${#HF_TOKEN}" "$SLURM_JOB_ACCOUNT" >seen'],
        "environment": {"PLAIN": "a 'b' $(c)\nd", "HF_TOKEN": "hf_SECRET123"},
        "shapes": [{"tasks": 1}],
        "walltime_s": 60,
    },
    "words": {
        "command": ["python3", "-c", SHOW_WORDS, *NASTY],
        "shapes": [{"tasks": 1}],
        "walltime_s": 60,
        "inputs": [{"source": "in put;$(id).csv", "name": "in put;$(id).csv"}],
    },
    "script": "#!/bin/bash\r\n#SBATCH --ntasks=1 --time=2\r\n#SBATCH --job-name='odd name'\r\necho $0 >shell\r\n",
    "chosen": {
        "command": ["sh", "-c", 'echo "$SLURM_JOB_PARTITION $SLURM_JOB_ACCOUNT $SLURM_JOB_QOS $SLURM_JOB_GPUS" >seen'],
        "shapes": [{"nodes": 1, "tasks": 1, "gpus": {"count": 1, "per": "node", "model": "a100"}}],
        "walltime_s": 7200,
        "qos": "normal",
    },
    "lost-node": {
        "command": ["sh", "-c", "if [ -e {root}/once ]; then echo again >out; else touch {root}/once; sleep 250; fi"],
        "shapes": [{"tasks": 1}],
        "queue": "gpu",
        "walltime_s": 300,
    },
    "held": {
        "command": ["true"],
        "shapes": [{"tasks": 1}],
        "walltime_s": 60,
        "native_options": ["--begin=now+1hour"],
    },
    "forbidden": {"command": ["true"], "shapes": [{"tasks": 1}], "queue": "closed", "walltime_s": 60},
    "too-long": {"command": ["true"], "shapes": [{"tasks": 1}], "queue": "small", "walltime_s": 3600},
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def requests_made(person: Person) -> None:
    person.sit_down(REQUESTS)


def job_of(person: Person, name: str) -> str:
    """Its id, once it has one."""
    return str(person.until(name, lambda document: bool(document.get("job")))["submission"]["job_id"])


def test_the_main_job_by_the_command_line(person: Person) -> None:
    person.until("failed", lambda document: document["state"] != "active")  # the database is up
    document = person("run", MAIN, "--approve", "auto", code=0)
    (proposal,) = document["proposals"]
    assert (proposal["verdict"], proposal["queue"], proposal["scheduler"]) == ("READY", "debug", "slurm")
    assert (document["state"], document["exit_code"]) == ("completed", 0), document["words"]
    assert person.result(document, "result.csv").splitlines()[1].split(",")[0] == "1000000"
    assert document["prediction"]["happened"]["run_s"] is not None


def test_what_a_partition_does_not_take_is_not_submitted(person: Person) -> None:
    asked = person.until("forbidden", lambda document: document["state"] == "waiting-question")
    (forbidden,) = asked["proposals"]
    assert (forbidden["verdict"], forbidden["reasons"]) == ("INCOMPATIBLE", ["queue closed: the partition is DOWN"])
    asked = person.until("too-long", lambda document: document["state"] == "waiting-question")
    (long,) = asked["proposals"]
    assert long["verdict"] == "INCOMPATIBLE"
    assert "at most 5 min, asked 1 h" in long["reasons"][0]
    assert asked["submission"] is None


async def test_the_nodes_of_a_running_job_are_lost_and_it_is_submitted_again(
    person: Person, slurm_cluster: Slurm
) -> None:
    running = person.until("lost-node", lambda document: (document["job"] or {}).get("state") == "running")
    (node,) = running["job"]["nodes"]
    await slurm_cluster.node_fail(node)
    try:
        document = person.ended("lost-node")
    finally:
        await slurm_cluster.node_restore(node)
    assert (document["state"], document["attempts"]) == ("completed", 2), document["words"]
    assert person.result(document, "out") == "again\n"
    said = [entry["words"] for entry in document["timeline"]]
    assert any("node-failed" in words for words in said)
    assert "cluster lost the job: submitting it again" in said


@pytest.fixture
def full_partition(person: Person) -> Iterator[str]:
    """The id of a job that has partition `small` to itself for three minutes; nothing else runs or waits there."""

    def there() -> str:
        return person.shell("squeue", "-h", "-p", "small", "-o", "%A %u %T %l %j").stdout

    end = time.monotonic() + 30
    while left := there():
        assert time.monotonic() < end, f"jobs of others in the partition: {left}"
        time.sleep(0.2)
    job = person.shell(
        "sbatch", "--parsable", "-p", "small", "--exclusive", "--time=3", "--wrap=sleep 170"
    ).stdout.strip()
    while f"{job} {person.slurm.user} RUNNING" not in there():
        assert time.monotonic() < end, there()
        time.sleep(0.2)
    yield job
    person.shell("scancel", "-u", person.slurm.user, "-p", "small")


def test_a_busy_partition_is_estimated_and_a_limit_that_changed_is_noticed(person: Person, full_partition: str) -> None:
    request = {"command": ["true"], "shapes": [{"tasks": 2}], "queue": "small", "walltime_s": 240}
    # A process of its own: what the desk has seen of the partition may be ten seconds old.
    document = person("run", json.dumps(request), "--approve", "auto", "--no-wait", code=6)
    (proposal,) = document["proposals"]
    assert proposal["verdict"] == "BUSY"
    # Slurm counts on each job running to its limit, and tells whole seconds.
    ends = person.shell("squeue", "-h", "-j", full_partition, "-o", "%e").stdout.strip()
    expected = datetime.fromisoformat(ends).astimezone() - timedelta(seconds=proposal["expected_start_s"])
    asked, answered = (
        datetime.fromisoformat(entry["at"]) + timedelta(seconds=margin)
        for entry, margin in zip(document["timeline"][:2], (-1, 1), strict=True)
    )
    assert asked <= expected <= answered, person.shell("squeue", "-p", "small").stdout
    assert "the scheduler expects to start it in" in proposal["reasons"][0]
    limit = ["scontrol", "update", "PartitionName=small"]
    subprocess.check_call([*limit, "MaxTime=1"], env=person.slurm.environment)
    try:
        end = time.monotonic() + 120
        while document["state"] != "waiting-question":
            assert time.monotonic() < end, [entry["words"] for entry in document["timeline"]]
            document = person("show", document["thread_id"])
    finally:
        subprocess.check_call([*limit, "MaxTime=5"], env=person.slurm.environment)
    assert document["waiting_for"]["asked"]["reason"] == "PartitionTimeLimit"
    assert (document["job"]["state"], document["job"]["reason_class"]) == ("pending", "never")
    person("cancel", document["thread_id"])


def test_it_fails_with_its_exit_code(person: Person) -> None:
    document = person.ended("failed")
    assert (document["state"], document["job"]["state"], document["exit_code"]) == ("failed", "failed", 7)
    assert person.result(document, "stderr.log") == "oops\n"


def test_it_holds_more_memory_than_it_was_given(person: Person) -> None:
    document = person.ended("hungry")
    assert document["job"]["state"] == "out-of-memory", json.dumps(document["job"])
    assert document["job"]["max_rss_bytes"] > 50 * 2**20
    assert "out of memory" in document["words"]


def test_it_is_cancelled_here_and_at_the_site(person: Person) -> None:
    job_of(person, "cancelled")
    document = person("cancel", person.shown("cancelled")["thread_id"], code=0)
    assert (document["state"], document["job"]["state"]) == ("cancelled", "cancelled")
    person.shell("scancel", job_of(person, "killed-there"))
    document = person.ended("killed-there")
    assert (document["state"], document["job"]["state"]) == ("cancelled", "cancelled")


def test_an_array_is_read_while_it_runs_and_is_cancelled_with_all_its_tasks(person: Person) -> None:
    job = job_of(person, "cancelled-array")
    thread = person.shown("cancelled-array")["thread_id"]
    early = {
        f"{name}.log.{i}": f"early {i}" if name == "stdout" else "" for i in (9, 10) for name in ("stdout", "stderr")
    }
    end = time.monotonic() + 60
    while (told := person("logs", thread, code=0)["logs"]) != early:
        assert time.monotonic() < end, told
    document = person("cancel", thread, code=0)
    assert (document["state"], document["job"]["state"]) == ("cancelled", "cancelled")
    left = person.shell("squeue", "-h", "-j", job, "-t", "pending,running", "-o", "%i %T").stdout
    assert left == ""


def test_the_doctor_finds_a_job_with_our_tag_that_no_ledger_knows(person: Person) -> None:
    ours = job_of(person, "late")
    name = "lost.dgm-0123456789ab-a1"
    words = ["sbatch", "--parsable", "--hold", f"--job-name={name}", "--comment=dgm-0123456789ab-a1", "--wrap=true"]
    orphan = person.shell(*words).stdout.strip()
    plain = person.shell("sbatch", "--parsable", "--hold", "--job-name=own", "--wrap=true").stdout.strip()
    found = [each for each in person("doctor")["findings"] if each["kind"] == "orphan-job"]
    person.shell("scancel", orphan, plain)
    assert [each["subject"] for each in found] == [f"cluster:{orphan}"], (ours, plain)
    assert "dgm-0123456789ab-a1" in found[0]["words"]


def test_each_task_of_an_array_brings_its_own(person: Person) -> None:
    document = person.ended("array")
    assert document["state"] == "completed", document["words"]
    names = {each["name"] for each in document["results"]["files"]}
    indices = (1, 3, 5, 8)
    assert names == {f"{name}.{i}" for name in ("part", "stdout.log", "stderr.log") for i in indices}
    assert person.result(document, "stdout.log.8") == "part 8\n"
    told = person("logs", document["thread_id"], code=0)
    assert list(told["logs"])[:3] == ["stdout.log.1", "stderr.log.1", "stdout.log.3"]
    assert (told["logs"]["stdout.log.8"], told["logs"]["stderr.log.8"]) == ("part 8", "")


def test_environment_and_secrets_arrive(person: Person) -> None:
    document = person.ended("environment")
    assert person.result(document, "seen") == "a 'b' $(c)\nd|12|proj1"
    assert "hf_SECRET123" not in json.dumps(document)
    allowed = (person.folder / "data" / "secrets", person.folder / "requests.json")
    holding = [path for path in person.folder.rglob("*") if path.is_file() and b"hf_SECRET123" in path.read_bytes()]
    assert [path for path in holding if not any(path.is_relative_to(place) for place in allowed)] == []
    shown = person.shell("scontrol", "show", "job", job_of(person, "environment")).stdout
    script = person.shell("sacct", "-B", "-j", job_of(person, "environment")).stdout
    assert "hf_SECRET123" not in shown + script


def test_words_arrive_as_they_were(person: Person) -> None:
    document = person.ended("words")
    assert document["state"] == "completed", document["words"]
    arguments, content = json.loads(person.result(document, "words.json"))
    assert (arguments, content) == (NASTY, "inside\n")
    assert not Path("/tmp/dragoman-hurt").exists()


def test_a_script_from_windows_runs(person: Person) -> None:
    document = person.ended("script")
    assert document["state"] == "completed", document["words"]
    assert person.result(document, "shell").endswith("/run/body\n")


def test_partition_and_account_are_chosen(person: Person) -> None:
    document = person.ended("chosen")
    assert document["proposals"][0]["queue"] == "gpu"
    assert person.result(document, "seen").split()[:3] == ["gpu", "proj1", "normal"]


def test_a_job_that_somebody_holds_is_a_question(person: Person) -> None:
    assert person.shell("scontrol", "hold", job_of(person, "held")).returncode == 0
    document = person.until("held", lambda document: document["state"] == "waiting-question")
    asked = document["waiting_for"]["asked"]
    assert (document["job"]["state"], asked["state"]) == ("held", "held")
    assert "will not start by itself" in asked["question"]
    person("answer", document["thread_id"], "cancel")
    assert person.ended("held")["state"] == "cancelled"


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_it_submits_it_runs_once(another: Person, when: str) -> None:
    """`kill -9` of everything of this person while sbatch is at work: whoever comes next settles it."""
    folder = another.folder / f"bin-{when}"
    real = "/usr/bin/sbatch" if Path("/usr/bin/sbatch").exists() else str(shutil.which("sbatch"))
    lines = {"before": ["sleep 2", f'exec {real} "$@"'], "after": [f'{real} "$@" >out.txt', "cat out.txt", "sleep 2"]}
    folder.mkdir()
    folder.chmod(0o777)
    text = "\n".join(["#!/bin/sh", f"cd {folder} && touch begun && cd - >/dev/null", *lines[when], ""])
    (folder / "sbatch").write_text(text.replace("out.txt", str(folder / "out.txt")))
    (folder / "sbatch").chmod(0o755)
    request = {"command": ["sh", "-c", f"echo ran >>{folder}/ran"], "shapes": [{"tasks": 1}], "walltime_s": 60}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            another.words("run", json.dumps(request), "--approve", "auto"), cwd=another.folder,
            env={**another.environment, "PATH": f"{folder}:{another.environment['PATH']}"}, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
    end = time.monotonic() + 90
    while not (folder / "begun").exists():
        assert time.monotonic() < end, (folder / "said").read_text()
        time.sleep(0.05)
    if when == "after":
        time.sleep(0.8)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    thread = (folder / "said").read_text().partition("thread ")[2].split()[0]
    end = time.monotonic() + 60
    # Any next command catches up, once the lease of the dead one has run out.
    while (document := another("show", thread))["state"] != "completed":
        assert time.monotonic() < end, [entry["words"] for entry in document["timeline"]]
    assert (folder / "ran").read_text() == "ran\n"
    assert document["attempts"] == 1


def test_it_reaches_its_time_limit(person: Person) -> None:
    document = person.ended("late", seconds=150)
    assert (document["state"], document["job"]["state"]) == ("failed", "timed-out"), document["job"]
    assert "time limit" in document["words"]
