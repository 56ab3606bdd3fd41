"""Threads driven through the whole graph: real PostgreSQL, the real engine, real jobs on this host."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

if TYPE_CHECKING:
    from interfaces.app import App

SITE = """
  - name: {name}
    scheduler: machine
    work_root: {root}/{name}
    min_poll_interval_s: 0.1
    max_poll_interval_s: 1
    settle_window_s: 2
    charges: {{currency: {currency}, per_core_hour: {price}, per_gpu_hour: 0}}
"""
TWIN = """
  - name: twin
    scheduler: slurm
    transport: {kind: none}
    charges: {currency: USD, per_node_hour: 2}
    simulated:
      workload:
        scheduler: slurm
        queues: [{name: batch, usable: yes, max_walltime_s: 24h}]
        groups: [{queues: [batch], nodes: 100, nodes_idle: 50, cpus_per_node: 64, memory_bytes_per_node: 256GiB}]
"""


@dataclass
class Hub:
    """An app, and a person at it."""

    app: App
    root: Path

    async def ask(self, request: str | dict[str, Any], **options: Any) -> str:
        """A thread for a request, run until it is parked."""
        from graph.state import Options
        from interfaces.requests import take_request

        row, _ = await take_request(self.app, request, Options.model_validate(options))
        await self.app.service.resumer.resume(row.thread_id)
        return row.thread_id

    async def pending(self, thread_id: str) -> dict[str, Any]:
        """What the thread is paused with; empty: it is not paused."""
        snapshot = await self.app.graph.aget_state({"configurable": {"thread_id": thread_id}})
        return dict(snapshot.interrupts[0].value) if snapshot.interrupts else {}

    async def say(self, thread_id: str, answer: Any, by: str = "pi") -> dict[str, Any]:
        """Answer what is pending and run on until it is parked again."""
        from interfaces.answers import answer_wait, find_thread, person_wait

        ledger = self.app.checkpoints.ledger
        wait = await person_wait(ledger, await find_thread(ledger, thread_id), "approval", "question")
        await answer_wait(ledger, wait, answer if isinstance(answer, dict) else {"answer": answer}, by=by)
        await self.app.service.resumer.resume(thread_id)
        return await self.pending(thread_id)

    async def ended(self, thread_id: str) -> str:
        """The outcome, when the thread has come to its end."""
        ledger = self.app.checkpoints.ledger
        with anyio.fail_after(40):
            while True:
                await self.app.service.catch_up()
                row = await ledger.thread(thread_id)
                assert row is not None
                if row.status == "done":
                    return row.outcome
                assert not row.error, row.error
                await anyio.sleep(0.1)

    async def state(self, thread_id: str) -> dict[str, Any]:
        return dict((await self.app.graph.aget_state({"configurable": {"thread_id": thread_id}})).values)

    async def decisions(self, thread_id: str) -> list[Any]:
        """Approvals that were kept, in their order."""
        kept = await self.app.checkpoints.ledger.decisions(thread_id)
        return [each["record"] for each in kept if str(each["kind"]).startswith("approval")]


@pytest.fixture
async def hub(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    """Two machine sites, the second dearer, and a simulated one."""
    from dragoman.settings import read_settings
    from interfaces.app import open_app

    sites = tmp_path / "sites.yaml"
    sites.write_text(
        "schema_version: 1\nsites:"
        + SITE.format(name="local", root=tmp_path, currency="none", price=0)
        + SITE.format(name="other", root=tmp_path, currency="USD", price=1)
        + TWIN
    )
    monkeypatch.setenv("DRAGOMAN_SETTINGS", str(tmp_path / "none.yaml"))
    monkeypatch.setenv("DATABASE_URL", database)
    settings = read_settings(data_dir=tmp_path / "data", sites_file=sites, file_latency_s=1)
    async with open_app(settings) as app:
        yield Hub(app, tmp_path)
