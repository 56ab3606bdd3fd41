from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobRef, JobSpec, JobStatus
from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.registry import dialects

Finish = Callable[..., Completed]


@pytest.fixture(scope="session")
def pbs() -> Any:
    return dialects.get("pbs")()


@pytest.fixture(scope="session")
def torque() -> Any:
    return dialects.get("torque")()


@pytest.fixture(scope="session")
def done() -> Finish:
    """What a command left: `done(stdout, stderr, rc, argv)`."""

    def finish(out: str = "", err: str = "", rc: int = 0, argv: tuple[str, ...] = ("qstat",)) -> Completed:
        return Completed(argv, rc, out.encode(), err.encode())

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
def lines(spec: Callable[..., JobSpec]) -> Callable[..., list[str]]:
    """The options that a spec is rendered to, without those that every job has."""
    always = ("-N ", "-v ", "-S ", "-j ", "-o ", "-m ", "-r n")

    def render(dialect: Any, **fields: object) -> list[str]:
        script = dialect.render(spec(**fields)).split("\n")
        options = [line.removeprefix("#PBS ") for line in script if line.startswith("#PBS ")]
        return [option for option in options if not option.startswith(always)]

    return render


@pytest.fixture(scope="session")
def read(pbs: Any) -> Callable[..., JobRequest]:
    """The request of directive lines (without `#PBS`); there must be no problem."""

    def request(*options: str) -> JobRequest:
        reading = pbs.read_script("#!/bin/bash\n" + "\n".join(f"#PBS {option}" for option in options) + "\n./app\n")
        assert reading.problems == ()
        found: JobRequest = reading.request
        return found

    return request


@pytest.fixture(scope="session")
def one(done: Finish) -> Callable[..., JobStatus]:
    """The status of job 1.s by the attributes of its record."""

    def status(dialect: Any, *, history: bool = False, **attributes: object) -> JobStatus:
        rows = "".join(f"    {name} = {value}\n" for name, value in attributes.items())
        asked = [JobRef(job_id="1.s")]
        verb = dialect.parse_history if history else dialect.parse_status
        found: JobStatus = verb(done(f"Job Id: 1.s\n{rows}"), asked).jobs["1.s"]
        return found

    return status
