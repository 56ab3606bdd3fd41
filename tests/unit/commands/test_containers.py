"""Each runtime gets the job's folder, its GPUs and its binds in its own words, and runs exactly the command."""

from __future__ import annotations

import pytest

from dragoman.errors import BadRequest
from providers.commands.containers import RUNTIMES, Contained, container_words
from providers.registry import probes

PLAIN = Contained(image="docker.io/library/debian:stable")
FULL = Contained(
    image="ghcr.io/x/lammps:1", gpus="nvidia", binds=("/scratch", "/data:/in"), variables=("OMP_NUM_THREADS",)
)


@pytest.mark.parametrize(
    ("runtime", "plain", "full"),
    [
        (
            "apptainer",
            'apptainer exec --bind "$PWD" --pwd "$PWD" docker://docker.io/library/debian:stable',
            'apptainer exec --nv --bind "$PWD" --pwd "$PWD" --bind /scratch --bind /data:/in docker://ghcr.io/x/lammps:1',
        ),
        (
            "singularity",
            'singularity exec --bind "$PWD" --pwd "$PWD" docker://docker.io/library/debian:stable',
            'singularity exec --nv --bind "$PWD" --pwd "$PWD" --bind /scratch --bind /data:/in '
            "docker://ghcr.io/x/lammps:1",
        ),
        (
            "podman",
            'podman run --rm --volume "$PWD":"$PWD" --workdir "$PWD" --entrypoint \'\' docker.io/library/debian:stable',
            'podman run --rm --volume "$PWD":"$PWD" --workdir "$PWD" --entrypoint \'\' --device nvidia.com/gpu=all '
            "--volume /scratch:/scratch --volume /data:/in --env OMP_NUM_THREADS ghcr.io/x/lammps:1",
        ),
        (
            "docker",
            'docker run --rm --volume "$PWD":"$PWD" --workdir "$PWD" --entrypoint \'\' docker.io/library/debian:stable',
            'docker run --rm --volume "$PWD":"$PWD" --workdir "$PWD" --entrypoint \'\' --gpus all '
            "--volume /scratch:/scratch --volume /data:/in --env OMP_NUM_THREADS ghcr.io/x/lammps:1",
        ),
        (
            "shifter",
            'shifter --image=docker:docker.io/library/debian:stable --workdir="$PWD"',
            'shifter --image=docker:ghcr.io/x/lammps:1 --workdir="$PWD" --module=gpu --volume=/scratch:/scratch '
            "--volume=/data:/in",
        ),
        (
            "charliecloud",
            'ch-run --bind="$PWD" --cd="$PWD" docker.io/library/debian:stable --',
            'ch-run --bind="$PWD" --cd="$PWD" --bind=/scratch:/scratch --bind=/data:/in ghcr.io/x/lammps:1 --',
        ),
        (
            "enroot",
            'enroot start --rw --mount "$PWD":"$PWD" "$PWD"/image.sqsh /bin/sh -c '
            '\'cd "$1" && shift && exec "$@"\' sh "$PWD"',
            'enroot start --rw --mount "$PWD":"$PWD" --mount /scratch:/scratch --mount /data:/in --env OMP_NUM_THREADS '
            '--env NVIDIA_VISIBLE_DEVICES "$PWD"/image.sqsh /bin/sh -c '
            '\'cd "$1" && shift && exec "$@"\' sh "$PWD"',
        ),
        (
            "sarus",
            'sarus run --mount=type=bind,source="$PWD",destination="$PWD" --workdir="$PWD" '
            "docker.io/library/debian:stable",
            'sarus run --mount=type=bind,source="$PWD",destination="$PWD" --workdir="$PWD" '
            "--mount=type=bind,source=/scratch,destination=/scratch --mount=type=bind,source=/data,destination=/in "
            "ghcr.io/x/lammps:1",
        ),
    ],
)
def test_words(runtime: str, plain: str, full: str) -> None:
    assert " ".join(container_words(runtime, PLAIN).words) == plain
    assert " ".join(container_words(runtime, FULL).words) == full


def test_every_runtime_that_is_probed_can_run_an_image() -> None:
    probed = {name.partition("/")[2] for name in probes.names() if name.startswith("container/")}
    assert probed == set(RUNTIMES)


def test_an_image_file_that_is_staged_lies_in_the_jobs_folder() -> None:
    words = container_words("apptainer", Contained(image="./my image.sif", staged=True)).words
    assert words[-1] == "\"$PWD\"/'my image.sif'"


def test_amd_gpus() -> None:
    assert "--rocm" in container_words("apptainer", Contained(image="a.sif", gpus="amd")).words
    amd = container_words("podman", Contained(image="a", gpus="amd")).words
    assert "/dev/kfd" in amd
    assert amd[amd.index("--group-add") + 1] == "keep-groups", "the devices belong to groups of the host"
    assert "--group-add" not in container_words("docker", Contained(image="a", gpus="amd")).words


@pytest.mark.parametrize("runtime", ["podman", "docker", "shifter", "sarus"])
def test_a_runtime_that_runs_no_files_says_so(runtime: str) -> None:
    with pytest.raises(BadRequest, match="file"):
        container_words(runtime, Contained(image="lammps.sif"))


@pytest.mark.parametrize(
    "image", ["", " ", "--privileged", "-x", "docker://--privileged", "docker://--volume=/:/h", "docker:///-x", "a/-b"]
)
@pytest.mark.parametrize("runtime", sorted(RUNTIMES))
def test_an_image_is_never_read_as_an_option(runtime: str, image: str) -> None:
    with pytest.raises(BadRequest, match="is no image"):
        container_words(runtime, Contained(image=image))


@pytest.mark.parametrize("bind", ["relative", "/a:relative", "", "/a,/b", "--x"])
def test_what_cannot_be_bound_is_refused(bind: str) -> None:
    with pytest.raises(BadRequest, match="cannot be bound"):
        container_words("apptainer", Contained(image="a.sif", binds=(bind,)))


@pytest.mark.parametrize("image", ["a; rm -rf /", "$(id)", "`id`", "a b", "a'b", 'a"b', "ä:ö"])
@pytest.mark.parametrize("runtime", sorted(RUNTIMES))
def test_an_image_stays_inside_of_one_quoted_word(runtime: str, image: str) -> None:
    import shlex

    made = container_words(runtime, Contained(image=image))
    text = " ".join([*made.words, *made.setup]).replace('"$PWD"', "PWD")
    assert any(image in word for word in shlex.split(text)), text


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("docker://ubuntu:22.04", "docker.io/library/ubuntu:22.04"),
        ("docker://lammps/lammps:stable", "docker.io/lammps/lammps:stable"),
        ("docker://ghcr.io/x/lammps:1", "ghcr.io/x/lammps:1"),
        ("docker://localhost/mine", "localhost/mine"),
        ("docker://registry:5000/a/b", "registry:5000/a/b"),
        ("mine:1", "mine:1"),  # as podman itself finds it: perhaps built there
    ],
)
def test_podman_gets_full_names_of_images_at_docker_hub(image: str, full: str) -> None:
    assert container_words("podman", Contained(image=image)).words[-1] == full
    assert container_words("docker", Contained(image=image)).words[-1] == image.removeprefix("docker://")
