"""Moab (msub): scripts only. Its directives are Torque's with another word in front, and it reads `#PBS` lines too."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from dragoman.protocols import ScriptReading
from providers.registry import register_dialect
from providers.schedulers.directives import clean_script, split_script
from providers.schedulers.pbs_read import read_pbs_script
from providers.schedulers.pbs_words import MOAB_WORDS
from providers.schedulers.script_words import ScriptWords
from providers.schedulers.scripts_only import ScriptsOnly

__all__ = ["MoabDialect"]


@register_dialect("moab")
class MoabDialect(ScriptsOnly):
    """Moab's dialect: reads scripts."""

    name = "moab"
    script_words: ClassVar[ScriptWords | None] = MOAB_WORDS

    def read_script(self, text: str) -> ScriptReading:
        """The request that a script makes, by Torque's rules."""
        lines = clean_script(text).split("\n")
        for directive in split_script(text, "#MSUB").directives:
            # As long as it was, so that places in the text stay right.
            lines[directive.line - 1] = "#PBS " + lines[directive.line - 1].removeprefix("#MSUB")
        reading = read_pbs_script("\n".join(lines))
        late = split_script(text, "#MSUB").ignored
        theirs = {f"line {one.line}: directives of another scheduler" for one in late}
        told = [note for note in reading.request.notes if note.partition(" are not read")[0] not in theirs]
        told += [
            f"line {one.line}: #MSUB{one.text[:200]} comes after the first command: Moab ignores it" for one in late
        ]
        request = reading.request.model_copy(update={"notes": tuple(told)})
        return replace(reading, request=request)
