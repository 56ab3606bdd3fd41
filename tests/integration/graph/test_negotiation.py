"""Many sites through the graph: each answer stored with its evidence, a killed round goes on where it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

HERE = Path(__file__).parent
SITE = """
  - name: s{number:03}
    scheduler: slurm
    transport: {{kind: none}}
    simulated:
      answer_s: {seconds}
      workload:
        scheduler: slurm
        queues: [{{name: batch, usable: yes, default: true}}]
        groups: [{{queues: [batch], nodes: 8, nodes_idle: {idle}, cpus_per_node: 64}}]
"""
REQUEST = "2 nodes for 1 hour: python3 work.py"


def sites_file(path: Path, seconds: list[float], idle: int = 4) -> Path:
    parts = [SITE.format(number=number, seconds=s, idle=idle) for number, s in enumerate(seconds)]
    path.write_text("schema_version: 1\nsites:" + "".join(parts))
    return path


@pytest.fixture
async def fleet(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An app over so many simulated sites."""
    from dragoman.settings import read_settings
    from interfaces.app import open_app

    monkeypatch.setenv("DRAGOMAN_SETTINGS", str(tmp_path / "none.yaml"))
    monkeypatch.setenv("DATABASE_URL", database)

    def make(seconds: list[float], idle: int = 4, **settings: Any) -> Any:
        path = sites_file(tmp_path / "sites.yaml", seconds, idle)
        return open_app(read_settings(data_dir=tmp_path / "data", sites_file=path, **settings))

    return make


async def begin(app: Any, **options: Any) -> str:
    from graph.state import Options
    from interfaces.requests import take_request

    row, _ = await take_request(app, REQUEST, Options.model_validate({"dispatch": False, **options}))
    return str(row.thread_id)


async def said(app: Any, thread: str) -> list[str]:
    return [entry.words for entry in await app.checkpoints.ledger.timeline(thread) if entry.step == "negotiator"]


async def test_each_answer_is_stored_with_its_evidence_and_said_once(fleet: Any) -> None:
    async with fleet([0.0] * 60) as app:
        thread = await begin(app)
        await app.service.resumer.resume(thread)
        proposals = await app.checkpoints.ledger.proposals(thread, 0)
        assert [each.site for each in proposals] == [f"s{number:03}" for number in range(60)]
        stored = {each.id for each in await app.checkpoints.ledger.observations(thread)}
        assert {one for each in proposals for check in each.checks for one in check.observations} <= stored
        lines = await said(app, thread)
        assert lines[0] == "asking 60 sites"
        assert sorted(lines[1:]) == [f"s{number:03}: READY" for number in range(60)]
        state = (await app.graph.aget_state({"configurable": {"thread_id": thread}})).values
        assert max(len(json.dumps(each)) for each in state["proposals"].values()) <= 300


async def test_a_slow_and_a_dead_site_delay_nobody(fleet: Any) -> None:
    async with fleet([30.0 if number % 10 == 3 else 0.0 for number in range(40)], sites_at_once=2) as app:
        thread = await begin(app, site_timeout_s=4.0)
        begun = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(app.service.resumer.resume, thread)
            while len(await app.checkpoints.ledger.proposals(thread, 0)) < 36:  # noqa: ASYNC110
                await anyio.sleep(0.05)
            quick = time.monotonic() - begun
        proposals = {each.site: each for each in await app.checkpoints.ledger.proposals(thread, 0)}
        late = [each for each in proposals.values() if each.error]
        assert len(proposals) == 40
        assert {each.verdict.value for each in late} == {"UNKNOWN"}
        assert {each.error for each in late} == {"no answer within 4 s"}
        assert len(late) == 4
        assert quick < 4 * 4.0


async def test_the_first_that_is_ready_ends_the_round(fleet: Any) -> None:
    async with fleet([0.0, *[30.0] * 20]) as app:
        thread = await begin(app, policy="first-ready")
        with anyio.fail_after(20):
            await app.service.resumer.resume(thread)
        assert [each.site for each in await app.checkpoints.ledger.proposals(thread, 0)] == ["s000"]
        assert (await said(app, thread))[-1] == "20 sites were not waited for: one is ready"


@pytest.mark.parametrize("asking", ["serial", "batched"])
async def test_modes(fleet: Any, asking: str) -> None:
    async with fleet([0.0] * 7) as app:
        thread = await begin(app, asking=asking, batch=3)
        await app.service.resumer.resume(thread)
        assert len(await app.checkpoints.ledger.proposals(thread, 0)) == 7


async def test_killed_in_the_middle_it_asks_only_those_that_had_not_answered(fleet: Any, tmp_path: Path) -> None:
    async with fleet([0.0] * 10 + [4.0] * 10, lease_s=2) as app:
        thread = await begin(app)
        ledger = app.checkpoints.ledger
        process = subprocess.Popen(  # noqa: ASYNC220  # a process to kill
            [sys.executable, str(HERE / "negotiate.py"), str(tmp_path / "data"), str(tmp_path / "sites.yaml"), thread]
        )
        with anyio.fail_after(60):
            while len(await ledger.proposals(thread, 0)) < 10:
                assert process.poll() is None
                await anyio.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = {each.site: each for each in await ledger.proposals(thread, 0)}
        assert 10 <= len(before) < 20
        with anyio.fail_after(60):
            while not (await ledger.thread(thread)).outcome:
                await app.service.resumer.resume(thread)
                await anyio.sleep(0.2)
        after = {each.site: each for each in await ledger.proposals(thread, 0)}
        assert len(after) == 20
        assert {site: after[site] for site in before} == before
        lines = await said(app, thread)
        assert [line for line in lines if line.startswith("asking")] == [
            "asking 20 sites",
            f"asking {20 - len(before)} sites",
        ]
        answers = [line for line in lines if ": " in line]
        assert len(answers) == len(set(answers)) == 20
