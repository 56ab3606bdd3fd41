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
