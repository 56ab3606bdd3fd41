"""From words to results on a real Slurm, as the account that submits there.

One request goes by the command line alone; the others are made by `desk.py` and run beside each other, and each test
looks at its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

REPOSITORY = Path(__file__).parents[3]
RULES = [{"name": "the test cluster", "sites": ["cluster"], "max_cost": 0}]
SITES = """
schema_version: 1
sites:
  - name: cluster
    scheduler: slurm
    work_root: {root}
    min_poll_interval_s: 0.5
    max_poll_interval_s: 1
    settle_window_s: 3
    charges: {{currency: none, per_core_hour: 0}}
"""
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


class Person:
    """Somebody with an account at the cluster and `dragoman`, in a folder of their own there."""

    def __init__(self, slurm: Slurm) -> None:
        self.slurm = slurm
        self.folder = slurm.work_dir / f"person-{uuid.uuid4().hex[:8]}"
        self.root = self.folder / "attempts"
        assert self.shell("mkdir", "-p", str(self.root)).returncode == 0
        for name in ("pi.py", "input.csv"):
            shutil.copy(REPOSITORY / "examples" / "pi" / name, self.folder)
        (self.folder / "in put;$(id).csv").write_text("inside\n")
        (self.folder / "sites.yaml").write_text(SITES.format(root=self.root))
        for path in self.folder.iterdir():
            path.chmod(0o755)
        self.environment = {
            **slurm.environment,
            "PYTHONPATH": str(REPOSITORY),
            "DRAGOMAN_DATA_DIR": str(self.folder / "data"),
            "DRAGOMAN_SITES_FILE": str(self.folder / "sites.yaml"),
            "DRAGOMAN_APPROVAL_RULES": json.dumps(RULES),
            "DRAGOMAN_WAIT_POLL_S": "0.2",
            "DRAGOMAN_FILE_LATENCY_S": "2",
            "DRAGOMAN_LEASE_S": "5",
            "LANGSMITH_TRACING": "false",
        }

        self.at_desk: subprocess.Popen[bytes] | None = None

    def words(self, *arguments: str) -> list[str]:
        return [*self.slurm.as_reader, sys.executable, "-m", "interfaces.cli.main", *arguments]

    def shell(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: TID251  # a person's shell blocks too
            [*self.slurm.as_user, *argv], cwd=self.slurm.work_dir, env=self.slurm.environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def __call__(self, *arguments: str, code: int | None = None) -> dict[str, Any]:
        done = subprocess.run(  # noqa: TID251
            self.words(*arguments, "--json"), cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.stdout, done.stderr
        assert code is None or done.returncode == code, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def desk(self) -> subprocess.Popen[bytes]:
        text = json.dumps(REQUESTS).replace("{root}", str(self.root))
        (self.folder / "requests.json").write_text(text)
        with (self.folder / "desk.log").open("wb") as log:
            return subprocess.Popen(
                [*self.slurm.as_reader, sys.executable, str(Path(__file__).with_name("desk.py")), str(self.folder)],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def shown(self, name: str) -> dict[str, Any]:
        path = self.folder / "documents" / f"{name}.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"state": "active", "timeline": []}
        return found

    def until(self, name: str, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while True:
            document = self.shown(name)
            if wanted(document):
                return document
            if time.monotonic() > end or not (self.at_desk is None or self.at_desk.poll() is None):
                said = [entry["words"] for entry in document["timeline"][-8:]]
                raise AssertionError(f"{name}: {document['state']}: {said} {(self.folder / 'desk.log').read_text()}")
            time.sleep(0.2)

    def ended(self, name: str, seconds: float = 60) -> dict[str, Any]:
        return self.until(name, lambda document: not str(document["state"]).startswith(("new", "active", "parked", "waiting")), seconds)

    def result(self, document: dict[str, Any], file: str) -> str:
        return (Path(document["results"]["dir"]) / file).read_text()


@pytest.fixture(scope="module")
def person(slurm_cluster: Slurm) -> Iterator[Person]:
    person = Person(slurm_cluster)
    desk = person.at_desk = person.desk()
    yield person
    (person.folder / "stop").touch()
    try:
        desk.wait(20)
    finally:
        desk.kill()
        desk.wait()
        person("db", "stop")
        person.shell("scancel", "-u", slurm_cluster.user)
        shutil.rmtree(person.folder, ignore_errors=True)


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


def test_each_task_of_an_array_brings_its_own(person: Person) -> None:
    document = person.ended("array")
    assert document["state"] == "completed", document["words"]
    names = {each["name"] for each in document["results"]["files"]}
    indices = (1, 3, 5, 8)
    assert names == {f"{name}.{i}" for name in ("part", "stdout.log", "stderr.log") for i in indices}
    assert person.result(document, "stdout.log.8") == "part 8\n"


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


def test_it_reaches_its_time_limit(person: Person) -> None:
    document = person.ended("late", seconds=150)
    assert (document["state"], document["job"]["state"]) == ("failed", "timed-out"), document["job"]
    assert "time limit" in document["words"]
