"""Submit tools have the fields that their scheduler takes; what it lacks is refused with its own words."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from dragoman.site import Site, TransportConfig
from providers.registry import dialects
from providers.site_runtime import open_site
from providers.translation.translate import dialect_named
from providers.transports.local import LocalTransport
from tools.acting import acting_tools
from tools.order_fields import order_model, untaken_fields

pytestmark = pytest.mark.anyio

RUN = [name for name, make in dialects.items() if not getattr(make, "only_scripts", False)]
VERBS = {"submit", "status", "history", "cancel", "hold", "release"}
VALUES: dict[str, object] = {
    "queue": "q",
    "account": "a",
    "qos": "high",
    "reservation": "r",
    "array": {"ranges": [{"first": 1, "last": 4}]},
    "components": [{"nodes": 1}, {"nodes": 2}],
    "dependencies": [{"kind": "afterany", "job_id": "7"}],
    "licenses": ["ansys:2"],
    "start_after": "2030-01-01T00:00:00Z",
    "requeue": True,
    "walltime_min_s": 60,
    "image": "debian:12",
}


def tools_at(name: str, where: Path) -> dict[str, BaseTool]:
    """Of a site whose commands are not there: whatever is refused is refused before the site is asked."""
    site = Site(name="here", scheduler=name, transport=TransportConfig(kind="local"), work_root=str(where))
    runtime = open_site(site, transport=LocalTransport({"PATH": str(where)}))
    return {(tool.metadata or {})["verb"]: tool for tool in acting_tools(runtime)}


@pytest.mark.parametrize("name", RUN)
async def test_every_scheduler_has_a_tool_for_every_verb(name: str, tmp_path: Path) -> None:
    tools = tools_at(name, tmp_path)
    assert set(tools) == VERBS
    assert all(json.dumps(tool.tool_call_schema.model_json_schema()) for tool in tools.values())  # type: ignore[union-attr]


@pytest.mark.parametrize("name", RUN)
async def test_what_a_scheduler_lacks_is_no_field_and_is_refused(name: str, tmp_path: Path) -> None:
    make: Any = dialects.get(name)
    tools, dialect = tools_at(name, tmp_path), make.for_site(Site(name="here", scheduler=name))
    untaken = untaken_fields(dialect)
    assert set(VALUES) - set(untaken), "it takes something"
    for field, words in untaken.items():
        order = {"key": "k", "command": ["true"], field: VALUES[field]}
        answer = await tools["submit"].ainvoke({"job": order})
        assert (answer["ok"], answer["error"], answer["where"]) == (False, "BadRequest", f"job.{field}")
        assert words in answer["what"]
    schema: dict[str, Any] = order_model(dialect).model_json_schema()
    assert not set(untaken) & set(schema["properties"])
    assert schema["properties"]["key"]["description"]


def test_which_scheduler_lacks_what() -> None:
    lacks = {name: set(untaken_fields(dialect_named(name))) for name in RUN}
    assert lacks["slurm"] == {"image"}
    assert {"qos", "array", "components", "reservation"} <= lacks["flux"]
    assert {"qos", "components", "dependencies"} <= lacks["kubernetes"]
    assert "image" not in lacks["kubernetes"]
    assert "queue" in lacks["htcondor"]
    assert {"queue", "account", "qos"} <= lacks["machine"], "what would be passed over is refused"
    assert not {"array", "dependencies", "queue", "account"} & (lacks["pbs"] | lacks["lsf"] | lacks["sge"])


async def test_empty_fields_are_no_wish(tmp_path: Path) -> None:
    order = {"key": "k", "command": ["true"], "script": "true", "qos": None, "components": []}
    answer = await tools_at("flux", tmp_path)["submit"].ainvoke({"job": order})
    assert (answer["error"], answer["where"]) == ("BadRequest", "job"), "two bodies, and no word about qos"


@pytest.mark.parametrize(("site", "scheduler"), [("there", "slurm"), ("here", "pbs")])
async def test_an_attempt_for_another_place_is_not_submitted_here(tmp_path: Path, site: str, scheduler: str) -> None:
    attempt = {
        "tag": "dgm-abcdefabcdef-a1", "thread_id": "t", "step": "dispatcher", "number": 1, "site": site,
        "scheduler": scheduler,
        "spec": {"tag": "dgm-abcdefabcdef-a1", "shape": {}, "work_dir": "/w", "control_dir": "/c", "body": "true"},
    }  # fmt: skip
    answer = await tools_at("slurm", tmp_path)["submit"].ainvoke({"attempt": attempt})
    assert (answer["ok"], answer["error"], answer["where"]) == (False, "BadRequest", "attempt")
    assert site in answer["what"]


@pytest.mark.parametrize(
    ("extra", "where"),
    [
        ({"environment": [{"name": "TOKEN", "secret": "key"}]}, "job.environment"),
        ({"dependencies": [{"kind": "afterok", "thread_id": "t"}]}, "job.dependencies.0"),
    ],
)
async def test_what_an_order_cannot_carry_is_refused(tmp_path: Path, extra: dict[str, object], where: str) -> None:
    answer = await tools_at("slurm", tmp_path)["submit"].ainvoke({"job": {"key": "k", "command": ["true"], **extra}})
    assert (answer["ok"], answer["error"], answer["where"]) == (False, "BadRequest", where)


@pytest.mark.parametrize("name", ["cobalt", "moab"])
async def test_a_scheduler_whose_scripts_are_only_read_has_no_acting_tool(name: str, tmp_path: Path) -> None:
    assert tools_at(name, tmp_path) == {}
