"""Where a campaign lives: folders, the sites file, the jobs' body and what they say of themselves, disks to fill."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["Place", "processes_below"]

SITES = """
schema_version: 1
sites:
  - name: local
    scheduler: machine
    work_root: {root}/work
    min_poll_interval_s: 0.1
    max_poll_interval_s: 1
    settle_window_s: 3
    charges: {{currency: none, per_core_hour: 0, per_gpu_hour: 0}}
"""
BODY = """\
#!/bin/sh
# What happened, told by the job itself, in a file that dragoman knows nothing of.
echo "$DRAGOMAN_TAG start $1 $(date +%s.%N)" >>'{marks}'
sleep "$3"
( cat in.txt && echo "result of $1" ) >out.txt || exit 9
echo "$DRAGOMAN_TAG end $1 $(date +%s.%N)" >>'{marks}'
if [ "$2" = fails ]; then exit 3; fi
"""


class Place:
    """A campaign's own folder under the folder for temporary files.

    Args:
        keep: leave it there at the end.

    """

    def __init__(self, *, keep: bool = False) -> None:
        self.keep = keep
        self.root = Path(tempfile.mkdtemp(prefix="dragoman-campaign-"))
        # Open to pass: as root the database runs under another account.
        self.root.chmod(0o711)
        self.data, self.site, self.queue = self.root / "data", self.root / "site", self.root / "queue"
        self.marks, self.control, self.logs = self.root / "marks", self.root / "control", self.root / "logs"
        self.person = self.root / "person"
        for folder in (self.data, self.site, self.queue, self.logs, self.person):
            folder.mkdir()
        self.mounts = [path for path, size in ((self.site, "64m"), (self.data, "1g")) if _mount(path, size)]
        self.data.chmod(0o711)
        self.sites = self.root / "sites.yaml"
        self.sites.write_text(SITES.format(root=self.site))
        self.body = self.root / "body.sh"
        self.body.write_text(BODY.format(marks=self.marks))
        (self.person / "in.txt").write_text("input\n")
        self.marks.touch()

    @property
    def disks(self) -> bool:
        """Whether disks can be filled here: only root may mount."""
        return len(self.mounts) == 2

    def environment(self) -> dict[str, str]:
        """What the campaign's processes see."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "DRAGOMAN_DATA_DIR": str(self.data),
            "DRAGOMAN_WAIT_POLL_S": "0.2",
            "DRAGOMAN_FILE_LATENCY_S": "1",
            "DRAGOMAN_LEASE_S": "2",
            "DRAGOMAN_LOG_LEVEL": "INFO",
            "LANGSMITH_TRACING": "false",
        }

    def fill(self, path: Path) -> None:
        """Leave no room on a disk."""
        with (path / "filler").open("wb") as file, suppress(OSError):
            room = os.statvfs(path)
            os.posix_fallocate(file.fileno(), 0, max(1, room.f_bavail * room.f_bsize))
            os.posix_fallocate(file.fileno(), 0, max(1, room.f_bavail * room.f_bsize) + 2**20)

    def free(self, path: Path) -> None:
        """Give the room back."""
        (path / "filler").unlink(missing_ok=True)

    def remove(self) -> None:
        """Nothing is left."""
        if self.keep:
            return
        for path in self.mounts:
            subprocess.call(["umount", "--lazy", str(path)])
        shutil.rmtree(self.root, ignore_errors=True)


def _mount(path: Path, size: str) -> bool:
    if os.geteuid() != 0:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "tmpfs", str(path)]
    return subprocess.call(command, stderr=subprocess.DEVNULL) == 0


def processes_below(mark: str) -> list[int]:
    """Processes whose command line names a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found
