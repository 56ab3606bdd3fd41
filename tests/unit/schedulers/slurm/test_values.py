"""Values as Slurm prints them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from providers.schedulers.hostlist import expand_hostlist
from providers.schedulers.slurm_values import (
    Gres,
    gres_gpus,
    read_duration,
    read_gres,
    read_job_id,
    read_memory,
    read_moment,
    read_tres,
    tres_gpus,
)  # fmt: skip

ZURICH = ZoneInfo("Europe/Zurich")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("UNLIMITED", math.inf), ("infinite", math.inf), ("NOT_SET", None), ("INVALID", None), ("N/A", None),
        ("Unknown", None), ("Partition_Limit", None), ("", None), ("NONE", None), ("1-02:03:04", 93784),
        ("05:06", 306), ("00:00", 0), ("100:00:00", 360000), ("00:01.500", 1), ("-00:01", None), ("7", None),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "at", "ambiguous"),
    [
        ("2024-07-01T12:00:00", datetime(2024, 7, 1, 10, tzinfo=UTC), False),
        ("2024-12-01T12:00:00", datetime(2024, 12, 1, 11, tzinfo=UTC), False),
        ("2024-10-27T02:30:00", datetime(2024, 10, 27, 0, 30, tzinfo=UTC), True),
        ("2024-03-31T02:30:00", datetime(2024, 3, 31, 1, 30, tzinfo=UTC), True),
        ("@1719835200", datetime(2024, 7, 1, 12, tzinfo=UTC), False),
        ("Unknown", None, False), ("N/A", None, False), ("None", None, False), ("", None, False), ("@0", None, False),
        ("1970-01-01T01:00:00", None, False), ("2024-13-01T00:00:00", None, False), ("@1e99", None, False),
    ],
)  # fmt: skip
def test_moments(text: str, at: datetime | None, ambiguous: bool) -> None:
    assert read_moment(text, ZURICH) == (at, ambiguous)


@pytest.mark.parametrize(
    ("text", "base", "size", "at_once"),
    [
        ("12345_[1-10%2]", "12345", 10, 2), ("12345_[60-89,91-94,96-98]", "12345", 37, None),
        ("12345_[0-20:5]", "12345", 5, None), ("12345_7", "12345", 1, None), ("12345", "12345", 1, None),
        ("1_[3]", "1", 1, None), ("52+1", "52", 1, None), ("9_[1,3,5-7%1]", "9", 5, 1),
    ],
)  # fmt: skip
def test_job_ids(text: str, base: str, size: int, at_once: int | None) -> None:
    parsed = read_job_id(text)
    assert parsed is not None
    assert (parsed.base, parsed.size, parsed.at_once) == (base, size, at_once)


@pytest.mark.parametrize("text", ["", "x", "1_", "1_[", "1.batch", "-1", "1_[1]x", "1_2_3"])
def test_no_job_ids(text: str) -> None:
    assert read_job_id(text) is None


def test_cut_list_of_indices_is_known_as_incomplete() -> None:
    parsed = read_job_id("5_[1-3,8,...]")
    assert parsed is not None
    assert (parsed.size, parsed.complete) == (4, False)


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("billing=64,cpu=64,gres/gpu:a100=4,gres/gpu=4,mem=240000M,node=1", {"a100": 4}),
        ("cpu=64,gres/gpu=4", {None: 4}),
        ("gres/gpu=5,gres/gpu:a100=2,gres/gpu:v100=2", {"a100": 2, "v100": 2, None: 1}),
        ("cpu=1", {}),
        ("gres/gpu=x", None),
    ],
)
def test_tres(text: str, gpus: dict[str | None, int] | None) -> None:
    assert tres_gpus(read_tres(text)) == gpus


def test_tres_values() -> None:
    tres = read_tres("billing=64,cpu=64,mem=240000M,node=1")
    assert tres["cpu"] == "64"
    assert read_memory(tres["mem"]) == 240000 * 2**20


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("gpu:a100:4(S:0-3),lscratch:3200", [Gres("gpu", "a100", 4), Gres("lscratch", None, 3200)]),
        ("gpu:a100:2(IDX:0,3),fs:scratch:0", [Gres("gpu", "a100", 2), Gres("fs", "scratch", 0)]),
        ("nsight:no_consume:1,overlay:apps:no_consume:1", [Gres("nsight", None, 1), Gres("overlay", "apps", 1)]),
        ("gpu", [Gres("gpu", None, 1)]), ("gres:gpu:2", [Gres("gpu", None, 2)]), ("gres/gpu:2", [Gres("gpu", None, 2)]),
        ("tmpdisk:10G", [Gres("tmpdisk", None, 10 * 2**30)]), ("gpu=4", [Gres("gpu", None, 4)]),
        ("(null)", []), ("", []), ("N/A", []), ("gpu::4", None), (",", None), ("a:b:c:d", None),
    ],
)  # fmt: skip
def test_gres(text: str, entries: list[Gres] | None) -> None:
    assert read_gres(text) == entries


def test_gpus_of_one_model_in_two_entries_add_up() -> None:
    assert gres_gpus("gpu:a100:3(S:0),gpu:a100_1g.5gb:7,gpu:a100:1(S:1)") == {"a100": 4, "a100_1g.5gb": 7}


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("240000M", 240000 * 2**20), ("62.50G", 62.5 * 2**30), ("16000", 16000 * 2**20), ("32gb", 32 * 2**30),
        ("1T", 2**40), ("4Gn", 4 * 2**30), ("UNLIMITED", None), ("N/A", None), ("", None), ("-1", None),
    ],
)  # fmt: skip
def test_memory(text: str, amount: float | None) -> None:
    assert read_memory(text) == amount


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node[01-03,07]", "node01 node02 node03 node07"),
        ("nodeA,nodeB[001,003],nodeC", "nodeA nodeB001 nodeB003 nodeC"),
        ("rack[0-1]_blade[0-1]", "rack0_blade0 rack0_blade1 rack1_blade0 rack1_blade1"),
        ("n[9-11]", "n9 n10 n11"), ("n[099-101]", "n099 n100 n101"), ("n1,n1", "n1"), ("c[1-2]-ib", "c1-ib c2-ib"),
        ("(null)", ""), ("None assigned", ""), ("", ""), ("n[1", "n[1"), ("a]b", "a]b"), ("n[1-x]", "n[1-x]"),
        ("n[5-1]", "n[5-1]"), ("n[1-99999999]", "n[1-99999999]"),
    ],
)  # fmt: skip
def test_host_lists(text: str, names: str) -> None:
    assert " ".join(expand_hostlist(text)) == names
