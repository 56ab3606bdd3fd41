"""Detection as data: a folder per case with mock executables and files, and the answer that is expected of the probe.

A case is `<category>-<name>/<case>/case.yaml` with `bin/` (put on the PATH before the few plain tools a host has),
`files/`, `root/` (what lies in `/proc` and `/sys`; a host has nothing else then), and in the YAML: `verb`, `name` (of a
package), `paths`, `environment`, `site` (file systems of the site file); then `outcome`, `value` (without defaults) or
`reason` (texts that the reason contains). `{case}` stands for the folder, `{tools}` for the tools.
"""

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dragoman.command import Command, Completed, Told
from dragoman.site import Site
from providers.probed import Question, ask_many
from providers.probes.reading import read_command
from providers.registry import probes
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/case.yaml"))
READING = read_command([], "").argv[2]
TOOLS = (
    "sh",
    "cat",
    "cut",
    "grep",
    "head",
    "id",
    "ls",
    "readlink",
    "sed",
    "sleep",
    "tail",
    "timeout",
    "tr",
    "env",
    "printf",
)


class Rooted(LocalTransport):
    """Files are read below a folder, and told as if that were the root."""

    def __init__(self, environment: Mapping[str, str], root: Path) -> None:
        super().__init__(environment)
        self.root = str(root)

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        moved = [
            dataclasses.replace(each, argv=(*each.argv[:6], *(f"{self.root}{path}" for path in each.argv[6:])))
            if READING in each.argv
            else each
            for each in commands
        ]
        return [
            dataclasses.replace(done, stdout=done.stdout.replace(self.root.encode(), b""))
            if isinstance(done, Completed) and READING in done.argv
            else done
            for done in await super().run_many(moved)
        ]


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
    here = {"software/pip", "hardware/cpu", "hardware/memory", "network/ethernet", "storage/local-scratch"}
    assert set(probes.names()) - covered == here, "those that every machine has are tried on this one"


@pytest.mark.parametrize("folder", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
async def test_the_answer_is_the_expected_one(folder: Path, tools: Path, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(folder, case, symlinks=True)
    for program in (case / "bin").glob("*"):
        program.chmod(0o755)
    told = filled(yaml.safe_load((case / "case.yaml").read_text("utf-8")), case, tools)
    for file in (case / "root").rglob("*"):
        if file.is_file():
            file.write_text(filled(file.read_text("utf-8"), case, tools))
    site = Site.model_validate({"name": "x", "scheduler": "machine", "file_systems": told.get("site", [])})
    make: Any = probes.get(folder.parent.name.replace("-", "/", 1))
    probe = make.for_site(site)
    environment = {"PATH": f"{case}/bin:{tools}", "HOME": str(case / "home"), **told.get("environment", {})}
    arguments = PackageQuery(name=told["name"]) if "name" in told else NoArguments()
    question = Question(probe, told["verb"], arguments)
    rooted = (case / "root").is_dir()
    transport = Rooted(environment, case / "root") if rooted else LocalTransport(environment)
    answer = (await ask_many(transport, [question], paths=told.get("paths", {})))[0]
    assert (answer.outcome.value, answer.reason if "reason" not in told else "") == (told["outcome"], "")
    for words in told.get("reason", []):
        assert words in answer.reason
    if answer.value is None:
        assert "value" not in told
    else:
        assert answer.value.model_dump(mode="json", exclude_defaults=True) == told["value"]
