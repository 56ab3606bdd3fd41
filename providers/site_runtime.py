"""One site ready to be asked and used: its transport, providers, scheduler and movers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from dragoman.errors import UnknownName
from dragoman.model import now
from dragoman.observation import Category, Observation
from dragoman.protocols import Clock, Mover, Provider, Transport
from dragoman.site import Site
from providers.evidence import Ask, Observer, provider_id
from providers.limited import switch_off, unlimited
from providers.probed import ProbedProvider
from providers.probes.base import Probe
from providers.probes.workload.managers import manager_probes
from providers.registry import dialects, movers, probes, transports
from providers.schedulers.client import SchedulerClient
from providers.schedulers.machine import Machine
from providers.schedulers.machine_remote import CarriesRunner, remote_program
from providers.simulated.provider import SimulatedProvider, named_in
from providers.simulated.scheduler import SimulatedScheduler
from providers.simulated.state import SimulatedState
from providers.slow_facts import SlowFacts
from providers.workload import WorkloadProvider

__all__ = ["SiteRuntime", "open_site"]


@dataclass(frozen=True, slots=True, eq=False)
class SiteRuntime:
    """A site of the fleet, opened by `open_site`."""

    site: Site
    transport: Transport | None
    """None: the site is simulated."""
    providers: tuple[Provider, ...]
    """What may be asked here, in order of category and name. What the site file switches off is not among them."""
    scheduler: SchedulerClient | SimulatedScheduler
    observer: Observer
    managers: tuple[Provider, ...] = ()
    """Whether workload managers are here that the site file does not name: for people, and never asked for work."""
    movers: Mapping[str, Mover] = field(default_factory=dict)
    """Ways to move data here, by name; none for a simulated site."""

    @property
    def simulated(self) -> bool:
        """Whether the site answers from a state and cannot run work."""
        return self.site.simulated is not None

    @property
    def identity(self) -> str:
        """Who we are there."""
        return self.transport.identity if self.transport is not None else f"simulated@{self.site.name}"

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

    async def aclose(self) -> None:
        """Close the connections to the site."""
        if self.transport is not None:
            await self.transport.aclose()


def open_site(
    site: Site, *, clock: Clock = now, facts: SlowFacts | None = None, transport: Transport | None = None
) -> SiteRuntime:
    """Put a site's parts together. Nothing is asked of the site yet.

    Args:
        site: as the sites file describes it.
        clock: the time that evidence carries.
        facts: where answers are kept; one per site and identity, shared by all who open the site.
        transport: instead of the one that the site's configuration names.

    Raises:
        UnknownName: no such scheduler or transport.
        ProviderImportError: one of them failed to import.
        SiteFileError: `providers_off` names what does not exist.
        BadRequest: the state of a simulated site is wrong.

    """
    observer = Observer(site, facts or SlowFacts(), clock)
    if site.simulated is not None:
        return _open_simulated(site, observer, clock)
    reach = transport or _reach(site)
    client = _client(site, reach, clock)
    own = f"{Category.WORKLOAD.value}/{site.scheduler}"
    found: list[Provider] = []
    if own not in probes.names():  # a workload manager that is only told to be there has a probe and no client
        found.append(WorkloadProvider(site.scheduler, client, site.accounts))
    found += [ProbedProvider(_probe(make, site), reach, site.paths) for _, make in probes.items()]
    others = manager_probes(site.scheduler, _managers(), site.providers_off)
    beside = [ProbedProvider(each, reach, site.paths) for each in others]
    left = _in_order(switch_off([*found, *beside], site.providers_off, site=site.name))
    made = {
        name: for_site(site, reach) for name, make in movers.items() if (for_site := getattr(make, "for_site", None))
    }
    return SiteRuntime(
        site=site,
        transport=reach,
        providers=tuple(each for each in left if unlimited(each) not in beside),
        scheduler=client,
        observer=observer,
        managers=tuple(each for each in left if unlimited(each) in beside),
        movers={name: mover for name, mover in made.items() if mover is not None},
    )


def _managers() -> tuple[str, ...]:
    """Workload managers that have a probe of their own."""
    return tuple(
        name for category, _, name in (each.partition("/") for each in probes.names()) if category == "workload"
    )


def _open_simulated(site: Site, observer: Observer, clock: Clock) -> SiteRuntime:
    state = SimulatedState.read(site.simulated or {}, where=f"{site.name}: simulated")
    scheduler = SimulatedScheduler(site.scheduler, site.name, state, clock)
    # A simulated site has one workload manager, and its scheduler speaks for it.
    real = [name.partition("/") for name in probes.names() if not name.startswith(f"{Category.WORKLOAD.value}/")]
    names = dict.fromkeys([*((Category(category), name) for category, _, name in real), *named_in(state)])
    found: list[Provider] = [WorkloadProvider(site.scheduler, scheduler, state.accounts or site.accounts)]
    found.extend(SimulatedProvider(category, name, state, clock) for category, name in names)
    return SiteRuntime(
        site=site,
        transport=None,
        providers=_in_order(switch_off(found, site.providers_off, site=site.name)),
        scheduler=scheduler,
        observer=observer,
    )


def _client(site: Site, reach: Transport, clock: Clock) -> SchedulerClient:
    make = dialects.get(site.scheduler)
    dialect = getattr(make, "for_site", lambda _: make())(site)
    if isinstance(dialect, Machine) and not reach.local:
        dialect, reach = Machine(program=remote_program(site)), CarriesRunner(reach, site)
    return SchedulerClient(dialect, reach, site, clock=clock)


def _probe(make: Callable[..., Probe], site: Site) -> Probe:
    """Made for the site, where it is a class that can be."""
    for_site: Callable[[Site], Probe] = getattr(make, "for_site", lambda _: make())
    return for_site(site)


def _reach(site: Site) -> Transport:
    make = transports.get(site.transport.kind)
    return make() if site.transport.kind == "local" else make(site.transport)


def _in_order(providers: Iterable[Provider]) -> tuple[Provider, ...]:
    order = list(Category)
    return tuple(sorted(providers, key=lambda one: (order.index(one.category), one.name)))
