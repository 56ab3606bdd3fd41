"""The observations of one site for one request, found by what they are about."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from dragoman.kleene import Truth, all_of, any_of
from dragoman.model import Model
from dragoman.observation import Category, Observation, Outcome
from dragoman.proposal import Check, CheckKind
from dragoman.site import Site

__all__ = ["Evidence", "Seen", "alternatives", "switched_off", "together"]

F = TypeVar("F", bound=Model)


@dataclass(frozen=True, slots=True)
class Seen(Generic[F]):
    """One observation with its value read back into its type; None unless the outcome is ok."""

    observation: Observation
    value: F | None

    @property
    def provider(self) -> str:
        """The provider's own name, without its category."""
        return self.observation.provider.rpartition("/")[2]


def switched_off(names: Sequence[str]) -> str:
    """Why something is not known: these providers (`Evidence.not_asked`) might have shown it."""
    return f"not asked, switched off by the sites file: {', '.join(names)}"


_MOST_READ = 8192
_read: OrderedDict[tuple[str, type], tuple[Observation, Model]] = OrderedDict()


def _value(observation: Observation, answer: type[F]) -> F | None:
    """The value as its type; kept, because one observation is read by many checks and requests."""
    if observation.outcome is not Outcome.OK or observation.value is None:
        return None
    key = (observation.id, answer)
    kept = _read.get(key)
    if kept is not None and kept[0] is observation and isinstance(kept[1], answer):
        return kept[1]
    value = answer.model_validate(observation.value)
    _read[key] = (observation, value)
    while len(_read) > _MOST_READ:
        _read.popitem(last=False)
    return value


class Evidence:
    """What was observed; a check asks it by category and verb.

    Args:
        observations: the evidence.
        site: whose it is, for what its file switched off or leaves out; None: nothing of that is known.

    """

    def __init__(self, observations: Iterable[Observation], site: Site | None = None) -> None:
        self._site = site
        self._by_kind: dict[tuple[str, str], list[Observation]] = {}
        for observation in observations:
            category = observation.provider.partition("/")[0]
            self._by_kind.setdefault((category, observation.tool), []).append(observation)

    def of(self, category: Category, verb: str, answer: type[F], **arguments: str) -> list[Seen[F]]:
        """Observations of one verb; `arguments` keeps those that were asked so."""
        return [
            Seen(each, _value(each, answer))
            for each in self._by_kind.get((category.value, verb), ())
            if all(each.arguments.get(key) == value for key, value in arguments.items())
        ]

    def not_asked(self, category: Category, verb: str) -> list[str]:
        """Own names of the providers that the sites file switched off: what only they would show is not known."""
        found = []
        for entry in self._site.providers_off if self._site is not None else ():
            provider, _, one_verb = entry.partition(".")
            kind, _, name = provider.partition("/")
            if kind == category.value and one_verb in ("", verb):
                found.append(name)
        return list(dict.fromkeys(found))

    def left_out(self, part: Literal["queues", "file_systems"], name: str, field: str) -> bool:
        """Whether the file of a simulated site has this queue or file system and does not write the field.

        Such a thing is as it should be: a file says what is amiss, and writes `unknown` for what is not known.
        """
        state = self._site.simulated if self._site is not None else None
        if state is None:
            return False
        holder = state.get("workload") if part == "queues" else state
        listed = holder.get(part) if isinstance(holder, dict) else None
        key = "name" if part == "queues" else "mount"
        return isinstance(listed, list | tuple) and any(
            isinstance(each, dict) and each.get(key) == name and field not in each for each in listed
        )


def together(requirement: str, field: str, kind: CheckKind, checks: Sequence[Check], *, reason: str = "") -> Check:
    """All of these must hold."""
    return _combined("all", requirement, field, kind, checks, reason)


def alternatives(requirement: str, field: str, kind: CheckKind, checks: Sequence[Check], *, reason: str = "") -> Check:
    """Any of these will do; none at all is a no."""
    return _combined("any", requirement, field, kind, checks, reason)


def _combined(how: str, requirement: str, field: str, kind: CheckKind, checks: Sequence[Check], reason: str) -> Check:
    if len(checks) == 1:
        return checks[0]
    result = (all_of if how == "all" else any_of)(check.result for check in checks)
    decisive = [check for check in checks if check.result is result] or list(checks)
    words = reason or "; ".join(dict.fromkeys(check.reason for check in decisive if check.reason))
    return Check(
        requirement=requirement,
        field=field,
        kind=kind,
        result=result,
        reason=words[:1000],
        person_can_settle=result is Truth.UNKNOWN and any(check.person_can_settle for check in decisive),
        children=tuple(checks),
        combine="all" if how == "all" else "any",
        observations=tuple(dict.fromkeys(each for check in checks for each in check.observations)),
    )
