"""Mounts: escapes undone, all of a kind kept, long device names joined, a dead one alone unknown."""

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.command import Command
from dragoman.errors import CommandTimeout, TransportError
from dragoman.kleene import Truth
from dragoman.observation import Category, Outcome
from providers.probes.base import Probe
from providers.probes.storage.local_scratch import LocalScratch
from providers.probes.storage.mounts import file_system_verbs, parse_df, parse_mountinfo

MOUNTINFO = (
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda1 rw\n"
    "30 27 0:25 / /data\\040disk rw - xfs /dev/mapper/vg_rh_58_v1-LogVol00 rw\n"
    "31 27 0:26 / /mnt/tab\\011x rw - cifs //srv/a\\134b rw\n"
    "32 27 0:27 / /lustre/my\\040data rw,flock - lustre 10.0.0.1@o2ib:/lfs1 rw\n"
    "33 27 0:28 / /lustre/home ro - lustre 10.0.0.1@o2ib:/lfs2 rw\n"
    "34 27 0:29 / /proc rw - proc proc rw\n"
    "35 27 0:30 / /dev/shm rw shared:2 master:1 - tmpfs tmpfs rw,size=1k\n"
    "36 27 0:31 / /run/user/0 rw - tmpfs tmpfs rw\n"
)


class Lustre(Probe):
    category = Category.STORAGE
    name = "lustre"
    verbs = file_system_verbs(lambda mount: mount.kind == "lustre", shared=Truth.YES, none="no Lustre is mounted")


def test_escapes_are_undone_and_optional_fields_skipped() -> None:
    mounts = {mount.point: mount for mount in parse_mountinfo(MOUNTINFO)}
    assert mounts["/mnt/tab\tx"].source == "//srv/a\\b"
    assert mounts["/lustre/my data"].kind == "lustre"
    assert mounts["/dev/shm"].super_options == ("rw", "size=1k")


def test_of_two_mounts_on_one_point_the_last_is_seen() -> None:
    text = "1 0 0:1 / /s rw - ext4 /dev/a rw\n2 1 0:2 / /s rw - xfs /dev/b rw\n"
    assert [mount.source for mount in parse_mountinfo(text)] == ["/dev/b"]


DF = """\
Filesystem           1K-blocks      Used Available Use% Mounted on
/dev/mapper/vg_rh_58_v1-LogVol00
                      22346236   7893684  13299300  38% /
tmpfs                     1024         0      1024   0% /dev/shm
very long name of a share with spaces
                          2048         0         -   -  /a b/c
over                      1000      1200      -200 120% /over
"""


def test_df_with_wrapped_lines_spaces_dashes_and_negative_room() -> None:
    assert parse_df(DF) == {
        "/": (22346236 * 1024, 13299300 * 1024),
        "/dev/shm": (1024 * 1024, 1024 * 1024),
        "/a b/c": (2048 * 1024, None),
        "/over": (1000 * 1024, 0),
    }


def looking(replies: dict[str, object]) -> Callable[[Command], Any]:
    header = "Filesystem 1024-blocks Used Available Capacity Mounted on"

    def reply(command: Command) -> Any:
        assert command.argv[:2] == ("/bin/sh", "-c")
        mount = command.argv[-1]
        return replies.get(mount, (0, f"writable\n{header}\nx 10 5 5 50% {mount}\n", ""))

    return reply


def test_local_scratch_leaves_out_what_is_the_systems_or_on_the_network(host: Any) -> None:
    host.files = {"/proc/self/mountinfo": MOUNTINFO}
    host.commands = {"/bin/sh": looking({})}
    answer = host.ask(LocalScratch(), "file_systems")
    assert answer.value is not None
    assert [(each.mount, each.kind, each.free_bytes) for each in answer.value.file_systems] == [
        ("/", "ext4", 5120),
        ("/data disk", "xfs", 5120),
        ("/dev/shm", "tmpfs", 5120),
    ]
    assert {each.writable for each in answer.value.file_systems} == {Truth.YES}


def test_every_mount_of_a_kind_is_told_and_a_dead_one_leaves_the_others_alone(host: Any) -> None:
    host.files = {"/proc/self/mountinfo": MOUNTINFO}
    host.commands = {"/bin/sh": looking({"/lustre/my data": CommandTimeout("no end within 5 s")})}
    answer = host.ask(Lustre(), "file_systems")
    assert answer.value is not None
    seen = [(each.mount, each.healthy, each.writable, each.size_bytes) for each in answer.value.file_systems]
    assert seen == [
        ("/lustre/my data", Truth.NO, Truth.UNKNOWN, None),
        ("/lustre/home", Truth.YES, Truth.NO, 10240),
    ]
    assert max(command.timeout_s for command in host.asked) <= 5


@pytest.mark.parametrize(
    ("reply", "healthy"),
    [
        ((1, "read-only\n", "df: /data disk: Stale file handle"), Truth.NO),
        ((1, "read-only\n", "df: /data disk: Permission denied"), Truth.UNKNOWN),
        (TransportError("connection lost"), Truth.UNKNOWN),
    ],
)
def test_a_mount_that_was_not_seen_to_work_tells_no_numbers(host: Any, reply: object, healthy: Truth) -> None:
    host.files = {"/proc/self/mountinfo": MOUNTINFO}
    host.commands = {"/bin/sh": looking({"/data disk": reply})}
    answer = host.ask(LocalScratch(), "file_systems")
    assert answer.value is not None
    disk = next(each for each in answer.value.file_systems if each.mount == "/data disk")
    assert (disk.healthy, disk.writable, disk.free_bytes) == (healthy, Truth.UNKNOWN, None)


@pytest.mark.parametrize("probe", [LocalScratch(), Lustre()])
def test_a_list_that_cannot_be_read_is_unknown_and_one_without_the_kind_is_absence(host: Any, probe: Probe) -> None:
    host.files = {"/proc/self/mountinfo": PermissionError("denied")}
    assert host.ask(probe, "file_systems").outcome is Outcome.UNKNOWN
    assert host.ask(probe, "probe").outcome is Outcome.UNKNOWN
    host.files = {"/proc/self/mountinfo": ""}
    assert host.ask(probe, "file_systems").outcome is Outcome.UNKNOWN
    host.files = {"/proc/self/mountinfo": "34 27 0:29 / /proc rw - proc proc rw\n"}
    assert host.ask(probe, "file_systems").outcome is Outcome.ABSENT
    assert host.ask(probe, "probe").outcome is Outcome.ABSENT
