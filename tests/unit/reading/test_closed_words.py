"""Where a command ends because a sentence goes on, and commands that are named and not asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.errors import BadRequest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    "text",
    [
        "./sim doesn't need a GPU, 2 nodes",
        "./sim doesn’t need a GPU, 2 nodes",  # noqa: RUF001  # as typed
        "./sim can't start until Wednesday",
        "./sim isn't allowed on titan",
        "./sim jusqu'à 20h",
        "./sim d'ici vendredi",
        "./sim it's for the paper",
        "./sim we'll need 2 nodes",
    ],
)
def test_a_contraction_ends_the_command_and_opens_no_quotation(text: str, read: Read) -> None:
    reading = read(text, sites=("titan", "juno"))
    assert reading.request.command == ("./sim",)
    assert reading.request.script is None
    assert not reading.request.sites
    assert all(shape.gpus is None for shape in reading.request.shapes)


@pytest.mark.parametrize("text", ["run ./sim 'abc", 'run ./sim -t "a b on 2 nodes'])
def test_an_open_quotation_is_asked_about(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.script is None
    assert "command" in [question.field for question in reading.questions]


CLOSED = (
    "although despite regardless cannot always soon fails writes even-if whether unless because never would they it"
    " outside following excluding except beyond later rather everywhere automatically the-same off-the other-than"
    " obwohl trotzdem während nachdem niemals außerhalb irgendwo müssen ihr spätestens ohne gemäß"
    " quoique malgré lorsque jamais bientôt dehors depuis partout faudrait vous sauf selon"
)


@pytest.mark.parametrize("words", CLOSED.split())
@pytest.mark.parametrize("command", ["./sim", "python train.py --lr 0.1"])
def test_words_that_only_a_sentence_has_are_no_arguments(words: str, command: str, read: Read) -> None:
    reading = read(f"Run {command} {words.replace('-', ' ')} on titan", sites=("titan", "juno"))
    assert reading.request.command == tuple(command.split())


@pytest.mark.parametrize("words", ["test", "run all", "train up", "init", "par", "car les", "multiply", "assembly"])
def test_names_and_base_forms_stay_arguments(words: str, read: Read) -> None:
    assert read(f"Run ./sim {words} on 2 nodes").request.command == ("./sim", *words.split())


@pytest.mark.parametrize("words", ["echo done before the end", "printf although"])
def test_what_is_only_shown_may_be_any_word(words: str, read: Read) -> None:
    command = read(f"`{words}` on 2 nodes").request.command
    assert command == tuple(words.split())


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("./sim 2 to 4 nodes", 2, 4), ("./sim in.dat three to five nodes", 3, 5), ("./sim -v 2 bis 4 Knoten", None, None)],
)
def test_the_lower_end_of_an_amount_is_no_argument(text: str, low: int, high: int, read: Read) -> None:
    reading = read(text)
    assert "to" not in reading.request.command
    assert "bis" not in reading.request.command
    if low:
        assert (reading.request.shape.nodes, reading.request.shape.nodes_max) == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "Stop ./sim", "Cancel ./sim", "please kill my job ./sim", "Don't run ./sim on titan", "arrête ./sim",
        "Bitte beende ./sim",
    ],
)  # fmt: skip
def test_a_command_to_be_stopped_is_not_run(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert reading.unread
    assert "command" in [question.field for question in reading.questions]


def test_another_command_beside_one_to_be_stopped_is_run(read: Read) -> None:
    reading = read("Stop ./a and run ./b on 2 nodes")
    assert reading.request.command == ("./b",)
    assert reading.unread == ("Stop ./a",)


@pytest.mark.parametrize(
    "text",
    [
        "How long does ./sim take on 4 nodes?", "Why does ./sim fail?", "Wie lange braucht ./sim auf 4 Knoten?",
        "Hello, how much does ./sim -n 3 cost on 2 GPUs?",
    ],
)  # fmt: skip
def test_a_question_about_a_command_runs_nothing(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert "command" in [question.field for question in reading.questions]


@pytest.mark.parametrize("text", ["Can you run ./sim on 4 nodes?", "Is it possible to run ./sim on 4 nodes?"])
def test_a_request_in_the_form_of_a_question_is_one(text: str, read: Read) -> None:
    assert read(text).request.command == ("./sim",)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("./sim 2-4 nodes", {"nodes": 2, "nodes_max": 4}), ("./sim ~4 nodes", {"nodes": 4}),
        ("./sim -v in.dat 3-5 nodes", {"nodes": 3, "nodes_max": 5}), ("./sim up to 4 nodes", {"nodes_max": 4}),
    ],
)  # fmt: skip
def test_an_amount_with_a_sign_is_no_argument(text: str, shape: dict[str, int], read: Read) -> None:
    reading = read(text)
    assert not {word for word in reading.request.command if word[:1].isdigit()}
    assert reading.request.script is None
    assert {name: getattr(reading.request.shape, name) for name in shape} == shape


@pytest.mark.parametrize("text", ["./sim < 4 nodes", "./sim >= 4 nodes"])
def test_a_bound_is_no_redirection(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.script is None
    assert [question.field for question in reading.questions] == ["command"]


def test_a_file_is_redirected(read: Read) -> None:
    assert read("./sim < in.dat").request.script == "./sim < in.dat\n"


@pytest.mark.parametrize("text", ["./sim --bus CAN on 2 nodes", "./sim --country US on 2 nodes", "./sim -x ALL US"])
def test_names_in_capitals_stay(text: str, read: Read) -> None:
    assert set(read(text).request.command) & {"CAN", "US"}


@pytest.mark.parametrize(
    "text",
    [
        "run ./post even if job 12345 fails", "run ./post regardless of whether job 12345 fails",
        "even if job 12345 crashes, run ./post", "./post auch wenn Job 12345 fehlschlägt",
        "run ./post no matter whether job 12345 succeeded or not",
    ],
)  # fmt: skip
def test_even_if_a_job_fails_waits_for_any_outcome(text: str, read: Read) -> None:
    (dependency,) = read(text).request.dependencies
    assert (dependency.kind, dependency.job_id) == ("afterany", "12345")


@pytest.mark.parametrize("text", ["run ./post if job 12345 fails", "run ./post when job 12345 has failed"])
def test_if_a_job_fails_waits_for_its_failure(text: str, read: Read) -> None:
    assert [each.kind for each in read(text).request.dependencies] == ["afternotok"]


@pytest.mark.parametrize(
    "text",
    [
        "./sim must not be run", "./sim is not to be started", "./sim should be stopped", "./sim nicht starten",
        "Führe ./sim nicht aus", "ne lance pas ./sim", "Nicht starten: ./sim", "Kill ./sim and resubmit it on 4 nodes",
        "Don't run ./sim on 4 nodes",
    ],
)  # fmt: skip
def test_a_refused_command_is_asked_about_whatever_else_is_said(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert "command" in [question.field for question in reading.questions]
    assert any("./sim" in words for words in reading.unread)


@pytest.mark.parametrize("text", ["Do not start ./sim before Friday", "Don't run ./sim until Friday, on 2 nodes"])
def test_what_is_refused_for_a_time_gives_no_deadline(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.deadline is None
    assert "command" in [question.field for question in reading.questions]


def test_a_time_behind_the_other_of_two_commands_counts(read: Read) -> None:
    reading = read("run ./sim rather than ./prep before Friday")
    assert reading.request.command == ("./sim",)
    assert reading.request.deadline is not None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Would ./sim run on 4 nodes?", ["command"]),
        ("Can ./sim run on titan?", ["command"]),
        ("how long would ./sim take on 2 nodes", ["command"]),
        ("Please tell me how long ./sim takes on 4 nodes.", ["command"]),
        ("I wonder whether ./sim would fit on titan", ["command"]),
        ("What does ./sim cost on titan", ["command", "sites"]),
    ],
)
def test_an_indirect_question_runs_nothing(text: str, asked: list[str], read: Read) -> None:
    reading = read(text, sites=("titan",))
    assert reading.request.command == ()
    assert [question.field for question in reading.questions] == asked


@pytest.mark.parametrize(
    "text",
    [
        "let me know if you can run ./sim on 2 nodes", "./sim must not be run on titan", "Could you start ./sim?",
        "./sim can't be started before Friday",
    ],
)  # fmt: skip
def test_a_condition_of_a_run_refuses_no_command(text: str, read: Read) -> None:
    assert read(text, sites=("titan",)).request.command == ("./sim",)


@pytest.mark.parametrize("name", ["O'Brien", "d'Arcy's"])
def test_a_name_behind_an_option_is_never_dropped(name: str, read: Read) -> None:
    reading = read(f"python train.py --name {name} on 2 nodes")
    assert reading.request.command == () or name in reading.unread or name in reading.request.command
    assert reading.request.script is None


@pytest.mark.parametrize("text", ["Don't cancel ./sim", "please do not kill ./sim on 4 nodes"])
def test_what_is_not_to_be_stopped_is_not_started(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.command == ()
    assert "command" in [question.field for question in reading.questions]


@pytest.mark.parametrize("command", ["./sim doesn't need it", './x "a b'])
def test_an_open_quotation_of_a_form_is_refused(command: str, read: Read) -> None:
    with pytest.raises(BadRequest, match="quotation"):
        read({"command": command})


@pytest.mark.parametrize(
    "body", ["python -c 'print(1)'", "awk '{s+=$1}' a.txt", """bash -c 'echo "it is"'""", "./x -D='a b'"]
)
def test_quotations_that_end_are_none_that_do_not(body: str, read: Read) -> None:
    reading = read(f"`{body}` on 2 nodes")
    assert not reading.questions
    assert reading.request.command or reading.request.script
