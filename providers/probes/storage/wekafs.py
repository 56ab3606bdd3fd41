"""WekaFS, by its mounts."""

from __future__ import annotations

from dragoman.kleene import Truth
from providers.probes.storage.mounts import Mounted, MountProbe
from providers.registry import register_probe

__all__ = ["WekaFs"]


@register_probe
class WekaFs(MountProbe):
    """`storage/wekafs`."""

    name = "wekafs"
    path_keys = ()
    mounted = Mounted(lambda mount: mount.kind == "wekafs", shared=Truth.YES, none="no WekaFS is mounted")
