"""Disks and memory of the host itself, where jobs may write scratch data."""

from __future__ import annotations

from dragoman.kleene import Truth
from providers.probes.storage.mount_table import Mount
from providers.probes.storage.mounts import Mounted, MountProbe
from providers.registry import register_probe

__all__ = ["KINDS", "LocalScratch"]

KINDS = frozenset({
    "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "reiserfs", "tmpfs", "ufs", "xfs", "zfs",
})  # fmt: skip
"""File systems of one host (filesystems(5)); a container's root is an overlay."""

SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/snap", "/sys", "/usr", "/var/lib/docker", "/var/lib/kubelet")
"""Folders that belong to the system: nobody's scratch lies there. /dev/shm is the exception."""


def _is_scratch(mount: Mount) -> bool:
    if mount.kind not in KINDS:
        return False
    if mount.point == "/dev/shm":  # noqa: S108  # a mount that is told of, not a file that is opened
        return True
    return not any(mount.point == folder or mount.point.startswith(f"{folder}/") for folder in SYSTEM)


@register_probe
class LocalScratch(MountProbe):
    """`storage/local-scratch`: xfs, ext4, btrfs, zfs, tmpfs and the like."""

    name = "local-scratch"
    path_keys = ()
    mounted = Mounted(_is_scratch, shared=Truth.NO, none="no file system of this host is mounted for scratch data")
