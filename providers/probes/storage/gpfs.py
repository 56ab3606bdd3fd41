"""GPFS (IBM Spectrum Scale, IBM Storage Scale): its mounts, and the user's quota by mmlsquota."""

from __future__ import annotations

from dragoman.command import Command
from dragoman.kleene import Truth
from providers.probes.base import Paths, question, where_is
from providers.probes.storage.mount_table import Mount
from providers.probes.storage.mounts import MOUNT_TIMEOUT_S, Mounted, MountProbe
from providers.probes.storage.quotas import QuotaQuestion, parse_mmlsquota
from providers.registry import register_probe

__all__ = ["Gpfs"]

# Its programs are seldom on the PATH. A source that begins with a dash would be an option.
_QUOTA = r"""
program=$1; [ -x "/usr/lpp/mmfs/bin/$program" ] && program=/usr/lpp/mmfs/bin/$program
case $2 in -*) exit 64 ;; esac
exec "$program" -u "$(id -un)" -Y "$2"
"""


def _ask(mount: Mount, paths: Paths) -> Command:
    program = where_is("mmlsquota", paths, key="gpfs")
    device = mount.source.removeprefix("/dev/")
    return question("/bin/sh", "-c", _QUOTA, "sh", program, device, timeout_s=MOUNT_TIMEOUT_S)


@register_probe
class Gpfs(MountProbe):
    """`storage/gpfs`."""

    name = "gpfs"
    mounted = Mounted(
        lambda mount: mount.kind == "gpfs", shared=Truth.YES, none="no GPFS is mounted",
        quota=QuotaQuestion(_ask, parse_mmlsquota),
    )  # fmt: skip
