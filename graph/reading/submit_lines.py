"""Submit lines (`sbatch -N 4 job.sh`): they are the person's way to ask, never what the job itself runs.

Their options become directives and are read by the reader of that scheduler's scripts. A script that is named is not
opened: what it needs is asked.

Which options take a value: sbatch(1) and salloc(1) of Slurm, qsub(1B) of PBS and qsub(1) of Grid Engine, bsub(1) of
LSF, flux-batch(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dragoman.errors import BadRequest
from dragoman.protocols import ScriptReading
from graph.reading.lexicon import KEYWORDS

__all__ = ["SUBMITTERS", "ScriptReader", "Submitted", "is_flag", "is_submit_line", "read_submit_line", "submit_lines"]

ScriptReader = Callable[[str], ScriptReading]
SUBMITTERS = frozenset(
    ("sbatch", "salloc", "qsub", "msub", "bsub", "oarsub", "flux", "condor_submit", "ccc_msub", "pjsub")
)
_FLUX = frozenset(("batch", "alloc", "submit", "bulksubmit"))
_FOUND = re.compile(
    r"(?<![\w./-])(?:sbatch|salloc|qsub|msub|bsub|oarsub|condor_submit|ccc_msub|pjsub"
    r"|flux[ \t]+(?:batch|alloc|submit|bulksubmit))"
    r"(?=[ \t]+(?:-|<|[\"'.~/]|[\w./-]+\.\w))[^\n`]*"
)
_SHORT_FLAGS = {
    "sbatch": "HIkKOQsvVWX", "salloc": "HIkKOQsvVX", "qsub": "VIhzXfk", "msub": "VIhzX", "bsub": "xBNKIrH",
    "flux": "xvl", "oarsub": "IV",
}  # fmt: skip
"""Options of one letter that take no value."""
_LONG_FLAGS = frozenset(
    [
        *("--hold", "--wait", "--parsable", "--requeue", "--no-requeue", "--overcommit", "--contiguous", "--exclusive"),
        *(
            "--spread-job",
            "--test-only",
            "--quiet",
            "--verbose",
            "--oversubscribe",
            "--share",
            "--no-kill",
            "--use-min",
        ),
        *("--ignore-pbs", "--reboot", "--no-shell", "--nice", "--propagate", "--get-user-env", "--kill-on-invalid-dep"),
        *("-cwd", "-notify", "-Is", "-Ip", "-IS", "--unbuffered", "--dry-run", "--flags"),
    ]
)
_MARKS = {"sbatch": "#SBATCH", "salloc": "#SBATCH", "qsub": "#PBS", "msub": "#PBS", "bsub": "#BSUB", "flux": "#flux:"}
_GRID_ENGINE = frozenset(("-pe", "-cwd", "-b", "-j", "-now", "-tc", "-P", "-sync"))


@dataclass(slots=True)
class Submitted:
    """A submit line taken apart."""

    reading: ScriptReading | None = None
    command: tuple[str, ...] = ()
    """What is run without a script, or with `--wrap` where that needs no shell."""
    shell: str = ""
    """The line of `--wrap` where it needs a shell."""
    script: str = ""
    """The name of the script; empty: none is named."""
    tasks_by_flux: tuple[str, ...] = ()
    """`flux submit`: options with which `flux run` starts the same tasks."""
    left: list[str] = field(default_factory=list)
    """Why it could not be read."""


def is_submit_line(argv: Sequence[str]) -> bool:
    """Whether a command hands a job in instead of doing its work."""
    name = argv[0].rsplit("/", 1)[-1] if argv else ""
    return name in SUBMITTERS and (name != "flux" or (len(argv) > 1 and argv[1] in _FLUX))


def is_flag(word: str, name: str = "sbatch") -> bool:
    """Whether an option of a command that hands jobs in takes no value."""
    return word in _LONG_FLAGS or (len(word) == 2 and word[1] in _SHORT_FLAGS.get(name.split()[0], ""))


def submit_lines(text: str) -> list[tuple[int, int]]:
    """Where submit lines stand."""
    return [(found.start(), found.start() + _extent(found[0])) for found in _FOUND.finditer(text)]


_GOES_ON = frozenset("please thanks is was were are has had that which but so because instead again when".split())  # noqa: SIM905
"""Words that a sentence goes on with behind a submit line."""


def _extent(line: str) -> int:
    """End of a submit line within a sentence: a comma or semicolon before a blank, or a word of the sentence."""
    end, previous, handed = 0, "-", False
    for word in re.finditer(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+", line):
        after_option = previous.startswith("-") and "=" not in previous
        handed = handed or word[0] == "--"
        if end and not after_option and not handed and (word[0].lower() in KEYWORDS or word[0] in _GOES_ON):
            return end
        if re.match(r"\([a-z]", word[0]) and end and not handed:
            return end  # `(ls-dyna 12.2)`: what the sentence says of it
        if re.fullmatch(r"\.\.+|…|-{1,3}|–|—", word[0]) and end and not handed:  # noqa: RUF001  # as people type them
            return end
        end, previous = word.end(), word[0]
        sentence = re.search(r"[\w)]\.$", word[0]) and re.match(r"[ \t]+[A-Z][a-z]*[ ,]", line[end:])
        if word[0].endswith((",", ";", "...", "…")) or sentence:
            return end - len(re.search(r"[,;.…]+$", word[0])[0])  # type: ignore[index]  # it ends so
    return end - (line[end - 1 : end] in ("?", "!", "."))


def read_submit_line(line: str, reader: ScriptReader | None) -> Submitted:
    """What a submit line asks for and hands in; `left` says what was not understood."""
    found = Submitted()
    try:
        words = shlex.split(line)
    except ValueError:
        found.left.append("its quotes do not close")
        return found
    name = words[0]
    rest = words[2:] if name == "flux" else words[1:]
    options, wrap, rest = _options(name, rest)
    mark = _MARKS.get(name, "")
    if name == "qsub" and any(option.split()[0] in _GRID_ENGINE - {"-j", "-P"} for option in options):
        mark = "#$"
    if name == "condor_submit":
        found.left.append("what it hands in is no script")
        return found
    if any(sign in rest for sign in ("|", "&&", ";", ">", "||", "&")):
        found.left.append("it goes on as a shell line")
        return found
    if rest[:1] == ["<"]:
        rest = rest[1:]
        found.script = rest[0] if rest else ""
    elif wrap is not None:
        found.command, found.shell = _handed_in([wrap])
        found.left += ["it has words behind --wrap"] if rest else []
    elif (
        name in ("salloc", "bsub")
        or (name == "qsub" and "--" in words)
        or words[:2] in (["flux", "submit"], ["flux", "alloc"])
    ):
        found.command, found.shell = _handed_in(rest)
        if words[1] == "submit":
            found.tasks_by_flux = ("flux", "run", *words[2 : len(words) - len(rest)])
    elif words[:2] == ["flux", "bulksubmit"]:
        found.left.append("it hands in many jobs")
    else:
        found.script = rest[0] if rest else ""
        found.left += ["the script is given words of its own"] if len(rest) > 1 else []
    if not options:
        return found
    if reader is None or not mark:
        found.left.append("its options cannot be read here")
        return found
    try:
        found.reading = reader("#!/bin/sh\n" + "".join(f"{mark} {option}\n" for option in options) + "\n:\n")
    except BadRequest as error:
        found.left.append(error.what)
    return found


def _handed_in(rest: list[str]) -> tuple[tuple[str, ...], str]:
    """A command that is handed in, or a line for a shell: one word with blanks in it is a line (`bsub "./x -a"`)."""
    if len(rest) != 1 or re.fullmatch(r"\S*", rest[0]):
        return tuple(rest), ""
    simple = re.fullmatch(r"[\w./+=:,@% \t-]*", rest[0])
    return (tuple(rest[0].split()), "") if simple else ((), rest[0] + "\n")


def _options(name: str, rest: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Options, each with its value as one directive; the command of `--wrap`; and the words behind the options."""
    options: list[str] = []
    wrap: str | None = None
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "-":
        word = rest[at]
        if word == "--":
            return options, wrap, rest[at + 1 :]
        flag = word in _LONG_FLAGS or (len(word) == 2 and word[1] in _SHORT_FLAGS.get(name, ""))
        whole = "=" in word if word.startswith("--") else (len(word) > 2 and name in ("sbatch", "salloc", "flux"))
        if flag or whole:
            value = word.partition("=")[2] if whole and word.startswith("--wrap=") else None
            wrap = value if value is not None else wrap
            options += [] if value is not None else [shlex.quote(word) if " " in word else word]
            at += 1
            continue
        value = rest[at + 1] if at + 1 < len(rest) else ""
        if word == "--wrap":
            wrap = value
        else:
            count = 2 if word == "-pe" else 1
            values = rest[at + 1 : at + 1 + count]
            options.append(" ".join([word, *(shlex.quote(each) if " " in each else each for each in values)]))
            at += count - 1
        at += 2
    return options, wrap, rest[at:]
