"""Numbers, times, wishes, arrays and variables in the manners and languages in which people put them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Read = Callable[..., Any]
Stated = Callable[..., dict[str, Any]]


def _field(read: Read, stated: Stated, text: str, field: str) -> Any:
    reading = read(text)
    assert reading.complete, (reading.questions, reading.unread)
    assert not reading.unread
    return stated(reading).get(field)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("./x with 1,5 GB per core for 36,5 h on 4 cores, at most 9.500 core hours", 9500),
        ("./x on 4 cores with 2,5 GB per core for 3 h, budget 1.200 EUR", 1200),
        ("./x on 4 cores for 2.5 h, budget: 1,500 USD hard cap", 1500),
        ("./x on 4 cores for 2.5 h, budget EUR 2,000, no more", 2000),
    ],
)
def test_the_numbers_of_a_text_tell_what_its_commas_are(text: str, amount: float, read: Read, stated: Stated) -> None:
    assert _field(read, stated, text, "budget")["amount"] == amount


def test_a_group_of_three_is_asked_where_the_text_does_not_tell(read: Read) -> None:
    (question,) = read("./x on 4 cores for 2 h, at most 9.500 core hours").questions
    assert [option.patch["budget"]["amount"] for option in question.options] == [9500, 9.5]


@pytest.mark.parametrize(
    ("words", "size"), [("192 Go of RAM", 192_000_000_000), ("1,5 To of memory", 1_500_000_000_000)]
)
def test_french_bytes_in_any_language(words: str, size: int, read: Read, stated: Stated) -> None:
    (shape,) = _field(read, stated, f"./x with 24 cores and {words} for 2,5 h", "shapes")
    assert shape["memory"]["bytes"] == size


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("sur 2 nœuds pendant 3 h, résultats au plus tard vendredi 17h", "2026-12-04T16:00:00Z"),
        ("sur 2 nœuds pendant 3 h, avant mardi midi", "2026-12-01T11:00:00Z"),
        ("sur 2 nœuds pendant 3 h, d'ici jeudi", "2026-12-03T23:00:00Z"),
        ("sur 2 nœuds pendant 3 h, à rendre pour vendredi 12h", "2026-12-04T11:00:00Z"),
        ("sur 2 nœuds pendant 3 h, résultats attendus pour le 4 décembre à 18h", "2026-12-04T17:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, spätestens am 18. Dezember 2026 um 14:00 Uhr fertig", "2026-12-18T13:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, muss am Freitag um 12 Uhr fertig sein", "2026-12-04T11:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, Ergebnisse bis übermorgen 12 Uhr", "2026-12-02T11:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, nicht nach Freitag 18 Uhr", "2026-12-04T17:00:00Z"),
        ("on 2 nodes for 3 h, finish by = 2026-12-05 12:00 UTC", "2026-12-05T12:00:00Z"),
        ("on 2 nodes for 3 h, must be ready by: Friday 12:00", "2026-12-04T11:00:00Z"),
        ("on 2 nodes for 3 h, results needed Friday noon", "2026-12-04T11:00:00Z"),
        ("on 2 nodes for 3 h, must be done on Friday 12:00", "2026-12-04T11:00:00Z"),
        ("on 2 nodes for 3 h, before the meeting (Friday 10:00)", "2026-12-04T09:00:00Z"),
        ("on 2 nodes for 3 h, needed by Thursday 9 am EST", "2026-12-03T14:00:00Z"),
    ],
)
def test_deadlines(words: str, moment: str, read: Read, stated: Stated) -> None:
    assert _field(read, stated, f"./x {words}", "deadline") == moment
    assert _field(read, stated, f"./x {words}", "walltime_s") == 10800
    assert _field(read, stated, f"./x {words}", "start_after") is None


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("sur 2 nœuds pendant 3 h, pas avant mercredi 8h", "2026-12-02T07:00:00Z"),
        ("sur 2 nœuds pendant 3 h, au plus tôt lundi 9h", "2026-12-07T08:00:00Z"),
        ("sur 2 nœuds pendant 3 h, à partir de mardi 14h30", "2026-12-01T13:30:00Z"),
        ("sur 2 nœuds pendant 3 h, à commencer dès mardi 8h", "2026-12-01T07:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, frühestens ab morgen 6 Uhr", "2026-12-01T05:00:00Z"),
        ("auf 2 Knoten für 3 Stunden, nicht vor Mittwoch 8 Uhr", "2026-12-02T07:00:00Z"),
        ("on 2 nodes for 3 h. Tomorrow from 6am on, not earlier", "2026-12-01T05:00:00Z"),
        ("on 2 nodes for 3 h, Wednesday 6:00 onwards", "2026-12-02T05:00:00Z"),
        ("on 2 nodes for 3 h, not before the maintenance ends (Tuesday 18:00)", "2026-12-01T17:00:00Z"),
        ("on 2 nodes for 3 h, once the maintenance is over (2026-12-02 14:00)", "2026-12-02T13:00:00Z"),
        ("on 2 nodes for 3 h, earliest start being 08:00 JST on 8 December 2026", "2026-12-07T23:00:00Z"),
        ("on 2 nodes for 3 h, start: Wednesday 8:00", "2026-12-02T07:00:00Z"),
    ],
)
def test_earliest_starts(words: str, moment: str, read: Read, stated: Stated) -> None:
    assert _field(read, stated, f"./x {words}", "start_after") == moment
    assert _field(read, stated, f"./x {words}", "deadline") is None


def test_two_deadlines_are_asked(read: Read) -> None:
    (question,) = read("./x by Friday 12:00, deadline Saturday 12:00").questions
    assert len(question.options) == 2


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("A walltime of six hours is preferred, but no less than two hours is acceptable", 7200, 21600),
        ("preferably 6 hours, at least 2 hours", 7200, 21600),
        ("ideally 6 hours but 2 hours would do too", 7200, 21600),
        ("minimum walltime 2 hours, maximum 6 hours", 7200, 21600),
        ("au moins 2 heures et au plus 5 heures", 7200, 18000),
    ],
)
def test_wanted_and_least_walltime(words: str, low: int, high: int, read: Read, stated: Stated) -> None:
    fields = stated(read(f"./x on 2 nodes, {words}"))
    assert (fields["walltime_min_s"], fields["walltime_s"]) == (low, high)


def test_a_least_beside_a_wish_that_is_not_read_is_asked(read: Read) -> None:
    reading = read("./x on 2 nodes. 6 hours is what is preferable to all of us. At least 2 hours.")
    assert reading.request.walltime_s in (None, 21600), "not the least alone"


@pytest.mark.parametrize("who", ["by 128 ranks distributed over four nodes", "on 4 nodes with 32 ranks each"])
def test_a_passive_of_execution_within_hours_runs_so_long(who: str, read: Read, stated: Stated) -> None:
    assert _field(read, stated, f"./x is to be executed {who} within three hours", "walltime_s") == 10800


@pytest.mark.parametrize("words", ["please run ./x on 4 nodes within 3 hours", "start ./x on 4 nodes within 2 hours"])
def test_within_hours_is_asked_elsewhere(words: str, read: Read) -> None:
    assert [question.field for question in read(words).questions] == ["walltime_s"]


@pytest.mark.parametrize("words", ["3 hours per iteration", "20 minutes for each epoch"])
def test_the_time_of_a_part_is_not_the_job_s(words: str, read: Read) -> None:
    reading = read(f"./x on 2 nodes, {words}")
    assert reading.request.walltime_s is None
    assert words in reading.unread


@pytest.mark.parametrize("words", ["2 more hours", "an additional hour"])
def test_more_hours_are_asked(words: str, read: Read) -> None:
    (question,) = read(f"./x on 2 nodes, {words}").questions
    assert question.field == "walltime_s"


@pytest.mark.parametrize(
    ("words", "ranges"),
    [
        (
            "A job array with the indices 1-50 and 101-150 is requested, in which ./x takes 1 core",
            [(1, 50), (101, 150)],
        ),
        ("./x as an array with indices 5, 7 and 20 to 40, 2 cores", [(5, 5), (7, 7), (20, 40)]),
        ("array of ./x with indices 1 to 10 and 21 to 30, 2 cores each", [(1, 10), (21, 30)]),
        ("Tableau de 30 calculs (indices 1 à 30), 2 cœurs chacun : `./x`", [(1, 30)]),
        ("Array mit den Indizes 1 bis 20: ./x, 2 Kerne", [(1, 20)]),
        ("./x array 3-9 and 12, 1 core", [(3, 9), (12, 12)]),
        ("./x for the 22 samples as a job array 1-22, 2 cores each", [(1, 22)]),
    ],
)
def test_ranges_of_an_array(words: str, ranges: list[tuple[int, int]], read: Read, stated: Stated) -> None:
    found = _field(read, stated, words, "array")
    assert [(each["first"], each["last"]) for each in found["ranges"]] == ranges


def test_steps_and_a_bound_of_elements_at_once(read: Read, stated: Stated) -> None:
    text = "./x as a job array with indices from 10 to 90 in steps of 10, at most three elements at once, 1 core, 1 h"
    assert _field(read, stated, text, "array") == {"ranges": [{"first": 10, "last": 90, "step": 10}], "at_once": 3}


@pytest.mark.parametrize(
    ("words", "kind", "jobs"),
    [
        ("after jobs 77120 and 77121 have ended, whatever their outcome", "afterany", ["77120", "77121"]),
        ("when jobs 12 and 13 have ended, independently of their results", "afterany", ["12", "13"]),
        ("after job 5510 ended, success or not", "afterany", ["5510"]),
        ("as soon as both 11 and 12 have succeeded", "afterok", ["11", "12"]),
        ("once job 77 has finished without any errors", "afterok", ["77"]),
    ],
)
def test_outcomes_of_jobs(words: str, kind: str, jobs: list[str], read: Read, stated: Stated) -> None:
    found = _field(read, stated, f"run ./x, 1 core, 1 h, {words}", "dependencies")
    assert [(each["kind"], each["job_id"]) for each in found] == [(kind, job) for job in jobs]


@pytest.mark.parametrize(
    "words",
    [
        "The environment variable HF_TOKEN, whose value is to be taken from the secret hf-main, must be defined.",
        "Pass the environment variable HF_TOKEN, which comes from the secret hf-main.",
        "HF_TOKEN is to be set from the secret hf-main.",
    ],
)
def test_a_variable_from_a_secret(words: str, read: Read, stated: Stated) -> None:
    found = _field(read, stated, f"./x on 4 cores. {words}", "environment")
    assert found == [{"name": "HF_TOKEN", "secret": "hf-main"}]


@pytest.mark.parametrize(
    ("words", "figure"),
    [
        ('the number after "Performance:" in out.log, in ns/day, and higher is better',
         {"after": "Performance:", "file": "out.log", "unit": "ns/day"}),
        ('the number after "Time:", in seconds, where lower is better',
         {"after": "Time:", "unit": "seconds", "better": "lower"}),
    ],
)  # fmt: skip
def test_a_figure_of_merit_with_its_unit(words: str, figure: dict[str, str], read: Read, stated: Stated) -> None:
    assert _field(read, stated, f"./x on 2 nodes; the figure of merit is {words}.", "figure_of_merit") == figure


@pytest.mark.parametrize(
    "words",
    [
        "an immediate start is mandatory", "it needs to go now", "start it immediately, without any waiting in a queue",
        "c'est urgent", "es eilt",
    ],
)  # fmt: skip
def test_urgent(words: str, read: Read, stated: Stated) -> None:
    assert _field(read, stated, f"./x on 8 cores for 1 h, {words}", "urgent") is True


@pytest.mark.parametrize("words", ["rien d'urgent", "not urgent", "nicht dringend", "nothing urgent"])
def test_not_urgent(words: str, read: Read) -> None:
    assert read(f"./x on 8 cores for 1 h, {words}").request.urgent is not True


@pytest.mark.parametrize(
    ("words", "objective"),
    [
        ("where the queue is shortest", "queue-depth"),
        ("wo die Warteschlange am kürzesten ist", "queue-depth"),
        ("at the lowest price", "min-cost"),
        ("for the least money", "min-cost"),
        ("au prix le plus bas", "min-cost"),
        ("no hurry whatsoever", "run-anytime"),
        ("whenever the machine is idle", "run-anytime"),
        ("whichever frees up first", "first-ready"),
        ("wherever it starts first", "soonest"),
        ("with the lowest energy consumption possible", "min-energy"),
    ],
)
def test_objectives_in_other_words(words: str, objective: str, read: Read, stated: Stated) -> None:
    cores = "sur 8 cœurs" if "prix" in words else "auf 8 Kernen" if "Warte" in words else "on 8 cores"
    assert _field(read, stated, f"./x {cores}, 1 h, {words}", "objective") == objective


@pytest.mark.parametrize(
    "words",
    [
        "we have 120 GPU-hours left, please stay under 50 GPU-hours with this one",
        "120 GPU-hours are still available, at most 50 GPU-hours for this",
        "a budget of 50 GPU-hours must not be exceeded",
    ],
)
def test_what_is_left_is_no_budget_beside_one(words: str, read: Read, stated: Stated) -> None:
    found = _field(read, stated, f"./x on 1 GPU for 5 h. {words}", "budget")
    assert found == {"amount": 50.0, "unit": "gpu-hours"}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("./x, 16 cores shuld do, 50 GB of ram, abot 6 hours, use the acount dhlab",
         {"shapes": [{"cpus": 16, "memory": {"bytes": 50_000_000_000, "per": "job"}}], "walltime_s": 21600,
          "account": "dhlab"}),
        ("plese run ./x, 12 cors, 40 GB of memry, aprox 4 hours, charge to acount litlab",
         {"shapes": [{"cpus": 12, "memory": {"bytes": 40_000_000_000, "per": "job"}}], "walltime_s": 14400,
          "account": "litlab"}),
        ("./x on 2 nods, 3 hourss, partion debug", {"shapes": [{"nodes": 2}], "walltime_s": 10800, "queue": "debug"}),
        ("./x, 4 cores, 128 gigabites of memmory, from 6 pm tommorow",
         {"shapes": [{"cpus": 4, "memory": {"bytes": 128_000_000_000, "per": "job"}}],
          "start_after": "2026-12-01T17:00:00Z"}),
    ],
)  # fmt: skip
def test_typing_errors_are_mended_and_named(text: str, fields: dict[str, Any], read: Read, stated: Stated) -> None:
    reading = read(text)
    assert {name: value for name, value in stated(reading).items() if name != "command"} == fields
    assert sum("is read as" in sentence for sentence in reading.defaults) >= 2


@pytest.mark.parametrize("name", ["networkx 3.2", "tasker 2.1", "projet 1.4", "memoria 0.9"])
def test_a_name_beside_a_version_is_not_mended(name: str, read: Read) -> None:
    reading = read(f"{name} on 4 cores for 1 h")
    assert [need.name for need in reading.request.software] == [name.split()[0]]


@pytest.mark.parametrize("account", ["projekt9", "partion", "memry"])
def test_the_name_of_an_account_is_not_mended(account: str, read: Read) -> None:
    assert read(f"./x on 4 cores for 1 h, account {account}").request.account == account


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("tomorrow at 8:00", "start_after"),
        ("run it tomorrow at 8 in the morning", "start_after"),
        ("must be finished tomorrow at 8:00", "deadline"),
        ("by tomorrow at 8:00", "deadline"),
    ],
)
def test_a_day_with_its_hour_is_a_start_unless_the_work_is_done_by_then(
    words: str, field: str, read: Read, stated: Stated
) -> None:
    fields = stated(read(f"./x, 2 nodes, 1 h, {words}"))
    assert {name: fields.get(name) for name in ("start_after", "deadline")} == {
        "start_after": None, "deadline": None, field: "2026-12-01T07:00:00Z",
    }  # fmt: skip


def test_a_day_of_something_else_is_told(read: Read) -> None:
    reading = read("./x 2 nodes 1 h, the exam is tomorrow at 8:00")
    assert reading.request.start_after is None
    assert "tomorrow" in reading.unread


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Guten Morgen, bitte ./x auf einem Knoten für anderthalb Tage. Es hat keine Eile.",
         {"walltime_s": 129600, "objective": "run-anytime"}),
        ("./x auf zwei Knoten, aber erst nachdem Job 4242 erfolgreich beendet ist, 1 Stunde",
         {"walltime_s": 3600, "dependencies": [{"kind": "afterok", "job_id": "4242"}]}),
        ("Starte ./x sofort auf 4 Knoten, dreieinhalb Stunden", {"walltime_s": 12600, "urgent": True}),
        ("Après le job 8812 (même en cas d'échec) : ./x, 1 nœud, 15 minutes",
         {"walltime_s": 900, "dependencies": [{"kind": "afterany", "job_id": "8812"}]}),
        ("Les résultats doivent être prêts jeudi à midi : ./x, 2 nœuds, 2 heures",
         {"walltime_s": 7200, "deadline": "2026-12-03T11:00:00Z"}),
        ("Tableau de tâches de 1 à 50 : ./x, 1 nœud, 20 minutes, 10 en même temps au plus",
         {"walltime_s": 1200, "array": {"ranges": [{"first": 1, "last": 50}], "at_once": 10}}),
        ("./x sur 4 nœuds, pas plus de 3 heures, ne pas dépasser 300 heures-cœur",
         {"walltime_s": 10800, "budget": {"amount": 300.0, "unit": "core-hours"}}),
    ],
)  # fmt: skip
def test_whole_requests_in_german_and_french(text: str, fields: dict[str, Any], read: Read, stated: Stated) -> None:
    found = stated(read(text))
    assert {name: value for name, value in found.items() if name not in ("command", "shapes")} == fields
    assert found["command"] == ["./x"]


@pytest.mark.parametrize("words", ["we used 400 core-hours last month", "the last run consumed 90 EUR"])
def test_what_was_spent_before_is_told(words: str, read: Read) -> None:
    reading = read(f"./x on 2 nodes, 3 hours, {words}")
    assert reading.request.budget is None
    assert reading.unread or any(words in sentence for sentence in reading.defaults)


@pytest.mark.parametrize(
    "words", ["500 of our 2000 core-hours may be used", "spend 500 of the remaining 2000 core-hours"]
)
def test_a_share_of_what_is_there(words: str, read: Read, stated: Stated) -> None:
    assert stated(read(f"./x on 2 nodes, 3 hours, {words}"))["budget"] == {"amount": 500.0, "unit": "core-hours"}


@pytest.mark.parametrize(
    "words", ["starting Monday, ending by Friday 12:00", "not before Friday 18:00, done by Friday 12:00"]
)
def test_a_start_behind_the_deadline_is_asked(words: str, read: Read) -> None:
    reading = read(f"./x on 2 nodes for 3 hours {words}")
    assert [question.field for question in reading.questions] == ["start_after"]
    assert reading.request.deadline is not None


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("start tomorrow morning at 9", "2026-12-01T08:00:00Z"),
        ("start tomorrow evening at 8", "2026-12-01T19:00:00Z"),
        ("no earlier than 3 days from now", "2026-12-03T09:00:00Z"),
        ("start in 2 hours", "2026-11-30T11:00:00Z"),
    ],
)
def test_starts_by_the_part_of_the_day_and_from_now(words: str, moment: str, read: Read, stated: Stated) -> None:
    fields = stated(read(f"./x on 2 nodes for 2 h, {words}"))
    assert (fields["start_after"], fields["walltime_s"]) == (moment, 7200)


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("bis heute Abend 20 Uhr", "2026-11-30T19:00:00Z"),
        ("bis zum 18.12.2026", "2026-12-18T23:00:00Z"),
        ("le 5 décembre au plus tard", "2026-12-05T23:00:00Z"),
        ("avant ce soir 20h", "2026-11-30T19:00:00Z"),
    ],
)
def test_deadlines_beside_hours(words: str, moment: str, read: Read, stated: Stated) -> None:
    cores = "sur 4 cœurs" if "tard" in words or "soir" in words else "auf 4 Kernen"
    fields = stated(read(f"./x {cores}, 2 h, {words}"))
    assert (fields["deadline"], fields["walltime_s"]) == (moment, 7200)


@pytest.mark.parametrize("words", ["start within 30 minutes", "the job should start within an hour"])
def test_a_latest_start_is_told(words: str, read: Read) -> None:
    reading = read(f"./x on 2 nodes for 2 h, {words}")
    assert reading.request.start_after is None
    assert reading.unread
    assert not reading.questions
