"""The dialect `machine`: scripts, answers, refusals. Its queue is tried with real processes in tests/integration."""

import ast
import json
import sys
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue, Workload
from dragoman.job import JobRef, JobSpec, JobState, JobStatus, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Outcome
from dragoman.proposal import StartEstimate
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory, Shape
from providers.registry import dialects
from providers.schedulers.machine import PYTHON_OPTIONS, RUNNER_PATH, Machine, runner_bytes, runner_digest
from providers.schedulers.machine_site.directives import decode, encode
from providers.schedulers.machine_site.job import Job

TAG = "dgm-abcdefghijkl-a1"
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def spec(**values: Any) -> JobSpec:
    base: dict[str, Any] = {"tag": TAG, "shape": Shape(), "work_dir": "/w", "control_dir": "/c", "body": "echo hi\n"}
    return JobSpec(**{**base, **values})


@pytest.fixture
def machine() -> Machine:
    return Machine(program=("python3", "runner"), state="/s")


def done(answer: object, rc: int = 0, err: str = "") -> Completed:
    text = answer if isinstance(answer, str) else json.dumps(answer) + "\n"
    return Completed(("python3",), rc, text.encode(), err.encode())


def directives(script: str) -> list[str]:
    return [line for line in script.splitlines() if line.startswith("#DRAGOMAN ")]


def test_it_is_registered_and_runs_this_python_with_the_installed_program() -> None:
    made = dialects.get("machine")()
    command = made.submit_command(spec(), "/c/script")
    assert command.argv == (
        sys.executable, *PYTHON_OPTIONS, str(RUNNER_PATH), "submit", "--tag", TAG, "--", "/c/script",
    )  # fmt: skip
    assert RUNNER_PATH.is_file()


def test_render(machine: Machine) -> None:
    script = machine.render(
        spec(
            name="my job: one",
            shape=Shape(
                tasks=4, cpus_per_task=2, gpus=Gpus(count=1, per="task"), memory=Memory(bytes=2**30, per="cpu")
            ),
            walltime_s=90,
            work_dir="/work/a b%",
            stdout="o'ut",
            dependencies=(Dependency(kind="afterok", job_id="12"),),
            start_after=datetime(2026, 1, 1, 0, 0, 0, 500, tzinfo=UTC),
        )
    )
    assert script.startswith("#!/bin/sh\n#DRAGOMAN ")
    assert directives(script) == [
        "#DRAGOMAN --cpus=8",
        "#DRAGOMAN --tasks=4",
        "#DRAGOMAN --memory=8589934592",
        "#DRAGOMAN --gpus=4",
        "#DRAGOMAN --walltime=90",
        f"#DRAGOMAN --tag={TAG}",
        "#DRAGOMAN --name=my%20job:%20one",
        "#DRAGOMAN --work-dir=/work/a%20b%25",
        "#DRAGOMAN --control-dir=/c",
        "#DRAGOMAN --output=o%27ut",
        "#DRAGOMAN --error=stderr.log",
        "#DRAGOMAN --after=afterok:12",
        "#DRAGOMAN --begin=1767225601",
    ]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"array": ArraySpec(ranges=(ArrayRange(first=1, last=3),))}, "array"),
        ({"components": (Shape(), Shape())}, "components"),
        ({"shape": Shape(nodes=2)}, "shape.nodes"),
        ({"shape": Shape(tasks=8, tasks_per_node=4)}, "shape.nodes"),
        ({"shape": Shape(constraint="skylake")}, "shape.constraint"),
        ({"shape": Shape(memory=Memory(bytes=1, per="gpu"))}, "shape.memory"),
        ({"reservation": "r"}, "reservation"),
        ({"licenses": ("l",)}, "licenses"),
        ({"image": "i"}, "image"),
        ({"dependencies": (Dependency(kind="singleton"),)}, "dependencies.0"),
        ({"dependencies": (Dependency(kind="afterok", job_id="12.server"),)}, "dependencies.0"),
        ({"native_options": ("--cpus=4",)}, "native_options"),
        ({"native_options": ("; rm -rf /",)}, "native_options"),
    ],
)
def test_what_it_cannot_do_is_refused_by_field(machine: Machine, change: dict[str, Any], where: str) -> None:
    with pytest.raises(BadRequest) as caught:
        machine.render(spec(**change))
    assert caught.value.where == where
    assert caught.value.cure


@pytest.mark.parametrize("field", ["name", "work_dir", "control_dir", "stdout", "stderr", "tag"])
@pytest.mark.parametrize("value", ["/a\nb", "/a\r#DRAGOMAN --gpus=9", "/a\x7f", "/\u2028", "/\udcff"])
def test_values_that_would_end_a_line_are_refused_even_unvalidated(machine: Machine, field: str, value: str) -> None:
    with pytest.raises(BadRequest):
        machine.render(spec().model_copy(update={field: value}))


@settings(deadline=None)
@given(st.text(max_size=60).filter(lambda text: all(ord(one) > 31 and ord(one) != 127 for one in text)))
def test_any_text_survives_a_directive_and_stays_one_word(text: str) -> None:
    written = encode(text)
    assert written.isascii()
    assert not set(written) & set(" \t\r\n'\"\\$`;&|<>#()")
    assert decode(written) == text


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._+@/:\-]{0,30}", fullmatch=True)
SHAPES = st.builds(
    lambda tasks, each, gpus, memory, exclusive: Shape(
        tasks=tasks, cpus_per_task=each, gpus=gpus, memory=memory, exclusive=exclusive
    ),
    st.none() | st.integers(1, 64),
    st.none() | st.integers(1, 16),
    st.none() | st.builds(Gpus, count=st.integers(1, 8), per=st.sampled_from(("node", "task", "job"))),
    st.none() | st.builds(Memory, bytes=st.integers(1, 2**40), per=st.sampled_from(("node", "task", "cpu", "job"))),
    st.none() | st.just(True),
)
DEPENDENCIES = st.lists(
    st.builds(
        Dependency,
        kind=st.sampled_from(("afterok", "afterany", "afternotok", "after")),
        job_id=st.integers(0, 999).map(str),
    ),
    max_size=3,
).map(tuple)
BEGINS = st.none() | st.integers(0, 2**33).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@settings(deadline=None, max_examples=60)
@given(NAMES, SHAPES, st.none() | st.integers(1, 10**7), DEPENDENCIES, BEGINS)
def test_what_is_rendered_is_read_back(
    name: str, shape: Shape, walltime: int | None, dependencies: tuple[Dependency, ...], begin: datetime | None
) -> None:
    asked = spec(name=name, shape=shape, walltime_s=walltime, dependencies=dependencies, start_after=begin)
    reading = Machine().read_script(Machine().render(asked))
    request, back = reading.request, reading.request.shape
    cpus, gpus = shape.total_cpus or 1, shape.total_gpus or 0
    assert (request.name, request.walltime_s, request.dependencies) == (name, walltime, dependencies)
    assert request.start_after == begin
    assert (back.total_cpus, back.total_gpus, back.task_count) == (cpus, gpus, shape.task_count)
    assert back.memory_bytes_per_node(1, cpus, gpus) == shape.memory_bytes_per_node(1, cpus, gpus)
    assert back.exclusive == shape.exclusive
    assert reading.problems == ()
    assert "#DRAGOMAN" not in reading.body
    assert reading.interpreter == "/bin/sh"


def test_script_of_a_person(machine: Machine) -> None:
    text = (
        "#!/bin/bash -l\n# mine\n#DRAGOMAN --cpus=4 --walltime=1-02:00:00 --memory=16G --output=x\n#DRAGOMAN --cpu=3\n"
    )
    text += "#dragoman --gpus=1\necho hi\n#DRAGOMAN --gpus=2\n"
    reading = machine.read_script(text)
    assert reading.request.shape == Shape(cpus=4, memory=Memory(bytes=16 * 2**30, per="job"))
    assert reading.request.walltime_s == 93600
    assert reading.interpreter == "/bin/bash -l"
    assert reading.not_carried == ("--output=x",)
    assert reading.problems == (
        "line 4: --cpu=3: there is no such option (write a blank within a value as %20)",
        "line 7: stands after the first command and is not read",
        "line 5: #dragoman --gpus=1: was perhaps meant as a directive",
    )
    for source in reading.request.sources:
        assert source.start is not None
        assert text[source.start : source.start + len(source.words)] == source.words
    assert {source.field for source in reading.request.sources} == {"shapes.0.cpus", "shapes.0.memory", "walltime_s"}


def test_submit_answers(machine: Machine) -> None:
    taken = machine.parse_submit(done({"schema": 1, "job": {"id": "0", "tag": TAG}, "existing": False, "notes": ["n"]}))
    assert taken.job == JobRef(job_id="0", tag=TAG)
    assert taken.warnings == ("n",)
    banner = machine.parse_submit(done('Welcome!\n{"schema":1,"job":{"id":"7","tag":"mine"}}\n'))
    assert banner.job == JobRef(job_id="7")


@pytest.mark.parametrize(
    ("kind", "rc", "means"),
    [
        ("bad-request", 2, ReasonClass.NEVER),
        ("too-large", 2, ReasonClass.NEVER),
        ("full", 28, ReasonClass.WAIT),
        ("busy", 75, ReasonClass.WAIT),
        ("wrong-host", 69, ReasonClass.PERSON),
    ],
)
def test_refusals(machine: Machine, kind: str, rc: int, means: ReasonClass) -> None:
    answer = machine.parse_submit(done({"schema": 1, "error": {"kind": kind, "what": "no", "cure": "do"}}, rc))
    assert (answer.job, answer.refused, answer.reason_class, answer.doubt) == (None, "no (do)", means, "")


DOUBTS = [
    done("", 137),
    done("", 0),
    done("Traceback\n", 1, "Traceback ..."),
    done({"schema": 2, "job": {"id": "1"}}),
    done({"schema": 1, "job": {"id": "1"}}, 1),
    done({"schema": 1, "job": {}}),
    done({"schema": 1, "error": {"kind": "failed", "what": "I/O error"}}, 70),
    done('{"schema":1,"job":{"id":"1"'),
    done([1]),
]


@pytest.mark.parametrize("answer", DOUBTS)
def test_anything_else_is_a_doubt(machine: Machine, answer: Completed) -> None:
    parsed = machine.parse_submit(answer)
    assert (parsed.job, parsed.refused) == (None, "")
    assert parsed.doubt


@pytest.mark.parametrize("answer", [one for one in DOUBTS if one.out != '{"schema": 1, "job": {}}\n'])
def test_no_answer_is_unknown_everywhere(machine: Machine, answer: Completed) -> None:
    refs = [JobRef(job_id="1")]
    status = machine.parse_status(answer, refs)
    assert (status.jobs, status.absent) == ({}, frozenset())
    assert status.trouble
    assert machine.parse_find(answer, TAG).outcome is Outcome.UNKNOWN
    assert machine.parse_workload([answer]).outcome is Outcome.UNKNOWN
    if answer.rc != 0 or "job" not in answer.out:
        assert machine.parse_cancel(answer).outcome is Outcome.UNKNOWN
        assert machine.parse_estimate(answer, AT).outcome is Outcome.UNKNOWN


def test_status_of_many(machine: Machine) -> None:
    refs = [JobRef(job_id=str(number)) for number in range(6)]
    [command] = machine.status_commands(refs)
    assert command.argv == ("python3", "runner", "status", "--state", "/s", "--", "0", "1", "2", "3", "4", "5")
    jobs: list[dict[str, Any]] = [
        {
            "id": "0",
            "state": "failed",
            "exit_code": 3,
            "submitted": 1.0,
            "started": 2.0,
            "ended": 4.5,
            "max_rss": 10,
            "name": "n",
        },
        {"id": "1", "state": "pending", "reason": "too much", "never": True, "submitted": 1.0},
        {"id": "2", "state": "held", "reason": "held by a person", "submitted": 1.0},
        {"id": "3", "state": "unknown", "reason": "cannot be read"},
        {"id": "4", "state": "a word of tomorrow"},
        {"id": "99", "state": "running"},
    ]
    answer = machine.parse_status(
        done({"schema": 1, "host": "h", "jobs": jobs, "absent": ["5", "98"], "notes": []}), refs
    )
    assert answer.trouble == ""
    assert answer.absent == {"5"}
    second = datetime.fromtimestamp(1, UTC)
    assert answer.jobs["0"] == JobStatus(
        ref=refs[0], state=JobState.FAILED, native_state="failed", name="n", queue="machine", exit_code=3,
        submitted_at=second,
        started_at=datetime.fromtimestamp(2, UTC), ended_at=datetime.fromtimestamp(4.5, UTC), elapsed_s=2.5,
        nodes=("h",), restarts=0, max_rss_bytes=10,
    )  # fmt: skip
    assert answer.jobs["1"].reason_class is ReasonClass.NEVER
    assert answer.jobs["2"].reason_class is ReasonClass.PERSON
    assert {key: job.state for key, job in answer.jobs.items()} == {
        "0": JobState.FAILED,
        "1": JobState.PENDING,
        "2": JobState.HELD,
        "3": JobState.UNKNOWN,
        "4": JobState.UNKNOWN,
    }


def test_every_state_of_the_queue_is_a_word_of_ours(machine: Machine) -> None:
    from providers.schedulers.machine_site.job import ENDS, STATES

    assert {machine.state(state) for state in STATES}.isdisjoint({JobState.UNKNOWN})
    assert {state for state in STATES if machine.state(state).final} == ENDS


def test_find_and_cancel(machine: Machine) -> None:
    job = {"id": "3", "tag": TAG}
    assert machine.parse_find(done({"schema": 1, "outcome": "ok", "job": job}), TAG).value == JobRef(
        job_id="3", tag=TAG
    )
    assert machine.parse_find(done({"schema": 1, "outcome": "absent"}), TAG).outcome is Outcome.ABSENT
    assert machine.parse_find(done({"schema": 1, "outcome": "unknown", "reason": "r"}), TAG).reason == "r"
    other = {"id": "3", "tag": "dgm-abcdefghijkl-a2"}
    assert machine.parse_find(done({"schema": 1, "outcome": "ok", "job": other}), TAG).outcome is Outcome.UNKNOWN
    assert machine.parse_cancel(done({"schema": 1, "job": job})).outcome is Outcome.OK
    gone = {"schema": 1, "error": {"kind": "no-such-job", "what": "w"}}
    assert machine.parse_cancel(done(gone, 3)).outcome is Outcome.ABSENT


def test_workload(machine: Machine) -> None:
    answer = {
        "schema": 1, "host": "h", "limits": {"cpus": 8, "memory": 100, "gpus": 2},
        "free": {"cpus": 3, "memory": 40, "gpus": 1},
        "pending": 2, "held": 1, "running": 1, "notes": [],
    }  # fmt: skip
    assert machine.parse_workload([done(answer)]).value == Workload(
        scheduler="machine", version="1", jobs_pending=3, jobs_running=1, whole_nodes_only=Truth.NO,
        queues=(Queue(
            name="machine", usable=Truth.YES, default=True, walltime_unlimited=True, min_nodes=1, max_nodes=1,
            max_cpus_per_job=8, max_cpus_per_node=8, max_memory_bytes_per_node=100, max_gpus_per_job=2, jobs_pending=3,
            jobs_running=1, nodes_total=1, nodes_idle=0, exclusive_nodes=Truth.NO, shares_cores=True,
        ),),
        groups=(NodeGroup(
            nodes=1, nodes_up=1, nodes_idle=0, cpus_per_node=8, cpus_free=3, largest_free_cpus=3,
            memory_bytes_per_node=100, memory_free_bytes=40, gpus=(Gpu(count=2, free=1),), example="h",
            free_shares=(FreeShare(cpus=3, memory_bytes=40, gpus=(1,)),),
        ),),
    )  # fmt: skip
    no_gpus = {**answer, "limits": {"cpus": 8, "memory": 0, "gpus": 0}}
    workload = machine.parse_workload([done(no_gpus)]).value
    assert workload is not None
    assert workload.groups is not None
    group = workload.groups[0]
    assert (group.gpus, group.memory_bytes_per_node, group.memory_free_bytes) == ((), None, None)
    assert machine.parse_workload([TimeoutError("late")]).reason == "late"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, StartEstimate(now=Truth.YES, expected_s=0, low_s=0, high_s=0, method="scheduler", made_at=AT)),
        (90, StartEstimate(now=Truth.NO, expected_s=90, low_s=0, high_s=90, method="scheduler", made_at=AT)),
        (None, StartEstimate(now=Truth.NO, method="scheduler", made_at=AT)),
    ],
)
def test_estimate(machine: Machine, seconds: float | None, expected: StartEstimate) -> None:
    assert machine.parse_estimate(done({"schema": 1, "seconds": seconds}), AT).value == expected
    command = machine.estimate_command(spec(shape=Shape(cpus=4), walltime_s=60), "/not/there")
    assert command.argv[-2:] == ("--", "--cpus=4 --walltime=60")


SITE = RUNNER_PATH.with_name("machine_site")


@pytest.mark.parametrize("path", [RUNNER_PATH, *sorted(SITE.glob("*.py"))], ids=lambda path: str(path.name))
def test_program_is_for_python_3_8_and_the_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in {*sys.stdlib_module_names, "machine_site"}


def test_packed_program_is_the_same_every_time_and_holds_every_module() -> None:
    runner_bytes.cache_clear()
    first, digest = runner_bytes(), runner_digest()
    runner_bytes.cache_clear()
    assert (runner_bytes(), runner_digest()) == (first, digest)
    names = zipfile.ZipFile(BytesIO(first)).namelist()
    assert names == ["__main__.py", *(f"machine_site/{path.name}" for path in sorted(SITE.glob("*.py")))]


def test_record_of_another_version_is_refused() -> None:
    assert Job(id="1", cpus=2).dump() == {"schema": 1, "id": "1", "cpus": 2}
    for wrong in ({"id": "x"}, {"id": "1", "schema": 2}, {"id": "1", "colour": "red"}, {"id": "1", "cpus": "2"}, {}):
        with pytest.raises(ValueError):  # noqa: PT011
            Job(**wrong)
