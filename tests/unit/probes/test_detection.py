"""Detection as data: a folder per case with mock executables and files, and the answer that is expected of the probe.

A case is `<category>-<name>/<case>/case.yaml` with `bin/` (put on the PATH before the few plain tools a host has),
`files/`, and in the YAML: `verb`, `name` (of a package), `paths`, `environment`; then `outcome`, `value` (without
defaults) or `reason` (texts that the reason contains). `{case}` stands for the folder, `{tools}` for the tools.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from providers.probed import Question, ask_many
from providers.registry import probes
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/case.yaml"))
TOOLS = ("sh", "cat", "cut", "grep", "head", "ls", "readlink", "sed", "sleep", "tail", "timeout", "tr", "env", "printf")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    for name in TOOLS:
        where = shutil.which(name)
        assert where, name
        (folder / name).symlink_to(where)
    return folder


def filled(value: Any, case: Path, tools: Path) -> Any:
    if isinstance(value, dict):
        return {key: filled(item, case, tools) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, case, tools) for item in value]
    return value.replace("{case}", str(case)).replace("{tools}", str(tools)) if isinstance(value, str) else value


def test_there_are_cases_for_every_probe_that_cannot_be_installed() -> None:
    covered = {case.parent.name.replace("-", "/", 1) for case in CASES}
    wanted = {name for name in probes.names() if name.split("/")[0] in ("software", "container", "parallel")}
    assert wanted - covered == {"software/pip"}


@pytest.mark.parametrize("folder", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
async def test_the_answer_is_the_expected_one(folder: Path, tools: Path, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(folder, case, symlinks=True)
    for program in (case / "bin").glob("*"):
        program.chmod(0o755)
    told = filled(yaml.safe_load((case / "case.yaml").read_text("utf-8")), case, tools)
    probe = probes.get(folder.parent.name.replace("-", "/", 1))()
    environment = {"PATH": f"{case}/bin:{tools}", "HOME": str(case / "home"), **told.get("environment", {})}
    arguments = PackageQuery(name=told["name"]) if "name" in told else NoArguments()
    question = Question(probe, told["verb"], arguments)
    answer = (await ask_many(LocalTransport(environment), [question], paths=told.get("paths", {})))[0]
    assert (answer.outcome.value, answer.reason if "reason" not in told else "") == (told["outcome"], "")
    for words in told.get("reason", []):
        assert words in answer.reason
    if answer.value is None:
        assert "value" not in told
    else:
        assert answer.value.model_dump(mode="json", exclude_defaults=True) == told["value"]
