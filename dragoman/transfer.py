"""Moving data and proving that it arrived."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, NonNegativeInt

from dragoman.model import JsonObject, Model, Moment
from dragoman.request import RelativeName, Sha256

__all__ = ["Manifest", "ManifestEntry", "TransferItem", "TransferPlan", "TransferState", "TransferStatus"]


class ManifestEntry(Model):
    """One file: its relative name, size and SHA-256."""

    name: RelativeName
    bytes: NonNegativeInt
    sha256: Sha256
    mode: NonNegativeInt | None = None


class Manifest(Model):
    """Files that were verified at one place at one moment."""

    entries: tuple[ManifestEntry, ...] = ()
    made_at: Moment | None = None

    @property
    def total_bytes(self) -> int:
        """Sum of the sizes."""
        return sum(entry.bytes for entry in self.entries)


class TransferItem(Model):
    """One file or object to move: absolute at both ends."""

    source: str
    destination: str
    name: RelativeName
    sha256: Sha256 | None = None
    bytes: NonNegativeInt | None = None


class TransferPlan(Model):
    """What is moved, from where to where, by which mover. `id` is stored before it starts: starting twice is once."""

    id: str = Field(min_length=1, max_length=64)
    mover: str
    direction: Literal["in", "out"]
    site: str
    items: tuple[TransferItem, ...]
    root: str
    """Folder at the destination that no item may leave."""


class TransferState(StrEnum):
    """Where a transfer is."""

    ACTIVE = "active"
    PAUSED = "paused"
    """Somebody at the other end paused it: wait and tell."""
    NEEDS_PERSON = "needs-person"
    """Consent, login or room on a disk."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    """The mover does not know it any more: verify at the destination, then done or redo."""


class TransferStatus(Model):
    """What a mover says of one transfer."""

    state: TransferState
    handle: JsonObject = {}
    """What the mover needs to find it again."""
    bytes_done: NonNegativeInt | None = None
    reason: str = ""
    manifest: Manifest | None = None
    """Verified at both ends; there exactly when the state is succeeded."""
    needed_bytes: NonNegativeInt | None = None
    free_bytes: NonNegativeInt | None = None
