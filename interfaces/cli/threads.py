"""`threads`, `show`, `approve`, `answer` and `cancel`: what people do with threads that exist."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NoReturn

from dragoman.errors import BadRequest, SiteNotHere
from dragoman.model import JsonObject, now
from dragoman.thread import ThreadRow
from graph.approval_answer import read_answer
from graph.state import Options
from interfaces.answers import answer_wait, find_thread, person_wait
from interfaces.app import App
from interfaces.cli.questions import print_open_questions
from interfaces.cli.running import emit, run_command, say
from interfaces.cli.session import OTHERS_S, catch_up, follow, opened, who
from interfaces.cli.tables import clean, console, print_outcome, print_proposals, print_question, print_threads
from interfaces.cli.work import show_result
from interfaces.documents import thread_document, thread_line
from interfaces.sites import Sites
from interfaces.thread_fleet import fleet_origin, refuse_other_fleet

__all__ = ["answer", "approve", "cancel", "show", "threads"]


def threads(sites: str | None, limit: int, *, as_json: bool) -> NoReturn:
    """List threads."""

    async def command() -> int:
        async with opened(sites) as app:
            await catch_up(app, OTHERS_S)
            ledger = app.checkpoints.ledger
            lines = [await thread_line(ledger, row) for row in await ledger.threads(limit=limit)]
            if as_json:
                emit({"threads": lines})
            else:
                print_threads(lines)
        return 0

    run_command(command)


def show(thread_id: str, sites: str | None, *, as_json: bool) -> NoReturn:
    """Show one thread."""

    async def command() -> int:
        async with opened(sites) as app:
            await catch_up(app)
            row = await find_thread(app.checkpoints.ledger, thread_id)
            document = await thread_document(app, row)
            if as_json:
                emit(document)
            else:
                _print(document)
        return 0

    run_command(command)


def _print(document: JsonObject) -> None:
    out = console()
    out.print(f"thread {document['thread_id']}: {clean(document['title'])}")
    if document["proposals"]:
        print_proposals(document)
        print_open_questions(document)
    timeline = document.get("timeline")
    for entry in timeline if isinstance(timeline, list) else []:
        if isinstance(entry, dict):
            out.print(f"  {str(entry['at'])[:19]}Z {clean(entry['step'])}: {clean(entry['words'])}")
    waiting = document.get("waiting_for")
    if isinstance(waiting, dict):
        site = f" at {clean(waiting['site'])}" if waiting.get("site") else ""
        out.print(f"waits for: {clean(waiting['kind'])}{site}")
        asked = waiting.get("asked")
        if waiting["kind"] in ("question", "approval") and isinstance(asked, dict):
            print_question(asked)
    print_outcome(document)


def approve(
    thread_id: str,
    decision: dict[str, Any],
    by: str | None,
    sites: str | None,
    *,
    take_sites: bool,
    wait: bool,
    as_json: bool,
) -> NoReturn:
    """Answer a pending approval."""
    if decision.get("site") is None:
        decision.pop("site", None)
    _answer(thread_id, decision, by, sites, ("approval",), take_sites=take_sites, wait=wait, as_json=as_json)


def answer(
    thread_id: str,
    given: dict[str, Any],
    by: str | None,
    sites: str | None,
    *,
    take_sites: bool,
    wait: bool,
    as_json: bool,
) -> NoReturn:
    """Answer a pending question."""
    _answer(thread_id, given, by, sites, ("question",), take_sites=take_sites, wait=wait, as_json=as_json)


def _answer(
    thread_id: str,
    payload: dict[str, Any],
    by: str | None,
    sites: str | None,
    kinds: tuple[str, ...],
    *,
    take_sites: bool,
    wait: bool,
    as_json: bool,
) -> NoReturn:
    async def command() -> int:
        if not payload:
            raise BadRequest("there is no answer", where="answer", cure="give words, or one of the options of --help")
        async with opened(sites) as app:
            ledger = app.checkpoints.ledger
            row = await find_thread(ledger, thread_id)
            pending = await person_wait(ledger, row, *kinds)
            if pending.step == "approval":
                options = Options.model_validate(row.input.get("options") or {})
                said = read_answer(payload, now=now(), time_zone=options.time_zone)
                if said.hold_until is not None and said.hold_until <= now():
                    passed = said.hold_until.isoformat(timespec="seconds")
                    raise BadRequest(f"{passed} has passed", where="hold_until", cure="name a moment yet to come")
            origin = await fleet_origin(app, row)
            if sites is not None and not take_sites:
                refuse_other_fleet(app, origin)
            taken = _taken(app, row, take_sites=take_sites)
            if payload.get("site") is not None:
                with suppress(SiteNotHere):
                    there = app.sites.fleet if taken else app.sites.fleet_for(origin)
                    Sites(None, there).site(str(payload["site"]))
            await answer_wait(ledger, pending, payload | taken, by=who(by))
            document = await follow(app, row.thread_id, wait=wait)
            return show_result(document, as_json=as_json)

    run_command(command)


def _taken(app: App, row: ThreadRow, *, take_sites: bool) -> JsonObject:
    """What an answer says of the fleet that the thread is to go by from now on; nothing: its own."""
    if not take_sites:
        return {}
    if app.sites.path is None:
        raise BadRequest("there is no sites file to take", where="--take-sites", cure="name one with --sites FILE")
    if row.master == "api":
        raise BadRequest("a server's thread goes by its server's sites", where="--take-sites", cure="leave it out")
    return {"sites_file": str(app.sites.path)}


def cancel(thread_id: str, by: str | None, sites: str | None, *, wait: bool, as_json: bool) -> NoReturn:
    """Cancel a thread and see it end."""

    async def command() -> int:
        async with opened(sites) as app:
            ledger = app.checkpoints.ledger
            row = await find_thread(ledger, thread_id)
            if not await ledger.request_cancel(row.thread_id, who(by)):
                say(f"it had ended before: {row.outcome or row.status.value}")
                document = await thread_document(app, row)
            else:
                document = await follow(app, row.thread_id, wait=wait)
            if document["state"] == "cancelled":
                if as_json:
                    emit(document)
                else:
                    print_outcome(document)
                return 0
            return show_result(document, as_json=as_json)

    run_command(command)
