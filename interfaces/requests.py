"""Taking a request: read and checked before anything is stored, secrets put away, then one durable thread."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from dragoman.errors import BadRequest
from dragoman.model import now
from dragoman.secrets import HIDDEN, redact
from dragoman.thread import ThreadRow
from graph.local_inputs import with_local_inputs
from graph.migrations import graph_version
from graph.reading.read import read_request
from graph.reading.reading import Reading
from graph.state import Options
from interfaces.app import App
from providers.script_reading import read_any_script

__all__ = ["take_request"]


async def take_request(app: App, given: str | Mapping[str, Any], options: Options) -> tuple[ThreadRow, Reading]:
    """Store a thread for a request. Nothing is stored for a bad one.

    Raises:
        BadRequest: what is wrong with it, its field and the cure.
        UnknownName: the site named in the options does not exist.

    """
    at = now()
    file = str(app.sites.path) if app.sites.path is not None else None
    options = options.model_copy(update={"sites_file": file, "sites_digest": app.sites.digest})
    reading = read_request(
        given,
        now=at,
        time_zone=options.time_zone,
        script_reader=read_any_script,
        sites=[site.name for site in app.sites.fleet.sites],
    )
    if options.site is not None:
        app.sites.site(options.site)
    for name in (*reading.request.sites, *reading.request.sites_not):
        app.sites.site(name)
    request = await with_local_inputs(reading.request, options.base_dir)
    reading = reading.model_copy(update={"request": request})
    thread_id = str(uuid.uuid4())
    _refuse_visible_secrets(reading)
    title = _title(given, reading)
    reading = await _put_away(app, thread_id, reading)
    row = ThreadRow(
        thread_id=thread_id,
        title=title,
        graph=graph_version("dragoman"),
        input={
            "request": title,
            "prepared": reading.dump(),
            "options": options.dump(),
            "asked_at": at.isoformat(),
            "schema_version": 1,
        },
    )
    return await app.checkpoints.ledger.create_thread(row), reading


async def _put_away(app: App, thread_id: str, reading: Reading) -> Reading:
    """Secret values into the store, under keys that no other thread has; the request names the keys."""
    keys = {key: f"{key[:80]}.{thread_id[:13]}" for key in reading.secrets}
    for key, value in reading.secrets.items():
        await app.secrets.put(keys[key], value)
    environment = tuple(
        each.model_copy(update={"secret": keys[each.secret]}) if each.secret in keys else each
        for each in reading.request.environment
    )
    request = reading.request.model_copy(update={"environment": environment})
    return reading.model_copy(update={"request": request, "secrets": {}})


def _refuse_visible_secrets(reading: Reading) -> None:
    """A secret that also stands in the command or another stored word could not be kept secret."""
    stored = json.dumps(reading.dump(), ensure_ascii=False)
    for key, value in reading.secrets.items():
        if value and json.dumps(value, ensure_ascii=False)[1:-1] in stored:
            raise BadRequest(
                f"the value of {key} stands in the request outside its variable, where it would be stored",
                where="request",
                cure=f"write ${key} in the command instead of its value",
            )


def _title(given: str | Mapping[str, Any], reading: Reading) -> str:
    """One line that names the request; secret values are not in it."""
    given = redact(given) if isinstance(given, str) else given
    words = (
        " ".join(given.split()) if isinstance(given, str) else reading.request.name or " ".join(reading.request.command)
    )
    for value in reading.secrets.values():
        words = words.replace(value, HIDDEN)
    return redact(words)[:120]
