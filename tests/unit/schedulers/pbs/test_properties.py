"""What must hold for any input."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory, Shape
from providers.registry import dialects
from providers.schedulers.directives import split_words
from providers.schedulers.pbs_rows import quoted

PBS, TORQUE = dialects.get("pbs")(), dialects.get("torque")()
TAG = "dgm-0123456789ab-a0"
KIB = 2**10

words = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]{0,30}", fullmatch=True).map(str.strip).filter(bool)
plain = st.from_regex(r"[A-Za-z][A-Za-z0-9_\-]{0,20}", fullmatch=True)
counts = st.integers(1, 5000)


@st.composite
def pbs_shapes(draw: st.DrawFn) -> Shape:
    """Shapes in the units of `select`: others are turned into these and come back as such."""
    per: Literal["node", "task"] = draw(st.sampled_from(("node", "task")))
    memory = Memory(bytes=draw(counts) * KIB, per=per)
    gpus = Gpus(count=draw(counts), per=per)
    constraint = draw(st.none() | st.from_regex(r"[a-z]{3}=[a-z0-9.]{1,9}", fullmatch=True))
    if per == "task":
        return Shape(
            tasks=draw(counts), cpus_per_task=draw(st.none() | st.integers(2, 99)), constraint=constraint,
            memory=draw(st.sampled_from([None, memory])), gpus=draw(st.sampled_from([None, gpus])),
            exclusive=draw(st.sampled_from([None, True])),
        )  # fmt: skip
    tasks = draw(st.none() | st.integers(1, 99))
    threads = draw(st.none() | st.integers(1, 9)) if tasks is not None else None
    return Shape(
        nodes=draw(counts), tasks_per_node=tasks, cpus_per_task=threads,
        cpus_per_node=draw(st.none() | st.integers(1000, 2000)) if threads is None else None,
        memory=draw(st.sampled_from([None, memory])), gpus=draw(st.sampled_from([None, gpus])), constraint=constraint,
        exclusive=draw(st.sampled_from([None, True])),
    )  # fmt: skip


@st.composite
def torque_shapes(draw: st.DrawFn) -> Shape:
    """Shapes in the units of `nodes`."""
    memory = Memory(bytes=draw(counts) * KIB, per="job")
    nodes = draw(st.none() | counts)
    return Shape(
        nodes=nodes,
        tasks_per_node=draw(counts) if nodes is not None else None,
        tasks=draw(counts) if nodes is None else None,
        memory=draw(st.sampled_from([None, memory])),
        gpus=draw(st.none() | counts.map(lambda count: Gpus(count=count, per="node"))) if nodes is not None else None,
        constraint=draw(st.none() | plain) if nodes is not None else None,
        exclusive=draw(st.sampled_from([None, True])),
    )


@st.composite
def specs(draw: st.DrawFn, shapes: st.SearchStrategy[Shape]) -> JobSpec:
    walltime = draw(st.none() | st.integers(2, 10**7))
    first, more, step = draw(counts), draw(st.integers(1, 50)), draw(st.integers(1, 5))
    ranges = ArrayRange(first=first, last=first + more, step=step if step <= more else 1)
    ids = counts.map(lambda number: f"{number}.server")
    kinds: list[Literal["afterok", "afterany", "afternotok"]] = ["afterok", "afterany", "afternotok"]
    kind = draw(st.sampled_from(kinds))
    return JobSpec(
        tag=TAG,
        name=draw(words),
        shape=draw(shapes),
        walltime_s=walltime,
        work_dir="/work/t/work",
        control_dir="/work/t",
        body="./app\n",
        account=draw(st.none() | words),
        queue=draw(st.none() | plain),
        array=draw(st.sampled_from([None, ArraySpec(ranges=(ranges,), at_once=draw(st.none() | counts))])),
        dependencies=tuple(Dependency(kind=kind, job_id=each) for each in draw(st.lists(ids, max_size=2))),
        requeue=draw(st.booleans()),
    )


def same(dialect: Any, spec: JobSpec, *, array: bool = True) -> None:
    reading = dialect.read_script(dialect.render(spec))
    request = reading.request
    assert reading.problems == ()
    assert request.shapes == (() if spec.shape == Shape() else (spec.shape,))
    assert request.name == spec.name
    for field in ("walltime_s", "account", "queue", "dependencies", "components"):
        assert getattr(request, field) == getattr(spec, field)
    assert bool(request.requeue) == spec.requeue
    assert not array or request.array == spec.array
    assert request.native_options == ()


@given(spec=specs(pbs_shapes()))
def test_pbs_reads_what_it_writes(spec: JobSpec) -> None:
    same(PBS, spec)


@given(spec=specs(torque_shapes()))
def test_torque_reads_what_it_writes(spec: JobSpec) -> None:
    step = spec.array.ranges[0].step if spec.array is not None else 1
    same(TORQUE, spec, array=step == 1)


@given(
    shapes=st.lists(pbs_shapes().filter(lambda shape: shape.nodes is not None), min_size=2, max_size=3, unique_by=str)
)
def test_components_come_back(shapes: list[Shape]) -> None:
    # Sharing is one word for the whole job, and alike chunks are one.
    parts = tuple(each.model_copy(update={"exclusive": None, "nodes": 7}) for each in shapes)
    if len(set(map(str, parts))) < len(parts):
        return
    spec = JobSpec(tag=TAG, shape=parts[0], components=parts, work_dir="/w/w", control_dir="/w", body="x\n")
    request = PBS.read_script(PBS.render(spec)).request
    if request.components:
        assert request.components == parts
    else:  # tasks that lie unevenly over nodes are one shape
        assert request.shape.nodes == 7 * len(parts)


texts = st.text(max_size=40)


@given(name=texts, account=texts, queue=texts, native=texts, constraint=texts, work=texts)
@pytest.mark.parametrize("dialect", [PBS, TORQUE], ids=["pbs", "torque"])
def test_no_value_becomes_a_line_or_a_command(dialect: Any, name: str, account: str, queue: str, native: str,
                                              constraint: str, work: str) -> None:  # fmt: skip
    """Whatever made the spec, every directive is one that we wrote."""
    spec = JobSpec.model_construct(
        **{
            **dict(JobSpec(tag=TAG, shape=Shape(nodes=1), work_dir="/w/w", control_dir="/w", body="./app\n")),
            "name": name, "account": account or None, "queue": queue or None,
            "native_options": (native,) if native else (), "work_dir": f"/w/{work}",
            "shape": Shape.model_construct(**{**dict(Shape(nodes=1)), "constraint": constraint or None}),
        }
    )  # fmt: skip
    try:
        script = dialect.render(spec)
    except BadRequest:
        return
    head = script.split("\nunset ")[0].split("\n")
    assert all(re.match(r"#!/bin/sh$|#PBS -[A-Za-z] ?|# dragoman: ", line) for line in head)
    allowed = {"N", "v", "S", "j", "o", "m", "r", "A", "P", "q", "l"} | ({native.strip()[1:2]} if native else set())
    assert {line[6:7] for line in head if line.startswith("#PBS")} <= allowed
    assert sum(line.startswith("#PBS -N ") for line in script.split("\n")) == 1


@given(
    value=st.text(
        st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=("C", "Z")), min_size=1, max_size=40
    )
)
def test_quoted_values_come_back(value: str) -> None:
    try:
        text = quoted(value, "x")
    except BadRequest:
        return
    assert split_words(text, qsub=True) == ([value], "")


junk = st.text(st.sampled_from('{}[]",:\n\t =abF0129.jJobId_stateExit'), max_size=200)


@given(
    out=junk | st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "replace")), rc=st.sampled_from([0, 35, 153])
)
def test_garbage_ends_no_job(out: str, rc: int) -> None:
    done = Completed(("qstat", "-f"), rc, out.encode("utf-8", "replace"), b"")
    refs = [JobRef(job_id="1.s"), JobRef(job_id="2.s")]
    for answers in (PBS.parse_status(done, refs), PBS.parse_history(done, refs), TORQUE.parse_status(done, refs)):
        assert answers.absent == frozenset()
        assert not any(status.state.final for status in answers.jobs.values())
