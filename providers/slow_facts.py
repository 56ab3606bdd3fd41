"""Answers of one site, kept for as long as they may be used as evidence."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import datetime

from pydantic import BaseModel

from dragoman.observation import Observation, Outcome

__all__ = ["FactKey", "SlowFacts", "fact_key"]

FactKey = tuple[str, str, str]
"""Provider, verb and arguments as canonical JSON."""


def fact_key(provider: str, verb: str, arguments: BaseModel) -> FactKey:
    """What makes two questions the same question."""
    if not type(arguments).model_fields:
        return provider, verb, "{}"
    words = json.dumps(arguments.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return provider, verb, words


class SlowFacts:
    """Observations by question, the least recently used dropped first.

    Args:
        most: how many are kept.
        unknown_s: how long an unknown answer stands before the site is asked again: long enough that one hanging
            command is not repeated by every request, short enough that it does not stay unknown.

    """

    def __init__(self, most: int = 4096, unknown_s: float = 20.0) -> None:
        self.most = most
        self.unknown_s = unknown_s
        self._kept: OrderedDict[FactKey, Observation] = OrderedDict()

    def get(self, key: FactKey, at: datetime, max_age_s: float | None = None) -> Observation | None:
        """The kept observation if it is young enough at that moment."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        limit = kept.max_age_s if max_age_s is None else min(max_age_s, kept.max_age_s)
        if kept.outcome is Outcome.UNKNOWN:
            limit = min(limit, self.unknown_s)
        age = (at - kept.observed_at).total_seconds()
        if not 0 <= age <= limit:
            return None
        self._kept.move_to_end(key)
        return kept

    def put(self, key: FactKey, observation: Observation) -> None:
        """Keep an observation instead of the older one."""
        self._kept[key] = observation
        self._kept.move_to_end(key)
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)

    def forget(self, provider: str | None = None) -> None:
        """Drop what one provider said, or everything, so that it is asked again."""
        for key in [key for key in self._kept if provider in (None, key[0])]:
            del self._kept[key]
