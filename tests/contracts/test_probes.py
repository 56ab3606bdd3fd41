"""What holds for every registered probe, and for its simulated twin: a new one is tested by existing."""

from collections.abc import Sequence
from typing import Any

import pytest

from dragoman.command import Command, Completed, Told
from dragoman.errors import CommandMissing, CommandTimeout
from dragoman.facts import Package, Packages
from dragoman.observation import Answer, Outcome
from providers.probed import ProbedProvider, Question, ask_many
from providers.probes.base import Probe
from providers.registry import probes
from providers.simulated.provider import SimulatedProvider
from providers.simulated.state import SimulatedState
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery, category_verbs

pytestmark = pytest.mark.anyio

ALL: list[Probe] = [make() for _, make in probes.items()]
NONSENSE = "no-such-package-anywhere-zzq"
each_probe = pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.id)


def questions(probe: Probe) -> list[Question]:
    return [
        Question(
            probe, verb.name, PackageQuery(name=NONSENSE) if verb.verb.arguments is PackageQuery else NoArguments()
        )
        for verb in probe.verbs
    ]


def check_typed(question: Question, answer: Answer[Any]) -> None:
    verb = question.probe.verb(question.verb)
    assert verb is not None
    assert answer.outcome in Outcome
    if answer.outcome is Outcome.OK:
        assert isinstance(answer.value, verb.verb.answer)
    else:
        assert answer.value is None
        assert answer.reason, "an answer without a value says why"


def test_every_module_of_probes_could_be_imported() -> None:
    assert probes.failures() == {}
    assert len(ALL) >= 5


@each_probe
def test_it_has_the_verbs_of_its_category_and_names_are_whole(probe: Probe) -> None:
    assert probes.get(probe.id) is type(probe)
    assert probe.verbs[0].name == "probe"
    mine = {verb.name: verb.verb for verb in probe.verbs}
    for shared in category_verbs(probe.category, probe.name):
        assert mine[shared.name].arguments is shared.arguments
        assert mine[shared.name].answer is shared.answer
    assert all(len(verb.verb.description) > 40 for verb in probe.verbs)


@each_probe
def test_its_simulated_twin_has_the_same_verbs(probe: Probe) -> None:
    twin = SimulatedProvider(probe.category, probe.name, SimulatedState())
    real = ProbedProvider(probe, LocalTransport())
    assert {name: (verb.arguments, verb.answer) for name, verb in twin.verbs.items()} == {
        name: (verb.arguments, verb.answer) for name, verb in real.verbs.items()
    }


@each_probe
async def test_on_this_machine_every_answer_is_typed_and_nothing_raises(probe: Probe) -> None:
    asked = questions(probe)
    for question, answer in zip(asked, await ask_many(LocalTransport(), asked), strict=True):
        check_typed(question, answer)
        if isinstance(answer.value, Packages):
            assert answer.value.packages == ()


class Scripted(LocalTransport):
    """Answers every command with the same thing, and keeps what was asked."""

    def __init__(self, answer: Exception | tuple[int, str, str]) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[Command] = []

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        self.asked += commands
        if isinstance(self.answer, Exception):
            return [self.answer] * len(commands)
        rc, out, err = self.answer
        return [Completed(command.argv, rc, out.encode(), err.encode()) for command in commands]


@each_probe
@pytest.mark.parametrize(
    "answer",
    [
        CommandTimeout("no end within 5 s"),
        (1, "", "Permission denied"),
        (255, "", "Connection closed"),
        (137, "", "Killed"),
    ],
    ids=["hang", "denied", "closed", "killed"],
)
async def test_a_failure_is_unknown_never_absence(probe: Probe, answer: Exception | tuple[int, str, str]) -> None:
    asked = questions(probe)
    for question, got in zip(asked, await ask_many(Scripted(answer), asked), strict=True):
        check_typed(question, got)
        assert got.outcome is Outcome.UNKNOWN, question.verb


@each_probe
@pytest.mark.parametrize(
    "answer",
    [
        CommandMissing("there is no such command"),
        (0, "", ""),
        (0, "\x00\xff garbage {[<", "warning"),
        (0, "{}", ""),
        (0, "[]", ""),
    ],
    ids=["missing", "empty", "garbage", "object", "list"],
)
async def test_strange_answers_are_no_facts(probe: Probe, answer: Exception | tuple[int, str, str]) -> None:
    asked = questions(probe)
    for question, got in zip(asked, await ask_many(Scripted(answer), asked), strict=True):
        check_typed(question, got)
        if isinstance(got.value, Packages):
            assert got.value.packages == ()


@each_probe
async def test_its_questions_are_bounded_and_in_the_c_locale(probe: Probe) -> None:
    transport = Scripted((1, "", "error"))
    await ask_many(transport, questions(probe))
    for command in transport.asked:
        assert command.environment.get("LC_ALL") == "C", command.argv
        assert 0 < command.timeout_s <= 60, command.argv
        if "-c" in command.argv:
            script = command.argv[command.argv.index("-c") + 1]
            assert NONSENSE not in script, "a name from a request is an argument of its own, not shell text"


@each_probe
async def test_the_twin_tells_absence_of_what_is_not_named_and_unknown_where_the_state_says_so(probe: Probe) -> None:
    nothing = SimulatedProvider(probe.category, probe.name, SimulatedState())
    silent = SimulatedProvider(probe.category, probe.name, SimulatedState(unknown=(probe.id,)))
    for question in questions(probe):
        assert (await nothing.call(question.verb, question.arguments)).outcome is Outcome.ABSENT
        assert (await silent.call(question.verb, question.arguments)).outcome is Outcome.UNKNOWN


async def test_a_twin_of_software_answers_by_exact_name() -> None:
    state = SimulatedState(packages=(Package(name="gromacs", version="2.10", manager="spack"),))
    twin = SimulatedProvider(ALL[0].category.SOFTWARE, "spack", state)
    found = await twin.call("find_package", PackageQuery(name="GROMACS"))
    assert isinstance(found.value, Packages)
    assert [package.version for package in found.value.packages] == ["2.10"]
    nearby = await twin.call("find_package", PackageQuery(name="gromac"))
    assert isinstance(nearby.value, Packages)
    assert (nearby.value.packages, nearby.value.similar) == ((), ("gromacs",))
