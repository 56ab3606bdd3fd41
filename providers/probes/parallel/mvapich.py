"""MVAPICH, by `mpiname` or `mpichversion`: its launcher looks like that of MPICH."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["Mvapich"]


@register_probe
class Mvapich(Probe):
    """`parallel/mvapich`."""

    category = Category.PARALLEL
    name = "mvapich"
    verbs = library_verbs("mvapich")
