"""Detection as data: a folder per case with mock executables and files, and the answer that is expected of the probe.

A case is `<category>-<name>/<case>/case.yaml` with `bin/` (put on the PATH before the few plain tools a host has),
`files/`, `root/` (what lies in `/proc` and `/sys`; a host has nothing else then), and in the YAML: `verb`, `name` (of a
package), `paths`, `environment`, `site` (file systems of the site file); then `outcome`, `value` (without defaults) or
`reason` (texts that the reason contains). `{case}` stands for the folder, `{tools}` for the tools.
"""

import dataclasses
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dragoman.command import Command, Completed, Told
from dragoman.errors import CommandTimeout
from dragoman.observation import Answer, Outcome
from dragoman.site import Site
from providers.probed import Question, ask_many
from providers.probes.base import Ask, FileRead, ProbeVerb, Results
from providers.probes.reading import read_command, split_reads
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


def unpacked(folder: Path, tools: Path, tmp_path: Path) -> tuple[Question, LocalTransport, dict[str, Any]]:
    """A case as a question, the host that it is put to, and all that its YAML says."""
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
    environment = {"PATH": f"{case}/bin:{tools}", "HOME": str(case / "home"), **told.get("environment", {})}
    arguments = PackageQuery(name=told["name"]) if "name" in told else NoArguments()
    rooted = (case / "root").is_dir()
    transport = Rooted(environment, case / "root") if rooted else LocalTransport(environment)
    return Question(make.for_site(site), told["verb"], arguments), transport, told


@pytest.mark.parametrize("folder", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
async def test_the_answer_is_the_expected_one(folder: Path, tools: Path, tmp_path: Path) -> None:
    question, transport, told = unpacked(folder, tools, tmp_path)
    answer = (await ask_many(transport, [question], paths=told.get("paths", {})))[0]
    assert (answer.outcome.value, answer.reason if "reason" not in told else "") == (told["outcome"], "")
    for words in told.get("reason", []):
        assert words in answer.reason
    if answer.value is None:
        assert "value" not in told
    else:
        assert answer.value.model_dump(mode="json", exclude_defaults=True) == told["value"]


@dataclasses.dataclass
class Recorded:
    """What one case asked and got, so that its answers can be read again with one of them spoilt."""

    verb: ProbeVerb[Any, Any]
    arguments: Any
    paths: dict[str, str]
    commands: dict[str, Completed | Exception] = dataclasses.field(default_factory=dict)
    files: dict[str, tuple[FileRead, ...]] = dataclasses.field(default_factory=dict)

    async def ask(self, transport: LocalTransport) -> Answer[Any]:
        said: Answer[Any] | Ask = self.verb.ask(self.arguments, self.paths)
        for _ in range(6):
            if not isinstance(said, Ask):
                return said
            reading = [read_command(said.files, "0" * 24)] if said.files else []
            answers = await transport.run_many([*reading, *said.commands.values()])
            if reading:
                self.files |= split_reads(answers[0], said.files, "0" * 24)
            self.commands |= dict(zip(said.commands, answers[len(reading) :], strict=True))
            said = self.read(self.commands)
        raise AssertionError("asked for more and more")

    def read(self, commands: Mapping[str, Completed | Exception]) -> Answer[Any] | Ask:
        return self.verb.parse(self.arguments, Results(commands, self.files, self.paths))

    def read_with(self, name: str, spoilt: Completed | Exception) -> Answer[Any]:
        """The answer with one command's spoilt; what would be asked further gets no answer."""
        commands = {**self.commands, name: spoilt}
        for _ in range(6):
            said = self.read(commands)
            if not isinstance(said, Ask):
                return said
            commands |= dict.fromkeys(said.commands, CommandTimeout("no end within 10 s"))
            silent = {path: (FileRead(path, Outcome.UNKNOWN, reason="was not read"),) for path in said.files}
            self.files = {**silent, **self.files}
        raise AssertionError("asked for more and more")


def facts_of(value: Any, where: str = "") -> dict[str, Any]:
    """Plain values by their places; how long lists are, and words for people, left out."""
    if isinstance(value, dict):
        parts = [facts_of(item, f"{where}.{key}") for key, item in value.items() if key not in ("reason", "detail")]
    elif isinstance(value, list):
        parts = [facts_of(item, f"{where}.{place}") for place, item in enumerate(value)]
    else:
        return {} if value in (None, "", "unknown") else {where: value}
    return {key: item for part in parts for key, item in part.items()}


def spoilt(done: Completed) -> Iterator[bytes]:
    """Outputs that no program ever printed whole."""
    data = done.stdout
    lines = data.split(b"\n")
    yield from (b"\n".join([*lines[:place], b""]) for place in range(min(len(lines), 40)))
    yield from (data[: place * len(data) // 9] for place in range(9))
    yield b"Welcome to the cluster\n*** maintenance at 12:00 ***\n\x1b[1mhi\x1b[0m\n" + data
    yield b"set: Command not found.\nif: Expression Syntax.\n" + data
    yield data + b"\nlogout: 100 200 300\n"
    middle = len(data) // 2
    yield from (data[:middle] + junk + data[middle:] for junk in (b"\xff\xfe", b"\0" * 9, b"\r\n", b'"', b"\t", b"<"))
    yield b"\0" * len(data)
    yield data.replace(b"\n", b"\r\n")
    yield b"Error: cannot connect to the daemon\n"


KERNEL = {"ibstat"}
"""Programs beside which the kernel's own word counts: where it has no device there is none."""
OTHERWISE = {
    "hardware-amd/amd-smi": "static",  # cards whose model is not told are put together
    "hardware-intel/processes-not-told": "card ",
    "hardware-intel/two-one-busy": "card ",
    "storage-lustre/two-with-quota-and-purge": "/files/scratch",  # the site file tells its size
    "workload-moab/resources": "nodes",  # the sums that showq tells stand for them
}
"""Commands without which the same facts come in another form."""


@pytest.mark.parametrize("folder", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
async def test_nothing_false_follows_from_an_answer_that_is_spoilt(folder: Path, tools: Path, tmp_path: Path) -> None:
    question, transport, told = unpacked(folder, tools, tmp_path)
    verb = question.probe.verb(question.verb)
    assert verb is not None
    case = Recorded(verb, question.arguments, told.get("paths", {}))
    whole = await case.ask(transport)
    for name, done in case.commands.items():
        if not isinstance(done, Completed):
            continue
        for data in spoilt(done):
            case.read_with(name, dataclasses.replace(done, stdout=data))  # nothing raises
        failures: list[Completed | Exception] = [
            CommandTimeout("no end within 10 s"),
            dataclasses.replace(done, rc=1, stdout=b"", stderr=b"Permission denied"),
            dataclasses.replace(done, rc=0, stdout=b"", stderr=b"error: the daemon does not answer"),
            dataclasses.replace(done, truncated=True),
        ]
        empty = getattr(whole.value, "packages", None) == ()  # names nearby, and nothing installed
        if whole.outcome is Outcome.OK and name not in KERNEL and not empty:
            for failure in failures:
                assert case.read_with(name, failure).outcome is not Outcome.ABSENT, (name, failure)
        otherwise = OTHERWISE.get(f"{folder.parent.name}/{folder.name}", "\n") in name
        if whole.value is None or done.rc != 0 or done.stdout[-1:] in (b"}", b"]") or otherwise:
            continue
        known = facts_of(whole.value.model_dump(mode="json"))
        for place in range(1, len(done.stdout), max(len(done.stdout) // 25, 1)):
            cut = done.stdout[:place]
            if cut[-1:] in (b"\n", b"}", b"]"):
                continue
            seen = case.read_with(name, dataclasses.replace(done, stdout=cut))
            other = facts_of(seen.value.model_dump(mode="json")) if seen.value is not None else {}
            changed = {key: (known.get(key), item) for key, item in other.items() if known.get(key) != item}
            assert not changed, (name, cut[-40:])
