"""Charliecloud: `ch-run`, which needs user namespaces and nothing else, and the images in this user's storage.

Sources: ch-run(1), ch-image(1). `ch-image list` would make the storage folder, so the folder itself is read: the names
of images in it have `%` for `/` and `+` for `:`.
"""

from __future__ import annotations

from dragoman.facts import ContainerImage, ContainerRuntime
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category
from providers.probes.base import Ask, Paths, Probe, Results, question, where_is
from providers.probes.container.runtime import container_verbs, is_image_name, version_of
from providers.probes.container.user_namespaces import FILES, TRY, user_namespaces
from providers.registry import register_probe

__all__ = ["Charliecloud"]

# ch-run ends with an error where USER is not set, as it is in a session without a login.
_VERSION = r"""
where=$(command -v -- "$1" 2>/dev/null) || { echo dragoman-none; exit 0; }
USER=${USER:-$(id -un)}; export USER
exec "$where" --version
"""
_IMAGES = r"""
folder=${CH_IMAGE_STORAGE:-/var/tmp/${USER:-$(id -un)}.ch}/img
if [ -d "$folder" ]; then ls -1 -- "$folder" && echo dragoman-end; elif [ -e "${folder%/img}" ]; then exit 1
else echo dragoman-end; fi
"""


def _ask(paths: Paths) -> Ask:
    return Ask(
        commands={
            "version": question("/bin/sh", "-c", _VERSION, "sh", where_is("ch-run", paths, key="charliecloud")),
            "images": question("/bin/sh", "-c", _IMAGES, "sh"),
            **TRY,
        },
        files=FILES,
    )


def _parse(results: Results) -> Answer[ContainerRuntime] | Ask:
    done = results.done("version")
    if done is not None and done.rc == 0 and done.out.strip() == "dragoman-none":
        return Answer[ContainerRuntime].absent("there is no ch-run here")
    version = version_of(results, "version", r"^(?:ch-run\s+|charliecloud\s+)?v?(\d+\.[\w.]+)")
    if isinstance(version, Answer):
        return version
    usable, reason = user_namespaces(results)
    return Answer[ContainerRuntime].ok(
        ContainerRuntime(
            runtime="charliecloud", version=version[0], usable=usable, reason=reason, rootless=Truth.YES,
            images=_images(results),
        )
    )  # fmt: skip


def _images(results: Results) -> tuple[ContainerImage, ...] | None:
    done = results.whole("images")
    lines = done.out.splitlines() if done is not None and done.rc == 0 else []
    if lines[-1:] != ["dragoman-end"]:
        return None
    names = [line.replace("%", "/").replace("+", ":") for line in lines[:-1] if line]
    return tuple(ContainerImage(name=name) for name in names) if all(map(is_image_name, names)) else None


@register_probe
class Charliecloud(Probe):
    """`container/charliecloud`."""

    category = Category.CONTAINER
    name = "charliecloud"
    verbs = container_verbs("charliecloud", _ask, _parse)
