"""What makes facts of this host those of other surroundings: told by processes that really live in them."""

import os
import shutil
import subprocess
import sys

import pytest

from providers.transports.local import LocalTransport
from providers.transports.surroundings import surroundings

TELL = "from providers.transports.local import LocalTransport; print(LocalTransport().surroundings)"


def told(*before: str) -> str:
    words = [*before, sys.executable, "-c", TELL]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: TID251  # a test may block
    if before[:1] == ("unshare",) and done.returncode:
        pytest.skip(f"no namespaces here: {done.stderr[:80]}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_they_are_the_same_for_the_next_process() -> None:
    assert told() == told()


@pytest.mark.parametrize(
    "before",
    [
        ("taskset", "-c", str(min(os.sched_getaffinity(0)))),
        ("sh", "-c", 'ulimit -S -n 77; exec "$@"', "sh"),
        ("sh", "-c", 'ulimit -S -c 0; ulimit -S -t 7777; exec "$@"', "sh"),
        ("unshare", "--map-root-user", "--net"),
        ("unshare", "--map-root-user", "--mount"),
    ],
    ids=["processors", "open-files", "cpu-time", "network", "mounts"],
)
def test_limits_processors_and_namespaces_count(before: tuple[str, ...]) -> None:
    if shutil.which(before[0]) is None or (before[0] == "taskset" and len(os.sched_getaffinity(0)) < 2):
        pytest.skip(f"no {before[0]} here")
    assert told(*before) != told()


@pytest.mark.parametrize(
    "name",
    [
        "PYENV_VERSION", "RBENV_VERSION", "CONDA_DEFAULT_ENV", "CONDA_PREFIX", "VIRTUAL_ENV", "JAVA_HOME", "MODULEPATH",
        "LOADEDMODULES", "SPACK_ENV", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "LD_LIBRARY_PATH",
        "DOCKER_HOST", "CUDA_VISIBLE_DEVICES", "KUBECONFIG", "SLURM_CONF", "SOMETHING_NEW", "LC_ALL", "PATH",
    ],
)  # fmt: skip
def test_a_variable_counts_unless_it_is_known_not_to(name: str) -> None:
    base = {"HOME": "/root", name: "one"}
    assert LocalTransport(base).surroundings != LocalTransport({**base, name: "two"}).surroundings
    assert LocalTransport(base).surroundings != LocalTransport({"HOME": "/root"}).surroundings


@pytest.mark.parametrize(
    "name",
    [
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "TERM",
        "COLUMNS",
        "SSH_CONNECTION",
        "SSH_TTY",
        "XDG_SESSION_ID",
        "TMUX_PANE",
        "PS1",
    ],
)
def test_what_each_login_has_for_itself_does_not_count(name: str) -> None:
    assert surroundings({"HOME": "/root", name: "one"}) == surroundings({"HOME": "/root"})


def test_a_variable_that_is_no_text_is_no_fault() -> None:
    assert surroundings({"ODD": "\udcff"}) != surroundings({"ODD": "\ud800"})
