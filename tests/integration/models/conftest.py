"""Chat models in OpenAI's and Gemini's forms over real HTTP on this host, played by a script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Reply:
    """What the model says to one call."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    status: int = 200
    delay: float = 0.0
    raw: bytes | None = None
    refusal: str = ""


@dataclass
class Call:
    """One call as the model got it."""

    number: int
    tools: list[str]
    forced: str
    text: str
    """Everything said so far, as one text."""


Script = Callable[[Call], Reply]


class ModelServer:
    """Serves one form; `script` says what is answered."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.script: Script = lambda call: Reply()
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    call = _call(server.form, body, len(server.calls))
                    server.calls.append(call)
                reply = server.script(call)
                time.sleep(reply.delay)
                data = reply.raw if reply.raw is not None else json.dumps(_body(server.form, reply)).encode()
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has gone: it waited long enough

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        base = f"http://127.0.0.1:{self.http.server_address[1]}"
        return base + "/v1" if self.form == "openai" else base


def _call(form: str, body: dict[str, Any], number: int) -> Call:
    if form == "openai":
        tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        choice = body.get("tool_choice")
        forced = choice["function"]["name"] if isinstance(choice, dict) else ""
        text = "\n".join(str(message.get("content")) for message in body["messages"])
    else:
        tools = [f["name"] for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]
        choice = body.get("toolConfig", {}).get("functionCallingConfig", {})
        forced = next(iter(choice.get("allowedFunctionNames", [])), "")
        said = [body.get("systemInstruction", {}), *body["contents"]]
        text = json.dumps(said).encode().decode("unicode_escape", "replace")
    return Call(number, tools, forced, text)


def _body(form: str, reply: Reply) -> dict[str, Any]:
    if reply.status != 200:
        if form == "openai":
            return {"error": {"message": "scripted", "type": "scripted", "code": str(reply.status)}}
        status = "RESOURCE_EXHAUSTED" if reply.status == 429 else "INTERNAL"
        return {"error": {"code": reply.status, "message": "scripted", "status": status}}
    if form == "openai":
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [
                {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for n, (name, arguments) in enumerate(reply.calls)
            ]
        if reply.refusal:
            message["refusal"] = reply.refusal
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in reply.calls]
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": parts},
                "finishReason": "SAFETY" if reply.refusal else "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "scripted",
    }


@pytest.fixture(params=["openai", "google"])
def served(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    server = ModelServer(request.param)
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply


@pytest.fixture
def desk(served: ModelServer) -> Callable[..., Any]:
    """A desk for the model that is served."""
    from pydantic import SecretStr

    from graph.model.desk import ModelDesk, ModelLimits
    from graph.model.providers import ModelAccess, open_chat_model

    def make(**limits: Any) -> Any:
        seconds = limits.setdefault("seconds", 10.0)
        access = ModelAccess(
            openai_api_key=SecretStr("k"), openai_base_url=served.url, google_api_key=SecretStr("k"),
            google_base_url=served.url, timeout_s=seconds,
        )  # fmt: skip
        return ModelDesk(
            f"{served.form}:scripted", lambda: open_chat_model(f"{served.form}:scripted", access), ModelLimits(**limits)
        )

    return make


@pytest.fixture
def undecided() -> tuple[Any, Any]:
    """A site whose package manager is silent, and a request that hangs on it."""
    from dragoman.request import JobRequest
    from dragoman.site import Site, TransportConfig
    from providers.site_runtime import open_site

    workload = {
        "scheduler": "slurm",
        "queues": [{"name": "batch", "usable": "yes", "default": True, "max_walltime_s": 86400}],
        "groups": [{"queues": ["batch"], "nodes": 10, "nodes_idle": 8, "cpus_per_node": 32, "gpus": []}],
    }
    state: dict[str, Any] = {"workload": workload, "packages": [], "unknown": ["software/spack"]}
    described = Site(name="here", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=state)
    request = JobRequest.model_validate({"shapes": [{"nodes": 2}], "software": [{"name": "lammps"}]})
    return open_site(described), request
