"""A script for qsub (PBS or Torque), read back as a request (qsub(1B), pbs_resources(7B)).

One reader for both: PBS still takes Torque's `-l nodes=2:ppn=8`, and a script does not say which of them it is for.
What differs is told by the option: `-J` and `select` are PBS's, `-t` and `nodes` are Torque's.
"""

from __future__ import annotations

from dataclasses import replace

from dragoman.protocols import ScriptReading
from providers.schedulers.pbs_rows import qsub_table
from providers.schedulers.pbs_script import pbs_table
from providers.schedulers.pbs_select import read_chunks
from providers.schedulers.script_draft import ScriptDraft
from providers.schedulers.torque_script import TORQUE_TABLE

__all__ = ["read_pbs_script"]

_TABLE = qsub_table((*pbs_table().rows, *TORQUE_TABLE.rows))


def read_pbs_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "PBS", "#PBS")
    _TABLE.read(draft)
    read_chunks(draft)
    reading = draft.finish()
    _, shell = draft.deferred.get("-S", (None, None))
    return replace(reading, interpreter=shell.value.partition("@")[0]) if shell is not None else reading
