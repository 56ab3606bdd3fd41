"""Job scripts of PBS and Torque read back as requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable, JobRequest
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.directives import split_words
from providers.schedulers.pbs_values import read_walltime

GIB = 2**30
FOLDER = Path(__file__).parents[3] / "captures" / "pbs_scripts"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
Read = Callable[..., JobRequest]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["pbs", "torque"])
def test_real_headers(request: pytest.FixtureRequest, name: str, path: Path) -> None:
    reading = request.getfixturevalue(name).read_script(f"#!/bin/bash\n{path.read_text()}\n./app\n")
    assert (reading.interpreter, reading.body) == ("/bin/bash", "\n./app\n")
    found = reading.request.dump()
    assert found.pop("script") == reading.body
    found.pop("sources", None)
    answer = {"request": found, "problems": list(reading.problems), "not_carried": list(reading.not_carried)}
    assert answer == EXPECTED[path.stem]


@pytest.mark.parametrize(
    ("option", "shape"),
    [
        ("-l select=4:ncpus=128 -l place=scatter:excl", Shape(nodes=4, cpus_per_node=128, exclusive=True)),
        ("-l select=2:ncpus=8:mpiprocs=8 -l place=scatter", Shape(nodes=2, tasks_per_node=8)),
        ("-l select=8:ncpus=2:mpiprocs=1 -l place=free", Shape(tasks=8, cpus_per_node=None, cpus_per_task=2)),
        ("-l select=4:ncpus=2:mem=1gb -l place=pack", Shape(nodes=1, tasks_per_node=4, cpus_per_node=8,
                                                            memory=Memory(bytes=4 * GIB, per="node"))),
        ("-l select=1:ncpus=4:ngpus=2:gputype=A100", Shape(nodes=1, cpus_per_node=4, constraint="gputype=A100",
                                                           gpus=Gpus(count=2, per="node", model="a100"))),
        ("-l nodes=3:ppn=8:fast", Shape(nodes=3, tasks_per_node=8, constraint="fast")),
        ("-l nodes=node07:ppn=2", Shape(nodes=1, tasks_per_node=2, constraint="node07")),
        ("-l procs=64,pmem=2gb", Shape(tasks=64, memory=Memory(bytes=2 * GIB, per="task"))),
        ("-l ncpus=4,mem=50G", Shape(cpus=4, memory=Memory(bytes=50 * GIB, per="job"))),
        ("-l naccesspolicy=singlejob -l nodes=1", Shape(nodes=1, exclusive=True)),
        ("-l select=1:ncpus=3:mpiprocs=3+2:ncpus=2:mpiprocs=2 -l place=scatter", Shape(nodes=3, tasks=7)),
    ],
)  # fmt: skip
def test_shapes(read: Read, option: str, shape: Shape) -> None:
    assert read(option).shapes == (shape,)


def test_components_are_needed_at_once(read: Read) -> None:
    request = read("-l select=1:ncpus=64:mem=200gb+3:ncpus=8:ngpus=1 -l place=scatter")
    assert [(each.nodes, each.cpus_per_node, each.gpus) for each in request.components] == [
        (1, 64, None),
        (3, 8, Gpus(count=1, per="node")),
    ]


@pytest.mark.parametrize(
    ("option", "fields"),
    [
        ("-J 0-9%3", {"array": ArraySpec(ranges=(ArrayRange(first=0, last=9),), at_once=3)}),
        ("-J 5-6:2", {"array": ArraySpec(ranges=(ArrayRange(first=5, last=5),))}),
        ("-t 1-3,7%2", {"array": ArraySpec(ranges=(ArrayRange(first=1, last=3), ArrayRange(first=7, last=7)),
                                           at_once=2)}),
        ("-W depend=afterok:1.s:2.s,afterany:3", {"dependencies": tuple(
            Dependency(kind=kind, job_id=job_id)  # type: ignore[arg-type]
            for kind, job_id in (("afterok", "1.s"), ("afterok", "2.s"), ("afterany", "3")))}),
        ("-P group@proj -q gpuvolta", {"account": "group@proj", "queue": "gpuvolta"}),
        ("-q R1032", {"reservation": "R1032"}),
        ("-l walltime=28:00:00:00", {"walltime_s": 28 * 86400}),
        ("-l max_walltime=02:00:00,min_walltime=1800", {"walltime_s": 7200, "walltime_min_s": 1800}),
        ("-r y", {"requeue": True}),
        ("-v A=1,B='x y'", {"environment": (EnvironmentVariable(name="A", value="1"),
                                             EnvironmentVariable(name="B", value="x y"))}),
        ("-N 'my job'", {"name": "my job"}),
        ("-l filesystems=home:eagle", {"native_options": ("-l filesystems=home:eagle",)}),
        ("-W group_list=abc -k oed", {"native_options": ("-W group_list=abc",)}),
        ("-p 100", {"native_options": ("-p 100",)}),
    ],
)  # fmt: skip
def test_options(read: Read, option: str, fields: dict[str, object]) -> None:
    request = read(option)
    assert {name: getattr(request, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("-l walltime=1x", "line 2: walltime '1x' is no time"),
        ("-l walltime=", "has no value"),
        ("-l select=$N:ncpus=4", "write name=value"),
        ("-l select=2:ncpus=$C", "qsub expands no variables"),
        ("-l select=2:ncpus", "write name=value"),
        ("-l nodes=2:ppn=x", "no number for ppn"),
        ("-l mem=lots", "no amount of memory"),
        ("-l place=everywhere", "write free, pack or scatter"),
        ("-q", "-q has no value"),
        ("-J 3", None),
        ("-J 9-3", "no range of indices"),
        ("-r maybe", "neither y nor n"),
        ("-I", "-I asks for a terminal"),
        ("-Y 3", "-Y is no option of qsub"),
        ("--queue=x", "is no option of qsub"),
        ("-N 'open", "a quote (') is not closed"),
        ("-q bad;queue", "not usable"),
        ("-l select=2 \\", "write the options on one line"),
    ],
)
def test_malformed_directives_get_line_and_cure(pbs: Any, option: str, told: str | None) -> None:
    reading = pbs.read_script(f"#!/bin/sh\n#PBS {option}\n./app\n")
    if told is None:
        assert reading.problems == ()
        return
    assert len(reading.problems) == 1
    assert told in reading.problems[0]
    assert "line 2" in reading.problems[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("24:00", 1440), ("3600", 3600), ("01:00:00", 3600), ("90:30:00", 325800), ("1:00:00:00", 86400),
        ("00:00:29.5", 30), ("1x", None), ("", None), ("-5", None), ("1:2:3:4:5", None), ("unlimited", None),
    ],
)  # fmt: skip
def test_walltime_forms(text: str, seconds: int | None) -> None:
    assert read_walltime(text) == seconds


def test_minutes_and_seconds_are_told(read: Read) -> None:
    assert "24 min 0 s" in read("-l walltime=24:00").notes[0]


def test_what_is_ours_to_decide_is_listed(pbs: Any) -> None:
    reading = pbs.read_script("#!/bin/sh\n#PBS -o out -e err -j oe -M a@b -m abe -V\n#PBS -m n\n./app\n#PBS -q late\n")
    assert reading.not_carried == ("-o out", "-e err", "-j oe", "-M a@b", "-m abe", "-V")
    assert reading.request.queue is None
    assert any("line 5" in note and "after the first command" in note for note in reading.request.notes)


def test_the_shell_option_is_the_interpreter(pbs: Any) -> None:
    assert pbs.read_script("#PBS -S /bin/bash\n./app\n").interpreter == "/bin/bash"


@pytest.mark.parametrize(
    ("text", "words"),
    [("-N 'a b' -v \"c d\"", ["-N", "a b", "-v", "c d"]), (r"a\ b", ["a b"]), ("-l x='y'z # not", ["-l", "x=yz"])],
)
def test_words_as_qsub_takes_them(text: str, words: list[str]) -> None:
    assert split_words(text, qsub=True) == (words, "")
