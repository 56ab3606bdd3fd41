"""InfiniBand ports: those whose link layer is InfiniBand and whose driver is not Omni-Path's."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.network.rdma import fabric_verbs
from providers.registry import register_probe

__all__ = ["Infiniband"]


@register_probe
class Infiniband(Probe):
    """`network/infiniband`."""

    category = Category.NETWORK
    name = "infiniband"
    verbs = fabric_verbs("infiniband", "InfiniBand port", takes_unknown=True)
