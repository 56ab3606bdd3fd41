"""`watch`, `doctor` and `db`: what keeps the work going and the books in order."""

from __future__ import annotations

import signal
from typing import NoReturn

import anyio

from continuation.doctor import Finding, examine
from dragoman.errors import DatabaseError, DragomanError
from dragoman.settings import read_settings, settings_path
from dragoman.units import format_bytes, parse_duration
from interfaces.app import open_app
from interfaces.cli.running import emit, run_command, say, tell
from interfaces.cli.session import opened, tell_of_all

__all__ = ["doctor", "migrate", "prune", "status", "stop", "watch"]


def watch(sites: str | None, *, once: bool) -> NoReturn:
    """Look at sites and run threads on until SIGTERM or Ctrl-C."""

    async def command() -> int:
        async with opened(sites) as app:
            if once:
                ran = await app.service.catch_up(tell_of_all)
                say(f"{ran} threads were run on")
                return 0
            say(f"watching as {app.holder}; stop with Ctrl-C")
            async with anyio.create_task_group() as group:

                async def stop_on_signal() -> None:
                    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                        async for _ in signals:
                            group.cancel_scope.cancel()
                            return

                group.start_soon(stop_on_signal)
                await app.service.run(idle_s=app.settings.wait_poll_s, progress=tell_of_all)
        return 0

    run_command(command)


def doctor(sites: str | None, retry: str | None, *, as_json: bool) -> NoReturn:
    """Check everything; nothing is changed, except that a parked thread is retried when asked to."""

    async def command() -> int:
        findings: list[Finding] = []
        facts: dict[str, str] = {"settings": str(settings_path())}
        try:
            async with opened(sites) as app:
                facts["data"] = str(app.settings.data_dir)
                facts["database"] = "DATABASE_URL" if app.settings.database_url else "embedded"
                facts["sites"] = ", ".join(site.name for site in app.sites.fleet.sites)
                ledger = app.checkpoints.ledger
                if retry is not None:
                    from interfaces.answers import find_thread

                    row = await find_thread(ledger, retry)
                    taken = await ledger.retry(row.thread_id)
                    say(f"{row.thread_id}: {'taken back into work' if taken else 'is not parked with an error'}")
                    await app.service.catch_up(None if as_json else tell_of_all)
                findings = await examine(ledger, app.sites.fleet.sites, app.sites.open)
        except DragomanError as error:
            kind = "database" if isinstance(error, DatabaseError) else "settings"
            findings = [Finding(kind=kind, subject=error.where or kind, words=error.what, cure=error.cure)]
        if as_json:
            emit({"facts": facts, "findings": [finding.model_dump(mode="json") for finding in findings]})
        else:
            for name, value in facts.items():
                tell(f"{name}: {value}")
            for finding in findings:
                tell(f"{finding.kind} {finding.subject}: {finding.words}\n  → {finding.cure}")
            if not findings:
                tell("all is well")
        return 1 if findings else 0

    run_command(command)


def migrate(*, as_json: bool) -> NoReturn:
    """Bring the schema up to this release."""

    async def command() -> int:
        async with open_app() as app:
            applied = await app.checkpoints.migrate()
        if as_json:
            emit({"applied": applied})
        else:
            tell(f"applied: {', '.join(applied)}" if applied else "the schema is up to date")
        return 0

    run_command(command)


def status(*, as_json: bool) -> NoReturn:
    """Server, schema, threads and sizes."""

    async def command() -> int:
        async with open_app() as app:
            document = await app.checkpoints.status()
        if as_json:
            emit(document)
        else:
            for name, value in document.items():
                shown = format_bytes(value) if name.endswith("_bytes") and isinstance(value, int) else value
                tell(f"{name}: {shown}")
        return 0

    run_command(command)


def prune(older_than: str, *, as_json: bool) -> NoReturn:
    """Remove what is finished and older than a duration."""

    async def command() -> int:
        seconds = parse_duration(older_than, where="--older-than")
        async with open_app() as app:
            await app.checkpoints.ready()
            document = await app.checkpoints.prune(older_than_s=seconds)
        if as_json:
            emit(document)
        else:
            tell(", ".join(f"{name}: {count}" for name, count in document.items()))
        return 0

    run_command(command)


def stop(*, as_json: bool) -> NoReturn:
    """Stop the embedded server, if it runs."""

    async def command() -> int:
        from checkpoints.embedded import EmbeddedServer

        server = await EmbeddedServer.find(read_settings().data_dir)
        if server is not None:
            await server.stop()
        words = "stopped" if server else "it was not running"
        if as_json:
            emit({"stopped": server is not None})
        else:
            tell(words)
        return 0

    run_command(command)
