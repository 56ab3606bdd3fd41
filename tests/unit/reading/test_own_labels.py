"""Labels of people's own invention, tables in any form, and what stands behind labels of the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("processes we want on every host: 8", {"tasks_per_node": 8}),
        ("how many ranks on each node = 12", {"tasks_per_node": 12}),
        ("ranks: 6 per node", {"tasks_per_node": 6}),
        ("accelerators per node: 4", {"gpus": {"count": 4, "per": "node"}}),
        ("gpus: 1 for each rank", {"gpus": {"count": 1, "per": "task"}}),
        ("how many hosts: 3", {"nodes": 3}),
        ("machines needed in total = 5", {"nodes": 5}),
        ("boxes: 2 nodes", {"nodes": 2}),
        ("cores all in all: 48", {"cpus": 48}),
        ("main memory for each core: 3 GB", {"memory": {"bytes": 3_000_000_000, "per": "cpu"}}),
        ("RAM for the job overall: 90 GB", {"memory": {"bytes": 90_000_000_000, "per": "job"}}),
        ("space on the node's own disk: 2 TB", {"local_disk_bytes": 2_000_000_000_000}),
        ("tmp 300 GB local", {"local_disk_bytes": 300_000_000_000}),
        ("min nodes: 2\nmax nodes: 6", {"nodes": 2, "nodes_max": 6}),
    ],
)
def test_what_a_label_of_ones_own_counts(label: str, wanted: dict[str, Any], read: Read) -> None:
    reading = read(f"- program: `./x -i a`\n- {label}\n")
    assert reading.request.shape.dump() == wanted
    assert reading.complete


@pytest.mark.parametrize(
    ("label", "seconds"),
    [
        ("how long at most: 3 h", 10800), ("ceiling on running time = 90 min", 5400), ("give up after: 02:30:00", 9000),
        ("longest it may take: 1 day", 86400), ("hours: 7", 25200), ("number of minutes = 45", 2700),
        ("clock: half an hour", 1800), ("wt: 2h", 7200),
    ],
)  # fmt: skip
def test_how_long(label: str, seconds: int, read: Read) -> None:
    reading = read(f"* start line: ./x -i a\n* {label}\n* nodes: 2\n")
    assert reading.request.walltime_s == seconds
    assert reading.complete


@pytest.mark.parametrize(
    ("label", "field", "value"),
    [
        ("goes into partition: night", "queue", "night"), ("queue of choice = slow", "queue", "slow"),
        ("who pays: astro-7", "account", "astro-7"), ("costs are charged to: astro-7", "account", "astro-7"),
        ("prj: astro-7", "account", "astro-7"), ("q: night", "queue", "night"),
    ],
)  # fmt: skip
def test_whose_and_where(label: str, field: str, value: str, read: Read) -> None:
    reading = read(f"run: ./x -i a\n{label}\nnodes: 2\n")
    assert getattr(reading.request, field) == value
    assert reading.complete


def test_files_and_cards(read: Read) -> None:
    reading = read("result file to bring home: fit.json\nentry point: ./x\nGPU kind: A30\nGPUs altogether: 2\n")
    assert [each.pattern for each in reading.request.outputs] == ["fit.json"]
    assert reading.request.shape.dump() == {"gpus": {"count": 2, "per": "job", "model": "a30"}}
    assert reading.complete


@pytest.mark.parametrize(
    "label",
    [
        "walltime of the last run: 9 h", "previous queue: fast", "old nodes: 8", "time used so far: 30 h",
        "memory on each card: 40 apples", "minimum runtime: soon",
    ],
)  # fmt: skip
def test_a_label_that_asks_for_nothing_certain(label: str, read: Read) -> None:
    reading = read(f"cmd: ./x\n{label}\ncores: 4\n")
    assert reading.request.shape.dump() == {"cpus": 4}
    assert (reading.request.walltime_s, reading.request.queue, reading.request.account) == (None, None, None)
    assert reading.unread


@pytest.mark.parametrize(
    "table",
    [
        "| item | value |\n|------|-------|\n| nodes | 3 |\n| ranks per node | 20 |\n| time | 2 h |\n| command | ./x |",
        "| what | how much |\n| --- | --- |\n| nodes | 3 |\n| ranks on each node | 20 |\n| hours | 2 |\n| run | ./x |",
        "| nodes | ranks/node | time | command |\n|---|---|---|---|\n| 3 | 20 | 2 h | ./x |",
        "nodes\t3\nranks per node\t20\nwalltime\t2 h\ncommand\t./x",
        "nodes            3\nranks per node   20\ntime             2 h\ncommand          ./x",
        "nodes ......... 3\nranks ......... 20 per node\ntime .......... 2 h\ncall .......... ./x",
    ],
)
def test_tables(table: str, read: Read) -> None:
    reading = read(table)
    assert reading.request.command == ("./x",)
    assert reading.request.shape.dump() == {"nodes": 3, "tasks_per_node": 20}
    assert reading.request.walltime_s == 7200
    assert reading.complete


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("48c, 2h, ./x", {"cpus": 48}),
        ("6n, 12c per rank, 24 ranks, ./x", {"nodes": 6, "tasks": 24, "cpus_per_task": 12}),
        ("3 nds, 8 thr/rank, 12 ranks: ./x", {"nodes": 3, "tasks": 12, "cpus_per_task": 8}),
        ("(4n x 16ppn) 2 thr ea, ./x", {"nodes": 4, "tasks_per_node": 16, "cpus_per_task": 2}),
        ("1 gpu >= 40GB, ./x", {"gpus": {"count": 1, "per": "job", "memory_bytes": 40_000_000_000}}),
        ("2 GPUs, 24 GB VRAM or more, ./x", {"gpus": {"count": 2, "per": "job", "memory_bytes": 24_000_000_000}}),
        ("5 nodes excl., ./x", {"nodes": 5, "exclusive": True}),
    ],
)
def test_short_forms(text: str, shape: dict[str, Any], read: Read) -> None:
    reading = read(text)
    assert reading.request.shape.dump() == shape
    assert reading.complete


@pytest.mark.parametrize("text", ["tubes at 37c, 4 nodes, ./x", "acc: 0.95, 4 nodes, ./x", "wt=wildtype, 4 nodes, ./x"])
def test_what_only_looks_short(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.shape.dump() == {"nodes": 4}
    assert (reading.request.account, reading.request.walltime_s) == (None, None)
