"""Job scripts as people wrote them, and directives that are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.request import ArrayRange, ArraySpec, Dependency, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.registry import dialects
from providers.script_reading import read_any_script

SCRIPTS = Path(__file__).parents[3] / "captures" / "other_scripts"
EXPECTED = json.loads((SCRIPTS / "expected.json").read_text())
MIB, GIB = 2**20, 2**30

Read = Callable[..., JobRequest]


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    reading = read_any_script(f"#!/bin/bash\n{path.read_text()}\n./app\n")
    assert (reading.interpreter, reading.body) == ("/bin/bash", "\n./app\n")
    request = reading.request.dump()
    assert request.pop("script") == f"#!/bin/bash\n{reading.body}"
    assert str(request.pop("script_dialect")) in path.stem
    request.pop("sources", None)
    answer = {"request": request, "problems": list(reading.problems), "not_carried": list(reading.not_carried)}
    assert answer == EXPECTED[path.stem]


@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("sge", ["-pe smp 8"], Shape(cpus=8)),
        ("sge", ["-pe mpi 16-32"], Shape(cpus=16)),
        ("sge", ["-pe smp 4", "-l h_vmem=2G,h_rt=1:0:0"], Shape(cpus=4, memory=Memory(bytes=2 * GIB, per="cpu"))),
        ("sge", ["-l h_vmem=2000m"], Shape(memory=Memory(bytes=2 * 10**9, per="cpu"))),
        ("sge", ["-l gpu=2"], Shape(gpus=Gpus(count=2, per="job"))),
        ("sge", ["-l gpu=2", "-pe smp 4"], Shape(cpus=4, gpus=Gpus(count=8, per="job"))),
        ("sge", ["-l gpu=0.25", "-pe smp 8"], Shape(cpus=8, gpus=Gpus(count=2, per="job"))),
        ("sge", ["-l gpu=0.0833333,h_rt=60", "-pe smp 24"], Shape(cpus=24, gpus=Gpus(count=2, per="job"))),
        ("lsf", ["-n 8", '-R "span[ptile=4]"'], Shape(tasks=8, tasks_per_node=4)),
        ("lsf", ['-R "span[hosts=1] rusage[mem=4GB]"'], Shape(nodes=1, memory=Memory(bytes=4 * GIB, per="cpu"))),
        ("lsf", ["-R rusage[mem=4GB/host]"], Shape(memory=Memory(bytes=4 * GIB, per="node"))),
        ("lsf", ["-M 80MB"], Shape(memory=Memory(bytes=80 * MIB, per="node"))),
        ("lsf", ['-gpu "num=2:gmodel=TeslaV100"'], Shape(gpus=Gpus(count=2, per="node", model="teslav100"))),
        ("lsf", ['-gpu "num=1/task"', "-n 4"], Shape(tasks=4, gpus=Gpus(count=1, per="task"))),
        ("lsf", ["-n4", "-x"], Shape(tasks=4, exclusive=True)),
        ("oar", ["-l /nodes=2/core=4,walltime=1:0:0"], Shape(nodes=2, cpus_per_node=4)),
        ("oar", ["-l nodes=3"], Shape(nodes=3, exclusive=True)),
        ("oar", ["-l core=6,walltime=2"], Shape(cpus=6)),
        ("oar", ["-l /host=1/gpu=2"], Shape(nodes=1, gpus=Gpus(count=2, per="node"))),
        ("oar", ["-l /nodes=1/gpu=2/core=4"], Shape(nodes=1, cpus_per_node=8, gpus=Gpus(count=2, per="node"))),
        ("oar", ["-l gpu=2", "-p gpu_model = 'A40'"],
         Shape(gpus=Gpus(count=2, per="job", model="a40"), constraint="gpu_model = 'A40'")),
        ("cobalt", ["-n 128", "--proccount 256"], Shape(nodes=128, tasks=256, exclusive=True)),
        ("moab", ["-l nodes=2:ppn=8"], Shape(nodes=2, tasks_per_node=8)),
    ],
)  # fmt: skip
def test_shapes(read: Read, name: str, options: list[str], shape: Shape) -> None:
    assert read(dialects.get(name)(), *options).shape == shape


@pytest.mark.parametrize(
    ("name", "option", "seconds"),
    [
        ("sge", "-l h_rt=02:00:00", 7200), ("sge", "-l h_rt=90", 90), ("sge", "-l h_rt=:30:", 1800),
        ("lsf", "-W 1:20", 4800), ("lsf", "-W 90", 5400), ("lsf", "-W 2:00/hostA", 7200),
        ("oar", "-l core=1,walltime=2", 7200), ("oar", "-l core=1,walltime=0:5", 300),
        ("oar", "-l core=1,walltime=0:0:10", 10),
        ("cobalt", "-t 20", 1200), ("cobalt", "--time=01:30:00", 5400),
        ("moab", "-l walltime=1:00:00", 3600),
    ],
)  # fmt: skip
def test_walltimes(read: Read, name: str, option: str, seconds: int) -> None:
    assert read(dialects.get(name)(), option).walltime_s == seconds


@pytest.mark.parametrize(
    ("name", "options", "array"),
    [
        ("sge", ["-t 1-10:3", "-tc 2"], ArraySpec(ranges=(ArrayRange(first=1, last=10, step=3),), at_once=2)),
        ("sge", ["-tc 2", "-t 5"], ArraySpec(ranges=(ArrayRange(first=5, last=5),), at_once=2)),
        ("lsf", ['-J "a[1-10:2,15]%3"'],
         ArraySpec(ranges=(ArrayRange(first=1, last=10, step=2), ArrayRange(first=15, last=15)), at_once=3)),
        ("oar", ["--array 4"], ArraySpec(ranges=(ArrayRange(first=1, last=4),))),
    ],
)  # fmt: skip
def test_arrays(read: Read, name: str, options: list[str], array: ArraySpec) -> None:
    assert read(dialects.get(name)(), *options).array == array


@pytest.mark.parametrize(
    ("name", "option", "dependencies"),
    [
        ("sge", "-hold_jid 12,13", (("afterany", "12"), ("afterany", "13"))),
        ("lsf", '-w "done(12) && ended(13)"', (("afterok", "12"), ("afterany", "13"))),
        ("oar", "-a 12", (("afterany", "12"),)),
        ("cobalt", "--dependencies 12:13", (("afterok", "12"), ("afterok", "13"))),
    ],
)
def test_dependencies(read: Read, name: str, option: str, dependencies: tuple[tuple[str, str], ...]) -> None:
    wanted = tuple(Dependency.model_validate({"kind": kind, "job_id": job_id}) for kind, job_id in dependencies)
    assert read(dialects.get(name)(), option).dependencies == wanted


@pytest.mark.parametrize(
    ("name", "prefix", "line", "problem"),
    [
        ("sge", "#$", "-l h_rt=two", "-l h_rt=two is no time"),
        ("sge", "#$", "-pe smp", "-pe has no value"),
        ("sge", "#$", "-pe smp x", "-pe: 'x' is no number of slots"),
        ("sge", "#$", "-t 5-1", "-t '5-1' is no range"),
        ("sge", "#$", "-l h_vmem=4Q", "-l h_vmem=4Q is no amount"),
        ("sge", "#$", "-l gpu=0.3", "-l gpu=0.3: 0.3 GPUs on each of 1 slots are no whole GPUs"),
        ("sge", "#$", '-N "open', "a quote"),
        ("sge", "#$", "-nosuch", "-nosuch is no option of qsub"),
        ("lsf", "#BSUB", "-n", "-n has no value"),
        ("lsf", "#BSUB", "-n four", "-n 'four' is no number of slots"),
        ("lsf", "#BSUB", "-W 1:2:3", "-W '1:2:3' is no time"),
        ("lsf", "#BSUB", '-J "a[x]"', "-J 'a[x]' has no list of indices"),
        ("lsf", "#BSUB", "-M lots", "-M: 'lots' is no amount of memory"),
        ("lsf", "#BSUB", '-R "rusage[mem=x]"', "-R: 'x' is no amount of memory"),
        ("oar", "#OAR", "-l nodes", "-l 'nodes' is no tree of resources"),
        ("oar", "#OAR", "-l core=1,walltime=1x", "walltime=1x is no time"),
        ("oar", "#OAR", "--nosuch 1", "--nosuch is no option of oarsub"),
        ("oar", "#OAR", "-q", "-q has no value"),
        ("cobalt", "#COBALT", "-t soon", "-t 'soon' is no time"),
        ("cobalt", "#COBALT", "-n", "--nodecount has no value"),
    ],
)
def test_a_malformed_line_is_named_with_its_cure(name: str, prefix: str, line: str, problem: str) -> None:
    reading = dialects.get(name)().read_script(f"#!/bin/sh\n{prefix} {line}\n./app\n")
    assert len(reading.problems) == 1, reading.problems
    told = reading.problems[0]
    assert told.startswith(f"line 2: {problem}")
    assert "(" in told
    assert reading.body == "./app\n"


@pytest.mark.parametrize("name", ["lsf", "oar"])
def test_windows_scripts_and_late_lines(name: str) -> None:
    """bsub's manual has a directive behind the commands, and oarsub looks through the whole file: the last counts."""
    prefix = {"lsf": "#BSUB", "oar": "#OAR"}[name]
    option = {"lsf": "-J", "oar": "-n"}[name]
    text = f"\ufeff#!/bin/bash\r\n{prefix} {option} job1\r\n./app\r\n{prefix} {option} late\r\n"
    reading = dialects.get(name)().read_script(text)
    assert (reading.request.name, reading.problems) == ("late", ())
    assert reading.request.notes == (f"line 4: {option} late replaces {option} job1",)
    assert reading.body == f"./app\n{prefix} {option} late\n"


def test_grid_engine_reads_directives_in_the_whole_file() -> None:
    """sge_submit(1): each line of the script that begins with `#$`; they stay in the body, whose bytes are kept."""
    text = "#!/bin/bash\r\n#$ -N job1\r\n./app\r\n#$ -pe smp 4\r\n#$-N late\r\n#$ -N later\r\n"
    reading = dialects.get("sge")().read_script(text)
    assert (reading.request.name, reading.request.shape) == ("later", Shape(cpus=4))
    assert reading.body == "./app\n#$ -pe smp 4\n#$-N late\n#$ -N later\n"
    assert reading.request.notes == ("line 5: -N late replaces -N job1", "line 6: -N later replaces -N late")


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("sge", "-M me@example.org"), ("sge", "-m bea"), ("lsf", "-u me@example.org"), ("lsf", "-o out.%J"),
        ("oar", "--notify mail:me@example.org"), ("cobalt", "-M me@example.org"),
    ],
)  # fmt: skip
def test_mail_and_output_files_are_told_and_not_carried(name: str, option: str) -> None:
    prefix = {"sge": "#$", "lsf": "#BSUB", "oar": "#OAR", "cobalt": "#COBALT"}[name]
    reading = dialects.get(name)().read_script(f"#!/bin/sh\n{prefix} {option}\n./app\n")
    assert reading.request.native_options == ()
    assert reading.not_carried == (option,)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("sge", "-binding linear:4"), ("sge", "-l hostname=n1"), ("lsf", "-app chem"), ("lsf", '-R "cu[type=rack]"'),
        ("oar", "-t besteffort"), ("oar", "-l {mem>64}/host=1+/host=3"), ("cobalt", "--attrs mcdram=flat"),
    ],
)  # fmt: skip
def test_what_has_no_word_of_ours_is_kept_for_its_own_scheduler(name: str, option: str) -> None:
    prefix = {"sge": "#$", "lsf": "#BSUB", "oar": "#OAR", "cobalt": "#COBALT"}[name]
    reading = dialects.get(name)().read_script(f"#!/bin/sh\n{prefix} {option}\n./app\n")
    assert reading.request.native_options == (option,)
    assert reading.not_carried == (option,)
    assert reading.problems == ()
