"""Durations and moments: each form, and the ones that are asked back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("4h", 14400),
        ("90 min", 5400),
        ("1.5 hours", 5400),
        ("2 days", 172800),
        ("24:00:00", 86400),
        ("2h30", 9000),
        ("2h 30min", 9000),
        ("1-12:00", 129600),
        ("02:00:00", 7200),
        ("half an hour", 1800),
        ("1 day 6 hours", 108000),
        ("45 mins", 2700),
        ("a week", 604800),
        ("2,5 Stunden", 9000),
        ("90 s", 90),
        ("an hour and a half", 5400),
        ("two and a half hours", 9000),
        ("7:00:00:00", 604800),
        ("three quarters of an hour", 2700),
    ],
)
def test_duration(words: str, seconds: int, read: Read) -> None:
    reading = read(f"./a.out on 1 node for {words}")
    assert reading.request.walltime_s == seconds
    assert reading.complete


@pytest.mark.parametrize("words", ["run it for 4:00 on 2 nodes", "walltime 12:30, ./a.out", "./a.out, time 0:45"])
def test_hours_or_minutes_are_asked_back(words: str, read: Read) -> None:
    reading = read(words)
    assert reading.request.walltime_s is None
    (question,) = [q for q in reading.questions if q.field == "walltime_s"]
    assert len(question.options) == 2


def test_four_colon_zero_zero_offers_hours_and_minutes(read: Read) -> None:
    (question,) = read("./a.out for 4:00").questions
    assert [option.patch for option in question.options] == [{"walltime_s": 14400}, {"walltime_s": 240}]


@pytest.mark.parametrize(
    "given",
    [
        "time limit UNLIMITED, ./a",
        "./a with infinite time",
        "walltime INFINITE: ./a",
        "walltime 0, ./a",
        {"walltime": "UNLIMITED", "command": "./a"},
        {"walltime": "infinite", "command": "./a"},
        {"walltime": "INFINITE", "command": "./a"},
        {"walltime": 0, "command": "./a"},
        {"walltime_s": 0, "command": "./a"},
        "no time limit, ./a",
    ],
)
def test_no_limit_is_warned_about(given: Any, read: Read) -> None:
    reading = read(given)
    assert reading.request.walltime_s is None
    assert any("no time limit" in sentence and "set one" in sentence for sentence in reading.defaults)
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "field", "moment"),
    [
        ("before Friday 17:00", "deadline", "2026-12-04T16:00:00Z"),
        ("by tomorrow noon", "deadline", "2026-12-01T11:00:00Z"),
        ("by 5pm tomorrow", "deadline", "2026-12-01T16:00:00Z"),
        ("until 3 December 2026 12:00 UTC", "deadline", "2026-12-03T12:00:00Z"),
        ("after 2026-12-01 08:00 CET", "start_after", "2026-12-01T07:00:00Z"),
        ("not before 2026-12-01T08:00Z", "start_after", "2026-12-01T08:00:00Z"),
        ("starting at 20:00", "start_after", "2026-11-30T19:00:00Z"),
        ("deadline: 2026-12-24", "deadline", "2026-12-24T23:00:00Z"),
        ("no later than Dec 1, 9am PST", "deadline", "2026-12-01T17:00:00Z"),
        ("spätestens Freitag 18 Uhr", "deadline", "2026-12-04T17:00:00Z"),
    ],
)
def test_moment(words: str, field: str, moment: str, read: Read) -> None:
    reading = read(f"./a.out on 1 node {words}")
    assert reading.request.dump()[field] == moment
    assert reading.complete


@pytest.mark.parametrize(
    "words", ["by Monday 17:00", "before next Friday 12:00", "by 12/05/2026 10:00", "by 8:00 CST tomorrow"]
)
def test_doubtful_moment_is_asked_back(words: str, read: Read) -> None:
    reading = read(f"./a.out {words}")
    assert reading.request.deadline is None
    assert "deadline" in {question.field for question in reading.questions}


def test_a_time_without_zone_is_asked_back(read: Read) -> None:
    reading = read("./a.out before Friday 17:00", time_zone=None)
    assert reading.request.deadline is None
    assert [question.field for question in reading.questions] == ["deadline"]


def moments(reading: Any) -> dict[str, Any]:
    """The deadline and the earliest start that a reading states."""
    dumped = reading.request.dump()
    return {name: dumped[name] for name in ("start_after", "deadline") if name in dumped}


@pytest.mark.parametrize(
    "words",
    [
        "please wait until Friday",
        "hold it, until Friday",
        "bitte bis Freitag warten",
        "mit dem Start bis Freitag warten",
        "never start it before Friday",
        "it mustn't be launched before Friday",
        "nicht vor Freitag",
        "pas avant vendredi",
        "on or after Friday",
    ],
)
def test_a_wait_is_no_deadline(words: str, read: Read) -> None:
    assert moments(read(f"./sim on 2 nodes, {words}")) == {"start_after": "2026-12-03T23:00:00Z"}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Ensure ./sim isn't started before 8pm", "2026-11-30T19:00:00Z"),
        ("./sim pas avant 20h", "2026-11-30T19:00:00Z"),
        ("Run ./sim after Friday", "2026-12-04T23:00:00Z"),
        ("./sim must start after Friday", "2026-12-04T23:00:00Z"),
        ("lancer ./sim sur 4 cœurs après vendredi", "2026-12-04T23:00:00Z"),
        ("./sim auf 4 Kernen, nach Freitag", "2026-12-04T23:00:00Z"),
        ("./sim on 2 nodes, starting after tomorrow", "2026-12-01T23:00:00Z"),
        ("run ./sim after the weekend", "2026-12-06T23:00:00Z"),
        ("./sim auf 4 Kernen nach dem Wochenende", "2026-12-06T23:00:00Z"),
        ("Run ./sim after Friday 18:00", "2026-12-04T17:00:00Z"),
        ("./sim on 2 nodes, the job starts Friday 8:00", "2026-12-04T07:00:00Z"),
    ],
)
def test_an_earliest_start(text: str, moment: str, read: Read) -> None:
    assert moments(read(text)) == {"start_after": moment}


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("stop it at 8am", "2026-12-01T07:00:00Z"),
        ("kill it at 8am if not finished", "2026-12-01T07:00:00Z"),
        ("cancel it on Friday at 18:00", "2026-12-04T17:00:00Z"),
        ("it shouldn't be running after 8am", "2026-12-01T07:00:00Z"),
        ("must not run past 8am", "2026-12-01T07:00:00Z"),
        ("darf nach 8 Uhr nicht mehr laufen", "2026-12-01T07:00:00Z"),
        ("before the weekend", "2026-12-04T23:00:00Z"),
        ("let it run until Friday", "2026-12-04T23:00:00Z"),
    ],
)
def test_what_must_be_over_then(words: str, moment: str, read: Read) -> None:
    assert moments(read(f"./sim on 2 nodes, {words}")) == {"deadline": moment}


@pytest.mark.parametrize(
    "words",
    [
        "start it by 22:00",
        "must have started by 22:00",
        "begin at the latest on Friday at 8:00",
        "start no later than Friday",
        "latest start Friday noon",
        "latest start time: Friday noon",
        "start on Friday at the latest",
        "start before Friday",
        "it should be running by 22:00",
        "do not start after Friday",
        "spätestens Freitag um 8 Uhr starten",
        "muss bis 22 Uhr gestartet sein",
        "doit démarrer avant 22h",
        "the maintenance begins Friday 8:00, must be done before that",
        "our conference starts on Friday",
        "downtime from Friday 8:00",
        "it used to finish by 8am",
        "it usually is done by 8am",
        "don't wait until Friday",
        "it can wait until Friday",
        "stop after Friday",
        "finish not before Friday",
        "kick it off by 8pm",
        "must be up and running before 8am",
        "démarrage au plus tard vendredi",
        "nothing before Friday",
        "I won't look at it before Friday",
        "I am away until Friday",
        "the cluster is down from Friday to Sunday",
        "the data will be there by Friday",
        "avoid the weekend",
    ],
)
def test_a_moment_that_no_field_can_hold_is_told(words: str, read: Read) -> None:
    reading = read(f"./sim on 2 nodes, {words}")
    assert moments(reading) == {}
    assert reading.unread


@pytest.mark.parametrize("text", ["run ./sim at 20h", "./sim à 20h", "./sim sur 4 cœurs à 9h", "./sim, stop it at 8h"])
def test_a_clock_time_or_hours_are_asked(text: str, read: Read) -> None:
    reading = read(text)
    assert moments(reading) == {}
    assert reading.request.walltime_s is None
    assert [question.field for question in reading.questions] == ["walltime_s"]


@pytest.mark.parametrize("words", ["over the weekend", "this weekend", "during the weekend", "übers Wochenende"])
def test_at_the_weekend_is_asked(words: str, read: Read) -> None:
    (question,) = read(f"./sim on 2 nodes, {words}").questions
    assert [option.patch for option in question.options] == [
        {"start_after": "2026-12-04T23:00:00+00:00"},
        {"deadline": "2026-12-06T23:00:00+00:00"},
    ]


@pytest.mark.parametrize(
    "words",
    [
        "wait at most 2 hours in the queue",
        "it can wait 2 days",
        "delay it by 2 hours",
        "2 hours of queue time are fine",
        "20 minutes of model time",
        "for 3 hours of audio",
    ],
)
def test_a_duration_of_something_else_is_told(words: str, read: Read) -> None:
    reading = read(f"./sim on 2 nodes, {words}")
    assert reading.request.walltime_s is None
    assert reading.unread


@pytest.mark.parametrize(
    "words", ["it takes longer than 2h", "walltime > 2 h", "läuft länger als 2 Stunden", "it runs over 2 hours"]
)
def test_more_than_is_no_limit(words: str, read: Read) -> None:
    reading = read(f"./sim on 2 nodes, {words}")
    assert reading.request.walltime_s is None
    assert [question.field for question in reading.questions] == ["walltime_s"]


@pytest.mark.parametrize("words", ["no longer than 2h", "it must not run longer than 2h", "nicht länger als 2 Stunden"])
def test_no_more_than_is_a_limit(words: str, read: Read) -> None:
    assert read(f"./sim on 2 nodes, {words}").request.walltime_s == 7200


@pytest.mark.parametrize("text", ["10 runs of ./sim, 20 h in total", "array 1-10 of ./sim, altogether 20 h"])
def test_hours_of_all_runs_are_asked(text: str, read: Read) -> None:
    reading = read(text)
    assert reading.request.walltime_s is None
    (question,) = reading.questions
    assert [option.patch for option in question.options] == [{"walltime_s": 72000}, {"walltime_s": 7200}]


@pytest.mark.parametrize(
    ("text", "is_urgent"),
    [
        ("array 1-10 of ./sim all at once", False),
        ("run ./x & ./y at once", False),
        ("array 1-10 of ./sim, run them at once", False),
        ("./sim on 2 nodes, start it at once", True),
    ],
)
def test_at_once_of_several_is_no_hurry(text: str, is_urgent: bool, read: Read) -> None:
    reading = read(text)
    assert bool(reading.request.dump().get("urgent")) is is_urgent


@pytest.mark.parametrize(
    ("words", "amount"),
    [
        ("cost over 100 EUR is fine", None),
        ("more than 100 EUR are no problem", None),
        ("not less than 100 core-hours", None),
        ("it must not cost over 100 EUR", 100.0),
        ("never spend more than 100 EUR", 100.0),
    ],
)
def test_a_cost_above_is_no_budget(words: str, amount: float | None, read: Read) -> None:
    reading = read(f"./sim 4 cores, {words}")
    assert (reading.request.dump().get("budget") or {}).get("amount") == amount
    assert amount is not None or reading.unread


@pytest.mark.parametrize("words", ["job name not test but prod", "job name: prod"])
def test_a_name_is_no_word_of_denial(words: str, read: Read) -> None:
    assert read(f"./sim on 2 nodes, {words}").request.name == "prod"
