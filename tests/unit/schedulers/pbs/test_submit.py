"""Directives, and what qsub answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec, ReasonClass
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory, Shape

GIB = 2**30
Lines = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (Shape(), []),
        (Shape(cpus=4, memory=Memory(bytes=50 * GIB, per="job")), ["-l ncpus=4", "-l mem=50gb"]),
        (Shape(nodes=40, exclusive=True, constraint="system=polaris"),
         ["-l select=40:system=polaris", "-l place=scatter:excl"]),
        (Shape(nodes=2, tasks_per_node=4, cpus_per_task=2, gpus=Gpus(count=1, per="node"),
               memory=Memory(bytes=4 * GIB, per="node")),
         ["-l select=2:ncpus=8:mpiprocs=4:ompthreads=2:ngpus=1:mem=4gb", "-l place=scatter"]),
        (Shape(nodes=3, tasks=7), ["-l select=1:ncpus=3:mpiprocs=3+2:ncpus=2:mpiprocs=2", "-l place=scatter"]),
        (Shape(tasks=8, cpus_per_task=2, memory=Memory(bytes=GIB, per="task")),
         ["-l select=8:ncpus=2:mpiprocs=1:ompthreads=2:mem=1gb", "-l place=free"]),
        (Shape(tasks=8, gpus=Gpus(count=4, per="job")), ["-l select=4:ncpus=2:mpiprocs=2:ngpus=1", "-l place=free"]),
        (Shape(nodes=2, tasks=4, gpus=Gpus(count=1, per="task")),
         ["-l select=2:ncpus=2:mpiprocs=2:ngpus=2", "-l place=scatter"]),
        (Shape(nodes=1, cpus_per_node=4, memory=Memory(bytes=GIB, per="cpu")),
         ["-l select=1:ncpus=4:mem=4gb", "-l place=scatter"]),
        (Shape(nodes=2, gpus=Gpus(count=4, per="node"), memory=Memory(bytes=GIB, per="gpu")),
         ["-l select=2:ngpus=4:mem=4gb", "-l place=scatter"]),
        (Shape(nodes=2, memory=Memory(bytes=3 * GIB, per="job")), ["-l select=2:mem=1536mb", "-l place=scatter"]),
    ],
)  # fmt: skip
def test_select(pbs: Any, lines: Lines, shape: Shape, options: list[str]) -> None:
    assert lines(pbs, shape=shape) == options


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        (Shape(), []),
        (Shape(nodes=2, tasks_per_node=8, memory=Memory(bytes=GIB, per="node")), ["-l nodes=2:ppn=8", "-l mem=2gb"]),
        (Shape(nodes=1, tasks=4, gpus=Gpus(count=1, per="node")), ["-l nodes=1:ppn=4:gpus=1"]),
        (Shape(tasks=64), ["-l procs=64"]),
        (Shape(tasks=4, cpus_per_task=3, memory=Memory(bytes=3 * GIB, per="task")),
         ["-l nodes=4:ppn=3", "-l pmem=1gb"]),
        (Shape(nodes=3, tasks=7), ["-l nodes=1:ppn=3+2:ppn=2"]),
        (Shape(cpus=12), ["-l procs=12"]),
        (Shape(nodes=1, constraint="fast:bigmem", exclusive=True),
         ["-l nodes=1:fast:bigmem", "-l naccesspolicy=singlejob"]),
    ],
)  # fmt: skip
def test_nodes(torque: Any, lines: Lines, shape: Shape, options: list[str]) -> None:
    assert lines(torque, shape=shape) == options


def test_components_are_chunks(pbs: Any, lines: Lines) -> None:
    shapes = (Shape(nodes=1, cpus_per_node=64), Shape(nodes=3, gpus=Gpus(count=1, per="node")))
    assert lines(pbs, shape=shapes[0], components=shapes)[0] == "-l select=1:ncpus=64+3:ngpus=1"


@pytest.mark.parametrize(
    ("fields", "pbs_options", "torque_options"),
    [
        ({"walltime_s": 29}, ["-l walltime=00:00:29"], ["-l walltime=00:00:29"]),
        ({"walltime_s": 7200, "walltime_min_s": 1800},
         ["-l min_walltime=00:30:00", "-l max_walltime=02:00:00"], ["-l walltime=02:00:00"]),
        ({"account": "proj1"}, ["-A proj1", "-P proj1"], ["-A proj1"]),
        ({"queue": "prod"}, ["-q prod"], ["-q prod"]),
        ({"reservation": "R103"}, ["-q R103"], ["-l advres=R103"]),
        ({"licenses": ("ansys:2", "abaqus")}, ["-l ansys=2", "-l abaqus=1"], ["-l gres=ansys:2%abaqus:1"]),
        ({"array": ArraySpec(ranges=(ArrayRange(first=0, last=9, step=3),), at_once=2)}, ["-J 0-9:3%2"],
         ["-t 0,3,6,9%2"]),
        ({"array": ArraySpec(ranges=(ArrayRange(first=5, last=5),))}, ["-J 5-6:2"], ["-t 5"]),
        ({"dependencies": (Dependency(kind="afterok", job_id="1.s"), Dependency(kind="afterok", job_id="12.s"))},
         ["-W depend=afterok:1.s:12.s"], ["-W depend=afterok:1.s:12.s"]),
        ({"priority": -5}, ["-p -5"], ["-p -5"]),
        ({"start_after": datetime(2026, 12, 2, 7, 12, 0, 500, tzinfo=UTC)}, ["-a 202612020712.01"],
         ["-a 202612020712.01"]),
        ({"native_options": ("-l scratch=10gb", "-W umask=022")}, ["-l scratch=10gb", "-W umask=022"],
         ["-l scratch=10gb", "-W umask=022"]),
    ],
)  # fmt: skip
def test_job_options(
    pbs: Any, torque: Any, lines: Lines, fields: dict[str, object], pbs_options: list[str], torque_options: list[str]
) -> None:
    assert lines(pbs, **fields) == pbs_options
    assert lines(torque, **fields) == torque_options


@pytest.mark.parametrize(
    ("names", "option"),
    [
        (("home", "eagle"), "-l filesystems=home:eagle"),
        (("scratch/ab", "gdata/c"), "-l storage=scratch/ab+gdata/c"),
    ],
)
def test_file_systems_are_declared(pbs: Any, lines: Lines, names: tuple[str, ...], option: str) -> None:
    assert lines(pbs, file_systems=names) == [option]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"qos": "debug"}, "qos"),
        ({"dependencies": (Dependency(kind="singleton"),)}, "dependencies"),
        ({"array": ArraySpec(ranges=(ArrayRange(first=1, last=2), ArrayRange(first=5, last=6)))}, "array"),
        ({"shape": Shape(nodes=1, gpus=Gpus(count=1, per="node", model="a100"))}, "gpus.model"),
        ({"shape": Shape(nodes=1, constraint="a100|v100")}, "constraint"),
        ({"shape": Shape(nodes=1, constraint="x=1+9:ncpus=1")}, "constraint"),
        ({"shape": Shape(nodes=1, local_disk_bytes=GIB)}, "local_disk_bytes"),
        ({"shape": Shape(nodes=2, gpus=Gpus(count=3, per="job"))}, "gpus"),
        ({"shape": Shape(tasks=4, memory=Memory(bytes=GIB, per="node"))}, "memory"),
        ({"priority": 5000}, "priority"),
        ({"native_options": ("-I",)}, "native_options"),
        ({"native_options": ("-N mine",)}, "native_options"),
        ({"native_options": ("-W block=true",)}, "native_options"),
        ({"walltime_s": 60, "native_options": ("-l walltime=99:00:00",)}, "native_options"),
        ({"native_options": ("--help",)}, "native_options"),
        ({"name": "it's"}, "name"),
        ({"account": "both'\""}, "account"),
    ],
)  # fmt: skip
def test_what_pbs_cannot_do_is_refused(
    pbs: Any, spec: Callable[..., JobSpec], fields: dict[str, object], where: str
) -> None:
    made = spec().model_copy(update=fields)
    with pytest.raises(BadRequest) as refused:
        pbs.render(made)
    assert (refused.value.where, bool(refused.value.cure)) == (where, True)


def test_a_site_may_name_its_gpu_resource(lines: Lines) -> None:
    from dragoman.site import Site
    from providers.schedulers.pbs import PbsDialect

    dialect = PbsDialect.for_site(Site(name="here", scheduler="pbs", gpu_model_resource="gputype"))
    shape = Shape(nodes=1, gpus=Gpus(count=2, per="node", model="a100"))
    assert lines(dialect, shape=shape)[0] == "-l select=1:ngpus=2:gputype=a100"


def test_the_tag_is_name_and_variable_and_leaves_no_trace_for_other_jobs(
    pbs: Any, spec: Callable[..., JobSpec]
) -> None:
    script = pbs.render(spec(name="my job")).split("\n")
    assert "#PBS -N dgm-0123456789ab-a0" in script
    variables = '#PBS -v "DRAGOMAN_ATTEMPT=dgm-0123456789ab-a0,DRAGOMAN_NAME=my job"'
    assert variables in script
    assert script.index("unset DRAGOMAN_ATTEMPT DRAGOMAN_NAME") < script.index("set +x")


def test_a_start_is_in_utc(pbs: Any, spec: Callable[..., JobSpec]) -> None:
    later = spec(start_after=datetime(2026, 12, 2, 7, 12, tzinfo=UTC))
    assert pbs.submit_command(later, "/work/t/script").environment == {"TZ": "UTC"}
    assert pbs.submit_command(spec(), "/work/t/script").environment == {}


@pytest.mark.parametrize(
    ("out", "err", "rc", "job_id"),
    [
        ("1012.head01\n", "", 0, "1012.head01"),
        ("0.head01\n", "", 0, "0.head01"),
        ("1010[].head01\n", "", 0, "1010[].head01"),
        ("*** welcome, 12 nodes ***\n7.pbs\n", "note: default project used\n", 0, "7.pbs"),
        ("9.a\n10.a\n", "", 0, "10.a"),
        ("", "1012.head01\n", 0, "1012.head01"),
    ],
)
def test_accepted(pbs: Any, done: Callable[..., Any], out: str, err: str, rc: int, job_id: str) -> None:
    assert pbs.parse_submit(done(out, err, rc)).job == JobRef(job_id=job_id)


def test_torque_may_leave_its_name_out(torque: Any, done: Callable[..., Any]) -> None:
    assert [torque.parse_submit(done(out)).job.job_id for out in ("12\n", "12.\n", "12[].s.example\n")] == [
        "12", "12", "12[].s.example",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("out", "err", "rc"),
    [
        ("", "", 0),
        ("Thank you\n", "", 0),
        ("123456.cluster-p*\n", "", 0),
        ("1019.head01\n", "", 6),
        ("", "", 143),
        ("", "qsub: End of File\n", 1),
        ("", "qsub: cannot connect to server pbs (errno=15010)\n", 162),
        ("", "pbs_iff: timed out\n", 1),
    ],
)
def test_in_doubt(pbs: Any, done: Callable[..., Any], out: str, err: str, rc: int) -> None:
    answer = pbs.parse_submit(done(out, err, rc))
    assert (bool(answer.doubt), answer.job, answer.refused) == (True, None, "")


@pytest.mark.parametrize(
    ("err", "rc", "meaning"),
    [
        ("qsub: Unknown queue\n", 170, ReasonClass.NEVER),
        ("qsub: Job violates queue and/or server resource limits\n", 188, ReasonClass.NEVER),
        ("qsub: Unauthorized Request \n", 159, ReasonClass.PERSON),
        ("qsub: would exceed queue generic's per-user limit of jobs in 'Q' state\n", 188, ReasonClass.WAIT),
        ("qsub: the site's hook has words of its own\n", 1, ReasonClass.UNKNOWN),
    ],
)
def test_refused(pbs: Any, done: Callable[..., Any], err: str, rc: int, meaning: ReasonClass) -> None:
    answer = pbs.parse_submit(done("", err, rc))
    assert (answer.refused, answer.reason_class) == (" ".join(err.split()), meaning)
