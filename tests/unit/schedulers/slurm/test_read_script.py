"""Job scripts read back as requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.request import ArrayRange, ArraySpec, Dependency, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.directives import split_words
from providers.schedulers.slurm import SlurmDialect

GIB = 2**30
FOLDER = Path(__file__).parents[3] / "captures" / "slurm_scripts"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
Read = Callable[..., JobRequest]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_real_headers(slurm: SlurmDialect, path: Path) -> None:
    reading = slurm.read_script(f"#!/bin/bash\n{path.read_text()}\nsrun ./app\n")
    assert reading.interpreter == "/bin/bash"
    assert reading.body == "\nsrun ./app\n"
    request = reading.request.dump()
    assert request.pop("script") == reading.body
    request.pop("sources", None)
    answer = {"request": request, "problems": list(reading.problems), "not_carried": list(reading.not_carried)}
    assert answer == EXPECTED[path.stem]


def test_directives_after_the_first_command_are_ignored_and_told(slurm: SlurmDialect) -> None:
    reading = slurm.read_script("#!/bin/bash\n#SBATCH -n 4\nmodule load lammps\nsrun lmp -in in.lj\n#SBATCH -n 99\n")
    assert reading.request.shape.tasks == 4
    assert reading.request.notes == ("line 5: #SBATCH -n 99 comes after the first command: Slurm ignores it",)
    assert reading.body == "module load lammps\nsrun lmp -in in.lj\n#SBATCH -n 99\n"


@pytest.mark.parametrize("line", ["# SBATCH -n 9", "#sbatch -n 9", " #SBATCH -n 9", "#SBATCH-n 9"])
def test_lookalikes_are_told(slurm: SlurmDialect, line: str) -> None:
    reading = slurm.read_script(f"#!/bin/sh\n{line}\n./app\n")
    assert reading.request.shape == Shape()
    assert "line 2" in reading.request.notes[0]


@pytest.mark.parametrize("line", ["##SBATCH -n 9", "#SBATCH", "#SBATCH # -n 9", "# a comment"])
def test_comments_stay_comments(slurm: SlurmDialect, line: str) -> None:
    reading = slurm.read_script(f"#!/bin/sh\n{line}\n./app\n")
    assert (reading.request.shape, reading.request.notes, reading.problems) == (Shape(), (), ())


def test_foreign_directives_are_told(slurm: SlurmDialect) -> None:
    notes = slurm.read_script("#!/bin/sh\n#PBS -l nodes=4\n#SBATCH -n 1\n./app\n").request.notes
    assert notes == ("line 2: directives of another scheduler are not read (lines 2)",)


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        (["--gpus=8", "-n 2"], Shape(tasks=2, gpus=Gpus(count=8, per="job"))),
        (["--gpus=a100:8"], Shape(gpus=Gpus(count=8, per="job", model="a100"))),
        (["-G4"], Shape(gpus=Gpus(count=4, per="job"))),
        (["--gpus=v100"], Shape(gpus=Gpus(count=1, per="job", model="v100"))),
        (["--gres=gpu:2", "-N 3"], Shape(nodes=3, gpus=Gpus(count=2, per="node"))),
        (["--gres=gpu"], Shape(gpus=Gpus(count=1, per="node"))),
        (["--gres=gpu:H100:4"], Shape(gpus=Gpus(count=4, per="node", model="h100"))),
        (["--gpus-per-task=2", "-n 4"], Shape(tasks=4, gpus=Gpus(count=2, per="task"))),
        (["--nodes=2-4"], Shape(nodes=2, nodes_max=4)),
        (["-N", "1-2"], Shape(nodes=1, nodes_max=2)),
        (["--nodes=3-3"], Shape(nodes=3)),
        (["-N1k"], Shape(nodes=1024)),
        (["-N 2", "--ntasks-per-node=8", "--mem=64G"],
         Shape(nodes=2, tasks_per_node=8, memory=Memory(bytes=64 * GIB, per="node"))),
        (["--mem=4000"], Shape(memory=Memory(bytes=4000 * 2**20, per="node"))),
        (["--mem-per-cpu=2gb"], Shape(memory=Memory(bytes=2 * GIB, per="cpu"))),
        (["--mem-per-gpu=1T"], Shape(memory=Memory(bytes=1024 * GIB, per="gpu"))),
        (["--mem-per-cpu=1G", "--mem=2G"], Shape(memory=Memory(bytes=2 * GIB, per="node"))),
        (["--tmp=10G --exclusive -C 'a&b'"], Shape(local_disk_bytes=10 * GIB, exclusive=True, constraint="a&b")),
        (["-n 4", "-n 8"], Shape(tasks=8)),
        (["--gres=gpu:4", "--gres=nvme:1"], Shape()),
        (["--ntasks-per-n=4"], Shape(tasks_per_node=4)),
        (["-HN2 -n8"], Shape(nodes=2, tasks=8)),
    ],
)  # fmt: skip
def test_shapes(slurm: SlurmDialect, options: list[str], shape: Shape) -> None:
    lines = options if options != ["-N", "1-2"] else ["-N 1-2"]
    reading = slurm.read_script("#!/bin/sh\n" + "".join(f"#SBATCH {line}\n" for line in lines) + "./app\n")
    assert reading.problems == ()
    assert reading.request.shape == shape


def test_totals_are_totals(read: Read) -> None:
    assert read("--gpus=8", "-n 2").shape.total_gpus == 8
    assert read("--gres=gpu:2", "-N 4").shape.total_gpus == 8
    assert read("--gpus-per-task=2", "-n 4").shape.total_gpus == 8
    assert read("-N 2", "--ntasks-per-node=8", "--mem=64G").shape.task_count == 16


@pytest.mark.parametrize(
    ("gres", "gpus", "kept"),
    [
        ("gpu:a100:2,nvme:1", Gpus(count=2, per="node", model="a100"), ("--gres=nvme:1",)),
        ("nvme:1,gpu:4,lscratch:200", Gpus(count=4, per="node"), ("--gres=nvme:1,lscratch:200",)),
        ("shard:8", None, ("--gres=shard:8",)),
        ("gpu:a100:1,gpu:v100:1", None, ("--gres=gpu:a100:1,gpu:v100:1",)),
    ],
)
def test_other_resources_are_kept(read: Read, gres: str, gpus: Gpus | None, kept: tuple[str, ...]) -> None:
    request = read(f"--gres={gres}")
    assert request.shape.gpus == gpus
    assert request.native_options == kept


def test_two_options_about_gpus_are_both_kept(read: Read) -> None:
    request = read("--gpus=8", "--gpus-per-node=4")
    assert request.shape.gpus == Gpus(count=8, per="job")
    assert request.native_options == ("--gpus-per-node=4",)


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("30", 1800), ("30:15", 1815), ("2:00:00", 7200), ("3-0", 259200), ("1-12:30", 131400), ("0-0:0:1", 1),
        ("00:29:59", 1799), ("5000", 300000), ("UNLIMITED", None), ("infinite", None), ("0", None), ("-1", None),
    ],
)  # fmt: skip
def test_time_limits(read: Read, time: str, seconds: int | None) -> None:
    request = read(f"--time={time}")
    assert request.walltime_s == seconds
    assert bool(request.notes) == (seconds is None or time == "30:15")


def test_job_fields(read: Read) -> None:
    request = read(
        "-J 'dates=1:7_c(4,2*7)#1;touch /tmp/x'", "-d afterok:12:13_4,singleton", "-a 0-20:5,30%4",
        "--begin uts2000000000",
        "-L a:2,b", "--export=ALL,FOO=bar,BAZ='x y'", "--no-requeue", "-p a,b --qos q",
    )  # fmt: skip
    assert request.name == "dates-1-7_c-4-2-7-1-touch-tmp-x"
    assert request.dependencies == (
        Dependency(kind="afterok", job_id="12"),
        Dependency(kind="afterok", job_id="13_4"),
        Dependency(kind="singleton"),
    )
    assert request.array == ArraySpec(
        ranges=(ArrayRange(first=0, last=20, step=5), ArrayRange(first=30, last=30)), at_once=4
    )
    assert request.start_after is not None
    assert request.start_after.timestamp() == 2_000_000_000
    assert request.licenses == ("a:2", "b")
    assert [(one.name, one.value) for one in request.environment] == [("FOO", "bar"), ("BAZ", "x y")]
    assert (request.requeue, request.queue, request.queues, request.qos) == (False, "a", ("a", "b"), "q")


def test_every_field_remembers_its_words(slurm: SlurmDialect) -> None:
    script = "#!/bin/sh\n#SBATCH -A proj  --nodes=2 # two\n./app\n"
    sources = {source.field: source for source in slurm.read_script(script).request.sources}
    assert {field: source.words for field, source in sources.items()} == {
        "account": "-A proj",
        "shapes.0.nodes": "--nodes=2",
    }
    start = sources["shapes.0.nodes"].start
    assert start is not None
    assert script[start:].startswith("--nodes=2")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--exclude", "line 2: --exclude has no value (give one or delete the line)"),
        ("--exclude=", "line 2: --exclude has no value (give one or delete the line)"),
        ("-N", "line 2: -N has no value (give one or delete the line)"),
        ("-N=2", "line 2: -N takes '=2' with the equals sign (write -N 2 or --nodes=2)"),
        ("-n $NP", "line 2: --ntasks: '$NP' is no number (sbatch expands no variables: write the number)"),
        ("--time=2h", "line 2: --time: '2h' is no time (write it like 02:00:00 or 1-12:00:00)"),
        ("--mem=lots", "line 2: --mem: 'lots' is no amount of memory (write it like 64G; without a unit it is mega"),
        ("--nodes=4-2", "line 2: --nodes: '4-2' is no range (write the smaller number first)"),
        ("--ntasks-per=4", "line 2: --ntasks-per may be "),
        ("nodes=2", "line 2: 'nodes=2' is no option (options begin with a dash; quote blanks)"),
        ("-J 'a", "line 2: a quote (') is not closed (close it on the same line)"),
        ("-j 1", "line 2: -j is no option of sbatch (delete it)"),
        ("--hold=yes", "line 2: --hold takes no value (delete =yes)"),
        ("--array=9-1", "line 2: --array: '9-1' is no list of indices (write it like 0-9, 1,3,5 or 0-20:5%2)"),
    ],
)  # fmt: skip
def test_malformed_lines_are_told_with_line_and_cure(slurm: SlurmDialect, line: str, problem: str) -> None:
    reading = slurm.read_script(f"#!/bin/sh\n#SBATCH {line}\n./app\n")
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("line", "native"),
    [
        ("--exclude node[001-004]", "--exclude=node[001-004]"),
        ("-x a,b", "--exclude=a,b"),
        ("--switches=1@10", "--switches=1@10"),
        ("--begin=now+1hour", "--begin=now+1hour"),
        ("--mem=0", "--mem=0"),
        ("--dependency=afterok:1?afterok:2", '--dependency="afterok:1?afterok:2"'),
        ("--sitething='a b'", '--sitething="a b"'),
        ("--export=NONE", "--export=NONE"),
        ("--nodes=1,2,4", "--nodes=1,2,4"),
        ("--contiguous", "--contiguous"),
    ],
)
def test_what_has_no_word_is_kept_and_listed(slurm: SlurmDialect, line: str, native: str) -> None:
    reading = slurm.read_script(f"#!/bin/sh\n#SBATCH {line}\n./app\n")
    assert reading.request.native_options == (native,)
    assert reading.not_carried == (line.replace("'", ""),)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('-J "a # b \\" c" --x=1', ["-J", 'a # b " c', "--x=1"]),
        ("--comment=x\\#y # rest", ["--comment=x#y"]),
        ("--job-name=a' b'c", ["--job-name=a bc"]),
        ("''", [""]),
        ("", []),
    ],
)
def test_words_are_split_as_sbatch_does(line: str, words: list[str]) -> None:
    """Tried with `sbatch -vv` of 22.05.8."""
    assert split_words(line) == (words, "")


def test_windows_script(slurm: SlurmDialect) -> None:
    reading = slurm.read_script("\ufeff#!/bin/bash\r\n#SBATCH -n 1\r\n./app\r\n")
    assert reading.interpreter == "/bin/bash"
    assert reading.request.shape.tasks == 1
    assert reading.body == "./app\n"
