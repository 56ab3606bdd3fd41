"""A script that was handed in as a request, for the scheduler of the site that takes it.

Dragoman writes directives itself and starts the body where inputs lie and results are left, so that only words of the
body are translated: its variables and launchers. Where it was submitted is, to the body, where it starts.
"""

from __future__ import annotations

from dataclasses import replace

from dragoman.errors import UnknownName
from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.schedulers.script_words import Kept, ScriptWords
from providers.translation.body import translate_body
from providers.translation.given import Given
from providers.translation.launchers import apply_edits
from providers.translation.translate import dialect_named, words_of

__all__ = ["foreign_words", "options_for", "script_for", "without_foreign_words"]


def script_for(script: str, request: JobRequest, scheduler: str) -> str:
    """The script for a scheduler; as it is, where it is that scheduler's own, or whose it is was not said.

    What has no equivalent stands in comments at its beginning.

    Args:
        script: with its first line, where it has one.
        request: what its directives said.
        scheduler: the site's dialect.

    """
    source = request.script_dialect
    if source is None or source == scheduler:
        return script
    try:
        read, written = words_of(dialect_named(source)), words_of(dialect_named(scheduler))
    except UnknownName:
        return script
    if read is None or written is None:
        return script
    first, newline, rest = script.partition("\n")
    body = rest if first.startswith("#!") else script
    interpreter = first[2:].strip() if first.startswith("#!") else "/bin/sh"
    kept = Kept(name=request.name, interpreter=interpreter)
    bare = request.model_copy(update={"environment": ()})
    given = Given(read, _ours(read, written), bare, kept, array=request.array is not None, shield=False)
    made = translate_body(body, given)
    changed = apply_edits(body, made.edits)
    before = [line for line, _ in made.before]
    lost = [f"{remark.words}: {remark.why}" for remark in made.remarks if remark.kind == "lost"]
    left = set(request.native_options) - set(options_for(request, scheduler))
    lost += [f"{option}: {written.title} does not know it" for option in request.native_options if option in left]
    lost += foreign_words(request, scheduler).values()
    told = [f"# not translated from {read.title}: {' '.join(words.split())[:300]}" for words in lost]
    head = f"{first}{newline}" if first.startswith("#!") else ""
    return head + "".join(f"{line}\n" for line in (*told, *before)) + changed


def options_for(request: JobRequest, scheduler: str) -> tuple[str, ...]:
    """Options of one scheduler alone: none of another's script, which would not be understood."""
    source = request.script_dialect
    if source is None or source == scheduler:
        return request.native_options
    try:
        read = words_of(dialect_named(source))
    except UnknownName:
        return request.native_options
    return request.native_options if read is not None and scheduler in read.related else ()


def foreign_words(request: JobRequest, scheduler: str) -> dict[str, str]:
    """What a script of another scheduler says that means nothing, or something else, to this one: field to why.

    What a person has said about a field since is theirs, and counts.
    """
    source = request.script_dialect
    if source is None or source == scheduler:
        return {}
    try:
        read, written = words_of(dialect_named(source)), words_of(dialect_named(scheduler))
    except UnknownName:
        return {}
    if read is None or written is None or scheduler in read.related:
        return {}  # a script of PBS is not told from one of Torque
    found: dict[str, str] = {}
    ids = [one.job_id for one in request.dependencies if one.job_id is not None]
    if ids:
        found["dependencies"] = (
            f"the script waits for {read.title}'s job {', '.join(ids[:10])}, which {written.title} does not know"
            " (name the job of this site, or take the dependency out)"
        )
    for kind, shapes in (("shapes", request.shapes), ("components", request.components)):
        for place, shape in enumerate(shapes):
            if shape.constraint is not None and read.conditions_in != written.conditions_in:
                found[f"{kind}.{place}.constraint"] = (
                    f"the script says what a node must be in words of {read.title}'s site ({shape.constraint[:200]}),"
                    f" which mean nothing to {written.title} (say it in this site's words, or take it out)"
                )
    theirs = {one.field for one in request.sources if one.origin != "script"}
    return {field: why for field, why in found.items() if field not in theirs}


def without_foreign_words(request: JobRequest, scheduler: str) -> JobRequest:
    """The request as far as this scheduler understands its words; the others are told by `foreign_words`."""
    foreign = foreign_words(request, scheduler)

    def known(kind: str, shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
        return tuple(
            shape.model_copy(update={"constraint": None}) if f"{kind}.{place}.constraint" in foreign else shape
            for place, shape in enumerate(shapes)
        )

    return request.model_copy(
        update={
            "shapes": known("shapes", request.shapes),
            "components": known("components", request.components),
            "dependencies": tuple(
                one for one in request.dependencies if one.job_id is None or "dependencies" not in foreign
            ),
            "native_options": options_for(request, scheduler),
        }
    )


def _ours(read: ScriptWords, written: ScriptWords) -> ScriptWords:
    """The target's words for a body that we start: in its work directory, with the index of its task."""
    variables = {meaning: names for meaning, names in written.variables.items() if meaning != "submit_dir"}
    if written.first_index is not None:
        variables["task"] = ("DRAGOMAN_TASK",)
    return replace(
        written,
        variables=variables,
        expressions={**written.expressions, "submit_dir": "$PWD"},
        starts_in=read.starts_in,
        first_index=None,
    )
