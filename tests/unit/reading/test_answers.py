"""Answers and edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.errors import BadRequest
from graph.reading.answers import apply_answer, merge_edit

Read = Callable[..., Any]


@pytest.mark.parametrize("answer", ["4 h", "1", 1, "4 hours", {"walltime_s": 14400}])
def test_answer_settles_a_question(answer: Any, read: Read) -> None:
    reading = apply_answer(read("./a for 4:00"), "walltime-s", answer)
    assert reading.request.walltime_s == 14400
    assert reading.complete
    assert any(source.field == "walltime_s" for source in reading.request.sources)


@pytest.mark.parametrize(
    ("answer", "per"), [("per node", "node"), ("in total", "job"), ("2", "node"), ("total", "job")]
)
def test_total_or_per_node(answer: str, per: str, read: Read) -> None:
    reading = apply_answer(read("./a, 2 nodes with 8 GPUs"), "shapes.0.gpus", answer)
    assert reading.request.shape.gpus is not None
    assert reading.request.shape.gpus.per == per
    assert reading.request.shape.nodes == 2
    assert reading.complete


def test_what_should_be_run(read: Read) -> None:
    reading = apply_answer(read("hello"), "command", "./a.out -v")
    assert reading.request.command == ("./a.out", "-v")
    assert reading.complete


def test_zone_settles_a_deadline(read: Read) -> None:
    reading = apply_answer(read("./a before Friday 17:00", time_zone=None), "deadline", "CET")
    assert reading.request.dump()["deadline"] == "2026-12-04T16:00:00Z"


def test_useless_answer_is_refused_and_changes_nothing(read: Read) -> None:
    reading = read("./a for 4:00")
    with pytest.raises(BadRequest):
        apply_answer(reading, "walltime-s", "blue")
    with pytest.raises(BadRequest, match="there is no question"):
        apply_answer(reading, "colour", "blue")


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (
            "but 2 hours, on at most 8 nodes",
            {"walltime_s": 7200, "shapes": [{"nodes_max": 8, "gpus": {"count": 4, "per": "node"}}]},
        ),
        ("make it 3 nodes", {"shapes": [{"nodes": 3, "gpus": {"count": 4, "per": "node"}}]}),
        ("without GPUs", {"shapes": [{"nodes": 16}]}),
        ("LAMMPS 29Aug2024 instead", {"software": [{"name": "LAMMPS", "version": "==29Aug2024"}]}),
        ({"walltime": "2h"}, {"walltime_s": 7200}),
        ("cheapest, not at juno", {"objective": "min-cost", "sites_not": ["juno"]}),
    ],
)
def test_edit(edit: Any, changed: dict[str, Any], read: Read, stated: Callable[..., Any]) -> None:
    base = read("LAMMPS 2Aug2023 on 16 nodes with 4 GPUs each, 1 hour")
    reading = merge_edit(base, edit)
    assert stated(reading) == {**stated(base), **changed}
    assert reading.complete


def test_an_edit_is_asked_back_against_what_is_known(read: Read) -> None:
    reading = merge_edit(read("./a on 2 nodes").request, "64 GB of memory")
    assert [question.field for question in reading.questions] == ["shapes.0.memory"]


@pytest.mark.parametrize(
    "patch", [{"shapes.x.nodes": 1}, {"shapes.99999999.nodes": 1}, {"walltime_s.a": 1}, {"colour": "blue"}, {"": 1}]
)
def test_a_senseless_patch_is_refused(patch: dict[str, Any], read: Read) -> None:
    with pytest.raises(BadRequest):
        apply_answer(read("./a on 1 node for 4:00"), "walltime-s", patch)
