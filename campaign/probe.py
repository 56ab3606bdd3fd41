"""Where faults strike: a process's objects are wrapped at its composition, so that product code knows nothing of it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from dragoman.errors import TransportError
from dragoman.model import now

__all__ = ["Probe", "hook"]


class Probe:
    """Counts how often a process comes to each step, and tells the director when its fault is due.

    The call that tells blocks the whole process on purpose: the director strikes while it stands at exactly this step.

    Args:
        fault: what this process is to meet; None: nothing.
        control: the director's socket.

    """

    def __init__(self, fault: dict[str, Any] | None, control: str) -> None:
        self.fault = fault
        self.control = control
        self.hits = 0
        self.shift = timedelta(0)
        self.lose = 0

    def now(self) -> datetime:
        """The clock of this process."""
        return now() + self.shift

    def at(self, step: str, phase: str, about: str = "") -> None:
        """Come to a step."""
        fault = self.fault
        if fault is None or fault["step"] != step or fault["phase"] != phase:
            return
        self.hits += 1
        if self.hits < fault["nth"]:
            return
        self.fault, self.hits = None, 0
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.connect(self.control)
            link.sendall(json.dumps({"pid": os.getpid(), "fault": fault["number"], "about": about}).encode() + b"\n")
            answer = json.loads(link.makefile().readline() or "{}")
        self.fault = answer.get("next")
        self.shift += timedelta(seconds=answer.get("jump", 0))
        self.lose = int(answer.get("lose", 0))

    def lost(self) -> None:
        """Lose the answer of the site, where that is the fault."""
        if self.lose:
            self.lose -= 1
            raise TransportError("the connection was lost", where="campaign", cure="look again")


def hook(target: Any, method: str, step: Callable[..., str | None], probe: Probe) -> None:  # noqa: ANN401
    """Wrap a coroutine method of one object: the step comes before and after it.

    Args:
        target: the object.
        method: its method.
        step: names the step from the call's arguments; None: this call is none.
        probe: of this process.

    """
    inner = getattr(target, method)

    @wraps(inner)
    async def hooked(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        name = step(*arguments, **named)
        if name is None:
            return await inner(*arguments, **named)
        about = next((each for each in arguments if isinstance(each, str)), "") or next(
            (str(each.thread_id) for each in arguments if hasattr(each, "thread_id")), ""
        )
        probe.at(name, "before", about)
        result = await inner(*arguments, **named)
        probe.at(name, "after", about)
        return result

    setattr(target, method, hooked)
