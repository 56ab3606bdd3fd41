"""Tools about scripts: they read and translate for any agent, and wrong combinations are refused as data."""

import json
from typing import Any

import pytest

from tools.scripts import read_names, script_tools, written_names

pytestmark = pytest.mark.anyio

SCRIPT = "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=8\n#SBATCH --switches=1 -t 30\ncd $SLURM_SUBMIT_DIR\nsrun ./app\n"


async def call(verb: str, **given: object) -> Any:
    tool = next(tool for tool in script_tools() if tool.name == verb)
    answer = await tool.ainvoke(given)
    assert json.loads(json.dumps(answer)) == answer
    return answer


async def test_a_script_is_read_as_a_request() -> None:
    answer = (await call("read_script", text=SCRIPT))["answer"]
    assert answer["source"] == "slurm"
    assert answer["request"]["shapes"] == [{"nodes": 2, "tasks_per_node": 8}]
    assert answer["request"]["walltime_s"] == 1800
    assert answer["request"]["script"].endswith("cd $SLURM_SUBMIT_DIR\nsrun ./app\n")
    assert "--switches=1" in str(answer)


async def test_a_script_is_translated_with_its_diff_and_losses() -> None:
    answer = (await call("translate_script", text=SCRIPT, target="pbs"))["answer"]
    assert "#PBS -l select=2:ncpus=8:mpiprocs=8" in answer["script"]
    assert answer["diff"].endswith("-srun ./app\n+cd $PBS_O_WORKDIR\n+mpiexec -n 16 ./app\n")
    lost = [remark["words"] for remark in answer["report"] if remark["kind"] == "lost"]
    assert lost == ["--switches=1"]
    assert {change["line"] for change in answer["changes"]} == {4, 5}


async def test_each_scheduler_that_runs_can_be_written_for() -> None:
    assert {"slurm", "pbs", "torque", "flux", "lsf", "sge", "oar", "kubernetes"} <= set(written_names())
    assert not {"cobalt", "moab"} & set(written_names())
    assert {"cobalt", "moab"} <= set(read_names())
    for target in written_names():
        answer = await call("translate_script", text=SCRIPT, target=target, source="slurm")
        assert answer["answer"]["target"] == target


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"text": SCRIPT, "target": "cobalt"}, "target"),
        ({"text": SCRIPT, "target": "slrum"}, "target"),
        ({"text": SCRIPT, "target": "pbs", "source": "kubernetes"}, "source"),
        ({"text": "", "target": "pbs"}, "text"),
        ({"text": "echo 1\n", "target": "pbs"}, "script"),
        ({"text": "\x7fELF\x01\x00", "target": "pbs"}, "text"),
        ({"text": "#SBATCH --nodes\n./app\n", "target": "pbs"}, "script"),
        ({"text": SCRIPT}, "target"),
        ({"text": SCRIPT, "target": "pbs", "to": "lsf"}, "to"),
    ],
)
async def test_wrong_combinations_are_refused_with_the_field(given: dict[str, object], where: str) -> None:
    answer = await call("translate_script", **given)
    assert (answer["ok"], answer["error"], answer["where"], answer["transient"]) == (False, "BadRequest", where, False)
    assert answer["cure"]


async def test_a_malformed_directive_names_its_line() -> None:
    answer = await call("read_script", text="#!/bin/sh\n#SBATCH -n 4\n#SBATCH --nodes=many\n./app\n")
    assert (answer["ok"], answer["where"]) == (False, "text")
    assert "line 3" in answer["what"]


def test_the_schema_names_the_schedulers() -> None:
    for tool in script_tools():
        assert (tool.metadata or {})["acts"] is False
        properties: dict[str, Any] = tool.tool_call_schema.model_json_schema()["properties"]  # type: ignore[union-attr]
        assert "slurm" in json.dumps(properties["source"])
        assert properties["text"]["description"]
