"""What a scheduler's script asks for is what is read back from it, for any job in the scheduler's own units."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.job import JobRef, JobSpec
from dragoman.request import ArrayRange, ArraySpec, Dependency, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.kubernetes import KubernetesDialect
from providers.schedulers.kubernetes_watch import read_watch
from providers.schedulers.lsf import LsfDialect
from providers.schedulers.oar import OarDialect
from providers.schedulers.sge import SgeDialect
from providers.schedulers.sge_script import SgeNames

TAG = "dgm-0123456789ab-a0"
MIB = 2**20

names = st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,30}", fullmatch=True).filter(lambda name: "dgm-" not in name)
plain = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
counts = st.integers(1, 500)
memory = counts.map(lambda count: count * MIB)
ranges = st.builds(
    lambda first, more, step: ArrayRange(first=first, last=first + more, step=step if more else 1),
    counts, st.integers(0, 50), st.integers(1, 5),
)  # fmt: skip


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


def same(request: JobRequest, spec: JobSpec, *fields: str) -> None:
    assert {name: getattr(request, name) for name in fields} == {name: getattr(spec, name) for name in fields}
    assert request.shape == spec.shape


def made(**fields: object) -> JobSpec:
    given = {"tag": TAG, "work_dir": "/work/t/work", "control_dir": "/work/t", "body": "./app\n", **fields}
    return JobSpec.model_validate(given)


@st.composite
def sge_specs(draw: st.DrawFn) -> JobSpec:
    slots = draw(st.integers(2, 64))
    gpus = Gpus(count=1, per="job")
    shape = Shape(
        cpus=slots,
        memory=draw(st.none() | memory.map(lambda amount: Memory(bytes=amount, per="cpu"))),
        exclusive=draw(st.sampled_from([None, True])),
    )
    if draw(st.booleans()):
        shape = shape.model_copy(update={"cpus": None, "gpus": gpus})
    queues = tuple(draw(st.lists(plain, max_size=3, unique=True)))
    return made(
        name=draw(names), shape=shape, queues=queues if len(queues) > 1 else (), queue=queues[0] if queues else None,
        walltime_s=draw(maybe(st.integers(1, 10**6))), account=draw(maybe(plain)), requeue=draw(st.booleans()),
        array=draw(st.none() | st.builds(ArraySpec, ranges=st.tuples(ranges), at_once=st.none() | counts)),
        dependencies=tuple(
            Dependency(kind="afterany", job_id=str(number)) for number in draw(st.lists(counts, max_size=3))
        ),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(spec=sge_specs())
def test_grid_engine(spec: JobSpec) -> None:
    dialect = SgeDialect(SgeNames(pe="smp", gpu="gpu"))
    reading = dialect.read_script(dialect.render(spec))
    assert reading.problems == ()
    fields = ("name", "walltime_s", "account", "requeue", "array", "dependencies", "queue", "queues")
    same(reading.request, spec, *fields)


@st.composite
def lsf_specs(draw: st.DrawFn) -> JobSpec:
    nodes = draw(st.sampled_from([None, 1]))
    tasks = draw(st.integers(2, 64))
    gpus = Gpus(
        count=draw(st.integers(1, 8)), per="node", model=draw(st.none() | st.sampled_from(["a100", "mi250x"])),
        memory_bytes=draw(st.none() | memory),
    )  # fmt: skip
    held = draw(st.none() | st.builds(Memory, bytes=memory, per=st.sampled_from(["node", "cpu"])))
    shape = Shape(
        nodes=nodes,
        tasks=tasks,
        memory=held,
        gpus=draw(st.sampled_from([None, gpus])),
        exclusive=draw(st.sampled_from([None, True])),
        local_disk_bytes=draw(st.none() | memory),
        constraint=draw(st.none() | st.sampled_from(["ssd", "mem > 4000 && rh8"])),
    )
    kinds = st.sampled_from(["afterok", "afterany", "afternotok", "after"])
    queues = tuple(draw(st.lists(plain, max_size=3, unique=True)))
    return made(
        name=draw(names), shape=shape, queues=queues if len(queues) > 1 else (), queue=queues[0] if queues else None,
        walltime_s=draw(maybe(counts.map(lambda minutes: minutes * 60))), account=draw(maybe(plain)),
        requeue=draw(st.booleans()), reservation=draw(maybe(plain)),
        array=draw(st.none() | st.builds(ArraySpec, ranges=st.lists(ranges, min_size=1, max_size=3).map(tuple),
                                         at_once=st.none() | counts)),
        dependencies=tuple(
            Dependency.model_validate({"kind": draw(kinds), "job_id": str(number)})
            for number in draw(st.lists(counts, max_size=3))
        ),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(spec=lsf_specs())
def test_lsf(spec: JobSpec) -> None:
    dialect = LsfDialect()
    reading = dialect.read_script(dialect.render(spec))
    assert reading.problems == ()
    fields = ("name", "walltime_s", "account", "requeue", "reservation", "array", "dependencies", "queue", "queues")
    same(reading.request, spec, *fields)


@st.composite
def oar_specs(draw: st.DrawFn) -> JobSpec:
    nodes, gpus = draw(st.none() | counts), draw(st.none() | st.integers(1, 8))
    shape = Shape(
        nodes=nodes,
        cpus_per_node=draw(counts) * (gpus or 1) if nodes is not None else None,
        cpus=draw(counts) if nodes is None else None,
        gpus=Gpus(count=gpus, per="node", model=draw(st.none() | st.sampled_from(["a100", "v100 sxm2"])))
        if gpus is not None and nodes is not None
        else None,
        constraint=draw(st.none() | st.sampled_from(["mem > 64", "cluster='a' AND rack=3"])),
    )
    if draw(st.booleans()):
        shape = Shape(nodes=draw(counts), exclusive=True)
    return made(
        name=draw(names), shape=shape, walltime_s=draw(maybe(st.integers(1, 10**6))), account=draw(maybe(plain)),
        queue=draw(maybe(plain)), requeue=draw(st.booleans()),
        array=draw(st.none() | counts.map(lambda last: ArraySpec(ranges=(ArrayRange(first=1, last=last),)))),
        dependencies=tuple(
            Dependency(kind="afterany", job_id=str(number)) for number in draw(st.lists(counts, max_size=3))
        ),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(spec=oar_specs())
def test_oar(spec: JobSpec) -> None:
    dialect = OarDialect()
    reading = dialect.read_script(dialect.render(spec))
    assert reading.problems == ()
    same(reading.request, spec, "name", "walltime_s", "account", "queue", "array", "dependencies")
    assert bool(reading.request.requeue) is spec.requeue


DIRECTIVES = ["#BSUB -q root\n", "#$ -P root\n", "#OAR -t x\n", "DRAGOMAN_BODY\n#$ -l x\n"]
bodies = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=200)


@settings(deadline=None, max_examples=60)
@given(body=bodies | st.sampled_from(DIRECTIVES))
def test_no_line_of_a_body_is_a_directive(body: str) -> None:
    spec = made(body=body, shape=Shape())
    for dialect, prefix in ((SgeDialect(), r"#\$"), (LsfDialect(), "#BSUB"), (OarDialect(), "#OAR")):
        script = dialect.render(spec)
        head, _, rest = script.partition("# dragoman: claim")
        assert re.search(rf"^{prefix}", head, re.MULTILINE)
        assert re.search(rf"^\s*{prefix}", rest, re.MULTILINE) is None


KEYS = [
    "kind", "items", "metadata", "name", "labels", "job-name", "status", "conditions", "type", "reason", "spec", "used",
    "containers", "resources", "requests", "cpu", "phase", "containerStatuses", "state", "terminated", "exitCode",
    "hard", "annotations", "dragoman/array", "completedIndexes", "allocatable", "taints",
]  # fmt: skip
json_things = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            KEYS
        ),
        inner | st.sampled_from(["Job", "Pod", "Node", "Failed", "True", TAG, "1-3", "5"]),
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(thing=json_things)
def test_objects_of_any_shape_raise_nothing(thing: object) -> None:
    dialect = KubernetesDialect()
    done = Completed(("kubectl",), 0, json.dumps({"kind": "List", "items": [thing]}).encode(), b"")
    dialect.parse_status(done, [JobRef(job_id=TAG)])
    dialect.parse_list_tags(done)
    dialect.parse_find(done, TAG)
    dialect.parse_workload([done] * 4)
    read_watch(json.dumps({"type": "ADDED", "object": thing}))
    rows = Completed(("x",), 0, json.dumps({"1": thing, "RECORDS": [thing], "JOBS": 1}).encode(), b"")
    OarDialect().parse_status(rows, [JobRef(job_id="1")])
    LsfDialect().parse_status(rows, [JobRef(job_id="1")])
    OarDialect().parse_workload([rows] * 3)
    only = Completed(("x",), 0, json.dumps({"1": thing}).encode(), b"")
    OarDialect().parse_status(only, [JobRef(job_id="1")])
    OarDialect().parse_workload([only] * 3)
