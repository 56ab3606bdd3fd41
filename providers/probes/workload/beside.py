"""Workload managers beside the one that the site file names, told apart by their own words and never by a command's.

Only whether their commands are there is asked, all of them by the same questions, so that many cost no more than one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dragoman.facts import Presence
from dragoman.observation import Answer
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, presence, question
from providers.probes.workload.frame import WorkloadProbe
from providers.schedulers.identify import MANAGERS, managers_found, questions_of
from providers.verbs import NoArguments

__all__ = ["manager_probes"]

_SHARED, _SHARING = frozenset({"qstat"}), frozenset({"cobalt", "pbs", "sge", "slurm", "torque"})
"""A command of many managers: where one of them is shown to be here, its refusal shows nothing of another."""
_NUMBER = re.compile(r"(?<!\d)(?:\d+(?:\.\d+)+\w*|\d+\.\w+)")


def manager_probes(scheduler: str, known: tuple[str, ...], off: Iterable[str] = ()) -> tuple[Probe, ...]:
    """A probe for each manager that can be told apart, but those that the site is asked about already.

    Args:
        scheduler: the one that the site file names.
        known: names of others that have a probe of their own.
        off: what the site file switches off: what only those would be asked is asked for no other one either.

    """
    silent = {name for name in MANAGERS if {f"workload/{name}", f"workload/{name}.probe"} & set(off)}
    asked = tuple(
        argv for argv in questions_of() if any(argv in questions_of(name) for name in MANAGERS if name not in silent)
    )
    return tuple(_ManagerProbe(name, scheduler, asked) for name in MANAGERS if name not in {scheduler, *known})


class _ManagerProbe(WorkloadProbe):
    """One of them: `probe` is all that can be asked."""

    name = "manager"

    def __init__(self, manager: str, scheduler: str, asked: tuple[tuple[str, ...], ...]) -> None:
        self.name = manager  # type: ignore[misc]  # one class for all of them
        self._scheduler = scheduler
        self._asked = asked
        self.verbs = (presence(self._ask, self._parse),)  # type: ignore[misc]

    def _ask(self, _: NoArguments, paths: Paths) -> Ask:
        return Ask(commands={" ".join(argv): question(*argv) for argv in self._asked})

    def _parse(self, _: NoArguments, results: Results) -> Answer[Presence] | Ask:
        found = managers_found([results.commands.get(" ".join(argv), KeyError()) for argv in questions_of()])
        name = " ".join(questions_of(self.name)[0])
        said = results.whole(name)
        if self.name in found and said is not None:
            version = _NUMBER.search(f"{said.out}\n{said.err}")
            return Answer[Presence].ok(
                Presence(version=version[0] if version else None, path=said.argv[0], detail=self._words())
            )
        trouble = no_answer(results, name)
        if trouble is not None:
            return trouble
        if said is not None and said.rc != 0 and not (said.argv[0] in _SHARED and set(found) & _SHARING):
            return Answer[Presence].unknown(brief(said))
        return Answer[Presence].absent(f"no command here says that it is of {self.name}")

    def _words(self) -> str:
        if set(questions_of(self.name)) & set(questions_of(self._scheduler)):
            return f"its commands have the names of those of {self._scheduler}, which the site file names"
        return "its commands are here; the site file names another scheduler, so nothing more was asked of it"
