"""Real module systems: what is listed, what leads to it, and load lines that load or stop the job."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.facts import Packages
from dragoman.observation import Answer, Outcome

pytestmark = pytest.mark.anyio

Find = Callable[..., Awaitable[Any]]
Run = Callable[..., Awaitable[tuple[int, str, str]]]


def tcl_tree(folder: Path) -> Path:
    modules = {
        "gcc/12.2.0": "", "gcc/13.1.0": "", "gcc/.11": "", "gcc/.version": "set ModulesVersion 12.2.0",
        "lammps/2Aug2023": 'puts stderr "lammps 2Aug2023 loaded, ERROR: see the documents"\nsetenv LMP 1',
        "lammps-tools/1.0": "", "plain": "", "openmpi/4.1.4-gcc-12.2.0": "",
        "broken/1": "this is no command",
    }  # fmt: skip
    for name, body in modules.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#%Module\n{body}\n")
    return folder


def lmod_tree(folder: Path) -> Path:
    for version in ("12.2.0", "13.1.0"):
        file = folder / "Core" / "gcc" / f"{version}.lua"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'help([[GNU compilers]])\nprepend_path("MODULEPATH", "{folder}/gcc-{version}")\n')
        inner = folder / f"gcc-{version}" / "openmpi" / "4.1.4.lua"
        inner.parent.mkdir(parents=True)
        inner.write_text(f'help([[Open MPI\n   gcc/99.9]])\nprepend_path("MODULEPATH", "{folder}/mpi-{version}")\n')
    deep = folder / "mpi-13.1.0" / "hdf5" / "1.14.lua"
    deep.parent.mkdir(parents=True)
    deep.write_text('setenv("HDF5", "1")\nextensions("h5py/3.9")\n')
    note = folder / "Core" / "lammps" / "2Aug2023.lua"
    note.parent.mkdir()
    note.write_text('LmodMessage("lammps is loaded, see the documents")\n')
    return folder


def versions(answer: Answer[Packages]) -> list[str | None]:
    assert answer.value is not None, answer.reason
    return [package.version for package in answer.value.packages]


async def test_tcl_modules(find: Find, run_lines: Run, tmp_path: Path) -> None:
    paths = {"modulepath": str(tcl_tree(tmp_path / "tree"))}
    there = await find("software/modules", "probe", paths=paths)
    assert there.value.version[0].isdigit()
    assert there.value.detail.startswith("Environment Modules, MODULEPATH")
    gcc = await find("software/modules", "find_package", "gcc", paths)
    assert versions(gcc) == ["12.2.0", "13.1.0"]
    assert [package.variants for package in gcc.value.packages] == [("default",), ()]
    assert versions(await find("software/modules", "find_package", "openmpi", paths)) == ["4.1.4"]
    assert versions(await find("software/modules", "find_package", "plain", paths)) == [None]
    missing = await find("software/modules", "find_package", "zlib", paths)
    assert missing.outcome is Outcome.ABSENT


@pytest.mark.parametrize("shell", ["bash", "sh"])
async def test_tcl_load_lines_load_or_stop(find: Find, run_lines: Run, tmp_path: Path, shell: str) -> None:
    tree = tcl_tree(tmp_path / "tree")
    paths = {"modulepath": str(tree)}
    lammps = (await find("software/modules", "find_package", "lammps", paths)).value.packages[0]
    rc, out, err = await run_lines((*lammps.load, "echo done $LMP"), shell=shell, MODULEPATH=str(tree))
    assert (rc, out) == (0, "done 1\n"), err
    assert "ERROR: see the documents" in err
    (tree / "lammps" / "2Aug2023").unlink()
    rc, out, _ = await run_lines((*lammps.load, "echo done"), shell=shell, MODULEPATH=str(tree))
    assert (rc, out) == (1, "")
    broken = (await find("software/modules", "find_package", "broken", paths)).value.packages[0]
    rc, out, _ = await run_lines((*broken.load, "echo done"), shell=shell, MODULEPATH=str(tree))
    assert (rc, out) == (1, "")


async def test_lmod_hierarchy(find: Find, run_lines: Run, parts: Path, tmp_path: Path) -> None:
    tree = lmod_tree(tmp_path / "tree")
    paths = {"modules": str(parts / "usr/share/lmod/lmod"), "modulepath": str(tree / "Core")}
    there = await find("software/modules", "probe", paths=paths)
    assert there.value.detail.startswith("Lmod, MODULEPATH")
    assert versions(await find("software/modules", "find_package", "gcc", paths)) == ["12.2.0", "13.1.0"]
    openmpi = (await find("software/modules", "find_package", "openmpi", paths)).value.packages
    assert [package.version for package in openmpi] == ["4.1.4"]
    assert {"behind gcc/12.2.0", "behind gcc/13.1.0"} <= set(openmpi[0].variants)
    hdf5 = (await find("software/modules", "find_package", "hdf5", paths)).value.packages
    assert hdf5[0].variants == ("behind gcc/13.1.0 openmpi/4.1.4",)
    for package, names in ((openmpi[0], 2), (hdf5[0], 3)):
        rc, out, err = await run_lines((*package.load, "echo $LOADEDMODULES"), MODULEPATH=str(tree / "Core"))
        assert rc == 0, err
        assert len(out.split(":")) == names
        assert out.strip().endswith(f"{package.name}/{package.version}")


async def test_lmod_extensions_come_with_their_module(find: Find, run_lines: Run, parts: Path, tmp_path: Path) -> None:
    tree = lmod_tree(tmp_path / "tree")
    paths = {"modules": str(parts / "usr/share/lmod/lmod"), "modulepath": str(tree / "Core")}
    found = (await find("software/modules", "find_package", "h5py", paths)).value.packages
    assert [(package.version, package.variants[0]) for package in found] == [("3.9", "inside of a module")]
    rc, out, err = await run_lines((*found[0].load, "echo $HDF5"), MODULEPATH=str(tree / "Core"))
    assert (rc, out) == (0, "1\n"), err


async def test_lmod_load_lines_load_or_stop(find: Find, run_lines: Run, parts: Path, tmp_path: Path) -> None:
    tree = lmod_tree(tmp_path / "tree")
    paths = {"modules": str(parts / "usr/share/lmod/lmod"), "modulepath": str(tree / "Core")}
    lammps = (await find("software/modules", "find_package", "lammps", paths)).value.packages[0]
    rc, out, err = await run_lines((*lammps.load, "echo done"), MODULEPATH=str(tree / "Core"))
    assert (rc, out) == (0, "done\n")
    assert "see the documents" in err
    rc, out, err = await run_lines((*lammps.load, "echo done"), MODULEPATH=str(tree / "gcc-12.2.0"))
    assert (rc, out) == (1, "")
    assert "was not loaded" in err
