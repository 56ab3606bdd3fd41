"""What must hold for any input."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec, JobState
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.directives import split_words
from providers.schedulers.slurm import SlurmDialect
from providers.schedulers.slurm_options import quote_word

SLURM = SlurmDialect()
TAG = "dgm-0123456789ab-a0"
MIB = 2**20
UNITS: tuple[Literal["node", "task", "job"], ...] = ("node", "task", "job")

words = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]{0,30}", fullmatch=True).map(str.strip).filter(bool)
plain = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+@\-]{0,20}", fullmatch=True)
counts = st.integers(1, 5000)
features = st.text(st.characters(min_codepoint=32, exclude_categories=("C", "Z")), min_size=1, max_size=30)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Shapes in Slurm's own units: others are turned into these and come back as such."""
    nodes = draw(st.none() | counts)
    wider = draw(st.none() | counts) if nodes is not None else None
    per = draw(st.sampled_from(UNITS))
    gpus = Gpus(count=draw(counts), per=per, model=draw(st.none() | st.sampled_from(["a100", "mi250x", "a100_1g.5gb"])))
    memory = Memory(bytes=draw(counts) * MIB, per=draw(st.sampled_from(["node", "cpu", "gpu"])))
    return Shape(
        nodes=nodes,
        nodes_max=nodes + wider if nodes is not None and wider is not None else None,
        tasks=draw(st.none() | counts),
        tasks_per_node=draw(st.none() | counts),
        cpus_per_task=draw(st.none() | counts),
        gpus=draw(st.sampled_from([None, gpus])),
        memory=draw(st.sampled_from([None, memory])),
        local_disk_bytes=draw(st.none() | counts.map(lambda count: count * MIB)),
        exclusive=draw(st.sampled_from([None, True])),
        constraint=draw(st.none() | features),
    )


@st.composite
def specs(draw: st.DrawFn) -> JobSpec:
    components = draw(st.lists(shapes(), min_size=2, max_size=3)) if draw(st.booleans()) else []
    queues = tuple(draw(st.lists(plain, max_size=3, unique=True)))
    ranges = st.builds(lambda first, more, step: ArrayRange(first=first, last=first + more, step=step if more else 1),
                       counts, st.integers(0, 50), st.integers(1, 5))  # fmt: skip
    arrays = st.builds(
        ArraySpec, ranges=st.lists(ranges, min_size=1, max_size=3).map(tuple), at_once=st.none() | counts
    )
    dependencies = st.builds(Dependency, kind=st.sampled_from(["afterok", "afterany"]), job_id=counts.map(str))
    return JobSpec(
        tag=TAG,
        name=draw(words),
        shape=components[0] if components else draw(shapes()),
        components=tuple(components),
        walltime_s=draw(st.none() | st.integers(1, 10**7)),
        walltime_min_s=draw(st.none() | st.integers(1, 10**7)),
        work_dir="/work/t",
        control_dir="/work",
        body="./app\n",
        account=draw(st.none() | words) if not components else None,
        queue=queues[0] if queues and not components else None,
        queues=queues if len(queues) > 1 and not components else (),
        qos=draw(st.none() | plain) if not components else None,
        array=draw(st.none() | arrays),
        dependencies=tuple(draw(st.lists(dependencies, max_size=2))),
        start_after=draw(
            st.none() | st.datetimes(datetime(2001, 9, 10), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
        ),
        requeue=draw(st.booleans()),
    )


@given(specs())
def test_what_is_written_is_read_back(spec: JobSpec) -> None:
    reading = SLURM.read_script(SLURM.render(spec))
    assert reading.problems == ()
    request = reading.request
    assert (request.components or (request.shape,)) == (spec.components or (spec.shape,))
    for field in ("name", "walltime_min_s", "account", "queue", "queues", "qos", "array", "dependencies", "requeue"):
        if field != "walltime_min_s" or not spec.components:
            assert getattr(request, field) == getattr(spec, field), field
    assert request.walltime_s == spec.walltime_s
    if spec.start_after is not None:
        assert request.start_after is not None
        assert 0 <= (request.start_after - spec.start_after).total_seconds() < 1


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable()))
def test_any_printable_value_is_one_word(value: str) -> None:
    line = f"--extra={quote_word(value, where='x')}"
    assert split_words(line) == ([f"--extra={value}"], "")
    assert "\n" not in line


hostile = st.text(st.sampled_from("\n\r\t\x00\x0b\x1b\u2028#SBATCH -o'\"\\$`;é "), min_size=1, max_size=30)


@given(hostile, hostile, hostile)
def test_no_value_becomes_a_line_or_a_directive(constraint: str, native: str, body: str) -> None:
    spec = JobSpec.model_construct(
        **{
            **dict(JobSpec(tag=TAG, shape=Shape(), work_dir="/w", control_dir="/c", body="x")),
            "shape": Shape.model_construct(constraint=constraint),
            "native_options": (f"--extra={native}",),
            "body": body,
        }
    )
    try:
        script = SLURM.render(spec)
    except BadRequest:
        return
    own = [line for line in script.split("\n") if re.match(r"\s*#SBATCH", line)]
    names = [line.removeprefix("#SBATCH --").partition("=")[0] for line in own]
    assert len(names) == len(set(names))
    assert set(names) <= {
        "job-name", "comment", "chdir", "output", "error", "mail-type", "no-requeue", "constraint", "extra",
    }  # fmt: skip
    assert all(line.isprintable() for line in own)
    assert script.startswith("#!/bin/sh\n#SBATCH ")


lines = st.lists(st.text(st.sampled_from("\x1f|0123_[]+%-.,:RUNIGPEDC \n{}\"'"), max_size=60), max_size=8).map(
    "\x1f".join
)
anything = st.text(max_size=200) | lines
REFS = [JobRef(job_id="1"), JobRef(job_id="2_3"), JobRef(job_id="0"), JobRef(job_id="12+1")]


@given(anything, anything, st.integers(0, 255))
def test_no_output_raises(out: str, err: str, rc: int) -> None:
    done = Completed(("x",), rc, out.encode("utf-8", "replace"), err.encode("utf-8", "replace"))
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for answers in (SLURM.parse_status(done, REFS), SLURM.parse_history(done, REFS)):
        assert set(answers.jobs) <= {ref.job_id for ref in REFS}
        assert not answers.trouble or not answers.absent
        assert rc == 0 or answers.trouble
    submitted = SLURM.parse_submit(done)
    assert sum(map(bool, (submitted.job, submitted.refused, submitted.doubt))) == 1
    assert submitted.job is None or rc == 0
    SLURM.parse_find(done, TAG)
    SLURM.parse_cancel(done)
    SLURM.parse_estimate(done, at)
    SLURM.parse_workload([done] * 4)


@given(st.text(st.characters(exclude_categories=("Lu", "Cs")), max_size=20))
def test_no_unknown_word_is_an_end(word: str) -> None:
    """Slurm's words are upper case: nothing else may end a job."""
    row = f"1\x1f1\x1f{word}" + "\x1f" * 10
    found = SLURM.parse_status(Completed(("squeue",), 0, row.encode(), b""), [JobRef(job_id="1")])
    assert all(status.state is JobState.UNKNOWN for status in found.jobs.values())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["jobs", "errors", "job_id", "job_state", "state", "current", "set", "number", "infinite", "time", "array",
             "task_id", "exit_code", "return_code", "array_job_id", "array_task_id", "start_time"]
        ),
        inner,
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


job_fields = st.sampled_from(
    "job_id job_state state array_job_id array_task_id exit_code start_time end_time time nodes comment het".split()  # noqa: SIM905
)


@given(st.lists(st.dictionaries(job_fields, json_values, max_size=8), max_size=4), json_values)
def test_no_json_raises(jobs: list[object], errors: object) -> None:
    import json

    text = json.dumps({"jobs": jobs, "errors": errors})
    SLURM.parse_status(Completed(("squeue",), 0, text.encode(), b""), REFS)


scraps = st.sampled_from(
    [
        "-N", "--nodes=", "2-4", "--gres=gpu:", "hetjob", "-t", "1:2", "'", "\\", "#", "=", "--mem", "0", ",", "-p",
        "--array=1-", "--begin=uts9", "\x01", "--export=A=1,B", "--job-name=(", "--image=x", "--dependency=afterok:1",
        "--time=0",
    ]
)  # fmt: skip


@given(anything | st.lists(scraps, max_size=10).map(" ".join))
def test_no_script_raises(directive: str) -> None:
    reading = SLURM.read_script(f"#!/bin/sh\n#SBATCH {directive}\n./app\n")
    assert reading.request is not None
    SLURM.read_script(directive)
