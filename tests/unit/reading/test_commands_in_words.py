"""Commands, options and submit lines that stand in sentences, among other items, or are only told of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from providers.script_reading import read_any_script

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "command", "shape"),
    [
        ("mpiexec -n 96 ./moose -i a.i   /   2 h   /   qos high", ("./moose", "-i", "a.i"), {"tasks": 96}),
        ("2 nodes | 1 h | ./x -i a.in | queue long", ("./x", "-i", "a.in"), {"nodes": 2}),
        ("./x a.in | 2 nodes | 1h", ("./x", "a.in"), {"nodes": 2}),
        ("./x -i a.in // 2 nodes // 1 h", ("./x", "-i", "a.in"), {"nodes": 2}),
        ("cmd: python a.py --n 3 | nodes: 2 | time: 1h", ("python", "a.py", "--n", "3"), {"nodes": 2}),
        ("./x (2 nodes, 3h)", ("./x",), {"nodes": 2}),
    ],
)  # fmt: skip
def test_signs_between_items_are_no_part_of_the_command(text: str, command: Any, shape: Any, read: Read) -> None:
    reading = read(text)
    assert (reading.request.command, reading.request.shape.dump()) == (command, shape)
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("cat a.txt | sort | uniq -c, 1 node, 10 min", "cat a.txt | sort | uniq -c\n"),
        ("./gen 100 | head -5 > out.txt, 1 core", "./gen 100 | head -5 > out.txt\n"),
    ],
)
def test_a_pipe_stays_one(text: str, script: str, read: Read) -> None:
    assert read(text).request.script == script


def test_a_path_of_one_sign_stays_an_argument(read: Read) -> None:
    assert read("du -s / on 2 nodes").request.command == ("du", "-s", "/")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("program ./seismod with args --model marmousi, budget 5000 core-hours", ("./seismod", "--model", "marmousi")),
        ("the program ./crash_sim with the argument frontal.k on 2 nodes", ("./crash_sim", "frontal.k")),
        ("We run ./solve called with -v 3 on 4 nodes, 1h", ("./solve", "-v", "3")),
        ("python x.py with args --lr 0.1, --epochs 3, 2 nodes", ("python", "x.py", "--lr", "0.1", "--epochs", "3")),
        ("run ./prog with options --fast and --seed 4 on 8 cores", ("./prog", "--fast", "--seed", "4")),
        ("run ./prog with the flags `-a -b`, 8 cores", ("./prog", "-a", "-b")),
    ],
)
def test_arguments_in_words(text: str, command: Any, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert reading.request.command == command
    assert not reading.request.native_options
    assert not reading.unread


def test_arguments_that_can_be_a_list_of_words_are_told(read: Read) -> None:
    reading = read("python x.py with args a, b and c, 2 nodes")
    assert reading.request.command == ("python", "x.py")
    assert "args" in reading.unread


def test_options_of_no_scheduler_are_told(read: Read) -> None:
    reading = read("run ./x on 2 nodes, --model foo please", script_reader=read_any_script)
    assert not reading.request.native_options
    assert reading.unread == ("--model foo",)


@pytest.mark.parametrize(
    ("text", "command", "line"),
    [
        ('run the program "./yales2 run.in" on 2 nodes', ("./yales2", "run.in"), ()),
        ('On the old one it was "aprun -n 480 -N 24 ./x.exe", 3 h', ("./x.exe",), ("aprun", "-n", "480", "-N", "24")),
        ("we start it with “./fold -n 4” on 2 nodes", ("./fold", "-n", "4"), ()),
        ('python x.py --cmd "./y 1" on 2 nodes', ("python", "x.py", "--cmd", "./y 1"), ()),
    ],
)  # fmt: skip
def test_commands_in_double_quotes(text: str, command: Any, line: Any, read: Read) -> None:
    request = read(text).request
    assert (request.command, request.launch_line) == (command, line)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The reads are at site juno: /data/rnaseq/S1.fastq.gz (18 GB). STAR 2.7 on 4 cores", "S1.fastq.gz"),
        ("the mesh lies here: ~/mesh/wing.msh. ./x on 4 cores", "wing.msh"),
    ],
)
def test_a_file_behind_a_colon_is_no_program(text: str, name: str, read: Read) -> None:
    reading = read(text, sites=["juno"])
    assert [item.name for item in reading.request.inputs] == [name]
    assert reading.request.script is None


def test_a_program_behind_a_colon_stays_one(read: Read) -> None:
    assert read("2 nodes at site juno: /opt/app/run -i a", sites=["juno"]).request.command == (
        "/opt/app/run",
        "-i",
        "a",
    )


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("-n 12 -a 1 -g 1 -c 7", {"tasks": 12, "cpus_per_task": 7, "gpus": {"count": 1, "per": "task"}}),
        ("-n12 -a6 -c42 -g6 -r1", {"nodes": 12, "tasks": 72, "tasks_per_node": 6, "cpus_per_task": 7,
                                   "gpus": {"count": 1, "per": "task"}}),
        ("--nrs=6 --tasks_per_rs=4 --gpu_per_rs=2 -r 2 -b rs", {"nodes": 3, "tasks": 24, "tasks_per_node": 8,
                                                                "gpus": {"count": 12, "per": "job"}}),
    ],
)  # fmt: skip
def test_resource_sets(line: str, shape: Any, read: Read) -> None:
    request = read(f"jsrun {line} ./qmcpack he.xml, two hours").request
    assert request.command == ("./qmcpack", "he.xml")
    assert request.launch_line == ("jsrun", *line.split())
    assert request.shape.dump() == shape


@pytest.mark.parametrize("line", ["jsrun -a 3 -g 1 ./x", "jsrun -n ALL_HOSTS ./x"])
def test_resource_sets_that_cannot_be_counted_are_told(line: str, read: Read) -> None:
    reading = read(line)
    assert reading.request.shape.dump() == {}
    assert reading.unread


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("his script had `#SBATCH --mem-per-cpu=3800M` and `#SBATCH -n 256`, keep those. ./x",
         {"tasks": 256, "memory": {"bytes": 3984588800, "per": "cpu"}}),
        ("our jobs had `#BSUB -n 40 -W 2:00`; run ./x", {"tasks": 40}),
        ("never use #SBATCH --exclusive, ./x on 2 nodes", {"nodes": 2}),
    ],
)  # fmt: skip
def test_directives_in_a_sentence(text: str, shape: Any, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert reading.request.command == ("./x",)
    assert reading.request.shape.dump() == shape


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (
            "qsub -l select=2:ncpus=36 -q workq ... that's how it went on the old box. now: `./run.sh`, 2 nodes",
            "./run.sh",
        ),
        ("sbatch -N 4 old.sh is what I used before. This time run ./new on 2 nodes", "./new"),
        ("last year we ran `./old.sh -a`; now please run `./new.sh` on 2 nodes", "./new.sh"),
        ("The solver `./cfd -i x` is started from `./wrap.sh`, 2 nodes", "./wrap.sh"),
    ],
)
def test_commands_only_told_of(text: str, command: str, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert reading.request.command == (command,)
    assert reading.request.shape.dump() == {"nodes": 2}
    assert not reading.questions


@pytest.mark.parametrize("text", ["run ./a then ./b on 2 nodes", "I ran ./a yesterday and ./b today"])
def test_two_commands_are_asked_about(text: str, read: Read) -> None:
    assert [question.field for question in read(text).questions] == ["command"]


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("qsub -l select=2:ncpus=36:mpiprocs=36 -l walltime=03:00:00 -q workq ./run_flow.sh",
         {"nodes": 2, "tasks_per_node": 36}),
        ("sbatch -N 3 -t 180 job.sh", {"nodes": 3}),
    ],
)  # fmt: skip
def test_same_as_a_submit_line(line: str, shape: Any, read: Read) -> None:
    reading = read(f"Same thing as `{line}` please.", script_reader=read_any_script)
    assert reading.request.shape.dump() == shape
    assert reading.request.walltime_s == 10800
    assert [question.field for question in reading.questions] == ["command"]
    assert not reading.unread


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("run the same script but with half the nodes", {"shapes.0.nodes", "command"}),
        ("same job as last week with double the memory", {"shapes.0.memory", "command"}),
        ("same as before but 10 nodes", {"command"}),
    ],
)
def test_an_earlier_request_is_asked_for(text: str, fields: set[str], read: Read) -> None:
    reading = read(text)
    assert {question.field for question in reading.questions} == fields
    assert not reading.request.software


@pytest.mark.parametrize(
    ("text", "names", "outputs"),
    [
        ("The input file /archive/era5/2020.nc, which is 120 GB in size and stored at titan, is required by ./down, "
         "whose result out.nc must be brought back.", [("2020.nc", "titan", 120_000_000_000)], ["out.nc"]),
        ("The files a.dat and b.dat are needed by ./x on 2 nodes", [("a.dat", None, None), ("b.dat", None, None)], []),
        ("input.nc (3 GB) is read by ./x; res.nc has to be sent back", [("input.nc", None, 3_000_000_000)], ["res.nc"]),
        ("./x reads a.dat and writes b.dat, 2 nodes", [("a.dat", None, None)], ["b.dat"]),
    ],
)  # fmt: skip
def test_files_that_are_told_of(text: str, names: Any, outputs: Any, read: Read) -> None:
    reading = read(text, sites=["titan"])
    request = reading.request
    assert [(item.name, item.site, item.bytes) for item in request.inputs] == names
    assert [item.pattern for item in request.outputs] == outputs
    assert len(request.command or ()) == 1
    assert not reading.questions


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("accelerate launch train.py on 1 node with 4 GPUs", ("accelerate", "launch", "train.py")),
        ("conda run -n env python x.py, 4 cores", ("conda", "run", "-n", "env", "python", "x.py")),
        ("We need to run ./x, 2 nodes", ("./x",)),
    ],
)
def test_programs_that_run_programs(text: str, command: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == command
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("The command was ./sim -a and it needs 4 nodes", ("./sim", "-a")),
        ("./x -v needs 4 nodes", ("./x", "-v")),
        ("julia --project=. -t 8 run.jl, 4 nodes", ("julia", "--project=.", "-t", "8", "run.jl")),
        ("please run our analysis script fit.py on 4 nodes", ("fit.py",)),
    ],
)
def test_where_a_command_ends(text: str, command: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == command
    assert reading.request.shape.dump() == {"nodes": 4}
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "outputs", "inputs"),
    [
        ("run ./x on 2 nodes and then copy out.dat to /home/me", ["out.dat"], []),
        ("copy data.h5 to the node, then run ./x, 2 nodes", [], ["data.h5"]),
    ],
)
def test_what_is_copied_when_it_is_done(text: str, outputs: Any, inputs: Any, read: Read) -> None:
    request = read(text).request
    assert [item.pattern for item in request.outputs] == outputs
    assert [item.name for item in request.inputs] == inputs


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("MPI job: ./wave; 64 tasks; args -n 5 -m 6", ("./wave", "-n", "5", "-m", "6")),
        ("program: lmp\narguments: -in in.lj\ntasks: 64\nqueue: q", ("lmp", "-in", "in.lj")),
        ('executable=./x; arguments="-a 1"; tasks=64', ("./x", "-a", "1")),
    ],
)
def test_arguments_apart_from_the_command(text: str, command: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == command
    assert reading.request.shape.dump() == {"tasks": 64}
    assert reading.request.walltime_s is None
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "command", "queue"),
    [
        ("submit with sbatch -p long; program ./x, 2 nodes", ("./x",), "long"),
        ('bsub -n 64 -W 120 -q normal "./x -a"', ("./x", "-a"), "normal"),
    ],
)
def test_submit_lines_beside_and_around_a_command(text: str, command: Any, queue: str, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert (reading.request.command, reading.request.queue) == (command, queue)
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        ("inputs: juno:/data/a.nc; outputs: b.nc; ./x on 2 nodes", [("/data/a.nc", "juno")], ["b.nc"]),
        ("I need plot.png at the end; python plot.py on 1 core", [], ["plot.png"]),
        ("command: ./x\ninputs: a.dat and b.dat", [("a.dat", None), ("b.dat", None)], []),
    ],
)
def test_files_with_their_site_or_as_results(text: str, inputs: Any, outputs: Any, read: Read) -> None:
    request = read(text, sites=["juno"]).request
    assert [(item.source, item.site) for item in request.inputs] == inputs
    assert [item.pattern for item in request.outputs] == outputs


def test_a_sentence_behind_a_label_is_no_file(read: Read) -> None:
    reading = read("input: 20 GB in /data/set1; ./x on 1 core")
    assert reading.request.command == ("./x",)
    assert not reading.request.inputs


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("I have a python script called predict.py, it needs 4 cores", ("python", "predict.py")),
        ("run my R script fit.R with 4 cores", ("Rscript", "fit.R")),
        ("my script is called run.sh, 4 cores", ("run.sh",)),
        ("Programm ./x mit Argumenten -i a -b 3, 4 Kerne", ("./x", "-i", "a", "-b", "3")),
        ('Program ./x is to be started as "./wrap ./x in.dat", 4 cores', ("./wrap", "./x", "in.dat")),
        ("cores:4 cmd:./run.sh", ("./run.sh",)),
    ],
)
def test_how_a_script_is_named(text: str, command: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == command
    assert reading.request.shape.dump() == {"cpus": 4}
    assert reading.complete


@pytest.mark.parametrize(
    "text", ["The results (*.vtu, log.txt) should come back; ./x", "./x gives *.vtu; we expect log.txt as a result"]
)
def test_results_that_come_back(text: str, read: Read) -> None:
    assert "log.txt" in [item.pattern for item in read(text).request.outputs]


def test_a_script_that_is_only_a_path_is_named(read: Read) -> None:
    assert any("is not opened by its name" in sentence for sentence in read({"script": "/home/me/run.sh"}).defaults)


@pytest.mark.parametrize(
    "text",
    [
        "./x -a => 2 nodes",
        "./x -a @ 2 nodes",
        "use './x -a' on 2 nodes",
        "our code (./x -a) on 2 nodes",
        "**Command:** `./x -a`  \n**Nodes:** 2  \n",
        "__Command__: ./x -a\n__Nodes__: 2",
    ],
)
def test_signs_and_letters_around_a_command(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ("./x", "-a")
    assert reading.request.shape.dump() == {"nodes": 2}
    assert not reading.request.inputs


@pytest.mark.parametrize(("name", "version"), [("GROMACS", "2024.1"), ("Open Babel", "3.1")])
def test_software_in_quotes_is_no_command(name: str, version: str, read: Read) -> None:
    request = read(f'run "{name} {version}" on 2 nodes').request
    assert request.command is None or not request.command
    assert [item.name for item in request.software] == [name]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("timeout 3600 ./x, 1 core", ("timeout", "3600", "./x")),
        ("taskset -c 0-3 ./x, 1 core", ("taskset", "-c", "0-3", "./x")),
        ("./x overnight on 1 core", ("./x",)),
        ('A="x y" ./x, 1 core', ("./x",)),
    ],
)
def test_what_stands_around_a_program(text: str, command: Any, read: Read) -> None:
    request = read(text).request
    assert request.command == command
    assert [item.value for item in request.environment] == (["x y"] if text.startswith("A=") else [])
