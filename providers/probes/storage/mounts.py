"""What is mounted, and how full it is: shared by the probes of all kinds of file system.

Sources: proc(5) on mountinfo, df(1) of POSIX. Each mount is asked by a command of its own with a time limit, so that a
dead server makes one mount unknown and no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dragoman.command import Completed
from dragoman.errors import CommandTimeout
from dragoman.facts import FileSystem, FileSystems, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category, Outcome
from dragoman.site import Site, SiteFileSystem
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, presence, question
from providers.probes.storage.mount_table import Mount, parse_mountinfo
from providers.probes.storage.quotas import QuotaQuestion
from providers.verbs import FILE_SYSTEMS, NoArguments

__all__ = ["MOUNTS", "Mount", "MountProbe", "Mounted", "file_system_verbs", "parse_df", "parse_mountinfo"]

MOUNTS = "/proc/self/mountinfo"
MOUNT_TIMEOUT_S = 5.0

# test(1) asks access(2), which knows of read-only mounts and permissions; df follows. The mount is an argument.
_LOOK = 'if [ -w "$1" ]; then echo writable; else echo read-only; fi; exec df -Pk -- "$1"'


_DF = re.compile(
    r"(?<=\s)(?P<size>\d{1,24}|-)\s+(?P<used>-?\d+|-)\s+(?P<free>-?\d{1,24}|-)\s+(?:\d+%|-)\s+(?P<mount>/.*)"
)
"""What stands behind the device's name, which may hold blanks: found from its first number on, in linear time."""


def parse_df(text: str) -> dict[str, tuple[int | None, int | None]]:
    """Size and free bytes by mount, of `df -k` with or without `-P`: a long device name may stand on its own line."""
    found: dict[str, tuple[int | None, int | None]] = {}
    carried = ""
    for line in text.splitlines():
        match = _DF.search(f"{carried} {line}".strip())
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
    quota: QuotaQuestion | None = None,
    described: Sequence[SiteFileSystem] = (),
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, FileSystems]]:
    """The verbs of a storage probe: the mounts that `wanted` picks, each with size, free space and writability.

    Args:
        wanted: picks the probe's mounts.
        shared: whether every node sees them.
        none: the reason of an absent answer.
        kind_of: the kind to tell, where it is not the kernel's word.
        quota: how the user's quota is asked for.
        described: what the site file says of file systems: how long files stay, and the size where none is told.

    """
    words = {each.mount.rstrip("/") or "/": each for each in described}

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
        if quota is not None:
            looks |= {_quota_of(mount): quota.ask(mount, results.paths) for mount in mounts}
        if not all(results.asked(point) for point in looks):
            return Ask(commands=looks)
        return Answer[FileSystems].ok(
            FileSystems(
                file_systems=tuple(
                    _described(_limited(_seen(mount, kind_of(mount), shared, results), mount, quota, results), words)
                    for mount in mounts
                )
            )
        )

    return presence(ask, parse_presence), ProbeVerb(FILE_SYSTEMS, ask, parse)


def _quota_of(mount: Mount) -> str:
    return f"quota {mount.point}"


def _limited(seen: FileSystem, mount: Mount, quota: QuotaQuestion | None, results: Results) -> FileSystem:
    """With the user's quota, where it was told; no limit is no quota, and what was not told stays unknown."""
    done = results.whole(_quota_of(mount))
    if quota is None or done is None or done.truncated:  # quota(1) fails where somebody is over it
        return seen
    found = quota.read(done.out, mount)
    if found is None:
        return seen
    return seen.model_copy(update={"quota_bytes": found.limit_bytes, "quota_free_bytes": found.free_bytes})


def _described(seen: FileSystem, words: Mapping[str, SiteFileSystem]) -> FileSystem:
    told = words.get(seen.mount.rstrip("/") or "/")
    if told is None:
        return seen
    size = seen.size_bytes if seen.size_bytes is not None else told.capacity
    return seen.model_copy(update={"purge_days": told.purge_days, "size_bytes": size})


@dataclass(frozen=True, slots=True)
class Mounted:
    """What makes a storage probe, as `file_system_verbs` takes it."""

    wanted: Callable[[Mount], bool]
    shared: Truth
    none: str
    kind_of: Callable[[Mount], str] = lambda mount: mount.kind
    quota: QuotaQuestion | None = None

    def verbs(
        self, described: Sequence[SiteFileSystem] = ()
    ) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, FileSystems]]:
        """The verbs, with what the site file says."""
        return file_system_verbs(
            self.wanted, shared=self.shared, none=self.none, kind_of=self.kind_of, quota=self.quota,
            described=described,
        )  # fmt: skip


class MountProbe(Probe):
    """A probe of mounted file systems: subclasses set `name` and `mounted`."""

    category = Category.STORAGE
    mounted: ClassVar[Mounted]

    def __init_subclass__(cls, **more: object) -> None:
        """Make the verbs, unless `for_site` made them."""
        super().__init_subclass__(**more)
        if "verbs" not in cls.__dict__:
            cls.verbs = cls.mounted.verbs()

    @classmethod
    def for_site(cls, site: Site) -> Probe:
        """The probe with what the site file says of its file systems."""
        made: type[MountProbe] = type(cls.__name__, (cls,), {"verbs": cls.mounted.verbs(site.file_systems)})
        return made()


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
    if "\ufffd" in mount.point:
        done = None  # its path is no UTF-8: another one was asked for
    elif isinstance(done, Completed):
        done = results.whole(mount.point)
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
