"""The one composition root: settings, fleet, checkpoints, graph and continuation put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from checkpoints.open import Checkpoints, open_checkpoints
from checkpoints.secret_store import SecretStore
from continuation.ends import LocalEnds
from continuation.engine import Engine
from continuation.lease import holder_name
from continuation.places import Places
from continuation.resumers import AnyResumer, ApiResumer
from continuation.service import Service
from continuation.streams import SiteStreams
from continuation.watcher import Watcher
from dragoman.settings import Settings, read_settings
from dragoman.site import Fleet
from graph.build import build
from graph.deps import Deps
from interfaces.model import conventions_of, model_desk
from interfaces.recipes import RecipeFolders
from interfaces.sites import Sites
from providers.script_reading import read_any_script

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["App", "new_app", "open_app"]


@dataclass(frozen=True)
class App:
    """Everything one process needs, opened on first use."""

    settings: Settings
    checkpoints: Checkpoints
    sites: Sites
    holder: str

    @cached_property
    def secrets(self) -> SecretStore:
        """Secret values of requests."""
        return SecretStore(self.settings.secrets_dir)

    @cached_property
    def deps(self) -> Deps:
        """What the graph's nodes are handed."""
        return Deps(
            ledger=self.checkpoints.ledger,
            fleet=self.sites.fleet_for,
            open_site=self.sites.at,
            results_dir=self.settings.results_dir,
            secret=self.secrets.get,
            forget_secret=self.secrets.forget,
            script_reader=read_any_script,
            approval_rules=self.settings.approval_rules,
            site_timeout_s=self.settings.site_timeout_s,
            sites_at_once=self.settings.sites_at_once,
            file_latency_s=self.settings.file_latency_s,
            recipes=RecipeFolders(self.settings).shelf,
            conventions=conventions_of(self.settings),
            model=model_desk(self.settings),
        )

    @cached_property
    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph over the fenced saver, for our own processes."""
        return build(self.deps, checkpointer=self.checkpoints.saver)

    @cached_property
    def server(self) -> ApiResumer:
        """The way to threads that a LangGraph server owns."""
        return ApiResumer(self.checkpoints.ledger, self.settings.api_url)

    @cached_property
    def service(self) -> Service:
        """Looks at sites and runs threads on."""
        ledger = self.checkpoints.ledger
        engine = Engine(
            self.graph,
            ledger,
            self.holder,
            lease_s=self.settings.lease_s,
            most_tries=self.settings.max_resume_tries,
        )
        resumer = AnyResumer(ledger, engine, self.server)
        places = Places(ledger, self.sites.at)
        return Service(
            ledger,
            Watcher(ledger, places, self.holder),
            resumer,
            news=self.checkpoints.listen,
            ends=(LocalEnds(ledger, places), SiteStreams(ledger, places, self.holder)),
        )

    async def aclose(self) -> None:
        """Close connections to sites, to a LangGraph server and to the database."""
        await self.server.aclose()
        await self.sites.aclose()
        await self.checkpoints.aclose()


def new_app(settings: Settings, sites: Sites) -> App:
    """An app that whoever makes it closes. No event loop has to run yet."""
    checkpoints = open_checkpoints(settings)
    sites.keep_facts_in(checkpoints.ledger)
    return App(settings, checkpoints, sites, holder_name())


@asynccontextmanager
async def open_app(settings: Settings | None = None, *, fleet: Fleet | None = None) -> AsyncIterator[App]:
    """An app for a block. Nothing connects until it is used.

    Args:
        settings: None: those in force.
        fleet: None: the settings' sites file, or this machine alone.

    Raises:
        SettingsError: settings that cannot be used.
        SiteFileError: a sites file that cannot be used.

    """
    chosen = settings or read_settings()
    sites = await Sites.read(chosen.sites_file, fleet)
    app = new_app(chosen, sites)
    try:
        yield app
    finally:
        await app.aclose()
