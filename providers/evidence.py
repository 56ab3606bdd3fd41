"""How a site's answers become evidence: asked once, kept for as long as they may be used, never asked twice at once."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.lowlevel import current_token
from pydantic import BaseModel

from dragoman.errors import DragomanError, UnknownName
from dragoman.facts import Workload
from dragoman.model import JsonObject, JsonValue
from dragoman.observation import Answer, Observation
from dragoman.protocols import Clock, Provider
from dragoman.secrets import HIDDEN, is_secret_name, redact
from dragoman.site import Site
from providers.kept_facts import SLOW_S, KeptFacts
from providers.limited import unlimited
from providers.probed import ProbedProvider, Question, ask_many
from providers.slow_facts import FactKey, SlowFacts, fact_key
from providers.verbs import NoArguments

__all__ = ["Ask", "Observer", "provider_id"]


def provider_id(provider: Provider) -> str:
    """Such as `software/pip`."""
    return f"{provider.category.value}/{provider.name}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one provider; `max_age_s` asks for fresher evidence than the verb's own limit."""

    provider: Provider
    verb: str
    arguments: BaseModel | None = None
    """None: the verb takes none."""
    max_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    provider: Provider
    verb: str
    arguments: BaseModel
    key: FactKey
    max_age_s: float


class Observer:
    """Asks the providers of one site under one identity, and keeps what they answer.

    Args:
        site: whose name, paths and simulation the observations carry.
        facts: where answers are kept.
        clock: the time that observations carry.
        kept: slow facts beyond this process; None: there are none.

    """

    def __init__(self, site: Site, facts: SlowFacts, clock: Clock, kept: KeptFacts | None = None) -> None:
        self.site = site
        self.facts = facts
        self.clock = clock
        self.kept = kept
        # None until somebody waits: most questions are nobody else's at the same time.
        self._flying: dict[tuple[object, FactKey], anyio.Event | None] = {}

    async def observe_many(self, asks: Sequence[Ask]) -> list[Observation]:
        """Evidence for many questions, in their order; probes of one transport share their round trips.

        Raises:
            UnknownName: a provider has no such verb.

        """
        words: dict[int, tuple[BaseModel, str]] = {}
        asked = [_resolve(ask, words) for ask in asks]
        if self.kept is not None:
            await self._recall(self.kept, asked)
        found: dict[FactKey, Observation] = {}
        mine: dict[FactKey, _Asked] = {}
        theirs: dict[FactKey, _Asked] = {}
        loop = current_token()
        for one in asked:
            kept = self.facts.get(one.key, self.clock(), one.max_age_s)
            if kept is not None:
                found[one.key] = kept
            elif one.key in mine:
                continue
            elif (loop, one.key) in self._flying:
                theirs[one.key] = one
            else:
                mine[one.key] = one
                self._flying[loop, one.key] = None
        try:
            found |= await self._ask(list(mine.values()))
        finally:
            for key in mine:
                self._landed(loop, key)
        if self.kept is not None:
            await self.kept.write()
        for key, one in theirs.items():
            found[key] = await self._from_other_task(loop, one)
        return [found[one.key] for one in asked]

    async def _recall(self, kept: KeptFacts, asked: Sequence[_Asked]) -> None:
        """Take from earlier processes what this one would have to ask."""
        for one in asked:
            verb = one.provider.verbs[one.verb]
            if verb.max_age_s < SLOW_S or self.facts.get(one.key, self.clock(), one.max_age_s) is not None:
                continue
            earlier = await kept.earlier(one.key, verb)
            if earlier is not None:
                self.facts.put(one.key, earlier)

    def _landed(self, loop: object, key: FactKey) -> None:
        flying = self._flying.pop((loop, key), None)
        if flying is not None:
            flying.set()

    async def _from_other_task(self, loop: object, asked: _Asked) -> Observation:
        place = loop, asked.key
        if place in self._flying:
            landed = self._flying[place] or anyio.Event()
            self._flying[place] = landed
            await landed.wait()
        kept = self.facts.get(asked.key, self.clock(), asked.max_age_s)
        if kept is not None:
            return kept
        again = Ask(asked.provider, asked.verb, asked.arguments, asked.max_age_s)  # the other task was cancelled
        return (await self.observe_many([again]))[0]

    async def _ask(self, asked: Sequence[_Asked]) -> dict[FactKey, Observation]:
        """Put the questions: those of probes together by transport, the others side by side."""
        found: dict[FactKey, Observation] = {}
        if not asked:
            return found
        probed: dict[int, list[tuple[_Asked, ProbedProvider]]] = {}
        others: list[_Asked] = []
        instant: list[_Asked] = []
        for one in asked:
            provider = unlimited(one.provider)
            if isinstance(provider, ProbedProvider):
                probed.setdefault(id(provider.transport), []).append((one, provider))
            elif getattr(provider, "instant", False):
                instant.append(one)
            else:
                others.append(one)

        async def ask_probes(group: list[tuple[_Asked, ProbedProvider]]) -> None:
            questions = [Question(provider.probe, one.verb, one.arguments) for one, provider in group]
            loop = current_token()

            def told(place: int, answer: Answer[Any]) -> None:
                # Kept at once: whoever gives up on the slow ones still has the quick ones.
                one = group[place][0]
                found[one.key] = self._keep(one, answer)
                self._landed(loop, one.key)

            await ask_many(group[0][1].transport, questions, paths=self.site.paths, told=told)

        async def ask_other(one: _Asked) -> None:
            try:
                answer: Answer[Any] = await one.provider.call(one.verb, one.arguments)
            except DragomanError as error:
                answer = Answer[Any].unknown(str(error))
            except Exception as error:  # noqa: BLE001  # a third party's fault is unknown for this fact only
                answer = Answer[Any].unknown(f"{provider_id(one.provider)} failed: {type(error).__name__}: {error}")
            found[one.key] = self._keep(one, answer)

        for one in instant:
            await ask_other(one)
        if not probed and not others:
            return found
        async with anyio.create_task_group() as tasks:
            for group in probed.values():
                tasks.start_soon(ask_probes, group)
            for one in others:
                tasks.start_soon(ask_other, one)
        return found

    def _keep(self, asked: _Asked, answer: Answer[Any]) -> Observation:
        value = answer.value
        seen = value.observed_at if isinstance(value, Workload) else None
        arguments: JsonObject = asked.arguments.model_dump(mode="json", exclude_defaults=True)
        told = value.dump() if value is not None else None
        reason = answer.reason
        if not getattr(unlimited(asked.provider), "instant", False):
            # What programs of a site say may hold a password: nobody after this place is to see it.
            told, reason = (_without_secrets(told, {}) if told is not None else None), redact(reason)
        observation = Observation(
            id=f"obs-{uuid.uuid4().hex}",
            site=self.site.name,
            provider=provider_id(asked.provider),
            tool=asked.verb,
            arguments=arguments,
            outcome=answer.outcome,
            value=told,
            reason=reason,
            observed_at=seen or self.clock(),
            max_age_s=asked.provider.verbs[asked.verb].max_age_s,
            simulated=self.site.simulated is not None,
        )
        self.facts.put(asked.key, observation)
        if self.kept is not None:
            self.kept.note(asked.key, observation)
        return observation


_NO_SECRET = re.compile(r"[\w.+/,\[\]-]{0,14}")
"""Short names: no form of a secret fits, and most strings of an answer are such."""


def _without_secrets(told: JsonObject, seen: dict[str, str]) -> JsonObject:
    """The same object with every secret in its strings hidden; `seen` spares looking at a string twice."""

    def hidden(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            if _NO_SECRET.fullmatch(value):
                return value
            if value not in seen:
                seen[value] = redact(value)
            return seen[value]
        if isinstance(value, list):
            return [hidden(each) for each in value]
        return _without_secrets(value, seen) if isinstance(value, dict) else value

    return {
        str(hidden(name)): HIDDEN if isinstance(value, str) and value and is_secret_name(name) else hidden(value)
        for name, value in told.items()
    }


_NONE = NoArguments()


def _resolve(ask: Ask, words: dict[int, tuple[BaseModel, str]]) -> _Asked:
    """The question with its key; `words` keeps what arguments are as text, where many questions have the same."""
    verb = ask.provider.verbs.get(ask.verb)
    name = provider_id(ask.provider)
    if verb is None:
        there = ", ".join(ask.provider.verbs)
        raise UnknownName(f"there is no verb {ask.verb!r}", where=name, cure=f"it has {there}")
    arguments = ask.arguments if ask.arguments is not None else _NONE
    limit = verb.max_age_s if ask.max_age_s is None else min(ask.max_age_s, verb.max_age_s)
    if id(arguments) not in words:
        words[id(arguments)] = arguments, fact_key(name, ask.verb, arguments)[2]
    return _Asked(ask.provider, ask.verb, arguments, (name, ask.verb, words[id(arguments)][1]), limit)
