"""Intel MPI, on the PATH, by I_MPI_ROOT or below /opt/intel/oneapi."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["IntelMpi"]


@register_probe
class IntelMpi(Probe):
    """`parallel/intel-mpi`."""

    category = Category.PARALLEL
    name = "intel-mpi"
    verbs = library_verbs("intel-mpi")
