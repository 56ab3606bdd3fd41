"""Names of modules as listings print them: headers, marks and columns taken off, version and toolchain told apart.

Sources: module(1) of Lmod 8 and of Environment Modules 3.2 to 5. Lmod marks in parentheses (`(D,L)`), Modules 5 with
symbolic versions in parentheses and tags in angle brackets (`(default) <L>`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Module", "is_module_name", "named", "parse_listing", "split_version"]

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.+@=~-]*(?:/[A-Za-z0-9_.+@=~-]+)*"
_CELL = re.compile(rf"(?P<name>\^?{_NAME})(?P<slash>/?)(?P<marks>(?:\s*[(<][^()<>]*[)>])*)")
_MARK = re.compile(r"[(<]([^()<>]*)[)>]")

# Families whose names stand behind a version: `2023.1-foss-2022a`, `20230802-gcc-12.2.0`.
_TOOLCHAIN = re.compile(
    r"[-/_](?=(?:foss|fosscuda|intel|intel-oneapi|oneapi|gompi|gompic|gfbf|iimpi|iomkl|iimkl|goolf|gcccore|gcc|gnu|clang|llvm|aocc|"
    r"nvhpc|nvompi|nvofbf|pgi|cce|cray\w*|xl|arm|openmpi|ompi|mpich|mvapich2?|impi|cuda|python|java|perl)(?:[-/_@]?v?\d|[-/_]|$))",
    re.IGNORECASE,
)
_COMPILER = re.compile(
    r"(?P<name>gcccore|gcc|gnu|intel-oneapi-compilers|intel-oneapi|oneapi|intel|clang|llvm|aocc|nvhpc|pgi|cce|foss|gompi|gfbf|iimpi|iomkl)"
    r"[-/_@]?(?P<version>v?\d[\w.]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Module:
    """One module of a listing: its full name as it is loaded, and what the listing marks it as."""

    full: str
    default: bool = False
    loaded: bool = False
    hidden: bool = False
    extension: bool = False
    """No module of its own: software inside of another module."""


def is_module_name(text: str) -> bool:
    """Whether a text is one whole module name, fit to be an argument of `module` and part of a job script."""
    return re.fullmatch(_NAME, text) is not None and ".." not in text.split("/")


def parse_listing(text: str) -> list[Module]:
    """The modules of `module avail`, terse or in columns; paths, headers, rules, legends and sentences are left out."""
    found: dict[str, Module] = {}
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.endswith(":") or stripped.startswith(("/", "-", "=")):
            continue
        cells = [_CELL.fullmatch(cell) for cell in re.split(r"\s{2,}|\t", stripped)]
        if not all(cells):
            cells = _marked(stripped) or _readable(re.split(r"\s{2,}|\t", stripped))
        for cell in cells:
            if cell is not None and not cell["slash"]:
                module = _module(cell["name"], cell["marks"])
                if module is not None:
                    found.setdefault(module.full, module)
    return list(found.values())


def _readable(cells: list[str]) -> list[re.Match[str] | None]:
    """The cells of a line that are names, where others are none: a name that cannot be read takes no other one away.

    Words with one space between them are names where each has a version, for a column that is full leaves no more room;
    otherwise they are a sentence, and of its line only what has a slash is a name.
    """
    names: list[re.Match[str] | None] = []
    sentence = len(cells) == 1
    for cell in cells:
        words = cell.split(" ")
        found = [_CELL.fullmatch(word) for word in words]
        whole = _CELL.fullmatch(cell)
        if whole is not None:
            names.append(whole)
        elif len(words) > 1 and not all(each and re.search(r"/v?\d", each["name"]) for each in found):
            sentence = True
        else:
            names += found
    return [each for each in names if each and ("/" in each["name"] or not sentence)]


def _marked(line: str) -> list[re.Match[str] | None]:
    """Cells that one space alone divides: only where each but the last ends in a mark, for a sentence has none."""
    cells: list[re.Match[str] | None] = []
    at = 0
    while at < len(line):
        cell = _CELL.match(line, at)
        if cell is None or (cell.end() < len(line) and (not cell["marks"] or line[cell.end()] != " ")):
            return []
        cells.append(cell)
        at = cell.end() + len(line[cell.end() :]) - len(line[cell.end() :].lstrip())
    return cells


def _module(name: str, marks: str) -> Module | None:
    words = {word.strip() for mark in _MARK.findall(marks) for word in re.split(r"[,:]", mark)}
    if "@" in words:
        return None  # an alias: the module it stands for is listed too
    extension = name.startswith("^") or "E" in words
    full = name.removeprefix("^")
    if not is_module_name(full):
        return None
    return Module(
        full=full,
        default=bool(words & {"default", "D"}),
        loaded=bool(words & {"L", "loaded", "aL"}),
        hidden="H" in words or full.rpartition("/")[2].startswith("."),
        extension=extension,
    )


def named(full: str, wanted: str) -> tuple[str, str | None, tuple[str, ...], str | None] | None:
    """Name, version, variants and compiler of a module if it is one of the package `wanted`; None if it is another's.

    The name is one whole part of the path that is not the version: `chem/lammps/2Aug2023` is LAMMPS, and neither
    `lammps-tools/1` nor `openmpi/4.1-gcc-12` (for gcc) is what its other words say. Of two names with versions the
    second is the package's in a tree (`gcc/12.2/hdf5/1.14`), and what the first was built with where it is of a kind
    that the first builds on (`lammps/2Aug2023/gcc/12.2`).
    """
    parts = full.split("/")
    low = [part.lower() for part in parts]
    key = wanted.strip().lower()
    if key not in low:
        return None
    index = low.index(key)
    rest = parts[index + 1 :]
    above = [(name, number) for name, number in pairwise(parts[:index]) if _versioned(number) and not _versioned(name)]
    heads = [_rank(name) for name, number in above if _RELEASE.fullmatch(number) is None]
    if _rank(key) < len(_KINDS) and any(head >= _rank(key) for head in heads):
        return None
    below = next((f"{name}@{number}" for name, number in reversed(above) if _rank(name) == 0), None)
    if not rest:
        return (parts[index], None, (), below) if len(parts) == 1 or not _versioned(parts[index]) else None
    version = next((part for part in rest if _versioned(part)), None)
    others = [part for part in rest if part is not version]
    if version is None:
        return parts[index], None, tuple(rest), below
    number, more, compiler = split_version(version)
    compiler = compiler or next((found for part in others if (found := _compiler(part))), None)
    return parts[index], number, (*more, *others), compiler or below


_KINDS = (
    re.compile(
        r"(?:gcccore|gcc|gnu|intel(?:-oneapi)?(?:-compilers?(?:-classic)?)?|oneapi|clang|llvm|aocc|nvhpc|pgi|cce|xl|arm"
        r"|foss|gompi|gfbf|iimpi|iomkl|prgenv-\w+)\d*",
        re.IGNORECASE,
    ),
    re.compile(r"(?:cuda|rocm|python|java|perl)\d*", re.IGNORECASE),
    re.compile(
        r"(?:open-?mpi|ompi|mpich|mvapich|impi|(?:intel|spectrum)-mpi|intel-oneapi-mpi|cray-mpich)\d*", re.IGNORECASE
    ),
)
"""What other software is built with, in the order of building; all else comes after them."""
_RELEASE = re.compile(r"20\d\d[ab]", re.IGNORECASE)
"""A generation of toolchains, which is no version of the folder that it lies in."""


def _rank(name: str) -> int:
    return next((place for place, kind in enumerate(_KINDS) if kind.fullmatch(name)), len(_KINDS))


def _versioned(part: str) -> bool:
    return re.match(r"\.?v?\d", part) is not None or re.search(r"\d{4}|\d\.\d", part) is not None


def split_version(text: str) -> tuple[str, tuple[str, ...], str | None]:
    """`2023.1-foss-2022a-CUDA-11.7` as the version `2023.1`, what stands behind it, and the compiler or toolchain.

    What stands behind is other software, so it must not count as a part of this one's version.
    """
    version = text.removeprefix(".")
    cut = _TOOLCHAIN.search(version, 1)
    if cut is None:
        return version, (), None
    behind = version[cut.end() :]
    return version[: cut.start()], (behind,), _compiler(behind)


def _compiler(text: str) -> str | None:
    match = _COMPILER.match(text)
    return f"{match['name']}@{match['version']}" if match else None
