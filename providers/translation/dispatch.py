"""A script that was handed in as a request, for the scheduler of the site that takes it.

Dragoman writes directives itself and starts the body where inputs lie and results are left, so that only words of the
body are translated: its variables and launchers. Where it was submitted is, to the body, where it starts.
"""

from __future__ import annotations

from dataclasses import replace

from dragoman.errors import UnknownName
from dragoman.request import JobRequest
from providers.schedulers.script_words import Kept, ScriptWords
from providers.translation.body import translate_body
from providers.translation.given import Given
from providers.translation.launchers import apply_edits
from providers.translation.translate import dialect_named, words_of

__all__ = ["options_for", "script_for"]


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
    told = [
        f"# not translated from {read.title}: " + " ".join(f"{remark.words}: {remark.why}".split())[:300]
        for remark in made.remarks
        if remark.kind == "lost"
    ]
    head = f"{first}{newline}" if first.startswith("#!") else ""
    return head + "".join(f"{line}\n" for line in (*told, *before)) + changed


def options_for(request: JobRequest, scheduler: str) -> tuple[str, ...]:
    """Options of one scheduler alone: none of another's script, which would not be understood."""
    source = request.script_dialect
    if source is None or source == scheduler:
        return request.native_options
    read = words_of(dialect_named(source))
    return request.native_options if read is not None and scheduler in read.related else ()


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
