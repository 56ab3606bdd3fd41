"""What the probes of container runtimes share: both verbs from one question, versions, tables of images."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest
from dragoman.facts import ContainerImage, ContainerRuntime, Presence
from dragoman.observation import Answer
from dragoman.units import parse_bytes
from providers.probes.base import Ask, Paths, ProbeVerb, Results, brief, no_answer, presence, question, where_is
from providers.verbs import CONTAINER_STATUS, NoArguments

__all__ = ["container_verbs", "decimal_bytes", "folder_images", "is_image_name", "table_images", "version_of"]

RUNTIMES: Mapping[str, str] = {
    "apptainer": "apptainer", "charliecloud": "ch-run", "docker": "docker", "enroot": "enroot", "podman": "podman",
    "sarus": "sarus", "shifter": "shifter", "singularity": "singularity",
}  # fmt: skip
"""Their programs, by the names of the providers."""

_WHERE = 'for one do command -v -- "$one" || echo; done'


def _where(paths: Paths) -> Command:
    """One question for all of them, so that it is put once however many are looked for."""
    return question(
        "/bin/sh", "-c", _WHERE, "sh", *(where_is(program, paths, key=key) for key, program in RUNTIMES.items())
    )


Verbs = tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, ContainerRuntime]]


def container_verbs(
    name: str, ask: Callable[[Paths], Ask], parse: Callable[[Results], Answer[ContainerRuntime] | Ask]
) -> Verbs:
    """`probe` and `status`. Whether it is there is told by its version alone: what is asked for use takes long."""

    def ask_presence(_: NoArguments, paths: Paths) -> Ask:
        whole = ask(paths)
        version = whole.commands.get("version")
        if version is None:
            return whole
        return Ask(commands={"version": version, "where": _where(paths)})

    def parse_presence(_: NoArguments, results: Results) -> Answer[Presence] | Ask:
        answer = parse(results)
        if isinstance(answer, Ask):
            return answer
        if answer.value is None:
            return Answer[Presence](outcome=answer.outcome, reason=answer.reason)
        where = results.done("where")
        lines = where.out.splitlines() if where is not None and where.rc == 0 and not where.truncated else []
        path = dict(zip(RUNTIMES, lines, strict=False)).get(name, "") if len(lines) == len(RUNTIMES) else ""
        light = where is not None
        return Answer[Presence].ok(
            Presence(
                version=answer.value.version,
                path=path if path.startswith("/") else None,
                detail="" if light else answer.value.reason,
            )
        )

    status: ProbeVerb[NoArguments, ContainerRuntime] = ProbeVerb(
        CONTAINER_STATUS, lambda _, paths: ask(paths), lambda _, results: parse(results)
    )
    return presence(ask_presence, parse_presence), status


def version_of(results: Results, name: str, pattern: str) -> tuple[str, Completed] | Answer[ContainerRuntime]:
    """What the first group of `pattern` finds in a command's output; or the answer where it does not tell."""
    trouble = no_answer(results, name)
    done = results.done(name)
    if trouble is not None or done is None:
        return trouble or Answer[ContainerRuntime].unknown(f"{name} was not asked")
    found = re.search(pattern, f"{done.out}\n{done.err}", re.MULTILINE)
    if done.rc != 0 or found is None:
        return Answer[ContainerRuntime].unknown(brief(done))
    return found[1], done


def decimal_bytes(text: object) -> int | None:
    """`77.8MB` as container tools write it; None for what is no size."""
    try:
        return parse_bytes(text) if isinstance(text, str) else None
    except BadRequest:
        return None


def folder_images(results: Results, paths: Paths) -> tuple[ContainerImage, ...] | None:
    """Image files (`.sif`, `.sqsh`, ...) in the folder `paths.images` of the site file; None where none is named."""
    folder = paths.get("images")
    if not folder:
        return None
    read = results.file(folder)
    if not read.folder:
        return None
    names = [name for name in read.names if name.endswith((".sif", ".simg", ".sqsh", ".img"))]
    return tuple(ContainerImage(name=name, path=f"{folder.rstrip('/')}/{name}") for name in names)


def table_images(
    results: Results, command: str, name: Callable[[list[str]], str | None], *, head: str = ""
) -> tuple[ContainerImage, ...] | None:
    """Images of a table, a line each. None where the table was not told, or where a line of it is none of an image.

    Args:
        results: what came back.
        command: whose output it is.
        name: makes an image's name of a line's words; empty: an image that is not at hand; None: no line of the table.
        head: the first word of the line above the table, where there is one; what stands before it is left out.

    """
    done = results.done(command)
    if no_answer(results, command) is not None or done is None or done.rc != 0:
        return None
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    if head:
        above = next((place for place, words in enumerate(lines) if words[0] == head), None)
        if above is None:
            return None
        lines = lines[above + 1 :]
    if not lines and done.err.strip():
        return None
    names = [name(words) for words in lines]
    if not all(each is not None and (not each or is_image_name(each)) for each in names):
        return None
    return tuple(ContainerImage(name=each) for each in dict.fromkeys(names) if each)


def is_image_name(text: str) -> bool:
    """Whether a text can name an image: other words stand between the lines of tables, too."""
    return re.fullmatch(r"[A-Za-z0-9_][\w./:@+%~-]*", text, re.ASCII) is not None
