from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobSpec
from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.schedulers.slurm import SlurmDialect

Finish = Callable[..., Completed]


@pytest.fixture(scope="session")
def slurm() -> SlurmDialect:
    return SlurmDialect()


@pytest.fixture(scope="session")
def done() -> Finish:
    """What a command left: `done(stdout, stderr, rc, argv)`; `|` in stdout stands for the unit separator."""

    def finish(out: str = "", err: str = "", rc: int = 0, argv: tuple[str, ...] = ("squeue",)) -> Completed:
        return Completed(argv, rc, out.replace("|", "\x1f").encode(), err.encode())

    return finish


@pytest.fixture(scope="session")
def spec() -> Callable[..., JobSpec]:
    """A job spec with what matters to the test."""

    def make(**fields: object) -> JobSpec:
        given = {
            "tag": "dgm-0123456789ab-a0",
            "shape": Shape(),
            "work_dir": "/work/t/work",
            "control_dir": "/work/t",
            "body": "./app\n",
            **fields,
        }
        return JobSpec.model_validate(given)

    return make


@pytest.fixture(scope="session")
def directives(slurm: SlurmDialect, spec: Callable[..., JobSpec]) -> Callable[..., list[str]]:
    """The `#SBATCH` options that a spec is rendered to."""

    def render(**fields: object) -> list[str]:
        lines = slurm.render(spec(**fields)).split("\n")
        return [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]

    return render


@pytest.fixture(scope="session")
def read(slurm: SlurmDialect) -> Callable[[str], JobRequest]:
    """The request of directive lines (without `#SBATCH`); there must be no problem."""

    def request(*options: str) -> JobRequest:
        lines = "\n".join(f"#SBATCH {option}" for option in options)
        reading = slurm.read_script(f"#!/bin/bash\n{lines}\n./app\n")
        assert reading.problems == ()
        return reading.request

    return request


@pytest.fixture(scope="session")
def ref() -> Callable[..., JobRef]:
    def make(job_id: str, cluster: str | None = None, tag: str | None = None) -> JobRef:
        return JobRef(job_id=job_id, cluster=cluster, tag=tag)

    return make
