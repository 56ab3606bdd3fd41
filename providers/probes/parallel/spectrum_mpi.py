"""IBM Spectrum MPI, which is built on Open MPI and told apart from it."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["SpectrumMpi"]


@register_probe
class SpectrumMpi(Probe):
    """`parallel/spectrum-mpi`."""

    category = Category.PARALLEL
    name = "spectrum-mpi"
    verbs = library_verbs("spectrum-mpi")
