"""Lustre: its mounts, and the user's quota by `lfs quota`."""

from __future__ import annotations

from dragoman.command import Command
from dragoman.kleene import Truth
from providers.probes.base import Paths, question, where_is
from providers.probes.storage.mount_table import Mount
from providers.probes.storage.mounts import MOUNT_TIMEOUT_S, Mounted, MountProbe
from providers.probes.storage.quotas import QuotaQuestion, parse_quota_table
from providers.registry import register_probe

__all__ = ["Lustre"]

_QUOTA = 'exec "$1" quota -q -u "$(id -u)" "$2"'


def _ask(mount: Mount, paths: Paths) -> Command:
    lfs = where_is("lfs", paths, key="lustre")
    return question("/bin/sh", "-c", _QUOTA, "sh", lfs, mount.point, timeout_s=MOUNT_TIMEOUT_S)


@register_probe
class Lustre(MountProbe):
    """`storage/lustre`."""

    name = "lustre"
    mounted = Mounted(
        lambda mount: mount.kind == "lustre", shared=Truth.YES, none="no Lustre is mounted",
        quota=QuotaQuestion(_ask, parse_quota_table),
    )  # fmt: skip
