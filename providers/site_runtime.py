"""One site ready to be asked and used: its transport, providers, scheduler and movers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from dragoman.errors import BadRequest
from dragoman.kept_fact import SiteFacts
from dragoman.model import now
from dragoman.observation import Category
from dragoman.protocols import Clock, Mover, Provider, Transport
from dragoman.site import Site
from providers.evidence import Observer
from providers.kept_facts import KeptFacts
from providers.limited import switch_off, unlimited
from providers.probed import ProbedProvider
from providers.probes.base import Probe
from providers.probes.workload.beside import manager_probes
from providers.registry import dialects, movers, probes, transports
from providers.schedulers.client import SchedulerClient
from providers.schedulers.machine import Machine
from providers.schedulers.machine_remote import CarriesRunner, remote_program
from providers.simulated.names import misspelt_name
from providers.simulated.provider import SimulatedProvider, named_in
from providers.simulated.scheduler import SimulatedScheduler
from providers.simulated.state import SimulatedState
from providers.site_view import SiteView
from providers.slow_facts import SlowFacts
from providers.workload import WorkloadProvider

__all__ = ["SiteRuntime", "open_site"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SiteRuntime(SiteView):
    """A site of the fleet, opened by `open_site`: it can be asked, and used."""

    transport: Transport | None
    """None: the site is simulated."""
    scheduler: SchedulerClient | SimulatedScheduler
    movers: Mapping[str, Mover] = field(default_factory=dict)
    """Ways to move data here, by name; none for a simulated site."""

    @property
    def view(self) -> SiteView:
        """The part that only asks: what is handed to secretaries and their models."""
        return SiteView(site=self.site, providers=self.providers, observer=self.observer, managers=self.managers)

    @property
    def identity(self) -> str:
        """Who we are there."""
        return self.transport.identity if self.transport is not None else f"simulated@{self.site.name}"

    async def aclose(self) -> None:
        """Close the connections to the site; answers of tasks that were ended early are kept first."""
        if self.observer.kept is not None:
            await self.observer.kept.write()
        if self.transport is not None:
            await self.transport.aclose()


def open_site(
    site: Site,
    *,
    clock: Clock = now,
    facts: SlowFacts | None = None,
    transport: Transport | None = None,
    kept: SiteFacts | None = None,
    fresh: bool = False,
) -> SiteRuntime:
    """Put a site's parts together. Nothing is asked of the site yet.

    Args:
        site: as the sites file describes it.
        clock: the time that evidence carries.
        facts: where answers are kept; one per site and identity, shared by all who open the site.
        transport: instead of the one that the site's configuration names.
        kept: where slow facts outlive the process; those of a simulated site cost nothing and are not kept.
        fresh: use no fact that an earlier process left.

    Raises:
        UnknownName: no such scheduler or transport.
        ProviderImportError: one of them failed to import.
        SiteFileError: `providers_off` names what does not exist.
        BadRequest: the state of a simulated site is wrong.

    """
    if site.simulated is not None:
        return _open_simulated(site, Observer(site, facts or SlowFacts(), clock), clock)
    reach = transport or _reach(site)
    beyond = KeptFacts(kept, site, reach, fresh=fresh) if kept is not None else None
    observer = Observer(site, facts or SlowFacts(), clock, beyond)
    client = _client(site, reach, clock)
    own = f"{Category.WORKLOAD.value}/{site.scheduler}"
    found: list[Provider] = []
    # A workload manager whose jobs we do not run has a probe and no client.
    told_only = own in probes.names() and getattr(dialects.get(site.scheduler), "only_scripts", False)
    if not told_only:
        found.append(WorkloadProvider(site.scheduler, client, site.accounts))
    probed = {name: ProbedProvider(_probe(make, site), reach, site.paths) for name, make in probes.items()}
    # What another manager has to offer is none of this site's: no job of ours goes there.
    foreign = {name for name in probed if name.startswith(f"{Category.WORKLOAD.value}/") and name != own}
    found += [each for name, each in probed.items() if name not in foreign and (name != own or told_only)]
    others = manager_probes(site.scheduler, _managers(), site.providers_off)
    beside = [ProbedProvider(each, reach, site.paths) for each in others]
    beside += [probed[name] for name in sorted(foreign)]
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
    if (wrong := misspelt_name(state, site.scheduler)) is not None:
        where = ".".join(str(part) for part in wrong.loc)
        raise BadRequest(wrong.what, where=f"{site.name}: {where}", cure=wrong.cure)
    scheduler = SimulatedScheduler(site.scheduler, site.name, state, clock)
    # A simulated site has one workload manager, and its scheduler speaks for it.
    real = [name.partition("/") for name in probes.names() if not name.startswith(f"{Category.WORKLOAD.value}/")]
    names = dict.fromkeys([*((Category(category), name) for category, _, name in real), *named_in(state)])
    accounts = () if scheduler.silent else state.accounts or site.accounts
    found: list[Provider] = [WorkloadProvider(site.scheduler, scheduler, accounts)]
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
        dialect, reach = Machine(program=remote_program(site), allowed=dialect.allowed), CarriesRunner(reach, site)
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
