"""Counts that two sources tell: what is off line, listed twice, or no card at all does not count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.observation import Outcome
from providers.probes.base import FileRead, Results
from providers.probes.hardware.amd import NODES, Amd
from providers.probes.hardware.cpu import parse_lscpu
from providers.verbs import NoArguments

GPU = {"Card Series": "AMD Instinct MI210", "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]",
       "VRAM Total Memory (B)": "68702699520", "GFX Version": "gfx90a"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("CPU(s): 128\nOn-line CPU(s) list: 0-63\nOff-line CPU(s) list: 64-127\nThread(s) per core: 1\n", 64),
        ("CPU(s): 256\nOn-line CPU(s) list: 0-255\n", 256),
        ("CPU(s): 8\n", 8),
    ],
)
def test_threads_that_are_off_do_not_count(text: str, threads: int) -> None:
    assert parse_lscpu(text).threads == threads


@pytest.mark.parametrize(
    ("guids", "nodes", "count"),
    [
        ((1, 2), 2, 2),
        ((1, 1), 1, 1),  # one card, listed twice
        ((1, 2), 1, 1),  # a board's own chip has no compute node
        ((1, 2), 8, 2),  # partitioned cards have several
        ((1, 2), 0, 2),  # the kernel was not asked
    ],
)
def test_amd_cards_are_distinct_and_have_a_compute_node(guids: tuple[int, ...], nodes: int, count: int) -> None:
    told = {f"card{place}": {**GPU, "GUID": str(guid)} for place, guid in enumerate(guids)}
    reads = tuple(
        FileRead(f"/n/{place}/properties", Outcome.OK, b"simd_count 416\nvendor_id 4098\n") for place in range(nodes)
    )
    done = Completed(argv=("rocm-smi",), rc=0, stdout=(json.dumps(told) + "\n").encode(), stderr=b"")
    verb: Any = Amd.verbs[-1]
    answer = verb.parse(NoArguments(), Results({"rocm": done}, {NODES: reads}))
    assert answer.outcome is Outcome.OK, answer
    assert sum(kind.count or 0 for kind in answer.value.kinds) == count
