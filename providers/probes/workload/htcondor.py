"""HTCondor beside another scheduler: its pool, asked as its own dialect does (condor_status(1), condor_version(1))."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dragoman.command import Command
from dragoman.errors import TransportError
from dragoman.facts import Workload
from dragoman.observation import Answer
from providers.probes.base import Paths, Results, question, where_is
from providers.probes.workload.frame import Manager, WorkloadProbe, workload_verbs
from providers.registry import register_probe
from providers.schedulers.htcondor import HtCondorDialect

__all__ = ["HtCondor"]

_DIALECT = HtCondorDialect()


def _commands(paths: Paths) -> Mapping[str, Command]:
    return {
        f"pool {place}": dataclasses.replace(
            question(where_is(command.argv[0], paths, key="htcondor"), *command.argv[1:], timeout_s=30.0),
            unset=command.unset,
        )
        for place, command in enumerate(_DIALECT.workload_commands())
    }


def _read(results: Results) -> Answer[Workload]:
    names = [f"pool {place}" for place in range(len(_DIALECT.workload_commands()))]
    return _DIALECT.parse_workload([results.commands.get(name, TransportError("it was not asked")) for name in names])


@register_probe
class HtCondor(WorkloadProbe):
    """`workload/htcondor`."""

    name = "htcondor"
    verbs = workload_verbs(
        Manager(
            title="HTCondor",
            key="htcondor",
            program="condor_version",
            options=(),
            version=r"CondorVersion:\s*(\d+\.\d+\.\d+)",
            workload=_commands,
            read_workload=_read,
            no_accounts="HTCondor keeps priorities of users and groups (condor_userprio), and no balances",
        )
    )
