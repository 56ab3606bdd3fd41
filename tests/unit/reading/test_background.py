"""What a request tells besides what it asks: stories are hidden and named, requirements beside them are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Last month we ran this on 16 nodes and it crashed. ./x on 4 nodes, 2 hours", [{"nodes": 4}]),
        ("It took 9 hours on 64 nodes last year, so this time give ./x 8 nodes", [{"nodes": 8}]),
        ("Our own cluster only has 4 nodes, so we need 32 nodes for ./x", [{"nodes": 32}]),
        ("./x on 3 nodes with 12 tasks each, it can be requeued if a node dies", [{"nodes": 3, "tasks_per_node": 12}]),
        ("./x needs 2 nodes because my laptop has 8 cores", [{"nodes": 2}]),
        ("My quota is 1 TB. ./x on 2 cores with 8 GB", [{"cpus": 2, "memory": {"bytes": 8 * 10**9, "per": "job"}}]),
    ],
)
def test_a_story_counts_nothing(read: Callable[..., Any], text: str, shapes: list[dict[str, Any]]) -> None:
    reading = read(text)
    assert reading.request.dump()["shapes"] == shapes
    assert not reading.questions
    assert not reading.unread


@pytest.mark.parametrize(
    "text",
    [
        "Last time we used 16 nodes; the same again for ./x please",
        "We were told to use 24 cores for ./x",
        "I had 4 nodes in mind for ./x",
        "We ran ./x on 16 nodes last week. As before, 2 hours.",
    ],
)
def test_what_is_asked_for_in_the_past_is_no_story(read: Callable[..., Any], text: str) -> None:
    assert read(text).request.shapes or read(text).questions


def test_a_story_that_names_what_runs_is_read(read: Callable[..., Any]) -> None:
    reading = read("We ran Nek5000 on 64 nodes last year. This time 32 nodes are enough.")
    assert reading.questions or reading.request.software or reading.unread


def test_what_is_hidden_is_named(read: Callable[..., Any]) -> None:
    reading = read("The last run took 5 hours and it failed. ./x on 2 nodes for 9 hours.")
    assert reading.request.walltime_s == 9 * 3600
    assert any("took 5 hours" in sentence for sentence in reading.defaults)


@pytest.mark.parametrize(
    "text",
    [
        "./x on 2 nodes. Is the cafeteria closed, by the way?",
        "./x on 2 nodes. I am a beekeeper by trade.",
        "For the beekeepers' yearbook, ./x on 2 nodes.",
    ],
)
def test_a_remark_is_passed_over(read: Callable[..., Any], text: str) -> None:
    assert read(text).unread == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./x on 2 nodes. The machines must be water-cooled.", "water-cooled"),
        ("./x on 2 nodes. The data are confidential.", "confidential"),
        ("./x on 2 nodes for the fat partition", "fat"),
        ("./x on 2 nodes, only with encrypted disks", "encrypted"),
    ],
)
def test_what_may_be_a_requirement_is_told(read: Callable[..., Any], text: str, words: str) -> None:
    reading = read(text)
    assert any(words in told for told in reading.unread) or reading.request.queue == words


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("Should CP2K 2024.1 be unavailable, VASP 6.4.2 is to be used instead; two nodes", "CP2K", "VASP"),
        ("LAMMPS 2Aug2023 on 2 nodes; if it is not installed, GROMACS 2024", "LAMMPS", "GROMACS"),
        ("If ORCA 6 isn't available, use NWChem 7.2, 1 node, 2h", "ORCA", "NWChem"),
    ],
)
def test_one_package_in_the_absence_of_another(read: Callable[..., Any], text: str, first: str, second: str) -> None:
    (need,) = read(text).request.software
    assert need.name == first
    assert [other.name for other in need.alternatives] == [second]


@pytest.mark.parametrize(
    "text",
    [
        "if MUMPS is available, use PETSc 3.20 with 2 nodes",
        "PETSc 3.20 unless MUMPS 5 is installed, 2 nodes",
        "PETSc 3.20 on 2 nodes where there is MUMPS 5",
    ],
)
def test_a_package_under_a_condition_is_told(read: Callable[..., Any], text: str) -> None:
    reading = read(text)
    assert [need.name for need in reading.request.software] == ["PETSc"]
    assert any("MUMPS" in told for told in reading.unread)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("./x on 2 nodes, 1 hour, the last job needed 3 GB and it failed", {"nodes": 2}),
        ("32 cores on a machine that was bought in 2024, ./x", {"nodes": 1, "cpus": 32}),
        ("Last time it took 3 hours, 4 nodes for ./x", {"nodes": 4}),
        ("16 nodes were too few last time, now ./x on 24 nodes", {"nodes": 24}),
    ],
)
def test_what_stands_beside_a_story_is_kept(read: Callable[..., Any], text: str, shape: dict[str, Any]) -> None:
    assert read(text).request.dump()["shapes"] == [shape]


@pytest.mark.parametrize(
    "text",
    [
        "once job 88123 has ended, no matter whether it worked, run ./cleanup.sh on 1 core",
        "I got 250 euros from the faculty for ./x on 2 nodes",
        "./x on 2 nodes, put it on the machine where we ran it last time",
    ],
)
def test_a_condition_or_a_budget_is_no_story(read: Callable[..., Any], text: str) -> None:
    reading = read(text)
    assert reading.request.dependencies or reading.request.budget or reading.questions
    assert not any("tells how it was" in sentence for sentence in reading.defaults)
