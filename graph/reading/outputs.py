"""Results: which files of the job are brought back."""

from __future__ import annotations

import re
from contextlib import suppress

from pydantic import ValidationError

from dragoman.request import InputFile, OutputFile
from graph.reading.draft import Draft
from graph.reading.file_facts import with_facts
from graph.reading.file_names import FILE, LIST, last_part, names_of

__all__ = ["read_outputs", "take_outputs"]

OUTPUT = (
    rf"(?<![\w-])(?:out ?: ?|(?:the )?(?:results?|outputs?|files?) to (?:bring|copy|send|fetch|get) back(?=[: ])"
    rf"|(?:the |its |my |and ){{0,6}}(?:results?|outputs?|files?(?= (?:that |which )?(?:are )?to be))(?: files?| data)?"
    rf"(?: (?:(?:that|which) (?:is|are) )?to be (?:brought|sent|copied|transferred|returned|fetched)(?: back"
    rf"| home)?)?(?: ?(?:is|are|will be"
    rf"|go(?:es)?|end up|written|wanted|land))?(?: ?(?:in|to|into|at))?:? ?=? ?"
    rf"|what (?:i|we) (?:(?:would )?(?:like|want|need|wish|have|hope)(?: to)? )(?:(?:get|have|see"
    rf"|receive)(?: back)? |back )?"
    rf"(?:is|are|back is|back are):? ?"
    rf"|(?:writes?|produces?|creates?|generates?|saves?|bring(?:s)?(?: me| us)? back|send (?:me|us)(?: back)?"
    rf"|copy back|copy home|fetch"
    rf"|return|retrieve|collect|download"
    rf"|send back|get back|i want|want|give me)"
    rf":? (?:back )?(?:the |me |its |all |every |each |file |everything |anything |that |which |match(?:es|ing)? "
    rf"|named |called "
    rf"|results? |outputs? |files? |to |in |into )*)(?<![a-z]){LIST}(?: back)?"
)
_MOVED_BACK = r"(?:brought|sent|copied|transferred|returned|fetched|downloaded|collected|retrieved|kept)"
OUTPUT_AROUND = (
    rf"(?<![\w/.-])(?:please )?(?:bring|send|get|copy|fetch|ship|move) (?:me |us |the |all |files? "
    rf"|results? )*{LIST} (?:back|home)"
    r"(?: to (?:me|us|my \w+|our \w+))?(?: when (?:it is |it's )?(?:done|finished))?(?![\w-])"
)
OUTPUT_PASSIVE = (
    rf"(?<![\w/.-])(?:(?:the|all|files?|results?|outputs?|matching|named|called) )*\(?{LIST}\)?(?: files?| results?)? "
    rf"(?:(?:should|must|shall|has to|have to|needs? to) come|(?:is|are|should be|must be|shall be|has to be|have to be"
    rf"|needs? to be|to be) (?:to be )?{_MOVED_BACK})(?: back| home)?(?![\w-])"
)
OUTPUT_NAMED = (
    rf"(?<![\w/.-])(?:(?:we|i|you) (?:will |should )?(?:expect|want|get|need|keep) )?(?:the |an? )?(?:file )?{LIST},? "
    r"(?:as|is|are|being) (?:an? |the |our |my |its )?(?:final |expected |main |only )?(?:results?|outputs?)"
    r"(?: files?)?(?![\w-])"
)
OPTIONAL = (
    rf"(?<![\w-])(?:and |also |,? ?)?(?:if (?:it|they|there|any|one)?(?: is| are)? ?(?:exists?|present|there"
    rf"|available|written)"
    rf"|optionally|where (?:it|they) exists?),? (?P<files>[\"'`]?(?>{FILE})[\"'`]?)"
    rf"|(?<![\w/.-])(?P<files2>(?>{FILE}))[\"'`]?,? \(?(?:if (?:it|they)? ?(?:exists?|is there|is written)"
    rf"|if (?:present|any|there)"
    rf"|optional)\)?(?![\w-])"
)


def read_outputs(draft: Draft) -> None:
    """Find results (`results in out.dat`, `bring back *.csv`)."""
    for match in (
        found for rule in (OUTPUT_AROUND, OUTPUT, OUTPUT_PASSIVE, OUTPUT_NAMED) for found in draft.line.find(rule)
    ):
        take_outputs(draft, match)
    if "outputs" in draft.fields:
        _optional_outputs(draft)


def _optional_outputs(draft: Draft) -> None:
    """`bring back a.dat and, if it exists, b.log`."""
    for match in draft.line.find(OPTIONAL):
        for name in names_of(draft, *match.span("files" if match["files"] else "files2")):
            with suppress(ValidationError):
                draft.add("outputs", OutputFile(pattern=name.removeprefix("./"), required=False), *match.span())


def take_outputs(draft: Draft, match: re.Match[str]) -> None:
    """State the files of a match as results; what cannot be one is told back."""
    names = names_of(draft, *match.span("files"))
    if match[0].startswith(("fetch", "retrieve", "collect", "download")) and all("://" in name for name in names):
        for name in names:
            item = InputFile(source=name, name=last_part(name))
            draft.add("inputs", with_facts(draft, item, match.end()) if len(names) == 1 else item, *match.span())
        return
    for name in names:
        pattern = name.removeprefix("./")
        try:
            draft.add("outputs", OutputFile(pattern=pattern), *match.span())
        except ValidationError:
            draft.unread.append(draft.words(*match.span()))
            draft.line.claim(*match.span())
