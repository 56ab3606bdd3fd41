"""Cray MPICH, below /opt/cray/pe/mpich; jobs are started by the workload manager."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.parallel.libraries import library_verbs
from providers.registry import register_probe

__all__ = ["CrayMpich"]


@register_probe
class CrayMpich(Probe):
    """`parallel/cray-mpich`."""

    category = Category.PARALLEL
    name = "cray-mpich"
    verbs = library_verbs("cray-mpich")
