"""Container runtimes: what runs a command in an image, with the job's folder in it and its GPUs.

Sources: `apptainer help exec` and `singularity help exec`, podman-run(1), docker-run(1), shifter(1) of NERSC's
documentation, ch-run(1) of Charliecloud, `enroot start --help`, the user guide of Sarus.

The image's entry point is set aside where a runtime would run it, so that the command is what was asked for and nothing
else. The job's folder lies at its own path inside, and is the working directory.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.errors import BadRequest

__all__ = ["RUNTIMES", "Contained", "container_words"]

HERE = '"$PWD"'
"""The job's folder, as a shell word: commands start there."""

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://")
# No part may look like an option: runtimes that know no schemes are given what stands behind one.
_OPTION = re.compile(r"(?:^|[:/])-")
_FILE = re.compile(r"\.(?:sif|simg|sqsh|sqfs|img)$")


@dataclass(frozen=True, slots=True)
class Contained:
    """A command's container."""

    image: str
    """A file, a name in a registry, or a URL such as `docker://...`; as the request has it."""
    staged: bool = False
    """The image is a file that is staged into the job's folder."""
    gpus: Literal["nvidia", "amd", "intel", ""] = ""
    binds: tuple[str, ...] = ()
    """`/path` or `/at/the/host:/inside`."""
    variables: tuple[str, ...] = ()
    """Names of variables that the command needs, for runtimes that pass none on."""
    launched: bool = False
    """A launcher starts one container for each task."""


@dataclass(frozen=True, slots=True)
class ContainerWords:
    """What is put before a command, what has to be done first, and what to know."""

    words: tuple[str, ...]
    setup: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def container_words(runtime: str, contained: Contained) -> ContainerWords:
    """The runtime with its options and the image as quoted shell words, up to where the command follows.

    Args:
        runtime: the provider's name: `apptainer`, `podman`, ...
        contained: what is run in which image.

    Raises:
        BadRequest: the image cannot be named to this runtime.
        KeyError: no such runtime; see `RUNTIMES`.

    """
    image = contained.image
    if not image.strip() or _OPTION.search(image):
        raise BadRequest(f"{image[:80]!r} is no image", where="containers.0.image", cure="name a file or an image")
    for bind in contained.binds:
        source, _, inside = bind.partition(":")
        if not source.startswith("/") or (inside and not inside.startswith("/")) or "," in bind:
            raise BadRequest(
                f"{bind!r} cannot be bound", where="container_binds", cure="write /path or /at/the/host:/inside"
            )
    return RUNTIMES[runtime](runtime, contained)


def _pairs(binds: Sequence[str]) -> list[tuple[str, str]]:
    parts = [bind.partition(":") for bind in binds]
    return [(source, inside or source) for source, _, inside in parts]


def _starter(runtime: str, contained: Contained) -> ContainerWords:
    words = [runtime, "exec"]
    words += {"nvidia": ["--nv"], "amd": ["--rocm"]}.get(contained.gpus, [])
    words += ["--bind", HERE, "--pwd", HERE]
    for source, inside in _pairs(contained.binds):
        words += ["--bind", shlex.quote(source if source == inside else f"{source}:{inside}")]
    image = contained.image
    if (
        not contained.staged
        and not image.startswith(("/", "./"))
        and not _SCHEME.match(image)
        and not _FILE.search(image)
    ):
        image = f"docker://{image}"
    notes = ("GPUs of Intel need no option of their own",) if contained.gpus == "intel" else ()
    return ContainerWords((*words, _image_file(contained, image)), notes=notes)


def _image_file(contained: Contained, image: str) -> str:
    """A file that is staged lies in the job's folder, whatever a command before has made of the current one."""
    return f'"$PWD"/{shlex.quote(image.removeprefix("./"))}' if contained.staged else shlex.quote(image)


def _engine(runtime: str, contained: Contained) -> ContainerWords:
    if _FILE.search(contained.image) or contained.staged:
        raise BadRequest(
            f"{runtime} runs no image from the file {contained.image}", where="containers.0.image",
            cure="name an image of a registry, or load it there first",
        )  # fmt: skip
    words = [runtime, "run", "--rm", "--volume", f"{HERE}:{HERE}", "--workdir", HERE, "--entrypoint", "''"]
    notes: list[str] = []
    if contained.gpus == "nvidia":
        words += ["--device", "nvidia.com/gpu=all"] if runtime == "podman" else ["--gpus", "all"]
    elif contained.gpus == "amd":
        words += ["--device", "/dev/kfd", "--device", "/dev/dri"]
    elif contained.gpus == "intel":
        words += ["--device", "/dev/dri"]
    if runtime == "podman" and contained.gpus in ("amd", "intel"):
        words += ["--group-add", "keep-groups"]  # these devices belong to groups of the host (podman-run(1))
    for source, inside in _pairs(contained.binds):
        words += ["--volume", shlex.quote(f"{source}:{inside}")]
    for name in contained.variables:
        words += ["--env", name]
    if contained.launched:
        words += ["--network", "host", "--ipc", "host", "--pid", "host"]
        if runtime == "podman":
            # A star at the end passes on all variables that begin so (podman-run(1)).
            words += [word for name in ("PMI*", "SLURM_*", "OMPI_*", "FLUX_*") for word in ("--env", shlex.quote(name))]
        notes.append(f"each task is a {runtime} container of its own: MPI between them depends on the site")
    if runtime == "docker":
        notes.append("Docker runs the command as the image's user: files may belong to root")
    image = contained.image.removeprefix("docker://")
    if runtime == "podman" and image != contained.image:
        image = _at_docker_hub(image)
    return ContainerWords((*words, shlex.quote(image)), notes=tuple(notes))


def _at_docker_hub(image: str) -> str:
    """The full name of an image of `docker://`: podman takes short names only from registries that its host lists."""
    first, slash, _ = image.partition("/")
    if slash and (re.search(r"[.:]", first) or first == "localhost"):
        return image
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"


def _shifter(runtime: str, contained: Contained) -> ContainerWords:
    image = contained.image.removeprefix("docker://")
    if _FILE.search(image) or contained.staged:
        raise BadRequest(
            "Shifter runs no image from a file", where="containers.0.image", cure="name an image of a registry"
        )
    name = image if re.match(r"^(?:docker|id|local):", image) else f"docker:{image}"
    words = ["shifter", shlex.quote(f"--image={name}"), f"--workdir={HERE}"]
    words += ["--module=gpu"] if contained.gpus == "nvidia" else []
    words += [shlex.quote(f"--volume={source}:{inside}") for source, inside in _pairs(contained.binds)]
    pull = f"Shifter must have the image already: shifterimg pull {name}"
    return ContainerWords(tuple(words), notes=(pull,))


def _charliecloud(runtime: str, contained: Contained) -> ContainerWords:
    image = contained.image.removeprefix("docker://")
    words = ["ch-run", f"--bind={HERE}", f"--cd={HERE}"]
    words += [shlex.quote(f"--bind={source}:{inside}") for source, inside in _pairs(contained.binds)]
    notes = ["Charliecloud must have the image already: ch-image pull"] if not contained.staged else []
    if contained.gpus == "nvidia":
        notes.append("the image must hold the site's GPU libraries: ch-fromhost --nvidia")
    # ch-run refuses to start without USER, which is not set in every job.
    setup = ('export USER="${USER:-$(id -un)}"',)
    return ContainerWords((*words, _image_file(contained, image), "--"), setup, tuple(notes))


def _enroot(runtime: str, contained: Contained) -> ContainerWords:
    """Enroot has no option for the working directory: a shell of the image goes there."""
    image, setup = contained.image, list[str]()
    words = ["enroot", "start", "--rw", "--mount", f"{HERE}:{HERE}"]
    for source, inside in _pairs(contained.binds):
        words += ["--mount", shlex.quote(f"{source}:{inside}")]
    for name in (*contained.variables, *(("NVIDIA_VISIBLE_DEVICES",) if contained.gpus == "nvidia" else ())):
        words += ["--env", name]
    if contained.gpus == "nvidia":
        setup.append("export NVIDIA_VISIBLE_DEVICES=all")
    if not contained.staged and not _FILE.search(image):
        source = image if _SCHEME.match(image) else f"docker://{image}"
        setup.append(f"[ -e image.sqsh ] || enroot import --output image.sqsh {shlex.quote(source)} || exit 1")
        file = '"$PWD"/image.sqsh'
    else:
        file = _image_file(contained, image)
    inner = ["/bin/sh", "-c", shlex.quote('cd "$1" && shift && exec "$@"'), "sh", HERE]
    return ContainerWords((*words, file, *inner), setup=tuple(setup))


def _sarus(runtime: str, contained: Contained) -> ContainerWords:
    image = contained.image.removeprefix("docker://")
    if _FILE.search(image) or contained.staged:
        raise BadRequest(
            "Sarus runs no image from a file", where="containers.0.image", cure="name an image, or `sarus load` it"
        )
    words = ["sarus", "run", f"--mount=type=bind,source={HERE},destination={HERE}", f"--workdir={HERE}"]
    words += [
        shlex.quote(f"--mount=type=bind,source={source},destination={inside}")
        for source, inside in _pairs(contained.binds)
    ]
    words += ["--mpi"] if contained.launched else []
    notes = (f"Sarus must have the image already: sarus pull {image}",)
    return ContainerWords((*words, shlex.quote(image)), notes=notes)


RUNTIMES: dict[str, Callable[[str, Contained], ContainerWords]] = {
    "apptainer": _starter, "singularity": _starter, "podman": _engine, "docker": _engine, "shifter": _shifter,
    "charliecloud": _charliecloud, "enroot": _enroot, "sarus": _sarus,
}  # fmt: skip
"""By the name of their provider."""
