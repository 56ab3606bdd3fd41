"""Workload managers that are only told to be there: what else could be asked of them is unknown, with the reason."""

from __future__ import annotations

import re
from typing import Any

from dragoman.facts import Presence
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, brief, no_answer, presence, question, where_is
from providers.verbs import NoArguments, category_verbs

__all__ = ["WorkloadProbe", "presence_only"]


def presence_only(
    manager: str, key: str, program: str, *options: str, version: str, not_it: str = "(?!)"
) -> tuple[ProbeVerb[Any, Any], ...]:
    """All verbs of a workload manager, of which only `probe` is answered.

    Args:
        manager: its name, for reasons.
        key: its name in `paths` of the site file.
        program: the command that only this manager has.
        options: that make it tell its version and nothing else.
        version: a pattern whose first group finds the version in what it prints.
        not_it: a pattern of what another manager's command of that name prints.

    """

    def ask(_: Any, paths: Paths) -> Ask:  # noqa: ANN401  # each verb brings arguments of its own
        return Ask(commands={"version": question(where_is(program, paths, key=key), *options)})

    def look(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
        trouble, done = no_answer(results, "version"), results.done("version")
        if trouble is not None or done is None:
            return trouble or Answer[Presence].unknown(f"{program} was not asked")
        said = f"{done.out}\n{done.err}"
        if re.search(not_it, said, re.IGNORECASE):
            return Answer[Presence].absent(f"`{program}` here is not of {manager}: {brief(said, 80)}")
        found = re.search(version, said, re.IGNORECASE)
        if found is None:
            return Answer[Presence].unknown(brief(done))
        return Answer[Presence].ok(Presence(version=found[1], path=done.argv[0]))

    def nothing(_: Any, results: Results) -> Answer[Any] | Ask:  # noqa: ANN401
        seen = look(NoArguments(), results)
        if isinstance(seen, Ask) or seen.outcome is not Outcome.OK:
            return seen
        return Answer[Any].unknown(f"{manager} is here, and is not asked for more than its version")

    others = category_verbs(Category.WORKLOAD, key)[1:]
    return presence(ask, look), *(ProbeVerb(verb, ask, nothing) for verb in others)


class WorkloadProbe(Probe):
    """A workload manager that is told to be there."""

    category = Category.WORKLOAD
