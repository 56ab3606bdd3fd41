"""Shifter: its setuid program, and the image gateway, without which no image can be used.

Source: Shifter documentation, "Shifter User Documentation" (`shifterimg images` prints system, type, state, digest,
time and name). The program tells no version in every release.
"""

from __future__ import annotations

import re

from dragoman.facts import ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.container.blame import blame
from providers.probes.container.runtime import container_verbs, table_images
from providers.registry import register_probe

__all__ = ["Shifter"]


def _ask(paths: Paths) -> Ask:
    shifter = where_is("shifter", paths)
    return Ask(
        commands={
            "version": question(shifter, "--version"),
            "images": question(where_is("shifterimg", paths, key="shifter"), "images", timeout_s=20.0),
        }
    )


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    trouble = no_answer(results, "version")
    done = results.done("version")
    if trouble is not None or done is None:
        return trouble or Answer[ContainerRuntime].unknown("shifter was not asked")
    said = f"{done.out}\n{done.err}"
    version = re.search(r"(?:shifter|version)\D{0,12}(\d+\.\d[\w.]*)", said, re.IGNORECASE)
    if not re.search(r"shifter", said, re.IGNORECASE) or done.rc in (126, 127) or done.rc > 128:
        return Answer[ContainerRuntime].unknown(brief(done))
    usable, reason = _usable(results)
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="shifter", version=version[1] if version else None, usable=usable, reason=reason,
            rootless=Truth.YES, images=table_images(results, "images", _name),
        )
    )  # fmt: skip


def _name(words: list[str]) -> str | None:
    if len(words) < 6 or re.fullmatch(r"[A-Z_]+", words[2]) is None:
        return None
    return words[-1] if words[2] == "READY" else ""


def _usable(results: Results) -> tuple[Truth, str]:
    trouble = no_answer(results, "images")
    done = results.done("images")
    if trouble is not None or done is None:
        return Truth.UNKNOWN, trouble.reason if trouble else "shifterimg was not asked"
    if done.rc == 0:
        shown = table_images(results, "images", _name) is not None
        return (Truth.YES, "") if shown else (Truth.UNKNOWN, f"it shows no table of images: {brief(done)}")
    why = blame(done)
    return (Truth.UNKNOWN, brief(done)) if why is None else (Truth.NO, why)


@register_probe
class Shifter(Probe):
    """`container/shifter`."""

    category = Category.CONTAINER
    name = "shifter"
    verbs = container_verbs("shifter", _ask, _parse)
