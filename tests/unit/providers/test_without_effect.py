"""Fields of sites files that nothing decides by are named, and those that are not named count somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragoman.site import Charges, Collection, QueueLimits, Site, SiteFileSystem, TransportConfig
from providers.without_effect import NOTES, without_effect

ROOT = Path(__file__).parents[3]
ROOMS = ("providers", "tools", "graph", "continuation", "interfaces")
SOURCE = "\n".join(
    path.read_text() for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.name != "without_effect.py"
)
FOR_PEOPLE = {"source", "date", "confidence", "provenance", "updated_at", "description"}


def test_what_is_written_and_counts_nowhere_is_named() -> None:
    site = Site(
        name="a", scheduler="slurm", max_jobs=4, max_walltime=3600, charges=Charges(grams_co2_per_kwh=300),
        queues=(QueueLimits(name="q", max_nodes=4), QueueLimits(name="long", by_request=True)),
        collections=(Collection(id="0" * 8 + "-0000-0000-0000-" + "0" * 12),),
    )  # fmt: skip
    assert list(without_effect(site)) == ["collections", "max_jobs", "charges.grams_co2_per_kwh", "queues.1.by_request"]
    assert list(without_effect(Site(name="a", scheduler="slurm"))) == []


@pytest.mark.parametrize("word", [Site, QueueLimits, Charges, SiteFileSystem, TransportConfig])
def test_every_other_field_is_read_somewhere(word: type[Site]) -> None:
    for name in set(word.model_fields) - FOR_PEOPLE:
        read = re.search(rf"\.{name}\b", SOURCE) is not None
        assert read is (name not in NOTES.get(word, ())), name
