"""The Slurm tools in the hands of any LangChain agent: a scripted model over real HTTP calls each of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from dragoman.site import Site
from providers.site_runtime import SiteRuntime, open_site
from tools.acting import acting_tools
from tools.reading import reading_tools

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

Turn = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
WANTED = {"partitions", "nodes", "queue", "estimate", "submit", "status", "history", "cancel", "hold", "release"}


class ScriptedModel:
    """A server that speaks OpenAI's chat completions and asks for one tool call a turn, as its script says."""

    def __init__(self, script: list[Turn]) -> None:
        self.script = script
        self.offered: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.offered = given["tools"]
                body = json.dumps(model.answer(given["messages"])).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on the tests' output."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def answer(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        turn = sum(message["role"] == "assistant" for message in messages)
        message: dict[str, Any] = {"role": "assistant", "content": "done"}
        if turn < len(self.script):
            last = json.loads(messages[-1]["content"]) if messages[-1]["role"] == "tool" else {}
            name, arguments = self.script[turn](last)
            call = {"name": f"workload_slurm_{name}", "arguments": json.dumps(arguments)}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call-{turn}", "type": "function", "function": call}],
            }
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}


@pytest.fixture
def serve() -> Iterator[Callable[[list[Turn]], ScriptedModel]]:
    started: list[ScriptedModel] = []

    def start(script: list[Turn]) -> ScriptedModel:
        model = ScriptedModel(script)
        threading.Thread(target=model.server.serve_forever, daemon=True).start()
        started.append(model)
        return model

    yield start
    for model in started:
        model.server.shutdown()
        model.server.server_close()


@pytest.fixture
def runtime(place: Place) -> SiteRuntime:
    site = Site(name="cluster", scheduler="slurm", work_root=str(place.root), settle_window_s=2)
    return open_site(site, transport=place.client().transport)


async def converse(model: ScriptedModel, tools: list[BaseTool], seconds: float = 60) -> dict[str, list[dict[str, Any]]]:
    """An agent's loop, as short as it can be: what each tool answered, in order."""
    options: dict[str, Any] = {
        "model": "scripted",
        "base_url": model.url,
        "api_key": SecretStr("none"),
        "max_retries": 0,
    }
    chat = ChatOpenAI(**options)
    bound = chat.bind_tools(tools)
    by_name = {tool.name: tool for tool in tools}
    messages: list[BaseMessage] = [HumanMessage("run my job")]
    answers: dict[str, list[dict[str, Any]]] = {}
    with anyio.fail_after(seconds):
        while True:
            reply = await bound.ainvoke(messages)
            assert isinstance(reply, AIMessage)
            if not reply.tool_calls:
                return answers
            messages.append(reply)
            for call in reply.tool_calls:
                answer = await by_name[call["name"]].ainvoke(call["args"])
                answers.setdefault(call["name"].removeprefix("workload_slurm_"), []).append(answer)
                messages.append(ToolMessage(json.dumps(answer), tool_call_id=call["id"]))
            await anyio.sleep(0.2)


async def test_a_model_looks_estimates_submits_and_follows_its_jobs(
    place: Place, runtime: SiteRuntime, serve: Callable[[list[Turn]], ScriptedModel]
) -> None:
    seen: dict[str, dict[str, Any]] = {}
    job = {"key": f"{place.prefix}-1", "script": f"echo ran >>{place.ran}\nexit 4\n", "shape": {"tasks": 1},
           "walltime_s": 60, "queue": "debug"}  # fmt: skip
    held = {**job, "key": f"{place.prefix}-2", "command": ["sleep", "60"], "script": None, "native_options": ["--hold"]}

    def keep(name: str, then: Callable[[], tuple[str, dict[str, Any]]]) -> Turn:
        def turn(last: dict[str, Any]) -> tuple[str, dict[str, Any]]:
            seen[name] = last
            return then()

        return turn

    def ref(name: str) -> dict[str, Any]:
        found: dict[str, Any] = seen[name]["answer"]["job"]
        return found

    script: list[Turn] = [
        lambda _: ("partitions", {}),
        lambda _: ("nodes", {}),
        lambda _: ("queue", {}),
        lambda _: ("estimate", {"shape": {"tasks": 1}, "walltime_s": 60, "queue": "debug"}),
        lambda _: ("estimate", {"shape": {"tasks": 1}, "walltime_s": 5 * 86400, "queue": "debug"}),
        lambda _: ("submit", {"job": job}),
        keep("first", lambda: ("submit", {"job": job})),
        keep("again", lambda: ("submit", {"job": held})),
        keep("held", lambda: ("status", {"jobs": [ref("first"), ref("held")]})),
        lambda _: ("release", {"job": ref("held")}),
        lambda _: ("hold", {"job": ref("first")}),
        lambda _: ("cancel", {"job": ref("held")}),
        *[lambda _: ("status", {"jobs": [ref("first"), ref("held")]})] * 12,
        lambda _: ("history", {"jobs": [ref("first"), ref("held")]}),
    ]
    model = serve(script)
    tools = [
        tool
        for tool in [*reading_tools(runtime), *acting_tools(runtime)]
        if (tool.metadata or {})["provider"] == "workload/slurm"
    ]
    answers = await converse(model, tools)
    names = {each["function"]["name"].removeprefix("workload_slurm_") for each in model.offered}
    assert names >= WANTED
    assert all(len(each["function"]["description"]) > 40 for each in model.offered)

    partitions = {each["name"]: each for each in answers["partitions"][0]["value"]["queues"]}
    assert partitions["small"]["max_walltime_s"] == 300
    assert partitions["closed"]["usable"] == "no"
    assert {each["cpus_per_node"] for each in answers["nodes"][0]["value"]["groups"]} == {2, 8, 32}
    assert answers["queue"][0]["value"]["pending_by_queue"]["gpu"] == 0
    fits, never = answers["estimate"]
    assert (fits["outcome"], fits["value"]["method"]) == ("ok", "scheduler")
    assert never["outcome"] == "absent"
    assert "at most 1 h, asked 5 d" in never["reason"]

    first, again, _ = answers["submit"]
    assert (first["answer"]["state"], first["answer"].get("found")) == ("submitted", None)
    assert (again["answer"]["job"], again["answer"]["found"]) == (first["answer"]["job"], True)
    assert answers["status"][0]["answer"]["seen"][1]["state"] == "held"
    assert answers["cancel"][0]["ok"]
    ends = {each["ref"]["job_id"]: each for each in answers["status"][-1]["answer"]["seen"]}
    assert (ends[ref("first")["job_id"]]["state"], ends[ref("first")["job_id"]]["exit_code"]) == ("failed", 4)
    assert ends[ref("held")["job_id"]]["state"] == "cancelled"
    assert answers["history"][0]["ok"]
    assert place.runs() == ["ran"]


async def test_refusals_and_wrong_orders_come_back_as_data(runtime: SiteRuntime) -> None:
    tools = {(tool.metadata or {})["verb"]: tool for tool in acting_tools(runtime)}
    both = await tools["submit"].ainvoke({"job": {"key": "a", "command": ["true"], "script": "true"}})
    assert (both["ok"], both["error"]) == (False, "BadRequest")
    assert both["cure"]
    none = await tools["submit"].ainvoke({})
    assert (none["ok"], none["where"]) == (False, "submit")
    order = {"key": "nowhere", "command": ["true"], "queue": "nowhere"}
    refused = await tools["submit"].ainvoke({"job": order})
    assert refused["answer"]["state"] == "refused"
    assert "invalid partition" in refused["answer"]["words"]
    gone = await tools["cancel"].ainvoke({"job": {"job_id": "999999"}})
    assert gone["ok"]
    wrong = await tools["cancel"].ainvoke({"job": {"job_id": "7; rm -rf /"}})
    assert (wrong["ok"], wrong["error"]) == (False, "BadRequest")
