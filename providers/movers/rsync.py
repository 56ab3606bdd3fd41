"""The mover between this host and a site that is reached over a connection: rsync, or piece by piece without it."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress

import anyio
from anyio.to_thread import run_sync

from dragoman.errors import (
    Cancelled,
    DragomanError,
    SourceChanging,
    StorageFull,
    TransferError,
    TransportError,
)
from dragoman.model import JsonObject, now
from dragoman.protocols import Transport
from dragoman.site import Site
from dragoman.transfer import Manifest, ManifestEntry, TransferPlan, TransferState, TransferStatus
from providers.movers import local_ends
from providers.movers.local_tree import expand
from providers.movers.plan_check import check_destinations, relative_to_root
from providers.movers.remote_look import Seen, list_folder, look, make_folders, remove_parts, room_at
from providers.movers.remote_stream import Moved, Piecewise, part_of, send_pieces
from providers.movers.rsync_run import NoRsync, outcome, rsh_text, run_rsync
from providers.registry import register_mover
from providers.transports.openssh import OpenSshTransport

__all__ = ["RsyncMover"]

logger = logging.getLogger(__name__)

TRIES = 3
SMALL = 64 * 2**20
"""Up to here rsync compares contents (--checksum); beyond it sizes and times, and the manifest finds what differs."""


@register_mover("rsync")
class RsyncMover:
    """Copies and verifies within `start`; a repeated `start` goes on where the last one stopped.

    rsync runs over the transport's own shared connection. Where one end has none, or its login shell prints into
    rsync's protocol, files go through the transport in pieces. Both ways end with SHA-256 of every file at both ends.

    Args:
        transport: to the site.
        quiet_s: before a source that changed is copied again.
        program: rsync on this host.

    """

    name = "rsync"

    def __init__(self, transport: Transport, *, quiet_s: float = 2.0, program: str = "rsync") -> None:
        self._transport = transport
        self._quiet_s = quiet_s
        self._program = program
        self._stops: dict[str, set[threading.Event]] = {}
        self.used = ""
        """How the last files went: `rsync` or `pieces`."""

    @classmethod
    def for_site(cls, site: Site, transport: Transport) -> RsyncMover | None:
        """A mover for that site; None where its paths are paths of this host."""
        return None if transport.local else cls(transport)

    async def start(self, plan: TransferPlan) -> TransferStatus:
        """Move all items and verify them at both ends.

        Raises:
            StorageFull: no room, with the bytes that are needed and free; no partial file is left.
            SourceChanging: a source would not lie still.
            TransferError: a source is missing or no file, names meet, or a path leads out of the root.
            TransportError: the site gave no answer; what arrived is kept for the next `start`.

        """
        stop = threading.Event()
        self._stops.setdefault(plan.id, set()).add(stop)
        try:
            entries = await self._move(plan, stop)
        except Cancelled:
            return TransferStatus(state=TransferState.CANCELLED, handle=_handle(plan), reason="cancelled")
        finally:
            self._stops[plan.id].discard(stop)
            if not self._stops[plan.id]:
                del self._stops[plan.id]
        manifest = Manifest(entries=tuple(entries), made_at=now())
        return TransferStatus(
            state=TransferState.SUCCEEDED, handle=_handle(plan), bytes_done=manifest.total_bytes, manifest=manifest
        )

    async def poll(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """Finish what a process that died left, or show that all is there: the same as `start`."""
        return await self.start(plan)

    async def cancel(self, plan: TransferPlan, handle: JsonObject) -> TransferStatus:
        """Stop; temporary files are removed at the destination, files that arrived whole stay."""
        for stop in self._stops.get(plan.id, ()):
            stop.set()
        while plan.id in self._stops:  # noqa: ASYNC110  # `start` may run on another event loop than this one
            await anyio.sleep(0.02)
        with suppress(TransferError):
            await self._tidy(plan, await self._files(plan))
        return TransferStatus(state=TransferState.CANCELLED, handle=_handle(plan), reason="cancelled")

    async def verify(self, plan: TransferPlan) -> Manifest:
        """SHA-256 of every file at both ends.

        Raises:
            TransferError: a file is missing at one end, or the ends differ.
            TransportError: no answer.

        """
        files = await self._files(plan)
        here, there = await self._digests(plan, files)
        for file in files:
            _same(file, here[file.name], there[file.name], f"{plan.root}/{file.name}")
        return Manifest(entries=_entries(files, here), made_at=now())

    # What is to be moved

    async def _files(self, plan: TransferPlan) -> list[Moved]:
        if plan.direction == "in":
            found, _ = await run_sync(expand, plan)
            return [
                Moved(one.source, one.name, one.label, one.bytes, (await run_sync(os.stat, one.source)).st_mode & 0o777,
                      one.sha256)
                for one in found
            ]  # fmt: skip
        return await self._remote_files(plan)

    async def _remote_files(self, plan: TransferPlan) -> list[Moved]:
        seen = await look(self._transport, [item.source for item in plan.items], digest=False)
        sources: list[tuple[str, str, str, str | None]] = []
        for item in plan.items:
            kind = seen[item.source].kind
            name = relative_to_root(item.destination, plan.root)
            if kind == "folder":
                for rest in await list_folder(self._transport, item.source):
                    full = relative_to_root(f"{plan.root.rstrip('/')}/{name}/{rest}", plan.root)
                    sources.append((f"{item.source}/{rest}", full, f"{item.name}/{rest}", None))
            elif kind == "file":
                sources.append((item.source, name, item.name, item.sha256))
            else:
                raise TransferError(
                    {"absent": "is not there", "link": "is a link"}.get(kind, "is neither a file nor a folder"),
                    where=item.source, cure="name a file that exists" if kind == "absent" else "leave it out",
                )  # fmt: skip
        check_destinations([(name, source) for source, name, _, _ in sources])
        more = await look(self._transport, [one[0] for one in sources if one[0] not in seen], digest=False)
        every = {**seen, **more}
        return [
            Moved(source, name, label, every[source].bytes, every[source].mode, sha256)
            for source, name, label, sha256 in sources
        ]

    # Moving

    async def _move(self, plan: TransferPlan, stop: threading.Event) -> tuple[ManifestEntry, ...]:
        files = await self._files(plan)
        free = await self._check_room(plan, files)
        pending = files
        try:
            for number in range(TRIES):
                if stop.is_set():
                    raise Cancelled("the transfer was cancelled")
                await self._send(plan, pending, stop, free, again=number > 0)
                here, there = await self._digests(plan, files)
                pending = [file for file in files if here[file.name].sha256 != there[file.name].sha256]
                if not pending:
                    for file in files:
                        _same(file, here[file.name], there[file.name], f"{plan.root}/{file.name}")
                    await self._tidy(plan, files)
                    return _entries(files, here)
                await anyio.sleep(self._quiet_s)
        except (StorageFull, Cancelled):
            with suppress(DragomanError):
                await self._tidy(plan, files)
            raise
        raise SourceChanging(
            "differs from its copy after each copying: it is being written",
            where=pending[0].source, cure="wait until nothing writes to it",
        )  # fmt: skip

    async def _check_room(self, plan: TransferPlan, files: Sequence[Moved]) -> int | None:
        targets = [f"{plan.root.rstrip('/')}/{file.name}" for file in files]
        if plan.direction == "in":
            free = await room_at(self._transport, plan.root)
            there = await look(self._transport, targets, digest=False)
            sizes = {path: seen.bytes for path, seen in there.items() if seen.kind == "file"}
        else:
            free, sizes = await run_sync(local_ends.room_for, plan.root, targets)
        needed = sum(file.bytes for file, path in zip(files, targets, strict=True) if sizes.get(path) != file.bytes)
        if free is not None and needed > free:
            raise StorageFull(
                "there is no room for the files",
                where=plan.root,
                cure="make room, then go on",
                needed=needed,
                free=free,
            )
        return free

    async def _send(
        self, plan: TransferPlan, files: Sequence[Moved], stop: threading.Event, free: int | None, *, again: bool
    ) -> None:
        folders = sorted({f"{plan.root.rstrip('/')}/{file.name}".rpartition("/")[0] for file in files} | {plan.root})
        if plan.direction == "in":
            await make_folders(self._transport, folders)
        else:
            await run_sync(local_ends.make, folders)
        if isinstance(self._transport, OpenSshTransport):
            try:
                await self._rsync(self._transport, plan, files, stop, free, again=again)
                self.used = "rsync"
                return
            except NoRsync as why:
                logger.info("no rsync to %s, files go in pieces: %s", self._transport.identity, why)
        self.used = "pieces"
        here, there = await self._digests(plan, files)
        missing = [file for file in files if here[file.name].sha256 != there[file.name].sha256]
        await send_pieces(Piecewise(self._transport, plan.id, stop), plan, missing)

    async def _rsync(
        self, transport: OpenSshTransport, plan: TransferPlan, files: Sequence[Moved], stop: threading.Event,
        free: int | None, *, again: bool,
    ) -> None:  # fmt: skip
        total = sum(file.bytes for file in files)
        options = [
            "-s", "--times", "--perms", "--no-implied-dirs", "--timeout=120",
            f"--partial-dir={_partial(plan)}", "-e", rsh_text(await transport.rsh()),
        ]  # fmt: skip
        if again:
            options.append("--ignore-times")
        elif total <= SMALL:
            options.append("--checksum")
        host = f"[{transport.host}]" if ":" in transport.host else transport.host
        for base, names in _groups(files).items():
            if base is None:
                calls = [(file.source, f"{plan.root.rstrip('/')}/{file.name}", b"") for file in names]
            else:
                calls = [
                    (
                        f"{base}/",
                        f"{plan.root.rstrip('/')}/",
                        b"\0".join(b"./" + os.fsencode(file.name) for file in names),
                    )
                ]
            for source, target, listed in calls:
                ends = [source, f"{host}:{target}"] if plan.direction == "in" else [f"{host}:{source}", target]
                given = ["--files-from=-", "--from0"] if listed else []
                argv = [self._program, *options, *given, "--", *ends]
                rc, said = await run_rsync(argv, transport.environment, listed, stop)
                fault = outcome(rc, said, host=transport.host, needed=total, free=free)
                if isinstance(fault, TransportError):
                    transport.doubt()
                if fault is not None:
                    raise fault

    # Both ends

    async def _digests(self, plan: TransferPlan, files: Sequence[Moved]) -> tuple[dict[str, Seen], dict[str, Seen]]:
        """What lies at the source and at the destination, by name."""
        total = sum(file.bytes for file in files)
        targets = {f"{plan.root.rstrip('/')}/{file.name}": file.name for file in files}
        sources = {file.source: file.name for file in files}
        local, remote = (sources, targets) if plan.direction == "in" else (targets, sources)
        here = {name: await run_sync(local_ends.digest, path) for path, name in local.items()}
        seen = await look(self._transport, list(remote), digest=True, bytes_=total)
        there = {name: seen[path] for path, name in remote.items()}
        return (here, there) if plan.direction == "in" else (there, here)

    async def _tidy(self, plan: TransferPlan, files: Sequence[Moved]) -> None:
        parts = [part_of(plan.id, f"{plan.root.rstrip('/')}/{file.name}", file.name) for file in files]
        if plan.direction == "in":
            await remove_parts(self._transport, _partial(plan), parts)
        else:
            await run_sync(local_ends.remove_parts, _partial(plan), parts)


def _handle(plan: TransferPlan) -> JsonObject:
    return {"plan": plan.id}


def _partial(plan: TransferPlan) -> str:
    return f".dragoman-{hashlib.sha256(plan.id.encode()).hexdigest()[:16]}.partial"


def _groups(files: Sequence[Moved]) -> dict[str | None, list[Moved]]:
    """Files that one call can move: those that have the same name below one folder at both ends."""
    groups: dict[str | None, list[Moved]] = {}
    for file in files:
        base = file.source.removesuffix(f"/{file.name}") if file.source.endswith(f"/{file.name}") else None
        groups.setdefault(base, []).append(file)
    return groups


def _same(file: Moved, here: Seen, there: Seen, target: str) -> None:
    for one in (here, there):
        if one.kind != "file":
            raise TransferError(
                "is not there" if one.kind == "absent" else f"is a {one.kind}, not a file", where=one.path,
                cure="move it again",
            )  # fmt: skip
    if here.sha256 != there.sha256:
        raise TransferError(f"differs from {file.source}", where=target, cure="move it again")
    if file.sha256 is not None and here.sha256 != file.sha256:
        raise TransferError(
            "is not the file that was asked for: its SHA-256 differs", where=file.source, cure="ask again with it"
        )


def _entries(files: Sequence[Moved], here: dict[str, Seen]) -> tuple[ManifestEntry, ...]:
    return tuple(
        ManifestEntry(name=file.label, bytes=here[file.name].bytes, sha256=here[file.name].sha256, mode=file.mode)
        for file in files
    )
