"""Whose jobs a script waits for is asked where its scheduler runs at several sites."""

from __future__ import annotations

import pytest

from dragoman.site import Site
from graph.awaited_jobs import ask_whose
from graph.reading.answers import apply_answer
from graph.reading.reading import Reading
from providers.script_reading import read_any_script

SITES = [Site(name="a", scheduler="slurm"), Site(name="b", scheduler="slurm"), Site(name="c", scheduler="pbs")]


def reading(options: str = "-d afterok:77", **more: object) -> Reading:
    request = read_any_script(f"#!/bin/bash\n#SBATCH -n 1\n#SBATCH {options}\n./a\n").request
    return Reading(request=request.model_copy(update=more))


def test_the_site_is_asked_and_the_answer_keeps_the_job_there() -> None:
    asked = ask_whose(reading(), SITES)
    (question,) = asked.questions
    assert "job 77" in question.text
    assert [option.label for option in question.options] == ["a", "b", "wait for no job"]
    answered = apply_answer(asked, "awaited-jobs", "b")
    assert answered.complete
    assert (answered.request.sites, answered.request.dependencies[0].job_id) == (("b",), "77")
    free = apply_answer(asked, "awaited-jobs", "wait for no job").request
    assert (free.sites, free.dependencies) == ((), ())


@pytest.mark.parametrize(
    ("given", "sites"),
    [
        (reading(), SITES[1:]),
        (reading(sites=("a",)), SITES),
        (reading(sites_not=("a",)), SITES),
        (reading("-d singleton"), SITES),
        (reading("--nice"), SITES),
        (reading(script_dialect=None), SITES),
    ],
)
def test_nothing_is_asked_where_there_is_one_answer(given: Reading, sites: list[Site]) -> None:
    assert ask_whose(given, sites) == given
