"""LangGraph's own conformance suite over the fenced saver, where it is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from checkpoints.pool import LoopPools
from checkpoints.saver import FencedSaver

conformance: Any = pytest.importorskip("langgraph.checkpoint.conformance")


async def test_the_saver_conforms(pools: LoopPools) -> None:
    async def fenced() -> AsyncIterator[FencedSaver]:
        yield FencedSaver(pools)

    report = await conformance.validate(conformance.checkpointer_test(name="FencedSaver")(fenced))
    assert report.passed_all_base()
    failed = [name for name, result in report.results.items() if result.detected and not result.passed]
    assert failed == []
