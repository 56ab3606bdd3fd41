"""Sentences that turn, bound, refuse or tell: what they state, and what must be told or asked instead."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    "text",
    [
        "./x on 3 nodes; the site beta is ruled out", "./x on 3 nodes, keep it away from site beta",
        "Is there, apart from beta, a site with 4 GPUs? ./x", "./x on 2 nodes; not beta again please",
    ],
)  # fmt: skip
def test_a_site_that_is_refused_in_any_words_is_no_place_to_run(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"]).request
    assert (found.sites, found.sites_not) == ((), ("beta",))


@pytest.mark.parametrize(
    "text", ["Leave beta alone: ./x on 2 nodes", "./x on 2 nodes. We hate beta.", "./x; beta would be the last resort"]
)
def test_a_site_beside_a_word_that_turns_it_round_is_asked_about(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert found.request.sites == ()
    assert "sites" in {question.field for question in found.questions}


def test_a_refusal_of_something_else_is_not_of_the_site(read: Read) -> None:
    assert read("./x on alpha without GPUs", sites=["alpha", "beta"]).request.sites == ("alpha",)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("deal.II at least 9.4 and older than 9.6, 4 nodes", ">=9.4,<9.6"),
        ("Keras in a version above 3.0 and below 3.4, 1 GPU", ">3.0,<3.4"),
        ("PyTorch in a version that is at least 2.2 but older than 2.5, 1 GPU", ">=2.2,<2.5"),
        ("ESPResSo 4.2 and newer, 1 node", ">=4.2"),
    ],
)
def test_both_ends_of_versions_in_words(text: str, version: str, read: Read) -> None:
    assert str(read(text).request.software[0].version) == version


@pytest.mark.parametrize(
    "text",
    [
        "Please do not send this job to beta; any other site will do. ./x",
        "the job must not be run at beta, ./x", "never start it on beta: ./x",
    ],
)  # fmt: skip
def test_a_job_that_must_not_run_somewhere(text: str, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert (found.request.sites, found.request.sites_not) == ((), ("beta",))
    assert found.questions == ()


@pytest.mark.parametrize(
    "text",
    [
        "./x on an A100 that has 80 GB of its own memory", "one a100, the kind w/ 80 gigs of gpu memory, ./x",
        "./x on one A100 with at least 80 GB of its own memory",
    ],
)  # fmt: skip
def test_memory_of_its_own_is_the_gpu_s(text: str, read: Read) -> None:
    shape = read(text).request.shape
    assert shape.memory is None
    assert shape.gpus.memory_bytes == 80 * 10**9


@pytest.mark.parametrize(
    "text",
    [
        "keep ./x waiting until Friday 18:00, 2 nodes", "please hold this until Friday 18:00: ./x",
        "./x should not be started until Friday 18:00",
    ],
)  # fmt: skip
def test_what_is_held_until_then_starts_then(text: str, read: Read) -> None:
    found = read(text).request
    assert (found.start_after, found.deadline) == (datetime(2026, 12, 4, 17, tzinfo=UTC), None)


def test_what_runs_until_then_is_done_then(read: Read) -> None:
    found = read("./x may run until Friday 18:00").request
    assert (found.start_after, found.deadline) == (None, datetime(2026, 12, 4, 17, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "told"),
    [("./x on 2 nodes, the queue closes at 18:00", "queue"), ("./x on 2 nodes at night", "night")],
)
def test_what_a_queue_does_and_when_is_no_name(text: str, told: str, read: Read) -> None:
    found = read(text, sites=["alpha"])
    assert (found.request.queue, found.request.sites) == (None, ())
    assert told in found.unread


def test_scratch_is_no_memory(read: Read) -> None:
    found = read("./x, 4 cores, scratch: 200 GB").request
    assert found.shape.memory is None
    assert found.storage[0].free_bytes == 200 * 10**9


def test_a_size_behind_a_file_is_the_file_s(read: Read) -> None:
    (item,) = read("The input is s3://survey/tile7.fits, of 3 GB, the command is `./x tile7.fits`").request.inputs
    assert (item.bytes, item.name) == (3 * 10**9, "tile7.fits")


@pytest.mark.parametrize(
    "text",
    [
        "/data/wing.cgns, which is 12 GB in size, must be supplied as mesh.cgns; ./x",
        "./x reads a matrix that is 12 GB large, 2 nodes", "/data/a.nc (3 GB) and ./x on 1 node",
    ],
)  # fmt: skip
def test_a_size_of_data_is_no_memory(text: str, read: Read) -> None:
    found = read(text)
    assert found.request.shape is None or found.request.shape.memory is None
    assert "inputs" in {question.field for question in found.questions}


def test_a_name_in_the_job_may_stand_behind_the_file(read: Read) -> None:
    (item,) = read("The input file /data/wing.cgns must be supplied as mesh.cgns. ./x on 2 nodes").request.inputs
    assert (item.source, item.name) == ("/data/wing.cgns", "mesh.cgns")


def test_several_variables_in_one_value(read: Read) -> None:
    variables = read("env: DATA_ROOT=/proj/x MODE=fast\ncmd: ./sweep --all\ncores: 24").request.environment
    assert [(item.name, item.value) for item in variables] == [("DATA_ROOT", "/proj/x"), ("MODE", "fast")]


def test_what_a_run_is_of_runs(read: Read) -> None:
    assert not [n for n in read("Quarter-degree run of MOM6: 64 ranks").request.software if "degree" in n.name.lower()]
    assert read("4 nodes for a PIConGPU run of up to eight hours").request.software[0].name == "PIConGPU"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("use podman, not docker, with the image quay.io/a/b:2.1, ./x", "containers"),
        ("OpenMPI, not MPICH, ./x", "mpi"),
        ("InfiniBand and no ethernet, ./x", "networks"), ("BeeGFS rather than NFS, ./x", "storage"),
    ],
)  # fmt: skip
def test_a_refusal_beside_what_is_wanted_only_rounds_it_off(text: str, field: str, read: Read) -> None:
    found = read(text)
    assert found.request.dump()[field]
    assert found.unread == ()
    assert any("another" in sentence for sentence in found.defaults)


@pytest.mark.parametrize("text", ["no NFS, ./x", "not on Lustre, ./x", "without docker, ./x"])
def test_a_refusal_alone_is_told(text: str, read: Read) -> None:
    found = read(text)
    assert not found.request.storage
    assert not found.request.containers
    assert found.unread


@pytest.mark.parametrize(
    "text", ["./x, 2 nodes, 20 euros per hour", "./x 2 nodes 0.5 EUR per core-hour at most", "./x, 5 euros a day"]
)
def test_a_price_is_no_budget(text: str, read: Read) -> None:
    found = read(text)
    assert (found.request.budget, found.request.walltime_s) == (None, None)
    assert found.unread


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("./x darf frühestens Freitag um 12 Uhr starten, 2 Knoten", ("./x",)),
        ("./x ne doit pas démarrer avant vendredi 12h, 2 nœuds", ("./x",)),
        ("./x simulates 10 years on 8 nodes", ("./x",)), ("./x costs about 20 euros, 2 nodes", ("./x",)),
        ("run ./x tests, 2 cores", ("./x", "tests")),
    ],
)  # fmt: skip
def test_a_sentence_goes_on_behind_a_command(text: str, command: tuple[str, ...], read: Read) -> None:
    assert read(text).request.command == command


@pytest.mark.parametrize(
    ("text", "field", "moment"),
    [
        ("./x darf frühestens Freitag um 12 Uhr starten", "start_after", datetime(2026, 12, 4, 11, tzinfo=UTC)),
        ("./x ne doit pas démarrer avant vendredi 12h, 2 nœuds", "start_after", datetime(2026, 12, 4, 11, tzinfo=UTC)),
        ("./x doit être terminé avant vendredi 12h, 2 nœuds", "deadline", datetime(2026, 12, 4, 11, tzinfo=UTC)),
    ],
)
def test_starts_and_ends_in_german_and_french(text: str, field: str, moment: datetime, read: Read) -> None:
    found = read(text).request
    assert getattr(found, field) == moment
    assert getattr(found, {"start_after": "deadline", "deadline": "start_after"}[field]) is None


@pytest.mark.parametrize("text", ["ni alpha ni beta, ./x sur 2 nœuds", "weder alpha noch beta, ./x auf 2 Knoten"])
def test_neither_of_two_sites_in_german_and_french(text: str, read: Read) -> None:
    assert read(text, sites=["alpha", "beta"]).request.sites_not == ("alpha", "beta")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("les données sont dans /data/a sur alpha (2 To), ./x 4 cœurs", 2 * 10**12),
        ("Die Daten liegen auf /work/klima am Standort alpha (3,2 TB). ./x auf 12 Knoten", 3_200_000_000_000),
    ],
)
def test_data_at_a_site_in_german_and_french(text: str, size: int, read: Read) -> None:
    found = read(text, sites=["alpha", "beta"])
    assert [(item.site, item.bytes) for item in found.request.inputs] == [("alpha", size)]
    assert found.request.shape.memory is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("./x, array 1-100 except 50-60", "except 50-60"), ("./x in a container, but not docker", "but not docker"),
        ("./x for at least 100 node-hours", "at least 100 node-hours"), ("./x with AVX-512", "AVX-512"),
    ],
)  # fmt: skip
def test_what_no_field_can_hold_is_told(text: str, told: str, read: Read) -> None:
    found = read(text, sites=["alpha"])
    assert told in found.unread
    assert (found.request.sites_not, found.request.budget, found.request.software) == ((), None, ())


def test_a_task_for_each_file_is_asked(read: Read) -> None:
    found = read("./x for each file in data/*.csv")
    assert "array" in {question.field for question in found.questions}


@pytest.mark.parametrize("text", ["./x with 100 GB on /tmp", "./x, 100 GB of free space in /tmp"])
def test_space_on_a_node_s_own_disk_by_its_path(text: str, read: Read) -> None:
    shape = read(text).request.shape
    assert (shape.local_disk_bytes, shape.memory) == (100 * 10**9, None)


def test_space_on_a_file_system_by_its_path(read: Read) -> None:
    found = read("./x with 3 TB on /scratch, 2 nodes").request
    assert [(need.mount, need.free_bytes) for need in found.storage] == [("/scratch", 3 * 10**12)]
    assert found.inputs == ()


def test_a_question_mark_is_of_the_sentence(read: Read) -> None:
    assert read("Could you run ./x?").request.command == ("./x",)
    assert read("Can you start ./x -n 3? 2 nodes.").request.command == ("./x", "-n", "3")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("./x needs between 2h and 3h", 7200, 10800), ("./x from 90 min to 2 hours", 5400, 7200),
        ("./x 2h - 3h, 1 node", 7200, 10800),
    ],
)  # fmt: skip
def test_two_times_with_their_units_are_a_range(text: str, low: int, high: int, read: Read) -> None:
    found = read(text).request
    assert (found.walltime_min_s, found.walltime_s) == (low, high)


@pytest.mark.parametrize("text", ["./x mem=64g nodes=2", "./x walltime=5h", "python train.py lr=0.1 nodes=4"])
def test_what_may_be_an_argument_or_a_need_is_asked(text: str, read: Read) -> None:
    assert "command" in {question.field for question in read(text).questions}


def test_a_quoted_command_keeps_its_arguments(read: Read) -> None:
    found = read("run `python train.py lr=0.1 nodes=4` on 2 nodes")
    assert found.request.command == ("python", "train.py", "lr=0.1", "nodes=4")
    assert not found.questions


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2 TB on lustre, 4 cores: ./a.out", "lustre"), ("at least 2 TB on a lustre file system, ./x", "lustre"),
        ("2 TB of gpfs, ./x", "gpfs"), ("./x needs 2 TB in beegfs", "beegfs"),
    ],
)  # fmt: skip
def test_space_on_a_named_file_system_is_no_memory(text: str, kind: str, read: Read) -> None:
    found = read(text).request
    assert [(need.kinds, need.free_bytes) for need in found.storage] == [((kind,), 2 * 10**12)]
    assert found.shape is None or found.shape.memory is None


def test_space_on_local_scratch_is_of_the_node(read: Read) -> None:
    shape = read("needs 400 GB on local scratch, ./x").request.shape
    assert (shape.local_disk_bytes, shape.memory) == (400 * 10**9, None)


def test_memory_beside_a_file_system_is_memory(read: Read) -> None:
    found = read("./x on 1 node with 64 GB and lustre").request
    assert found.shape.memory.bytes == 64 * 10**9
    assert found.storage[0].free_bytes is None


def test_a_docker_container_keeps_its_runtime(read: Read) -> None:
    (need,) = read("docker container ubuntu:22.04, 4 cores: echo hi").request.containers
    assert (need.runtimes, need.image) == (("docker",), "ubuntu:22.04")


@pytest.mark.parametrize(
    ("text", "licence"),
    [("one licence token comsol:1, 20 cores ./x", "comsol:1"), ("licences abaqus:12, ./x", "abaqus:12")],
)
def test_a_licence_token_is_no_secret(text: str, licence: str, read: Read) -> None:
    assert read(text).request.licenses == (licence,)


def test_a_licence_at_the_end_of_a_sentence(read: Read) -> None:
    assert read("./x needs 96 licences of anshpc. 4 nodes").request.licenses == ("anshpc:96",)


@pytest.mark.parametrize("text", ["./x, 2 nodes. Allow the job to be requeued.", "./x, 2 nodes, requeueing is fine"])
def test_a_job_that_may_be_requeued(text: str, read: Read) -> None:
    assert read(text).request.requeue is True


@pytest.mark.parametrize(
    "text",
    [
        "CP2K 2024.1 or, if you do not have that, VASP 6.4.2. 4 nodes",
        "CP2K 2024.1 or, if that is missing, VASP 6.4.2, 4 nodes",
    ],
)
def test_a_package_in_place_of_another_that_is_not_there(text: str, read: Read) -> None:
    (need,) = read(text).request.software
    assert [other.name for other in need.alternatives] == ["VASP"]
