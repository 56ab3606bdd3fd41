"""What probes of workload managers share: the manager is looked for by its own words, and asked only where it is.

One snapshot answers `resources`, `partitions`, `nodes` and `queue`, as it does for the managers that we run jobs on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.command import Command
from dragoman.facts import Accounts, Presence, Workload
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question, where_is
from providers.verbs import NoArguments, category_verbs
from providers.workload import part_of

__all__ = ["Manager", "WorkloadProbe", "reason_of", "workload_verbs"]


@dataclass(frozen=True, slots=True)
class Manager:
    """A workload manager: how it is known, and how it is asked. The readers are pure.

    `workload` and `accounts` give commands by names of the manager's own choice; the readers are called once all of
    these have come back, whatever came of them.
    """

    title: str
    """Its name, for reasons."""
    key: str
    """Its name in `paths` of the site file."""
    program: str
    """The command that only this manager has."""
    options: tuple[str, ...]
    """That make it tell its version and nothing else."""
    version: str
    """A pattern whose first group finds the version in what it prints."""
    workload: Callable[[Paths], Mapping[str, Command]]
    read_workload: Callable[[Results], Answer[Workload]]
    accounts: Callable[[Paths], Mapping[str, Command]] | None = None
    read_accounts: Callable[[Results], Answer[Accounts]] | None = None
    no_accounts: str = ""
    """Why accounts are not told, where they are not."""
    not_it: str = "(?!)"
    """A pattern of what another manager's command of that name prints."""


def workload_verbs(manager: Manager) -> tuple[ProbeVerb[Any, Any], ...]:
    """All verbs of a workload manager."""

    def ask(_: Any, paths: Paths) -> Ask:  # noqa: ANN401  # each verb brings arguments of its own
        return Ask(commands={"version": question(where_is(manager.program, paths, key=manager.key), *manager.options)})

    def look(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
        return _presence(manager, results)

    def told(verb: str) -> Callable[[Any, Results], Answer[Any] | Ask]:
        def parse(_: Any, results: Results) -> Answer[Any] | Ask:  # noqa: ANN401
            seen = _presence(manager, results)
            if seen.value is None:
                return seen
            if verb == "estimate":
                return Answer[Any].unknown(f"{manager.title} is here, and is not asked for estimates")
            if verb == "accounts":
                return _accounts(manager, results)
            commands = manager.workload(results.paths)
            if not all(results.asked(name) for name in commands):
                return Ask(commands=commands)
            answer = manager.read_workload(results)
            if answer.value is None:
                return answer
            whole = answer.value.model_copy(update={"version": seen.value.version})
            return Answer[Any].ok(whole) if verb == "resources" else part_of(verb, whole)

        return parse

    others = category_verbs(Category.WORKLOAD, manager.key)[1:]
    return presence(ask, look), *(ProbeVerb(verb, ask, told(verb.name)) for verb in others)


def _presence(manager: Manager, results: Results) -> Answer[Presence]:
    trouble, done = no_answer(results, "version"), results.done("version")
    if trouble is not None or done is None:
        return trouble or Answer[Presence].unknown(f"{manager.program} was not asked")
    said = f"{done.out}\n{done.err}"
    if re.search(manager.not_it, said, re.IGNORECASE):
        return Answer[Presence].absent(f"`{manager.program}` here is not of {manager.title}: {brief(said, 80)}")
    found = re.search(manager.version, said, re.IGNORECASE)
    if found is None:
        return Answer[Presence].unknown(brief(done))
    return Answer[Presence].ok(Presence(version=found[1], path=done.argv[0]))


def _accounts(manager: Manager, results: Results) -> Answer[Any] | Ask:
    if manager.accounts is None or manager.read_accounts is None:
        return Answer[Any].unknown(manager.no_accounts or f"{manager.title} does not tell of accounts")
    commands = manager.accounts(results.paths)
    if not all(results.asked(name) for name in commands):
        return Ask(commands=commands)
    return manager.read_accounts(results)


def reason_of(results: Results, name: str) -> str:
    """Why a command's answer cannot be used; empty where it ran to its end with exit code 0."""
    trouble, done = no_answer(results, name), results.done(name)
    if trouble is not None or done is None:
        return trouble.reason if trouble else f"{name} was not asked"
    return brief(done) if done.rc != 0 else ""


class WorkloadProbe(Probe):
    """A workload manager on which we run no jobs."""

    category = Category.WORKLOAD
