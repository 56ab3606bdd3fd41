"""One site as it may be asked: what a secretary gets. Nothing of it acts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from dragoman.errors import UnknownName
from dragoman.observation import Category, Observation
from dragoman.protocols import Provider
from dragoman.site import Site
from providers.evidence import Ask, Observer, provider_id

__all__ = ["SiteView"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SiteView:
    """What of a site is asked and what it said: neither its scheduler nor its movers nor a way to run commands there.

    So whoever gets a view has no acting tool within reach, by type.
    """

    site: Site
    providers: tuple[Provider, ...]
    """What may be asked here, in order of category and name. What the site file switches off is not among them."""
    observer: Observer
    managers: tuple[Provider, ...] = ()
    """Whether workload managers are here that the site file does not name: for people, and never asked for work."""

    @property
    def simulated(self) -> bool:
        """Whether the site answers from a state and cannot run work."""
        return self.site.simulated is not None

    def of(self, category: Category) -> tuple[Provider, ...]:
        """The site's providers of one category."""
        return tuple(provider for provider in self.providers if provider.category is category)

    def provider(self, name: str) -> Provider:
        """The provider called `category/name`.

        Raises:
            UnknownName: the site has none of that name, or it is switched off.

        """
        for provider in self.providers:
            if provider_id(provider) == name:
                return provider
        there = ", ".join(provider_id(one) for one in self.providers)
        raise UnknownName(f"there is no provider {name!r}", where=self.site.name, cure=f"there are {there}")

    async def observe(
        self,
        provider: Provider | str,
        verb: str,
        arguments: BaseModel | None = None,
        *,
        max_age_s: float | None = None,
    ) -> Observation:
        """Evidence: a kept answer that is young enough, or a new one. Faults of the site are unknown outcomes.

        Args:
            provider: the provider, or its `category/name`.
            verb: what is asked.
            arguments: of the verb's own type; None where it takes none.
            max_age_s: asks for fresher evidence than the verb's own limit.

        Raises:
            UnknownName: no such provider or verb.

        """
        found = self.provider(provider) if isinstance(provider, str) else provider
        return (await self.observer.observe_many([Ask(found, verb, arguments, max_age_s)]))[0]

    async def observe_many(self, asks: Sequence[Ask]) -> list[Observation]:
        """Evidence for many questions in few round trips, in their order."""
        return await self.observer.observe_many(asks)

    async def presence(self, categories: Iterable[Category] | None = None) -> dict[str, Observation]:
        """Which providers are there, by `category/name`, in few round trips."""
        wanted = set(categories) if categories is not None else set(Category)
        chosen = [one for one in (*self.providers, *self.managers) if one.category in wanted and "probe" in one.verbs]
        seen = await self.observer.observe_many([Ask(provider, "probe") for provider in chosen])
        return {provider_id(provider): observation for provider, observation in zip(chosen, seen, strict=True)}
