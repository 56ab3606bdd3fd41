"""Words below directives or beside a launch line: what they change counts, what only differs is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.request import ArrayRange
from graph.planned import line_stays
from providers.script_reading import read_any_script

Read = Callable[..., Any]
HEADER = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=16\n#SBATCH --time=03:00:00\n#SBATCH --partition=main\n"


def own(read: Read, text: str) -> Any:
    return read(text, script_reader=read_any_script, sites=("juno", "titan"))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("All as above, only that 6 nodes are used. `./model` is the program.", {"nodes": 6}),
        ("Keep the rest, but the number of nodes has to be 9. Command: ./model", {"nodes": 9}),
        ("Raise the nodes from 2 to 3, please. Run `./model`.", {"nodes": 3}),
        ("Twice the nodes, that is 4. What runs is `./model`.", {"nodes": 4}),
        ("Instead of 2 nodes, 5 are needed. Program: ./model", {"nodes": 5}),
        ("The header is fine as it stands. Program: ./model", {"nodes": 2}),
        ("change 2 nodes to 7, and the command is `./model`", {"nodes": 7}),
    ],
)
def test_words_change_directives(words: str, wanted: dict[str, int], read: Read) -> None:
    reading = own(read, HEADER + words)
    assert reading.request.command == ("./model",)
    assert reading.request.script is None
    assert reading.request.script_dialect is None
    assert reading.request.shape.dump() == {"tasks_per_node": 16, **wanted}
    assert (reading.request.walltime_s, reading.request.queue) == (10800, "main")
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "seconds", "queue"),
    [
        ("Put it into queue long now. Run `./model`.", 10800, "long"),
        ("But in partition quick instead of main. `./model` runs.", 10800, "quick"),
        ("Extend the time to 5 hours, otherwise unchanged. Program: ./model", 18000, "main"),
        ("Rather than three hours, two are enough. Program: ./model", 7200, "main"),
        ("4 hours this time, not 3. The program is `./model`.", 14400, "main"),
    ],
)
def test_words_change_time_and_queue(words: str, seconds: int, queue: str, read: Read) -> None:
    reading = own(read, HEADER + words)
    assert (reading.request.walltime_s, reading.request.queue) == (seconds, queue)
    assert reading.complete


def test_an_array_and_what_it_waits_for(read: Read) -> None:
    header = "#SBATCH --array=1-40%4\n#SBATCH --dependency=afterok:812\n#SBATCH --mem=8G\n"
    reading = own(read, f"{header}Let 10 of them run at once, not 4. I do not care whether job 812 fails. Program: ./a")
    assert reading.request.array is not None
    assert (reading.request.array.at_once, reading.request.array.size) == (10, 40)
    assert [(each.kind, each.job_id) for each in reading.request.dependencies] == [("afterany", "812")]
    reading = own(read, f"{header}Only elements 5 to 9 this time, and 12 GB of memory. Program: ./a")
    assert reading.request.array is not None
    assert reading.request.array.ranges == (ArrayRange(first=5, last=9),)
    assert reading.request.shape.memory is not None
    assert (reading.request.shape.memory.bytes, reading.request.shape.memory.per) == (12_000_000_000, "node")


@pytest.mark.parametrize(
    "body",
    [
        "module load gcc\nsrun ./a.out\n",
        'srun ./a.out\necho "this is the end of it"\n',
        "cat > in << EOF\nThis is the title of the run.\nEOF\n./a.out\n",
        "find . -type f -and -not -name x\n",
        "for f in *.dat; do ./a.out $f; done\n",
        "# This is for the big run, and it is long.\n./a.out\n",
    ],
)
def test_a_script_stays_whole(body: str, read: Read) -> None:
    assert own(read, HEADER + body).request.script == body
    python = f"#!/usr/bin/env python3\n{HEADER}import it\nprint(it)\nThis is not for a shell.\n"
    assert "This is not for a shell." in str(own(read, python).request.script)


def test_a_sentence_behind_a_script(read: Read) -> None:
    reading = own(read, f"#!/bin/bash\n{HEADER}srun ./a.out\n\nPlease do that on titan, and with 4 nodes.\n")
    assert reading.request.script == "#!/bin/bash\nsrun ./a.out\n\n"
    assert (reading.request.sites, reading.request.shape.nodes) == (("titan",), 4)
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "tasks"),
    [
        ("That was small; this time take 40 ranks.", 40),
        ("The number of ranks should be 24, though.", 24),
        ("Increase the ranks to 32, please.", 32),
        ("but with 20 processes", 20),
        ("Do it with 12 ranks, please, not 8.", 12),
        ("Half the ranks are enough, so 4.", 4),
        ("make that 16 ranks", 16),
    ],
)
def test_words_change_a_launch_line(words: str, tasks: int, read: Read) -> None:
    reading = own(read, f"mpirun -np 8 ./sim\n{words}")
    assert reading.request.shape.tasks == tasks
    assert reading.complete
    assert not line_stays(reading.request, reading.request.shape)


@pytest.mark.parametrize("words", ["16 ranks", "It has 16 ranks.", "run it now with 16 tasks", "16 ranks, not shared"])
def test_words_that_only_differ_are_asked(words: str, read: Read) -> None:
    reading = own(read, f"srun -n 8 ./sim\n{words}")
    assert [question.field for question in reading.questions] == ["shapes.0.tasks"]
    assert reading.request.shape.tasks is None


def test_a_total_that_the_shares_of_a_line_do_not_fit(read: Read) -> None:
    line = "srun -N 2 --ntasks-per-node=64 ./sim\n"
    assert own(read, f"{line}with 32 tasks").questions
    changed = own(read, f"{line}32 tasks are enough this time").request.shape
    assert (changed.tasks, changed.tasks_per_node, changed.nodes) == (32, None, 2)


def test_a_limit_of_the_line_does_not_stay(read: Read) -> None:
    reading = own(read, "srun -n 4 --time=02:00:00 ./sim\nGive it 5 hours rather than 2.")
    assert reading.request.walltime_s == 18000
    assert reading.complete
    assert not line_stays(reading.request, reading.request.shape)
    same = own(read, "srun -n 4 --time=02:00:00 ./sim")
    assert line_stays(same.request, same.request.shape)


@pytest.mark.parametrize(
    "words", ["STEPS should be 900, though", "STEPS=900", "set STEPS to 900", "STEPS must become 900"]
)
def test_a_variable_of_the_line(words: str, read: Read) -> None:
    reading = own(read, f"mpirun -np 4 -x STEPS=100 ./sim\n{words}")
    assert [(each.name, each.value) for each in reading.request.environment] == [("STEPS", "900")]
    assert reading.request.launch_line == ("mpirun", "-np", "4", "-x", "STEPS=900")
    assert reading.complete
