"""The stable JSON documents that commands print and the HTTP API answers. Keys are described in docs/json.md."""

from __future__ import annotations

from typing import Any

from dragoman.attempt import AttemptRecord
from dragoman.event import Wait
from dragoman.ledger import Ledger
from dragoman.model import JsonObject
from dragoman.proposal import Proposal
from dragoman.thread import ThreadRow, ThreadStatus
from interfaces.app import App
from providers.command_body import plan_body

__all__ = ["command_of", "exit_code_of", "proposal_document", "state_of", "thread_document", "thread_line"]

EXIT_CODES = {"completed": 0, "selected": 0, "rejected": 2, "no-site": 3, "refused": 4, "cancelled": 4, "failed": 5}
PAUSED = 6


def state_of(row: ThreadRow, waits: list[Wait]) -> str:
    """Where the thread stands, in one word of docs/json.md."""
    if row.status is ThreadStatus.DONE:
        return row.outcome
    if row.status is ThreadStatus.POISONED:
        return "parked-with-error"
    return f"waiting-{waits[-1].kind}" if waits else row.status.value


def exit_code_of(document: JsonObject) -> int:
    """What a command about this thread exits with."""
    state = str(document["state"])
    if state in EXIT_CODES:
        return EXIT_CODES[state]
    waiting = document.get("waiting_for")
    if state == "waiting-question" and isinstance(waiting, dict) and waiting.get("step") == "selector":
        return EXIT_CODES["no-site"]
    return 1 if state == "parked-with-error" else PAUSED


def proposal_document(proposal: Proposal) -> JsonObject:
    """One site's answer."""
    return {
        "site": proposal.site,
        "verdict": proposal.verdict.value,
        "reasons": [*proposal.reasons],
        "expected_start_s": proposal.start.expected_s,
        "start": proposal.start.model_dump(mode="json", include={"now", "expected_s", "low_s", "high_s", "method"}),
        "cost": proposal.cost.amount,
        "cost_unit": proposal.cost.unit,
        "queue": proposal.queue,
        "scheduler": proposal.scheduler,
        "simulated": proposal.simulated,
        "command": command_of(proposal),
        "command_notes": [*proposal.run.notes] if proposal.run is not None else [],
        "would_fit": [suggestion.words for suggestion in proposal.suggestions],
        "model": proposal.model.model_dump(mode="json") if proposal.model else None,
        "checks": [check.model_dump(mode="json", exclude_defaults=True) for check in proposal.checks],
    }


def command_of(proposal: Proposal) -> str | None:
    """The shell lines that a job there runs; None: the request's own script, or the site cannot run work."""
    if proposal.run is None or not proposal.run.command:
        return None
    return plan_body(proposal.run).rstrip("\n")


async def thread_document(app: App, row: ThreadRow) -> JsonObject:
    """All that is known of a thread."""
    ledger = app.checkpoints.ledger
    snapshot = await app.graph.aget_state({"configurable": {"thread_id": row.thread_id}})
    values: dict[str, Any] = dict(snapshot.values)
    waits = await ledger.open_waits(thread_id=row.thread_id)
    attempts = await ledger.attempts(row.thread_id)
    round_ = int(values.get("round") or 0)
    job = await ledger.job(attempts[-1].attempt.tag) if attempts else None
    return {
        "thread_id": row.thread_id,
        "title": row.title,
        "state": state_of(row, waits),
        "words": values.get("outcome_words") or row.error,
        "request": values.get("reading"),
        "proposals": [proposal_document(each) for each in await ledger.proposals(row.thread_id, round_)],
        "selection": await _selection(ledger, row.thread_id),
        "approval": values.get("decision") or None,
        "submission": _submission(attempts),
        "attempts": len(attempts),
        "job": job.model_dump(mode="json", exclude_defaults=True) if job else None,
        "exit_code": job.exit_code if job else None,
        "results": values.get("results") or None,
        "prediction": values.get("prediction") or None,
        "waiting_for": _asked(waits, snapshot.interrupts),
        "error": row.error,
        "cancel_requested_by": row.cancel_requested_by,
        "created_at": row.created_at.isoformat() if row.created_at else None,
        "updated_at": row.updated_at.isoformat() if row.updated_at else None,
        "timeline": [entry.model_dump(mode="json") for entry in await ledger.timeline(row.thread_id)],
    }


async def _selection(ledger: Ledger, thread_id: str) -> JsonObject | None:
    """The newest one, also where the thread paused because nobody was selected."""
    found = None
    for each in await ledger.decisions(thread_id):
        if str(each["kind"]).startswith("selection") and isinstance(each["record"], dict):
            found = each["record"]
    return found


def _submission(attempts: list[AttemptRecord]) -> JsonObject | None:
    if not attempts:
        return None
    record = attempts[-1]
    return {
        "site": record.attempt.site,
        "scheduler": record.attempt.scheduler,
        "job_id": record.job.job_id if record.job else None,
        "cluster": record.job.cluster if record.job else None,
        "tag": record.attempt.tag,
        "state": record.state.value,
        "adopted": record.adopted,
    }


def _asked(waits: list[Wait], interrupts: tuple[Any, ...]) -> JsonObject | None:
    if not waits:
        return None
    wait = waits[-1]
    asked = next((i.value for i in interrupts if isinstance(i.value, dict) and i.value.get("wait_id") == wait.id), {})
    return {"wait_id": wait.id, "kind": wait.kind, "step": wait.step, "site": wait.site, "asked": asked}


async def thread_line(ledger: Ledger, row: ThreadRow) -> JsonObject:
    """A thread in a list."""
    waits = await ledger.open_waits(thread_id=row.thread_id) if row.status is ThreadStatus.PARKED else []
    return {
        "thread_id": row.thread_id,
        "state": state_of(row, waits),
        "title": row.title,
        "master": row.master,
        "updated_at": row.updated_at.isoformat() if row.updated_at else None,
        "error": row.error,
    }
