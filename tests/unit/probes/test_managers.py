"""Workload managers that the site file does not name, by their own words; look-alikes are told apart."""

import shutil
from pathlib import Path

import pytest

from dragoman.errors import CommandTimeout
from dragoman.facts import Presence, Workload
from dragoman.observation import Category, Outcome
from dragoman.site import Site
from providers.probes.base import Results
from providers.probes.workload.beside import manager_probes
from providers.schedulers.identify import MANAGERS
from providers.site_runtime import open_site
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments

pytestmark = pytest.mark.anyio

PBS = "echo 'pbs_version = 23.06.06'"
TORQUE = "echo 'Version: 6.1.2'; echo 'Commit: 661e092552de43a785c15d39a3634a541d86898e' >&2"
SLURM = "echo 'slurm-wlm 22.05.8'"
WRAPPER = "echo 'Usage: qstat [-f] [-a|-i|-r]'"


def host(folder: Path, **programs: str) -> LocalTransport:
    folder.mkdir()
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    for tool in ("sh", "python3"):
        (folder / tool).symlink_to(str(shutil.which(tool, path="/usr/bin:/bin")))
    return LocalTransport({"PATH": str(folder), "HOME": str(folder)})


@pytest.mark.parametrize(
    ("scheduler", "programs", "found"),
    [
        ("machine", {"qstat": PBS}, {"pbs": "23.06.06"}),
        ("machine", {"qstat": TORQUE}, {"torque": "6.1.2"}),
        ("pbs", {"qstat": TORQUE}, {"torque": "6.1.2"}),
        ("machine", {"sinfo": SLURM, "qstat": WRAPPER}, {"slurm": "22.05.8"}),
        ("slurm", {"sinfo": SLURM, "qstat": WRAPPER}, {}),
        ("machine", {"qconf": "echo 'SGE 8.1.9'", "qstat": "echo 'SGE 8.1.9'"}, {"sge": "8.1.9"}),
        ("machine", {"bsub": "echo 'IBM Spectrum LSF Standard 10.1.0.0, Jul 08 2016' >&2"}, {"lsf": "10.1.0.0"}),
        ("machine", {"oarstat": "echo 'OAR version : 2.5.9'"}, {"oar": "2.5.9"}),
        ("machine", {"flux": "echo 'commands:    0.57.0'", "qstat": PBS}, {"flux": "0.57.0", "pbs": "23.06.06"}),
        ("machine", {}, {}),
    ],
)
async def test_who_else_is_here(
    scheduler: str, programs: dict[str, str], found: dict[str, str], tmp_path: Path
) -> None:
    transport = host(tmp_path / "bin", **programs)
    runtime = open_site(Site(name="x", scheduler=scheduler), transport=transport)
    seen = await runtime.presence([Category.WORKLOAD])
    told = {each.name: seen[f"workload/{each.name}"] for each in runtime.managers}
    assert {name: each.value["version"] for name, each in told.items() if each.value} == found
    assert all(each.outcome is not Outcome.UNKNOWN for each in told.values())


async def test_a_command_that_fails_shows_no_absence(tmp_path: Path) -> None:
    failing = {
        "sinfo": "echo 'sinfo: fatal: Could not establish a configuration source' >&2; exit 1",
        "qstat": "exit 1",
    }
    runtime = open_site(Site(name="x", scheduler="machine"), transport=host(tmp_path / "bin", **failing))
    seen = await runtime.presence([Category.WORKLOAD])
    told = {each.name: seen[f"workload/{each.name}"].outcome for each in runtime.managers}
    assert {name for name, outcome in told.items() if outcome is Outcome.UNKNOWN} == {"pbs", "slurm", "torque"}
    assert "configuration source" in seen["workload/slurm"].reason


async def test_a_refusal_of_another_managers_command_shows_nothing(tmp_path: Path) -> None:
    programs = {"qconf": "echo 'SGE 8.1.9'", "qstat": "echo 'qstat: unknown option --version' >&2; exit 1"}
    runtime = open_site(Site(name="x", scheduler="machine"), transport=host(tmp_path / "bin", **programs))
    seen = await runtime.presence([Category.WORKLOAD])
    told = {each.name: seen[f"workload/{each.name}"].outcome.value for each in runtime.managers}
    assert (told.pop("sge"), set(told.values())) == ("ok", {"absent"})


async def test_a_look_alike_of_the_one_in_the_site_file_is_told_as_such(tmp_path: Path) -> None:
    runtime = open_site(Site(name="x", scheduler="pbs"), transport=host(tmp_path / "bin", qstat=TORQUE))
    seen = (await runtime.presence([Category.WORKLOAD]))["workload/torque"]
    assert seen.value is not None
    assert "names of those of pbs" in str(seen.value["detail"])


async def test_one_that_is_off_is_neither_asked_nor_shown(tmp_path: Path) -> None:
    site = Site(name="x", scheduler="machine", providers_off=("workload/slurm",))
    runtime = open_site(site, transport=host(tmp_path / "bin", sinfo=SLURM))
    assert "workload/slurm" not in await runtime.presence()


def test_no_answer_is_not_absence() -> None:
    probes = {each.name: each for each in manager_probes("machine", ("htcondor", "cobalt"))}
    assert set(probes) == set(MANAGERS) - {"htcondor", "cobalt"}
    for probe in probes.values():
        hung = dict.fromkeys(probe.verbs[0].ask(NoArguments(), {}).commands, CommandTimeout("no end within 10 s"))
        answer = probe.verbs[0].parse(NoArguments(), Results(hung))
        assert getattr(answer, "outcome", None) is Outcome.UNKNOWN
        assert not isinstance(answer, Presence)


async def test_what_another_manager_has_free_is_none_of_the_sites(tmp_path: Path) -> None:
    slot = '[{"Machine": "a", "State": "Unclaimed", "Cpus": 8, "TotalCpus": 8, "Memory": 9, "TotalMemory": 9}]'
    programs = {
        "sinfo": "echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1",
        "condor_version": "echo '$CondorVersion: 23.4.0 2024-02-08 $'",
        "condor_status": f"case $1 in -schedd) echo '[]' ;; *) echo '{slot}' ;; esac",
    }
    runtime = open_site(Site(name="x", scheduler="slurm"), transport=host(tmp_path / "bin", **programs))
    assert [each.name for each in runtime.of(Category.WORKLOAD)] == ["slurm"], "nobody else is asked for work"
    pool = next(each for each in runtime.managers if each.name == "htcondor")
    told = await pool.call("resources", NoArguments())
    assert isinstance(told.value, Workload)
    assert (await runtime.observe("workload/slurm", "resources")).outcome is Outcome.UNKNOWN
