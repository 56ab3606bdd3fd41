"""What each kind of fault does, while the process that came to its step stands still."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from campaign.plan import Fault
from checkpoints.embedded import EmbeddedServer

if TYPE_CHECKING:
    from campaign.director import Campaign, Process

__all__ = ["strike"]

LEASE_S = 2.0
EVENT = """
INSERT INTO dragoman_ledger.events (wait_id, key, kind, payload, by, at)
SELECT w.id, %(key)s, 'job', %(payload)s, 'campaign', clock_timestamp()
FROM dragoman_ledger.waits w WHERE w.closed_at IS NULL AND w.kind = 'job'
ORDER BY random() LIMIT 2 ON CONFLICT DO NOTHING RETURNING id
"""
AGAIN = """
INSERT INTO dragoman_ledger.events (wait_id, key, kind, payload, by, at)
SELECT wait_id, CASE WHEN random() < 0.5 THEN key ELSE key || ':again' END, kind, payload, 'campaign', clock_timestamp()
FROM dragoman_ledger.events e JOIN dragoman_ledger.waits w ON w.id = e.wait_id AND w.closed_at IS NULL
WHERE kind IN ('job', 'cancel', 'time') ORDER BY random() LIMIT 4 ON CONFLICT DO NOTHING RETURNING id
"""


async def strike(campaign: Campaign, process: Process, fault: Fault, about: str) -> dict[str, Any] | None:
    """Do it; what the process is told when it goes on, None where it does not."""
    match fault.kind:
        case "kill":
            os.kill(process.pid, signal.SIGKILL)
            return None
        case "kill-with-step":
            os.kill(process.pid, signal.SIGKILL)
            for pid in _named(about or str(campaign.place.site)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return None
        case "stop":
            os.kill(process.pid, signal.SIGSTOP)
            process.stopped = True
            campaign.group.start_soon(_continue, process, campaign.chance.uniform(1.3, 2.5) * LEASE_S)
        case "cut":
            await campaign.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        case "restart":
            server = await EmbeddedServer.find(campaign.place.data)
            if server is not None:
                await server.stop()
        case "crash":
            server = await EmbeddedServer.find(campaign.place.data)
            if server is not None:
                os.kill(server.pid, signal.SIGKILL)
        case "lost-answer":
            # A question is put three times: a longer loss is one that no repeat bridges.
            return {"lose": campaign.chance.choice((1, 2, 8))}
        case "disk-site" | "disk-data":
            path = campaign.place.site if fault.kind == "disk-site" else campaign.place.data
            await anyio.to_thread.run_sync(campaign.place.fill, path)
            campaign.group.start_soon(_free, campaign, path)
        case "clock":
            return {"jump": campaign.chance.choice((-86400, -3600, -30, 30, 3600, 50000, 86400))}
        case "event-again":
            await campaign.rows(AGAIN)
        case "event-stale":
            key = campaign.chance.choice(("pending:wait:0", "running::0", "submitted::0"))
            status = {"ref": {"job_id": "1"}, "state": key.partition(":")[0]}
            await campaign.rows(EVENT, {"key": key, "payload": json.dumps({"status": status})})
        case "cancel":
            known = {request.thread_id for request in campaign.requests if request.thread_id and not request.done}
            if known:
                campaign.cancel(about if about in known else campaign.chance.choice(sorted(known)))
        case "job-lost":
            _lose_a_job(campaign)
    return {}


async def _continue(process: Process, seconds: float) -> None:
    await anyio.sleep(seconds)
    process.stopped = False
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGCONT)


async def _free(campaign: Campaign, path: Path) -> None:
    await anyio.sleep(campaign.chance.uniform(0.5, 2.0))
    await anyio.to_thread.run_sync(campaign.place.free, path)


def _named(words: str) -> list[int]:
    """Processes at the site whose command line has these words: the submitting step and what it called."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if words.encode() in line and b"_supervise" not in line:
                found.append(int(entry.name))
    return found


def _lose_a_job(campaign: Campaign) -> None:
    """Kill a job's supervisor, as a node that fails would."""
    for entry in sorted((campaign.place.queue / "running").glob("*.json")):
        with suppress(OSError, ValueError, KeyError, IndexError, TypeError):
            os.kill(int(json.loads(entry.read_text())["supervisor"][0]), signal.SIGKILL)
            campaign.lost_jobs += 1
            return
