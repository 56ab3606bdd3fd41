"""Software in a folder that may not be entered is unknown: nothing shows that it is not there."""

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dragoman.command import Command, Completed, Told
from dragoman.facts import Packages
from dragoman.observation import Answer, Outcome
from providers.probed import Question, ask_many
from providers.probes.software.conda import Conda
from providers.probes.software.easybuild import EasyBuild
from providers.transports.local import LocalTransport
from providers.verbs import PackageQuery

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        os.geteuid() == 0 and shutil.which("setpriv") is None, reason="nothing is closed to the superuser"
    ),
]
PLAIN = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()


class Unprivileged(LocalTransport):
    """Commands of a user to whom folders can be closed."""

    async def run_many(self, commands: Sequence[Command], told: Told | None = None) -> list[Completed | Exception]:
        return await super().run_many([dataclasses.replace(each, argv=(*PLAIN, *each.argv)) for each in commands])


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may enter, as the one for tests is not."""
    folder = Path(tempfile.mkdtemp(prefix="dragoman-closed-"))
    folder.chmod(0o755)
    yield folder
    for each in folder.rglob("*"):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o755)
    shutil.rmtree(folder)


async def ask(probe: Conda | EasyBuild, name: str, place: Path, given: str = "") -> Answer[Packages]:
    transport = Unprivileged({"PATH": os.defpath, "HOME": str(place / "home")})
    paths = {probe.name: given} if given else {}
    answer: Answer[Packages] = (
        await ask_many(transport, [Question(probe, "find_package", PackageQuery(name=name))], paths=paths)
    )[0]
    return answer


def installed(root: Path, *names: str) -> Path:
    for name in names:
        (root / "software" / name / "easybuild").mkdir(parents=True)
    return root


async def test_easybuild_below_a_closed_folder(place: Path) -> None:
    root = installed(place / "eb", "GROMACS/2023.3", "HDF5/1.14.0", "HDF5/1.12.0", "zlib/1.3")
    given = str(root)
    assert (await ask(EasyBuild(), "gromacs", place, given)).outcome is Outcome.OK
    (root / "software" / "GROMACS").chmod(0)
    (root / "software" / "HDF5" / "1.14.0").chmod(0)
    answer = await ask(EasyBuild(), "gromacs", place, given)
    assert answer.outcome is Outcome.UNKNOWN
    assert "software/GROMACS cannot be read" in answer.reason
    assert (await ask(EasyBuild(), "hdf5", place, given)).outcome is Outcome.OK, "the other version is there"
    (root / "software" / "HDF5" / "1.12.0").chmod(0)
    assert (await ask(EasyBuild(), "hdf5", place, given)).outcome is Outcome.UNKNOWN
    assert (await ask(EasyBuild(), "namd", place, given)).outcome is Outcome.ABSENT, "another name hides nothing"
    assert (await ask(EasyBuild(), "zlib", place, given)).outcome is Outcome.OK


@pytest.mark.parametrize("closed", ["eb", "eb/software", ""])
async def test_easybuild_in_a_prefix_that_is_closed(place: Path, closed: str) -> None:
    root = installed(place / "above" / "eb", "zlib/1.3")
    (place / "above" / closed).chmod(0)
    answer = await ask(EasyBuild(), "zlib", place, str(root))
    assert answer.outcome is Outcome.UNKNOWN
    assert "permission denied" in answer.reason


@pytest.mark.parametrize("given", ["eb/sofware", "ebb", "eb/software"])
async def test_easybuild_in_a_prefix_that_is_misspelt(place: Path, given: str) -> None:
    installed(place / "eb", "zlib/1.3")
    answer = await ask(EasyBuild(), "zlib", place, str(place / given))
    assert answer.outcome is Outcome.UNKNOWN
    assert "of the site file" in answer.reason


async def test_no_easybuild_named_and_none_seen_is_absent(place: Path) -> None:
    assert (await ask(EasyBuild(), "zlib", place)).outcome is Outcome.ABSENT


def environment(folder: Path, package: str) -> Path:
    (folder / "conda-meta").mkdir(parents=True)
    (folder / "conda-meta" / f"{package}-1.0-0.json").write_text("{\n}\n")
    return folder


@pytest.mark.parametrize("closed", ["envs/sim", "envs/sim/conda-meta", "envs"])
async def test_conda_environments_that_are_closed(place: Path, closed: str) -> None:
    base = environment(place / "conda", "conda")
    environment(base / "envs" / "sim", "numpy")
    assert (await ask(Conda(), "numpy", place, str(base))).outcome is Outcome.OK
    (base / closed).chmod(0)
    answer = await ask(Conda(), "numpy", place, str(base))
    assert answer.outcome is Outcome.UNKNOWN
    assert "permission denied" in answer.reason
    assert (await ask(Conda(), "conda", place, str(base))).outcome is Outcome.OK


async def test_conda_environments_that_the_users_list_names(place: Path) -> None:
    (place / "home" / ".conda").mkdir(parents=True)
    listed = environment(place / "group" / "sim", "numpy")
    (place / "home" / ".conda" / "environments.txt").write_text(f"{listed}\n{place}/gone\n")
    assert (await ask(Conda(), "numpy", place)).outcome is Outcome.OK
    assert (await ask(Conda(), "scipy", place)).outcome is Outcome.ABSENT, "what is gone hides nothing"
    (place / "group").chmod(0)
    assert (await ask(Conda(), "numpy", place)).outcome is Outcome.UNKNOWN
    (place / "group").chmod(0o755)
    (place / "home" / ".conda" / "environments.txt").chmod(0)
    assert (await ask(Conda(), "numpy", place)).outcome is Outcome.UNKNOWN
