"""Why a container runtime does not work now, by its own message: the first word says whose matter it is."""

from __future__ import annotations

import re

from dragoman.command import Completed
from providers.probes.base import brief

__all__ = ["blame"]

# Permission first: the message of a refused socket may end in "Is the docker daemon running?" too.
_CLASSES = (
    ("permission", r"permission denied|operation not permitted.{0,300}sock|not in the docker group|EACCES"),
    ("subuid", r"no subuid ranges|no subgid ranges|subuid|subgid|newuidmap|newgidmap|insufficient uids?"),
    ("user-namespaces", r"user ?namespaces?|max_user_namespaces|unprivileged_userns|clone\(?\)?:.{0,300}not permitted"
                        r"|failed to create.{0,300}namespace|can't init user\+mount namespaces"),
    ("daemon-down", r"cannot connect to|is the docker daemon running|connection refused"
                    r"|no such file or directory.{0,300}sock"
                    r"|sock.{0,300}no such file or directory|unable to connect|connect: no route|i/o timeout"
                    r"|failed to (?:connect|contact).{0,300}gateway|gateway.{0,300}(?:down|unreachable)"),
    ("version-mismatch", r"client version \S+ is too (?:new|old)|server API version"),
    ("setuid", r"must be owned by root|setuid|suid bit|not owned by root"),
    ("storage", r"no space left|read-only file system|disk quota"),
)  # fmt: skip
_WARNING = re.compile(r"\s*(?:time=\S+\s+)?(?:\[?warn(?:ing)?\b|level=warn)", re.IGNORECASE)
"""After which a program goes on: it says nothing of why it ended."""
_COMPILED = tuple((word, re.compile(pattern, re.IGNORECASE)) for word, pattern in _CLASSES)


def blame(said: Completed | str) -> str | None:
    """`daemon-down: ...` and the like; None where the message shows no reason why it could not work."""
    whole = said if isinstance(said, str) else f"{said.err}\n{said.out}"
    text = "\n".join(line for line in whole.splitlines() if not _WARNING.match(line))
    for word, pattern in _COMPILED:
        if pattern.search(text):
            lines = [line for line in text.splitlines() if pattern.search(line)]
            return f"{word}: {brief(lines[0] if lines else text)}"
    return None
