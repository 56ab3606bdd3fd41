"""Omni-Path ports (driver hfi1): the kernel gives their link layer as InfiniBand."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.network.rdma import fabric_verbs
from providers.registry import register_probe

__all__ = ["OmniPath"]


@register_probe
class OmniPath(Probe):
    """`network/omni-path`."""

    category = Category.NETWORK
    name = "omni-path"
    path_keys = ()
    verbs = fabric_verbs("omni-path", "Omni-Path port")
