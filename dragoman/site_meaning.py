"""Whether two descriptions of a site mean the same: a sites file may be edited while threads wait for days."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from dragoman.model import JsonObject, JsonValue, Model
from dragoman.site import Fleet, Site

__all__ = ["FleetOrigin", "differences", "fleet_digest", "origin_of", "same_place", "site_digest"]

_OF_NO_MATTER = frozenset(
    ("description", "updated_at", "provenance", "min_poll_interval_s", "max_poll_interval_s", "settle_window_s")
)
"""Words for people, where a limit was read, and how often is looked: nothing that a proposal or a job rests on."""
_HOW_TO_CONNECT = frozenset(("connect_timeout_s", "command_timeout_s", "identity_file", "known_hosts"))


class FleetOrigin(Model):
    """The fleet that a thread was begun with."""

    file: str | None = None
    """Its sites file; None: this machine alone."""
    digest: str = ""
    """What the file meant then; empty: an older release did not record it."""


def origin_of(options: object) -> FleetOrigin | None:
    """The origin that a thread's options record; None: they record none, and the process's own fleet counts."""
    if not isinstance(options, dict):
        return None
    file, digest = options.get("sites_file"), options.get("sites_digest")
    if not file and not digest:
        return None
    return FleetOrigin(file=str(file) if file else None, digest=str(digest or ""))


def site_digest(site: Site) -> str:
    """The same for two descriptions that mean the same."""
    return _digest(_meant(site.model_dump(mode="json")))


def fleet_digest(fleet: Fleet) -> str:
    """The same for two fleets of the same sites, in whatever order."""
    return _digest([*sorted(f"{site.name} {site_digest(site)}" for site in fleet.sites)])


def same_place(one: Site, other: Site) -> bool:
    """Whether a job that was handed to the one is found at the other, perhaps reached in another way."""
    return (one.scheduler, one.work_root, one.simulated is None) == (
        other.scheduler, other.work_root, other.simulated is None
    )  # fmt: skip


def differences(before: Fleet, after: Fleet) -> Sequence[str]:
    """What is otherwise in the second fleet, a few words for each site."""
    old, new = ({site.name: site for site in fleet.sites} for fleet in (before, after))
    told = [f"{name} is missing" for name in old if name not in new]
    told += [f"{name} is new" for name in new if name not in old]
    for name in old:
        if name in new and site_digest(old[name]) != site_digest(new[name]):
            one, other = (_meant(fleet[name].model_dump(mode="json")) for fleet in (old, new))
            assert isinstance(one, dict)  # noqa: S101  # dumps of models
            assert isinstance(other, dict)  # noqa: S101  # as above
            told.append(f"{name} differs in {', '.join(key for key in one if one[key] != other.get(key))}")
    return told


def _meant(value: JsonValue, within: str = "") -> JsonValue:
    if within == "simulated":
        return value
    if isinstance(value, dict):
        left_out = _OF_NO_MATTER | _HOW_TO_CONNECT if within == "transport" else _OF_NO_MATTER
        kept: JsonObject = {key: _meant(each, key) for key, each in value.items() if key not in left_out}
        return kept
    return [_meant(each) for each in value] if isinstance(value, list) else value


def _digest(value: JsonValue) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:32]
