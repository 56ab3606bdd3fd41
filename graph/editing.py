"""A person's change of the request, taken whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping

from dragoman.errors import BadRequest
from dragoman.request import JobRequest
from graph.local_inputs import with_local_inputs
from graph.node import Step
from graph.reading.answers import merge_edit
from graph.with_recipe import known_recipes, with_recipe

__all__ = ["edited_request"]


async def edited_request(step: Step, request: JobRequest, edit: str | Mapping[str, object]) -> JobRequest:
    """The request with the edit over it.

    Raises:
        BadRequest: when it says nothing, or any of it was not understood, can mean two things or holds a secret value.

    """
    options = step.state.options
    sites = tuple(site.name for site in step.fleet().sites)
    reading = merge_edit(request, edit, now=step.deps.clock(), time_zone=options.time_zone, sites=sites)
    if reading.secrets:
        names = ", ".join(sorted(reading.secrets))
        raise BadRequest(f"the edit holds secret values ({names})", where="edit", cure="start a new request with them")
    if reading.unread:
        raise BadRequest(f"not understood: {'; '.join(reading.unread)}", where="edit", cure="say it differently")
    if reading.questions:
        raise BadRequest(reading.questions[0].text, where="edit", cure="say which is meant")
    if reading.request == request:
        raise BadRequest("the edit says nothing about the request", where="edit", cure="say what should be different")
    taken = await with_local_inputs(reading.request, options.base_dir)
    return with_recipe(taken, await known_recipes(step))
