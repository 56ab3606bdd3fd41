"""File systems of a server on the network: NFS and CIFS (SMB), with the user's quota where the server tells it."""

from __future__ import annotations

from dragoman.command import Command
from dragoman.kleene import Truth
from providers.probes.base import Paths, question, where_is
from providers.probes.storage.mount_table import Mount
from providers.probes.storage.mounts import MOUNT_TIMEOUT_S, Mounted, MountProbe
from providers.probes.storage.quotas import QuotaQuestion, parse_quota_table
from providers.registry import register_probe

__all__ = ["KINDS", "NetworkFs"]

KINDS = {"nfs": "nfs", "nfs4": "nfs", "cifs": "cifs", "smb3": "cifs", "smbfs": "cifs"}
"""The kernel's words, and ours."""


def _ask(mount: Mount, paths: Paths) -> Command:
    return question(where_is("quota", paths), "-w", "-p", "-u", "-f", mount.point, timeout_s=MOUNT_TIMEOUT_S)


@register_probe
class NetworkFs(MountProbe):
    """`storage/network-fs`. Whether every node mounts it too is not shown by this host."""

    name = "network-fs"
    path_keys = ("quota",)
    mounted = Mounted(
        lambda mount: mount.kind in KINDS, shared=Truth.UNKNOWN, none="no NFS or CIFS is mounted",
        kind_of=lambda mount: KINDS[mount.kind], quota=QuotaQuestion(_ask, parse_quota_table),
    )  # fmt: skip
