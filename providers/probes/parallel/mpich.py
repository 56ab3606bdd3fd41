"""MPICH: `mpichversion` beside a Hydra launcher; Hydra alone does not prove it."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["Mpich"]


@register_probe
class Mpich(Probe):
    """`parallel/mpich`."""

    category = Category.PARALLEL
    name = "mpich"
    verbs = library_verbs("mpich")
