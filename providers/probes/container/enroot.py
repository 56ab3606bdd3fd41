"""Enroot: needs user namespaces; its unpacked images, and image files in `paths.images` of the site file.

Source: Enroot's usage pages (`enroot version`, `enroot list`).
"""

from __future__ import annotations

from dragoman.facts import ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, question, where_is
from providers.probes.container.runtime import container_verbs, folder_images, table_images, version_of
from providers.probes.container.user_namespaces import FILES, TRY, user_namespaces
from providers.registry import register_probe

__all__ = ["Enroot"]


def _ask(paths: Paths) -> Ask:
    call = where_is("enroot", paths)
    folder = paths.get("images")
    commands = {"version": question(call, "version"), "images": question(call, "list"), **TRY}
    return Ask(commands=commands, files=(*FILES, *((folder,) if folder else ())))


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    version = version_of(results, "version", r"^(?:enroot\s+)?v?(\d+\.\d[\w.]*)\s*$")
    if isinstance(version, Answer):
        return version
    usable, reason = user_namespaces(results)
    unpacked = table_images(results, "images", lambda words: words[0] if len(words) == 1 else None)
    files = folder_images(results, results.paths)
    images = None if unpacked is None and files is None else (*(unpacked or ()), *(files or ()))
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="enroot", version=version[0], usable=usable, reason=reason, rootless=Truth.YES, images=images
        )
    )


@register_probe
class Enroot(Probe):
    """`container/enroot`."""

    category = Category.CONTAINER
    name = "enroot"
    path_keys = ("enroot", "images")
    verbs = container_verbs("enroot", _ask, _parse)
