"""A real Slurm of the tests' own, from `tests/slurm/cluster.sh`, with faults to inject."""

from __future__ import annotations

import dataclasses
import fcntl
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread
import pytest

from dragoman.attempt import Attempt, AttemptRecord, attempt_tag
from dragoman.command import Command, Completed
from dragoman.errors import TransportError
from dragoman.job import JobSpec, JobStatus
from dragoman.model import now
from dragoman.site import Site
from providers.schedulers.client import SchedulerClient
from providers.schedulers.slurm import SlurmDialect
from providers.transports.local import LocalTransport

CLUSTER = Path(__file__).parents[2] / "slurm" / "cluster.sh"
SKIP = 77
LOCK_WAIT_S = 600


def _cluster(*words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one call of the script."""
    process = subprocess.Popen(
        [str(CLUSTER), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long fault campaigns run when they are asked for by name."""
    if "campaign" not in (config.option.markexpr or ""):
        asked = pytest.mark.skip(reason="a long fault campaign: make slurm-faults")
        for item in items:
            if item.get_closest_marker("campaign") and Path(item.path).is_relative_to(Path(__file__).parent):
                item.add_marker(asked)


class Slurm:
    """One running cluster: who submits, where, and what can go wrong."""

    def __init__(self, exports: Mapping[str, str]) -> None:
        self.user = exports["DRAGOMAN_SLURM_USER"]
        self.work_dir = Path(exports["DRAGOMAN_SLURM_WORK_DIR"])
        self.folder = Path(exports["DRAGOMAN_SLURM_DIR"])
        self.environment = {"PATH": exports["PATH"], "SLURM_CONF": exports["SLURM_CONF"], "LANG": "C.UTF-8"}

    @property
    def as_user(self) -> list[str]:
        """Words in front of a command that make it run as the account that submits."""
        return [str(self.folder / "bin" / "as-user")]

    async def run(self, *argv: str, as_user: bool = True) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of a command in the work folder."""
        words = [*self.as_user, *argv] if as_user else list(argv)
        done = await anyio.run_process(words, check=False, cwd=self.work_dir, env=self.environment)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    async def fault(self, name: str, *words: str) -> None:
        await self._script("fault", name, *words)

    @property
    def as_reader(self) -> list[str]:
        """The same for our own programs, which that account may otherwise not be able to read."""
        return [str(self.folder / "bin" / "as-reader")]

    async def variant(
        self,
        enforce: Literal["NO", "ANY", "ALL"] = "NO",
        min_job_age_s: int = 300,
        message_timeout_s: int = 10,
    ) -> None:
        """Set EnforcePartLimits, MinJobAge and MessageTimeout of the running cluster."""
        await self._script(
            "up",
            SLURM_TEST_ENFORCE=enforce,
            SLURM_TEST_MIN_JOB_AGE=str(min_job_age_s),
            SLURM_TEST_MESSAGE_TIMEOUT=str(message_timeout_s),
        )

    async def ctld_stop(self) -> None:
        await self.fault("ctld-stop")

    async def ctld_start(self) -> None:
        await self.fault("ctld-start")

    async def ctld_pause(self) -> None:
        await self.fault("ctld-pause")

    async def ctld_resume(self) -> None:
        await self.fault("ctld-resume")

    async def dbd_stop(self) -> None:
        await self.fault("dbd-stop")

    async def dbd_start(self) -> None:
        await self.fault("dbd-start")

    async def node_fail(self, node: str) -> None:
        await self.fault("node-fail", node)

    async def node_restore(self, node: str) -> None:
        await self.fault("node-restore", node)

    async def submit_filter(self, name: str, times: int | None = None) -> None:
        """`banner`, `lost-answer`, `lost-request`, `notice`, `strip-tags`, `refuse` or `normal`."""
        await self.fault(f"submit-{name}", *([] if times is None else [str(times)]))

    async def repair(self) -> None:
        """Undo every fault and cancel every job, whatever a test left behind."""
        for name in ("ctld-start", "ctld-resume", "dbd-start", "submit-normal"):
            await self.fault(name)
        _, down, _ = await self.run("sinfo", "-h", "-N", "-t", "down,drain", "-o", "%N", as_user=False)
        for node in sorted(set(down.split())):
            await self.node_restore(node)
        await self.run("scancel", "-u", self.user, as_user=False)
        await self.run("scontrol", "update", "PartitionName=small", "MaxTime=5", as_user=False)

    async def _script(self, *words: str, **variables: str) -> None:
        assignments = [f"{name}={value}" for name, value in variables.items()]
        asked = [f"DRAGOMAN_SLURM_DIR={self.folder}", "DRAGOMAN_TEST_SLURM=1", *assignments]
        done = await anyio.run_process(["env", *asked, str(CLUSTER), *words], check=False)
        assert done.returncode == 0, f"cluster.sh {' '.join(words)}: {done.stderr.decode()}"


class AsUser(LocalTransport):
    """Commands and files as the account that submits, from a process of whoever runs the tests."""

    def __init__(self, slurm: Slurm, extra: Mapping[str, str] | None = None) -> None:
        super().__init__({**slurm.environment, **(extra or {})})
        self._words = tuple(slurm.as_user)

    async def run(self, command: Command) -> Completed:
        done = await super().run(dataclasses.replace(command, argv=(*self._words, *command.argv)))
        return dataclasses.replace(done, argv=command.argv)

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        script = 'umask 077 && mkdir -p "${1%/*}" && cat >"$1" && chmod "$2" "$1"'
        done = await self.run(Command(("/bin/sh", "-c", script, "sh", path, f"{mode:o}"), stdin=data))
        assert done.rc == 0, done.err


class Place:
    """A work root of a test's own on the cluster, with clients of it and jobs that count their own runs."""

    def __init__(self, slurm: Slurm, name: str) -> None:
        self.slurm = slurm
        self.root = slurm.work_dir / name
        self.ran = self.root / "ran"
        self.prefix = name

    def client(
        self,
        *,
        window_s: float = 2.0,
        path: str | None = None,
        grace_s: float = 300.0,
        extra: Mapping[str, str] | None = None,
    ) -> SchedulerClient:
        """A client of the cluster; `path` is searched for programs first, `extra` are variables of its environment."""
        site = Site(name="cluster", scheduler="slurm", work_root=str(self.root), settle_window_s=window_s)
        first = {"PATH": f"{path}:{self.slurm.environment['PATH']}"} if path else {}
        return SchedulerClient(SlurmDialect(), AsUser(self.slurm, {**first, **(extra or {})}), site, grace_s=grace_s)

    def attempt(self, number: int = 0, body: str = "", **fields: object) -> Attempt:
        tag = attempt_tag(self.prefix, "test", number)
        control = f"{self.root}/{tag}"
        spec = JobSpec.model_validate(
            {
                "tag": tag,
                "shape": {"tasks": 1},
                "walltime_s": 120,
                "control_dir": control,
                "work_dir": f"{control}/work",
                "body": f"echo {number} >>'{self.ran}'\n{body}",
                **fields,
            }
        )
        return Attempt(
            tag=tag, thread_id=self.prefix, step="test", number=number, site="cluster", scheduler="slurm", spec=spec,
            intended_at=now(),
        )  # fmt: skip

    async def prepared(self, client: SchedulerClient, attempt: Attempt) -> Attempt:
        await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
        return attempt

    async def settled(self, client: SchedulerClient, attempt: Attempt, *, seconds: float = 30) -> AttemptRecord:
        """Submit, and ask again while it is not settled."""
        with anyio.fail_after(seconds):
            while True:
                try:
                    return await client.submit(attempt)
                except TransportError:
                    await anyio.sleep(0.2)

    async def ended(self, client: SchedulerClient, *records: AttemptRecord, seconds: float = 40) -> list[JobStatus]:
        """The ends of these jobs, asked for in one question each time."""
        refs = [record.job for record in records if record.job is not None]
        assert len(refs) == len(records)
        with anyio.fail_after(seconds):
            while True:
                jobs = (await client.status(refs)).jobs
                found = [jobs.get(ref.job_id) for ref in refs]
                ends = [status for status in found if status is not None and status.state.final]
                if len(ends) == len(refs):
                    return ends
                await anyio.sleep(0.3)

    def runs(self) -> list[str]:
        """The number of each attempt whose body ran, once for each time that it did."""
        return self.ran.read_text().split() if self.ran.exists() else []

    async def jobs(self) -> list[str]:
        """Ids of all jobs that the controller took here within MinJobAge, whatever became of them."""
        rc, out, err = await self.slurm.run("squeue", "-h", "--states=all", "-o", "%i|%Z")
        assert rc == 0, err
        return [line.partition("|")[0] for line in out.splitlines() if f"/{self.prefix}/" in line]


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

        self.desk: subprocess.Popen[bytes] | None = None

    def words(self, *arguments: str) -> list[str]:
        return [*self.slurm.as_reader, sys.executable, "-m", "interfaces.cli.main", *arguments]

    def shell(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: TID251  # a person's shell blocks too
            [*self.slurm.as_user, *argv], cwd=self.slurm.work_dir, env=self.slurm.environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def __call__(self, *arguments: str, code: int | None = None) -> dict[str, Any]:
        done = subprocess.run(  # noqa: TID251  # a test may block
            self.words(*arguments, "--json"), cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.stdout, done.stderr
        assert code is None or done.returncode == code, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def sit_down(self, requests: Mapping[str, Any]) -> None:
        """Start a desk (`desk.py`) that makes these requests."""
        text = json.dumps(requests).replace("{root}", str(self.root))
        (self.folder / "requests.json").write_text(text)
        with (self.folder / "desk.log").open("wb") as log:
            self.desk = subprocess.Popen(
                [*self.slurm.as_reader, sys.executable, str(Path(__file__).with_name("desk.py")), str(self.folder)],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def shown(self, name: str) -> dict[str, Any]:
        path = self.folder / "documents" / f"{name}.json"
        found: dict[str, Any] = (
            json.loads(path.read_text()) if path.exists() else {"state": "active", "timeline": [], "job": None}
        )
        return found

    def until(self, name: str, wanted: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while True:
            document = self.shown(name)
            if wanted(document):
                return document
            if time.monotonic() > end or (self.desk is not None and self.desk.poll() is not None):
                said = [entry["words"] for entry in document["timeline"][-8:]]
                raise AssertionError(f"{name}: {document['state']}: {said} {(self.folder / 'desk.log').read_text()}")
            time.sleep(0.2)

    def ended(self, name: str, seconds: float = 60) -> dict[str, Any]:
        return self.until(
            name,
            lambda document: not str(document["state"]).startswith(("new", "active", "parked", "waiting")),
            seconds,
        )

    def result(self, document: dict[str, Any], file: str) -> str:
        return (Path(document["results"]["dir"]) / file).read_text()

    def leave(self) -> None:
        """End whatever runs here, and remove the folder."""
        if self.desk is not None:
            (self.folder / "stop").touch()
            with suppress(subprocess.TimeoutExpired):
                self.desk.wait(30)
            with suppress(ProcessLookupError):
                os.killpg(self.desk.pid, signal.SIGKILL)
            self.desk.wait()
        self("db", "stop")
        # Others may be at work here too.
        for line in self.shell("squeue", "-h", "--me", "-o", "%A %Z").stdout.splitlines():
            job, _, where = line.partition(" ")
            if Path(where).is_relative_to(self.folder):
                self.shell("scancel", job)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def person(slurm_cluster: Slurm) -> Iterator[Person]:
    """Somebody at the cluster, for the tests of one file."""
    person = Person(slurm_cluster)
    yield person
    person.leave()


@pytest.fixture(scope="module")
def another(slurm_cluster: Slurm) -> Iterator[Person]:
    """Somebody else there, who has no desk."""
    person = Person(slurm_cluster)
    yield person
    person.leave()


def _exports() -> dict[str, str]:
    rc, out, err = _cluster("env")
    assert rc == 0, err
    words = shlex.split(out)
    return dict(word.split("=", 1) for before, word in itertools.pairwise(words) if before == "export")


@pytest.fixture(scope="session")
def slurm_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """The cluster of this run: started if it was not up, and then ended again."""
    was_up = _cluster("status")[0] == 0
    rc, _, err = _cluster("up")
    if rc == SKIP:
        pytest.skip(err.strip())
    assert rc == 0, err
    slurm = Slurm(_exports())
    with (slurm.folder / ".tests-lock").open("w") as lock:
        end = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    pytest.skip(
                        f"other tests hold {slurm.folder}; to run beside them set DRAGOMAN_SLURM_DIR to another"
                    )
                time.sleep(1)
        # They may have ended the cluster while we waited.
        rc, _, err = _cluster("up")
        assert rc == 0, err
        yield Slurm(_exports())
        if not was_up:
            rc, _, err = _cluster("down")
            assert rc == 0, err


@pytest.fixture
async def place(slurm: Slurm) -> AsyncIterator[Place]:
    """A fresh work root."""
    made = Place(slurm, f"t{uuid.uuid4().hex[:10]}")
    assert (await slurm.run("mkdir", str(made.root)))[0] == 0
    yield made
    await anyio.to_thread.run_sync(shutil.rmtree, made.root, True)


@pytest.fixture
async def slurm(slurm_cluster: Slurm) -> AsyncIterator[Slurm]:
    """The cluster, whole again after each test."""
    yield slurm_cluster
    await slurm_cluster.repair()
