"""`langgraph dev` as people start it, driven with the stock client; `dragoman` beside it sees the same threads."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

REPOSITORY = Path(__file__).parents[2]
REQUEST = "1 task for 1 minute: sh -c 'echo done > out.txt'"


@dataclass
class Server:
    url: str
    folder: Path
    log: Path
    process: subprocess.Popen[bytes]


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Any]:
    """The stock client."""
    from langgraph_sdk import get_client

    async with get_client(url=server.url, api_key=None) as client:
        yield client


@pytest.fixture
def server(dragoman: Any, tmp_path: Path) -> Iterator[Server]:
    """Started offline in a folder of its own: proxies that lead nowhere stand for the network it must not need."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    dragoman.environment["DRAGOMAN_API_URL"] = f"http://127.0.0.1:{port}"
    dragoman.environment["DRAGOMAN_SITES_FILE"] = str(dragoman.sites)
    nowhere = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https", "all")}
    folder = tmp_path / "studio"
    folder.mkdir()
    log = tmp_path / "studio.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "langgraph"), "dev", "--no-browser", "--no-reload",
                "--port", str(port), "--n-jobs-per-worker", "4", "--config", str(REPOSITORY / "langgraph.json"),
            ],
            cwd=folder, env={**dragoman.environment, **nowhere, "no_proxy": "127.0.0.1"},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    server = Server(f"http://127.0.0.1:{port}", folder, log, process)
    try:
        _wait_until_up(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(server: Server) -> None:
    until = time.monotonic() + 45
    while True:
        try:
            with urlopen(f"{server.url}/ok", timeout=2) as answer:  # noqa: S310
                assert answer.status == 200
                return
        except (URLError, TimeoutError, ConnectionError):
            assert server.process.poll() is None, server.log.read_text(errors="replace")[-4000:]
            assert time.monotonic() < until, server.log.read_text(errors="replace")[-4000:]
            time.sleep(0.2)


async def _paused(client: Any, **given: Any) -> tuple[str, dict[str, Any]]:
    """A thread run until it is paused, and its interrupt."""
    thread = await client.threads.create()
    await client.runs.wait(thread["thread_id"], "dragoman", input={"request": REQUEST, **given})
    state = await client.threads.get_state(thread["thread_id"])
    (interrupt,) = state["interrupts"]
    return thread["thread_id"], interrupt


async def _end(client: Any, thread_id: str) -> dict[str, Any]:
    import anyio

    with anyio.fail_after(30):
        while True:
            state = await client.threads.get_state(thread_id)
            if not state["next"]:
                return dict(state)
            await anyio.sleep(0.2)


async def test_the_graph_draws_and_its_input_can_be_filled_in(server: Server, client: Any) -> None:
    (assistant,) = await client.assistants.search(graph_id="dragoman")
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    names = {node["id"] for node in drawn["nodes"]}
    assert names >= {
        "__start__", "intake", "negotiator", "selector", "approval", "data_mover", "dispatcher", "monitor", "collector",
        "canceller", "__end__",
    }  # fmt: skip
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert edges >= {("__start__", "intake"), ("approval", "data_mover"), ("dispatcher", "monitor")}
    fields = (await client.assistants.get_schemas(assistant["assistant_id"]))["input_schema"]["properties"]
    assert [field for field, schema in fields.items() if not (schema.get("title") and schema.get("description"))] == []
    options = fields["options"]["properties"]
    assert [name for name, schema in options.items() if not schema.get("description")] == []
    assert options["approve"]["enum"] == ["ask", "auto"]

    # Nothing blocked an event loop, and nothing was left in the repository.
    assert "Blocking" not in server.log.read_text(errors="replace")
    assert [each.name for each in server.folder.iterdir()] == [".langgraph_api"]

    # The store is ours too.
    await client.store.put_item(("people",), "pi", {"likes": "local"})
    assert (await client.store.get_item(("people",), "pi"))["value"] == {"likes": "local"}


async def test_a_thread_of_the_server_runs_to_its_end(client: Any, dragoman: Any, database: str) -> None:
    """Approved by interrupt id; the job's end is seen by a watcher, which resumes through the API."""
    import psycopg

    thread, interrupt = await _paused(client)
    assert interrupt["value"]["kind"] == "approval"
    assert interrupt["response_schema"]["required"] == ["decision"]
    assert "#!/bin/sh" in interrupt["value"]["script"]
    listed = dragoman("threads", "--json").document["threads"]
    assert [(each["thread_id"], each["state"], each["master"], each["title"]) for each in listed] == [
        (thread, "waiting-approval", "api", REQUEST)
    ]

    # A watcher does not run what is the server's; with nothing said it changes nothing.
    assert dragoman("watch", "--once").code == 0
    assert (await client.threads.get_state(thread))["next"] == ["approval"]

    watcher = dragoman.start("watch")
    paused = await client.runs.wait(
        thread, "dragoman", command={"resume": {interrupt["id"]: {"decision": "approve", "by": "pi"}}}
    )
    assert paused["__interrupt__"][0]["value"]["kind"] == "job"
    state = await _end(client, thread)
    assert (state["values"]["outcome"], state["values"]["decision"]["by"]) == ("completed", "pi")
    assert (await client.threads.get(thread))["status"] == "idle"
    watcher.terminate()
    shown = dragoman("show", thread[:8], "--json").document
    assert (shown["state"], shown["submission"]["site"], shown["attempts"]) == ("completed", "local", 1)
    assert dragoman.result(shown, "out.txt") == "done\n"

    # New input on a used thread changes nothing: one thread is one request.
    again = await client.runs.wait(thread, "dragoman", input={"request": "2 tasks for 1 minute: sh -c true"})
    assert again["outcome"] == "completed"
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT master, status, outcome, epoch, (SELECT count(*) FROM dragoman_ledger.attempts) "
            "FROM dragoman_ledger.threads"
        ).fetchall()
        checkpoints = connection.execute("SELECT count(*) > 0 FROM checkpoints WHERE thread_id = %s", (thread,))
        assert (row, checkpoints.fetchall()) == ([("api", "done", "completed", 0, 1)], [(True,)])


async def test_dragoman_answers_for_a_thread_of_the_server(client: Any, dragoman: Any) -> None:
    """`approve` and `cancel` go through the API, and a bare word in Studio does too."""
    thread, _ = await _paused(client)
    done = dragoman("approve", thread[:8], "--by", "pi", "--wait", "--json")
    assert (done.code, done.document["state"], done.document["approval"]["by"]) == (0, "completed", "pi"), done.err
    assert (await client.threads.get_state(thread))["values"]["outcome"] == "completed"

    unsure, _ = await _paused(client)
    asked = await client.runs.wait(unsure, "dragoman", command={"resume": "perhaps"})
    assert "no decision" in asked["__interrupt__"][0]["value"]["problem"]
    refused = await client.runs.wait(unsure, "dragoman", command={"resume": "refuse"})
    assert refused["outcome"] == "refused"

    running, _ = await _paused(client, request="1 task for 5 minutes: sh -c 'sleep 300'")
    job = await client.runs.wait(running, "dragoman", command={"resume": "approve"})
    assert job["__interrupt__"][0]["value"]["kind"] == "job"
    # New words on a thread whose job runs: it goes back to watching the job.
    kept = await client.runs.wait(running, "dragoman", input={"request": "1 task: sh -c true"})
    assert kept["__interrupt__"][0]["value"]["job_id"] == job["__interrupt__"][0]["value"]["job_id"]
    cancelled = dragoman("cancel", running, "--json")
    assert (cancelled.code, cancelled.document["state"]) == (0, "cancelled"), cancelled.err
    assert (await client.threads.get_state(running))["values"]["outcome"] == "cancelled"

    bad = await client.runs.wait(
        (await client.threads.create())["thread_id"],
        "dragoman",
        input={"request": REQUEST, "options": {"policy": "best"}},
    )
    assert (bad["outcome"], "options.policy" in bad["outcome_words"]) == ("rejected", True)


async def test_what_the_docs_show_works(client: Any, server: Server) -> None:
    page = (REPOSITORY / "docs/studio.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    code = compile(block.replace("http://127.0.0.1:2024", server.url), "studio.md", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT)
    await eval(code, names)  # noqa: S307
    await names["client"].aclose()
    state = await client.threads.get_state(names["thread"]["thread_id"])
    assert (state["next"], state["values"]["decision"]["by"]) == (["monitor"], "pi")
    for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page):
        assert (REPOSITORY / "docs" / picture).read_bytes().startswith(b"\x89PNG"), picture


async def test_a_secret_that_is_sent_is_kept_neither_by_the_server_nor_by_us(
    server: Server, client: Any, dragoman: Any, not_in_database: Callable[[str], None]
) -> None:
    from httpx import HTTPStatusError

    secret = "Zz9secretQ7"  # of no account
    thread = await client.threads.create()
    for given in (
        {"request": f"1 task for 1 minute: curl -u me:{secret} https://x.org"},
        {"request": {"command": ["./x", "--token", secret], "tasks": 1}},
        {"request": {"command": "./x", "env": {"HF_TOKEN": secret}}},
    ):
        with pytest.raises(HTTPStatusError, match="422") as refused:
            await client.runs.wait(thread["thread_id"], "dragoman", input=given)
        assert "a secret stands openly here" in refused.value.response.text
        assert secret not in refused.value.response.text
    paused, interrupt = await _paused(client)
    edit = {"decision": "edit", "edit": f"run `mysql -p{secret} db`"}
    with pytest.raises(HTTPStatusError, match="422"):
        await client.runs.wait(paused, "dragoman", command={"resume": {interrupt["id"]: edit}})
    state = await client.threads.get_state(paused)
    assert [each["id"] for each in state["interrupts"]] == [interrupt["id"]]
    files = [path for path in dragoman.sites.parent.rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    assert secret not in server.log.read_text(errors="replace")
    not_in_database(secret)
