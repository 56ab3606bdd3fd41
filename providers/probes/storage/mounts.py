"""What is mounted, and how full it is: shared by the probes of all kinds of file system.

Sources: proc(5) on mountinfo, df(1) of POSIX. Each mount is asked by a command of its own with a time limit, so that a
dead server makes one mount unknown and no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.command import Command, Completed
from dragoman.errors import CommandTimeout
from dragoman.facts import FileSystem, FileSystems, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Outcome
from providers.probes.base import Ask, Paths, ProbeVerb, Results, presence, question
from providers.verbs import FILE_SYSTEMS, NoArguments

__all__ = ["MOUNTS", "Mount", "file_system_verbs", "parse_df", "parse_mountinfo"]

MOUNTS = "/proc/self/mountinfo"
MOUNT_TIMEOUT_S = 5.0

# test(1) asks access(2), which knows of read-only mounts and permissions; df follows. The mount is an argument.
_LOOK = 'if [ -w "$1" ]; then echo writable; else echo read-only; fi; exec df -Pk -- "$1"'


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo, its escapes undone."""

    point: str
    kind: str
    source: str
    root: str = "/"
    options: tuple[str, ...] = ()
    super_options: tuple[str, ...] = ()

    @property
    def read_only(self) -> bool:
        """Whether the mount or the file system below it is read-only."""
        return "ro" in self.options or "ro" in self.super_options


def _unescape(text: str) -> str:
    r"""The kernel writes space, tab, newline and backslash as `\040`, `\011`, `\012` and `\134`."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """All mounts that can be reached: of several on one point, the last covers the others."""
    mounts: dict[str, Mount] = {}
    for line in text.split("\n"):
        left, dash, right = line.partition(" - ")
        fields, after = left.split(" "), right.split(" ")
        if not dash or len(fields) < 6 or len(after) < 2:
            continue
        point = _unescape(fields[4])
        mounts.pop(point, None)
        mounts[point] = Mount(
            point=point,
            kind=after[0],
            source=_unescape(after[1]),
            root=_unescape(fields[3]),
            options=tuple(fields[5].split(",")),
            super_options=tuple(after[2].split(",")) if len(after) > 2 else (),
        )
    return tuple(mounts.values())


_DF = re.compile(
    r"(?P<source>\S.*?)\s+(?P<size>\d+|-)\s+(?P<used>-?\d+|-)\s+(?P<free>-?\d+|-)\s+(?:\d+%|-)\s+(?P<mount>/.*)"
)


def parse_df(text: str) -> dict[str, tuple[int | None, int | None]]:
    """Size and free bytes by mount, of `df -k` with or without `-P`: a long device name may stand on its own line."""
    found: dict[str, tuple[int | None, int | None]] = {}
    carried = ""
    for line in text.splitlines():
        match = _DF.fullmatch(f"{carried} {line}".strip())
        if match is None:
            carried = line if line and not line.startswith(("Filesystem", "df:")) else ""
            continue
        carried = ""
        size, free = match["size"], match["free"]
        found[match["mount"]] = (
            None if size == "-" else int(size) * 1024,
            None if free == "-" else max(0, int(free)) * 1024,
        )
    return found


_BROKEN = re.compile(r"stale|transport endpoint|input/output error|not responding|shutdown", re.IGNORECASE)
"""strerror(3) of ESTALE, ENOTCONN, EIO and ESHUTDOWN: the mount is there and does not work."""


def file_system_verbs(
    wanted: Callable[[Mount], bool],
    *,
    shared: Truth,
    none: str,
    kind_of: Callable[[Mount], str] = lambda mount: mount.kind,
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, FileSystems]]:
    """The verbs of a storage probe: the mounts that `wanted` picks, each with size, free space and writability.

    Args:
        wanted: picks the probe's mounts.
        shared: whether every node sees them.
        none: the reason of an absent answer.
        kind_of: the kind to tell, where it is not the kernel's word.

    """

    def ask(_: NoArguments, paths: Paths) -> Ask:
        return Ask(files=(MOUNTS,))

    def chosen(results: Results) -> list[Mount]:
        return [mount for mount in parse_mountinfo(results.file(MOUNTS).text) if wanted(mount)]

    def parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
        trouble = _mounts_trouble(results)
        if trouble:
            return Answer[Presence].unknown(trouble)
        mounts = chosen(results)
        if not mounts:
            return Answer[Presence].absent(none)
        return Answer[Presence].ok(Presence(path=mounts[0].point, detail=", ".join(mount.point for mount in mounts)))

    def parse(_: NoArguments, results: Results) -> Answer[FileSystems] | Ask:
        trouble = _mounts_trouble(results)
        if trouble:
            return Answer[FileSystems].unknown(trouble)
        mounts = chosen(results)
        if not mounts:
            return Answer[FileSystems].absent(none)
        looks = {
            mount.point: question("/bin/sh", "-c", _LOOK, "sh", mount.point, timeout_s=MOUNT_TIMEOUT_S)
            for mount in mounts
        }
        if not all(results.asked(point) for point in looks):
            return Ask(commands=looks)
        return Answer[FileSystems].ok(
            FileSystems(file_systems=tuple(_seen(mount, kind_of(mount), shared, results) for mount in mounts))
        )

    return presence(ask, parse_presence), ProbeVerb(FILE_SYSTEMS, ask, parse)


def _look(mount: Mount) -> Command:
    return question("/bin/sh", "-c", _LOOK, "sh", mount.point, timeout_s=MOUNT_TIMEOUT_S)


def _mounts_trouble(results: Results) -> str:
    read = results.file(MOUNTS)
    if read.outcome is not Outcome.OK:
        return read.reason or "the mounts cannot be read"
    return "" if parse_mountinfo(read.text) else "the list of mounts is empty"


def _seen(mount: Mount, kind: str, shared: Truth, results: Results) -> FileSystem:
    size: int | None = None
    free: int | None = None
    writable = Truth.NO if mount.read_only else Truth.UNKNOWN
    healthy = Truth.UNKNOWN
    done = results.commands.get(mount.point)
    if isinstance(done, CommandTimeout):
        healthy = Truth.NO
    elif isinstance(done, Completed):
        first, _, rest = done.out.partition("\n")
        sizes = parse_df(rest)
        if done.rc == 0 and mount.point in sizes:
            size, free = sizes[mount.point]
            healthy = Truth.YES
            if writable is Truth.UNKNOWN:
                writable = {"writable": Truth.YES, "read-only": Truth.NO}.get(first, Truth.UNKNOWN)
        elif _BROKEN.search(done.err):
            healthy = Truth.NO
    return FileSystem(
        mount=mount.point, kind=kind, source=mount.source, size_bytes=size, free_bytes=free,
        writable=writable, shared=shared, healthy=healthy,
    )  # fmt: skip
