"""What of a site a command can be run with, as its observations tell: software, launcher, container runtime, GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Loaded", "Means", "Starter"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """One package and the shell lines that make it usable; none: it is on the PATH as it is."""

    words: str
    """Such as `lammps 20230802 by modules`."""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Starter:
    """What starts tasks."""

    program: str
    """`srun`, `flux run`, `mpiexec`, or a path."""
    implementation: str | None = None
    """Of the MPI library, for `mpirun` and `mpiexec`."""
    load: tuple[str, ...] = ()
    words: str = ""
    """Who says so: `the scheduler's own`, `openmpi 4.1.4 at /usr/bin`."""


@dataclass(frozen=True, slots=True)
class Means:
    """All of it, for one request at one site."""

    scheduler: str
    loaded: tuple[Loaded, ...] = ()
    starter: Starter | None = None
    no_starter: str = ""
    """Why there is none."""
    runtime: str | None = None
    """Provider name of the container runtime to use."""
    no_runtime: str = ""
    images: tuple[tuple[str, str], ...] = ()
    """Image files at the site: name and path."""
    vendor: Literal["nvidia", "amd", "intel"] | None = None
    """Of the GPUs that the job would get."""
