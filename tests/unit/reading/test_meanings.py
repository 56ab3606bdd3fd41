"""What a number belongs to: times before counts, `each`, names before their numbers, memory of GPUs, and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.errors import BadRequest
from graph.reading.answers import apply_answer

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "shape", "seconds"),
    [
        ("1h 2 nodes ./x", {"nodes": 2}, 3600),
        ("1h 64 cores ./x", {"cpus": 64}, 3600),
        ("2h 8 tasks ./x", {"tasks": 8}, 7200),
        ("2 d 4 nodes ./x", {"nodes": 4}, 172800),
        ("2h 2 GPUs ./x", {"gpus": {"count": 2, "per": "job"}}, 7200),
        ("1d 12 nodes, ./x", {"nodes": 12}, 86400),
        ("1h 4 80GB GPUs, ./x", {"gpus": {"count": 4, "per": "job", "memory_bytes": 80_000_000_000}}, 3600),
        ("1h 30 2 nodes ./x", {"nodes": 2}, 5400),
        ("2h30 4 nodes ./x", {"nodes": 4}, 9000),
        ("1h 30 ./x", {}, 5400),
        ("walltime 1h 30 on 2 nodes: ./x", {"nodes": 2}, 5400),
        ("nodes 2 tasks 64 time 2h ./x", {"nodes": 2, "tasks": 64}, 7200),
        ("cores 8, memory 4GB, ./x", {"cpus": 8, "memory": {"bytes": 4_000_000_000, "per": "job"}}, None),
        ("2M tasks, ./x", {"tasks": 2_000_000}, None),
        ("1.5k ranks, ./x", {"tasks": 1500}, None),
        ("three nodes, each 4 tasks, ./x", {"nodes": 3, "tasks_per_node": 4}, None),
    ],
)
def test_a_number_belongs_to_the_unit_behind_it(text: str, shape: Any, seconds: Any, read: Read) -> None:
    reading = read(text)
    request = reading.request
    assert (request.shape.dump(), request.walltime_s, request.command) == (shape, seconds, ("./x",))
    assert reading.complete


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("for 3/4 hour", 2700), ("for 3/4 of an hour", 2700), ("for quarter of an hour", 900),
        ("for a half hour", 1800),
        ("pendant une heure et demie", 5400), ("pendant deux heures et demie", 9000), ("für eine halbe Stunde", 1800),
    ],
)  # fmt: skip
def test_parts_of_hours(words: str, seconds: int, read: Read) -> None:
    reading = read(f"./x sur 1 noeud {words}" if "pendant" in words else f"./x, 1 node {words}")
    assert reading.request.walltime_s == seconds
    assert reading.complete


@pytest.mark.parametrize("words", ["two thirds of an hour", "7/8 hour", "2m tasks"])
def test_what_is_no_whole_time_is_told(words: str, read: Read) -> None:
    reading = read(f"./x on 1 node for {words}")
    assert reading.request.walltime_s is None
    assert reading.unread


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("./x on 1 node for a couple of hours", "walltime_s"),
        ("./x on some nodes for 1 hour", "shapes.0.nodes"),
        ("./x on 1 node, several tasks", "shapes.0.tasks"),
        ("./x on 2 nodes, time limit 30", "walltime_s"),
        ("./x on 2 nodes, stay under 500 hours of compute in the budget", "budget"),
    ],
)
def test_a_vague_amount_is_asked_about(text: str, field: str, read: Read) -> None:
    assert [question.field for question in read(text).questions] == [field]


@pytest.mark.parametrize(
    "text", ["retry 3 times, ./x on 1 node", "./x on 1 node, resubmit up to 3 times on failure", "N=2, n=64, t=2h, ./x"]
)
def test_what_has_no_field_is_told(text: str, read: Read) -> None:
    request = read(text).request
    assert (request.array, request.environment, request.walltime_s, request.software) == (None, (), None, ())
    assert read(text).unread


def test_a_letter_is_a_variable_where_it_is_said(read: Read) -> None:
    assert read("export N=2, ./x on 1 node").request.environment[0].name == "N"


def test_options_without_a_program_are_told_as_they_stand(read: Read) -> None:
    reading = read("-N 2 -n 8 -t 30 ./sim")
    assert reading.unread == ("-N 2 -n 8 -t 30",)
    assert reading.request.shapes == ()


@pytest.mark.parametrize(
    "words",
    ["32 ranks per node, 4 nodes, 2 threads each", "4 nodes, 32 ranks per node, 2 threads each"],
)
def test_threads_are_of_a_task(words: str, read: Read) -> None:
    shape = read(f"{words}, ./x").request.shape
    assert (shape.nodes, shape.tasks_per_node, shape.cpus_per_task, shape.cpus_per_node) == (4, 32, 2, None)


@pytest.mark.parametrize(
    ("words", "field", "labels"),
    [
        ("8 tasks on 2 nodes, 4 GB each", "memory", ["of each node", "of each task"]),
        ("8 tasks on 2 nodes with 2 cores each", "cpus", ["of each node", "of each task"]),
        ("16 ranks across 4 nodes with 1 GPU each", "gpus", ["of each node", "of each task"]),
        ("2 nodes, 8 tasks each, 2 GPUs each", "gpus", ["of each node", "of each task"]),
        ("4 ranks per node, 2 nodes, 8 cores each", "cpus", ["of each node", "of each task"]),
        ("8 GPUs across 2 nodes with 80 GB each", "memory", ["of each GPU", "of each node"]),
        ("2 nodes with 4 GPUs each and 80 GB each", "memory", ["of each GPU", "of each node"]),
    ],
)
def test_each_of_two_things_is_asked(words: str, field: str, labels: list[str], read: Read) -> None:
    reading = read(f"{words}, ./x")
    assert reading.request.shape.memory is None
    (question,) = reading.questions
    assert (question.field, [option.label for option in question.options]) == (f"shapes.0.{field}", labels)


def test_memory_of_each_gpu_is_an_answer(read: Read) -> None:
    shape = apply_answer(read("8 GPUs across 2 nodes with 80 GB each, ./x"), "shapes.0.memory", 1).request.shape
    assert shape.gpus is not None
    assert (shape.gpus.count, shape.gpus.memory_bytes, shape.memory) == (8, 80_000_000_000, None)


@pytest.mark.parametrize(
    ("words", "per"),
    [
        ("8 tasks, 2 cores each, 4 GB each", "task"),
        ("32 cores with 4 GB each", "cpu"),
        ("8 tasks on one node, 4 GB each", "task"),
        ("4 nodes, 4 GB each", "node"),
    ],
)
def test_each_of_one_thing_is_clear(words: str, per: str, read: Read) -> None:
    memory = read(f"{words}, ./x").request.shape.memory
    assert memory is not None
    assert memory.per == per


@pytest.mark.parametrize("words", ["2 nodes with 8 GPUs, 4 tasks per GPU", "4 tasks per GPU, 2 nodes with 8 GPUs"])
@pytest.mark.parametrize(("answer", "tasks"), [("8 GPUs on each node", 64), ("8 GPUs in total", 32), (2, 64)])
def test_tasks_of_each_gpu_follow_the_answer(words: str, answer: Any, tasks: int, read: Read) -> None:
    reading = read(f"{words}, ./x")
    assert (reading.request.shape.tasks, reading.request.shape.tasks_per_node) == (None, None)
    shape = apply_answer(reading, "shapes.0.gpus", answer).request.shape
    assert (shape.tasks or (shape.tasks_per_node or 0) * (shape.nodes or 0)) == tasks
    with pytest.raises(BadRequest):
        apply_answer(reading, "shapes.0.gpus", "6 GPUs per node")


@pytest.mark.parametrize(
    "words", ["2 nodes, 16 cores per node, 32 tasks per node", "2 nodes, 64 tasks, 16 cores per node"]
)
def test_fewer_cores_than_tasks_is_asked(words: str, read: Read) -> None:
    reading = read(f"{words}, ./x")
    assert reading.request.shape.cpus_per_node is None
    assert [question.field for question in reading.questions] == ["shapes.0.cpus_per_node"]


@pytest.mark.parametrize(
    ("words", "count", "memory"),
    [
        ("need 80GB GPUs, 2 of them", 2, 80), ("16 GB VRAM, 1 GPU", 1, 16), ("1 GPU with 16 GB VRAM", 1, 16),
        ("GPU memory 24 GB, 4 GPUs", 4, 24), ("2 GPUs, at least 40 GB of GPU memory", 2, 40),
        ("GPUs with 80 GB, 4 of them", 4, 80),
    ],
)  # fmt: skip
def test_memory_of_gpus(words: str, count: int, memory: int, read: Read) -> None:
    reading = read(f"{words}, ./x")
    shape = reading.request.shape
    assert shape.memory is None
    assert shape.gpus is not None
    assert (shape.gpus.count, shape.gpus.memory_bytes) == (count, memory * 10**9)
    assert reading.complete


@pytest.mark.parametrize("words", ["80GB GPUs", "16 GB VRAM"])
def test_memory_of_gpus_without_a_count_asks_for_it(words: str, read: Read) -> None:
    reading = read(f"{words}, ./x")
    gpus = apply_answer(reading, "shapes.0.gpus", "2 per node").request.shape.gpus
    assert gpus is not None
    assert (gpus.count, gpus.memory_bytes) == (2, 10**9 * int(words.split()[0].removesuffix("GB")))


@pytest.mark.parametrize(
    ("text", "field", "answer", "value"),
    [
        ("use 2 nodes; else 4 nodes; ./x", "nodes", "2", 2),
        ("use 2 nodes; else 4 nodes; ./x", "nodes", 4, 4),
        ("use 3 nodes; else 4 nodes; ./x", "nodes", "2", 4),
        ("use 2 nodes; else 1 node; ./x", "nodes", "1", 1),
    ],
)
def test_a_value_counts_before_the_number_of_an_option(
    text: str, field: str, answer: Any, value: int, read: Read
) -> None:
    reading = read(text)
    (question,) = reading.questions
    assert getattr(apply_answer(reading, question.id, answer).request.shape, field) == value


def test_a_digit_that_several_options_hold_is_asked_again(read: Read) -> None:
    reading = read("./x for 4:00")
    with pytest.raises(BadRequest, match="can be any of these"):
        apply_answer(reading, "walltime-s", "4")
    assert apply_answer(reading, "walltime-s", "1").request.walltime_s == 14400


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ({"dependencies": ["1234"]}, "job_id"), ({"gpus_per_node": 4}, "gpus: 4 per node"), ({"nodes": "two"}, "as 2"),
        ({"container": "ubuntu"}, "image"), ({"shapes": [{"mem_per_cpu": "1G"}]}, "memory: 4 GB per core"),
    ],
)  # fmt: skip
def test_a_refused_field_says_how_it_is_written(given: Any, cure: str, read: Read) -> None:
    with pytest.raises(BadRequest) as caught:
        read({"command": "./x", **given})
    assert cure in caught.value.cure


@pytest.mark.parametrize("image", ["ubuntu:22.04", "nvcr.io/nvidia/pytorch:24.05-py3", "docker://alpine:3"])
def test_an_image_in_a_form(image: str, read: Read) -> None:
    (container,) = read({"command": "./x", "container": image}).request.containers
    assert (container.image, container.runtimes) == (image, ())


@pytest.mark.parametrize(("written", "version"), [("2.10", "==2.10"), ("12", "==12"), ("1.50", "==1.50")])
def test_a_version_in_json_is_what_was_written(read: Read, written: str, version: str) -> None:
    form = f'{{"command": ["./x"], "software": [{{"name": "gcc", "version": {written}}}]}}'
    assert read(form).request.software[0].dump()["version"] == version


@pytest.mark.parametrize(
    ("words", "memory"),
    [
        ("run ./a with 4000MB/core, 8 cores", {"bytes": 4_000_000_000, "per": "cpu"}),
        ("needs 3.5GB/cpu: ./a", {"bytes": 3_500_000_000, "per": "cpu"}),
        ("./a with 64GB/node on 2 nodes", {"bytes": 64_000_000_000, "per": "node"}),
    ],
)
def test_an_amount_per_something_is_no_file(read: Read, words: str, memory: dict[str, object]) -> None:
    found = read(words)
    assert found.request.inputs == ()
    assert found.request.shape.dump()["memory"] == memory


@pytest.mark.parametrize(
    "text",
    [
        "4 cores for 2 hours: ./x. Vielen Dank!", "100 cores for a day: ./x. Best wishes, Anna",
        "2 nodes for 1 hour: ./x. Viele Grüße, Tom", "2 nodes for 1 h, ./x. Tel. +49 30 1234",
        "Sorry, I meant 5 nodes for 6 hours: ./x",
    ],
)  # fmt: skip
def test_thanks_and_signatures_name_no_software(read: Read, text: str) -> None:
    assert read(text).request.software == ()


@pytest.mark.parametrize(
    ("text", "totals"),
    [
        ("4 nodes with 16 cores each, 128 cores overall, 2h: ./x", "64, and 128"),
        ("8 tasks with 4 cores each, 64 cores in total: ./x", "32, and 64"),
        ("4 nodes, 3 tasks per node, 8 tasks: ./x", "12, and 8"),
    ],
)
def test_a_total_that_the_parts_do_not_make_up_is_asked_about(read: Read, text: str, totals: str) -> None:
    assert any(totals in question.text for question in read(text).questions)
    assert read("4 nodes, 16 tasks per node, 64 tasks: ./x").questions == ()
    assert read("4 nodes, 3 tasks per node, 10 tasks: ./x").questions == ()


def test_the_least_of_a_range_is_told(read: Read) -> None:
    found = read("between 16 and 32 cores, 2 hours: ./x")
    assert found.request.shape.cpus == 16
    assert any("16 are asked for" in sentence for sentence in found.defaults)


def test_an_unknown_option_with_its_value_glued_on_leaves_the_others(read: Read) -> None:
    found = read("srun -n 64 -N 2 --mem=0 -t 30 ./hello")
    assert (found.request.shape.tasks, found.request.shape.nodes, found.request.walltime_s) == (64, 2, 1800)
    assert (found.request.command, found.unread) == (("./hello",), ("srun --mem=0",))
    assert read("srun -n 64 --foo bar -t 30 ./hello").request.command[0] == "srun", "where it ends is not known"


def test_a_clock_of_another_day_is_not_today_s(read: Read) -> None:
    found = read("tomorrow from 14:00 2 nodes for 2h: ./x")
    assert found.request.dump()["start_after"] == "2026-12-01T13:00:00Z"
    found = read("tomorrow at work, from 14:00 2 nodes for 2h on Friday: ./x")
    assert found.request.start_after is None
    assert found.unread


def test_a_day_that_has_just_passed_is_not_next_year_s(read: Read) -> None:
    found = read("4 nodes, 2 h: ./x. On 28 Nov we met.")
    assert found.request.start_after is None
    assert any("past" in question.text for question in found.questions)


def test_quoted_lines_are_not_read(read: Read) -> None:
    found = read("4 nodes for 14 hours: ./x\n> we can offer 8 nodes\n>> for 24 hours\n")
    assert (found.request.shape.nodes, found.request.walltime_s, found.questions) == (4, 14 * 3600, ())
    assert any("quoted" in sentence for sentence in found.defaults)
    assert read("> take 8 nodes for 24 hours: ./x").request.shape.nodes == 8
    assert read("> 8 nodes: ./x").request.shape.nodes == 9


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        ("2 TB of input data at beta in /scratch/bob/run1, 20 cores for 2 days: ./x", "run1", 2 * 10**12),
        ("The mesh lies at beta under /scratch/bob/run1. 20 cores, 2 h, ./x", "run1", None),
        ("./x on 20 cores; the file /scratch/bob/run1 is on beta and is needed as mesh.h5", "mesh.h5", None),
        ("take /scratch/bob/run1 from beta, run ./x run1 on 20 cores", "run1", None),
    ],
)
def test_a_file_with_its_site_is_an_input(text: str, name: str, size: int | None, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    stated = found.request.inputs[0]
    assert (stated.source, stated.name, stated.site, stated.bytes) == ("/scratch/bob/run1", name, "beta", size)
    assert (len(found.request.inputs), found.request.sites, found.questions) == (1, (), ())


@pytest.mark.parametrize(
    "text",
    [
        "my data is on beta; 20 cores, 2 h: ./x", "input 500GB on beta, 64 cores, 10 h: ./x",
    ],
)  # fmt: skip
def test_where_data_lie_is_not_where_it_must_run(read: Read, text: str) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert found.request.sites == ()
    assert any("'beta'" in question.text for question in found.questions)
    assert read("20 cores for 2 h at beta: ./x", sites=["alpha", "beta"]).request.sites == ("beta",)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("one hundred and twenty eight cores, six hours: ./x", 128), ("two hundred and fifty six cores: ./x", 256),
        ("Two thousand cores, ./x", 2000), ("one thousand and twenty-four cores: ./x", 1024),
        ("sixty four cores: ./x", 64),
    ],
)  # fmt: skip
def test_a_number_of_several_words_is_one_number(read: Read, text: str, cpus: int) -> None:
    found = read(text)
    assert (found.request.shape.cpus, found.unread, found.request.command) == (cpus, (), ("./x",))


def test_words_that_make_no_number_together_stay_apart(read: Read) -> None:
    shape = read("two four core nodes: ./x").request.shape
    assert (shape.nodes, shape.cpus_per_node) == (2, 4)


@pytest.mark.parametrize(
    "text",
    [
        "run ./sim niemals auf beta, 1 Stunde", "run ./sim on anything other than beta, 2 nodes",
        "stay off beta: ./sim",
        "run ./sim anywhere but beta for 2 hours", "beta is out of the question, 2 nodes, ./sim",
    ],
)  # fmt: skip
def test_a_site_that_is_refused_is_not_where_it_runs(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"]).request
    assert (found.sites, found.sites_not) == ((), ("beta",))


def test_two_files_of_one_name_are_asked_about(read: Read) -> None:
    assert [question.field for question in read("./x on 2 nodes, needs /a/x.dat and /b/x.dat").questions] == ["inputs"]


def test_files_of_one_name_in_many_folders_keep_their_folders(read: Read) -> None:
    files = [f"data/run{number}/in.dat" for number in range(20)]
    assert [each.name for each in read(f"./sim on 2 nodes, needs {', '.join(files)}").request.inputs] == files


@pytest.mark.parametrize("text", ["./x on 2 nodes, neither alpha nor beta", "./x auf 2 Knoten, weder alpha noch beta"])
def test_neither_of_two_sites(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"]).request
    assert (found.sites, found.sites_not) == ((), ("alpha", "beta"))


@pytest.mark.parametrize(
    "text",
    [
        "./x on 2 nodes for 1 hour, on beta if alpha is down",
        "./x on 2 nodes for 1 hour. Compare with the run on beta.",
    ],
)
def test_a_site_in_a_condition_is_asked_about(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert "beta" not in found.request.sites
    assert "sites" in {question.field for question in found.questions}


@pytest.mark.parametrize(
    "text", ["./x on 2 nodes for 1 hour. It used to run on beta.", "It was tested on beta. ./x on 2 nodes for 1 hour"]
)
def test_a_site_in_a_story_is_named_and_not_asked_for(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert found.request.sites == ()
    assert any("beta" in sentence for sentence in found.defaults)
