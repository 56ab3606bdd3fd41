"""Scripts for flux batch, both ways."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.registry import dialects
from providers.schedulers.flux_read import split_words

FLUX = dialects.get("flux")()
TAG = "dgm-0123456789ab-a0"
GIB = 2**30
FOLDER = Path(__file__).parents[3] / "captures" / "flux_scripts"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
Lines = Callable[..., list[str]]
Read = Callable[..., JobRequest]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_real_headers(flux: Any, path: Path) -> None:
    reading = flux.read_script(f"#!/bin/bash\n{path.read_text()}\n./app\n")
    assert (reading.interpreter, reading.body) == ("/bin/bash", "\n./app\n")
    found = reading.request.dump()
    assert found.pop("script") == reading.body
    found.pop("sources", None)
    answer = {"request": found, "problems": list(reading.problems), "not_carried": list(reading.not_carried)}
    assert answer == EXPECTED[path.stem]


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (Shape(), ["--nslots=1"]),
        (Shape(nodes=2), ["--nodes=2"]),
        (Shape(nodes=2, exclusive=True, constraint="a100"), ["--nodes=2", "--exclusive", "--requires=a100"]),
        (Shape(tasks=8, cpus_per_task=2, gpus=Gpus(count=1, per="task")),
         ["--nslots=8", "--cores-per-slot=2", "--gpus-per-slot=1"]),
        (Shape(nodes=2, tasks_per_node=4, cpus_per_task=2), ["--nodes=2", "--nslots=8", "--cores-per-slot=2"]),
        (Shape(nodes=2, tasks=8, gpus=Gpus(count=4, per="node")), ["--nodes=2", "--nslots=8", "--gpus-per-slot=1"]),
        (Shape(nodes=2, tasks=8, cpus_per_task=2, gpus=Gpus(count=1, per="node")),
         ["--nodes=2", "--nslots=2", "--cores-per-slot=8", "--gpus-per-slot=1"]),
        (Shape(tasks=8, gpus=Gpus(count=4, per="job")), ["--nslots=4", "--cores-per-slot=2", "--gpus-per-slot=1"]),
        (Shape(nodes=3, cpus_per_node=16, gpus=Gpus(count=2, per="node")),
         ["--nodes=3", "--nslots=3", "--cores-per-slot=16", "--gpus-per-slot=2"]),
        (Shape(cpus=12), ["--nslots=12"]),
        (Shape(cpus=12, gpus=Gpus(count=4, per="job")), ["--nslots=4", "--cores-per-slot=3", "--gpus-per-slot=1"]),
        (Shape(cpus_per_task=4), ["--nslots=1", "--cores-per-slot=4"]),
        (Shape(nodes=1, nodes_max=3, tasks=2), ["--nodes=1", "--nslots=2"]),
    ],
)  # fmt: skip
def test_slots(lines: Lines, shape: Shape, options: list[str]) -> None:
    assert lines(shape=shape) == options


@pytest.mark.parametrize(
    ("fields", "option"),
    [
        ({"walltime_s": 5400}, "--time-limit=5400s"),
        ({"queue": "batch"}, "--queue=batch"),
        ({"account": "proj 1"}, "--setattr='system.bank=proj 1'"),
        ({"priority": 20}, "--urgency=20"),
        ({"dependencies": (Dependency(kind="afterok", job_id="474543554560"),)}, "--dependency=afterok:474543554560"),
        ({"start_after": datetime(2026, 12, 2, 7, 12, 0, 500, tzinfo=UTC)}, "--dependency=begin-time:1796195521"),
        ({"native_options": ("--rlimit=nofile=12000",)}, "--rlimit=nofile=12000"),
        ({"native_options": ("-o mpi=none",)}, "--setopt=mpi=none"),
        ({"native_options": ("--signal SIGUSR1@60s",)}, "--signal=SIGUSR1@60s"),
        ({"native_options": ("--setattr=user.a=1",)}, "--setattr=user.a=1"),
        ({"native_options": ("--env-remove=LD_*",)}, "--env-remove=LD_*"),
        ({"native_options": ("--conf=policy.x=1",)}, "--conf=policy.x=1"),
        ({"native_options": ("--unbuffered",)}, "--unbuffered"),
        ({"native_options": ("--flags=waitable",)}, "--flags=waitable"),
    ],
)  # fmt: skip
def test_options(lines: Lines, fields: dict[str, object], option: str) -> None:
    """Each option once, so that none is dead without a test going red."""
    assert [each for each in lines(**fields) if each != "--nslots=1"] == [option]


def test_an_instance_without_named_queues_is_asked_for_none(lines: Lines) -> None:
    assert lines(queue="anonymous") == ["--nslots=1"]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"array": ArraySpec(ranges=(ArrayRange(first=0, last=3),))}, "array"),
        ({"components": (Shape(nodes=1), Shape(nodes=2))}, "components"),
        ({"qos": "debug"}, "qos"),
        ({"reservation": "r1"}, "reservation"),
        ({"licenses": ("a:1",)}, "licenses"),
        ({"dependencies": (Dependency(kind="singleton"),)}, "dependencies"),
        ({"dependencies": (Dependency(kind="afterok", job_id="x!".strip("!")),)}, "dependencies"),
        ({"shape": Shape(nodes=1, gpus=Gpus(count=1, per="node", model="a100"))}, "gpus.model"),
        ({"shape": Shape(tasks=4, exclusive=True)}, "exclusive"),
        ({"shape": Shape(tasks=4, gpus=Gpus(count=1, per="node"))}, "gpus"),
        ({"shape": Shape(nodes=2, gpus=Gpus(count=3, per="job"))}, "gpus"),
        ({"priority": 100}, "priority"),
        ({"native_options": ("--job-name=mine",)}, "native_options"),
        ({"native_options": ("--cc=0-3",)}, "native_options"),
        ({"native_options": ("--dry-run",)}, "native_options"),
        ({"native_options": ("mine",)}, "native_options"),
        ({"walltime_s": 60, "native_options": ("-t 9d",)}, "native_options"),
        ({"shape": Shape(nodes=1, constraint="it's")}, "constraint"),
        ({"control_dir": "/work/{{id}}"}, "control_dir"),
    ],
)  # fmt: skip
def test_what_flux_cannot_do_is_refused(spec: Callable[..., JobSpec], fields: dict[str, object], where: str) -> None:
    with pytest.raises(BadRequest) as refused:
        FLUX.render(spec().model_copy(update=fields))
    assert (refused.value.where, bool(refused.value.cure)) == (where, True)


def test_what_flux_does_not_count_is_said(spec: Callable[..., JobSpec]) -> None:
    script = FLUX.render(spec(shape=Shape(nodes=1, memory=Memory(bytes=GIB, per="node"), local_disk_bytes=1)))
    assert f"# dragoman: not carried over: memory ({GIB} bytes per node), which Flux does not count" in script
    assert "own disks" in script


BODY = "#!/bin/sh\necho start\n#flux: -n 4\n  // FLUX: x\nDRAGOMAN_BODY\nb|^x\n\r\nend\n"


def test_late_directives_of_a_body_are_hidden_from_flux(spec: Callable[..., JobSpec], tmp_path: Path) -> None:
    """flux batch refuses a script with a directive after the first command, behind whatever marks."""
    script = FLUX.render(spec(body=BODY))
    late = [line for line in script.split("\n") if re.match(r"[^\w]*(flux|FLUX):", line)]
    assert late == [line for line in script.split("\n") if line.startswith("#flux: --")]
    start = script.index("dgm_body() {")
    function = script[start : script.index("\n}\n", start) + 3]
    out = subprocess.check_output(["sh", "-c", f"{function}dgm_body"], text=True, cwd=tmp_path)
    assert [line.lstrip("^|") if line != "|b|^x" else "b|^x" for line in out.split("\n")][2:5] == [
        "#flux: -n 4", "  // FLUX: x", "DRAGOMAN_BODY",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("option", "fields"),
    [
        ("-t 90", {"walltime_s": 5400}),
        ("-t 1.5h", {"walltime_s": 5400}),
        ("--time-limit=30s", {"walltime_s": 30}),
        ("-t inf", {"walltime_s": None}),
        ("-B proj1", {"account": "proj1"}),
        ("-S system.bank=proj1", {"account": "proj1"}),
        ("-q debug", {"queue": "debug"}),
        ("--env=OMP_NUM_THREADS=4", {"environment": (EnvironmentVariable(name="OMP_NUM_THREADS", value="4"),)}),
        ("--env=-LD_*", {"native_options": ("--env=-LD_*",)}),
        ("--dependency=afterok:fDTznkvT", {"dependencies": (Dependency(kind="afterok", job_id="474543554560"),)}),
        ("--dependency=begin-time:1796194888.433", {"start_after": datetime(2026, 12, 2, 7, 1, 28, tzinfo=UTC)}),
        ("--dependency=fluid:x", {"native_options": ("--dependency=fluid:x",)}),
        ("--begin-time=+1h", {"native_options": ("--begin-time=+1h",)}),
        ("--setopt=mpi=none -o x", {"native_options": ("--setopt=mpi=none", "--setopt=x")}),
        ("--job-name='my job'", {"name": "my job"}),
        ("--job-n=a", {"name": "a"}),
    ],
)
def test_read_options(read: Read, option: str, fields: dict[str, object]) -> None:
    request = read(option)
    assert {name: getattr(request, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("option", "shape"),
    [
        ("-N2", Shape(nodes=2, exclusive=True)),
        ("-N 2 -n 8 -c 4 -g 1", Shape(nodes=2, tasks=8, cpus_per_task=4, gpus=Gpus(count=1, per="task"))),
        ("--nodes=1 --tasks-per-node=4 --gpus-per-node=2 -n4",
         Shape(nodes=1, tasks=4, tasks_per_node=4, gpus=Gpus(count=2, per="node"))),
        ("-n4 --requires=a100", Shape(tasks=4, constraint="a100")),
        ("-n4 -g0", Shape(tasks=4)),
    ],
)  # fmt: skip
def test_read_shapes(read: Read, option: str, shape: Shape) -> None:
    assert read(option).shapes == (shape,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#flux: -t 10x\n", "line 2: -t '10x' is no duration"),
        ("#flux: -n $N\n", "expands no variables"),
        ("#flux: -n\n", "--nslots has no value"),
        ("#flux: --nosuch=1\n", "--nosuch is no option of flux batch"),
        ("#flux: --job-name='open\n", "No closing quotation"),
        ("#flux: stray\n", "is no option"),
        ('#flux: --setattr=a="""\n', "write the value on one line"),
        ("#flux: -n1\n./app\n#flux: -N4\n", "line 4: #flux: comes after the first command"),
    ],
)
def test_malformed_directives_get_line_and_cure(flux: Any, text: str, told: str) -> None:
    problems = flux.read_script(f"#!/bin/sh\n{text}./app\n").problems
    assert len(problems) == 1
    assert told in problems[0]


@pytest.mark.parametrize("sentinel", ["#flux:", "# flux:", "#FLUX:", "//flux:", ";;; FLUX:"])
def test_any_comment_sign_begins_a_directive(flux: Any, sentinel: str) -> None:
    reading = flux.read_script(f"#!/usr/bin/env x\n{sentinel} -n 4\n{sentinel}-c2 # why\n./app\n")
    assert (reading.request.shapes, reading.problems) == ((Shape(tasks=4, cpus_per_task=2),), ())


words = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]{0,30}", fullmatch=True).map(str.strip).filter(bool)
counts = st.integers(1, 5000)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Shapes in slots: others are turned into these and come back as such."""
    nodes = draw(st.none() | st.integers(1, 50))
    constraint = draw(st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="'\\"),
                                          min_size=1, max_size=20))  # fmt: skip
    if nodes is not None and draw(st.booleans()):
        return Shape(nodes=nodes, exclusive=True, constraint=constraint)
    return Shape(
        nodes=nodes,
        tasks=draw(st.integers(nodes or 1, 5000)),
        cpus_per_task=draw(st.none() | counts),
        gpus=draw(st.none() | counts.map(lambda count: Gpus(count=count, per="task"))),
        exclusive=draw(st.sampled_from([None, True])) if nodes is not None else None,
        constraint=constraint,
    )


@given(shape=shapes(), name=words, account=st.none() | words, queue=st.none() | words, walltime=st.none() | counts,
       jobs=st.lists(counts, max_size=2), after=st.none() | st.integers(10**9, 3 * 10**9))  # fmt: skip
def test_it_reads_what_it_writes(shape: Shape, name: str, account: str | None, queue: str | None,
                                 walltime: int | None, jobs: list[int], after: int | None) -> None:  # fmt: skip
    spec = JobSpec(
        tag=TAG, name=name, shape=shape, work_dir="/w/w", control_dir="/w", body="./app\n", account=account,
        queue=queue if queue != "anonymous" else None, walltime_s=walltime,
        dependencies=tuple(Dependency(kind="afterok", job_id=str(job)) for job in jobs),
        start_after=datetime.fromtimestamp(after, UTC) if after else None,
    )  # fmt: skip
    reading = FLUX.read_script(FLUX.render(spec))
    request = reading.request
    assert (reading.problems, request.native_options, request.shapes) == ((), (), (shape,))
    for field in ("name", "account", "queue", "walltime_s", "dependencies", "start_after"):
        assert getattr(request, field) == getattr(spec, field)


texts = st.text(max_size=40)


@given(name=texts, account=texts, queue=texts, native=texts, constraint=texts, work=texts)
def test_no_value_becomes_a_line(name: str, account: str, queue: str, native: str, constraint: str, work: str) -> None:
    spec = JobSpec.model_construct(
        **{
            **dict(JobSpec(tag=TAG, shape=Shape(nodes=1), work_dir="/w/w", control_dir="/w", body="./app\n")),
            "name": name, "account": account or None, "queue": queue or None,
            "native_options": (native,) if native else (), "work_dir": f"/w/{work}",
            "shape": Shape.model_construct(**{**dict(Shape(nodes=1)), "constraint": constraint or None}),
        }
    )  # fmt: skip
    try:
        script = FLUX.render(spec)
    except BadRequest:
        return
    head = [line for line in script.split("\n") if re.match(r"[^\w]*(flux|FLUX):", line)]
    assert all(line.startswith("#flux: --") for line in head)
    for line in head:
        words, wrong = split_words(line.removeprefix("#flux: "))
        assert (len(words), wrong) == (1, "")
