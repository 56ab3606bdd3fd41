"""Sarus: a setuid program that checks its own installation on every call, and this user's images.

Source: Sarus documentation, "User guide" (`sarus images` prints repository, tag, digest, time, size and server).
"""

from __future__ import annotations

from dragoman.facts import ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.container.blame import blame
from providers.probes.container.runtime import container_verbs, table_images, version_of
from providers.registry import register_probe

__all__ = ["Sarus"]

HEAD = "REPOSITORY"
"""The first word above the table of images, which stands there however many images there are."""


def _ask(paths: Paths) -> Ask:
    call = where_is("sarus", paths)
    return Ask(commands={"version": question(call, "--version"), "images": question(call, "images")})


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    version = version_of(results, "version", r"^(?:sarus\s+(?:version\s+)?)?v?(\d+\.\d[\w.]*)")
    if isinstance(version, Answer):
        return version
    usable, reason = _usable(results)
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="sarus", version=version[0], usable=usable, reason=reason, rootless=Truth.YES,
            images=table_images(results, "images", _name, head=HEAD),
        )
    )  # fmt: skip


def _name(words: list[str]) -> str | None:
    return f"{words[0]}:{words[1]}" if len(words) >= 5 else None


def _usable(results: Results) -> tuple[Truth, str]:
    trouble = no_answer(results, "images")
    done = results.done("images")
    if trouble is not None or done is None:
        return Truth.UNKNOWN, trouble.reason if trouble else "sarus images was not asked"
    if done.rc == 0:
        shown = table_images(results, "images", _name, head=HEAD) is not None
        return (Truth.YES, "") if shown else (Truth.UNKNOWN, f"it shows no table of images: {brief(done)}")
    why = blame(done)
    return (Truth.UNKNOWN, brief(done)) if why is None else (Truth.NO, why)


@register_probe
class Sarus(Probe):
    """`container/sarus`."""

    category = Category.CONTAINER
    name = "sarus"
    verbs = container_verbs("sarus", _ask, _parse)
