"""Counts: totals against per-unit words, numbers with separators, units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "nodes", "gpus"),
    [
        ("8 GPUs on 2 nodes", 2, 8),
        ("8 GPUs per node on 2 nodes", 2, 16),
        ("2 nodes with 8 GPUs each", 2, 16),
        ("a total of 8 GPUs over 4 nodes", 4, 8),
        ("3 nodes x 2 GPUs", 3, 6),
        ("two nodes, each with 4 GPUs", 2, 8),
        ("6 GPUs across 3 nodes", 3, 6),
        ("4 tasks with 1 GPU per task", None, 4),
        ("8 A100s on 2 nodes", 2, 8),
    ],
)
def test_total_gpus(words: str, nodes: int | None, gpus: int, read: Read) -> None:
    reading = read(words)
    assert (reading.request.shape.nodes, reading.request.shape.total_gpus) == (nodes, gpus)
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("64 GB on 2 nodes", "memory"),
        ("2 nodes with 8 GPUs", "gpus"),
        ("4 nodes, 64 cores", "cpus"),
        ("2 nodes and 128 GB of memory", "memory"),
        ("8 tasks with 16 cores", "cpus"),
    ],
)
def test_total_or_per_unit_is_asked_back(words: str, field: str, read: Read) -> None:
    reading = read(words)
    assert getattr(reading.request.shape, field) is None
    (question,) = reading.questions
    assert question.field == f"shapes.0.{field}"
    assert len(question.options) >= 2


@pytest.mark.parametrize(
    ("words", "cpus"),
    [("16 cores per task, 4 tasks", 64), ("4 ranks with 2 threads each", 8), ("2 nodes of 48 cores", 96)],
)
def test_total_cores(words: str, cpus: int, read: Read) -> None:
    assert read(words).request.shape.total_cpus == cpus


@pytest.mark.parametrize(
    ("words", "tasks"),
    [
        ("1,024 tasks", 1024),
        ("1.024 Tasks auf 8 Knoten", 1024),
        ("1 024 tâches", 1024),
        ("12 ranks", 12),
        ("a dozen tasks", 12),
        ("twenty-four processes", 24),
        ("1'024 tasks", 1024),
        ("half a dozen ranks", 6),
        ("1\u202f024 tâches", 1024),
        ("2,000,000 tasks", 2000000),
    ],
)
def test_numbers_of_tasks(words: str, tasks: int, read: Read) -> None:
    reading = read(words)
    assert reading.request.shape.tasks == tasks
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "amount", "per"),
    [
        ("one node with 512 GiB", 512 * 2**30, "node"),
        ("0.5 TB of memory", 500_000_000_000, "job"),
        ("4000MB/core", 4_000_000_000, "cpu"),
        ("64G per node", 64 * 2**30, "node"),
        ("2 GB per rank", 2_000_000_000, "task"),
        ("16 GB RAM per GPU", 16_000_000_000, "gpu"),
        ("memory: 4 GB per core", 4_000_000_000, "cpu"),
    ],
)
def test_memory(words: str, amount: int, per: str, read: Read) -> None:
    memory = read(words).request.shape.memory
    assert (memory.bytes, memory.per) == (amount, per)


def test_two_ways_to_run_are_two_shapes(read: Read) -> None:
    cpu, gpu = read("./a on CPU or 4 GPUs per node").request.shapes
    assert cpu.gpus is None
    assert gpu.gpus is not None
    assert (gpu.gpus.count, gpu.gpus.per) == (4, "node")


@pytest.mark.parametrize("words", ["2x8 cores", "1.5 nodes", "3.25 tasks", "2,5 GPUs", "0 nodes"])
def test_a_count_that_is_none_is_told_back(words: str, read: Read) -> None:
    reading = read(f"{words}, ./a")
    assert reading.request.shapes == ()
    assert reading.unread or reading.questions


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("LAMMPS, 8 GPUs, 2 per node, 3 hours", {"nodes": 4, "gpus": {"count": 2, "per": "node"}}),
        ("GROMACS with 4 GPUs per node, 16 GPUs in total", {"nodes": 4, "gpus": {"count": 4, "per": "node"}}),
        ("./x: 2 nodes, 8 A100s, 4 per node", {"nodes": 2, "gpus": {"count": 4, "per": "node", "model": "a100"}}),
        ("./x: 4 nodes, 128 cores, 32 per node", {"nodes": 4, "cpus_per_node": 32, "cpus": 128}),
    ],
)
def test_a_total_with_its_share_of_each_node(read: Callable[..., Any], text: str, shape: dict[str, Any]) -> None:
    reading = read(text)
    assert reading.request.dump()["shapes"] == [shape]
    assert not reading.questions


@pytest.mark.parametrize(
    "text", ["9 GPUs, 2 per node, ./x", "./x, 3 nodes, 8 GPUs, 4 per node", "8 tasks with 2 GPUs, ./x"]
)
def test_gpus_that_do_not_fit_are_asked(read: Callable[..., Any], text: str) -> None:
    assert [question.field for question in read(text).questions] == ["shapes.0.gpus"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("./x on 2 nodes, but not on A100s", "not on A100s"),
        ("./x on 2 nodes, not on weekends", "weekends"),
        ("./x on 2 nodes, not on the login node", "login node"),
        ("./x on 2 nodes, only on AMD CPUs", "AMD CPUs"),
    ],
)
def test_what_is_no_site_is_taken_for_none(read: Callable[..., Any], text: str, told: str) -> None:
    reading = read(text, sites=["juno"])
    assert not reading.request.sites
    assert not reading.request.sites_not
    assert any(told in words for words in reading.unread)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("./x, input on /scratch/a at site juno, 2 TB", 2 * 10**12),
        ("./x, input on /scratch/a at juno, 3 TB, 4 nodes", 3 * 10**12),
        ("./x, input on /scratch/a at juno, 64 GB in size", 64 * 10**9),
    ],
)
def test_the_size_behind_an_input_is_its_own(read: Callable[..., Any], text: str, size: int) -> None:
    reading = read(text, sites=["juno"])
    assert reading.request.inputs[0].bytes == size
    assert not reading.questions


def test_a_size_that_can_be_memory_is_asked(read: Callable[..., Any]) -> None:
    reading = read("./x, input on /scratch/a at juno, 64 GB, 4 nodes", sites=["juno"])
    assert [question.field for question in reading.questions] == ["shapes.0.memory"]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("the ranks, 1024 in all, shall be placed 128 to a node; ./x", [{"tasks": 1024, "tasks_per_node": 128}]),
        ("run: ./x\nmpi ranks: 288\nranks on a node: 72\n", [{"tasks": 288, "tasks_per_node": 72}]),
        ("./x on a single node: 4 GPUs", [{"nodes": 1, "gpus": {"count": 4, "per": "node"}}]),
        ("half of a 128-core node for ./x", [{"cpus": 64}]),
        ("./x on 4 GPUs, each with no less than 48 GB of its own memory",
         [{"gpus": {"count": 4, "per": "job", "memory_bytes": 48 * 10**9}}]),
        ("GPUs with 40 GB of memory, four per node, on two nodes: ./x",
         [{"nodes": 2, "gpus": {"count": 4, "per": "node", "memory_bytes": 40 * 10**9}}]),
        ("one GPU and 12 cores are to be assigned to every task, of which there are 16: ./x",
         [{"tasks": 16, "cpus_per_task": 12, "gpus": {"count": 1, "per": "task"}}]),
        ("./x on 4 nodes with either 4 A100s or 4 H100s each",
         [{"nodes": 4, "gpus": {"count": 4, "per": "node", "model": model}} for model in ("a100", "h100")]),
        ("one node with CPUs only or one node with 4 GPUs for ./x",
         [{"nodes": 1}, {"nodes": 1, "gpus": {"count": 4, "per": "node"}}]),
        ("If possible 8 nodes, otherwise 4 nodes: ./x", [{"nodes": 8}, {"nodes": 4}]),
    ],
)  # fmt: skip
def test_counts_in_other_orders(read: Callable[..., Any], text: str, shapes: list[dict[str, Any]]) -> None:
    reading = read(text)
    assert reading.request.dump()["shapes"] == shapes
    assert not reading.questions
    assert not reading.unread


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the forecast for the Elbe has to start now: LISFLOOD-FP 8.1, 1 node", "LISFLOOD-FP"),
        ("I have been told that you can run OCR. Tesseract 5.3 on 1 node", "Tesseract"),
        ("Container job with Tesseract 5.3, 1 node with SSD, room 2.14", "Tesseract"),
    ],
)
def test_only_what_is_named_as_software_is_software(read: Callable[..., Any], text: str, name: str) -> None:
    assert [need.name for need in read(text).request.software] == [name]


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("./x with 8 ranks, 2 per GPU", {"count": 4, "per": "job"}),
        ("./x with 8 ranks, one per GPU", {"count": 8, "per": "job"}),
        ("./x on 2 GPUs, A100 or better", {"count": 2, "per": "job"}),
        ("./x on 4 A100, 320 GB GPU memory in total", {"count": 4, "per": "job", "model": "a100"}),
    ],
)
def test_gpus_by_what_is_said_of_them(read: Callable[..., Any], text: str, gpus: dict[str, Any]) -> None:
    assert read(text).request.dump()["shapes"][0]["gpus"] == gpus


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("./x on a GPU newer than V100", "a GPU newer than V100"), ("./x on 2 GPUs, A100 or better", "A100 or better"),
        ("./x on 4 A100, 320 GB GPU memory in total", "320 GB GPU memory in total"),
    ],
)  # fmt: skip
def test_an_order_of_gpus_is_told(read: Callable[..., Any], text: str, told: str) -> None:
    assert told in read(text).unread


@pytest.mark.parametrize("text", ["./x on a fat node", "./x on 2 high-memory nodes"])
def test_a_kind_of_node_by_its_memory_asks_how_much(read: Callable[..., Any], text: str) -> None:
    assert [question.field for question in read(text).questions] == ["shapes.0.memory"]


def test_how_much_a_fat_node_has_may_be_said(read: Callable[..., Any]) -> None:
    assert not read("./x on 2 high-memory nodes with 1 TB each").questions


@pytest.mark.parametrize(
    "text",
    [
        "run ./x with 64 GB instead of 128 GB", "./x 64 GB rather than 32 GB", "./x with 64 GB, no longer 32 GB",
        "./x 32 GB, sorry, 64 GB",
    ],
)  # fmt: skip
def test_memory_instead_of_other_memory(read: Callable[..., Any], text: str) -> None:
    assert read(text).request.shape.memory.bytes == 64 * 10**9


@pytest.mark.parametrize(
    "text", ["./x on 4 nodes instead of 8 nodes", "./x on 4 nodes, not 8 nodes", "./x on 8 nodes, no, 4 nodes"]
)
def test_nodes_instead_of_other_nodes(read: Callable[..., Any], text: str) -> None:
    assert read(text).request.shape.nodes == 4


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("./x must not be given more than 16 cores", {"cpus": 16}),
        ("Don't run it on more than 2 nodes: ./x", {"nodes_max": 2}),
        ("./x with more than 4 nodes", {"nodes": 5}),
        ("one GPU, 16 GB memory on the GPU, ./x", {"gpus": {"count": 1, "per": "job", "memory_bytes": 16 * 10**9}}),
        ("2 nodes each 4 GPUs each 80 GB, ./x",
         {"nodes": 2, "gpus": {"count": 4, "per": "node", "memory_bytes": 80 * 10**9}}),
    ],
)  # fmt: skip
def test_bounds_that_are_turned_and_memory_of_each_gpu(
    read: Callable[..., Any], text: str, shape: dict[str, Any]
) -> None:
    assert read(text).request.dump()["shapes"] == [shape]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("./x on a quarter of an A100", "a quarter of an A100"), ("half an A100 for ./x", "half an A100"),
        ("./x, leave 4 cores per node free, 2 nodes", "4 cores per node"),
        ("./x, other than partition short", "other than partition short"),
    ],
)  # fmt: skip
def test_parts_and_what_is_left_free_are_told(read: Callable[..., Any], text: str, told: str) -> None:
    found = read(text)
    assert told in found.unread
    assert (found.request.queue, found.request.shape.gpus if found.request.shape else None) == (None, None)
