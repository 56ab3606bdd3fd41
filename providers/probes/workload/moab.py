"""Moab: told to be there by showq, which Maui has too."""

from __future__ import annotations

from providers.probes.workload.presence_only import WorkloadProbe, presence_only
from providers.registry import register_probe

__all__ = ["Moab"]


@register_probe
class Moab(WorkloadProbe):
    """`workload/moab`."""

    name = "moab"
    verbs = presence_only("Moab", "moab", "showq", "--version", version=r"moab.*?(\d+\.\d[\w.]*)", not_it=r"\bmaui\b")
