from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.job import JobSpec
from dragoman.protocols import Dialect
from dragoman.request import JobRequest
from dragoman.shape import Shape

Finish = Callable[..., Completed]
PREFIXES = {"sge": "#$", "lsf": "#BSUB", "oar": "#OAR", "cobalt": "#COBALT", "moab": "#MSUB"}


@pytest.fixture(scope="session")
def done() -> Finish:
    """What a command left: `done(stdout, stderr, rc, argv)`."""

    def finish(out: str = "", err: str = "", rc: int = 0, argv: tuple[str, ...] = ("x",)) -> Completed:
        return Completed(argv, rc, out.encode(), err.encode())

    return finish


@pytest.fixture(scope="session")
def spec() -> Callable[..., JobSpec]:
    """A job spec with what matters to the test."""

    def make(**fields: Any) -> JobSpec:
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
def directives(spec: Callable[..., JobSpec]) -> Callable[..., list[str]]:
    """The options that a spec is rendered to."""

    def render(dialect: Dialect, **fields: Any) -> list[str]:
        prefix = f"{PREFIXES[dialect.name]} "
        lines = dialect.render(spec(**fields)).split("\n")
        return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]

    return render


@pytest.fixture(scope="session")
def read() -> Callable[..., JobRequest]:
    """The request of directive lines (without their prefix); there must be no problem."""

    def request(dialect: Dialect, *options: str) -> JobRequest:
        lines = "\n".join(f"{PREFIXES[dialect.name]} {option}" for option in options)
        reading = dialect.read_script(f"#!/bin/bash\n{lines}\n./app\n")
        assert reading.problems == ()
        return reading.request

    return request
