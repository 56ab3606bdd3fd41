"""Which file systems several hosts can mount at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkpoints import file_systems
from checkpoints.file_systems import mount_of, shared_file_system

# proc_pid_mountinfo(5); lines as Linux 5.14 and 6.1 write them on cluster login nodes.
TABLE = r"""22 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/root rw,attr2
30 22 0:26 / /home rw,relatime shared:5 - autofs systemd-1 rw,fd=40,pgrp=1,timeout=0
41 30 0:45 /users /home/alice rw,nosuid,relatime shared:90 - nfs4 filer.example.org:/users rw,vers=4.2,hard
42 22 0:46 / /scratch rw,relatime shared:91 master:2 - lustre 10.0.0.1@o2ib:/scratch rw,flock
43 22 0:47 / /gpfs/fs\0401 rw,relatime - gpfs fs1 rw,relatime
44 22 0:48 / /mnt/ssh rw,nosuid - fuse.sshfs alice@host:/data rw,user_id=1000
45 22 0:49 / /scratch/local rw,relatime - ext4 /dev/nvme0n1 rw
46 22 0:50 / /over rw,relatime - nfs old:/over rw
47 46 0:51 / /over rw,relatime - tmpfs tmpfs rw
48 22 0:52 / /ceph rw - ceph mon1:6789:/ rw
49 22 0:53 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw
50 22 0:54 / /global/cfs rw - dvs /global/cfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/dragoman", None),
        ("/home/bob/x", None),
        ("/home/alice/.local/share/dragoman", "nfs4"),
        ("/scratch/alice", "lustre"),
        ("/scratchy", None),
        ("/gpfs/fs 1/alice", "gpfs"),
        ("/mnt/ssh/d", "fuse.sshfs"),
        ("/scratch/local/d", None),
        ("/over/d", None),
        ("/ceph", "ceph"),
        ("/mnt/ntfs/d", None),
        ("/global/cfs/d", "dvs"),
    ],
)
def test_the_mount_that_holds_the_folder_decides(
    path: str, kind: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    monkeypatch.setattr(file_systems, "MOUNTINFO", table)
    assert shared_file_system(Path(path)) == kind


def test_a_link_into_a_network_file_system_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    monkeypatch.setattr(file_systems, "MOUNTINFO", table)
    (tmp_path / "link").symlink_to("/scratch/alice")
    assert shared_file_system(tmp_path / "link" / "dragoman") == "lustre"


def test_without_a_mount_table_nothing_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_systems, "MOUNTINFO", tmp_path / "absent")
    assert shared_file_system(Path("/scratch")) is None


def test_lines_that_are_no_mounts_are_passed_over() -> None:
    assert mount_of(Path("/x"), "\ngarbage\n1 2 3 - \n22 1 253:0 / / rw - xfs /dev/root rw\n") == ("/", "xfs")
    assert mount_of(Path("/x"), "") is None
