"""A dragoman process of the campaign: the command line as it is, over parts that faults strike at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from campaign.breaks import break_ledger, break_site
from campaign.probe import Probe, hook
from campaign.queue_dialect import CampaignQueue
from checkpoints.open import open_checkpoints
from continuation.lease import holder_name
from continuation.service import Service
from dragoman.command import Command, Completed
from dragoman.settings import Settings, read_settings
from dragoman.site import Fleet
from graph.deps import Deps
from interfaces.app import App
from interfaces.sites import Sites
from providers.schedulers.client import SchedulerClient
from providers.site_runtime import SiteRuntime, open_site
from providers.transports.local import LocalTransport
from providers.workload import WorkloadProvider

__all__ = ["compose"]

LEDGER = {
    "create_thread": "request", "save_answers": "proposal", "plan_transfer": "stage", "intend": "intent",
    "settle_attempt": "record", "save_job": "status", "open_wait": "wait", "close_wait": "resume", "acquire": "lease",
    "set_status": "rest",
}  # fmt: skip


class CampaignSites(Sites):
    """Sites over a transport and movers that faults strike at."""

    probe: Probe
    queue: str
    broken: str

    def open(self, name: str) -> SiteRuntime:
        """As usual, with the campaign's queue as the scheduler."""
        if name not in self._open:
            transport = LocalTransport()
            _strike_transport(transport, self.probe)
            runtime = open_site(self.site(name), clock=self.probe.now, transport=transport)
            dialect = CampaignQueue(self.queue, own_run_claim=self.broken == "claims")
            client = SchedulerClient(dialect, transport, runtime.site, clock=self.probe.now)
            break_site(self.broken, client, transport)
            for provider in runtime.providers:
                if isinstance(provider, WorkloadProvider):
                    provider.source = client
            runtime = replace(runtime, scheduler=client)
            for mover in runtime.movers.values():
                hook(mover, "start", lambda plan: "fetch" if plan.direction == "out" else None, self.probe)
            self._open[name] = runtime
        return self._open[name]


class CampaignApp(App):
    """The app with this process's own clock, and without long pauses."""

    probe: Probe

    @cached_property
    def deps(self) -> Deps:
        """With short pauses."""
        usual: Deps = App.deps.func(self)  # type: ignore[attr-defined]
        return replace(usual, clock=self.probe.now, retry_after=timedelta(seconds=1))

    @cached_property
    def service(self) -> Service:
        """With short leases."""
        usual: Service = App.service.func(self)  # type: ignore[attr-defined]
        usual.watcher.clock = self.probe.now
        usual.watcher.lease_s = 2.0
        return usual


def _verb(command: Command) -> str | None:
    """Which step a command at the site belongs to."""
    argv = command.argv
    if len(argv) > 4 and argv[3] == "dragoman":
        return {"prepare": "prepare", "submit": "submit", "abandon": "abandon"}.get(argv[4])
    return {"status": "look", "cancel": "cancel"}.get(next((w for w in argv if w in ("status", "cancel")), ""))


def _strike_transport(transport: LocalTransport, probe: Probe) -> None:
    inner: Callable[[Command], Any] = transport.run

    async def run(command: Command) -> Completed:
        step = _verb(command)
        if step is None:
            found: Completed = await inner(command)
            return found
        probe.at(step, "before", command.argv[5] if len(command.argv) > 5 else "")
        probe.lost()
        if step == "submit" and probe.fault is not None and probe.fault["phase"] == "during":
            task = asyncio.ensure_future(inner(command))
            await asyncio.sleep(0.01 + 0.015 * probe.fault["nth"])
            probe.at(step, "during", command.argv[5] if len(command.argv) > 5 else "")
            done: Completed = await task
        else:
            done = await inner(command)
        probe.at(step, "after", command.argv[5] if len(command.argv) > 5 else "")
        probe.lost()
        return done

    transport.run = run  # type: ignore[method-assign]


def _writes(_config: object, writes: Any, *_rest: object) -> str | None:  # noqa: ANN401
    channels = {channel for channel, _ in writes}
    return "interrupt" if "__interrupt__" in channels else None


def compose(probe: Probe, queue: str, broken: str) -> Callable[..., Any]:
    """What takes the place of `interfaces.app.open_app` in this process."""

    @asynccontextmanager
    async def open_app(settings: Settings | None = None, *, fleet: Fleet | None = None) -> AsyncIterator[App]:
        chosen = settings or read_settings()
        sites = await CampaignSites.read(chosen.sites_file, fleet)
        assert isinstance(sites, CampaignSites)
        sites.probe, sites.queue, sites.broken = probe, queue, broken
        checkpoints = open_checkpoints(chosen)
        for method, step in LEDGER.items():
            hook(checkpoints.ledger, method, lambda *_a, _step=step, **_k: _step, probe)
        hook(checkpoints.ledger, "add_event", lambda event: "answer" if event.kind == "answer" else "event", probe)
        hook(
            checkpoints.ledger,
            "save_decision",
            lambda _t, kind, *_r: "outcome" if kind == "outcome" else "decision",
            probe,
        )
        hook(checkpoints.saver, "aput", lambda *_a, **_k: "checkpoint", probe)
        hook(checkpoints.saver, "aput_writes", _writes, probe)
        break_ledger(broken, checkpoints.ledger)
        app = CampaignApp(chosen, checkpoints, sites, holder_name())
        object.__setattr__(app, "probe", probe)
        try:
            yield app
        finally:
            await app.aclose()

    return open_app
