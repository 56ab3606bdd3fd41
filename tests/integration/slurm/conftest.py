"""A real Slurm of the tests' own, from `tests/slurm/cluster.sh`, with faults to inject."""

from __future__ import annotations

import fcntl
import itertools
import shlex
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Literal

import anyio
import pytest

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

    async def variant(self, enforce: Literal["NO", "ANY", "ALL"] = "NO", min_job_age_s: int = 300) -> None:
        """Set EnforcePartLimits and MinJobAge of the running cluster."""
        await self._script("up", SLURM_TEST_ENFORCE=enforce, SLURM_TEST_MIN_JOB_AGE=str(min_job_age_s))

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

    async def _script(self, *words: str, **variables: str) -> None:
        assignments = [f"{name}={value}" for name, value in variables.items()]
        asked = [f"DRAGOMAN_SLURM_DIR={self.folder}", "DRAGOMAN_TEST_SLURM=1", *assignments]
        done = await anyio.run_process(["env", *asked, str(CLUSTER), *words], check=False)
        assert done.returncode == 0, f"cluster.sh {' '.join(words)}: {done.stderr.decode()}"


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
async def slurm(slurm_cluster: Slurm) -> AsyncIterator[Slurm]:
    """The cluster, whole again after each test."""
    yield slurm_cluster
    await slurm_cluster.repair()
