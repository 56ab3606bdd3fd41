"""Docker: its client, whether the daemon answers this user now, rootless or not, and the images the daemon has.

Sources: docker(1) on `info`, `image ls`. Older clients end with 0 when the daemon is down, and tell it in ServerErrors.
"""

from __future__ import annotations

from dragoman.facts import ContainerImage, ContainerRuntime
from dragoman.kleene import Truth, truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.container.blame import blame
from providers.probes.container.runtime import container_verbs, decimal_bytes, version_of
from providers.probes.json_output import first_json, json_lines
from providers.registry import register_probe

__all__ = ["Docker"]


def _ask(paths: Paths) -> Ask:
    call = where_is("docker", paths)
    return Ask(
        commands={
            "version": question(call, "--version"),
            "info": question(call, "info", "--format", "{{json .}}"),
            "images": question(call, "image", "ls", "--format", "{{json .}}"),
        }
    )


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    version = version_of(results, "version", r"^(?:Docker version|podman version) v?(\d+(?:\.\w+)+)")
    if isinstance(version, Answer):
        return version
    if "podman version" in version[1].out.lower():
        return Answer[ContainerRuntime].absent(f"`docker` here is Podman {version[0]} (container/podman)")
    usable, reason, rootless = _usable(results)
    images = _images(results) if usable is Truth.YES else None
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="docker", version=version[0], usable=usable, reason=reason, rootless=rootless, images=images
        )
    )


def _usable(results: Results) -> tuple[Truth, str, Truth]:
    """Usable, why not, rootless."""
    trouble = no_answer(results, "info")
    done = results.done("info")
    if trouble is not None or done is None:
        return Truth.UNKNOWN, trouble.reason if trouble else "docker info was not asked", Truth.UNKNOWN
    info = first_json(done.out, dict)
    told = info if isinstance(info, dict) else {}
    errors = told.get("ServerErrors")
    if done.rc == 0 and told.get("ServerVersion") and not errors:
        options = told.get("SecurityOptions")
        rootless = any("rootless" in str(option) for option in options) if isinstance(options, list) else None
        return Truth.YES, "", truth(rootless)
    message = "\n".join(str(each) for each in errors) if isinstance(errors, list) and errors else done
    why = blame(message)
    if why is None:
        return Truth.UNKNOWN, brief(message), Truth.UNKNOWN
    return Truth.NO, why, Truth.UNKNOWN


def _images(results: Results) -> tuple[ContainerImage, ...] | None:
    done = results.done("images")
    rows = json_lines(done.out) if done is not None and done.rc == 0 and not done.truncated else None
    if rows is None or done is None or no_answer(results, "images") is not None:
        return None
    if (not rows and done.err.strip()) or not all("Repository" in row and "Tag" in row for row in rows):
        return None
    return tuple(
        ContainerImage(name=f"{row['Repository']}:{row['Tag']}", bytes=decimal_bytes(row.get("Size")))
        for row in rows
        if row.get("Repository") not in (None, "<none>") and row.get("Tag") not in (None, "<none>")
    )


@register_probe
class Docker(Probe):
    """`container/docker`."""

    category = Category.CONTAINER
    name = "docker"
    verbs = container_verbs("docker", _ask, _parse)
