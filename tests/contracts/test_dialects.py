"""What every registered dialect must do: a new scheduler is tested by existing."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest, CommandTimeout, DragomanError
from dragoman.job import JobRef, JobSpec, JobState
from dragoman.observation import Outcome
from dragoman.protocols import Dialect, SubmitAnswer
from dragoman.request import EnvironmentVariable
from dragoman.shape import Shape
from providers.registry import dialects

TAG = "dgm-0123456789ab-a0"
SINCE = datetime(2024, 3, 1, 22, tzinfo=UTC)
SECRET_NAME = "API_TOKEN"
SPEC = JobSpec(
    tag=TAG,
    name="contract test",
    shape=Shape(nodes=1, tasks=2, cpus_per_task=2),
    walltime_s=29,
    work_dir="/work/t/work",
    control_dir="/work/t",
    body="#!/bin/sh\n./app 'a b'\n",
    environment=(
        EnvironmentVariable(name=SECRET_NAME, secret="vault-key-7"),
        EnvironmentVariable(name="PLAIN", value="$(touch /tmp/x) \"'"),
    ),
)
NO_ANSWER = [
    Completed(("x",), 1, b"", b"cannot connect to server: Connection refused\n"),
    Completed(("x",), 1, b"", b"error: Socket timed out on send/recv operation\n"),
    Completed(("x",), 137, b"", b""),
    Completed(("x",), 1, b"\x00\xff\x1f{[<", b"\xff"),
    Completed(("x",), 0, b"", b"", truncated=True),
]
GARBAGE = [
    b"Please note: the system is down for maintenance on 3 June, 12 nodes\n",
    b"<html><body>502 Bad Gateway</body></html>\n",
    b"{\n",
    b"Error executing command: timed out after 30 seconds\n",
    b"\xff\xfe\x00\x1f|;,\n",
]

SCRIPTS_ONLY = [name for name, make in dialects.items() if getattr(make, "only_scripts", False)]

pytestmark = pytest.mark.parametrize("name", [name for name in dialects.names() if name not in SCRIPTS_ONLY])


def made(name: str) -> Dialect:
    return dialects.get(name)()


def ids(dialect: Dialect, count: int) -> list[JobRef]:
    """Ids of the form that this dialect accepts in its own commands."""
    for form in ("{}", "{}.server", "job-{}", "f{}", TAG):
        refs = [JobRef(job_id=form.format(number), tag=TAG) for number in range(1, count + 1)]
        try:
            dialect.cancel_command(refs[0])
        except BadRequest:
            continue
        return refs
    raise AssertionError(f"{dialect.name} takes no form of id")


def test_is_a_dialect(name: str) -> None:
    dialect = made(name)
    assert isinstance(dialect, Dialect)
    assert dialect.name == name


def test_script_shape(name: str) -> None:
    script = made(name).render(SPEC)
    assert script.startswith("#!")
    assert "\r" not in script
    assert script.endswith("\n")


def test_script_holds_no_secret_and_claims_its_attempt(name: str) -> None:
    script = made(name).render(SPEC)
    assert "vault-key-7" not in script
    assert TAG in script


def test_script_is_the_same_each_time(name: str) -> None:
    assert made(name).render(SPEC) == made(name).render(SPEC)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x\n#SBATCH --uid=0"), ("account", "a\nb"), ("queue", "q\rr"), ("qos", "q\x00"),
        ("reservation", "r\u2028s"), ("work_dir", "/w\n#PBS -l x"), ("native_options", ("--x=\n#SBATCH -n 9",)),
        ("stdout", "a\nb"), ("licenses", ("a\n#BSUB -x",)),
    ],
)  # fmt: skip
def test_control_characters_reach_no_script(name: str, field: str, value: object) -> None:
    """Checked once more where the script is written, whatever made the spec."""
    bad = JobSpec.model_construct(**{**dict(SPEC), field: value})
    try:
        script = made(name).render(bad)
    except BadRequest:
        return
    text = value[0] if isinstance(value, tuple) else str(value)
    assert text not in script
    assert not re.search(r"^#(?:SBATCH --uid=0|SBATCH -n 9|PBS -l x|BSUB -x)", script, re.MULTILINE)


def commands(dialect: Dialect) -> list[Command]:
    refs = ids(dialect, 3)
    found = [
        dialect.submit_command(SPEC, "/work/t/job.sh"),
        dialect.estimate_command(SPEC, "/work/t/job.sh"),
        *dialect.status_commands(refs),
        *dialect.history_commands(refs, SINCE),
        *dialect.find_commands(TAG, SINCE),
        dialect.cancel_command(refs[0]),
        dialect.hold_command(refs[0]),
        dialect.release_command(refs[0]),
        *dialect.workload_commands(),
    ]
    return [command for command in found if command is not None]


def test_commands_are_argument_lists(name: str) -> None:
    for command in commands(made(name)):
        assert isinstance(command.argv, tuple)
        assert all(isinstance(item, str) and item and "\n" not in item and "\0" not in item for item in command.argv)
        assert command.argv[0] not in {"sh", "bash", "env", "eval"} or name == "machine"
        assert command.timeout_s > 0


def test_few_commands_for_many_jobs(name: str) -> None:
    dialect = made(name)
    refs = ids(dialect, 1000)
    assert 1 <= len(dialect.status_commands(refs)) <= 10
    assert len(dialect.history_commands(refs, SINCE)) <= 20
    longest = max(len(" ".join(command.argv)) for command in dialect.status_commands(refs))
    assert longest < 100_000


@pytest.mark.parametrize("job_id", ["-1", "--all", "1;reboot", "1 2", "$(id)", "1\n2", "../1"])
def test_a_hostile_id_becomes_no_option_and_no_second_argument(name: str, job_id: str) -> None:
    bad = JobRef.model_construct(job_id=job_id, cluster=None, tag=None)
    try:
        command = made(name).cancel_command(bad)
    except BadRequest:
        return
    options = command.argv[: command.argv.index("--")] if "--" in command.argv else command.argv
    assert not any(item.startswith("-") and item == job_id for item in options)
    assert len(command.argv) == len(made(name).cancel_command(ids(made(name), 1)[0]).argv)


@pytest.mark.parametrize("done", NO_ANSWER, ids=lambda done: f"rc{done.rc}")
def test_no_answer_is_trouble_and_nothing_is_absent(name: str, done: Completed) -> None:
    dialect = made(name)
    refs = ids(dialect, 2)
    for answers in (dialect.parse_status(done, refs), dialect.parse_history(done, refs)):
        assert answers.trouble
        assert answers.absent == frozenset()
        assert not any(status.state.final for status in answers.jobs.values())
    assert dialect.parse_find(done, TAG).outcome is Outcome.UNKNOWN
    if done.rc:
        assert dialect.parse_cancel(done).outcome is not Outcome.OK


@pytest.mark.parametrize("out", GARBAGE)
def test_garbage_shows_neither_absence_nor_an_end(name: str, out: bytes) -> None:
    dialect = made(name)
    refs = ids(dialect, 2)
    done = Completed(("x",), 0, out, b"")
    for answers in (dialect.parse_status(done, refs), dialect.parse_history(done, refs)):
        assert answers.absent == frozenset()
        assert not any(status.state.final for status in answers.jobs.values())
    assert dialect.parse_find(done, TAG).outcome is not Outcome.ABSENT


def test_unreachable_site_has_no_empty_workload(name: str) -> None:
    dialect = made(name)
    count = len(dialect.workload_commands())
    down: list[Completed | Exception] = [Completed(("x",), 1, b"", b"Connection refused")] * count
    silent: list[Completed | Exception] = [CommandTimeout("no answer")] * count
    for answers in (down, silent):
        answer = dialect.parse_workload(answers)
        assert answer.outcome is Outcome.UNKNOWN
        assert answer.reason


def kinds(answer: SubmitAnswer) -> int:
    return sum((answer.job is not None, bool(answer.refused), bool(answer.doubt)))


@pytest.mark.parametrize(
    "done",
    [
        Completed(("x",), 0, b"", b""),
        Completed(("x",), 0, b"thank you\n", b""),
        Completed(("x",), 1, b"", b"error: Socket timed out on send/recv operation\n"),
        Completed(("x",), 1, b"", b"cannot connect to server: Connection refused\n"),
        Completed(("x",), 143, b"", b""),
    ],
)
def test_a_submit_without_a_clear_answer_is_in_doubt(name: str, done: Completed) -> None:
    answer = made(name).parse_submit(done)
    assert kinds(answer) == 1
    assert answer.doubt


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(out=st.binary(max_size=200), err=st.text(max_size=80), rc=st.integers(0, 255))
def test_nothing_raises(name: str, out: bytes, err: str, rc: int) -> None:
    dialect = made(name)
    refs = ids(dialect, 2)
    done = Completed(("x",), rc, out, err.encode("utf-8", "replace"))
    assert kinds(dialect.parse_submit(done)) == 1
    dialect.parse_estimate(done, SINCE)
    dialect.parse_status(done, refs)
    dialect.parse_history(done, refs)
    dialect.parse_find(done, TAG)
    dialect.parse_cancel(done)
    dialect.parse_workload([done] * len(dialect.workload_commands()))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(max_size=300) | st.text(st.sampled_from("#SBATCHPOUF$-=\n lqnN:,[]'\"0123456789"), max_size=120))
def test_no_script_raises_but_with_a_cure(name: str, text: str) -> None:
    try:
        made(name).read_script(text)
    except DragomanError as error:
        told = error
    else:
        return
    assert told.cure


def test_no_unknown_word_is_an_end(name: str) -> None:
    dialect = made(name)
    states = getattr(dialect, "states", None)
    if not states:
        pytest.skip("its states are no table")
    assert "Frobnicated" not in states
    assert all(isinstance(state, JobState) for state in states.values())
    assert {state for state in states.values() if state.final}
