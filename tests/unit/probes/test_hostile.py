"""Names chosen by a model run nothing, and a site that misbehaves costs one fact and nobody's time."""

import dataclasses
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dragoman.command import Command, Completed, Told
from dragoman.observation import Answer, Category, Outcome
from providers.probed import Question, ask_many
from providers.probes.base import Ask, Probe, Results
from providers.registry import probes
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

pytestmark = pytest.mark.anyio

ALL: list[Probe] = [make() for _, make in probes.items()]
MINE = ALL
SOFTWARE = [probe for probe in MINE if probe.category is Category.SOFTWARE]
NASTY = [
    "--config=/tmp/x", "-c", "-h", "--help", "x;touch pwned", "$(touch pwned)", "`touch pwned`", "x\ntouch pwned",
    "x|touch pwned", "*", "?", "[a-z]*", "../../etc/passwd", "~root", "a b", "x\0y", "'", '"', "\\", "gcc@:12",
    "gcc%clang", "/3kx5q2", "x --all", "é", "\u202e", "a" * 200, "!!", "x\ttab", "$HOME", "{a,b}", "-", "--", "",
]  # fmt: skip


class Recording(LocalTransport):
    """Keeps what was asked, answers everything alike, and runs nothing."""

    def __init__(self, out: bytes) -> None:
        super().__init__({})
        self.asked: list[Command] = []
        self.out = out

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        self.asked += commands
        return [Completed(command.argv, 0, self.out, b"") for command in commands]


def rounds(probe: Probe, query: PackageQuery, out: bytes) -> list[Command]:
    """All commands a probe asks for, when every one of them prints the same."""
    verb = probe.verb("find_package")
    assert verb is not None
    asked: list[Command] = []
    question: Ask | Answer[Any] = verb.ask(query, {})
    commands: dict[str, Completed | Exception] = {}
    for _ in range(6):
        if not isinstance(question, Ask):
            break
        asked += question.commands.values()
        commands |= {name: Completed(each.argv, 0, out, b"") for name, each in question.commands.items()}
        question = verb.parse(query, Results(commands, {}, {}))
    return asked


def scripts(commands: list[Command]) -> set[str]:
    return {each.argv[each.argv.index("-c") + 1] for each in commands if each.argv[:2] == ("/bin/sh", "-c")}


def check_harmless(name: str, command: Command) -> None:
    """A script's own arguments are inert; those that it, or nobody, puts before a program are read as options."""
    words = list(command.argv)
    if words[:2] == ["/bin/sh", "-c"]:
        if 'exec "$found" "$@"' not in words[2]:
            return
        words = words[7:]  # the shell's own name, the program, its variables and places
    for index in [index for index, word in enumerate(words) if word in (name, name.strip(), name.strip().lower())]:
        assert index > 0, "a name is no program"
        assert not words[index].startswith("-") or "--" in words[:index], "a dash stands behind the end of options"


TEXTS = st.one_of(st.sampled_from(NASTY), st.text(max_size=40), st.from_regex(r"[-A-Za-z0-9;$`'\"|&<>*?\n /@+.]{1,30}"))


@pytest.mark.parametrize("probe", SOFTWARE, ids=lambda probe: probe.name)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=TEXTS)
def test_no_name_becomes_an_option_or_a_script(probe: Probe, name: str) -> None:
    # Even a query that went around its own checks.
    out = b"dragoman-program /opt/spack/bin/spack\n[]\ndragoman-end\n"
    asked = rounds(probe, PackageQuery.model_construct(name=name), out)
    assert scripts(asked) <= scripts(rounds(probe, PackageQuery(name="gcc"), out)), "no name is a part of a script"
    for command in asked:
        check_harmless(name, command)


@given(name=TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_query_takes_plain_names_alone(name: str) -> None:
    try:
        query = PackageQuery(name=name)
    except ValidationError:
        return
    assert query.name[0].isalnum()
    assert not set(query.name) & set("\n\r\0;|&$`'\"\\*?[]{}()<>!~#%^=,")


@pytest.mark.parametrize("name", ["x; touch pwned", "$(touch pwned)", "-e touch", "x\ntouch pwned", "*", "a b"])
@pytest.mark.parametrize("probe", SOFTWARE, ids=lambda probe: probe.name)
async def test_nothing_is_run_by_a_name(probe: Probe, name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    query = PackageQuery.model_construct(name=name)
    answer = (await ask_many(transport, [Question(probe, "find_package", query)]))[0]
    assert answer.value is None or answer.value.packages == ()
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240  # one empty folder


@given(out=st.binary(max_size=400))
@settings(max_examples=60, deadline=None)
def test_no_output_raises(out: bytes) -> None:
    async def check() -> None:
        questions = [
            Question(probe, verb.name, PackageQuery(name="gcc") if verb.name == "find_package" else NoArguments())
            for probe in MINE
            for verb in probe.verbs
        ]
        for answer in await ask_many(Recording(out), questions):
            assert "could not be read" not in answer.reason, answer.reason

    anyio.run(check)


LINES = st.lists(
    st.sampled_from([
        b"dragoman-begin avail", b"dragoman-end 0", b"dragoman-end", b"dragoman-init /x", b"dragoman-path /m",
        b"dragoman-lmod /l", b"gcc/12", b"dragoman-environment /e", b"gcc-1-0.json", b"dragoman-root /r", b"gcc/1-foss",
        b"dragoman-folder path /b", b"dragoman-program mpirun /b/mpirun", b"| exit 0", b"| mpirun (Open MPI) 4.1",
        b"dragoman-cray", b"dragoman-cray 8 ofi", b"dragoman-cray-active", b"[]", b"[{}]", b'[{"name": "gcc"}]',
        b'[{"name": "gcc", "version": 2.10, "parameters": [], "hash": 7}]', b'{"host": []}', b'[{"Names": 3}]', b"{}",
        b'{"host": {"security": {"rootless": true}, "idMappings": {"uidmap": [{}]}}}', b"[null]", b"podman version 4",
        b"\xff\xfe", b"dragoman-program /x/spack", b"apptainer version 1.2", b"Docker version 24", b"0.38", b"gcc-r0",
        b"ii \tgcc\t1:2-3", b"gcc\t1\t2",
    ])
)  # fmt: skip


@given(lines=LINES)
@settings(max_examples=200, deadline=None)
def test_no_mixture_of_answers_raises(lines: list[bytes]) -> None:
    test_no_output_raises.hypothesis.inner_test(b"\n".join(lines) + b"\n")  # type: ignore[attr-defined]


class Impatient(LocalTransport):
    """Gives every command a second."""

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        return await super().run_many([dataclasses.replace(each, timeout_s=1.0) for each in commands])


def host(folder: Path, **programs: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    for tool in ("sh", "sed", "head", "readlink", "tail", "grep", "ls", "sleep", "cat", "timeout"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    return {"PATH": str(folder), "HOME": str(folder)}


async def test_a_program_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    names = ("apptainer", "docker", "enroot", "sarus", "shifter", "singularity", "spack", "eb", "mpirun", "ch-run")
    programs = dict.fromkeys(names, "sleep 60 & wait")
    environment = host(tmp_path / "bin", podman="echo podman version 4.9.4", **programs)
    questions = [Question(probe, probe.verbs[-1].name, PackageQuery(name="gcc") if probe in SOFTWARE else NoArguments())
                 for probe in MINE]  # fmt: skip
    begun = time.monotonic()
    answers = await ask_many(Impatient(environment, at_once=32), questions)
    assert time.monotonic() - begun < 30
    told = {question.probe.name: answer for question, answer in zip(questions, answers, strict=True)}
    assert told["podman"].value is not None
    hung = ("apptainer", "docker", "enroot", "sarus", "shifter", "singularity", "spack", "charliecloud", "openmpi")
    assert {name: told[name].outcome for name in hung} == dict.fromkeys(hung, Outcome.UNKNOWN)
    assert all(told[name].reason for name in hung)


async def test_a_daemon_that_hangs_leaves_the_client_told(tmp_path: Path) -> None:
    docker = 'case $1 in --version) echo "Docker version 24.0.5, build x" ;; *) sleep 60 ;; esac'
    environment = host(tmp_path / "bin", docker=docker)
    answer = (await ask_many(Impatient(environment), [Question(probes.get("container/docker")(), "status")]))[0]
    assert answer.value is not None
    assert (answer.value.version, answer.value.usable.value) == ("24.0.5", "unknown")
    assert "no end within" in answer.value.reason


FLOOD = "i=0; while [ $i -lt 100 ]; do head -c 1048576 /dev/zero | tr '\\0' 'x'; i=$((i+1)); done"


@pytest.mark.parametrize("program", ["podman", "mpirun", "dpkg-query", "spack"])
async def test_a_hundred_megabytes_are_no_answer(program: str, tmp_path: Path) -> None:
    environment = host(tmp_path / "bin", **{program: FLOOD})
    (tmp_path / "bin" / "tr").symlink_to(str(shutil.which("tr")))
    found = {"podman": "container/podman", "mpirun": "parallel/openmpi", "dpkg-query": "software/system",
             "spack": "software/spack"}[program]  # fmt: skip
    probe = probes.get(found)()
    arguments = PackageQuery(name="gcc") if probe.category is Category.SOFTWARE else NoArguments()
    answer = (await ask_many(LocalTransport(environment), [Question(probe, probe.verbs[-1].name, arguments)]))[0]
    assert answer.outcome is Outcome.UNKNOWN
    assert len(answer.reason) < 500
