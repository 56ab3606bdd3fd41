"""What a sites file may say and nothing decides by yet: `dragoman doctor` names it, so that nobody relies on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dragoman.model import Model
from dragoman.site import Charges, QueueLimits, Site

__all__ = ["NOTES", "without_effect"]

NOTES: Mapping[type[Model], tuple[str, ...]] = {
    Site: ("collections", "whole_nodes", "submit_filters", "max_jobs"),
    QueueLimits: ("default_walltime", "max_jobs_user", "by_request"),
    Charges: ("grams_co2_per_kwh",),
}
"""Fields that are kept as notes, by the word that has them."""


def without_effect(site: Site) -> Iterator[str]:
    """Fields of a site that are written and have no effect, as they stand in its file."""
    parts: list[tuple[str, Model]] = [("", site), ("charges.", site.charges)]
    parts += [(f"queues.{number}.", queue) for number, queue in enumerate(site.queues)]
    for before, part in parts:
        for name in NOTES[type(part)]:
            if getattr(part, name) != type(part).model_fields[name].default:
                yield f"{before}{name}"
