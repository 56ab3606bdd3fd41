"""`ask --explain`: where each requirement came from, and what each check rests on."""

from __future__ import annotations

from typing import Any

REQUEST = "LAMMPS >= 2Aug2023, 12 nodes for 2 hours, cheapest: lmp -in in.lj"


def test_words_and_evidence(dragoman: Any) -> None:
    given = ("ask", REQUEST, "--sites", str(dragoman.sites), "--site", "twin", "--explain")
    document = dragoman(*given, "--json").document
    told = document["explained"]
    words = {each["field"]: (each["words"], each["origin"]) for each in told["requirements"]}
    assert words["shapes.0.nodes"] == ("12 nodes", "text")
    assert words["software.0"] == ("LAMMPS >= 2Aug2023", "text")
    twin = told["sites"]["twin"]
    assert [each["site"] for each in document["proposals"]] == ["twin"]
    cited = {one for check in twin["checks"] for one in check["observations"]}
    assert cited <= set(twin["evidence"])
    for one in twin["evidence"].values():
        assert one["age_s"] <= one["max_age_s"]
    shown = dragoman(*given).out
    assert "LAMMPS 20230802 by spack" in shown
    assert "workload/slurm resources()" in shown


def test_of_a_request_that_is_asked_back(dragoman: Any) -> None:
    done = dragoman("ask", "2 nodes, frobnicate: ./x", "--sites", str(dragoman.sites), "--explain", "--json")
    told = done.document["explained"]
    assert {each["field"] for each in told["requirements"]} == {"command", "shapes.0.nodes"}
    assert told["sites"] == {}
