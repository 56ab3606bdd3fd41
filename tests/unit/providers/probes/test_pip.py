"""Python packages of real environments: exact names, exact versions, in every environment at hand."""

import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import CommandTimeout
from dragoman.facts import Packages
from dragoman.observation import Answer, Outcome
from providers.probed import Question, ask_many
from providers.probes.software.pip import Pip
from providers.transports.local import LocalTransport
from providers.verbs import PackageQuery

pytestmark = pytest.mark.anyio


def environment(folder: Path, **packages: str) -> Path:
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for name, version in packages.items():
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        lines = ("Metadata-Version: 2.1", f"Name: {name.replace('__', '.')}", f"Version: {version}")
        (info / "METADATA").write_text("\n".join((*lines, "Requires-Dist: numpy==9.9", "")))
    return folder


async def find(name: str, *folders: Path) -> Answer[Packages]:
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    paths = {"pip": ":".join(str(folder) for folder in folders)}
    return (await ask_many(transport, [Question(Pip(), "find_package", PackageQuery(name=name))], paths=paths))[0]


async def test_versions_of_all_environments_and_never_those_of_a_dependency(tmp_path: Path) -> None:
    one = environment(tmp_path / "one", lammps="2024.8.29", torch="2.10")
    two = environment(tmp_path / "two", lammps="2023.8.2")
    answer = await find("LAMMPS", one, two)
    assert answer.value is not None
    seen = {(package.version, package.prefix) for package in answer.value.packages}
    assert seen == {("2024.8.29", str(one)), ("2023.8.2", str(two))}
    assert answer.value.packages[0].load == (f'export PATH={one}/bin:"$PATH"',)
    torch = await find("torch", one, two)
    assert torch.value is not None
    assert [package.version for package in torch.value.packages] == ["2.10"]
    numpy = await find("numpy", one, two)
    assert "9.9" not in numpy.model_dump_json()


@pytest.mark.parametrize("name", ["zope.interface", "Zope-Interface", "zope__INTERFACE"])
async def test_names_are_compared_as_pep_503_says(tmp_path: Path, name: str) -> None:
    folder = environment(tmp_path / "env", zope__interface="6.0")
    answer = await find(name, folder)
    assert answer.value is not None
    assert [(each.name, each.version) for each in answer.value.packages] == [("zope.interface", "6.0")]


async def test_absence_and_names_nearby(tmp_path: Path) -> None:
    folder = environment(tmp_path / "env", dragonfly_solver="1.0")
    assert (await find("no-such-package-anywhere", folder)).outcome is Outcome.ABSENT
    nearby = await find("dragonfly-solve", folder)
    assert nearby.value is not None
    assert nearby.value.packages == ()
    assert nearby.value.similar == ("dragonfly_solver",)


WHOLE = "Metadata-Version: 2.1\nName: ase\nVersion: 3.23.0\n"


@pytest.mark.parametrize("kept", [None, "", *(WHOLE[:end] for end in (29, 31, len(WHOLE) - 7, len(WHOLE) - 3))])
async def test_metadata_that_is_missing_or_cut_is_unknown(tmp_path: Path, kept: str | None) -> None:
    folder = environment(tmp_path / "env", ase="3.23.0", gpaw="24.1.0")
    metadata = next(folder.glob("lib/python*/site-packages/ase-*/METADATA"))
    if kept is None:
        metadata.unlink()
    else:
        metadata.write_text(kept)
    answer = await find("ase", folder)
    assert answer.outcome is Outcome.UNKNOWN, kept
    assert "ase-3.23.0.dist-info" in answer.reason
    assert (await find("gpaw", folder)).outcome is Outcome.OK
    assert (await find("no-such-package-anywhere", folder)).outcome is Outcome.ABSENT
    whole = await find("ase", folder, environment(tmp_path / "other", ase="3.22.1"))
    assert whole.value is not None
    assert [package.version for package in whole.value.packages] == ["3.22.1"]


async def test_a_version_that_is_written_longer_than_its_folder_is_whole(tmp_path: Path) -> None:
    folder = environment(tmp_path / "env", ase="3.23.0")
    metadata = next(folder.glob("lib/python*/site-packages/ase-*/METADATA"))
    metadata.write_text(WHOLE.replace("3.23.0", "3.23.0+local.1"))
    answer = await find("ase", folder)
    assert answer.value is not None
    assert [package.version for package in answer.value.packages] == ["3.23.0+local.1"]


async def test_noise_before_and_after_the_answer_is_not_the_answer(tmp_path: Path) -> None:
    folder = environment(tmp_path / "env", ase="3.23.0")
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "noise.pth").write_text(
        "import sys, atexit; print('[{\"name\": \"ase\"}]'); atexit.register(lambda: print('bye'))\n"
    )
    answer = await find("ase", folder)
    assert answer.value is not None
    assert [each.version for each in answer.value.packages] == ["3.23.0"]


async def test_an_interpreter_that_fails_makes_absence_unknown_but_hides_no_package(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "bin" / "python3"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\necho 'error while loading shared libraries: libpython.so' >&2\nexit 127\n")
    broken.chmod(0o755)
    good = environment(tmp_path / "good", ase="3.23.0")
    answer = await find("ase", tmp_path / "broken", good)
    assert answer.value is not None
    assert [each.version for each in answer.value.packages] == ["3.23.0"]
    missing = await find("no-such-package-anywhere", tmp_path / "broken", good)
    assert missing.outcome is Outcome.UNKNOWN
    assert "libpython" in missing.reason


async def test_a_name_with_shell_in_it_is_refused_or_taken_literally(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pattern"):
        PackageQuery(name="x; touch pwned")
    with pytest.raises(ValueError, match="string"):
        PackageQuery(name=2.10)  # type: ignore[arg-type]
    assert (await find("a@b", tmp_path)).outcome in (Outcome.ABSENT, Outcome.OK)


async def test_no_interpreter_is_absence_of_the_provider_and_a_time_out_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for tool in ("sed", "tail"):
        (tmp_path / "bin" / tool).symlink_to(f"/usr/bin/{tool}")
    transport = LocalTransport({"PATH": str(tmp_path / "bin")})
    answers = await ask_many(transport, [Question(Pip(), "probe")])
    assert answers[0].outcome is Outcome.ABSENT


async def test_presence_tells_the_interpreters() -> None:
    answers = await ask_many(
        LocalTransport({"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}), [Question(Pip(), "probe")]
    )
    assert answers[0].value is not None
    assert answers[0].value.version == ".".join(str(part) for part in sys.version_info[:3])


def test_a_hang_is_unknown(host: Any) -> None:
    host.commands = {"/bin/sh": CommandTimeout("no end within 30 s")}
    assert host.ask(Pip(), "find_package", PackageQuery(name="ase")).outcome is Outcome.UNKNOWN


def shims(folder: Path, **versions: Path) -> Path:
    """A tree like pyenv's: a shim that tells that it was started, and versions."""
    root = folder / "pyenv"
    (root / "shims").mkdir(parents=True)
    shim = root / "shims" / "python3"
    shim.write_text('#!/bin/sh\ntouch "${0%/shims/*}/started"\nexec pyenv exec python3 "$@"\n')
    shim.chmod(0o755)
    (root / "versions").mkdir()
    for name, prefix in versions.items():
        (root / "versions" / name).symlink_to(prefix)
    return root


async def probe_behind(root: Path, **variables: str) -> Answer[Any]:
    transport = LocalTransport({"PATH": f"{root}/shims:/usr/bin:/bin", "HOME": "/nonexistent", **variables})
    return (await ask_many(transport, [Question(Pip(), "probe")]))[0]


async def test_a_shim_is_not_started_where_its_files_tell_what_it_would_start(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    root = shims(tmp_path, mine=environment(tmp_path / "one"), other=environment(tmp_path / "two"))
    (root / "version").write_text("gone\nmine\n")
    for variables, name in (({}, "mine"), ({"PYENV_VERSION": "other"}, "other")):
        answer = await probe_behind(root, **variables)
        assert answer.value is not None
        assert answer.value.path == f"{root}/versions/{name}/bin/python3"
    assert not (root / "started").exists()


@pytest.mark.parametrize("told", ["", "system\nmine\n", "gone\n"])
async def test_a_shim_is_started_where_they_do_not(told: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    root = shims(tmp_path, mine=environment(tmp_path / "one"))
    (root / "version").write_text(told)
    await probe_behind(root)
    assert (root / "started").exists()


async def test_presence_tells_pip_by_its_folder(tmp_path: Path) -> None:
    folder = environment(tmp_path / "env", pip="24.0")
    transport = LocalTransport({"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": "/nonexistent"})
    (answer,) = await ask_many(transport, [Question(Pip(), "probe")])
    assert answer.value is not None
    assert answer.value.detail.endswith(", pip 24.0)")
    assert answer.value.detail.startswith(f"{folder} (")
