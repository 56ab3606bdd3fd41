"""How a command is run at one site: what is put before it and around it, fixed when the site is asked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.model import Model
from dragoman.request import EnvironmentVariable, Line

__all__ = ["LauncherName", "RunPlan"]

LauncherName = Literal["srun", "flux run", "mpiexec", "mpirun", "ibrun", "jsrun", "lrun", "aprun", "none"]
"""What starts the tasks of a job; `none`: nothing does, commands are run once."""

ShellLine = Annotated[str, Field(max_length=8192, pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")]


class RunPlan(Model):
    """One site's way to run the command. What a person approves is this, and this is what the job runs.

    Its text is made by `providers.command_body.plan_body`.
    """

    setup: tuple[ShellLine, ...] = ()
    """Shell lines that load the software, in order."""
    prepare: tuple[str, ...] = ()
    """Commands of a recipe that run before the main one, as quoted shell lines; the job ends where one fails."""
    before: tuple[str, ...] = ()
    """Shell words put before the command, quoted already: the launcher with its options, then the container."""
    command: tuple[str, ...] = ()
    """Program and arguments, as they were given or as the recipe makes them; never changed by what stands before."""
    finish: tuple[str, ...] = ()
    """Commands of a recipe that run after the main one has succeeded, as quoted shell lines."""
    environment: tuple[EnvironmentVariable, ...] = ()
    """Variables besides those of the request, such as OMP_NUM_THREADS."""
    image: Line | None = None
    """Container image, where the scheduler itself runs containers."""
    recipe: str = ""
    """The recipe that was followed and where it lies; empty: none."""
    notes: tuple[str, ...] = ()
    """What was put around the command and why, for the person who approves."""
    problem: str = Field(default="", max_length=1000)
    """Why there is no command here; the work cannot be handed to the scheduler."""
