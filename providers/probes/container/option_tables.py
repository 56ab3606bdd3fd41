"""Options of container commands, for nothing in a command line itself tells those that take a value from flags.

Sources: apptainer-exec(1) and singularity-exec(1) (Apptainer 1.0 to 1.4, SingularityCE 3.5 to 4.3), docker-run(1) and
`docker run --help` (20.10 to 28), podman-run(1) and podman(1) (3.4 to 5.6), ch-run(1) (0.9 to 0.40), `shifter --help`
(16 to 23), `enroot start` of Enroot's command reference (3.x), `sarus help run` (1.0 to 1.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["RUNTIMES", "Options", "Runtime"]


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one place in a command line, by their dashes: `-v`, `--volume`."""

    values: frozenset[str] = frozenset()
    """Take a value: in the next word, behind `=`, or (one letter) glued to it."""
    flags: frozenset[str] = frozenset()
    """Take none but behind `=`."""
    image: frozenset[str] = frozenset()
    """Those of `values` that name the image."""
    shortened: bool = False
    """Long ones may be cut as long as they are like no other (getopt_long(3), argp, Boost)."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """How a runtime's command line goes: `PROGRAM before VERB after IMAGE COMMAND`."""

    after: Options
    before: Options = Options()
    verbs: frozenset[str] = frozenset()
    """Empty: there is no verb."""
    groups: frozenset[str] = frozenset()
    """Words that may stand before the verb (`docker container run`)."""
    names_image: bool = True
    """The image is a word of its own, the first behind the options; otherwise an option names it."""
    divided: bool = False
    """`--` may stand between the image and the command."""


_STARTER: Final = Options(
    values=_words(
        "--add-caps --allow-gids --app --apply-cgroups --authfile --bind -B --blkio-weight --blkio-weight-device"
        " --cdi-dirs --containlibs --cpu-shares --cpus --cpuset-cpus --cpuset-mems --cwd --device --dmtcp-launch"
        " --dmtcp-restart --dns --docker-host --docker-password --docker-username --drop-caps --env --env-file"
        " --fusemount --home -H --hostname --memory --memory-reservation --memory-swap --mount --netns-path --network"
        " --network-args --no-mount --overlay -o --pem-path --pids-limit --platform --arch --pwd --runscript-timeout"
        " --scratch -S --security --shell -s --tmp-sandbox-dir --tmpdir --vm-cpu --vm-ip --vm-ram --workdir -W"
    ),
    flags=_words(
        "--allow-setuid --boot --cleanenv -e --compat --contain -c --containall -C --disable-cache --docker-login"
        " --fakeroot -f --help -h --ignore-fakeroot-command --ignore-subuid --ignore-userns --intel-hpu --ipc -i"
        " --keep-layers --keep-privs --net -n --no-compat --no-eval --no-home --no-https --no-init --no-nv --no-oci"
        " --no-pid --no-privs --no-rocm --no-setgroups --no-tmp-sandbox --no-umask --nohttps --nv --nvccli --oci"
        " --oom-kill-disable --passphrase --pid -p --proot --rocm --sharens --sif-fuse --syos --tmp-sandbox --underlay"
        " --unsquash --userns -u --uts --vm --vm-err --writable -w --writable-tmpfs"
    ),
)
_STARTER_BEFORE: Final = Options(
    values=_words("--config -c"),
    flags=_words("--build-config --debug -d --help -h --nocolor --quiet -q --silent -s --verbose -v --version"),
)

_DOCKER_VALUES = _words(
    "--add-host --annotation --attach -a --blkio-weight --blkio-weight-device --cap-add --cap-drop --cgroup-parent"
    " --cgroupns --cidfile --cpu-count --cpu-percent --cpu-period --cpu-quota --cpu-rt-period --cpu-rt-runtime"
    " --cpu-shares -c --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --device-cgroup-rule --device-read-bps"
    " --device-read-iops --device-write-bps --device-write-iops --dns --dns-opt --dns-option --dns-search --domainname"
    " --entrypoint --env -e --env-file --expose --gpus --group-add --health-cmd --health-interval --health-retries"
    " --health-start-interval --health-start-period --health-timeout --hostname -h --io-maxbandwidth --io-maxiops --ip"
    " --ip6 --ipc --isolation --kernel-memory --label -l --label-file --link --link-local-ip --log-driver --log-opt"
    " --mac-address --memory -m --memory-reservation --memory-swap --memory-swappiness --mount --name --net"
    " --net-alias --network --network-alias --oom-score-adj --pid --pids-limit --platform --publish -p --pull"
    " --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs"
    " --ulimit --user -u --userns --uts --volume -v --volume-driver --volumes-from --workdir -w"
)
_DOCKER_FLAGS = _words(
    "--detach -d --disable-content-trust --help --init --interactive -i --no-healthcheck --oom-kill-disable"
    " --privileged --publish-all -P --quiet -q --read-only --rm --sig-proxy --tty -t --use-api-socket"
)
_DOCKER: Final = Options(_DOCKER_VALUES, _DOCKER_FLAGS)
_DOCKER_BEFORE: Final = Options(
    values=_words("--config --context -c --host -H --log-level -l --tlscacert --tlscert --tlskey"),
    flags=_words("--debug -D --help --tls --tlsverify --version -v"),
)

_PODMAN: Final = Options(
    # Those of Docker that Podman does not have are refused by it: they swallow no image of a command that runs.
    values=_DOCKER_VALUES
    | _words(
        "--arch --authfile --cert-dir --cgroup-conf --cgroups --chrootdirs --conmon-pidfile --creds --decryption-key"
        " --env-merge --gidmap --group-entry --health-log-destination --health-max-log-count --health-max-log-size"
        " --health-on-failure --health-startup-cmd --health-startup-interval --health-startup-retries"
        " --health-startup-success --health-startup-timeout --hosts-file --hostuser --image-volume --init-ctr"
        " --init-path --intel-rdt-closid --os --passwd-entry --personality --pidfile --pod --pod-id-file --preserve-fd"
        " --preserve-fds --requires --retry --retry-delay --sdnotify --seccomp-policy --secret --shm-size-systemd"
        " --signature-policy --subgidname --subuidname --systemd --timeout --tz --uidmap --umask --unsetenv --variant"
    ),
    flags=_DOCKER_FLAGS
    | _words(
        "--env-host --http-proxy --no-hostname --no-hosts --passwd --read-only-tmpfs --replace --rmi --rootfs"
        " --tls-verify --unsetenv-all"
    ),
)
_PODMAN_BEFORE: Final = Options(
    values=_words(
        "--cdi-spec-dir --cgroup-manager --config --conmon --connection -c --default-mounts-file --events-backend"
        " --hooks-dir --host -H --identity --imagestore --log-level --max-workers --module --namespace"
        " --network-cmd-path --network-config-dir --out --pull-option --registries-conf --root --runroot --runtime"
        " --runtime-flag --ssh --storage-driver --storage-opt --tls-ca --tls-cert --tls-key --tmpdir --trust-only-store"
        " --url --volumepath --context"
    ),
    flags=_words("--help -h --noout --remote -r --syslog --transient-store --version -v --trace --debug"),
)
_PODMAN_HPC: Final = Options(
    _PODMAN.values,
    _PODMAN.flags | _words("--cuda-mpi --cvmfs --gpu --mpi --mpich --nccl --openmpi-pmi2 --openmpi-pmix"),
)

_CH_RUN: Final = Options(
    values=_words(
        "--bind -b --cd -c --cdi-dirs --device -d --feature --gid -g --join-ct --join-pid --join-tag --mount -m"
        " --storage -s --test --uid -u --unset-env --warnings"
    ),
    flags=_words(
        "--abort-fatal --cdi --ch-ssh --color --devices --env-no-expand --help -? --home --join -j --no-home"
        " --no-passwd --passwd --private-tmp -t --quiet -q --seccomp --set-env --set-env0 --unsafe --usage --verbose -v"
        " --version -V --write -w --write-fake -W"
    ),
    shortened=True,
)
_SHIFTER: Final = Options(
    values=_words("--env -e --env-file --image -i --module -m --volume -V --workdir -w"),
    flags=_words("--clearenv -E --entrypoint --help -h --verbose -v"),
    image=_words("--image -i"),
    shortened=True,
)
_ENROOT: Final = Options(
    values=_words("--conf -c --env -e --mount -m --rc"),
    flags=_words("--root -r --rw -w --help -h"),
)
_SARUS: Final = Options(
    values=_words(
        "--annotation --device --entrypoint --env -e --env-file --mount --mpi-type --name -n --pid --workdir -w"
    ),
    flags=_words("--centralized-repository --glibc --help --init --mpi -m --ssh --tty -t"),
    shortened=True,
)
_SARUS_BEFORE: Final = Options(flags=_words("--debug --help --verbose --version"), shortened=True)

_STARTS, _RUNS = _words("exec run shell test"), _words("run create")

RUNTIMES: Final[dict[str, Runtime]] = {
    "apptainer": Runtime(_STARTER, _STARTER_BEFORE, _STARTS),
    "singularity": Runtime(_STARTER, _STARTER_BEFORE, _STARTS),
    "docker": Runtime(_DOCKER, _DOCKER_BEFORE, _RUNS, _words("container")),
    "podman": Runtime(_PODMAN, _PODMAN_BEFORE, _RUNS, _words("container")),
    "podman-hpc": Runtime(_PODMAN_HPC, _PODMAN_BEFORE, _words("run create shared-run"), _words("container")),
    "ch-run": Runtime(_CH_RUN, divided=True),
    "shifter": Runtime(_SHIFTER, names_image=False),
    "enroot": Runtime(_ENROOT, verbs=_words("start"), before=Options(flags=_words("--help -h --version"))),
    "sarus": Runtime(_SARUS, _SARUS_BEFORE, _words("run")),
}
"""By the program's name."""
