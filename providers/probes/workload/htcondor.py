"""HTCondor: told to be there by condor_version."""

from __future__ import annotations

from providers.probes.workload.presence_only import WorkloadProbe, presence_only
from providers.registry import register_probe

__all__ = ["HtCondor"]


@register_probe
class HtCondor(WorkloadProbe):
    """`workload/htcondor`."""

    name = "htcondor"
    verbs = presence_only("HTCondor", "htcondor", "condor_version", version=r"CondorVersion:\s*(\d+\.\d+\.\d+)")
