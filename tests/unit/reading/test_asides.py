"""What a request tells beside its facts: stories are named, demands that no rule read are told or asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BASE = "Run `./a.out` for 3 hours on 4 nodes."
SITES = ("juno", "titan", "helios")


@pytest.mark.parametrize(
    "story",
    [
        "We are three geologists in the Tyrol and look after a rockslide.",
        "The granite there is unusually wet this autumn.",
        "Our second paper on kelp forests was torn apart by Dr. Moreno.",
        "My predecessor Ms Lindgren always did this on her own laptop, which finally died.",
        "It is for the thesis of a student.",
        "The old figures from 2014 looked poor.",
        "Because the referee did not believe figure 3.",
        "Prof. Adeyemi sends his regards.",
        "The satelite pictures came late.",
    ],
)
def test_story_is_named_and_asks_for_nothing(story: str, read: Callable[..., Any]) -> None:
    reading = read(f"{BASE} {story}", sites=SITES)
    assert not reading.unread
    assert not reading.questions
    assert reading.request.walltime_s == 10800
    assert not reading.request.software


@pytest.mark.parametrize(
    "demand",
    [
        "The scans have to stay in Norway.",
        "The genomes are not to leave the country.",
        "All machines must be identical.",
        "The nodes have to be next to one another.",
        "It cannot be restarted.",
        "Nobody outside our group may look at the samples.",
        "Our dean forbids clouds.",
        "The interviews are under embargo.",
        "The drawings are confidential.",
        "The designs are covered by an NDA.",
        "It was compiled for Arm.",
        "It fetches tiles from OpenStreetMap.",
        "Wipe everything when it is through.",
        "Wait for Carla's mesh.",
        "My professor has to agree first.",
        "The sponsor has asked us to keep the data on our own servers.",
        "It needs huge pages.",
        "The deadline was moved to Monday.",
        "The budget was withdrawn.",
        "It should only begin as soon as the mesh has been delivered.",
        "Run trial 3 to 17.",
        "Please use a newer machine.",
        "If it crashes it should carry on from its last state.",
    ],
)
def test_demand_that_no_rule_reads_is_told(demand: str, read: Callable[..., Any]) -> None:
    reading = read(f"{BASE} {demand}", sites=SITES)
    assert reading.unread or reading.questions


@pytest.mark.parametrize(
    "words",
    [
        "Running at titan is illegal.",
        "Please stay clear of titan.",
        "It crashes on titan.",
        "Our quota on titan is exhausted.",
        "I work at titan as a nurse.",
        "Our allocation on titan ends in December.",
        "Our contract bars us from titan.",
    ],
)
def test_site_beside_words_that_may_turn_it_is_not_stated(words: str, read: Callable[..., Any]) -> None:
    reading = read(f"{BASE} {words}", sites=SITES)
    assert reading.request.sites == ()
    assert reading.unread or reading.questions or reading.request.sites_not


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Docker is banned by our administrators.", "containers"),
        ("It hangs with MPICH.", "mpi"),
        ("The queue long is broken.", "queue"),
        ("We crash over Omni-Path.", "networks"),
    ],
)
def test_what_is_scorned_is_asked(words: str, field: str, read: Callable[..., Any]) -> None:
    reading = read(f"{BASE} {words}", sites=SITES)
    assert not getattr(reading.request, field)
    assert reading.unread or reading.questions


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Hi not on titan, run `./a.out` on 4 nodes for 3 hours.", "sites_not"),
        ("Hello we need exclusive nodes, `./a.out` for 3 hours on 4 nodes.", "exclusive"),
        (f"{BASE} Thanks in advance. Confidential.", ""),
        (f"{BASE} Thank you for keeping it in Norway!\nEva", ""),
    ],
)
def test_greeting_and_farewell_swallow_no_demand(text: str, lost: str, read: Callable[..., Any]) -> None:
    reading = read(text, sites=SITES)
    shape = reading.request.shape
    stated = {"sites_not": bool(reading.request.sites_not), "exclusive": bool(shape and shape.exclusive)}
    assert stated.get(lost) or reading.unread or reading.questions


@pytest.mark.parametrize(
    "wish", ["InfiniBand would be nice, but is not needed.", "Preferably with Lustre.", "Infiniband isn't required."]
)
def test_wish_is_named_and_not_required(wish: str, read: Callable[..., Any]) -> None:
    reading = read(f"{BASE} {wish}", sites=SITES)
    assert not reading.request.networks
    assert not reading.request.storage
    assert not reading.unread


@pytest.mark.parametrize(
    ("text", "who"),
    [
        (f"{BASE}\n\nWith gratitude,\nB. Wojciechowska", "B. Wojciechowska"),
        (f"{BASE} Many thanks for your patience with us, Hendrik Maas", "Hendrik Maas"),
        (f"{BASE}\n\nYours faithfully,\nFemke de Rooij, structural biology, room 4.17", "Femke de Rooij"),
        (f"{BASE} thx, mk", "mk"),
    ],
)
def test_who_wrote_is_named(text: str, who: str, read: Callable[..., Any]) -> None:
    reading = read(text, sites=SITES)
    assert not reading.unread
    assert any(who in sentence for sentence in reading.defaults)
