"""Sites in words: those that are wanted, those that are refused in any manner, and those that must be asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SITES = ["alpha", "beta", "gamma"]


@pytest.mark.parametrize(
    "text",
    [
        "./x, everything but beta", "Every site but beta is fine for ./x", "./x, site != beta", "./x, !beta",
        "excluded sites: beta; ./x", "Don't run ./x on beta", "überall außer auf beta, ./x auf 2 Knoten",
        "partout sauf beta, ./x sur 2 nœuds", "jamais sur beta, ./x sur 2 nœuds", "bloß nicht beta, ./x auf 2 Knoten",
        "./x on 2 nodes, far from beta", "./x on 2 nodes outside beta", "./x auf 2 Knoten, beta scheidet aus",
        "./x auf 2 Knoten; beta kommt nicht in Frage", "./x sur 2 nœuds, beta est exclu",
        "./x sur 2 nœuds, surtout pas sur beta",
    ],
)  # fmt: skip
def test_a_refused_site(read: Callable[..., Any], text: str) -> None:
    found = read(text, sites=SITES).request
    assert (found.sites, found.sites_not) == ((), ("beta",))


@pytest.mark.parametrize(
    "text",
    [
        "./x on alpha instead of beta", "Use alpha rather than beta for ./x", "./x, on alpha and no longer on beta",
        "Run ./x on alpha, instead of beta", "alpha in place of beta, ./x", "sites: alpha; not: beta; ./x",
    ],
)  # fmt: skip
def test_one_site_instead_of_another(read: Callable[..., Any], text: str) -> None:
    found = read(text, sites=SITES).request
    assert (found.sites, found.sites_not) == (("alpha",), ("beta",))


@pytest.mark.parametrize(
    ("text", "sites", "sites_not"),
    [
        ("run ./x at any site that is not alpha or beta", (), ("alpha", "beta")),
        ("./x, avoid alpha, beta and gamma is okay", ("beta", "gamma"), ("alpha",)),
        ("no site other than alpha, ./x", ("alpha",), ()), ("not on any site except alpha: ./x", ("alpha",), ()),
        ("nowhere but at alpha may ./x run", ("alpha",), ()), ("./x at alpha or beta", ("alpha", "beta"), ()),
    ],
)  # fmt: skip
def test_several_sites(read: Callable[..., Any], text: str, sites: tuple[str, ...], sites_not: tuple[str, ...]) -> None:
    found = read(text, sites=SITES).request
    assert (found.sites, found.sites_not) == (sites, sites_not)


@pytest.mark.parametrize(
    "text",
    [
        "./x, nobody may use beta", "blacklist: beta; ./x", "beta disallowed, ./x", "beta: no; ./x",
        "boycott beta, ./x",
        "I don't want ./x to run on beta", "alpha or beta, but beta is too slow, ./x", "replace beta by alpha: ./x",
        "I prefer alpha to beta, ./x",
    ],
)  # fmt: skip
def test_a_site_that_words_may_turn_round_is_asked_about(read: Callable[..., Any], text: str) -> None:
    assert "sites" in {question.field for question in read(text, sites=SITES).questions}


def test_it_runs_where_its_data_are_only_where_that_is_said(read: Callable[..., Any]) -> None:
    lies = "my grid is on alpha in /work/grid.nc"
    for text in (f"{lies}, so run it there: ./x grid.nc", f"{lies}; ./x should run where the data lie"):
        assert read(text, sites=SITES).request.sites == ("alpha",), text
    for text in (f"{lies} and it does not matter whether ./x runs there", f"{lies} but ./x should not run there"):
        assert read(text, sites=SITES).request.sites == (), text
    assert [question.field for question in read("./x on 2 nodes, where the data lies", sites=SITES).questions] == [
        "sites"
    ]


def test_a_site_in_a_story_is_asked_about_or_said_elsewhere(read: Callable[..., Any]) -> None:
    assert read("./x on 2 nodes. The first of them failed on beta in August.", sites=SITES).request.sites == ()
    found = read("./x on 2 nodes. The dog is called beta.", sites=SITES)
    assert (found.request.sites, [question.field for question in found.questions]) == ((), ["sites"])
    found = read("I had trouble at beta. Therefore anywhere but beta: ./x on 2 nodes", sites=SITES)
    assert (found.request.sites_not, found.questions) == (("beta",), ())


@pytest.mark.parametrize(
    "text",
    [
        "The input data (1.5 TB) lies at alpha under /archive/era5, ./x on 10 nodes",
        "./x on 10 nodes, needs /archive/era5 (1.5 TB, at alpha)",
        "./x on 10 nodes, needs /archive/era5 (at alpha, 1.5 TB)",
        "The files are at alpha, /archive/era5, around 1.5 TB in total; ./x on 10 nodes",
    ],
)
def test_where_data_lies_and_how_much_it_is(read: Callable[..., Any], text: str) -> None:
    found = read(text, sites=SITES)
    (item,) = found.request.inputs
    assert (item.source, item.site, item.bytes) == ("/archive/era5", "alpha", 1_500_000_000_000)
    assert (found.request.sites, found.questions, found.unread) == ((), (), ())
