"""Notes with labels, shorthand of counts, and values of a form that say nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]
Stated = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("Tasks on every node: 64", {"shapes": [{"tasks_per_node": 64}]}),
        ("MPI processes on each node = 12", {"shapes": [{"tasks_per_node": 12}]}),
        ("cpus on every node: 8", {"shapes": [{"cpus_per_node": 8}]}),
        ("GPUs on each node: 4", {"shapes": [{"gpus": {"count": 4, "per": "node"}}]}),
        ("cores for each task: 2", {"shapes": [{"cpus_per_task": 2}]}),
        ("memory for each process: 1.5 GB", {"shapes": [{"memory": {"bytes": 1_500_000_000, "per": "task"}}]}),
        ("memory (GB per node): 64", {"shapes": [{"memory": {"bytes": 64_000_000_000, "per": "node"}}]}),
        ("memory in GB: 64", {"shapes": [{"memory": {"bytes": 64_000_000_000, "per": "job"}}]}),
        ("node count: 4", {"shapes": [{"nodes": 4}]}),
        ("walltime (hours): 5", {"walltime_s": 18000}),
        ("walltime (hh:mm:ss): 02:00:00", {"walltime_s": 7200}),
        ("runtime limit: 2 hours", {"walltime_s": 7200}),
        ("queue name: regular", {"queue": "regular"}),
        ("finish by = 2026-12-05 12:00 UTC", {"deadline": "2026-12-05T12:00:00Z"}),
        ("start after: tomorrow 8am", {"start_after": "2026-12-01T07:00:00Z"}),
        ("application: Nek5000", {"software": [{"name": "Nek5000"}]}),
        ("package: Quantum ESPRESSO", {"software": [{"name": "Quantum ESPRESSO"}]}),
        ("local scratch: 200GB", {"shapes": [{"local_disk_bytes": 200_000_000_000}]}),
        ("env: OMP_NUM_THREADS=4", {"environment": [{"name": "OMP_NUM_THREADS", "value": "4"}]}),
    ],
)
def test_label(label: str, wanted: Any, read: Read, stated: Stated) -> None:
    reading = read(f"account: zz9\n{label}\nprogram: ./x -i a")
    assert stated(reading) == {"account": "zz9", "command": ["./x", "-i", "a"], **wanted}
    assert reading.complete


@pytest.mark.parametrize("label", ["charge to: astro-88", "bill to: astro-88", "charge code = astro-88"])
def test_whose_account(label: str, read: Read) -> None:
    reading = read(f"program: ./nbody.x galaxy.ini\nprocesses: 512\n{label}")
    assert reading.request.account == "astro-88"
    assert reading.complete


@pytest.mark.parametrize("label", ["Executable", "binary", "exe"])
def test_what_is_run(label: str, read: Read) -> None:
    reading = read(f"{label}: ./ifsMASTER\nTasks per node: 4\nTime: 3h")
    assert reading.request.command == ("./ifsMASTER",)
    assert reading.complete


@pytest.mark.parametrize("gpu", ["GPU: any nvidia card w/ 16GB+", "GPU: some card w/ 16GB"])
def test_a_count_behind_what_it_counts(gpu: str, read: Read) -> None:
    gpus = read(f"{gpu} | count: 1 | time: 90m | cmd: python detect.py").request.shape.gpus
    assert gpus is not None
    assert (gpus.count, gpus.memory_bytes) == (1, 16_000_000_000)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("8n x 48ppn, 12h, ./x", {"nodes": 8, "tasks_per_node": 48}),
        ("16n*24tpn, ./x", {"nodes": 16, "tasks_per_node": 24}),
        ("2n/64cpn 1h ./x", {"nodes": 2, "cpus_per_node": 64}),
        ("np=16, ./x", {"tasks": 16}),
        ("8 nodes, 48 ppn, ./x", {"nodes": 8, "tasks_per_node": 48}),
    ],
)
def test_shorthand(text: str, shape: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.shape.dump() == shape
    assert reading.complete


@pytest.mark.parametrize("value", ["none", "n/a", "-", "?", "tbd", "not specified"])
def test_a_value_that_says_nothing(value: str, read: Read) -> None:
    reading = read(f"command: ./x\nnodes: 2\nwalltime: {value}\nmemory: '{value}'")
    assert reading.request.walltime_s is None
    assert reading.request.shape.dump() == {"nodes": 2}
    assert f"'walltime: {value}' states nothing" in reading.defaults


@pytest.mark.parametrize("value", ["unlimited", "no limit"])
def test_a_walltime_without_end_is_named(value: str, read: Read) -> None:
    reading = read(f"command: ./x\nnodes: 2\nwalltime: {value}")
    assert reading.request.walltime_s is None
    assert any("sites apply their own" in sentence for sentence in reading.defaults)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("nodes: 2-4\nppn: 16\ncmd: ./x", {"nodes": 2, "nodes_max": 4, "tasks_per_node": 16}),
        ("Tasks: 64 (16 per node)\nProgram: ./x\nTime: 3h", {"tasks": 64, "tasks_per_node": 16}),
        ("| program | ./x |\n| nodes | 4 |\n| time | 3h |", {"nodes": 4}),
        ("Number of nodes: 4\nMax. run time: 6 h\nExe: ./x\nRemarks: none", {"nodes": 4}),
    ],
)
def test_notes(text: str, shape: Any, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ("./x",)
    assert reading.request.shape.dump() == shape
    assert reading.complete
