"""Apptainer; an `apptainer` whose own words say Singularity is none."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.container.starter import starter_verbs
from providers.registry import register_probe

__all__ = ["Apptainer"]


@register_probe
class Apptainer(Probe):
    """`container/apptainer`."""

    category = Category.CONTAINER
    name = "apptainer"
    path_keys = ("apptainer", "images")
    verbs = starter_verbs("apptainer", "singularity")
