"""What the script of module systems told, without one."""

from typing import Any

import pytest

from dragoman.errors import CommandTimeout
from dragoman.observation import Outcome
from providers.probes.software.modules import Modules
from providers.verbs import PackageQuery

HEAD = "dragoman-init /usr/share/modules/init/sh\ndragoman-lmod \ndragoman-path {}\n"
LIST = "dragoman-begin avail\ngcc/12.2.0\n\ndragoman-end 0\n"


def test_an_empty_modulepath_shows_nothing_about_packages(host: Any) -> None:
    host.commands = {"/bin/sh": HEAD.format("") + "dragoman-begin avail\n\ndragoman-end 0\n"}
    answer = host.ask(Modules(), "find_package", PackageQuery(name="gcc"))
    assert answer.outcome is Outcome.UNKNOWN
    assert "MODULEPATH is empty" in answer.reason
    host.commands = {"/bin/sh": HEAD.format("/m") + LIST}
    assert host.ask(Modules(), "find_package", PackageQuery(name="zlib")).outcome is Outcome.ABSENT


@pytest.mark.parametrize("text", ["", HEAD.format("/m"), HEAD.format("/m") + LIST.partition("\ndragoman-end")[0]])
def test_a_list_that_was_cut_shows_no_absence(host: Any, text: str) -> None:
    host.commands = {"/bin/sh": text}
    assert host.ask(Modules(), "find_package", PackageQuery(name="zlib")).outcome is Outcome.UNKNOWN


def test_one_listing_answers_for_every_package(host: Any) -> None:
    host.commands = {"/bin/sh": HEAD.format("/m") + LIST}
    for name in ("gcc", "openmpi", "lammps"):
        host.ask(Modules(), "find_package", PackageQuery(name=name))
    assert len({command.argv for command in host.asked}) == 2


def test_spider_that_hangs_hides_no_module_in_sight(host: Any) -> None:
    def run(command: Any) -> Any:
        return CommandTimeout("no end within 45 s") if "spider" in command.argv[4:5] else HEAD.format("/m") + LIST

    host.commands = {"/bin/sh": run}
    found = host.ask(Modules(), "find_package", PackageQuery(name="gcc"))
    assert [package.version for package in found.value.packages] == ["12.2.0"]
    beyond = host.ask(Modules(), "find_package", PackageQuery(name="openmpi"))
    assert beyond.outcome is Outcome.UNKNOWN
    assert "no end within" in beyond.reason
