"""DAOS containers that are mounted by dfuse."""

from __future__ import annotations

from dragoman.kleene import Truth
from providers.probes.storage.mounts import Mounted, MountProbe
from providers.registry import register_probe

__all__ = ["Daos"]


@register_probe
class Daos(MountProbe):
    """`storage/daos`. A pool that nobody mounted here is not seen; every node has to mount it for itself."""

    name = "daos"
    path_keys = ()
    mounted = Mounted(
        lambda mount: mount.kind in ("fuse.daos", "fuse.dfuse"), shared=Truth.UNKNOWN,
        none="no DAOS container is mounted", kind_of=lambda mount: "daos",
    )  # fmt: skip
