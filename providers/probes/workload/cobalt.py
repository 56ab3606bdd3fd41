"""Cobalt: told to be there by cqwait, which no other scheduler has (its qsub and qstat are named like others')."""

from __future__ import annotations

from providers.probes.workload.presence_only import WorkloadProbe, presence_only
from providers.registry import register_probe

__all__ = ["Cobalt"]


@register_probe
class Cobalt(WorkloadProbe):
    """`workload/cobalt`."""

    name = "cobalt"
    verbs = presence_only(
        "Cobalt", "cobalt", "cqwait", "--version", version=r"cobalt\s*(?:version)?\s*[:=]?\s*v?(\d+\.[\w.]+)"
    )
