"""A command line in a process of its own, forked from one that has imported the program and read a request.

Starting Python and importing takes longer than most commands do. What is started with `Dragoman.start`, in a terminal,
or to be killed, starts from nothing.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import interfaces.cli
import providers.registry
from graph.reading.read import read_request
from interfaces.cli.main import main

__all__ = ["run_forked"]

read_request("2 nodes for 1 hour: ./x, needs a.dat", now=datetime.now(UTC), time_zone="UTC")
for module in pkgutil.iter_modules(interfaces.cli.__path__, "interfaces.cli."):
    importlib.import_module(module.name)
for registry in (providers.registry.dialects, providers.registry.probes, providers.registry.transports):
    registry.names()


def run_forked(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], files: Sequence[Path], timeout: float
) -> int:
    """The exit code of `dragoman` with these arguments.

    Args:
        arguments: behind the program's name.
        folder: where it runs.
        environment: all of it.
        files: what it reads, where it prints, and where it prints errors.
        timeout: seconds.

    Raises:
        TimeoutError: if it has not ended by then; it is killed.

    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=_be_dragoman, args=([*arguments], folder, dict(environment), [*files]))
    process.start()
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"dragoman {' '.join(arguments)}: no end within {timeout} s")
    return process.exitcode


def _be_dragoman(arguments: list[str], folder: Path, environment: dict[str, str], files: list[Path]) -> None:
    os.chdir(folder)
    os.environ.clear()  # noqa: TID251  # a new process has only what it is given
    os.environ.update(environment)  # noqa: TID251
    time.tzset()
    for number, (file, flags) in enumerate(zip(files, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
        os.dup2(os.open(file, flags), number)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))  # noqa: PTH123, SIM115
    sys.argv = ["dragoman", *arguments]
    main()
