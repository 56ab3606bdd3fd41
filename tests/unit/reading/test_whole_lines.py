"""What belongs to a command is never left out of it: shell lines, submit lines, and words before and behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.errors import BadRequest
from graph.reading.answers import apply_answer
from providers.script_reading import read_any_script

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("source env.sh; ./x on 1 core for 1 min", "source env.sh; ./x"),
        ("source /opt/intel/setvars.sh && ./x", "source /opt/intel/setvars.sh && ./x"),
        ("make all && ./x on 2 cores 1h", "make all && ./x"),
        ("mpi && ./x", "mpi && ./x"),
        ("2 nodes, 1 h: module load gcc && ./x", "module load gcc && ./x"),
        ("run cd build && make && ./x on 1 node", "cd build && make && ./x"),
        ("export A=1; ./x on 2 nodes", "export A=1; ./x"),
        ("source env.sh\n./x\n", "source env.sh\n./x"),
        ("generate | ./x on 2 cores", "generate | ./x"),
        (". ./env.sh && ./x on 2 nodes", ". ./env.sh && ./x"),
        ("for i in 1 2 3; do ./x $i; done on 2 cores", "for i in 1 2 3; do ./x $i; done"),
        ("(cd sub; ./x) on 1 node", "(cd sub; ./x)"),
    ],
)
def test_part_of_a_shell_line_is_never_run_alone(text: str, line: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert reading.request.script is None
    assert reading.request.inputs == ()
    (question,) = reading.questions
    assert "backticks" in question.text
    assert apply_answer(reading, "command", 1).request.script == line + "\n"


@pytest.mark.parametrize("text", ["`source env.sh && ./x` on 2 nodes", "2 nodes:\n```\nsource env.sh && ./x\n```"])
def test_a_shell_line_between_backticks_is_taken_whole(text: str, read: Read) -> None:
    request = read(text).request
    assert (request.script, request.shape.nodes) == ("source env.sh && ./x\n", 2)


def test_an_answer_between_backticks_is_taken_whole(read: Read) -> None:
    reading = read("source env.sh && ./x on 2 nodes")
    with pytest.raises(BadRequest, match="backticks"):
        apply_answer(reading, "command", "make all && ./x")
    assert apply_answer(reading, "command", "`make all && ./x`").request.script == "make all && ./x\n"
    assert apply_answer(reading, "command", "`mpirun -n 4 ./x`").request.command == ("./x",)


@pytest.mark.parametrize("text", ["./x on 2 nodes && make", "2 nodes | ./x"])
def test_a_sign_of_the_shell_is_never_padding(text: str, read: Read) -> None:
    assert not read(text).complete


def test_single_letters_are_told(read: Read) -> None:
    assert read("R on 2 nodes, ./x").unread == ("R",)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("one node ./x 1h", 1), ("1 node ./x 1h", 1), ("finish in 3 hours, 1 node ./x", 1), ("two nodes ./x", 2),
        ("1 node unlimited time ./x", 1), ("3 compute nodes ./x for 1 h", 3),
    ],
)  # fmt: skip
def test_a_unit_before_the_program_is_no_program(text: str, nodes: int, read: Read) -> None:
    request = read(text).request
    assert (request.command, request.shape.nodes) == (("./x",), nodes)


def test_a_unit_without_a_count_is_asked_about(read: Read) -> None:
    assert [question.field for question in read("some node ./x").questions] == ["shapes.0.nodes"]


@pytest.mark.parametrize(
    ("text", "command"),
    [("time ./x on 1 core", ("time", "./x")), ("node serve.js on 1 core", ("node", "serve.js"))],
)
def test_programs_named_like_units(text: str, command: Any, read: Read) -> None:
    assert read(text).request.command == command


@pytest.mark.parametrize(
    ("text", "command", "shape", "seconds"),
    [
        ('sbatch -N2 --wrap "./x"', ("./x",), {"nodes": 2}, None),
        ("salloc -N 2 -t 1:00:00 ./x", ("./x",), {"nodes": 2}, 3600),
        ("bsub -n 64 -W 2:00 ./x", ("./x",), {"tasks": 64}, 7200),
        ("flux submit -n 4 ./x", ("./x",), {"tasks": 4}, None),
        ("salloc --nodes=2 --time=30 srun ./x", ("./x",), {"nodes": 2}, 1800),
        ("qsub -l select=2:ncpus=8:mpiprocs=8 -- ./x", ("./x",), {"nodes": 2, "tasks_per_node": 8}, None),
        ("select=2:ncpus=8:mpiprocs=8, walltime=2:00:00, ./x", ("./x",), {"nodes": 2, "tasks_per_node": 8}, 7200),
        ("nodes=4:ppn=16, ./x", ("./x",), {"nodes": 4, "tasks_per_node": 16}, None),
        ("gres=gpu:a100:2 ./x", ("./x",), {"gpus": {"count": 2, "per": "node", "model": "a100"}}, None),
        ("please submit `sbatch -n 3 --time 0:30 --wrap=./y`", ("./y",), {"tasks": 3}, 30),
    ],
)
def test_a_submit_line_with_its_command(text: str, command: Any, shape: Any, seconds: Any, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert reading.request.command == command
    assert reading.request.shape.dump() == shape
    assert reading.request.walltime_s == seconds
    assert "submit" not in reading.request.launch_line
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "shape", "seconds"),
    [
        ("sbatch --array=1-100%10 --time=10 job.sh", {}, 600),
        ("sbatch -N 4 job.sh", {"nodes": 4}, None),
        ("qsub -l nodes=2:ppn=8,walltime=2:00:00 run.sh", {"nodes": 2, "tasks_per_node": 8}, 7200),
        ("qsub -pe mpi 8 -cwd -l h_rt=1:00:00 run.sh", {"cpus": 8}, 3600),
        ("bsub -n 64 -W 2:00 < job.lsf", {"tasks": 64}, 7200),
        ("flux batch -N 2 -t 10m job.sh", {"nodes": 2, "exclusive": True}, 600),
    ],
)
def test_a_submit_line_with_a_script_asks_for_it(text: str, shape: Any, seconds: Any, read: Read) -> None:
    reading = read(text, script_reader=read_any_script)
    assert reading.request.command == ()
    assert (reading.request.shape.dump(), reading.request.walltime_s) == (shape, seconds)
    assert "dragoman run -f" in reading.questions[0].text
    assert reading.questions[0].field == "command"


@pytest.mark.parametrize(
    "text",
    [
        "sbatch -N 4 --wrap ./x", "sbatch -N 4 job.sh a b", "flux bulksubmit -n 1 ./x", "cd a && sbatch job.sh",
        "sbatch a.sh; sbatch b.sh", "condor_submit a.sub", "oarsub -l nodes=2 ./x", "sbatch -N 2 job.sh | tee a",
    ],
)  # fmt: skip
def test_a_submit_line_that_is_not_understood_is_asked_back(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert reading.questions


@pytest.mark.parametrize("command", ["sbatch -N 4 job.sh", ["qsub", "job.sh"]])
def test_a_form_with_a_submit_line_is_refused(command: Any, read: Read) -> None:
    with pytest.raises(BadRequest, match="hands a job in"):
        read({"command": command})


def test_an_answer_is_no_submit_line(read: Read) -> None:
    with pytest.raises(BadRequest):
        apply_answer(read("hello"), "command", "sbatch job.sh")


def test_a_submit_line_and_words_that_differ_are_asked_about(read: Read) -> None:
    reading = read("sbatch -N 4 --time=10 --wrap ./x for 2 hours on 2 nodes", script_reader=read_any_script)
    assert {question.field for question in reading.questions} == {"walltime_s", "shapes.0.nodes"}
    assert reading.request.walltime_s is None


@pytest.mark.parametrize("text", ["srun -t 1-12 ./x", "srun --time=1-12 ./x"])
def test_days_and_hours_of_slurm(text: str, read: Read) -> None:
    assert read(text).request.walltime_s == 129600


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("run hostname on 1 core for 1 min", ("hostname",)),
        ("2 cores for 5 minutes: echo hi", ("echo", "hi")),
        ("echo hi", ("echo", "hi")),
        ("sleep 60 on 1 core", ("sleep", "60")),
        ("Could you run uname -a on one node?", ("uname", "-a")),
    ],
)
def test_programs_of_every_system(text: str, command: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == command
    assert reading.request.software == ()
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("run date on 2 nodes", "yes, run date"),
        ("run sort data.txt on 1 core", "yes, run sort data.txt"),
        ("2 nodes for 1 hour: mysolver input", "yes, run mysolver input"),
        ("2 nodes for 1 hour: gromacs 2024.1", "yes, run gromacs 2024.1"),
    ],
)
def test_what_may_be_a_command_is_asked(text: str, label: str, read: Read) -> None:
    reading = read(text)
    assert (reading.request.command, reading.request.software) == ((), ())
    assert reading.questions[0].options[0].label == label
    assert apply_answer(reading, "command", 1).request.command == tuple(label.removeprefix("yes, run ").split())


def test_a_program_without_what_it_needs_is_asked(read: Read) -> None:
    reading = read("sleep 5 minutes on 1 core")
    assert reading.request.command == ()
    assert [question.field for question in reading.questions] == ["command"]


@pytest.mark.parametrize("text", ["do not run ./x on 2 nodes", "never execute `./x`, 2 nodes", "Do not run rm -rf /"])
def test_what_must_not_be_run_is_not_run(text: str, read: Read) -> None:
    reading = read(text)
    assert (reading.request.command, reading.request.sites_not) == ((), ())
    assert reading.unread


@pytest.mark.parametrize(
    ("text", "command", "nodes", "seconds"),
    [
        ("./x 1h30 2 nodes", ("./x",), 2, 5400),
        ("python x.py --flag on one node", ("python", "x.py", "--flag"), 1, None),
        ("./x -v for 2 hours on 2 nodes", ("./x", "-v"), 2, 7200),
        ("run python x.py with args a b c on 2 nodes", ("python", "x.py", "a", "b", "c"), 2, None),
        ("./x auf 2 Knoten", ("./x",), 2, None),
        ("python x.py --mode on", ("python", "x.py", "--mode", "on"), None, None),
    ],
)
def test_where_a_command_ends(text: str, command: Any, nodes: Any, seconds: Any, read: Read) -> None:
    request = read(text).request
    assert (request.command, request.shape.nodes, request.walltime_s) == (command, nodes, seconds)


@pytest.mark.parametrize(
    ("text", "seconds", "argument"),
    [("./x 90m 2 nodes", 5400, "90m"), ("./x 02:00:00 on 2 nodes", 7200, "02:00:00"), ("./x -v a 2d", 172800, "2d")],
)
def test_a_time_behind_the_arguments_is_asked_about(text: str, seconds: int, argument: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    limited = apply_answer(reading, "command", 1).request
    assert (limited.walltime_s, argument in limited.command) == (seconds, False)
    given = apply_answer(reading, "command", "an argument").request
    assert (given.walltime_s, given.command[-1]) == (None, argument)


@pytest.mark.parametrize(
    "text", ["python x.py on file data.csv", "python x.py over file data.csv", "python x.py with data.csv, 2 nodes"]
)
def test_a_file_behind_on_may_be_an_argument(text: str, read: Read) -> None:
    reading = read(text)
    answered = apply_answer(reading, "inputs", 1).request
    assert answered.command == ("python", "x.py", "data.csv")
    assert [item.name for item in answered.inputs] == ["data.csv"]


def test_a_variable_that_is_named_shows_no_secret(read: Read) -> None:
    assert read("docker run -v $PWD:/data alpine ls").complete
    assert read("docker run -e TOKEN=$TOKEN alpine ls").complete
    for shown in ("./x --password hunter2", "docker run -e PASSWORD=abc img"):
        with pytest.raises(BadRequest, match="a secret stands openly here"):
            read(shown)
    assert not read("PASSWORD=abc ./x on 1 node").unread
