"""Many questions in few round trips, and each fault with its own fact."""

from collections.abc import Sequence

import anyio
import pytest

from dragoman.command import Command, Completed, Told
from dragoman.errors import CommandMissing, CommandTimeout, TransportError, UnknownName
from dragoman.facts import Presence
from dragoman.model import now
from dragoman.observation import Answer, Category, Outcome
from dragoman.site import Site
from providers.evidence import Ask as AskProvider
from providers.evidence import Observer
from providers.probed import ProbedProvider, Question, ask_many, probe_all
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, no_answer, presence, question, where_is
from providers.probes.software.pip import Pip
from providers.slow_facts import SlowFacts
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments

pytestmark = pytest.mark.anyio


class Counting(LocalTransport):
    def __init__(self) -> None:
        super().__init__()
        self.rounds: list[list[Command]] = []

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        self.rounds.append(list(commands))
        return await super().run_many(commands)


def verb_of(ask: Ask, parse: object) -> ProbeVerb[NoArguments, Presence]:
    return presence(lambda _arguments, _paths: ask, parse)  # type: ignore[arg-type]


def said(_: NoArguments, results: Results) -> Answer[Presence]:
    trouble = no_answer(results, "it")
    done = results.done("it")
    if trouble is not None or done is None:
        return trouble or Answer[Presence].unknown("was not asked")
    return Answer[Presence].ok(Presence(version=done.out.strip()))


class Echo(Probe):
    category, name = Category.SOFTWARE, "echo"
    verbs = (verb_of(Ask({"it": question("echo", "1.0")}, ("/proc/version",)), said),)


class Echo2(Echo):
    name = "echo2"


class Hangs(Probe):
    category, name = Category.SOFTWARE, "hangs"
    verbs = (verb_of(Ask({"it": question("sleep", "30", timeout_s=0.3)}), said),)


class Missing(Probe):
    category, name = Category.SOFTWARE, "missing"
    verbs = (verb_of(Ask({"it": question("no-such-command-anywhere")}), said),)


def crash(_: NoArguments, results: Results) -> Answer[Presence]:
    raise KeyError("a field that this version does not print")


class Crashes(Probe):
    category, name = Category.SOFTWARE, "crashes"
    verbs = (verb_of(Ask({"it": question("echo", "1.0")}), crash),)


def more(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
    if not results.asked("second"):
        return Ask({"second": question("echo", "second")})
    first, second = results.done("it"), results.done("second")
    return Answer[Presence].ok(Presence(detail=f"{first and first.out}{second and second.out}"))


class TwoRounds(Probe):
    category, name = Category.SOFTWARE, "two-rounds"
    verbs = (verb_of(Ask({"it": question("echo", "first")}), more),)


class Endless(Probe):
    category, name = Category.SOFTWARE, "endless"
    verbs = (verb_of(Ask(), lambda _, results: Ask({f"{len(results.commands)}": question("true")})),)


async def test_one_round_trip_for_many_and_the_same_command_once() -> None:
    transport = Counting()
    answers = await probe_all(transport, [Echo(), Echo2(), Missing(), TwoRounds()])
    assert [(name, answer.outcome) for name, answer in answers.items()] == [
        ("software/echo", Outcome.OK),
        ("software/echo2", Outcome.OK),
        ("software/missing", Outcome.ABSENT),
        ("software/two-rounds", Outcome.OK),
    ]
    assert [len(commands) for commands in transport.rounds] == [4, 1]
    assert sum(command.argv[:1] == ("/bin/sh",) for command in transport.rounds[0]) == 1


async def test_a_hang_and_a_crash_are_unknown_and_leave_the_others_alone() -> None:
    answers = await probe_all(LocalTransport(), [Hangs(), Crashes(), Endless(), Echo()])
    assert [answer.outcome for answer in answers.values()] == [Outcome.UNKNOWN] * 3 + [Outcome.OK]
    assert "a field that this version" in answers["software/crashes"].reason
    assert all(answer.reason for name, answer in answers.items() if name != "software/echo")


class Sleeps(Probe):
    category, name = Category.SOFTWARE, "sleeps"
    verbs = (verb_of(Ask({"it": question("sleep", "30", timeout_s=30.0)}), said),)


class Remote(Counting):
    @property
    def local(self) -> bool:
        return False


@pytest.mark.parametrize("transport", [Counting(), Remote()], ids=["here", "elsewhere"])
async def test_what_is_quick_is_told_and_kept_before_what_hangs_has_ended(transport: Counting) -> None:
    facts = SlowFacts()
    observer = Observer(Site(name="x", scheduler="machine"), facts, now)
    asks = [
        AskProvider(ProbedProvider(probe, transport), "probe") for probe in (Sleeps(), Echo(), Crashes(), TwoRounds())
    ]
    with anyio.move_on_after(5) as scope:
        await observer.observe_many(asks)
    assert scope.cancelled_caught
    told = {each.provider: each.outcome for each in facts._kept.values()}
    assert told == {"software/echo": Outcome.OK, "software/crashes": Outcome.UNKNOWN, "software/two-rounds": Outcome.OK}
    assert len(transport.rounds) == 3, "the quick ones share their round trips"


async def test_slow_questions_that_share_a_command_share_its_answer() -> None:
    shared = question("sh", "-c", "echo 1.0; echo x >&2", timeout_s=30.0)
    probes = [type(f"Slow{name}", (Probe,), {"category": Category.SOFTWARE, "name": name, "verbs": (
        verb_of(Ask({"it": command}), said),)})() for name, command in
        (("a", shared), ("b", shared), ("c", question("sh", "-c", "echo 2.0", timeout_s=30.0)))]  # fmt: skip
    transport = Counting()
    answers = await probe_all(transport, probes)
    assert [answer.value.version for answer in answers.values() if answer.value] == ["1.0", "1.0", "2.0"]
    assert sorted(len(commands) for commands in transport.rounds) == [1, 1]


class Gone(LocalTransport):
    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        raise TransportError("connection lost")


async def test_a_site_that_is_away_is_unknown_everywhere() -> None:
    answers = await probe_all(Gone(), [Echo(), Crashes(), Missing()])
    assert {answer.outcome for answer in answers.values()} == {Outcome.UNKNOWN}
    assert answers["software/missing"].reason == "connection lost"


class Shellless(LocalTransport):
    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        return [CommandMissing(f"there is no {command.argv[0]}") for command in commands]


async def test_a_site_without_a_shell_shows_nothing_about_programs() -> None:
    (answer,) = await ask_many(Shellless(), [Question(Pip(), "probe")])
    assert answer.outcome is Outcome.UNKNOWN
    assert "/bin/sh" in answer.reason


async def test_an_unknown_verb_names_those_that_are() -> None:
    provider = ProbedProvider(Echo(), LocalTransport())
    assert list(provider.verbs) == ["probe"]
    with pytest.raises(UnknownName, match="it has probe"):
        await provider.call("describe", NoArguments())
    assert (await provider.call("probe", NoArguments())).value == Presence(version="1.0")


async def test_no_questions_no_round_trip() -> None:
    transport = Counting()
    assert await ask_many(transport, []) == []
    assert transport.rounds == []


def test_where_a_program_is_called_from() -> None:
    paths: Paths = {"spack": "/opt/spack", "nvidia": "/usr/local/bin/nvidia-smi"}
    assert where_is("spack", paths) == "/opt/spack/bin/spack"
    assert where_is("nvidia-smi", paths, key="nvidia") == "/usr/local/bin/nvidia-smi"
    assert where_is("conda", paths) == "conda"


def test_truncated_output_is_no_answer() -> None:
    results = Results({"it": Completed(("x",), 0, b"half", b"", truncated=True), "late": CommandTimeout("late")})
    for name in ("it", "late", "never"):
        answer = no_answer(results, name)
        assert answer is not None
        assert answer.outcome is Outcome.UNKNOWN
        assert answer.reason


def test_questions_are_in_the_c_locale() -> None:
    assert question("lscpu").environment == {"LC_ALL": "C", "LANGUAGE": "C"}
    assert Question(Echo(), "probe").arguments == NoArguments()
