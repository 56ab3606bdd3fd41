"""Podman: rootless or not, whether this user's subordinate ids and storage are set up, and the images of this user.

Sources: podman-info(1), podman-images(1), podman-unshare(1), subuid(5). Without subordinate ids Podman starts with one
id alone, in which no image with more than one owner can be unpacked: that is not usable, unless the storage ignores
owners.

`podman images` sets up the same runtime, storage and user namespace as a container would have, and fails as `podman
info` does; but `info` also asks the package manager for every helper's package. So it is asked only where images, the
user and the map of the user namespace do not tell.
"""

from __future__ import annotations

import re
from typing import Any

from dragoman.facts import ContainerImage, ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.container.blame import blame
from providers.probes.container.runtime import container_verbs, version_of
from providers.probes.json_output import first_json
from providers.registry import register_probe

__all__ = ["Podman"]


STATUS = "/proc/self/status"
SYS_ADMIN = 21
"""Without this capability Podman counts root as rootless too (capabilities(7))."""

# A client of a service elsewhere tells nothing about this user here.
_MAP = r"""
if [ -n "${CONTAINER_HOST:-}${CONTAINER_CONNECTION:-}${CONTAINERS_CONF:-}" ] ||
  grep -Eqs '^[[:space:]]*(remote|active_service)[[:space:]]*=' /etc/containers/containers.conf \
    /usr/share/containers/containers.conf "${XDG_CONFIG_HOME:-${HOME:-/}/.config}/containers/containers.conf"
then echo dragoman-elsewhere; exit 0; fi
user=$(id -u) || exit 1
printf 'dragoman-user %s\n' "$user"
[ "$user" = 0 ] || exec "$1" unshare cat /proc/self/uid_map
"""


def _ask(paths: Paths) -> Ask:
    call = where_is("podman", paths)
    return Ask(
        commands={
            "version": question(call, "--version"),
            "images": question(call, "images", "--format", "json", timeout_s=20.0),
            "map": question("/bin/sh", "-c", _MAP, "sh", call, timeout_s=20.0),
        },
        files=(STATUS,),
    )


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    version = version_of(results, "version", r"^podman(?:-hpc)? version v?(\d+(?:\.\w+)+)")
    if isinstance(version, Answer):
        return version
    told = _by_images(results)
    if told is None and results.asked("images") and not results.asked("info"):
        call = where_is("podman", results.paths)
        return Ask(commands={"info": question(call, "info", "--format", "json", timeout_s=20.0)})
    usable, reason, rootless = told or _by_info(results)
    images = _images(results) if usable is Truth.YES else None
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="podman", version=version[0], usable=usable, reason=reason, rootless=rootless, images=images
        )
    )


def _by_images(results: Results) -> tuple[Truth, str, Truth] | None:
    """Usable, no reason, rootless; None where that is not shown by what was cheap to ask."""
    images, told = results.whole("images"), results.whole("map")
    if images is None or images.rc != 0 or told is None or told.rc != 0:
        return None
    first, *mapped = told.out.splitlines() or [""]
    if first == "dragoman-user 0":
        return (Truth.YES, "", Truth.NO) if _may_administrate(results.file(STATUS).text) else None
    ranges = [line for line in mapped if re.fullmatch(r"\s*\d+\s+\d+\s+\d+\s*", line)]
    enough = first.startswith("dragoman-user ") and len(ranges) > 1 and ranges == mapped
    return (Truth.YES, "", Truth.YES) if enough else None


def _may_administrate(status: str) -> bool:
    found = re.search(r"^CapEff:\s*([0-9a-f]{16})\n", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> SYS_ADMIN & 1)


def _by_info(results: Results) -> tuple[Truth, str, Truth]:
    """Usable, why not, rootless."""
    trouble = no_answer(results, "info")
    done = results.done("info")
    if trouble is not None or done is None:
        return Truth.UNKNOWN, trouble.reason if trouble else "podman info was not asked", Truth.UNKNOWN
    info = first_json(done.out, dict)
    host = _part(info, "host")
    if done.rc != 0 or not host:
        why = blame(done) if done.rc != 0 else None
        return (Truth.UNKNOWN, brief(done), Truth.UNKNOWN) if why is None else (Truth.NO, why, Truth.UNKNOWN)
    rootless = _part(host, "security").get("rootless")
    if rootless is not True:
        return Truth.YES, "", Truth.NO if rootless is False else Truth.UNKNOWN
    mapped = _part(host, "idMappings").get("uidmap")
    if isinstance(mapped, list) and len(mapped) < 2 and not _ignores_owners(info):
        return Truth.NO, "subuid: this user has no range in /etc/subuid", Truth.YES
    return Truth.YES, "", Truth.YES


def _part(value: object, name: str) -> dict[str, Any]:
    part = value.get(name) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}


def _ignores_owners(info: object) -> bool:
    options = _part(_part(info, "store"), "graphOptions")
    return any(key.endswith("ignore_chown_errors") and str(value) == "true" for key, value in options.items())


def _images(results: Results) -> tuple[ContainerImage, ...] | None:
    done = results.done("images")
    rows = first_json(done.out, list) if done is not None and done.rc == 0 and not done.truncated else None
    if not isinstance(rows, list):
        return None
    return tuple(
        ContainerImage(name=str(name), bytes=size if isinstance(size := row.get("Size"), int) and size >= 0 else None)
        for row in rows
        if isinstance(row, dict)
        for name in (row.get("Names") or [])
    )


@register_probe
class Podman(Probe):
    """`container/podman`."""

    category = Category.CONTAINER
    name = "podman"
    verbs = container_verbs("podman", _ask, _parse)
