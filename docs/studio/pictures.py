"""Makes the pictures of docs/studio.md from the real answers of a running `langgraph dev`, with a real browser.

    python docs/studio/pictures.py http://127.0.0.1:2024

Wants `dragoman watch` beside the server, and Chromium. LangGraph Studio itself is a page of its maker's that cannot be
loaded without a network; these pictures show what it is told, laid out by us.
"""

from __future__ import annotations

import asyncio
import html
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from langgraph_sdk import get_client

HERE = Path(__file__).parent
REQUEST = "4 tasks on one node for 5 minutes: sh -c 'echo done > out.txt'"
ORDER = (
    "__start__", "intake", "negotiator", "selector", "approval", "data_mover", "dispatcher", "monitor", "collector",
    "canceller", "__end__",
)  # fmt: skip
STYLE = """
body { font: 15px/1.45 'DejaVu Sans', sans-serif; margin: 24px; color: #1c1c28; background: #fff; width: 1052px }
h1 { font-size: 20px; margin: 0 0 4px } p.from { color: #5b5b6b; margin: 0 0 16px; font-size: 13px }
table { border-collapse: collapse; width: 100%; margin: 6px 0 14px } td, th { border: 1px solid #ccccd6; padding: 4px 8px;
text-align: left; vertical-align: top; font-size: 13px } th { background: #f1f0fb; font-weight: 600 }
pre { background: #f6f6f9; border: 1px solid #ccccd6; padding: 8px; font-size: 12px; white-space: pre-wrap; margin: 0 }
.key { color: #4b3fa8; font-weight: 600; width: 130px } .ask { font-size: 17px; font-weight: 600; margin: 10px 0 }
"""


def page(title: str, url: str, body: str) -> str:
    return (
        f"<meta charset='utf-8'><style>{STYLE}</style><h1>{html.escape(title)}</h1>"
        f"<p class='from'>{html.escape(url)}: the API's own answers, laid out by docs/studio/pictures.py</p>{body}"
    )


def graph(drawn: dict[str, Any]) -> str:
    """Nodes and edges as the server gives them: onward at the right, back at the left.

    Edges to the canceller and to the end, which nearly every node has, are pale.
    """
    top = {name: 20 + 52 * number for number, name in enumerate(ORDER)}
    arcs, boxes = [], []
    for edge in sorted(drawn["edges"], key=lambda each: each["target"] not in ("canceller", "__end__")):
        source, target = top[edge["source"]], top[edge["target"]]
        if source == target:
            continue
        pale = edge["target"] in ("canceller", "__end__") and edge["source"] != "collector"
        x, bend = (520, 0.55) if target > source else (360, -0.55)
        reach = x + bend * abs(target - source) + (20 if bend > 0 else -20)
        color = "#dddcea" if pale else "#6a5fd0"
        arcs.append(
            f"<path d='M{x},{source + 18} C{reach},{source + 18} {reach},{target + 10} {x},{target + 10}' fill='none' "
            f"stroke='{color}' stroke-width='1.6' marker-end='url(#{'pale' if pale else 'full'})'/>"
        )
    for node in drawn["nodes"]:
        y = top[node["id"]]
        boxes.append(
            f"<rect x='360' y='{y}' width='160' height='28' rx='8' fill='#f1f0fb' stroke='#6a5fd0'/>"
            f"<text x='440' y='{y + 19}' text-anchor='middle' font-size='14'>{node['id']}</text>"
        )
    heads = "".join(
        f"<marker id='{name}' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
        f"<path d='M0,0 L8,4 L0,8 z' fill='{color}'/></marker>"
        for name, color in (("full", "#6a5fd0"), ("pale", "#dddcea"))
    )
    return f"<svg width='900' height='600'><defs>{heads}</defs>{''.join(arcs)}{''.join(boxes)}</svg>"


def rows(values: dict[str, Any]) -> str:
    cells = "".join(
        f"<tr><td class='key'>{html.escape(key)}</td><td>{shown(value)}</td></tr>" for key, value in values.items()
    )
    return f"<table>{cells}</table>"


def shown(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return f"<pre>{html.escape(value)}</pre>"
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        names = list(value[0])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{shown(each.get(name))}</td>" for name in names) + "</tr>" for each in value
        )
        return f"<table><tr>{head}</tr>{body}</table>"
    if isinstance(value, list):
        return "<br>".join(shown(each) for each in value) or "none"
    return html.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def paused(state: dict[str, Any]) -> str:
    (interrupt,) = state["interrupts"]
    value = dict(interrupt["value"])
    value["script"] = "\n".join(value["script"].splitlines()[:14]) + "\n…"
    value["proposals"] = [
        {key: each[key] for key in ("site", "rank", "verdict", "start", "cost", "cost_unit", "simulated", "checks")}
        for each in value["proposals"]
    ]
    wanted = (
        "selected", "why", "charge", "request", "notes", "proposals", "other_sites", "transfers", "script", "script_note",
        "answers", "evidence",
    )  # fmt: skip
    return (
        f"<p>next: <b>{state['next'][0]}</b> &nbsp; interrupt: {interrupt['id']}</p>"
        f"<p class='ask'>{html.escape(value['question'])}</p>" + rows({key: value[key] for key in wanted})
    )


def finished(state: dict[str, Any]) -> str:
    values = state["values"]
    names = ("request", "outcome", "outcome_words", "decision", "attempt", "job", "results", "prediction")
    return f"<p>next: <b>nothing</b></p>{rows({name: values[name] for name in names})}"


def picture(name: str, text: str, height: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(text, encoding="utf-8")
        subprocess.run(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={folder}/profile", f"--window-size=1100,{height}", f"--screenshot={HERE / name}.png",
                source.as_uri(),
            ],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


async def main(url: str) -> None:
    async with get_client(url=url, api_key=None) as client:
        (assistant,) = await client.assistants.search(graph_id="dragoman")
        drawn = await client.assistants.get_graph(assistant["assistant_id"])
        picture("graph", page("The graph dragoman", f"GET {url}/assistants/…/graph", graph(drawn)), 720)
        thread = (await client.threads.create())["thread_id"]
        where = f"GET {url}/threads/{thread}/state"
        await client.runs.wait(thread, "dragoman", input={"request": REQUEST})
        picture(
            "approval",
            page("A thread that waits for approval", where, paused(await client.threads.get_state(thread))),
            780,
        )
        await client.runs.wait(thread, "dragoman", command={"resume": "approve"})
        while (state := await client.threads.get_state(thread))["next"]:
            await asyncio.sleep(0.5)
        picture("finished", page("The same thread, finished", where, finished(state)), 500)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
