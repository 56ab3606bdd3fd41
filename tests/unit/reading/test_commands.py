"""Commands and launch lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("line", "command", "shape", "environment"),
    [
        ("srun -n 4 ./app in.lj", ("./app", "in.lj"), {"tasks": 4}, {}),
        ("mpirun -np 8 -x A=1 ./app", ("./app",), {"tasks": 8}, {"A": "1"}),
        (
            "srun --ntasks=16 --cpus-per-task=2 --mpi=pmix ./a -n 3",
            ("./a", "-n", "3"),
            {"tasks": 16, "cpus_per_task": 2},
            {},
        ),
        ("mpiexec -n 4 -genv OMP_NUM_THREADS 8 ./b", ("./b",), {"tasks": 4}, {"OMP_NUM_THREADS": "8"}),
        ("srun -N2 -n8 ./c", ("./c",), {"nodes": 2, "tasks": 8}, {}),
        ("flux run -n 4 -g 1 ./d", ("./d",), {"tasks": 4, "gpus": {"count": 1, "per": "task"}}, {}),
        ("aprun -n 32 -N 16 ./e", ("./e",), {"tasks": 32, "tasks_per_node": 16}, {}),
        ("mpirun --mca btl tcp,self -np 2 ./f", ("./f",), {"tasks": 2}, {}),
    ],
)
def test_launch_line(line: str, command: Any, shape: Any, environment: Any, read: Read) -> None:
    reading = read(line)
    assert reading.request.command == command
    assert reading.request.shape.dump() == shape
    assert {item.name: item.value for item in reading.request.environment} == environment
    assert reading.complete


def test_unknown_launcher_option_is_told_and_the_line_kept(read: Read) -> None:
    reading = read("srun --frobnicate ./app")
    assert reading.request.command == ("srun", "--frobnicate", "./app")
    assert reading.unread == ("srun --frobnicate",)


def test_launch_line_against_words_is_asked_back(read: Read) -> None:
    reading = read("8 tasks: srun -n 4 ./app")
    assert [question.field for question in reading.questions] == ["shapes.0.tasks"]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("run python3 train.py --lr 0.1 on 2 nodes for 3 hours", ("python3", "train.py", "--lr", "0.1")),
        ("4 nodes: ./a.out 'two words' x, needs in.dat", ("./a.out", "two words", "x")),
        ("please execute `lmp -in in.melt` on 1 node", ("lmp", "-in", "in.melt")),
        ("$ ./x -v --on fast\n2 nodes", ("./x", "-v", "--on", "fast")),
    ],
)
def test_command(text: str, command: Any, read: Read) -> None:
    assert read(text).request.command == command


def test_shell_signs_make_a_script(read: Read) -> None:
    request = read("1 node: ./a < in > out").request
    assert request.command == ()
    assert request.script == "./a < in > out\n"


def test_two_commands_are_asked_back(read: Read) -> None:
    reading = read("run ./a.out on 2 nodes, then run ./b.out")
    assert reading.request.command == ()
    assert [question.id for question in reading.questions] == ["command"]


@pytest.mark.parametrize("text", ["hello there", "please help me", "thanks!"])
def test_no_work_is_asked_for(text: str, read: Read) -> None:
    assert "command" in {question.id for question in read(text).questions}


@pytest.mark.parametrize(
    ("line", "launch_line"),
    [
        ("srun -n 4 ./app in.lj", ("srun", "-n", "4")),
        ("mpirun -np 8 -x A=1 ./app", ("mpirun", "-np", "8", "-x", "A=1")),
        ("flux run -n 4 -g 1 ./d", ("flux", "run", "-n", "4", "-g", "1")),
        ("mpiexec -n 4 -genv B 'two words' ./b", ("mpiexec", "-n", "4", "-genv", "B", "two words")),
        ("./app in.lj", ()),
    ],
)
def test_the_launch_line_is_kept_word_for_word(line: str, launch_line: tuple[str, ...], read: Read) -> None:
    assert read(line).request.launch_line == launch_line


def test_a_launch_line_with_a_secret_is_left_to_the_sites_launcher(read: Read) -> None:
    reading = read("mpirun -np 2 -x HF_TOKEN=hf_SECRET123 ./a")
    assert (reading.request.launch_line, reading.request.launch) == ((), "tasks")
    assert "SECRET123" not in reading.request.model_dump_json()


def test_a_form_may_say_how_it_is_started(read: Read) -> None:
    request = read({"command": ["./a"], "tasks": 4, "launch": "tasks", "recipe": "lammps"}).request
    assert (request.launch, request.recipe, request.command) == ("tasks", "lammps", ("./a",))
    line = read({"command": "mpirun -np 4 ./a"}).request
    assert (line.launch_line, line.command, line.shape.tasks) == (("mpirun", "-np", "4"), ("./a",), 4)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("time mpirun -np 4 ./a", ("time", "mpirun", "-np", "4", "./a")),
        ("run `time srun -n 4 ./a`", ("time", "srun", "-n", "4", "./a")),
        ("nohup nice -n 5 mpiexec -n 4 ./a", ("nohup", "nice", "-n", "5", "mpiexec", "-n", "4", "./a")),
        ("/usr/bin/time -v mpirun -np 4 ./a", ("/usr/bin/time", "-v", "mpirun", "-np", "4", "./a")),
    ],
)
def test_what_stands_before_a_launcher_stays_and_what_it_asks_for_counts(text: str, command: Any, read: Read) -> None:
    request = read(text).request
    assert (request.command, request.launch_line, request.shape.tasks) == (command, (), 4)


def test_a_word_of_the_sentence_before_a_launcher_is_none_of_its_own(read: Read) -> None:
    assert read("as little time as possible: mpirun -np 4 ./a").request.launch_line == ("mpirun", "-np", "4")
    assert read("no limit of time mpirun -np 4 ./a").request.command == ("./a",)
