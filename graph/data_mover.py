"""data_mover: stages inputs to the site before the job and results back after it, verified at both ends."""

from __future__ import annotations

from dragoman.attempt import attempt_tag
from dragoman.errors import StorageFull, TransferError, TransportError
from dragoman.model import JsonObject
from dragoman.request import JobRequest
from dragoman.transfer import TransferItem, TransferPlan, TransferState, TransferStatus
from dragoman.units import counted
from graph.described import described_otherwise, whereabouts
from graph.node import Goto, Step, end, goto
from graph.reach import mover_for, scheduler_at, transport_at
from graph.selection_of import chosen_site
from graph.state import CurrentAttempt
from providers.outputs import find_outputs
from providers.site_runtime import SiteRuntime

__all__ = ["data_mover"]


async def data_mover(step: Step) -> Goto:
    """Move what the phase asks for: in before the dispatcher, out before the collector."""
    return await (_stage_in(step) if step.state.phase == "in" else _bring_back(step))


async def _stage_in(step: Step) -> Goto:
    state = step.state
    site = chosen_site(state)
    if (back := await described_otherwise(step, site)) is not None:
        return back
    runtime = step.open_site(site)
    if runtime.transport is None:
        await step.say(f"{site} is simulated: it can answer but not run work", site=site)
        return goto(step, "selector", excluded=[*state.excluded, site], attempt=None)
    number = state.attempts_made + 1
    tag = attempt_tag(step.thread_id, "dispatcher", number)
    request = state.reading or JobRequest()
    try:
        current = state.attempt or await _prepared(runtime, tag, number)
        items = tuple(
            TransferItem(
                source=each.source,
                destination=f"{current.work_dir}/{each.name}",
                name=each.name,
                sha256=each.sha256,
                bytes=each.bytes,
            )
            for each in request.inputs
        )
        plan = TransferPlan(
            id=f"{tag}-in", mover=mover_for(runtime), direction="in", site=site, items=items, root=current.work_dir
        )
        status = await _move(step, runtime, plan) if items else TransferStatus(state=TransferState.SUCCEEDED)
    except TransportError as error:
        return await _later(step, site, str(error))
    except StorageFull as error:
        return await _make_room(step, error)
    except TransferError as error:
        await step.say(f"stage in failed: {error}")
        return end(step, "failed", f"stage in failed: {error}")
    if status.state is not TransferState.SUCCEEDED:
        return end(step, "failed", f"stage in {status.state.value}: {status.reason}")
    if status.manifest is not None:
        files = counted(len(status.manifest.entries), "file")
        await step.say(
            f"staged {files}, {status.manifest.total_bytes} bytes, verified by SHA-256",
            files={entry.name: entry.sha256 for entry in status.manifest.entries[:50]},
        )
    return goto(step, "dispatcher", attempt=current.dump(), attempts_made=number)


async def _prepared(runtime: SiteRuntime, tag: str, number: int) -> CurrentAttempt:
    """The attempt's folder at the site, before anything is staged into it."""
    scheduler = scheduler_at(runtime)
    control_dir = await scheduler.control_dir(tag)
    work_dir = f"{control_dir}/work"
    await scheduler.prepare(control_dir, work_dir)
    return CurrentAttempt(
        tag=tag, number=number, site=runtime.site.name, control_dir=control_dir, work_dir=work_dir,
        described=runtime.site.dump(),
    )  # fmt: skip


async def _move(step: Step, runtime: SiteRuntime, plan: TransferPlan) -> TransferStatus:
    """Start (once) and follow a transfer; a long one pauses the thread until it moved on."""
    ledger = step.deps.ledger
    stored = await ledger.plan_transfer(step.thread_id, plan, epoch=step.epoch)
    mover = runtime.movers[stored.mover]
    known = next((status for each, status in await ledger.transfers(step.thread_id) if each.id == stored.id), None)
    status = await (mover.poll(stored, known.handle) if known and known.handle else mover.start(stored))
    await ledger.save_transfer(stored.id, status)
    while status.state in (TransferState.ACTIVE, TransferState.PAUSED, TransferState.UNKNOWN):
        await step.pause(
            "transfer",
            {"transfer": stored.id, "state": status.state.value, "why": status.reason},
            site=plan.site,
            subject={"plan_id": stored.id, "state": status.state.value, **whereabouts(step)},
        )
        status = await mover.poll(stored, status.handle)
        await ledger.save_transfer(stored.id, status)
    return status


async def _bring_back(step: Step) -> Goto:
    state, deps = step.state, step.deps
    current = state.attempt
    assert current is not None  # noqa: S101  # only a dispatched attempt comes back
    runtime = step.open_site(current.site)
    request = state.reading or JobRequest()
    folder = deps.results_dir / step.thread_id
    try:
        found = await find_outputs(
            transport_at(runtime),
            current.work_dir,
            request.outputs,
            staged={each.name for each in request.inputs},
            latency_s=deps.file_latency_s,
        )
        items = tuple(
            TransferItem(source=f"{current.work_dir}/{name}", destination=str(folder / name), name=name)
            for name in found.names
        )
        plan = TransferPlan(
            id=f"{current.tag}-out", mover=mover_for(runtime), direction="out", site=current.site, items=items,
            root=str(folder),
        )  # fmt: skip
        status = await _move(step, runtime, plan) if items else TransferStatus(state=TransferState.SUCCEEDED)
    except TransportError as error:
        return await _later(step, current.site, str(error))
    except StorageFull as error:
        return await _make_room(step, error)
    except TransferError as error:
        await step.say(f"results could not be brought back: {error}")
        status = TransferStatus(state=TransferState.FAILED, reason=str(error))
        found = None
    missing = list(found.missing) if found is not None else []
    results: JsonObject = {
        "dir": str(folder),
        "files": [entry.model_dump(mode="json") for entry in status.manifest.entries] if status.manifest else [],
        "missing": [*missing],
        "left": list(found.left) if found is not None else [],
        "error": "" if status.state is TransferState.SUCCEEDED else status.reason,
        "site_dir": current.work_dir,
    }
    for name in missing:
        await step.say(f"the job left no {name}")
    return goto(step, "collector", results=results)


async def _later(step: Step, site: str, why: str) -> Goto:
    await step.say(f"{site} cannot be reached: {why}", site=site)
    again = step.deps.clock() + step.deps.retry_after
    await step.pause(
        "until",
        {"why": why, "site": site, "looks_again_at": again.isoformat()},
        site=site,
        due_in_s=step.deps.retry_after.total_seconds(),
    )
    return goto(step, "data_mover")


async def _make_room(step: Step, error: StorageFull) -> Goto:
    """A full disk is a question, not a loop: what is needed and what is free, and the thread goes on when told."""
    await step.say(f"no room: {error}")
    answer = await step.pause(
        "question",
        {
            "question": f"{error} Make room and answer again=true, or stop=true.",
            "needed": error.needed,
            "free": error.free,
        },
    )
    if answer.get("stop"):
        return goto(step, "canceller")
    return goto(step, "data_mover")
