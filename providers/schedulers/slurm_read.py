"""A script for sbatch, read back as a request.

Nothing is dropped silently: an option is turned into a word of ours, kept as a native option (and listed in
`not_carried`, because another scheduler will not know it), listed in `not_carried` alone where it is ours to decide
(output files, mail, working directory), or is a problem with its line and cure. Slurm's own defaults of meaning are
kept: `--mem` and `--gres` are per node, `--gpus` is for the whole job, `--time=30` is minutes, a later option wins.
"""

from __future__ import annotations

import re

from dragoman.protocols import ScriptReading
from providers.schedulers.directives import Directive, split_words
from providers.schedulers.script_draft import OUR_NAME, ScriptDraft
from providers.schedulers.slurm_fields import JOB_FIELDS, SHAPE_FIELDS, Taken, Unreadable
from providers.schedulers.slurm_options import Option, take_options

__all__ = ["read_slurm_script"]

_OURS = frozenset({"output", "error", "chdir", "open-mode", "mail-type", "mail-user", "comment", "input"})
"""Options whose purpose we fulfil ourselves."""
_GPU_OPTIONS = frozenset({"gpus", "gpus-per-node", "gpus-per-task", "gres"})
_NO_JOB = frozenset(
    {"wrap", "test-only", "wait", "parsable", "help", "usage", "version", "quiet", "verbose", "bcast", "export-file"}
)


class _Draft(ScriptDraft):
    """With the option that each component's GPUs were read from."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "Slurm", "#SBATCH")
        self.gpus_from: dict[int, str] = {}

    def key(self, name: str) -> str:
        """Of an option in the component at hand."""
        return f"{self.component} {name}"


def read_slurm_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = _Draft(text)
    for directive in draft.parts.directives:
        words, wrong = split_words(directive.text)
        if wrong:
            draft.problem(directive, wrong)
            continue
        for option in take_options(words):
            _take(draft, option, directive)
    return draft.finish()


def _take(draft: _Draft, option: Option, directive: Directive) -> None:
    name, value = option.name, option.value
    if option.problem:
        draft.problem(directive, option.problem)
    elif name == "hetjob":
        draft.begin_component(directive, option.written)
    elif name in SHAPE_FIELDS:
        _take_shape(draft, option, directive)
    elif name in JOB_FIELDS and draft.component == 0:
        _take_job(draft, option, directive)
    elif name in _OURS:
        if not (name == "mail-type" and (value or "").upper() == "NONE"):
            draft.ours(option.written, draft.key(name))
    elif name in _NO_JOB:
        draft.ours(option.written, draft.key(name))
        draft.note(directive, f"--{name} has no place in a job script and is left out")
    else:
        _keep_native(draft, option, directive)


def _take_shape(draft: _Draft, option: Option, directive: Directive) -> None:
    try:
        taken = SHAPE_FIELDS[option.name](option.value or "")
    except Unreadable as error:
        draft.problem(directive, f"--{option.name}: {error}")
        return
    draft.forget(draft.key(option.name))
    for native in taken.native:
        _keep_native(draft, option._replace(value=native.partition("=")[2] or None), directive)
    if option.name in _GPU_OPTIONS and not _gpus_may_be_set(draft, option, taken, directive):
        return
    draft.set_shape(directive, option.written, **taken.fields)
    if taken.note:
        draft.note(directive, taken.note)


def _gpus_may_be_set(draft: _Draft, option: Option, taken: Taken, directive: Directive) -> bool:
    """Two options may speak of GPUs: the later one replaces the same option's earlier word, never the other's."""
    before = draft.gpus_from.get(draft.component)
    if before is not None and before != option.name:
        if taken.fields:
            _keep_native(draft, option, directive)
            draft.note(directive, f"--{option.name} comes beside --{before}: it is kept for Slurm only")
        return False
    if before is not None:
        draft.shape.pop("gpus", None)
    if taken.fields:
        draft.gpus_from[draft.component] = option.name
    return True


def _take_job(draft: _Draft, option: Option, directive: Directive) -> None:
    value = option.value or ""
    try:
        taken = JOB_FIELDS[option.name](OUR_NAME.split(value)[0] if option.name == "job-name" else value)
    except Unreadable as error:
        draft.problem(directive, f"--{option.name}: {error}")
        return
    draft.forget(draft.key(option.name))
    if taken.native:
        _keep_native(draft, option, directive)
    draft.unsay(*taken.clears)
    draft.set(directive, option.written, **taken.fields)
    if taken.note:
        draft.note(directive, taken.note)


def _keep_native(draft: _Draft, option: Option, directive: Directive) -> None:
    text = f"--{option.name}" + (f"={_quoted(option.value)}" if option.value is not None else "")
    text = text if not draft.component else f"hetjob {draft.component} {text}"
    draft.native(text, draft.key(option.name), said=option.written)
    if not option.known:
        draft.note(directive, f"--{option.name} is not sbatch's own: a plugin of the site has to know it")
    if draft.component and option.name in JOB_FIELDS:
        draft.note(directive, f"--{option.name} of component {draft.component} is kept for Slurm only")


def _quoted(value: str) -> str:
    if re.fullmatch(r"[\w\-.,:;=+@/%\[\]*^~()&|<>]*", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
