"""OpenPBS and PBS Professional, versions 13 to 2024.

There is no dry run and no start estimate before a submit; a waiting job may have one (`estimated.start_time`). History
(`-x`) is there where the site keeps it (`job_history_enable`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Self

from dragoman.command import Command, Completed
from dragoman.job import JobRef, JobState
from dragoman.observation import Answer
from dragoman.protocols import JobAnswers
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.pbs_family import PbsFamily, checked_tag
from providers.schedulers.pbs_script import pbs_table
from providers.schedulers.pbs_tables import PBS_EXITS, PBS_STATES
from providers.schedulers.pbs_words import PBS_WORDS
from providers.schedulers.script_words import ScriptWords

__all__ = ["PbsDialect"]

_NO_HISTORY = re.compile(r"job_history_enable|history.{0,40}not (?:set|enabled)", re.IGNORECASE)


@register_dialect("pbs")
class PbsDialect(PbsFamily):
    """The dialect of PBS.

    Args:
        user: see `PbsFamily`.
        gpu_model: the site's resource that tells a node's GPU model, such as `gputype`; PBS has none of its own.

    """

    name = "pbs"
    script_words: ClassVar[ScriptWords | None] = PBS_WORDS
    states: ClassVar[Mapping[str, JobState]] = PBS_STATES
    exits: ClassVar[Mapping[int, tuple[str, JobState]]] = PBS_EXITS
    task_variable: ClassVar[str] = "PBS_ARRAY_INDEX"
    refused: ClassVar[Mapping[str, str]] = {"qos": "choose a queue instead"}
    node_options: ClassVar[tuple[str, ...]] = ("-v", "-a")  # without -v hosts with several vnodes are merged

    def __init__(self, user: str | None = None, gpu_model: str | None = None) -> None:
        super().__init__(user)
        self.table = pbs_table(gpu_model)

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """With the user and the GPU resource that the site's file names."""
        return cls(user=site.transport.user, gpu_model=site.gpu_model_resource)

    def history_commands(self, refs: Sequence[JobRef], since: datetime) -> list[Command]:
        """`qstat -x -f ID...`."""
        return self._qstat(refs, "-x")

    def parse_history(self, done: Completed, refs: Sequence[JobRef]) -> JobAnswers:
        """Jobs that the history shows; a site without one says so, and then nothing more can be learned there."""
        if done.rc != 0 and _NO_HISTORY.search(done.err):
            return JobAnswers(jobs={})
        answers = self._answers(done, refs, history=True)
        return JobAnswers(jobs=answers.jobs, trouble=answers.trouble)

    def find_commands(self, tag: str, since: datetime) -> list[Command]:
        """The queue, and queue with history: the first alone answers where the site keeps no history."""
        return [self.ask("qselect", "-N", checked_tag(tag)), self.ask("qselect", "-x", "-N", checked_tag(tag))]

    def parse_find(self, done: Completed, tag: str) -> Answer[JobRef]:
        """See `PbsFamily`; without a history there is nothing to look up in it."""
        if done.rc != 0 and _NO_HISTORY.search(done.err) and not self.in_doubt(done.err):
            return Answer[JobRef].absent("the site keeps no history of jobs")
        return super().parse_find(done, tag)
