"""The language of `queue_program`: that of `machine`, but a second submit is a second job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from dragoman.command import Command
from dragoman.job import JobSpec
from providers.schedulers.machine import PYTHON_OPTIONS, RUNNER_PATH, Machine

__all__ = ["CampaignQueue"]

PROGRAM = Path(__file__).with_name("queue_program.py")


class CampaignQueue(Machine):
    """The queue of one campaign.

    Args:
        state: its folder.
        own_run_claim: leave out the job's claim of its attempt (a broken guard).

    """

    name = "campaign"

    def __init__(self, state: str, *, own_run_claim: bool = False) -> None:
        super().__init__(state=state)
        self.folder = state
        self.own_run_claim = own_run_claim

    def render(self, spec: JobSpec) -> str:
        """As `machine`; with the broken guard each job claims a place of its own."""
        script = super().render(spec)
        return script.replace("run/owner", "run/owner.$dgm_job") if self.own_run_claim else script

    def _program(self, *words: str) -> tuple[str, ...]:
        return (sys.executable, *PYTHON_OPTIONS, str(PROGRAM), str(RUNNER_PATH), self.folder, *words)

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """Each time a new job."""
        return self.act(*self._program("submit", spec.tag, script_path))

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """The job that was submitted for an attempt."""
        return [self.ask(*self._program("find", tag))]
