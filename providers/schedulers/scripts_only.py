"""Schedulers that no site runs any more, or that stand behind another: their scripts are read, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.job import JobRef, JobSpec
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers, SubmitAnswer
from providers.schedulers.base import BaseDialect

__all__ = ["ScriptsOnly"]


class ScriptsOnly(BaseDialect):
    """Refuses every verb but `read_script`; what would read an answer says that there is none to be had."""

    only_scripts: ClassVar[bool] = True

    def _refuse(self) -> NoReturn:
        raise BadRequest(
            f"Dragoman reads scripts of {self.name} and runs nothing there",
            where="scheduler",
            cure="name the scheduler that the site runs now; the script can be handed in for it",
        )

    def render(self, spec: JobSpec) -> str:
        """Refused."""
        self._refuse()

    def submit_command(self, spec: JobSpec, script_path: str, *, without: Sequence[str] = ()) -> Command:
        """Refused."""
        self._refuse()

    def parse_submit(self, done: Completed) -> SubmitAnswer:
        """Refused."""
        self._refuse()

    def status_commands(self, refs: Sequence[JobRef]) -> list[Command]:
        """Refused."""
        self._refuse()

    def parse_status(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Nothing is known."""
        return JobAnswers(jobs={}, trouble=f"{self.name} is not asked about jobs")

    def cancel_command(self, ref: JobRef) -> Command:
        """Refused."""
        self._refuse()

    def parse_cancel(self, done: Completed) -> Answer[JobRef]:
        """Nothing is known."""
        return Answer[JobRef].unknown(f"{self.name} is not asked about jobs")
