"""Submit: what is written, and what the answer means."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dragoman.command import Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec, ReasonClass
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.slurm import SlurmDialect

GIB = 2**30
Render = Callable[..., list[str]]
Done = Callable[..., Completed]


@pytest.mark.parametrize(
    ("out", "job_id", "cluster"),
    [
        ("75168975;clusterb\n", "75168975", "clusterb"),
        ("Submitted batch job 4711 on cluster pikachu\n", "4711", "pikachu"),
        ("7\n", "7", None),
        ("Warning: 3 days left\n12;c-1.x\n", "12", "c-1.x"),
        (
            "-----\n   Welcome to the Example Supercomputer\n-----\nNo reservation for this job\n"
            "--> Verifying availability of your home dir (/home1/03872/alice)...OK\n"
            "--> Checking available allocation (Proj_2024)...OK\nSubmitted batch job 55473\n",
            "55473",
            None,
        ),
        ("sbatch: project 1234 has 77 hours left\n\n  890\n", "890", None),
        ("2024\nSubmitted batch job 9\n", "9", None),
        ("sbatch: Submitted batch job 9 on cluster c-1\n", "9", "c-1"),
        ("\x1b[32mSubmitted batch job 9\x1b[0m\n", "9", None),
        ("Submitted batch job 9\n2024\n", "9", None),
    ],
)
def test_id_is_read(slurm: SlurmDialect, done: Done, out: str, job_id: str, cluster: str | None) -> None:
    assert slurm.parse_submit(done(out)).job == JobRef(job_id=job_id, cluster=cluster)


def test_cluster_goes_with_every_later_command(slurm: SlurmDialect, ref: Callable[..., JobRef]) -> None:
    job = ref("75168975", "clusterb")
    commands = [
        *slurm.status_commands([job]),
        *slurm.history_commands([job], datetime(2024, 3, 1, 22, tzinfo=UTC)),
        slurm.cancel_command(job),
        slurm.hold_command(job),
        slurm.release_command(job),
    ]
    assert all(command is not None and command.argv[1] == "--clusters=clusterb" for command in commands)


@pytest.mark.parametrize(
    "err",
    [
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.\n",
        "sbatch: error: Socket timed out on send/recv operation\n",
        "sbatch: error: Memory specification can not be satisfied\n",
    ],
)
def test_exit_status_and_id_win_over_stderr(slurm: SlurmDialect, done: Done, err: str) -> None:
    answer = slurm.parse_submit(done("Submitted batch job 3146028\n", err))
    assert answer.job == JobRef(job_id="3146028")
    assert answer.warnings == (err.strip(),)
    assert (answer.refused, answer.doubt) == ("", "")


@pytest.mark.parametrize(
    ("out", "err", "rc"),
    [
        ("", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", 1),
        ("", "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)", 1),
        ("", "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received", 1),
        ("", "sbatch: error: Batch job submission failed: Unexpected message received: Connection reset by peer", 1),
        ("", "sbatch: error: Batch job submission failed: Unexpected message recieved", 1),
        ("", "sbatch: error: Batch job submission failed: Message receive failure", 1),
        ("", "sbatch: error: Batch job submission failed: Message send failure", 1),
        ("", "sbatch: error: Batch job submission failed: Communication connection failure", 1),
        ("", "sbatch: error: Batch job submission failed: Slurm backup controller in standby mode", 1),
        ("", "", 137),
        ("", "", 0),
        ("submitted", "", 0),
        ("812\n", "slurmstepd: error", 1),
    ],
)
def test_doubt(slurm: SlurmDialect, done: Done, out: str, err: str, rc: int) -> None:
    answer = slurm.parse_submit(done(out, err, rc))
    assert answer.doubt
    assert answer.job is None
    assert answer.refused == ""


POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        (f"AssocMaxSubmitJobLimit\nsbatch: error: {POLICY}", ReasonClass.WAIT),
        (f"QOSMaxSubmitJobPerUserLimit\nsbatch: error: {POLICY}", ReasonClass.WAIT),
        (f"QOSMaxSubmitJobPerAccountLimit\nsbatch: error: {POLICY}", ReasonClass.WAIT),
        (f"AssocGrpSubmitJobsLimit\nsbatch: error: {POLICY}", ReasonClass.WAIT),
        (f"QOSGrpSubmitJobsLimit\nsbatch: error: {POLICY}", ReasonClass.WAIT),
        (f"QOSMaxWallDurationPerJobLimit\nsbatch: error: {POLICY}", ReasonClass.NEVER),
        (f"QOSMaxNodePerJobLimit\nsbatch: error: {POLICY}", ReasonClass.NEVER),
        (f"QOSMinGRES\nsbatch: error: {POLICY}", ReasonClass.NEVER),
        ("Invalid partition name specified", ReasonClass.NEVER),
        ("Invalid qos specification", ReasonClass.NEVER),
        ("Requested node configuration is not available", ReasonClass.NEVER),
        ("Access/permission denied", ReasonClass.PERSON),
        (POLICY, ReasonClass.UNKNOWN),
        ("Unspecified error", ReasonClass.UNKNOWN),
    ],
)
def test_refusals_wait_never_or_person(slurm: SlurmDialect, done: Done, words: str, meaning: ReasonClass) -> None:
    answer = slurm.parse_submit(done("", f"sbatch: error: {words}", 1))
    assert answer.refused
    assert answer.reason_class is meaning


def test_old_sbatch_is_asked_again_without_parsable(
    slurm: SlurmDialect, done: Done, spec: Callable[..., JobSpec]
) -> None:
    for words in (
        "sbatch: unrecognized option '--parsable'",
        "sbatch: error: unknown option: --parsable",
        "wrapper: invalid option -- parsable",
    ):
        answer = slurm.parse_submit(done("", words, 1))
        assert answer.retry_without == ("--parsable",)
    command = slurm.submit_command(spec(), "/work/t/job.sh", without=answer.retry_without)
    assert command.argv == ("sbatch", "/work/t/job.sh")
    assert slurm.parse_submit(done("", "sbatch: unrecognized option '--foo'", 255)).retry_without == ()


def unset(command_unset: tuple[str, ...], name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in command_unset)


@pytest.mark.parametrize(
    "name",
    [
        "SBATCH_TIMELIMIT",
        "SBATCH_MEM_PER_NODE",
        "SBATCH_PARTITION",
        "SBATCH_QOS",
        "SLURM_CLUSTERS",
        "SLURM_MEM_PER_CPU",
    ],
)
def test_submit_is_not_changed_by_the_environment(slurm: SlurmDialect, spec: Callable[..., JobSpec], name: str) -> None:
    assert unset(slurm.submit_command(spec(), "/x").unset, name)
    assert not unset(slurm.submit_command(spec(), "/x").unset, "SLURM_CONF")


def test_submit_leaves_the_jobs_environment_alone(slurm: SlurmDialect, spec: Callable[..., JobSpec]) -> None:
    assert slurm.submit_command(spec(), "/x").environment == {}


@pytest.mark.parametrize("body", ["#SBATCH -n 1\r\n./app\r\n", "./app\r", "\r\n\r\n./app --in x\r\n"])
def test_script_has_no_carriage_return(slurm: SlurmDialect, spec: Callable[..., JobSpec], body: str) -> None:
    assert "\r\n" not in slurm.render(spec(body=body))


@pytest.mark.parametrize("body", ["\n    #!/bin/bash\n#SBATCH -n 1\n./app\n", "./app --in x\n", "\ufeff./app\n"])
def test_script_starts_with_shebang(slurm: SlurmDialect, spec: Callable[..., JobSpec], body: str) -> None:
    assert slurm.render(spec(body=body)).startswith("#!/bin/sh\n#SBATCH ")


def test_directives_come_before_the_first_command(slurm: SlurmDialect, spec: Callable[..., JobSpec]) -> None:
    lines = slurm.render(spec(body="#SBATCH --time=9\n#SBATCH hetjob\n")).split("\n")
    first = next(index for index, line in enumerate(lines) if line and not line.startswith("#"))
    assert not any(line.startswith("#SBATCH") for line in lines[first:])


@pytest.mark.parametrize(
    ("seconds", "time"),
    [(29, "00:00:29"), (1, "00:00:01"), (172800, "2-00:00:00"), (3600, "01:00:00"), (93784, "1-02:03:04")],
)
def test_walltime_is_neither_padded_nor_zero(directives: Render, seconds: int, time: str) -> None:
    assert f"--time={time}" in directives(walltime_s=seconds)


def test_no_walltime_writes_no_time(directives: Render) -> None:
    assert not [option for option in directives() if option.startswith("--time")]


def test_name_and_comment_carry_the_tag(directives: Render) -> None:
    options = directives(name="my job")
    assert '--job-name="my job.dgm-0123456789ab-a0"' in options
    assert "--comment=dgm-0123456789ab-a0" in options
    assert "--mail-type=NONE" in options
    assert "--no-requeue" in options


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape(nodes=2, nodes_max=4), ["--nodes=2-4"]),
        (Shape(tasks=2, gpus=Gpus(count=8, per="job")), ["--ntasks=2", "--gpus=8"]),
        (Shape(gpus=Gpus(count=2, per="node", model="a100")), ["--gres=gpu:a100:2"]),
        (Shape(tasks=4, gpus=Gpus(count=1, per="task")), ["--ntasks=4", "--gpus-per-task=1"]),
        (
            Shape(nodes=2, tasks_per_node=8, memory=Memory(bytes=64 * GIB, per="node")),
            ["--nodes=2", "--ntasks-per-node=8", "--mem=65536M"],
        ),
        (Shape(memory=Memory(bytes=GIB + 1, per="cpu")), ["--mem-per-cpu=1025M"]),
        (Shape(tasks=4, cpus_per_task=4, memory=Memory(bytes=8 * GIB, per="task")),
         ["--ntasks=4", "--cpus-per-task=4", "--mem-per-cpu=2048M"]),
        (Shape(nodes=3, memory=Memory(bytes=10 * GIB, per="job")), ["--nodes=3", "--mem=3414M"]),
        (Shape(nodes=2, cpus=64), ["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=32"]),
        (Shape(cpus=64), ["--ntasks=64"]),
        (Shape(nodes=1, cpus_per_node=32), ["--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=32"]),
        (Shape(exclusive=True, constraint="a100&nvlink", local_disk_bytes=1),
         ["--tmp=1M", "--exclusive", '--constraint="a100&nvlink"']),
    ],
)  # fmt: skip
def test_shapes(directives: Render, shape: Shape, expected: list[str]) -> None:
    fixed = {"--job-name", "--comment", "--chdir", "--output", "--error", "--mail-type", "--no-requeue"}
    assert [option for option in directives(shape=shape) if option.partition("=")[0] not in fixed] == expected


def test_the_rest_of_a_job(directives: Render) -> None:
    options = directives(
        account="proj@cpu", queues=("a", "b"), queue="a", qos="long", reservation="r1", licenses=("x:2", "y"),
        array=ArraySpec(ranges=(ArrayRange(first=0, last=20, step=5), ArrayRange(first=30, last=30)), at_once=2),
        dependencies=(Dependency(kind="afterok", job_id="12"), Dependency(kind="singleton")), requeue=True,
        start_after="2033-05-18T03:33:20Z", stdout="50%.log", walltime_min_s=60,
    )  # fmt: skip
    for option in (
        "--account=proj@cpu", "--partition=a,b", "--qos=long", "--reservation=r1", "--licenses=x:2,y",
        "--array=0-20:5,30%2", "--dependency=afterok:12,singleton", "--requeue", "--open-mode=append",
        "--begin=uts2000000000", "--output=/work/t/work/50%%.log.%a", "--time-min=00:01:00",
    ):  # fmt: skip
        assert option in options


def test_components_are_separated_and_keep_their_own_options(directives: Render) -> None:
    options = directives(
        components=(Shape(nodes=1), Shape(nodes=3)),
        shape=Shape(nodes=1),
        native_options=("hetjob 1 --partition=debug",),
        walltime_s=60,
    )
    at = options.index("hetjob")
    assert "--nodes=1" in options[:at]
    assert options[at + 1 :] == ["--time=00:01:00", "--nodes=3", "--partition=debug"]


def test_other_resources_join_the_gpus(directives: Render) -> None:
    options = directives(shape=Shape(gpus=Gpus(count=2, per="node")), native_options=("--gres=nvme:1",))
    assert [option for option in options if "gres" in option] == ["--gres=gpu:2,nvme:1"]


@pytest.mark.parametrize(
    "option",
    [
        "--output=/etc/passwd", "-o x", "--job-name=x", "--comment=x", "--wrap=rm", "--test-only", "-W", "--uid=0",
        "--nodes=1 --output=x", "echo", "#SBATCH -n 1", "--exclude", '--exclude="a', "hetjob", "hetjob 1 --x=1",
        "--parsable", "--nodes=7", "--time=9", "-D /", "--mail-user=a", "",
    ],
)  # fmt: skip
def test_native_options_that_are_not_taken(slurm: SlurmDialect, spec: Callable[..., JobSpec], option: str) -> None:
    with pytest.raises(BadRequest):
        slurm.render(spec(shape=Shape(nodes=2), walltime_s=60, native_options=(option,)))


@pytest.mark.parametrize(
    "value", ["dates=1:7_c(4,2*7)#1;touch /tmp/x", "a b\"c'd", "$(id)`id`", "x\\", "#SBATCH -n 9", "'", "tab-free é"]
)
def test_metacharacters_stay_one_value(slurm: SlurmDialect, spec: Callable[..., JobSpec], value: str) -> None:
    """What sbatch would make of the line is read back by the same rules."""
    native = slurm.render(spec(native_options=("--extra=" + shlex_double(value),)))
    reading = slurm.read_script(native)
    kept = next(option for option in reading.request.native_options if option.startswith("--extra="))
    again = slurm.render(spec(native_options=(kept,)))
    assert again == native


def shlex_double(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_body_is_a_script_and_no_argument(slurm: SlurmDialect, spec: Callable[..., JobSpec]) -> None:
    body = 'python -c "print(\'a b\')" --note "x y"\n'
    script = slurm.render(spec(body=body))
    assert f"|{body}" in script
    assert not any("--wrap" in item for item in slurm.submit_command(spec(body=body), "/work/a b.sh").argv)
    assert slurm.submit_command(spec(), "/work/a b.sh").argv == ("sbatch", "--parsable", "/work/a b.sh")
    assert len(shlex.split(body)) == 5


@pytest.mark.parametrize("job_id", ["-1", "--help", "1;rm", "1 2", "", "all", "1\n2"])
def test_ids_are_checked_before_they_become_arguments(slurm: SlurmDialect, job_id: str) -> None:
    bad = JobRef.model_construct(job_id=job_id, cluster=None, tag=None)
    with pytest.raises(BadRequest):
        slurm.cancel_command(bad)


def test_backslash_in_an_output_name_is_refused(slurm: SlurmDialect, spec: Callable[..., JobSpec]) -> None:
    with pytest.raises(BadRequest, match="backslash"):
        slurm.render(spec(stdout="a\\%j.log"))
