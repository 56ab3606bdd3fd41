"""BeeGFS: its mounts, and the user's quota by beegfs-ctl."""

from __future__ import annotations

from dragoman.command import Command
from dragoman.kleene import Truth
from providers.probes.base import Paths, question, where_is
from providers.probes.storage.mount_table import Mount
from providers.probes.storage.mounts import MOUNT_TIMEOUT_S, Mounted, MountProbe
from providers.probes.storage.quotas import QuotaQuestion, parse_beegfs
from providers.registry import register_probe

__all__ = ["Beegfs"]

_QUOTA = 'exec "$1" "--mount=$2" --getquota --csv --uid "$(id -u)"'


def _ask(mount: Mount, paths: Paths) -> Command:
    program = where_is("beegfs-ctl", paths, key="beegfs")
    return question("/bin/sh", "-c", _QUOTA, "sh", program, mount.point, timeout_s=MOUNT_TIMEOUT_S)


@register_probe
class Beegfs(MountProbe):
    """`storage/beegfs`."""

    name = "beegfs"
    mounted = Mounted(
        lambda mount: mount.kind == "beegfs", shared=Truth.YES, none="no BeeGFS is mounted",
        quota=QuotaQuestion(_ask, parse_beegfs),
    )  # fmt: skip
