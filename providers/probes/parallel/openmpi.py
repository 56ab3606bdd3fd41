"""Open MPI: its launchers and `ompi_info`, which lists the components for each fabric."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["OpenMpi"]


@register_probe
class OpenMpi(Probe):
    """`parallel/openmpi`."""

    category = Category.PARALLEL
    name = "openmpi"
    verbs = library_verbs("openmpi")
