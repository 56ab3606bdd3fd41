"""Whether a cluster can be used from here: a context that is configured is not yet a cluster that answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.command import Command, Completed
from dragoman.kleene import Truth
from providers.schedulers.base import NO_CONNECTION, one_line

__all__ = ["Access", "access_commands", "read_access"]


class Access(NamedTuple):
    """What three questions showed."""

    contexts: tuple[str, ...] | None
    """Names in the configuration; None: kubectl could not tell."""
    reachable: Truth
    namespaces: tuple[str, ...] | None
    """None: not known, perhaps because we may not list them."""
    reason: str = ""

    @property
    def configured(self) -> bool:
        """Whether there is a context at all."""
        return bool(self.contexts)


def access_commands(kubectl: Sequence[str] = ("kubectl",)) -> list[Command]:
    """Contexts, readiness of the server, namespaces."""
    questions = (
        ("config", "get-contexts", "-o", "name"),
        ("get", "--raw", "/readyz", "--request-timeout=10s"),
        ("get", "namespaces", "-o", "name", "--request-timeout=10s"),
    )
    return [Command((*kubectl, *question), timeout_s=30) for question in questions]


def read_access(contexts: Completed, ready: Completed, namespaces: Completed) -> Access:
    """Exit codes decide, never words in the output: a context may be called `mirror-error-lab`."""
    reachable, reason = Truth.UNKNOWN, one_line(ready.err)
    if ready.rc == 0:
        reachable, reason = Truth.YES, ""
    elif NO_CONNECTION.search(ready.err):
        reachable = Truth.NO
    elif re.search(r"Forbidden|Unauthorized|logged in", ready.err):
        # It answered, though not to us.
        reachable = Truth.YES
    listed = tuple(line.strip().removeprefix("namespace/") for line in namespaces.out.splitlines() if line.strip())
    return Access(
        contexts=tuple(line.strip() for line in contexts.out.splitlines() if line.strip())
        if contexts.rc == 0
        else None,
        reachable=reachable,
        namespaces=listed if namespaces.rc == 0 else None,
        reason=reason or (one_line(namespaces.err) if namespaces.rc else ""),
    )
