"""Tools: reading ones never act, acting ones are apart, and answers are typed JSON either way."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.tools import BaseTool

from dragoman.observation import Observation
from dragoman.site import Site, TransportConfig
from graph.secretary import ask_secretary
from graph.secretary_model import consult
from providers.site_runtime import SiteRuntime, open_site
from providers.site_view import SiteView
from providers.transports.local import LocalTransport
from tools.acting import acting_tools
from tools.answers import tool_name
from tools.reading import reading_tools

pytestmark = pytest.mark.anyio

ACTS = {"submit", "status", "history", "cancel", "hold", "release"}


@pytest.fixture
def runtime() -> SiteRuntime:
    state: dict[str, Any] = {
        "workload": {"scheduler": "slurm", "groups": [{"nodes": 4}]},
        "packages": [{"name": "gromacs", "version": "2024.2", "manager": "spack"}],
    }
    return open_site(Site(name="granite", scheduler="slurm", transport=TransportConfig(kind="none"), simulated=state))


def by_name(tools: list[BaseTool]) -> dict[str, BaseTool]:
    named = {tool.name: tool for tool in tools}
    assert len(named) == len(tools)
    return named


def told(tools: list[BaseTool], key: str) -> list[Any]:
    return [(tool.metadata or {})[key] for tool in tools]


async def test_what_a_negotiator_gets_has_no_acting_tool(runtime: SiteRuntime) -> None:
    tools = reading_tools(runtime)
    assert set(told(tools, "acts")) == {False}
    assert not {f"workload/slurm.{verb}" for verb in ACTS} & {
        f"{provider}.{verb}" for provider, verb in zip(told(tools, "provider"), told(tools, "verb"), strict=True)
    }
    assert not set(by_name(tools)) & set(by_name(acting_tools(runtime)))
    for real in (open_site(Site(name="here", scheduler="slurm")), runtime):
        for tool in reading_tools(real):
            assert tool.metadata is not None
            assert tool.metadata["site"] == real.site.name
            assert tool.metadata["verb"] in real.provider(tool.metadata["provider"]).verbs


def test_what_a_secretary_gets_of_a_site_cannot_act(runtime: SiteRuntime) -> None:
    view = runtime.view
    assert not any(hasattr(view, name) for name in ("scheduler", "transport", "movers", "aclose"))
    assert (view.site, view.providers, view.observer) == (runtime.site, runtime.providers, runtime.observer)
    assert by_name(reading_tools(view)).keys() == by_name(reading_tools(runtime)).keys()
    for asks in (ask_secretary, consult, reading_tools):
        assert SiteView in get_type_hints(asks).values(), "its type is that of a view"


async def test_acting_tools_say_that_they_act(runtime: SiteRuntime) -> None:
    tools = acting_tools(runtime)
    assert set(told(tools, "verb")) == ACTS
    assert set(told(tools, "acts")) == {True}


async def test_a_reading_tool_gives_evidence_that_is_kept(runtime: SiteRuntime) -> None:
    seen: list[Observation] = []
    tools = by_name(reading_tools(runtime, seen=seen.append))
    answer = await tools["software_spack_find_package"].ainvoke({"name": "gromacs"})
    assert answer["id"] == seen[0].id
    assert answer["value"]["packages"][0]["version"] == "2024.2"
    assert json.loads(json.dumps(answer)) == answer
    absent = await tools["software_pip_find_package"].ainvoke({"name": "gromacs"})
    assert absent["outcome"] == "absent"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "name"),
        ({"name": "a; rm -rf /"}, "name"),
        ({"name": 2.1}, "name"),
        ({"name": "x", "version": "1"}, "version"),
    ],
)
async def test_wrong_arguments_are_refused_as_data(
    runtime: SiteRuntime, arguments: dict[str, object], where: str
) -> None:
    seen: list[Observation] = []
    tool = by_name(reading_tools(runtime, seen=seen.append))["software_spack_find_package"]
    answer = await tool.ainvoke(arguments)
    assert (answer["ok"], answer["error"], answer["where"], answer["transient"]) == (False, "BadRequest", where, False)
    assert answer["cure"]
    assert "rm -rf" not in json.dumps(answer)
    assert seen == []


@pytest.mark.parametrize("jobs", [5, [], ["7"], [{"job_id": ""}], [{"job_id": 7}]])
async def test_a_wrong_order_does_nothing_and_names_the_field(runtime: SiteRuntime, jobs: object) -> None:
    answer = await by_name(acting_tools(runtime))["workload_slurm_status"].ainvoke({"jobs": jobs})
    assert (answer["ok"], answer["error"]) == (False, "BadRequest")
    assert answer["where"].startswith("jobs")


async def test_what_is_switched_off_has_no_tool() -> None:
    site = Site(name="g", scheduler="slurm", simulated={"managers": ["spack"]}, providers_off=("software/spack",))
    assert not any(name.startswith("software_spack") for name in by_name(reading_tools(open_site(site))))


async def test_a_single_verb_that_is_off_has_no_tool_and_the_others_do(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "podman").write_text(f'#!/bin/sh\necho "$*" >>{ran}\necho podman version 5.2.2\n')
    (tmp_path / "podman").chmod(0o755)
    site = Site(name="g", scheduler="machine", providers_off=("container/podman.status", "software/pip"))
    transport = LocalTransport({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    tools = by_name(reading_tools(open_site(site, transport=transport)))
    assert "container_podman_status" not in tools
    assert not any(name.startswith("software_pip") for name in tools)
    answer = await tools["container_podman_probe"].ainvoke({})
    assert answer["value"]["version"] == "5.2.2"
    assert ran.read_text() == "--version\n"


async def test_errors_come_back_as_data_with_their_cure(runtime: SiteRuntime) -> None:
    tools = by_name(acting_tools(runtime))
    attempt = {
        "tag": "dgm-abcdefabcdef-a1", "thread_id": "t", "step": "dispatcher", "number": 1, "site": "granite",
        "scheduler": "slurm",
        "spec": {"tag": "dgm-abcdefabcdef-a1", "shape": {}, "work_dir": "/w", "control_dir": "/c", "body": "true"},
    }  # fmt: skip
    refused = await tools["workload_slurm_submit"].ainvoke({"attempt": attempt})
    assert (refused["ok"], refused["error"], refused["reason_class"]) == (False, "SubmitRefused", "never")
    assert refused["cure"]
    gone = await tools["workload_slurm_cancel"].ainvoke({"job": {"job_id": "7"}})
    assert (gone["ok"], gone["outcome"], gone["transient"]) == (False, "absent", False)
    seen = await tools["workload_slurm_status"].ainvoke({"jobs": [{"job_id": "7"}]})
    assert seen == {"ok": True, "answer": {"absent": ["7"]}}


def test_names_fit_every_model_api() -> None:
    assert tool_name("storage", "local-scratch", "file_systems") == "storage_local_scratch_file_systems"
    assert tool_name("software", "é" * 100, "x") == ("software_" + "_" * 100)[:64]
