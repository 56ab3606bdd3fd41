from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobSpec
from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.registry import dialects

Finish = Callable[..., Completed]


@pytest.fixture(scope="session")
def flux() -> Any:
    return dialects.get("flux")()


@pytest.fixture(scope="session")
def done() -> Finish:
    """What a command left: `done(stdout, stderr, rc, argv)`."""

    def finish(out: str = "", err: str = "", rc: int = 0, argv: tuple[str, ...] = ("flux",)) -> Completed:
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
def lines(flux: Any, spec: Callable[..., JobSpec]) -> Callable[..., list[str]]:
    """The options that a spec is rendered to, without those that every job has."""

    def render(**fields: object) -> list[str]:
        script = flux.render(spec(**fields)).split("\n")
        options = [line.removeprefix("#flux: ") for line in script if line.startswith("#flux: ")]
        return [option for option in options if not option.startswith(("--job-name", "--cwd", "--output"))]

    return render


@pytest.fixture(scope="session")
def read(flux: Any) -> Callable[..., JobRequest]:
    """The request of directive lines (without `#flux:`); there must be no problem."""

    def request(*options: str) -> JobRequest:
        reading = flux.read_script("#!/bin/bash\n" + "\n".join(f"#flux: {option}" for option in options) + "\n./app\n")
        assert reading.problems == ()
        found: JobRequest = reading.request
        return found

    return request
