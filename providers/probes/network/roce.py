"""RDMA over Converged Ethernet: ports of RDMA adapters whose link layer is Ethernet."""

from __future__ import annotations

from dragoman.observation import Category
from providers.probes.base import Probe
from providers.probes.network.rdma import fabric_verbs
from providers.registry import register_probe

__all__ = ["Roce"]


@register_probe
class Roce(Probe):
    """`network/roce`."""

    category = Category.NETWORK
    name = "roce"
    path_keys = ()
    verbs = fabric_verbs("roce", "RoCE port")
