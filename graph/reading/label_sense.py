"""Labels of people's own invention (`ranks on each of them: 40`, `ceiling on time: 16 h`), by their words.

A label is known where one of its words names a field, all others only fill in, and the value is of that field's kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.reading.final_command import is_command_line
from graph.reading.lexicon import NUMBER_WORDS

__all__ = ["sense_of"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILLING = _words(
    """
    the a an of for on in to at it its that this these those them which who is are be must should shall will has have
    we i you our my me us all how many much what number count amount no nr total overall altogether max maximum most
    min minimum least limit upper lower bound ceiling cap up needed need required requested wanted want please job
    jobs run runs running task's here there whole one every each exactly own to-be used use using asked allowed
    expected estimated est may can could would from with by as into onto and size value please wish desired planned
    """
)
_NAME = (
    r"[\"'`]?(?!(?:any|all|default|i|it|me|mine|n/a|no|none|our|ours|same|tbd|this|us|we|yes"
    r"|you)\b)[A-Za-z0-9][\w@.-]*[\"'`]?(?: (?:please|only))?"
)
_COUNT = rf"(?:about |exactly |at (?:least|most) |up to )?(?:\d{{1,7}}|\d{{1,3}}(?:,\d{{3}})+|{'|'.join(NUMBER_WORDS)})"
_HERE = rf"{_COUNT}(?: (?:of them|in all|in total|altogether|each|please|only))?"
_TIME = (
    r"(?:about |at most |max\.? |up to |under |< ?|~ ?)?(?:\d[\d.,]*[ -]?(?:d|h|m|s|days?|hours?|hrs?|h\d+|min"
    r"(?:ute)?s?"
    r"|sec(?:ond)?s?|weeks?)(?![\w]).*|\d{1,3}(?:-\d{1,2})?:\d\d:\d\d.*|(?:an?|half|one|two|three|four|five|six"
    r"|seven|eight"
    r"|nine|ten|twelve|a quarter|three quarters)[ -](?:of an |an |a )?(?:hours?|days?|minutes?|weeks?).*)"
)
_SIZE = (
    r"(?:about |at least |min\.? |>=? ?|~ ?)?\d[\d.,]* ?(?:[kmgtp]i?b?|gigs?|gigabytes?|terabytes?"
    r"|megabytes?)(?![\w]).*"
)
_FILES = r"[\"'`]?[\w*~./][\w.*?/@{},\[\]+-]*(?:\.\w+|/|\*)[\"'`]?(?:(?:,| and| &) ?.*)?"
_PROGRAM = r"[\"'`].*|(?:\.{0,2}|~)/\S.*"
_PER = re.compile(
    r"(?:(?: |-)(?:per|for (?:each|every|one|a|the)|on (?:each|every|one|a)|in (?:each|every|one|a)|of (?:each|every"
    r"|one|a)"
    r"|to (?:each|every|a)|each|every|an?|at (?:each|every))|/)(?: |-)?(?:one )?(?:of )?(?:the |these |those )?"
    r"(?:mpi |compute )?(?P<per>nodes?|hosts?|machines?|box(?:es)?|servers?|tasks?|ranks?|process(?:es)?|cores?|cpus?"
    r"|gpus?|cards?|them|these|those)$"
)
_OF_WHAT = {
    **dict.fromkeys(("node", "host", "machine", "box", "server", "them", "these", "those"), "node"),
    **dict.fromkeys(("task", "rank", "process"), "task"), "core": "core", "cpu": "core", "gpu": "gpu", "card": "gpu",
}  # fmt: skip
_LEAST = _words("min minimum least lower")
_MOST = _words("max maximum most limit upper ceiling cap bound")
_STOPS = _words("abort give kill killed quit stop")


@dataclass(frozen=True, slots=True)
class _Sense:
    """A field by its label: words that name it, words that fill in beside them, and its values."""

    norm: str
    heads: frozenset[str]
    value: str
    more: frozenset[str] = frozenset()
    per: tuple[str, ...] = ()
    """What it can be counted per."""


_SENSES = (
    _Sense("deadline:", _words("deadline due finished ready done complete completed delivered latest back"), r".*\d.*",
           _words("end finish before until time date results result needed by")),
    _Sense("start after", _words("earliest"), r".*\d.*", _words("start begin starting time date not before")),
    _Sense("start after", _words("not before"), r".*\d.*", _words("start begin starting time date earlier than"
    " sooner")),
    _Sense("output:", _words("output outputs result results back return returned fetch retrieve keep collect"
    " save"),
           _FILES, _words("home file files comes come bring brought take taken get sent send kept afterwards end"
           " data")),
    _Sense("input:", _words("input inputs"), _FILES, _words("file files data deck decks needs takes reads")),
    _Sense("input:", _words("reads needs stage data"), _FILES, _words("file files set sets")),
    _Sense("local disk:", _words("local scratch disk ssd nvme"), _SIZE,
           _words("local free space node's node nodes disk drive storage tmp temporary on-node")),
    _Sense("gpu model:", _words("gpu gpus card cards accelerator accelerators graphics"),
           r"(?:nvidia |amd )?[a-z]{1,4}[ -]?\d{1,4}\w{0,4}(?:[ -]\d+ ?gi?b)?",
           _words("kind type model sort flavour flavor make sorts types brand cards card")),
    _Sense("memory", _words("memory mem ram"), _SIZE, _words("main host system cpu node nodes"),
           ("node", "task", "core", "gpu")),
    _Sense("walltime:", _words(
        "longest walltime wallclock runtime time duration length long stopwatch clock hours lasts takes stop kill"
        " killed"
        " run-time wall-time wall-clock running-time give abort quit"), _TIME,
        _words("wall clock run-length after takes take computing compute execution elapsed ends than longer no not"
               " more over long running about does")),
    _Sense("queue:", _words("queue partition"), _NAME, _words("goes go put which sits submit name class choice"
    " preferred favourite favorite first")),
    _Sense("account:", _words("account project allocation grant pays payer charge charged bill billed paying billing"
                              " proj prj acct debit debited"), _NAME,
           _words("goes go pays pay name code id cost costs compute money who")),
    _Sense("tasks", _words("ranks tasks processes procs rank task process"), _HERE, _words("mpi parallel"),
           ("node", "gpu")),
    _Sense("cores", _words("cores core cpus cpu processors"), _HERE, _words("cpu physical"), ("node", "task")),
    _Sense("threads", _words("threads thread"), _HERE, _words("omp openmp"), ("task", "node")),
    _Sense("gpus", _words("gpus gpu accelerators cards"), _HERE, _words("cards graphics"), ("node", "task")),
    _Sense("fabric:", _words("fabric network interconnect net"), r"(?:hdr|ndr|edr|\d+ ?g(?:bit)?)? ?(?:infini-?band"
    r"|ib|omni"
           r"-?path|opa|slingshot|ethernet|roce).*", _words("between nodes node connecting")),
    _Sense("nodes:", _words("boxes hosts machines servers nodes"), _COUNT + r" (?:nodes?|machines?|hosts?)(?![\w]).*",
           _words("compute")),
    _Sense("nodes:", _words("nodes hosts machines boxes servers node host machine blades"), _HERE, _words("compute")),
    _Sense("command:", _words(
        "command cmd executable binary program exe payload invocation launch start call started launched executed"
        " execute start-line entry entrypoint"), _PROGRAM, _words("line point thing what runs run string does starts"
        " gets is to")),
    _Sense("command:", _words("what"), _PROGRAM, _words("runs run is to executed")),
)  # fmt: skip


def sense_of(label: str, value: str) -> str | None:
    """The known label that a label means, or None where it is not sure.

    Args:
        label: in lower case, with single blanks.
        value: what stands behind its sign.

    """
    per = _PER.search(f" {label}")
    of_what, head = "", label
    if per is not None:
        of_what, head = _singular(per["per"]), f" {label}"[: per.start()].strip()
    tokens = re.findall(r"[^\s/]+", head)
    for sense in _SENSES:
        if not sense.heads & set(tokens) or set(tokens) - sense.heads - sense.more - _FILLING:
            continue
        given = value.strip()
        command = sense.norm == "command:" and is_command_line(given)
        if not (command or re.fullmatch(sense.value, given.rstrip(".").lower())) or _bounds_it(sense, tokens):
            continue
        if of_what == "gpu" and sense.norm == "memory" and not {"host", "main", "system", "cpu"} & set(tokens):
            return None  # `memory on each card`
        if of_what:
            return f"{sense.norm} per {of_what}:" if of_what in sense.per else None
        return sense.norm if sense.norm.endswith((":", "after")) else _total(sense, tokens)
    return None


def _bounds_it(sense: _Sense, tokens: list[str]) -> bool:
    """Whether a label says something else of its field: the least time, the most nodes, an hour to stop at."""
    if sense.norm == "local disk:":
        return not {"local", "node", "nodes", "node's", "on-node"} & set(tokens)
    if sense.norm == "walltime:":
        return bool(_LEAST & set(tokens)) or (bool(_STOPS & set(tokens)) and "after" not in tokens)
    return sense.value == _HERE and bool((_LEAST | _MOST) & set(tokens))


def _total(sense: _Sense, tokens: list[str]) -> str:
    if sense.norm == "memory" and {"node", "nodes"} & set(tokens):
        return "memory per node:"
    whole = {"total", "overall", "altogether", "whole"} & set(tokens)
    return f"total {sense.norm}:" if whole and sense.norm == "memory" else f"{sense.norm}:"


def _singular(word: str) -> str:
    if word in ("boxes", "processes"):
        return _OF_WHAT[word.removesuffix("es")]
    return _OF_WHAT[word if word in _OF_WHAT else word[:-1]]
