"""File systems for the job: of the kind or at the mount asked for, in working order, with room to write to."""

from __future__ import annotations

from dragoman.facts import FileSystem, FileSystems
from dragoman.kleene import Truth, all_of, any_of, truth
from dragoman.observation import Category, Outcome
from dragoman.proposal import Check
from dragoman.request import StorageNeed
from dragoman.units import format_bytes
from graph.verdict.evidence import Evidence, switched_off

__all__ = ["check_storage"]

Part = tuple[Truth, str]
"""Whether one thing holds, and what is amiss where it does not or is not known to."""


def check_storage(need: StorageNeed, field: str, evidence: Evidence) -> Check:
    """A file system of one of the kinds, or at the mount, with the room asked for."""
    seen = evidence.of(Category.STORAGE, "file_systems", FileSystems)
    judged = [
        (one, is_it, [*_state(one, evidence), *(_room(one, need.free_bytes) if is_it is Truth.YES else ())])
        for answer in seen
        if answer.value
        for one in answer.value.file_systems
        for is_it in [_is_asked_for(one, answer.provider, need)]
    ]
    result = any_of(all_of((is_it, *(holds for holds, _ in parts))) for _, is_it, parts in judged)
    silent = [each.observation.reason for each in seen if each.observation.outcome is Outcome.UNKNOWN]
    off = [name for name in evidence.not_asked(Category.STORAGE, "file_systems") if name in (need.kinds or (name,))]
    if result is Truth.NO and off:
        silent.append(switched_off(off))
    if result is Truth.NO and silent:
        result = Truth.UNKNOWN
    told = dict.fromkeys(_words(one, parts) for one, is_it, parts in judged if _tells(result, is_it, parts))
    there = f"has {', '.join(told)}" if told else "" if silent else "has no file system"
    room = f" with {format_bytes(need.free_bytes)} free" if need.free_bytes else ""
    wanted = need.mount or " or ".join(need.kinds) or "a file system"
    said = [*(silent if result is Truth.UNKNOWN else ()), there]
    return Check(
        requirement=f"storage {wanted}{room}", field=field, kind="storage", result=result,
        reason="; ".join(each for each in said if each)[:1000],
        observations=tuple(each.observation.id for each in seen),
    )  # fmt: skip


def _tells(result: Truth, is_it: Truth, parts: list[Part]) -> bool:
    """Whether it has a part in what is not known; a yes and a no tell of all that is there."""
    return result is not Truth.UNKNOWN or all_of((is_it, *(holds for holds, _ in parts))) is Truth.UNKNOWN


def _is_asked_for(file_system: FileSystem, provider: str, need: StorageNeed) -> Truth:
    """Its kind, or what speaks for it: a node's own disk is `local-scratch`, whatever it is formatted with."""
    of_kind = not need.kinds or file_system.kind in need.kinds or provider in need.kinds
    return truth(of_kind and need.mount in (None, file_system.mount))


def _state(file_system: FileSystem, evidence: Evidence) -> list[Part]:
    """A job that asks for a file system writes there: one that may only be read does not do."""
    healthy, writable = (_or_left_out(file_system, field, evidence) for field in ("healthy", "writable"))
    return [
        (healthy, "not healthy" if healthy is Truth.NO else "not known to be healthy"),
        (writable, "cannot be written to" if writable is Truth.NO else "not known to be writable"),
    ]


def _or_left_out(file_system: FileSystem, field: str, evidence: Evidence) -> Truth:
    told: Truth = getattr(file_system, field)
    left_out = told is Truth.UNKNOWN and evidence.left_out("file_systems", file_system.mount, field)
    return Truth.YES if left_out else told


def _room(file_system: FileSystem, asked: int | None) -> list[Part]:
    """What is free bounds it, and so do the quota and the size, of which no more than all of it can be free."""
    if asked is None:
        return []
    bounds = (
        (file_system.quota_free_bytes, "of quota left"),
        (file_system.quota_bytes, "of quota"),
        (file_system.free_bytes, "free"),
        (file_system.size_bytes, "in all"),
    )
    for most, what in bounds:
        if most is not None and most < asked:
            return [(Truth.NO, f"{format_bytes(most)} {what}, asked {format_bytes(asked)}")]
    quota, left = file_system.quota_bytes, file_system.quota_free_bytes
    if quota is not None and left is None:
        words = f"how much of {format_bytes(quota)} of quota is left is not known, asked {format_bytes(asked)}"
        return [(Truth.UNKNOWN, words)]
    if left is None and file_system.free_bytes is None:
        return [(Truth.UNKNOWN, f"free space not known, asked {format_bytes(asked)}")]
    return [(Truth.YES, "")]


def _words(file_system: FileSystem, parts: list[Part]) -> str:
    amiss = " and ".join(words for holds, words in parts if holds is not Truth.YES)
    return f"{file_system.kind} at {file_system.mount}" + (f" ({amiss})" if amiss else "")
