"""What is sent to a LangGraph server is looked at before the server has it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from interfaces.langgraph_http import RefuseShownSecrets

SECRET = "Zz9secretQ7"


async def _send(body: bytes, method: str = "POST") -> tuple[httpx.Response, list[bytes]]:
    came: list[bytes] = []

    async def keep(request: Request) -> JSONResponse:
        came.append(await request.body())
        return JSONResponse({"kept": True})

    app = Starlette(
        routes=[Route("/runs", keep, methods=["POST", "PATCH", "GET"])], middleware=[Middleware(RefuseShownSecrets)]
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        return await client.request(method, "/runs", content=body), came


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"input": {"request": f"run `curl -u me:{SECRET} x.org`"}}, "input.request"),
        ({"input": {"request": {"command": ["mysql", f"-p{SECRET}"]}}}, "input.request.command"),
        ({"input": {"request": {"command": "./x", "env": {"HF_TOKEN": SECRET}}}}, "input.request.env.HF_TOKEN"),
        (
            {"input": {"request": {"environment": [{"name": "HF_TOKEN", "value": SECRET}]}}},
            "input.request.environment.0.value",
        ),
        ({"input": {"request": f"#!/bin/sh\n#SBATCH -N 1\nexport API_KEY={SECRET}\n"}}, "input.request, line 3"),
        ({"command": {"resume": {"i1": {"answer": f"`./x --token {SECRET}`"}}}}, "command.resume.i1.answer"),
        ({"command": {"update": {"request": f"PGPASSWORD={SECRET} psql"}}}, "command.update.request"),
        ({"values": {"request": f"the password is {SECRET}"}, "as_node": "intake"}, "values.request"),
        ({"metadata": {"HF_TOKEN": SECRET}}, "metadata.HF_TOKEN"),
        ({"metadata": {"note": f"the password is {SECRET}"}}, "metadata.note"),
        ({"config": {"configurable": {"api_key": SECRET}}}, "config.configurable.api_key"),
        ({"context": {"login": f"https://bob:{SECRET}@x.org/a"}}, "context.login"),
        ({"webhook": f"https://x.org/a?token={SECRET}"}, "webhook"),
        ([{"input": {"request": "true"}}, {"input": {"request": f"./x --password={SECRET}"}}], "1.input.request"),
    ],
)
async def test_a_body_that_shows_a_secret_does_not_reach_the_server(body: Any, field: str) -> None:
    answer, came = await _send(json.dumps(body).encode(), "PATCH" if isinstance(body, list) else "POST")
    assert (answer.status_code, came) == (422, [])
    assert answer.json()["detail"].startswith(f"{field}: a secret stands openly here")
    assert SECRET not in answer.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        b'{"input": {"request": "1 task for 1 minute: ./x --token-length 12"}, "assistant_id": "dragoman"}',
        b'{"input": {"request": {"command": "./x", "environment": [{"name": "HF_TOKEN", "secret": "mine"}]}}}',
        b'{"command": {"resume": {"i1": {"decision": "approve", "by": "pi"}}}}',
        b'{"metadata": {"note": "a token of thanks", "owner": "bob"}}',
        b'{"config": {"configurable": {"thread_id": "t1", "token_limit": 4096}}, "context": {"key": "chr1"}}',
        b"",
        b"[1, 2]",
    ],
)
async def test_other_bodies_arrive_as_they_were_sent(body: bytes) -> None:
    answer, came = await _send(body)
    assert (answer.status_code, came) == (200, [body])


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        b'{"input": {"a": ' + b"[" * 1000 + b"]" * 1000 + b', "request": "./x --token Zz9secretQ7"}}',
        b'{"input": ' + b'{"a": ' * 1000 + b'"./x --token Zz9secretQ7"' + b"}" * 1001,
        b'{"input": {"request": "./x", "n": ' + b"9" * 5000 + b"}}",
        b"no JSON",
        b'{"input": {"request": "./x\xff"}}',
    ],
)
async def test_a_body_that_cannot_be_looked_at_does_not_reach_the_server(body: bytes) -> None:
    answer, came = await _send(body)
    assert (answer.status_code, came) == (422, [])
    assert SECRET not in answer.text
