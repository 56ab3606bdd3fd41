"""A script that a dialect writes is read back by it as the same job: written again, it is the same script.

Whatever the job's units are, what is written is in the scheduler's own, and those come back: read, written and read
again it is the same. Values that a dialect refuses are refused before; what it has no word for stands in a comment.
Left out is what no reader can know: the zone of a wall clock (LSF), and over how many hosts a site's parallel
environment spreads (Grid Engine).
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import Dialect
from dragoman.request import ArrayRange, ArraySpec, Dependency, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.registry import dialects
from providers.translation.translate import dialect_named

TAG = "dgm-0123456789ab-a0"
READ = [
    name
    for name, make in dialects.items()
    if not getattr(make, "only_scripts", False) and name != "kubernetes"
]  # fmt: skip

names = st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(lambda name: "dgm-" not in name)
words = st.from_regex(r"[A-Za-z][A-Za-z_-]{0,15}", fullmatch=True)  # R12 as a queue would be a reservation to PBS
counts = st.integers(1, 64)
amounts = st.integers(1, 4096).map(lambda number: number * 2**20)
memories = st.builds(Memory, bytes=amounts, per=st.sampled_from(["node", "task", "cpu", "gpu", "job"]))
gpus = st.builds(Gpus, count=st.integers(1, 8), per=st.sampled_from(["node", "task", "job"]))
constraints = {"slurm": "a100&ib", "pbs": "model=a100", "torque": "fast:bigmem", "flux": "a100", "lsf": "rh8 && ssd",
               "sge": "arch=lx", "oar": "mem > 64", "machine": None, "htcondor": "HasX && Cpus > 7"}  # fmt: skip


PLAIN = {name: ["walltime_s", "account", "queue", "array", "dependencies", "requeue"] for name in constraints} | {
    "pbs": ["walltime_s", "account", "array", "dependencies", "requeue"],  # a reservation is a queue there
    "flux": ["walltime_s", "account", "queue", "dependencies", "start_after"],
    "machine": ["walltime_s", "name", "start_after"],
    "oar": ["walltime_s", "account", "queue", "dependencies"],
    "htcondor": ["walltime_s", "account", "name", "licenses", "array"],
    "slurm": ["walltime_s", "walltime_min_s", "name", "account", "queue", "queues", "qos", "reservation", "licenses",
              "array", "dependencies", "requeue", "start_after"],
}  # fmt: skip
"""Fields that each writes in words of its own, whatever the job's units are."""


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


@st.composite
def shapes(draw: st.DrawFn, constraint: str | None) -> Shape:
    nodes = draw(st.none() | st.integers(1, 8))
    spread = st.integers(1, 32).map(lambda number: number * (nodes or 1))  # fewer than nodes would contradict them
    return Shape.model_validate(
        {
            "nodes": nodes,
            "tasks": draw(maybe(spread)),
            "tasks_per_node": draw(maybe(counts)),
            "cpus_per_task": draw(maybe(counts)),
            "cpus_per_node": draw(maybe(counts)),
            "cpus": draw(maybe(spread)),
            "gpus": draw(maybe(gpus)),
            "memory": draw(maybe(memories)),
            "exclusive": draw(st.sampled_from([None, True])),
            "local_disk_bytes": draw(maybe(amounts)),
            "constraint": draw(st.sampled_from([None, constraint])),
        }
    )


@st.composite
def specs(draw: st.DrawFn, name: str) -> JobSpec:
    first, more = draw(counts), draw(st.integers(1, 50))
    arrays = st.builds(
        ArraySpec, ranges=st.just((ArrayRange(first=first, last=first + more),)), at_once=st.none() | counts
    )
    kinds = st.sampled_from(["afterok", "afterany", "afternotok"])
    queues = tuple(draw(st.lists(words, max_size=2, unique=True)))
    start = st.none() | st.just(datetime(2030, 5, 1, 12, tzinfo=UTC)) if name != "lsf" else st.none()
    return JobSpec(
        tag=TAG, name=draw(names), shape=draw(shapes(constraints.get(name))), work_dir="/w/w", control_dir="/w",
        body="x\n",
        walltime_s=draw(st.none() | st.integers(2, 5000).map(lambda minutes: minutes * 60)),
        walltime_min_s=draw(st.none() | st.just(60)), account=draw(st.none() | words),
        queue=queues[0] if queues else None, queues=queues if len(queues) > 1 else (),
        qos=draw(st.none() | words), reservation=draw(st.none() | words),
        licenses=draw(st.sampled_from([(), ("ansys:2",)])), array=draw(st.none() | arrays),
        dependencies=tuple(
            Dependency.model_validate({"kind": draw(kinds), "job_id": str(number)})
            for number in draw(st.lists(counts, max_size=2, unique=True))
        ),
        start_after=draw(start),
        requeue=draw(st.booleans()),
    )  # fmt: skip


def accepted(dialect: Dialect, spec: JobSpec) -> tuple[JobSpec, str]:
    """The job without what this scheduler has no word for, so that the rest of it is tried, and its script."""
    for _ in range(20):
        try:
            return spec, dialect.render(spec)
        except BadRequest as error:
            field = error.where.removeprefix("shape.").partition(".")[0]
            if field in Shape.model_fields:
                spec = spec.model_copy(update={"shape": spec.shape.model_copy(update={field: None})})
            elif field in JobSpec.model_fields:
                spec = spec.model_copy(update={field: JobSpec.model_fields[field].get_default()})
            else:
                raise
    assume(False)  # nodes that follow from other counts
    raise AssertionError


def again(spec: JobSpec, request: JobRequest) -> JobSpec:
    fields = {
        field: getattr(request, field)
        for field in (
            "walltime_s", "walltime_min_s", "account", "queue", "queues", "qos", "reservation", "licenses", "array",
            "dependencies", "start_after", "components", "native_options",
        )
    }  # fmt: skip
    return JobSpec.model_validate(
        {
            **fields, "tag": TAG, "name": request.name or spec.name, "shape": request.shape, "work_dir": "/w/w",
            "control_dir": "/w", "body": "x\n", "requeue": bool(request.requeue),
        }
    )  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
@pytest.mark.parametrize("name", READ)
def test_what_is_written_is_read_back_as_the_same_job(name: str, data: st.DataObject) -> None:
    dialect = dialect_named(name)
    spec = data.draw(specs(name))
    if name == "sge":
        spec = spec.model_copy(update={"shape": spec.shape.model_copy(update={"nodes": None, "tasks_per_node": None})})
    spec, script = accepted(dialect, spec)
    reading = dialect.read_script(script)
    assert reading.problems == ()
    plain = PLAIN.get(name, ["walltime_s", "account", "queue"])
    written = [field for field in plain if getattr(spec, field) is not None]
    assert {field: getattr(reading.request, field) for field in written} == {
        field: getattr(spec, field) for field in written
    }
    try:
        second = dialect.read_script(dialect.render(again(spec, reading.request)))
    except BadRequest as error:
        # Torque's uneven nodes are components to the reader, of which the memory of a whole job cannot be said again.
        assume((name, error.where) != ("torque", "components"))
        raise
    without = {"sources": (), "notes": (), "script": None}  # the body tells in comments what was left out
    assert second.request.model_copy(update=without) == reading.request.model_copy(update=without)


def test_each_is_tried() -> None:
    assert set(constraints) <= set(READ)
