"""Any text ends in a reading or a refusal; how soon is shown by `benchmarks/bench_growth.py`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import BadRequest
from graph.reading.answers import merge_edit
from graph.reading.line import MAX_WORDS
from graph.reading.read import read_request

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
WORDS = [
    "4 nodes",
    "each",
    "with",
    "GPUs",
    "8",
    "per node",
    "and",
    "or",
    "CPU",
    "64 GB",
    "2h30",
    "4:00",
    "before",
    "Friday",
    "17:00",
    "CET",
    "after job",
    "12",
    "succeeds",
    "array",
    "1-10%3",
    "of",
    "run",
    "./a.out",
    "python3 x.py",
    ":",
    ",",
    ".",
    "-",
    "`",
    '"',
    "'",
    "need",
    "LAMMPS",
    "2Aug2023",
    ">=",
    "3.1",
    "at least",
    "at most",
    "between",
    "$20",
    "node-hours",
    "A100",
    "80GB",
    "only at site",
    "x",
    "not",
    "in",
    "image",
    "docker://a/b:1",
    "HF_TOKEN=hf_x",
    "A=1",
    "half",
    "a",
    "dozen",
    "1,024",
    "1.024",
    "tasks",
    "cores",
    "threads",
    "mpirun -np",
    "srun",
    "--",
    "{",
    "}",
    "[",
    "nodes: 4",
    "\n",
    "results",
    "input.csv",
    "s3://b/c",
    "/scratch/a",
    "low latency MPI",
    "cheapest",
    "tonight",
    "tomorrow",
    "9.x",
    "Knoten",
    "mit",
    "je",
    "tâches",
    "0",
    "999999999999999",
    "é",
    "∞",
    "#SBATCH -N 2\n",
    "#!",
]


def attempt(text: str) -> None:
    try:
        reading = read_request(text, now=NOW, time_zone="Europe/Berlin")
        merge_edit(reading, text)
    except BadRequest:
        return


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join))
def test_words_of_the_field(text: str) -> None:
    attempt(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    attempt(text)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "nodes",
                        "gpus",
                        "memory",
                        "software",
                        "command",
                        "env",
                        "shapes",
                        "deadline",
                        "array",
                        "budget",
                        "inputs",
                        "mpi",
                        "walltime",
                        "count",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_any_form(given_form: object) -> None:
    form = given_form if isinstance(given_form, dict) else {"command": given_form}
    try:
        read_request(form, now=NOW)
    except BadRequest:
        return


@pytest.mark.parametrize(
    "form",
    [
        {"command": ["x"], "name": "\ud800"},
        {"command": ["x"], "queue": "a\udfff"},
        {"command": "x \ud800"},
        {"command": ["x", "\ud800"]},
        {"\ud800": "x"},
        {"command": ["x"], "environment": {"A": "\ud800"}},
        '{"command":["x"],"name":"\\ud800"}',
    ],
)
def test_half_a_letter_is_refused(form: object) -> None:
    with pytest.raises(BadRequest):
        read_request(form, now=NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "unit",
    [
        "4 nodes ",
        "a.",
        "(",
        "1,",
        "1:",
        "x",
        "ab ",
        "the ",
        "-",
        "'",
        "`",
        "run ",
        "2 GB and ",
        "before ",
        "9.9.",
        "a/",
        "A=1 ",
        "./a ",
        "1-",
        "at ",
        "not at ",
        "-----BEGIN A-----\n",
        "key: ",
        "#SBATCH x\n",
        "[",
        '{"a":',
        "Friday ",
        "mpi ",
        "5",
        " ",
        "source a && ",
        "one node ./x ",
        "./x on file a.csv ",
        "sbatch -N 1 a.sh ",
        "2 nodes, 4 GB each ",
        "used it before ",
        "it took 3 hours ",
        "walltime in ",
        '"Aa ',
    ],
)
def test_long_text_is_read_or_refused(unit: str) -> None:
    attempt("run " + unit * (MAX_WORDS // 8 // len(unit)))
