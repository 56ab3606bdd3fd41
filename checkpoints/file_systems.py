"""On which kind of file system a folder lies, as far as PostgreSQL must care.

PostgreSQL trusts ``fsync`` and the embedded server trusts ``flock``; file systems that several hosts mount keep
neither promise reliably, and two hosts must never run a server on one folder.
Source: ``proc_pid_mountinfo(5)``; PostgreSQL manual, "Creating a Database Cluster", "Use of Network File Systems".
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")
"""The mount table as this process sees it."""

_TYPES = """
    9p acfs afs beegfs beegfs_nodev ceph cifs coda cvfs cvmfs cvmfs2 davfs davfs2 dvs fhgfs gfs gfs2 glusterfs gpfs
    juicefs lustre lustre_lite ncpfs nfs nfs3 nfs4 ocfs2 orangefs panfs pnfs pvfs2 scoutfs smb2 smb3 smbfs spectrumscale
    vastnfs wekafs
    fuse.afs fuse.beegfs fuse.blobfuse fuse.blobfuse2 fuse.ceph fuse.ceph-fuse fuse.curlftpfs fuse.cvmfs2 fuse.davfs
    fuse.davfs2 fuse.dfuse fuse.gcsfuse fuse.geesefs fuse.glusterfs fuse.goofys fuse.juicefs fuse.lizardfs
    fuse.mfs fuse.moosefs fuse.mount-s3 fuse.quobyte fuse.rclone fuse.s3fs fuse.s3ql fuse.seaweedfs fuse.smbnetfs
    fuse.sshfs fuse.vmhgfs-fuse fuse.weed
"""
SHARED_BETWEEN_HOSTS = frozenset(_TYPES.split())
"""Types, as the mount table writes them, that more than one host can mount at once."""


def mount_of(path: Path, table: str) -> tuple[str, str] | None:
    """Find the mount that holds a path.

    Args:
        path: an absolute path without symbolic links; it need not exist.
        table: the text of ``/proc/self/mountinfo``.

    Returns:
        Mount point and file system type, or None where the table does not tell.
    """
    best: tuple[str, str] | None = None
    for line in table.splitlines():
        fields, separator, rest = line.partition(" - ")
        columns = fields.split(" ")
        if not separator or len(columns) < 5 or not rest:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), columns[4])
        # A later line of the same mount point hides the earlier ones, hence >= and not >.
        if path.is_relative_to(point) and (best is None or len(point) >= len(best[0])):
            best = (point, rest.split(" ", 1)[0])
    return best


def shared_file_system(path: Path) -> str | None:
    """Name the type of file system that other hosts may have mounted too.

    Args:
        path: the folder; where it does not exist yet, the nearest folder above it decides.

    Returns:
        The type, such as ``nfs4``; None for a local file system, and where there is no mount table to ask (macOS).
    """
    real = Path(os.path.realpath(path))
    # An automounter mounts on the first look into the folder, and only then shows what it mounted.
    real.exists()
    try:
        table = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    found = mount_of(real, table)
    return found[1] if found is not None and found[1].lower() in SHARED_BETWEEN_HOSTS else None
