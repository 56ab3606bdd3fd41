"""The site at hand: commands and files of this host, under this process's own user."""

from __future__ import annotations

import errno
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import anyio
import anyio.abc
import anyio.to_thread
import psutil

from dragoman.command import Command, Completed, FileStat, Told
from dragoman.errors import BadRequest, CommandMissing, CommandTimeout, DragomanError, FileMissing, TransportError
from dragoman.settings import command_environment
from providers.registry import register_transport
from providers.transports import local_files
from providers.transports.own_user import own_user
from providers.transports.pipes import Pipes
from providers.transports.remote_script import PATIENCE_S, encodable
from providers.transports.surroundings import surroundings

__all__ = ["LocalTransport", "apply_environment", "is_missing"]

T = TypeVar("T")

NOT_RUNNABLE = {
    errno.EACCES: "Permission denied",
    errno.ENOEXEC: "Exec format error",
    errno.E2BIG: "Argument list too long",
}


@register_transport("local")
class LocalTransport:
    """Runs commands on this host.

    Every command gets a session of its own, so that it cannot ask at the terminal, and a time-out or a cancelled task
    ends it with all it started. What a command leaves behind on purpose (a daemon) is not waited for and not ended.

    Args:
        environment: what commands inherit; None: this process's own, without Dragoman's settings and secrets.
        at_once: commands of one `run_many` that run side by side.
        file_timeout_s: a file that is not read or written by then (a dead network mount) is no answer.

    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, *, at_once: int = 8, file_timeout_s: float = 60.0
    ) -> None:
        self._environment = dict(command_environment() if environment is None else environment)
        self._at_once = at_once
        self._file_timeout_s = file_timeout_s
        self._identity = f"{own_user()}@{socket.gethostname()}"

    @property
    def identity(self) -> str:
        """`user@host` of this process."""
        return self._identity

    @property
    def surroundings(self) -> str:
        """Digest of what answers here depend on besides site and user: see `providers.transports.surroundings`."""
        return surroundings(self._environment)

    @property
    def local(self) -> bool:
        """Yes: paths are paths of this host."""
        return True

    async def run(self, command: Command) -> Completed:
        """Run one command to its end.

        A file that is there but cannot be executed, or whose interpreter is gone, gives exit code 126 and the reason on
        stderr, as a shell would.

        Raises:
            BadRequest: an argument holds what none can (NUL, half a surrogate pair), or there is no argument.
            CommandMissing: there is no such command.
            TransportError: it cannot be started, or the PATH leads nowhere.
            FileMissing: there is no folder `cwd`.
            CommandTimeout: no end within `timeout_s`; it and everything it started were killed.

        """
        _check(command)
        begun = time.monotonic()
        process: anyio.abc.Process | None = None
        with Pipes(with_input=bool(command.stdin), limit=command.max_output_bytes) as pipes:
            try:
                with anyio.fail_after(command.timeout_s):
                    process = await self._spawn(command, pipes)
                    pipes.close_far_ends()
                    rc = await pipes.until_end(process, command.stdin)
            except TimeoutError:
                raise CommandTimeout(
                    f"no end within {command.timeout_s:g} s",
                    where=command.argv[0],
                    cure="try again, or allow more time",
                ) from None
            except _NotRunnable as error:
                words = f"{command.argv[0]}: {error.words}\n".encode()
                return Completed(command.argv, 126, b"", words, time.monotonic() - begun)
            finally:
                if process is not None and process.returncode is None:
                    with anyio.CancelScope(shield=True):
                        await anyio.to_thread.run_sync(_kill_tree, process.pid)
                        await process.wait()
        return Completed(
            argv=command.argv,
            rc=rc if rc >= 0 else 128 - rc,
            stdout=bytes(pipes.output.data),
            stderr=bytes(pipes.errors.data),
            seconds=time.monotonic() - begun,
            truncated=pipes.output.truncated or pipes.errors.truncated,
        )

    async def _spawn(self, command: Command, pipes: Pipes) -> anyio.abc.Process:
        environment = apply_environment(self._environment, command)
        if command.cwd is None and is_missing(command.argv[0], environment):
            raise _missing(command.argv[0], environment)
        try:
            return await anyio.open_process(
                command.argv,
                stdin=pipes.far_input,
                stdout=pipes.far_output,
                stderr=pipes.far_errors,
                cwd=command.cwd,
                env=environment,
                start_new_session=True,
            )
        except (FileNotFoundError, NotADirectoryError) as error:
            if command.cwd is not None and not await self._in_thread(lambda: os.path.isdir(command.cwd or ".")):  # noqa: PTH112
                raise FileMissing("there is no such folder", where=command.cwd, cure="create it first") from error
            program = command.argv[0]
            if await self._in_thread(lambda: _lies_there(program, command.cwd, environment), program):
                raise _NotRunnable("bad interpreter: No such file or directory") from error
            raise _missing(program, environment) from error
        except OSError as error:
            if error.errno in NOT_RUNNABLE:
                raise _NotRunnable(NOT_RUNNABLE[error.errno]) from error
            raise TransportError(
                f"the command cannot be started: {error.strerror}", where=command.argv[0], cure="try again later"
            ) from error

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        """Run commands side by side, at most `at_once`, not counting those that take long; answers in their order."""
        answers: list[Completed | Exception] = [TransportError("was not run")] * len(commands)
        limit = anyio.Semaphore(self._at_once)

        async def one(index: int, command: Command) -> None:
            async with _turn(limit):
                try:
                    answers[index] = await self.run(command)
                except DragomanError as error:
                    answers[index] = error
            if told is not None:
                told(index, answers[index])

        async with anyio.create_task_group() as group:
            for index, command in enumerate(commands):
                group.start_soon(one, index, command)
        return answers

    async def read_file(self, path: str, *, max_bytes: int = 16 * 2**20, tail: bool = False) -> bytes:
        """The first or last bytes of a regular file.

        Raises:
            FileMissing: there is none.
            TransportError: it cannot be read (no permission, no regular file, no answer from its file system).

        """
        return await self._in_thread(lambda: local_files.read(path, max_bytes, tail=tail), path)

    async def write_file(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a whole file atomically and durably; parents are made.

        Raises:
            StorageFull: no room or quota; nothing was changed.
            TransportError: it cannot be written, or a folder, pipe or device is there.

        """
        await self._in_thread(lambda: local_files.write(path, data, mode), path)

    async def stat(self, path: str) -> FileStat | None:
        """What lies at a path, without following links; None where nothing does."""
        return await self._in_thread(lambda: local_files.stat(path), path)

    async def aclose(self) -> None:
        """Nothing is kept open."""

    async def _in_thread(self, work: Callable[[], T], path: str = "") -> T:
        try:
            with anyio.fail_after(self._file_timeout_s):
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            raise TransportError(
                f"the file system did not answer within {self._file_timeout_s:g} s",
                where=path,
                cure="look at its mount",
            ) from None


@asynccontextmanager
async def _turn(limit: anyio.Semaphore) -> AsyncIterator[None]:
    """One place among those that run at once; given up after a second, so that what hangs keeps nobody waiting."""
    await limit.acquire()
    held = [limit]

    def release() -> None:
        if held:
            held.pop().release()

    async def give_up() -> None:
        await anyio.sleep(PATIENCE_S)
        release()

    async with anyio.create_task_group() as group:
        group.start_soon(give_up)
        try:
            yield
        finally:
            release()
            group.cancel_scope.cancel()


class _NotRunnable(Exception):
    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


def is_missing(program: str, environment: Mapping[str, str]) -> bool:
    """Whether no folder of the PATH has a file of that name; starting a process only to see that takes far longer.

    False where it is not certain: a path, a relative folder, or one that cannot be looked into; then the start tells.
    """
    if "/" in program:
        return False
    for folder in os.get_exec_path(environment):
        if not folder.startswith("/"):
            return False
        try:
            os.stat(f"{folder}/{program}")  # noqa: PTH116  # once for each folder: a Path takes as long as the look
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            pass
        return False
    return True


def _missing(program: str, environment: Mapping[str, str]) -> DragomanError:
    """There is no such command; along a PATH that leads nowhere nothing at all is found, and that shows nothing."""
    if "/" not in program and not any(map(os.path.isdir, os.get_exec_path(environment))):
        return TransportError("the PATH names no folder that is there", where=program, cure="mend the PATH")
    return CommandMissing("there is no such command here", where=program, cure="install it, or mend the PATH")


def _lies_there(program: str, cwd: str | None, environment: Mapping[str, str]) -> bool:
    """Whether there is a file to execute after all: what its first line names is missing then (execve(2), ENOENT)."""
    folders = [""] if "/" in program else os.get_exec_path(environment)
    places = [os.path.join(cwd or "", folder, program) for folder in folders]  # noqa: PTH118  # as it is looked for
    return any(os.path.isfile(place) and os.access(place, os.X_OK) for place in places)  # noqa: PTH113


def apply_environment(base: Mapping[str, str], command: Command) -> dict[str, str]:
    """The environment of a command: the base without `unset` (a trailing `*` is a pattern), then `environment`."""
    exact = {name for name in command.unset if not name.endswith("*")}
    begins = tuple(name[:-1] for name in command.unset if name.endswith("*"))
    kept = {name: value for name, value in base.items() if name not in exact and not name.startswith(begins)}
    return {**kept, **command.environment}


def _check(command: Command) -> None:
    if not command.argv or not command.argv[0]:
        raise BadRequest("there is no command to run", where="argv", cure="name a program")
    texts = (*command.argv, command.cwd or "", *command.environment, *command.environment.values())
    if any("\0" in text for text in texts) or any("=" in name for name in command.environment):
        raise BadRequest("a NUL character, or '=' in a variable's name", where=command.argv[0], cure="remove it")
    for text in texts:
        if not encodable(text):
            raise BadRequest("a character that no argument can hold", where=ascii(text[:80]), cure="remove it")


def _kill_tree(pid: int) -> None:
    """Kill a command, its process group, and descendants that moved to a session of their own."""
    tree: list[psutil.Process] = []
    with suppress(psutil.Error):
        tree = psutil.Process(pid).children(recursive=True)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for process in tree:
        with suppress(psutil.Error):
            process.kill()
