"""Slow facts of sites that outlive the process which asked: words and the seam to where they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dragoman.observation import Observation

__all__ = ["FactPlace", "KeptFact", "SiteFacts"]


@dataclass(frozen=True, slots=True)
class FactPlace:
    """Of whom, and as whom, something was asked. Facts of one place are never those of another."""

    site: str
    identity: str
    """Who asked there, such as `user@host`."""
    definition: str
    """Digest of what answers depend on besides: the site's own definition, this release, the asking user's surroundings
    where the site is the machine at hand."""


@dataclass(frozen=True, slots=True)
class KeptFact:
    """One answer with the arguments of its question as canonical JSON (an observation leaves defaults out)."""

    arguments: str
    observation: Observation


class SiteFacts(Protocol):
    """Where slow facts are kept beyond the process. `checkpoints/` has them in PostgreSQL."""

    async def kept_facts(self, place: FactPlace) -> list[KeptFact]:
        """What is known of a place and has not expired, the newest first. Raises `DatabaseError`."""
        ...

    async def keep_facts(self, place: FactPlace, facts: Sequence[KeptFact]) -> None:
        """Keep answers in one write; a newer answer to the same question stays. Raises `DatabaseError`."""
        ...

    async def forget_facts(self, place: FactPlace) -> None:
        """Drop all that is kept of a place, so that it is asked anew. Raises `DatabaseError`."""
        ...
