"""Sites files that would hang, crash or be read as something else: each is an error with its line and field."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import BadRequest, SiteFileError
from dragoman.facts import Account, Cpu, Interface, MemoryFacts
from dragoman.model import Model
from dragoman.site import Fleet, TransportConfig
from dragoman.units import parse_bytes, parse_duration
from providers.fleet import MAX_FILE_BYTES, load_fleet, parse_fleet
from providers.simulated.state import SimulatedState
from providers.site_source import SiteSource

SITE = "sites:\n- name: a\n  scheduler: slurm\n"


def parse(text: str, name: str = "s.yaml") -> Fleet:
    return parse_fleet(text, name, schedulers=("slurm",))


def doubling(first: str, each: str) -> str:
    return f"a0: &a0 {first}\n" + "".join(f"a{i}: &a{i} {each.format(i - 1)}\n" for i in range(1, 40))


@pytest.mark.parametrize(
    "text",
    [
        doubling("[x, x]", "[*a{0}, *a{0}]"),
        doubling("{x: y}", "{{b: *a{0}, c: *a{0}}}"),
        doubling("{x: y}", "{{<<: [*a{0}, *a{0}]}}"),
        SITE + "  machine: &m [*m]\n",
        "[" * 3000,
    ],
    ids=["lists", "mappings", "merges", "itself", "deep"],
)
def test_what_aliases_and_nesting_stand_for_is_bounded(text: str) -> None:
    with pytest.raises(SiteFileError):
        parse(text)


def test_aliases_of_sensible_size_are_read() -> None:
    text = "sites:\n- &one {name: a, scheduler: slurm, setup: &s [x, y]}\n- {<<: *one, name: b, container_binds: *s}\n"
    assert parse(text).sites[1].container_binds == ("x", "y")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("? [a]\n: b\n", "s.yaml:1: file"),
        ("sites:\n- ? {a: b}\n  : c\n", "s.yaml:2: sites.0"),
        ('sites:\n- name: !!bool "zz"\n', "s.yaml:2: sites.0.name"),
        ("sites:\n- name: !!timestamp 99999-99-99\n", "s.yaml:2: sites.0.name"),
        ("sites:\n- name: !!int 09\n", "s.yaml:2: sites.0.name"),
        ("sites:\n- name: !!float zz\n", "s.yaml:2: sites.0.name"),
        ("sites:\n- name: !!binary zz\n", "s.yaml:2: sites.0.name"),
        ("sites:\n- !!omap {a: b}\n", "s.yaml:2: sites.0"),
        ("sites:\n- !!str {a: b}\n", "s.yaml:2: sites.0"),
        (SITE + "  charges: {per_node_hour: !!float .inf}\n", "s.yaml:4: sites.0.charges.per_node_hour"),
        (SITE + "  charges: {per_node_hour: inf}\n", "s.yaml:4: sites.0.charges.per_node_hour"),
        (SITE + f"  max_jobs: {'9' * 400}\n", "s.yaml:4: sites.0.max_jobs"),
        (SITE + f"  max_jobs: {'9' * 5000}\n", "s.yaml:4: sites.0.max_jobs"),
        (SITE + f"  max_walltime: {'9' * 400}h\n", "s.yaml:4: sites.0.max_walltime"),
        (SITE + f"  max_walltime: {'9' * 400}-00:00:00\n", "s.yaml:4: sites.0.max_walltime"),
        (
            SITE + f"  file_systems:\n  - {{mount: /s, kind: nfs, capacity: {'9' * 400}GiB}}\n",
            "s.yaml:5: sites.0.file_systems.0.capacity",
        ),
        (
            SITE + f"  simulated:\n    memory: {{total_bytes: {'9' * 400}GiB}}\n",
            "s.yaml:5: sites.0.simulated.memory.total_bytes",
        ),
        (
            SITE + f"  simulated:\n    memory: {{total_bytes: {'9' * 25}}}\n",
            "s.yaml:5: sites.0.simulated.memory.total_bytes",
        ),
        (
            SITE + "  transport: {kind: openssh, host: b, connect_timeout_s: inf}\n",
            "s.yaml:4: sites.0.transport.connect_timeout_s",
        ),
        (
            SITE + "  transport: {kind: openssh, host: b, command_timeout_s: 1e300}\n",
            "s.yaml:4: sites.0.transport.command_timeout_s",
        ),
        (SITE + "  transport: {kind: asyncssh, host: b, port: 99999999}\n", "s.yaml:4: sites.0.transport.port"),
        (
            SITE + '  transport: {kind: openssh, host: b, config_file: "a\\0b"}\n',
            "s.yaml:4: sites.0.transport.config_file",
        ),
        (
            SITE + '  transport: {kind: openssh, host: b, identity_file: "a\\nb"}\n',
            "s.yaml:4: sites.0.transport.identity_file",
        ),
        (SITE + '  default_queue: "a\\nb"\n', "s.yaml:4: sites.0.default_queue"),
        (SITE + '  accounts: [{name: "a\\nb"}]\n', "s.yaml:4: sites.0.accounts.0"),
        (SITE + "  description: a\x00b\n", "s.yaml:4"),
        (
            SITE + '  simulated:\n    workload: {scheduler: slurm, version: "\\uD800"}\n',
            "s.yaml:5: sites.0.simulated.workload.version",
        ),
    ],
)
def test_what_would_crash_is_told_with_its_place(text: str, where: str) -> None:
    with pytest.raises(SiteFileError) as caught:
        parse(text)
    assert caught.value.where == where
    assert caught.value.cure
    assert len(str(caught.value)) < 400


def site(**fields: Any) -> dict[str, Any]:
    return {"sites": [{"name": "a", "scheduler": "slurm", **fields}]}


def test_json_is_read_as_json_whatever_its_name_is() -> None:
    face = "\N{GRINNING FACE}"
    for name in ("s.json", "s.yaml"):
        for spaces in (None, "\t"):
            data: dict[str, Any] = {"sites": [{face: {"k" * 2000: [2.1, -3, True, None, {}]}}], "x": []}
            read = SiteSource(name, json.dumps(data, indent=spaces).replace("2.1", "2.10"))
            assert read.data == {"sites": [{face: {"k" * 2000: ["2.10", -3, True, None, {}]}}], "x": []}
        assert parse(json.dumps(site(description="\x7f"), ensure_ascii=False), name).sites[0].description == "\x7f"
        state = parse(json.dumps(site(simulated={"memory": {"total_bytes": 1e17}})), name).sites[0].simulated
        memory = SimulatedState.model_validate(state).memory
        assert memory is not None
        assert memory.total_bytes == 10**17
        numbers = SiteSource(name, '{"a": [1e3, -2.5E+1, 1.5e0, 1e-1, 1e99, 0.50]}').data["a"]
        assert numbers == [1000, -25, "1.5e0", "1e-1", "1e99", "0.50"]
    assert parse('sites: [{name: a, scheduler: slurm, description: "\\ud83d\\ude00"}]').sites[0].description == face
    assert parse("{sites: [{name: a, scheduler: slurm}]}").sites[0].name == "a"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"sites": [\n{"name": "a", "scheduler": NaN}]}', "s.json:2: sites.0.scheduler"),
        ('{"sites": [\n{"name": "a", "scheduler": "\\ud800"}]}', "s.json:2: sites.0.scheduler"),
        ('{"sites": [\n{"name": "a", "scheduler": "slurm",\n"name": "b"}]}', "s.json:3: sites.0.name"),
        ('{"sites": [\n{"name": "a",\n"max_jobs": ' + "9" * 5000 + "}]}", "s.json:3: sites.0.max_jobs"),
        ('{"sites": [\n{"name": "a", "scheduler": "slurm", "cost": [ ], "port": {}}]}', "s.json:2: sites.0.cost"),
        ('{"sites": [\n{"name": "a"\n "scheduler": "slurm"}]}', "s.json:3"),
    ],
)  # fmt: skip
def test_errors_in_json_keep_their_lines(text: str, where: str) -> None:
    with pytest.raises(SiteFileError) as caught:
        parse(text, "s.json")
    assert caught.value.where == where


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in ("/dev/zero", tmp_path / "pipe.yaml", tmp_path):
        with pytest.raises(SiteFileError, match="not a regular file"):
            load_fleet(path)
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(SiteFileError, match="larger than"):
        load_fleet(tmp_path / "large.yaml")
    with pytest.raises(SiteFileError, match="cannot be read"):
        load_fleet("a\0b")


def test_amounts_are_exact_and_bounded() -> None:
    assert parse_bytes("9007199254740993B") == 9007199254740993
    assert parse_bytes("9007199254740993") == 9007199254740993
    assert parse_bytes("1e+17") == 10**17
    assert parse_bytes("2.5e3 kB") == 2_500_000
    assert (parse_bytes("2E"), parse_bytes("1EB"), parse_bytes("1.5TB")) == (2 * 2**60, 10**18, 1_500_000_000_000)
    assert (parse_bytes("0.1GB"), parse_bytes("0.0001k"), parse_bytes("0.7 B")) == (10**8, 1, 1)
    assert (parse_duration("2h30"), parse_duration("1.5 hours"), parse_duration("0.1 s")) == (9000, 5400, 1)
    for text in ("9" * 400 + "GiB", "1e400", f"1e{'9' * 400}", "1025EiB"):
        with pytest.raises(BadRequest):
            parse_bytes(text)
    for text in ("9" * 400 + "h", "9" * 5000 + ":00:00", "9" * 30 + "-00:00"):
        with pytest.raises(BadRequest):
            parse_duration(text)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "inf", "NaN", 10**400])
@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (Interface, {"name": "a", "fabric": "b", "gbit_s": None}),
        (Cpu, {"usable": None}),
        (Account, {"name": "a", "balance": None}),
        (MemoryFacts, {"total_bytes": None}),
        (TransportConfig, {"connect_timeout_s": None}),
        (SimulatedState, {"wait_s": None}),
        (SimulatedState, {"step_s": None}),
    ],
)
def test_numbers_of_facts_are_finite(model: type[Model], fields: dict[str, Any], value: object) -> None:
    with pytest.raises(ValueError, match="validation error"):
        model.model_validate({key: value if each is None else each for key, each in fields.items()})
