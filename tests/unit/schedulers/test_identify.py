"""Commands of the same name are told apart by what they say."""

from __future__ import annotations

import pytest

from dragoman.command import Completed
from dragoman.errors import CommandMissing
from providers.schedulers.identify import identify_commands, managers_found

PBS = "pbs_version = 23.06.06\n"
TORQUE = "Version: 6.1.2\nCommit: 661e092552de43a785c15d39a3634a541d86898e\n"
SGE = "SGE 8.1.9\nusage: qconf [options]\n"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"qconf": (SGE, "", 0), "qstat": ("", "qstat: unknown option --version\n", 1)}, ("sge",)),
        ({"qconf": (SGE, "", 0), "qstat": ("SGE 8.1.9\n", "", 0)}, ("sge",)),
        ({"qstat": (PBS, "", 0)}, ("pbs",)),
        ({"qstat": (TORQUE, "", 0)}, ("torque",)),
        ({"qstat": ("", TORQUE, 0)}, ("torque",)),
        ({"qstat": ("version: 2.5.13\n", "", 0)}, ("torque",)),
        ({"qstat": ("version: unknown option\n", "", 1)}, ()),
        ({"qstat": ("version: 'qstat.py 1.2, Cobalt 1.0'\n", "", 0)}, ("cobalt",)),
        ({"qstat": ("Usage: qstat [-f] [-a|-i|-r]\n", "", 0), "sinfo": ("slurm-wlm 22.05.8\n", "", 0)}, ("slurm",)),
        ({"qstat": (PBS, "", 0), "flux": ("commands:    \t\t0.88.0\n", "", 0)}, ("flux", "pbs")),
        ({"bsub": ("", "IBM Spectrum LSF Standard 10.1.0.0\n", 0)}, ("lsf",)),
        ({"bsub": ("usage\n", "", 0)}, ()),
        ({"qstat": ("bash: qstat: pbs_version = not found\n", "", 127)}, ()),
        ({}, ()),
    ],
)
def test_managers(said: dict[str, tuple[str, str, int]], found: tuple[str, ...]) -> None:
    done: list[Completed | Exception] = []
    for command in identify_commands():
        if command.argv[0] in said:
            out, err, rc = said[command.argv[0]]
            done.append(Completed(command.argv, rc, out.encode(), err.encode()))
        else:
            done.append(CommandMissing("no such command", where=command.argv[0]))
    assert managers_found(done) == found
