"""Slow facts of one site beyond the process: read once when first needed, written together after a round of asking.

Only facts that may be used for minutes (`SLOW_S`) and that the site showed (there, or not there) are kept: an unknown
answer is asked again. Nothing here can fail a negotiation: without its database a process has only its own facts.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

import anyio
import anyio.to_thread
from anyio.lowlevel import current_token
from pydantic import ValidationError

from dragoman.errors import DragomanError
from dragoman.kept_fact import FactPlace, KeptFact, SiteFacts
from dragoman.observation import Observation, Outcome
from dragoman.protocols import Transport, Verb
from dragoman.secrets import redact
from dragoman.site import Site
from providers.slow_facts import FactKey

__all__ = ["SLOW_S", "BestEffort", "KeptFacts"]

log = logging.getLogger(__name__)

SLOW_S = 300.0
"""Facts whose verb allows at least this age outlive the process; those of the queue never do."""
LARGEST = 256 * 1024
"""Characters of an observation that is kept."""


class BestEffort:
    """Facts in a database that may be slow or away: then there are none, and after a pause it is tried again.

    Args:
        facts: where they are kept.
        patience_s: longest wait for one answer of it.
        pause_s: how long it is left alone after it did not answer.

    """

    def __init__(self, facts: SiteFacts, *, patience_s: float = 3.0, pause_s: float = 60.0) -> None:
        self._facts = facts
        self._patience_s = patience_s
        self._pause_s = pause_s
        self._away_until = 0.0

    async def kept_facts(self, place: FactPlace) -> list[KeptFact]:
        """What is known of a place; nothing where the database does not say."""
        found: list[KeptFact] = []
        async with self._tried() as there:
            if there:
                found = await self._facts.kept_facts(place)
        return found

    async def keep_facts(self, place: FactPlace, facts: Sequence[KeptFact]) -> None:
        """Keep answers, if the database takes them."""
        async with self._tried() as there:
            if there:
                await self._facts.keep_facts(place, facts)

    async def forget_facts(self, place: FactPlace) -> None:
        """Drop what is kept of a place, if the database answers."""
        async with self._tried() as there:
            if there:
                await self._facts.forget_facts(place)

    @asynccontextmanager
    async def _tried(self) -> AsyncIterator[bool]:
        """Whether to ask the database now; what goes wrong with that is noted, and it is left alone for a while."""
        try:
            with anyio.fail_after(self._patience_s):
                yield time.monotonic() >= self._away_until
        except (DragomanError, ValidationError, TimeoutError) as error:
            self._away_until = time.monotonic() + self._pause_s
            words = str(error) or "no answer in time"
            log.info("facts of sites stay in this process: %s", words, extra={"action": "facts-not-kept"})


class KeptFacts:
    """The facts of one site and identity that outlive the process.

    Args:
        kept: where they are kept; its faults are the caller's.
        site: the site as it is defined now.
        transport: the way there, which knows who we are there.
        fresh: what earlier processes left is dropped when the first fact is wanted; what is asked now is kept.

    """

    def __init__(self, kept: SiteFacts, site: Site, transport: Transport, *, fresh: bool = False) -> None:
        self._kept = kept
        self._site = site
        self._transport = transport
        self._fresh = fresh
        self._earlier: dict[FactKey, Observation] | None = None
        self._reading: dict[object, anyio.Event] = {}
        self._place: FactPlace | None = None
        self._new: dict[FactKey, Observation] = {}

    async def earlier(self, key: FactKey, verb: Verb) -> Observation | None:
        """What an earlier process was told, once; None where there is nothing that this release understands."""
        while self._earlier is None:
            await self._read()
        found = self._earlier.pop(key, None)
        if found is None or found.value is None:
            return found
        try:
            verb.answer.model_validate(found.value)
        except ValidationError:
            return None
        return found

    def note(self, key: FactKey, observation: Observation) -> None:
        """Remember a new answer for the next `write`, if it is one to keep."""
        if observation.max_age_s >= SLOW_S and observation.outcome is not Outcome.UNKNOWN:
            self._new[key] = observation

    async def write(self) -> None:
        """Keep what was noted since the last time."""
        if not self._new:
            return
        written, self._new = self._new, {}
        facts = [KeptFact(key[2], each) for key, each in written.items() if _may_be_kept(each)]
        try:
            if facts:
                await self._kept.keep_facts(await self._where(), facts)
        except BaseException:
            self._new = written | self._new  # whoever was ended here leaves it to the next
            raise

    async def _read(self) -> None:
        loop = current_token()
        other = self._reading.get(loop)
        if other is not None:
            await other.wait()
            return
        done = self._reading[loop] = anyio.Event()
        try:
            facts: list[KeptFact] = []
            if self._fresh:
                await self._kept.forget_facts(await self._where())
            else:
                facts = await self._kept.kept_facts(await self._where())
            self._earlier = {(each.observation.provider, each.observation.tool, each.arguments): each.observation
                             for each in facts}  # fmt: skip
        finally:
            del self._reading[loop]
            done.set()

    async def _where(self) -> FactPlace:
        if self._place is None:
            # A transport may have to ask its client who we are.
            identity = await anyio.to_thread.run_sync(lambda: self._transport.identity)
            # Links and files of /proc are looked at, which blocks.
            definition = await anyio.to_thread.run_sync(_definition, self._site, self._transport)
            self._place = FactPlace(self._site.name, identity, definition)
        return self._place


def _definition(site: Site, transport: Transport) -> str:
    """Digest of all that answers depend on: what changes any of it has the site asked anew."""
    try:
        release = version("dragoman")
    except PackageNotFoundError:
        release = ""
    described = site.model_dump(mode="json", exclude={"description", "updated_at"})
    words = [release, described, getattr(transport, "surroundings", "")]
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()


def _may_be_kept(observation: Observation) -> bool:
    words = observation.model_dump_json()
    return len(words) <= LARGEST and redact(words) == words
