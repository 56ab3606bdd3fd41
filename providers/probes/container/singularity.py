"""Singularity, SingularityCE and SingularityPRO; a `singularity` that is a link to Apptainer is none of them."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.container.starter import starter_verbs
from providers.registry import register_probe

__all__ = ["Singularity"]


@register_probe
class Singularity(Probe):
    """`container/singularity`."""

    category = Category.CONTAINER
    name = "singularity"
    path_keys = ("singularity", "images")
    verbs = starter_verbs("singularity", "apptainer")
