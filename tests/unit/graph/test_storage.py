"""A file system is there for a job where it works, can be written to and has the room; else it is said what not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from dragoman.facts import FileSystem, FileSystems, Workload
from dragoman.kleene import Truth
from dragoman.observation import Observation
from dragoman.proposal import Check, verdict_of
from dragoman.request import JobRequest, StorageNeed
from dragoman.site import Site
from graph.verdict.evaluate import evaluate

TIB = 2**40
SITE = Site(name="there", scheduler="slurm")


@pytest.fixture
def judge(workload: Workload, observed: Callable[..., Observation], at: datetime) -> Callable[..., Check]:
    def make(state: dict[str, Any], asked: int | None, *, kind: str = "lustre", site: Site = SITE) -> Check:
        given = {"healthy": Truth.YES, "writable": Truth.YES, **state}
        disks = FileSystems(file_systems=(FileSystem(mount="/work", kind=kind, **given),))
        seen = [observed("workload/slurm", "resources", workload), observed(f"storage/{kind}", "file_systems", disks)]
        request = JobRequest(storage=(StorageNeed(kinds=(kind,), free_bytes=asked),))
        proposal = evaluate(request, site, seen, at, 0)
        assert proposal.verdict is verdict_of(proposal.fits, Truth.YES)
        return next(check for check in proposal.checks if check.kind == "storage")

    return make


@pytest.mark.parametrize("kind", ["lustre", "beegfs", "nfs"])
@pytest.mark.parametrize(
    ("state", "result", "reason"),
    [
        ({"free_bytes": 20 * TIB}, Truth.YES, "{} at /work"),
        ({"free_bytes": 20 * TIB, "writable": Truth.UNKNOWN}, Truth.UNKNOWN, "{} at /work (not known to be writable)"),
        ({"free_bytes": 20 * TIB, "writable": Truth.NO}, Truth.NO, "{} at /work (cannot be written to)"),
        ({"free_bytes": 1 * TIB}, Truth.NO, "{} at /work (1 TiB free, asked 5 TiB)"),
        ({"free_bytes": 20 * TIB, "quota_bytes": TIB}, Truth.NO, "{} at /work (1 TiB of quota, asked 5 TiB)"),
        ({"quota_bytes": TIB}, Truth.NO, "{} at /work (1 TiB of quota, asked 5 TiB)"),
        ({"size_bytes": TIB}, Truth.NO, "{} at /work (1 TiB in all, asked 5 TiB)"),
        (
            {"free_bytes": 20 * TIB, "quota_bytes": 9 * TIB, "quota_free_bytes": TIB},
            Truth.NO, "{} at /work (1 TiB of quota left, asked 5 TiB)",
        ),
        (
            {"free_bytes": 20 * TIB, "quota_bytes": 9 * TIB},
            Truth.UNKNOWN, "{} at /work (how much of 9 TiB of quota is left is not known, asked 5 TiB)",
        ),
        ({"free_bytes": 20 * TIB, "quota_bytes": 9 * TIB, "quota_free_bytes": 6 * TIB}, Truth.YES, "{} at /work"),
        ({}, Truth.UNKNOWN, "{} at /work (free space not known, asked 5 TiB)"),
    ],
)  # fmt: skip
def test_room_that_can_be_written_to(judge: Any, kind: str, state: dict[str, Any], result: Truth, reason: str) -> None:
    check = judge(state, 5 * TIB, kind=kind)
    assert (check.result, check.reason) == (result, f"has {reason.format(kind)}")


def test_a_file_that_writes_unknown_means_it(judge: Any) -> None:
    for written, result in (({}, Truth.YES), ({"writable": "unknown"}, Truth.UNKNOWN)):
        state = {"file_systems": [{"mount": "/work", "kind": "lustre", "healthy": "yes", **written}]}
        site = SITE.model_copy(update={"simulated": state})
        assert judge({"writable": Truth.UNKNOWN}, None, site=site).result is result
