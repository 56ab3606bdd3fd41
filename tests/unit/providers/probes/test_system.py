"""Where nothing lists what is installed, nothing is shown to be absent."""

from typing import Any

import pytest

from dragoman.observation import Outcome
from providers.probes.software.system import System
from providers.verbs import PackageQuery


@pytest.mark.parametrize(
    ("lists", "program", "outcome"),
    [
        ({}, "dragoman-none\n", Outcome.UNKNOWN),
        ({}, "dragoman-program /usr/bin/gcc\n", Outcome.OK),
        ({"dpkg-query": "ii \tzlib1g\t1:1.2-3\n"}, "dragoman-none\n", Outcome.ABSENT),
        ({"rpm": "zlib\t1.2\t3\n"}, "dragoman-none\n", Outcome.ABSENT),
        ({"apk": "zlib-1.2-r3\n"}, "dragoman-none\n", Outcome.ABSENT),
    ],
)
def test_no_manager_of_packages_shows_no_absence(
    host: Any, lists: dict[str, str], program: str, outcome: Outcome
) -> None:
    host.commands = {**lists, "/bin/sh": program}
    assert host.ask(System(), "find_package", PackageQuery(name="gcc")).outcome is outcome
