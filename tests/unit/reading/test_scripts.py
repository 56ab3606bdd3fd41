"""Job scripts are handed to the reader of their scheduler; words around them count over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dragoman.protocols import ScriptReading
from dragoman.request import JobRequest
from dragoman.shape import Shape

Read = Callable[..., Any]
SCRIPT = "#!/bin/bash\n#SBATCH -N 4\n#SBATCH -t 60\nmodule load lammps\nsrun lmp -in in.lj\n"


def reader(text: str) -> ScriptReading:
    assert text.startswith("#!/bin/bash\n#SBATCH")
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    request = JobRequest(script=body, shapes=(Shape(nodes=4),), walltime_s=3600)
    return ScriptReading(request=request, body=body, problems=("line 9: what?",), not_carried=("--mail-user=x",))


def test_script_is_delegated(read: Read) -> None:
    reading = read(SCRIPT, script_reader=reader)
    assert reading.request.script == "module load lammps\nsrun lmp -in in.lj\n"
    assert reading.request.walltime_s == 3600
    assert reading.unread == ("line 9: what?",)


def test_words_count_over_the_script(read: Read) -> None:
    reading = read(
        "Run this script, but cheaper, on 2 nodes and before Friday 17:00:\n\n" + SCRIPT, script_reader=reader
    )
    assert reading.request.shapes == (Shape(nodes=2),)
    assert reading.request.objective == "min-cost"
    assert reading.request.dump()["deadline"] == "2026-12-04T16:00:00Z"
    assert reading.request.walltime_s == 3600


def test_fenced_script_with_words_after_it(read: Read) -> None:
    reading = read(f"Please run\n```bash\n{SCRIPT}```\nwithin budget of 20 node-hours", script_reader=reader)
    assert reading.request.budget is not None
    assert reading.request.walltime_s == 3600


def test_without_a_reader_directives_are_told_back(read: Read) -> None:
    assert read(SCRIPT).unread == ("#SBATCH -N 4", "#SBATCH -t 60")
