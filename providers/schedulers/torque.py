"""Torque, versions 2.5 to 6.1, with Maui or Moab beside it.

There is no history that a user can ask: a job that has ended is shown for a while (`keep_completed`, state C), then its
own exit record has to do. `qstat -x` is XML here and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Self

from dragoman.job import JobState
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.pbs_family import PbsFamily
from providers.schedulers.pbs_tables import TORQUE_EXITS, TORQUE_STATES
from providers.schedulers.pbs_words import TORQUE_WORDS
from providers.schedulers.script_words import ScriptWords
from providers.schedulers.torque_script import TORQUE_TABLE

__all__ = ["TorqueDialect"]


@register_dialect("torque")
class TorqueDialect(PbsFamily):
    """The dialect of Torque."""

    name = "torque"
    script_words: ClassVar[ScriptWords | None] = TORQUE_WORDS
    states: ClassVar[Mapping[str, JobState]] = TORQUE_STATES
    exits: ClassVar[Mapping[int, tuple[str, JobState]]] = TORQUE_EXITS
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        # A server may be told to leave its name out (display_job_server_suffix).
        r"^\s*(?P<id>\d{1,12}(?:\[\])?(?:\.[A-Za-z0-9][\w.-]{0,254})?)\.?\s*$",
        re.ASCII,
    )
    task_variable: ClassVar[str] = "PBS_ARRAYID"
    table = TORQUE_TABLE
    refused: ClassVar[Mapping[str, str]] = {"file_systems": "delete it: Torque has no declaration of them"}

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """With the user that the site's file names."""
        return cls(user=site.transport.user)
