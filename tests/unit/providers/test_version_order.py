"""In which order versions stand: letters and words after a release are newer than it, pre-releases older."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dragoman.kleene import Truth
from dragoman.versions import VersionRange, compare


@pytest.mark.parametrize(
    "rising",
    [
        ("1.1.1", "1.1.1c", "1.1.1k", "1.1.1w", "1.1.2"),
        ("3.0.dev1", "3.0a1", "3.0b2", "3.0rc1", "3.0", "3.0.post1", "3.0.1"),
        ("9.0", "9.0-cuda", "9.0.1"),
        ("4.1.4", "4.1.4+dfsg", "4.1.5"),
        ("2.1.0-rc2", "2.1.0", "2.1.0-lts", "2.1.1"),
        ("5.4.4", "5.4.4-vtst", "6.0"),
        ("11.2", "11.2.p02", "11.3"),
        ("3.0-SNAPSHOT", "3.0-nightly", "3.0alpha", "3.0M1", "3.0rc1", "3.0"),
        ("2Aug2023", "2 Aug 2023 - Update 3", "20230802.4"),
    ],
)
def test_order(rising: tuple[str, ...]) -> None:
    for older, newer in pairwise(rising):
        assert (compare(older, newer), compare(newer, older)) == (-1, 1), (older, newer)


@pytest.mark.parametrize(("asked", "has"), [(">=1.1.1", "1.1.1k"), (">=9.0", "9.0-cuda"), ("<3.0", "3.0rc1")])
def test_a_range_admits(asked: str, has: str) -> None:
    assert VersionRange.parse(asked).admits(has) is Truth.YES
