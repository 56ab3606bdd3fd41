"""`dragoman detect` and `dragoman providers`, as people call them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from interfaces.cli.fact_words import fact_words
from interfaces.cli.main import app
from providers.registry import probes

FLEET = """
schema_version: 1
sites:
  - name: here
    scheduler: machine
    providers_off: [container/docker, software/pip.find_package, hardware/cpu]
  - name: far
    scheduler: slurm
    simulated:
      containers:
        - {runtime: apptainer, version: "1.3.0", usable: yes}
      packages:
        - {name: gromacs, version: "2.10", manager: spack}
      unknown: [network]
  - name: lost
    scheduler: machine
    providers_off: [container/dokcer]
"""


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DRAGOMAN_SETTINGS", str(tmp_path / "settings.yaml"))
    monkeypatch.setenv("DRAGOMAN_DATA_DIR", str(tmp_path / "data"))
    file = tmp_path / "sites.yaml"
    file.write_text(FLEET)
    return str(file)


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def document(*words: str) -> Any:
    result = call(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def by_name(site: Any) -> dict[str, Any]:
    return {each["provider"]: each for each in site["providers"]}


def test_every_site_is_asked_and_one_that_cannot_be_opened_holds_up_no_other(sites: str) -> None:
    told = document("detect", "--sites", sites)["sites"]
    assert [site["site"] for site in told] == ["here", "far", "lost"]
    assert [site["simulated"] for site in told[:2]] == [False, True]
    assert not told[0]["error"]
    assert told[2]["error"]
    assert told[2]["providers"] == []


def test_an_empty_name_of_a_site_is_none_at_all(sites: str) -> None:
    for command in ("detect", "providers"):
        result = call(command, "--site", "", "--sites", sites)
        assert result.exit_code != 0
        assert "no site ''" in result.stderr


def test_an_empty_name_of_a_sites_file_is_not_this_machine_alone(sites: str) -> None:
    for command in (["detect"], ["recipes", "list", "--site", "local"], ["threads"]):
        result = call(*command, "--sites", "")
        assert result.exit_code == 2, command
        assert "not a regular file" in result.stderr


def test_what_is_off_is_neither_probed_nor_shown(sites: str) -> None:
    here = by_name(document("detect", "--site", "here", "--sites", sites)["sites"][0])
    assert "container/docker" not in here
    assert "hardware/cpu" not in here
    assert here["software/pip"]["verbs"] == ["probe"]
    listed = {each["provider"]: each for each in document("providers", "--site", "here", "--sites", sites)["providers"]}
    assert "container/docker" not in listed
    assert list(listed["software/pip"]["verbs"]) == ["probe"]


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_an_administrator_switches_off_and_helps_with_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_SETTINGS", str(tmp_path / "settings.yaml"))
    monkeypatch.setenv("DRAGOMAN_DATA_DIR", str(tmp_path / "data"))
    ran = f'echo "${{0##*/}} $*" >>{tmp_path}/ran; exit 1'
    for name in ("docker", "podman", "sinfo"):
        program(tmp_path / "bin", name, ran)
    program(tmp_path / "bin", "bsub", "echo 'IBM Spectrum LSF Standard 10.1.0.0'")
    program(tmp_path / "elsewhere" / "bin", "spack", "echo 0.23.1")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    file = tmp_path / "sites.yaml"
    file.write_text(
        "schema_version: 1\nsites:\n  - name: here\n    scheduler: machine\n"
        f"    paths: {{spack: {tmp_path}/elsewhere}}\n"
        "    providers_off: [container/docker, container/podman.status, workload/slurm]\n"
    )
    here = by_name(document("detect", "--site", "here", "--sites", str(file))["sites"][0])
    assert not {"container/docker", "workload/slurm"} & set(here)
    assert here["container/podman"]["verbs"] == ["probe"]
    assert (tmp_path / "ran").read_text() == "podman --version\n", "what is off is not asked of the site either"
    assert here["container/podman"]["present"] == "unknown"
    assert here["workload/lsf"]["facts"]["probe"]["value"]["version"] == "10.1.0.0"
    assert here["software/spack"]["facts"]["probe"]["value"]["version"] == "0.23.1"
    assert here["software/spack"]["facts"]["probe"]["value"]["path"].startswith(f"{tmp_path}/elsewhere/")


def test_facts_have_their_age_and_unknown_has_its_reason(sites: str) -> None:
    far = by_name(document("detect", "--site", "far", "--sites", sites)["sites"][0])
    status = far["container/apptainer"]["facts"]["status"]
    assert status["value"]["version"] == "1.3.0"
    assert 0 <= status["age_s"] < 60 < status["max_age_s"]
    assert status["observed_at"].endswith("+00:00")
    assert far["network/ethernet"]["present"] == "unknown"
    assert "no answer" in far["network/ethernet"]["reason"]
    assert far["container/podman"]["present"] == "no"
    assert far["software/spack"]["present"] == "yes"


def test_one_category_alone(sites: str) -> None:
    told = document("detect", "CONTAINER", "--site", "far", "--sites", sites)["sites"][0]
    assert {each["category"] for each in told["providers"]} == {"container"}
    assert len(told["providers"]) >= 8


def test_wrong_words_name_their_cure(sites: str) -> None:
    wrong = call("detect", "graphics", "--sites", sites)
    assert wrong.exit_code == 2
    assert "there are workload, software" in wrong.stderr
    nowhere = call("detect", "--site", "nowhere", "--sites", sites)
    assert nowhere.exit_code == 2
    assert "the fleet has here, far, lost" in nowhere.stderr
    alone = call("detect", "--site", "lost", "--sites", sites)
    assert alone.exit_code == 2


def test_the_table_tells_facts_reasons_and_what_is_not_there(sites: str) -> None:
    result = call("detect", "--site", "far", "--sites", sites)
    assert result.exit_code == 0
    assert result.stderr == "", "the table is what was asked for"
    assert "far (simulated)" in result.stdout
    words = " ".join(result.stdout.replace("│", " ").split())
    assert "runtime apptainer, version 1.3.0, usable yes" in words
    assert "gives no answer here" in words
    assert "not there:" in words
    assert "container/podman" in words.partition("not there:")[2]


@pytest.mark.parametrize("option", [(), ("--simulated",)])
def test_every_registered_provider_is_listed(option: tuple[str, ...], sites: str) -> None:
    told = document("providers", *option)
    names = [each["provider"] for each in told["providers"]]
    assert set(probes.names()) <= set(names)
    assert {"workload/slurm", "workload/machine"} <= set(names)
    assert told["failures"] == {}
    assert all("probe" in each["verbs"] for each in told["providers"])
    table = call("providers", *option)
    assert "container/sarus" in table.stdout, "the table is what was asked for: it can be piped"
    assert "container/sarus" not in table.stderr


def test_what_is_detected_at_a_site_is_what_is_listed_of_it(sites: str) -> None:
    listed = [each["provider"] for each in document("providers", "--site", "here", "--sites", sites)["providers"]]
    detected = by_name(document("detect", "--site", "here", "--sites", sites)["sites"][0])
    assert set(listed) == set(detected)
    assert {"workload/lsf", "workload/slurm"} <= set(listed), "managers that the site file does not name"
    assert len(listed) == len(set(listed))


def test_no_database_is_made(sites: str, tmp_path: Path) -> None:
    document("detect", "hardware", "--site", "here", "--sites", sites)
    assert not (tmp_path / "data").exists()


def test_facts_as_words() -> None:
    value = {
        "model": "EPYC", "total_bytes": 2**31, "walltime_s": 7200, "features": ["avx"] * 90, "gone": None,
        "images": [{"name": "a.sif", "bytes": 1024}], "gbit_s": 100.0,
    }  # fmt: skip
    assert fact_words(value) == "EPYC, total 2 GiB, walltime 2 h, images 1: (a.sif, bytes 1 KiB), 100.0 Gbit/s"
    assert len(fact_words({"detail": "x" * 1000})) == 240
