"""What a site file switches off: providers and verbs that are neither probed nor shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from dragoman.errors import SiteFileError, UnknownName
from dragoman.model import Model
from dragoman.observation import Answer, Category
from dragoman.protocols import Provider, Verb

__all__ = ["LimitedProvider", "switch_off", "unlimited"]


class LimitedProvider:
    """A provider without some of its verbs."""

    def __init__(self, limited: Provider, off: frozenset[str]) -> None:
        self.limited = limited
        self.off = off
        self.category: Category = limited.category
        self.name: str = limited.name

    @property
    def verbs(self) -> Mapping[str, Verb]:
        """What can be asked."""
        return {name: verb for name, verb in self.limited.verbs.items() if name not in self.off}

    async def call(self, verb: str, arguments: BaseModel) -> Answer[Model]:
        """Ask.

        Raises:
            UnknownName: there is no such verb, or it is switched off.

        """
        if verb not in self.verbs:
            raise UnknownName(
                f"there is no verb {verb!r}",
                where=f"{self.category.value}/{self.name}",
                cure=f"it has {', '.join(self.verbs)}",
            )
        return await self.limited.call(verb, arguments)


def unlimited(provider: Provider) -> Provider:
    """The provider behind a limited one; any other itself."""
    return provider.limited if isinstance(provider, LimitedProvider) else provider


def switch_off(providers: Sequence[Provider], off: Sequence[str], *, site: str) -> tuple[Provider, ...]:
    """The providers that are left; `off` has names such as `container/docker` and `software/pip.find_package`.

    Raises:
        SiteFileError: a name that would switch nothing off: a misspelling must not leave something exposed.

    """
    left: list[Provider] = []
    spent: set[str] = set()
    for provider in providers:
        name = f"{provider.category.value}/{provider.name}"
        if name in off:
            spent.add(name)
            continue
        verbs = {verb for verb in provider.verbs if f"{name}.{verb}" in off}
        spent |= {f"{name}.{verb}" for verb in verbs}
        if verbs and verbs == set(provider.verbs):
            continue  # nothing of it is left to show
        left.append(LimitedProvider(provider, frozenset(verbs)) if verbs else provider)
    lost = [name for name in off if name not in spent and name.partition(".")[0] not in spent]
    if lost:
        there = ", ".join(f"{provider.category.value}/{provider.name}" for provider in providers)
        raise SiteFileError(
            f"there is no provider or verb {lost[0]!r} to switch off", where=f"{site}: providers_off", cure=there
        )
    return tuple(left)
