"""Read-only tools: each verb of each provider of a site, for a secretary that explores. None changes anything."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel

from dragoman.errors import DragomanError
from dragoman.model import JsonObject
from dragoman.observation import Observation
from dragoman.protocols import Provider, Verb
from providers.evidence import provider_id
from providers.site_view import SiteView
from tools.answers import of_error, of_invalid, of_observation, tool_name

__all__ = ["reading_tools"]

Seen = Callable[[Observation], None]


def reading_tools(runtime: SiteView, *, seen: Seen | None = None) -> list[BaseTool]:
    """A tool for every verb of every provider that the site shows.

    Args:
        runtime: the opened site.
        seen: told of every observation, so that what a model saw is kept as evidence.

    """
    return [_tool(runtime, provider, verb, seen) for provider in runtime.providers for verb in provider.verbs.values()]


def _tool(runtime: SiteView, provider: Provider, verb: Verb, seen: Seen | None) -> BaseTool:
    name = provider_id(provider)

    async def ask(**arguments: object) -> JsonObject:
        try:
            given: BaseModel = verb.arguments.model_validate(arguments)
            observation = await runtime.observe(provider, verb.name, given)
        except DragomanError as error:
            return of_error(error)
        if seen is not None:
            seen(observation)
        return of_observation(observation)

    return StructuredTool(
        name=tool_name(provider.category.value, provider.name, verb.name),
        description=f"{name} at site {runtime.site.name}: {verb.description}",
        args_schema=verb.arguments,
        coroutine=ask,
        handle_validation_error=of_invalid,  # type: ignore[arg-type]  # data is taken as it is, not only text
        metadata={"acts": False, "site": runtime.site.name, "provider": name, "verb": verb.name},
    )
