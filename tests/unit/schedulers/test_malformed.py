"""Directives that a scheduler would refuse: each is told with its line and what to write instead, and none is kept."""

from __future__ import annotations

import re

import pytest

from providers.registry import dialects

PREFIX = {"pbs": "#PBS", "flux": "#flux:", "oar": "#OAR"}
WRONG = [
    ("pbs", "-l walltime", "has no value"), ("pbs", "-l walltime=1:00:00;reboot", "is no time"),
    ("pbs", "-l select=0:ncpus=1", "number of chunks"), ("pbs", "-l select=1:mem=4zb", "no amount of memory"),
    ("pbs", "-l select=1:ncpus=1 -l nodes=2", "exclude each other"), ("pbs", "-l ngpus=$N", "expands no variables"),
    ("pbs", "-W depend=afterok", "no job id"), ("pbs", "-W depend=afterok:abc", "'abc' is no job id"),
    ("pbs", "-W depend=foo:1", "no dependency"), ("pbs", "-W depend", "has no value"), ("pbs", "-r x", "y nor n"),
    ("pbs", "-p high", "no priority"), ("pbs", "-p 2000", "no priority"), ("pbs", "-a tomorrow", "no moment"),
    ("pbs", "-J 1-10%x", "no number after %"), ("pbs", "-J 0-99999999999", "no range"), ("pbs", "-N ''", "no value"),
    ("pbs", "walltime=1:00", "is no option"), ("pbs", f"-q {'q' * 200}", "at most 128"),
    ("flux", "--job-name=", "no value"), ("flux", "--requires=", "no value"), ("flux", "--env=", "no value"),
    ("flux", "--dependency=afterok", "no job id"), ("flux", "--dependency=afterany:zz!", "'zz!' is no job id"),
    ("flux", "--dependency=begin-time:soon", "no moment"), ("flux", "--urgency=99", "no urgency"),
    ("flux", "--urgency=x", "no urgency"), ("flux", "-N 2-4", "no number"), ("flux", "-t 1:00:00", "no duration"),
    ("flux", "--exclusive=yes", "takes no value"), ("flux", "$(id)", "no option"),
    ("oar", "-l nodes=0", "no number"), ("oar", "-l /nodes=2/core=0,walltime=1", "no number"),
    ("oar", "-l nodes=999999999999", "no number"), ("oar", "-p gpu='YES", "not closed"), ("oar", '-p "', "not closed"),
    ("oar", "-a last", "no job id"), ("oar", "-l nodes=1,walltime=", "no time"), ("oar", "--array 0", "no number"),
    ("oar", "-q x # why", "not usable"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "option", "told"), WRONG, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("first", ["#!/bin/bash", "# no shebang"])
def test_line_and_cure_are_told(name: str, option: str, told: str, end: str, first: str) -> None:
    text = end.join([first, "", f"{PREFIX[name]} {option}", "./app", ""])
    reading = dialects.get(name)().read_script(text)
    assert reading.problems
    assert all(re.match(r"line 3: .*\(.+\)$", problem) for problem in reading.problems)
    assert any(told in problem for problem in reading.problems)
    assert reading.request.native_options == ()


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("pbs", "-a 202612311800.30"), ("pbs", "-a 1800"), ("pbs", "-p -5"), ("pbs", "-W depend=beforeok:1"),
        ("pbs", "-W depend=on:2"), ("flux", "--urgency=hold"), ("flux", "--urgency=20"),
        ("flux", "--dependency=fluid:x"), ("oar", "-l nodes=BEST"), ("oar", "-t besteffort"),
    ],
)  # fmt: skip
def test_what_no_word_of_ours_says_is_kept(name: str, option: str) -> None:
    reading = dialects.get(name)().read_script(f"#!/bin/sh\n{PREFIX[name]} {option}\n./app\n")
    assert (reading.problems, reading.request.native_options) == ((), (option,))


def test_a_walltime_alone_is_read_as_oar_does() -> None:
    reading = dialects.get("oar")().read_script("#!/bin/sh\n#OAR -l walltime=0:30\n#OAR\n./app\n")
    assert (reading.problems, reading.request.walltime_s, reading.request.shapes) == ((), 1800, ())


def test_a_late_directive_is_told_once() -> None:
    reading = dialects.get("flux")().read_script("#!/bin/sh\n#flux: -N1\n./app\n#flux: -N4\n")
    assert len(reading.problems) == 1
    assert reading.request.notes == ()
