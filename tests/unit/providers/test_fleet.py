"""Sites files: every error names the line, the field and the cure; nothing is silently read as something else."""

import json
from pathlib import Path

import pytest

from dragoman.errors import SiteFileError
from dragoman.site import Fleet
from providers.fleet import default_fleet, fleet_schema, load_fleet, parse_fleet
from providers.simulated.state import SimulatedState

KNOWN = ("machine", "slurm")
EXAMPLES = Path(__file__).parents[3] / "examples"


def parse(text: str, name: str = "sites.yaml") -> Fleet:
    return parse_fleet(text, name, schedulers=KNOWN)


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("sites:\n  - name: a\n    scheduler: slrum\n", "sites.yaml:3: sites.0.scheduler", "there are machine, slurm"),
        ("sites:\n  - name: a\n", "sites.yaml:2: sites.0.scheduler", "add scheduler"),
        (
            "sites:\n  - name: a\n    scheduler: machine\n  - name: b\n    scheduler: machine\n    chargs: {}\n",
            "sites.yaml:6: sites.1.chargs",
            "spelling",
        ),
        (
            "sites:\n- {name: a, scheduler: machine}\n- {name: A, scheduler: machine}\n",
            "sites.yaml:3: sites.1.name",
            "line 2",
        ),
        ("sites:\n- name: a\n  scheduler: machine\n  name: b\n", "sites.yaml:4: sites.0.name", "keep one"),
        (
            "sites:\n- name: a\n  scheduler: slurm\n  transport:\n    kind: sssh\n",
            "sites.yaml:5: sites.0.transport.kind",
            "'openssh'",
        ),
        (
            "sites:\n- name: a\n  scheduler: slurm\n  transport:\n    kind: openssh\n",
            "sites.yaml:4: sites.0.transport",
            "add host",
        ),
        (
            "sites:\n- name: a\n  scheduler: slurm\n  transport:\n    kind: openssh\n    host: -oProxyCommand=x\n",
            "sites.yaml:6: sites.0.transport.host",
            "",
        ),
        (
            "sites:\n- name: a\n  scheduler: machine\n  max_walltime: 4:00\n",
            "sites.yaml:4: sites.0.max_walltime",
            "4:00:00",
        ),
        (
            "sites:\n- name: a\n  scheduler: machine\n  work_root: jobs\n",
            "sites.yaml:4: sites.0.work_root",
            "begin it with /",
        ),
        ("sites:\n- name: 12\n  scheduler: machine\n", "sites.yaml:2: sites.0.name", '"12"'),
        ("sites: []\n", "sites.yaml:1: sites", "at least one"),
        ("- a\n", "sites.yaml:1", "sites:"),
        ("", "sites.yaml:1", "sites:"),
        ("sites:\n  - name: a\n  scheduler: [\n", "sites.yaml:3", "mend"),
        (
            "sites:\n- name: a\n  scheduler: x\n  simulated:\n    cpu:\n      cores: many\n",
            "sites.yaml:6: sites.0.simulated.cpu.cores",
            "",
        ),
        (
            "sites:\n- name: a\n  scheduler: x\n  simulated:\n    memory: {total_bytes: 12 lightyears}\n",
            "sites.yaml:5: sites.0.simulated.memory.total_bytes",
            "",
        ),
    ],
)  # fmt: skip
def test_errors_name_line_field_and_cure(text: str, where: str, words: str) -> None:
    with pytest.raises(SiteFileError) as caught:
        parse(text)
    assert caught.value.where == where
    assert caught.value.cure
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_json_errors_have_lines_too_and_tabs_are_white_space() -> None:
    with pytest.raises(SiteFileError, match=r"sites\.json:3"):
        parse('{"sites": [\n\t{"name": "a",\n\t"scheduler": }]}', "sites.json")
    with pytest.raises(SiteFileError) as caught:
        parse('{"sites": [\n\t{"name": "a",\n\t"scheduler": "pbs"}]}', "sites.json")
    assert caught.value.where == "sites.json:3: sites.0.scheduler"
    assert parse('{"sites": [\n\t{"name": "a",\n\t"scheduler": "slurm"}]}', "sites.json").sites[0].name == "a"


def test_words_that_yaml_would_turn_into_something_else() -> None:
    text = """
sites:
- name: no
  scheduler: slurm
  max_walltime: 02:00:00
  charges: {per_core_hour: 0.10, currency: USD}
  machine: {memory: 16GiB, cpus: 4}
- name: sim
  scheduler: slurm
  simulated:
    workload: {scheduler: slurm, whole_nodes_only: no, queues: [{name: batch, usable: true}]}
    packages:
    - {name: python, version: 3.10, manager: modules}
    - {name: lammps, version: 20230802, manager: spack}
    - {name: odd, version: 1e3, manager: spack}
    - {name: odder, version: 007, manager: spack}
"""
    real, simulated = parse(text).sites
    assert (real.name, real.max_walltime, real.charges.per_core_hour) == ("no", 7200, 0.1)
    assert real.machine == {"memory": "16GiB", "cpus": 4}
    state = SimulatedState.model_validate(simulated.simulated)
    assert [package.version for package in state.packages] == ["3.10", "20230802", "1e3", "007"]
    assert state.workload is not None
    assert state.workload.queues is not None
    assert (state.workload.whole_nodes_only.value, state.workload.queues[0].usable.value) == ("no", "yes")


@pytest.mark.anyio
async def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SiteFileError, match="there is no such file"):
        load_fleet(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"sites: \xff\xfe")
    with pytest.raises(SiteFileError, match="cannot be read"):
        load_fleet(tmp_path / "latin.yaml")
    (tmp_path / "good.yaml").write_bytes(b"\xef\xbb\xbfsites: [{name: a, scheduler: slurm}]\r\n")
    assert (load_fleet(tmp_path / "good.yaml", schedulers=KNOWN)).sites[0].name == "a"


@pytest.mark.anyio
async def test_the_shipped_example_is_this_machine_and_three_simulated_sites() -> None:
    fleet = load_fleet(EXAMPLES / "fleet.yaml", schedulers=KNOWN)
    assert [(site.name, site.scheduler, site.simulated is None) for site in fleet.sites] == [
        ("local", "machine", True),
        ("granite", "slurm", False),
        ("heather", "flux", False),
        ("skylark", "kubernetes", False),
    ]


def test_the_default_fleet_is_this_machine_at_no_cost() -> None:
    (site,) = default_fleet().sites
    assert (site.name, site.scheduler, site.transport.kind) == ("local", "machine", "local")
    assert (site.charges.currency, site.charges.per_core_hour) == ("none", 0.0)


def test_the_schema_is_self_contained() -> None:
    schema = fleet_schema()
    text = json.dumps(schema)
    references = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert references <= set(schema["$defs"])  # type: ignore[arg-type]
    assert "SimulatedState" in references


def test_a_field_beside_a_merge_is_told_with_its_own_line() -> None:
    text = "sites:\n- &one\n  name: a\n  scheduler: machine\n- <<: *one\n  name: b\n  scheduler: slrum\n"
    with pytest.raises(SiteFileError) as caught:
        parse_fleet(text, "s.yaml", schedulers=KNOWN)
    assert caught.value.where.startswith("s.yaml:7:"), caught.value.where
