"""A container command taken apart: which image, which options, and what runs inside.

Sources: `apptainer help exec` and `singularity help exec` (1.2, 3.11, 4.1), docker-run(1), podman-run(1). Options that
take a value are listed, since nothing in a command line itself tells them from flags.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ContainerCommand", "container_command"]


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_STARTERS = frozenset({"apptainer", "singularity"})
_ENGINES = frozenset({"docker", "podman", "podman-hpc"})
_VERBS = frozenset({"exec", "run", "shell", "test"})

_STARTER_GLOBAL_VALUES = frozenset({"--config", "-c"})
"""Before the verb; behind it `-c` is the flag `--contain`."""
_STARTER_VALUES = _words(
    "--add-caps --allow-gids --app --apply-cgroups --bind -B --blkio-weight --blkio-weight-device --cpu-shares"
    " --cpus --cpuset-cpus --cpuset-mems --cwd --dns --drop-caps --env --env-file --fusemount --home -H"
    " --hostname --memory --memory-reservation --memory-swap --mount --network --network-args --overlay -o"
    " --pem-path --pids-limit --pwd --scratch -S --security --shell -s --tmp-sandbox-dir --workdir -W --device"
    " --netns-path"
)
_ENGINE_VALUES = _words(
    "--add-host --annotation --arch --attach -a --authfile --blkio-weight --cap-add --cap-drop --cgroup-parent"
    " --cidfile --cgroups --conmon-pidfile --context -c --config --cpu-period --cpu-quota --cpu-shares --cpus"
    " --cpuset-cpus --cpuset-mems --device --dns --dns-search --entrypoint --env -e --env-file --expose --gpus"
    " --group-add --health-cmd --host -H --hostname -h --image-volume --init-path --ipc --label -l --label-file"
    " --link --log-driver --log-level --log-opt --mac-address --memory -m --memory-reservation --memory-swap"
    " --mount --name --net --network --network-alias --oom-score-adj --os --pid --pids-limit --platform"
    " --publish -p --pull --restart --root --runroot --runtime --secret --security-opt --shm-size --stop-signal"
    " --stop-timeout --storage-driver --storage-opt --sysctl --timeout --tmpfs --tz --ulimit --umask --url"
    " --user -u --userns --uts --variant --volume -v --volumes-from --workdir -w"
)


@dataclass(frozen=True, slots=True)
class ContainerCommand:
    """`runtime VERB options image command`."""

    runtime: str
    image: str
    options: tuple[tuple[str, ...], ...] = ()
    """Each with its value, if it takes one: `("--nv",)`, `("--bind", "/scratch:/scratch")`."""
    command: tuple[str, ...] = ()
    """What runs inside; empty: what the image is made to run."""


def container_command(argv: Sequence[str]) -> ContainerCommand | None:
    """Read `apptainer exec`, `singularity run`, `docker run`, `podman run` and the like; None for any other command.

    An `exec` of Docker or Podman names a container that already runs, not an image, and is none of these.
    """
    words = list(argv)
    runtime = posixpath.basename(words[0]) if words else ""
    if runtime not in _STARTERS | _ENGINES:
        return None
    starter = runtime in _STARTERS
    before, rest = _options(words[1:], _STARTER_GLOBAL_VALUES if starter else _ENGINE_VALUES)
    if not starter and rest[:1] == ["container"]:
        rest = rest[1:]
    if not rest or rest[0] not in (_VERBS if starter else {"run", "create"}):
        return None
    after, rest = _options(rest[1:], _STARTER_VALUES if starter else _ENGINE_VALUES)
    if not rest:
        return None
    return ContainerCommand(runtime, rest[0], (*before, *after), tuple(rest[1:]))


def _options(words: list[str], values: frozenset[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Options at the beginning, and the words from the first that is none. `--` ends them."""
    found: list[tuple[str, ...]] = []
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        if word == "--":
            return found, words[at + 1 :]
        if "=" not in word and _takes_value(word, values) and at + 1 < len(words):
            found.append((word, words[at + 1]))
            at += 2
        else:
            found.append((word,))
            at += 1
    return found, words[at:]


def _takes_value(word: str, values: frozenset[str]) -> bool:
    """`-itv` takes one as `-v` does, since it is the last of the bundle; `-v/a:/b` carries its own."""
    if word in values or word.startswith("--"):
        return word in values
    letters = word[1:]
    first = next((index for index, letter in enumerate(letters) if f"-{letter}" in values), None)
    return first is not None and first == len(letters) - 1
