"""The door of a LangGraph server (`http.app` of `langgraph.json`): what shows a secret is not let in.

The server stores what it is sent, as it is, before any node runs: the input of a run, its answer to a pause, a changed
state. So a body is read here first, whatever route it goes to.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.errors import BadRequest
from dragoman.shown_secrets import refuse_shown

__all__ = ["RefuseShownSecrets", "app"]

_LOOKED_AT = ("input", "command", "values", "update", "supersteps", "value", "message", "params", "kwargs", "payload",
              "metadata", "config", "context", "webhook")  # fmt: skip
"""Parts of a body that a person or a program fills; names of assistants and filters are none of them."""

_CURE = (
    "begin the request with `dragoman run`, which puts the values of its variables away, or name a secret that is kept"
    " at this server: an item of `environment` with `name` and `secret`"
)


class RefuseShownSecrets:
    """Answers 422 to a body that shows a secret, with its field and the cure, and to one that cannot be looked at.

    The secret is in no answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on after its body was looked at."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            await self.app(scope, receive, send)
            return
        messages: list[Message] = []
        while not messages or (messages[-1]["type"] == "http.request" and messages[-1].get("more_body")):
            messages.append(await receive())
        try:
            refuse_shown(_looked_at(b"".join(each.get("body", b"") for each in messages)), cure=_CURE)
        except (ValueError, RecursionError):
            # The server's own reader takes more than this one does, so what cannot be looked at is not passed on.
            answer = JSONResponse({"detail": "the body is no JSON, or is nested too deep to be read"}, status_code=422)
            await answer(scope, receive, send)
            return
        except BadRequest as error:
            answer = JSONResponse({"detail": str(error)}, status_code=422)
            await answer(scope, receive, send)
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self.app(scope, again, send)


def _looked_at(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    told = json.loads(body)
    parts = told if isinstance(told, list) else [told]  # a batch of runs
    found: dict[str, Any] = {}
    for number, part in enumerate(parts):
        if isinstance(part, dict):
            mine = {key: part[key] for key in _LOOKED_AT if key in part}
            found |= {f"{number}.{key}" if isinstance(told, list) else key: value for key, value in mine.items()}
    return found


app = Starlette(middleware=[Middleware(RefuseShownSecrets)])
