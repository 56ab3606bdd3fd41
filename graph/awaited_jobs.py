"""Jobs that a script waits for by their number: a number means another job at every site."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.site import Site
from graph.reading.reading import Option, Question, Reading

__all__ = ["ask_whose"]


def ask_whose(reading: Reading, sites: Sequence[Site]) -> Reading:
    """Ask at which site those jobs are, where several have the script's scheduler.

    Sites with another scheduler never take the number for one of their own (`foreign_words`).
    """
    request = reading.request
    ids = [one.job_id for one in request.dependencies if one.job_id is not None]
    theirs = any(source.field == "dependencies" and source.origin != "script" for source in request.sources)
    if not ids or theirs or request.script_dialect is None:
        return reading
    there = [
        site.name
        for site in sites
        if site.scheduler == request.script_dialect
        and (not request.sites or site.name in request.sites)
        and site.name not in request.sites_not
    ]
    if len(there) < 2:
        return reading
    words = ", ".join(ids[:10])
    question = Question(
        id="awaited-jobs", field="sites", words=words,
        text=f"The script waits for job {words}. At which site is it? Elsewhere the number means another job.",
        options=(
            *(Option(label=name, patch={"sites": [name]}) for name in there),
            Option(label="wait for no job", patch={"dependencies": None}),
        ),
    )  # fmt: skip
    return reading.model_copy(update={"questions": (*reading.questions, question)})
