"""Which files a job left that are to be brought back."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import anyio
from pydantic import TypeAdapter, ValidationError

from dragoman.command import Command, Completed
from dragoman.errors import TransportError
from dragoman.protocols import Transport
from dragoman.request import OutputFile, RelativeName

__all__ = ["FoundOutputs", "find_logs", "find_outputs", "logs_among"]

_NAME: TypeAdapter[str] = TypeAdapter(RelativeName)
_LOG = re.compile(r"(stdout|stderr)\.log(?:\.(\d+))?", re.ASCII)
"""What a job printed; each task of an array has its own, named by its index."""


@dataclass(frozen=True, slots=True)
class FoundOutputs:
    """Names relative to the job's folder."""

    names: tuple[str, ...]
    missing: tuple[str, ...] = ()
    """Required patterns that nothing matched."""
    left: tuple[str, ...] = field(default=())
    """Names that are not brought back because they cannot be used safely (control characters, no UTF-8)."""


async def find_outputs(
    transport: Transport, work_dir: str, outputs: Sequence[OutputFile], *, staged: Collection[str], latency_s: float
) -> FoundOutputs:
    """List the job's folder and match it; links are not followed, and staged inputs are not results.

    Without stated outputs, everything that the job left is a result. A required one that is not to be seen is looked
    for again for `latency_s`, because network file systems show new files late.

    Raises:
        TransportError: when the folder could not be listed.

    """
    deadline = anyio.current_time() + latency_s
    wait = 0.25
    while True:
        names, left = await _list(transport, work_dir)
        found = _match(names, left, outputs, staged)
        if not found.missing or anyio.current_time() + wait > deadline:
            return found
        await anyio.sleep(wait)
        wait = min(wait * 2, 15.0)


def logs_among(names: Iterable[str]) -> tuple[str, ...]:
    """Those that hold what a job printed: task after task of an array, and of each stdout first."""
    found = [match for name in names if (match := _LOG.fullmatch(name)) is not None]
    return tuple(each[0] for each in sorted(found, key=lambda each: (int(each[2] or -1), each[1] != "stdout")))


async def find_logs(transport: Transport, work_dir: str) -> tuple[str, ...]:
    """Names of the files in the job's folder that hold what it printed so far; empty where there is no folder.

    Raises:
        TransportError: when the folder could not be listed.

    """
    if await transport.stat(work_dir) is None:
        return ()
    command = ("find", "-P", ".", "-maxdepth", "1", "-type", "f", "-name", "std*.log*", "-print0")
    done = await transport.run(Command(command, cwd=work_dir, timeout_s=120))
    if done.rc != 0 or done.truncated:
        raise _unlisted(done, work_dir)
    return logs_among(raw.decode("utf-8", "replace").removeprefix("./") for raw in done.stdout.split(b"\0"))


def _unlisted(done: Completed, work_dir: str) -> TransportError:
    return TransportError(
        f"the job's folder could not be listed: {done.err.strip()[:300] or 'too many files'}", where=work_dir
    )


async def _list(transport: Transport, work_dir: str) -> tuple[list[str], list[str]]:
    done = await transport.run(Command(("find", "-P", ".", "-type", "f", "-print0"), cwd=work_dir, timeout_s=120))
    if done.rc != 0 or done.truncated:
        raise _unlisted(done, work_dir)
    names: list[str] = []
    left: list[str] = []
    for raw in done.stdout.split(b"\0"):
        if not raw:
            continue
        try:
            names.append(_NAME.validate_python(raw.decode("utf-8").removeprefix("./")))
        except (ValidationError, UnicodeDecodeError):
            left.append(raw.decode("utf-8", "replace").removeprefix("./"))
    return sorted(names), sorted(left)


def _match(
    names: Sequence[str], left: Sequence[str], outputs: Sequence[OutputFile], staged: Collection[str]
) -> FoundOutputs:
    if not outputs:
        return FoundOutputs(tuple(name for name in names if name not in staged), left=tuple(left))
    chosen = {name for name in names if _LOG.fullmatch(name)}
    missing: list[str] = []
    for output in outputs:
        matched = [name for name in names if name == output.pattern or fnmatchcase(name, output.pattern)]
        matched += [name for name in names if name.startswith(f"{output.pattern.rstrip('/')}/")]
        chosen.update(matched)
        if not matched and output.required:
            missing.append(output.pattern)
    return FoundOutputs(tuple(sorted(chosen)), tuple(missing), tuple(left))
