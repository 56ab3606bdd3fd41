"""Resuming through a LangGraph server that owns the thread, so that no thread has two masters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError, LangGraphError, NotFoundError

from continuation.engine import Engine
from dragoman.errors import DragomanError, TransportError
from dragoman.ledger import Ledger
from dragoman.model import JsonObject
from dragoman.protocols import Progress

__all__ = ["AnyResumer", "ApiResumer"]


class ApiResumer:
    """Continues threads of master `api` with the stock client.

    Args:
        ledger: where the waits' events are.
        url: the server.
        assistant: the graph's name in its `langgraph.json`.

    """

    def __init__(self, ledger: Ledger, url: str, assistant: str = "dragoman") -> None:
        self.ledger = ledger
        self.url = url
        self.assistant = assistant
        self._client: LangGraphClient | None = None

    async def resume(self, thread_id: str, progress: Progress | None = None) -> bool:
        """Answer the pending interrupt with its wait's event. False: nothing to answer, or a run is under way there.

        Raises:
            TransportError: when the server does not answer, or does not know the thread.

        """
        client = self._client or get_client(url=self.url, api_key=None)
        self._client = client
        try:
            state = await client.threads.get_state(thread_id)
            answers = await self._answers(_interrupts(dict(state)))
            if not answers:
                return False
            await client.runs.create(
                thread_id,
                self.assistant,
                command={"resume": answers},
                # Whatever runs there now may be the answer to the same event.
                multitask_strategy="reject",
                durability="sync",
            )
        except ConflictError:
            return False
        except NotFoundError as error:
            raise TransportError(
                "the LangGraph server there does not know the thread",
                where=self.url,
                cure="set DRAGOMAN_API_URL to the server that began it; `langgraph dev` keeps its threads in the "
                "`.langgraph_api` of the folder it was started in",
            ) from error
        except (httpx.HTTPError, LangGraphError, ValueError, TypeError) as error:  # the last two: it is no such server
            raise TransportError(
                f"the LangGraph server gave no answer: {error}",
                where=self.url,
                cure="start it, or set DRAGOMAN_API_URL",
            ) from error
        return True

    async def _answers(self, interrupts: list[dict[str, Any]]) -> dict[str, JsonObject]:
        """What to resume: interrupt ids, and the event of each one's wait: a wish to cancel first, else the oldest."""
        answers: dict[str, JsonObject] = {}
        for interrupt in interrupts:
            value = interrupt.get("value")
            wait_id = value.get("wait_id") if isinstance(value, dict) else None
            events = await self.ledger.events(str(wait_id)) if wait_id else []
            if not events:
                continue
            event = next((each for each in events if each.kind == "cancel"), events[0])
            answer = {**event.payload, "event": event.kind, "by": event.payload.get("by") or event.by}
            if event.kind == "cancel":
                answer["cancel"] = True
            answers[interrupt["id"]] = answer
        return answers

    async def aclose(self) -> None:
        """Close the connections to the server."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _interrupts(state: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = list(state.get("interrupts") or [])
    for task in state.get("tasks") or []:
        found += [each for each in task.get("interrupts") or [] if each not in found]
    return [each for each in found if each.get("id")]


class AnyResumer:
    """Takes each thread to the resumer of its master.

    Args:
        ledger: tells a thread's master.
        direct: our own engine.
        api: the way to a LangGraph server.

    """

    def __init__(self, ledger: Ledger, direct: Engine, api: ApiResumer) -> None:
        self.ledger = ledger
        self.ways: dict[str, Callable[[str, Progress | None], Awaitable[bool]]] = {
            "direct": direct.resume,
            "api": api.resume,
        }

    async def resume(self, thread_id: str, progress: Progress | None = None) -> bool:
        """Continue a thread through its one master. False: not now."""
        row = await self.ledger.thread(thread_id)
        if row is None:
            raise DragomanError("no such thread", where=thread_id)
        return await self.ways[row.master](thread_id, progress)
