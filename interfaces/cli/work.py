"""`run`, `ask` and `dispatch`: from a request to its results, or as far as it can go without a person."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.to_thread
import typer

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from graph.reading.scripts import directive
from graph.state import Options
from interfaces.answers import answer_wait, find_thread, person_wait
from interfaces.app import App
from interfaces.cli.asking_option import asking_options
from interfaces.cli.explain import explained, print_explained
from interfaces.cli.questions import print_open_questions
from interfaces.cli.running import at_terminal, emit, run_command, say
from interfaces.cli.session import OTHERS_S, catch_up, follow, opened, who
from interfaces.cli.tables import print_error_end, print_outcome, print_problem, print_proposals, print_question
from interfaces.documents import exit_code_of
from interfaces.requests import take_request

__all__ = ["run", "show_result"]

MOST_INPUT = 12 * 2**20


def run(
    request: str | None,
    file: str | None,
    sites: str | None,
    policy: str | None,
    approve: str,
    *,
    wait: bool,
    as_json: bool,
    dispatch: bool = True,
    site: str | None = None,
    explain: bool = False,
    asking: str | None = None,
) -> NoReturn:
    """Take a request and follow it (see `interfaces.cli.main`)."""

    async def command() -> int:
        given = await _given(request, file)
        async with opened(sites) as app:
            options = Options.model_validate(
                {
                    "policy": policy or app.settings.policy,
                    "approve": approve,
                    "site": site,
                    "base_dir": str(Path.cwd()),
                    "approval_rules": app.settings.approval_rules,
                    "dispatch": dispatch,
                    **asking_options(asking),
                }
            )
            row, _ = await take_request(app, given, options)
            say(f"thread {row.thread_id}")
            await catch_up_others(app, wait=wait)
            document = await follow(app, row.thread_id, wait=wait)
            if not as_json and at_terminal():
                document = await _with_person(app, document, wait=wait)
            if explain:
                document["explained"] = told = await explained(app.checkpoints.ledger, row.thread_id, document, site)
                if not as_json:
                    print_explained(told)
            return show_result(document, as_json=as_json)

    run_command(command)


async def catch_up_others(app: App, *, wait: bool) -> None:
    """Threads of earlier commands go on too; while this one is followed the service runs them anyway."""
    if not wait:
        await catch_up(app, OTHERS_S)


_NAMES_A_FILE = re.compile(r"[\w./~+@-]{1,512}")


async def _given(request: str | None, file: str | None) -> str:
    """The request's text: the argument, a file that was named as one, or stdin. Text is never taken for a path."""
    if file is not None and request is not None:
        raise BadRequest("a request and --file were both given", where="request", cure="give one of them")
    if file is not None:
        path = anyio.Path(file)
        try:
            if (await path.stat()).st_size > MOST_INPUT:
                raise BadRequest("the request is too large", where=file, cure="stage large data as an input instead")
            return (await path.read_bytes()).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRequest(f"cannot be read: {error}", where=file, cure="name a readable text file") from error
    if request == "-":
        data: bytes = await anyio.to_thread.run_sync(sys.stdin.buffer.read, MOST_INPUT)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadRequest("stdin is not text", where="request", cure="send UTF-8") from error
    if request is None:
        raise BadRequest("there is no request", where="request", cure="write what to run, on what, for how long")
    return await _job_script(request) or request


async def _job_script(request: str) -> str | None:
    """The text of a job script that is named by itself (`dragoman run job.sbatch`); None: it is something else.

    One word, a file here, and directives of a scheduler in it: nothing else that is written is ever opened.
    """
    if request.split() != [request] or not _NAMES_A_FILE.fullmatch(request):
        return None
    path = anyio.Path(request)
    with suppress(OSError, UnicodeDecodeError, ValueError):
        if await path.is_file() and (await path.stat()).st_size <= MOST_INPUT:
            text = (await path.read_bytes()).decode("utf-8")
            if directive().search(text):
                say(f"the request is the job script {request}")
                return text
    return None


async def _with_person(app: App, document: JsonObject, *, wait: bool) -> JsonObject:
    """At a terminal the person is asked here, until the thread ends or waits for something else."""
    while document["state"] in ("waiting-approval", "waiting-question"):
        row = await find_thread(app.checkpoints.ledger, str(document["thread_id"]))
        pending = await person_wait(app.checkpoints.ledger, row, "approval", "question")
        if pending.kind == "approval":
            print_proposals(document)
            print_problem(asked_of(document))
            payload = await anyio.to_thread.run_sync(_ask_approval, str(_selected(document)))
        else:
            if document["proposals"]:
                print_proposals(document)
                print_open_questions(document)
            print_question(asked_of(document))
            payload = await anyio.to_thread.run_sync(_ask_answer, pending.step)
        if payload is None:
            break
        await answer_wait(app.checkpoints.ledger, pending, payload, by=who(None))
        document = await follow(app, row.thread_id, wait=wait)
    return document


def asked_of(document: JsonObject) -> JsonObject:
    """The question that a paused thread puts."""
    waiting = document.get("waiting_for")
    asked = waiting.get("asked") if isinstance(waiting, dict) else None
    return asked if isinstance(asked, dict) else {}


def _selected(document: JsonObject) -> object:
    selection = document.get("selection")
    return selection.get("site") if isinstance(selection, dict) else None


def _ask_approval(selected: str) -> JsonObject | None:
    words = typer.prompt(
        f"Run it at {selected}? [y]es, [n]o, a site's name, `edit WORDS`, or [l]ater", err=True
    ).strip()
    match words.lower():
        case "y" | "yes":
            return {"decision": "approve"}
        case "n" | "no":
            return {"decision": "refuse"}
        case "l" | "later" | "":
            return None
    if words.lower().startswith("edit "):
        return {"decision": "edit", "edit": words[5:].strip()}
    return {"decision": "approve", "site": words}


def _ask_answer(step: str) -> JsonObject | None:
    hint = (
        "change the request in words, `again`, `stop`, or [l]ater" if step == "selector" else "your answer, or [l]ater"
    )
    words = typer.prompt(hint, err=True).strip()
    if words.lower() in ("l", "later", ""):
        return None
    if step == "selector" and words.lower() not in ("again", "stop"):
        return {"edit": words}
    return {"answer": words, words.lower(): True} if words.lower() in ("again", "stop") else {"answer": words}


def show_result(document: JsonObject, *, as_json: bool) -> int:
    """Print a thread after a command that followed it, and give the exit code."""
    code = exit_code_of(document)
    if as_json:
        emit(document)
        return code
    if document["proposals"]:
        print_proposals(document)
        print_open_questions(document)
    approval = document.get("approval")
    if isinstance(approval, dict) and approval.get("rule"):
        say(f"approved by the written rule: {approval['rule']}")
    state, short = str(document["state"]), str(document["thread_id"])[:8]
    if state.startswith("waiting-"):
        hints = {
            "waiting-approval": f"approve it with `dragoman approve {short}`",
            "waiting-question": f"answer with `dragoman answer {short} ...`",
        }
        if state == "waiting-question":
            print_question(asked_of(document))
        else:
            print_problem(asked_of(document))
        hint = hints.get(state, f"`dragoman show {short}` tells how it goes")
        say(f"paused: {state.removeprefix('waiting-')}; {hint}")
    else:
        print_outcome(document)
        if state == "failed" and document["submission"]:
            print_error_end(document)
            say(f"`dragoman logs {short}` shows its output")
    return code
