"""From launchers and their words to MPI libraries, and the verbs that all probes of them have."""

from __future__ import annotations

import posixpath
import shlex

from dragoman.facts import MpiLibraries, MpiLibrary, Presence
from dragoman.observation import Answer
from providers.probes.base import Ask, ProbeVerb, Results, brief, presence_from
from providers.probes.parallel.identify import HYDRA, Told, identify
from providers.probes.parallel.launchers import Folder, Program, Survey, survey, survey_of
from providers.verbs import LIBRARIES, NoArguments

__all__ = ["find_libraries", "library_verbs"]

OF_HYDRA = ("mpich", "mvapich")
LAUNCHERS = (
    "mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra",
)  # fmt: skip


def library_verbs(
    implementation: str,
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, MpiLibraries]]:
    """`probe` and `libraries` of one implementation."""

    def parse(_: NoArguments, results: Results) -> Answer[MpiLibraries] | Ask:
        seen = survey_of(results, "survey")
        if isinstance(seen, Answer):
            return seen
        libraries, doubts = find_libraries(seen)
        mine = tuple(each for each in libraries if each.implementation == implementation)
        if mine:
            return Answer[MpiLibraries].ok(MpiLibraries(libraries=mine))
        reasons = [reason for candidates, reason in doubts if implementation in candidates or not candidates]
        if reasons:
            return Answer[MpiLibraries].unknown(reasons[0])
        return Answer[MpiLibraries].absent(f"no launcher here says that it is of {implementation}")

    verb: ProbeVerb[NoArguments, MpiLibraries] = ProbeVerb(
        LIBRARIES, lambda _, paths: Ask(commands={"survey": survey(paths)}), parse
    )
    return presence_from(verb, _presence), verb


def _presence(facts: MpiLibraries) -> Presence:
    first = facts.libraries[0]
    versions = ", ".join(dict.fromkeys(each.version or "version unknown" for each in facts.libraries))
    return Presence(version=first.version, path=first.path, detail=versions if len(facts.libraries) > 1 else "")


Doubts = list[tuple[tuple[str, ...], str]]
"""Of which implementations something may be there unseen (none: of any), and why."""


def find_libraries(seen: Survey) -> tuple[list[MpiLibrary], Doubts]:
    """The libraries, each once, and what stays in doubt."""
    libraries: list[MpiLibrary] = []
    doubts: Doubts = []
    for folder in seen.folders:
        told = [(program, identify(program)) for program in folder.programs]
        doubts += [((), f"{one.path}: {_words(one)}") for one, answer in told if answer is None]
        libraries += _of_folder(folder, [(one, answer) for one, answer in told if answer is not None], doubts)
    for version, fabrics in seen.cray:
        if not any(each.implementation == "cray-mpich" and each.version == version for each in libraries):
            libraries.append(_cray(version, fabrics, seen))
    return libraries, doubts


def _of_folder(folder: Folder, told: list[tuple[Program, Told]], doubts: Doubts) -> list[MpiLibrary]:
    found: dict[str, Told] = {}
    for _, answer in told:
        if answer.implementation not in (HYDRA, "other"):
            known = found.get(answer.implementation)
            found[answer.implementation] = Told(
                answer.implementation,
                (known.version if known else None) or answer.version,
                known.fabrics if known and known.fabrics is not None else answer.fabrics,
            )
    hydra = [one for one, answer in told if answer.implementation == HYDRA]
    if hydra and not set(OF_HYDRA) & found.keys():
        doubts.append((OF_HYDRA, f"{hydra[0].path} is Hydra, which does not tell whose library it starts"))
    libraries: list[MpiLibrary] = []
    for name, answer in found.items():
        launcher = _launcher(folder, name, told)
        libraries.append(
            MpiLibrary(
                implementation=name, version=answer.version, launcher=launcher, fabrics=answer.fabrics,
                load=_load(folder), path=folder.path,
            )
        )  # fmt: skip
    return libraries


def _launcher(folder: Folder, name: str, told: list[tuple[Program, Told]]) -> str | None:
    """The launcher of that library: by its name where the folder is on the PATH, else by its path."""
    mine = (name, HYDRA) if name in OF_HYDRA else (name,)
    paths = {one.name: one.path for one, answer in told if answer.implementation in mine}
    first = next((paths[label] for label in LAUNCHERS if label in paths), None)
    return None if first is None else posixpath.basename(first) if folder.on_path else first


def _load(folder: Folder) -> tuple[str, ...]:
    if folder.on_path:
        return ()
    setup = next((path for path in folder.beside if path.endswith("/env/vars.sh")), None)
    if setup is not None:
        return (f". {shlex.quote(setup)}",)
    lines = [f'export PATH={shlex.quote(folder.path)}:"$PATH"']
    library = next((path for path in folder.beside if path.endswith(("/lib", "/lib64"))), None)
    if library is not None:
        lines.append(f'export LD_LIBRARY_PATH={shlex.quote(library)}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"')
    return tuple(lines)


def _cray(version: str, fabrics: tuple[str, ...], seen: Survey) -> MpiLibrary:
    """Programs are linked with it; what starts them belongs to the workload manager."""
    load = () if version == seen.cray_active else (f"module load {shlex.quote(f'cray-mpich/{version}')}",)
    return MpiLibrary(
        implementation="cray-mpich", version=version, launcher=seen.starters[0] if seen.starters else None,
        fabrics=fabrics or None, load=load, path=f"{seen.cray_root}/{version}",
    )  # fmt: skip


def _words(program: Program) -> str:
    if program.rc is None:
        return "was cut short"
    if program.rc == 124:
        return "gave no answer within 8 s"
    return f"exit {program.rc}: {brief(program.text) or 'no words'}"
