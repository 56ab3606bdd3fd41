"""Makes many requests in one process, runs their threads on, and keeps a document of each up to date.

As the account that submits: `desk.py FOLDER`. `FOLDER/requests.json` maps names to requests, and
`FOLDER/documents/NAME.json` is what `dragoman show --json` would print. It ends when `FOLDER/stop` is there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio

from graph.state import Options
from interfaces.app import App, open_app
from interfaces.documents import thread_document
from interfaces.requests import take_request


async def keep_documents(app: App, folder: Path, threads: dict[str, str]) -> None:
    documents = anyio.Path(folder / "documents")
    await documents.mkdir(exist_ok=True)
    while not await anyio.Path(folder / "stop").exists():
        for name, thread_id in list(threads.items()):
            row = await app.checkpoints.ledger.thread(thread_id)
            assert row is not None
            if row.status == "done":
                del threads[name]  # this is its last document
            text = json.dumps(await thread_document(app, row))
            await (documents / f"{name}.new").write_text(text)
            await (documents / f"{name}.new").rename(documents / f"{name}.json")
        await anyio.sleep(0.3)


async def main(folder: Path) -> None:
    requests = json.loads(await anyio.Path(folder / "requests.json").read_text())
    options = Options(approve="auto", base_dir=str(folder))
    async with open_app() as app:
        await app.checkpoints.ready()
        threads = {}
        for name, request in requests.items():
            row, _ = await take_request(app, request if isinstance(request, str) else json.dumps(request), options)
            threads[name] = row.thread_id
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: app.service.run(idle_s=0.2))
            await keep_documents(app, folder, threads)
            group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
