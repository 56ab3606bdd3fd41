"""Which of the words that no rule understood are a remark (what it is for, who waits for it), and not a requirement.

A remark does not hold a request up: it is named, and whoever approves sees it. Whatever could ask a site for something
is no remark: a number, a name, a word of the field or one a slip away from it, a word that turns a sentence round, and
what is needed, used or had (`with hugepages`, `a fast node`).
"""

from __future__ import annotations

import re

from graph.reading.draft import Draft
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, PADDING
from graph.reading.line import one_off

__all__ = ["is_remark"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MOST_WORDS = 4
_PLAIN = re.compile(r"(?=...)[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_TURNS = _words("""
    against allow already also at_least beyond bigger called cannot despite else equal faster fewer
    greater higher however instead larger later less longer lower maximum minimum more most never
    newer nobody nor nothing older only possible same separate shorter slower smaller unlike
""")
_FIELD = _words("""
    allowed array arrays bandwidth billing budget card cards charge charged chip chips compiler
    compiled constraint container containers cluster cost costs cuda data dedicated dependency
    device devices directory disk download driver drivers email exclusive exclusively export fabric
    fast fat feature features firewall file files filesystem folder free heterogeneous hold home
    host hosts hyperthreading image images interconnect internet kernel key latency libraries
    library licence license licensed local login mail module modules money mount mounted mpi network
    notify offline online open operating password permission port premium price priority private
    processor quota reservation reserved root scratch secure server servers service shared site
    sites slurm pbs torque lsf sge oar kubernetes htcondor socket spend storage token user volume
    webhook workers
""")
_VOWEL = re.compile("[aeiouyäöüàâéèêëîïôûœ]")
"""A word without any is short for something technical (`nccl`)."""
_SUFFIXES = ("-installed", "-enabled", "-capable", "-only", "-free")
_NEAR = frozenset(word for word in KEYWORDS | _FIELD if len(word) >= 4)
_NEEDED_BEFORE = re.compile(
    r"(?:^|[^\w-])(?:with|need|needs|needed|needing|require|requires|required|requiring|use|uses|used|using|via|have"
    r"|has|having|on|under|without|no|not|from|by|must|should|want|wants|install|installed|support|supports"
    r"|provide|provides|run|runs|running|launch|start|execute|called|named|name|per|each|every"
    r"|[:=])(?: (?:a|an|the|any|some|our|my|your|of|in|be|its|very|really|also|enough)){0,2} ?$"
)
_OUR_OWN = re.compile(r"(?<![\w-])(?:run|runs|running|launch|start|execute) (?:my|our|the|his|her|their) $")
_NEEDED_AFTER = re.compile(
    r" ?(?:[:=\d]|(?:is|are|must|should|needs?|has|have|be|been|also|already|to|do|does) (?:\w+ ){0,2}?(?:required"
    r"|needed|installed|available|present|mandatory|there|loaded|enabled|running)"
    r"|(?:required|needed|installed|available|mandatory|enabled|only|containers?|file ?systems?|networks?"
    r"|fabrics?|librar(?:y|ies)|compilers?|modules?|packages?|images?|nodes?|gpus?|cards?|queues?|partitions?"
    r"|licen[cs]es?|memory|versions?|processors?|cpus?|cores?|sites?|clusters?|machines?|licensed)(?![\w-]))"
)


def is_remark(draft: Draft, start: int, end: int) -> bool:
    """Whether the words of a stretch of the normal form ask for nothing, in a request whose work is known.

    Args:
        draft: with every rule's findings.
        start: of the words, in the normal form.
        end: of the words.

    """
    if not {"command", "software", "script", "recipe"} & draft.fields.keys():
        return False
    written = draft.line.words(start, end).strip(" .:'`-").split()
    if not 0 < len(written) <= _MOST_WORDS or not all(_PLAIN.fullmatch(word.strip(".,:;'`")) for word in written):
        return False
    if any(_can_ask(word.strip(".,:;'`")) for word in (*written, *draft.line.norm[start:end].split())):
        return False
    if draft.line.foreign and any(word == word.lower() for word in written):
        return False  # the words of the field are known in English only; German writes what it is for in capitals
    if not draft.line.foreign and any(word != word.lower() for word in written[1:]):
        return False
    if written[0] != written[0].lower() and not (draft.line.foreign or _begins(draft, start)):
        return False
    before, after = draft.line.norm[max(0, start - 60) : start], draft.line.norm[end : end + 60]
    ours = "command" in draft.fields and _OUR_OWN.search(before) is not None
    counted = re.search(r"\d[\w.,]* ?$", draft.line.open[max(0, start - 24) : start]) is not None
    return not counted and (ours or _NEEDED_BEFORE.search(before) is None) and _NEEDED_AFTER.match(after) is None


def _can_ask(word: str) -> bool:
    low = word.lower()
    return (
        low in _TURNS or low in _FIELD or low in KEYWORDS or low in FUNCTION_WORDS or "n't" in low
        or low.endswith(_SUFFIXES) or (word == low and _VOWEL.search(low) is None)
        or (len(low) >= 4 and low not in PADDING and any(one_off(low, other) for other in _NEAR))
    )  # fmt: skip


def _begins(draft: Draft, start: int) -> bool:
    """Whether a sentence or a line begins here, so that a capital says nothing."""
    before = draft.line.text[: draft.line.span(start, start + 1)[0]].rstrip(" \t-*•")
    return not before or before[-1] in ".!?\n"
