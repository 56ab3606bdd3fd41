from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dragoman.facts import Gpu, NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.model import Model
from dragoman.observation import Observation, Outcome

AT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


@pytest.fixture
def at() -> datetime:
    return AT


@pytest.fixture
def observed() -> Callable[..., Observation]:
    """Makes an observation; its id is the provider and verb, so that citations can be compared."""

    def make(provider: str, verb: str, value: Model | None, *, reason: str = "", **arguments: str) -> Observation:
        return Observation(
            id=f"{provider}.{verb}",
            site="there",
            provider=provider,
            tool=verb,
            arguments=dict(arguments),
            outcome=Outcome.OK if value is not None else Outcome.UNKNOWN if reason else Outcome.ABSENT,
            value=value.model_dump(mode="json") if value is not None else None,
            reason=reason,
            observed_at=AT,
            max_age_s=60,
        )

    return make


@pytest.fixture
def workload() -> Workload:
    """Ten CPU nodes of which three are idle, two GPU nodes all busy, in two queues."""
    return Workload(
        scheduler="slurm",
        jobs_pending=7,
        queues=(
            Queue(name="batch", usable=Truth.YES, default=True, max_walltime_s=86400),
            Queue(name="gpu", usable=Truth.YES, max_walltime_s=3600),
        ),
        groups=(
            NodeGroup(
                queues=("batch",), nodes=10, nodes_idle=3, cpus_per_node=32, memory_bytes_per_node=128 * 2**30, gpus=()
            ),
            NodeGroup(
                queues=("gpu",), nodes=2, nodes_idle=0, cpus_per_node=64, memory_bytes_per_node=512 * 2**30,
                gpus=(Gpu(model="nvidia_a100", count=4, free=0, memory_bytes=40 * 2**30, vendor="nvidia"),),
            ),
        ),
    )  # fmt: skip
