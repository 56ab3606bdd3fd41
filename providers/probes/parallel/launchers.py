"""MPI launchers and what tells of the library behind them: one question for all implementations.

Every launcher found is asked for its own words; a name such as `mpiexec` proves nothing. One script looks through the
PATH, what the site file names (`paths.openmpi` and so on) and usual places, each program once by its real path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from dragoman.command import Command
from dragoman.observation import Answer
from providers.probes.base import Paths, Results, brief, no_answer, question

__all__ = ["IMPLEMENTATIONS", "Folder", "Program", "Survey", "survey", "survey_of"]

IMPLEMENTATIONS = ("cray-mpich", "intel-mpi", "mpich", "mvapich", "openmpi", "spectrum-mpi")

CRAY = "/opt/cray/pe/mpich"
"""Has a folder for each version of Cray MPICH (`module show cray-mpich`); `paths.cray-mpich` names another one."""
PLACES = (
    "/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin", "/usr/lib64/mvapich2/bin", "/usr/mpi/gcc/*/bin",
    "/opt/openmpi*/bin", "/usr/local/openmpi*/bin", "/opt/mpich*/bin", "/usr/local/mpich*/bin", "/opt/mvapich*/bin",
    "/usr/local/mvapich*/bin", "/opt/intel/oneapi/mpi/*/bin", "/opt/ibm/spectrum_mpi/bin",
)  # fmt: skip

# What a program prints is told with its length in bytes, so that none of it reads as a line of the script's own.
# Arguments that hold a pattern are expanded as patterns and never split. `ompi_info` loads every component to tell
# anything but its version, which takes longer than all else: where components lie as files of their own in one place
# beside it, the files' names tell the same.
_SURVEY = r"""
cray=$1; shift
if command -v timeout >/dev/null 2>&1; then bounded() { timeout 8 "$@"; }; else bounded() { "$@"; }; fi
folders=; programs=
among() {
  keep=$IFS list=$1; IFS=:; set -f
  for each in $list; do [ "$each" -ef "$2" ] && { IFS=$keep; set +f; return 0; }; done
  IFS=$keep; set +f; return 1
}
show() {
  among "$programs" "$2" && return
  programs=$programs$2:
  kind=$1 path=$2; shift 2
  more=''
  if [ "$kind" = ompi_info ]; then
    lie='' several=''
    for each in "${path%/bin/*}"/lib*/openmpi* "${path%/bin/*}"/lib*/openmpi/lib/openmpi* \
        "${path%/bin/*}"/lib*/*/openmpi/lib/openmpi*; do
      [ -f "$each/mca_btl_self.so" ] || continue
      if [ -n "$lie" ] && ! [ "$each" -ef "$lie" ]; then several=yes; fi
      lie=$each
    done
    if [ -z "$lie" ] || [ -n "$several" ]; then
      lie=$(bounded "$path" --parsable --path pkglibdir 2>/dev/null </dev/null | head -c 4096)
      lie=${lie#path:pkglibdir:}
    fi
    if [ -f "$lie/mca_btl_self.so" ]; then
      set -- --version
      for each in "$lie"/mca_btl_*.so "$lie"/mca_mtl_*.so "$lie"/mca_pml_*.so; do
        each=${each##*/mca_}; each=${each%.so}
        [ "${each##*_}" = '*' ] || more="${more}mca:${each%%_*}:${each#*_}:version:
"
      done
    fi
  fi
  said=$( { bounded "$path" "$@" 2>&1 </dev/null; printf '\nexit %s' "$?"; } | head -c 60000)
  said=$more$said
  printf 'dragoman-program %s %s %s\n%s\n' "$kind" "${#said}" "$path" "$said"
}
look() {
  [ -d "$1" ] || return
  among "$folders" "$1" && return
  folders=$folders$1:; told=''
  for name in mpirun mpiexec mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich mpiexec.hydra \
      ompi_info mpichversion mpichversion.mpich mpiname; do
    [ -f "$1/$name" ] && [ -x "$1/$name" ] || continue
    if [ -z "$told" ]; then
      told=yes; prefix=${1%/*}
      printf 'dragoman-folder %s %s\n' "$2" "$1"
      for one in "$prefix/env/vars.sh" "$prefix/lib" "$prefix/lib64"; do
        [ -e "$one" ] && printf 'dragoman-beside %s\n' "$one"
      done
    fi
    case $name in
      ompi_info) show "$name" "$1/$name" --parsable ;;
      mpichversion*) show "$name" "$1/$name" ;;
      mpiname) show "$name" "$1/$name" -a ;;
      *) show "$name" "$1/$name" --version ;;
    esac
  done
}
old=$IFS; IFS=:; set -f
for one in $PATH; do IFS=$old; set +f; case $one in /*) look "$one" path ;; esac; IFS=:; set -f; done
IFS=; set +f
for one in ${I_MPI_ROOT:+"$I_MPI_ROOT/bin"} ${MPI_ROOT:+"$MPI_ROOT/bin"} "$@"; do
  for folder in $one; do look "$folder" place; done
done
printf 'dragoman-cray-active %s\n' "${CRAY_MPICH_VERSION:-}"
for folder in "$cray"/[0-9]*; do
  [ -d "$folder" ] || continue
  kinds=''; for kind in ofi ucx; do [ -d "$folder/$kind" ] && kinds="$kinds $kind"; done
  printf 'dragoman-cray %s%s\n' "${folder##*/}" "$kinds"
done
for name in srun aprun; do command -v "$name" >/dev/null 2>&1 && printf 'dragoman-starter %s\n' "$name"; done
echo dragoman-end
"""


@dataclass(frozen=True, slots=True)
class Program:
    """One program that was asked: its name, its path, its exit code (None: it was cut) and what it printed."""

    name: str
    path: str
    rc: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of programs, whether it is on the PATH, and what lies beside it."""

    path: str
    on_path: bool
    beside: list[str] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)

    def program(self, *names: str) -> Program | None:
        """The first of these that was asked here."""
        return next((each for name in names for each in self.programs if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Survey:
    """All that was found."""

    folders: tuple[Folder, ...]
    cray: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Versions of Cray MPICH and the fabrics each has."""
    cray_root: str = ""
    """The folder of those versions."""
    cray_active: str = ""
    starters: tuple[str, ...] = ()
    """`srun`, `aprun`: launchers that belong to the workload manager."""


def survey(paths: Paths) -> Command:
    """The one question."""
    given = [paths[name].rstrip("/") for name in IMPLEMENTATIONS if name in paths]
    places = [place for path in given for place in (path, f"{path}/bin")]
    return question("/bin/sh", "-c", _SURVEY, "sh", _cray_root(paths), *places, *PLACES, timeout_s=40.0)


def _cray_root(paths: Paths) -> str:
    return paths.get("cray-mpich", CRAY).rstrip("/")


def survey_of(results: Results, name: str) -> Survey | Answer[Any]:
    """What the question's answer tells; or an unknown answer."""
    trouble = no_answer(results, name)
    done = results.done(name)
    if trouble is not None or done is None:
        return trouble or Answer[Any].unknown("the launchers were not asked")
    lines = _lines(done.stdout)
    if done.rc != 0 or lines[-1:] != [("dragoman-end", "")]:
        return Answer[Any].unknown(brief(done))
    folders: list[Folder] = []
    cray: list[tuple[str, tuple[str, ...]]] = []
    active, starters = "", []
    for line, said in lines:
        word, _, rest = line.partition(" ")
        if word == "dragoman-folder":
            how, _, path = rest.partition(" ")
            folders.append(Folder(path, how == "path"))
        elif word == "dragoman-beside" and folders:
            folders[-1].beside.append(rest)
        elif word == "dragoman-program" and folders:
            label, _, place = rest.partition(" ")
            folders[-1].programs.append(_program(label, place.partition(" ")[2], said))
        elif word == "dragoman-cray":
            version, *fabrics = rest.split() or [""]
            cray.append((version, tuple(fabrics)))
        elif word == "dragoman-cray-active":
            active = rest.strip()
        elif word == "dragoman-starter":
            starters.append(rest)
    return Survey(
        tuple(folders), tuple(each for each in cray if each[0]), _cray_root(results.paths), active, tuple(starters)
    )


_PROGRAM = re.compile(rb"dragoman-program \S+ (\d{1,6}) ")


def _lines(raw: bytes) -> list[tuple[str, str]]:
    """The script's own lines, each with what a program printed that it tells of."""
    lines: list[tuple[str, str]] = []
    at = 0
    while at < len(raw):
        end = raw.find(b"\n", at)
        end = len(raw) if end < 0 else end
        line = raw[at:end]
        at = end + 1
        program = _PROGRAM.match(line)
        size = int(program[1]) if program else 0
        lines.append((line.decode("utf-8", "replace"), raw[at : at + size].decode("utf-8", "replace")))
        at += size + 1 if program else 0
    return lines


def _program(label: str, path: str, said: str) -> Program:
    """What it printed ends in its exit code; without it the answer was cut."""
    text, _, last = said.rpartition("\nexit ")
    return Program(label, path, int(last), text) if last.isdigit() else Program(label, path, None, said)
