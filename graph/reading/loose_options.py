"""A scheduler's options without its command: `--nodes=2 --mem=180G -p long, program ./x`, `-l select=2:ncpus=32`.

They mean what they mean to that scheduler, so its reader of scripts reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dragoman.protocols import ScriptReading
from dragoman.secrets import redact
from graph.reading.draft import Draft
from graph.reading.launchers import Launch
from graph.reading.lexicon import KEYWORDS, PADDING
from graph.reading.scheduler_options import state_options
from graph.reading.shell_lines import negated_before
from graph.reading.submit_lines import ScriptReader, is_flag, read_submit_line

__all__ = ["add_options", "read_loose_options"]

_OPTION = re.compile(r"(?<![^\s,;:(`\"'])(?:--[a-z][a-z0-9-]+(?:=\S+)?|-[A-Za-z](?=[ =]))")
_WORD = re.compile(r"\S+")
_SUBMITTERS = {
    "sbatch": "sbatch", "pbs": "qsub", "$": "qsub -cwd", "bsub": "bsub", "msub": "msub", "oar": "oarsub",
    "flux:": "flux batch",
}  # fmt: skip
"""What reads the options behind each mark of a directive; `-cwd` tells Grid Engine's from those of PBS."""
_MARKED = re.compile(r"(?i)#(?P<mark>sbatch|pbs|\$|bsub|msub|oar|flux:)[ \t]+$")
_BARE = (
    ("-l ", re.compile(r"(?<![^\s,;:(])(?:select=\d+|nodes=\d+:ppn=\d+)[\w:=+]*(?=[\s,;.)]|$)")),
    ("--", re.compile(r"(?<![^\s,;:(])(?:gres=gpu[\w:]*|mem-per-[cg]pu=\d+)(?=[\s,;.)]|$)")),
)
"""`select=4:ncpus=32`, `gres=gpu:2`: resources as that option has them, without the option."""
_SAYS_NOTHING = {"script", "script_dialect", "native_options", "notes", "sources", "schema_version"}
_RESOURCES = re.compile(r"-l (?:select|nodes|ncpus|walltime|mem|place)\b")
_SHORT = frozenset("-N -n -t -p -A -c -J -q -C -G -a -d".split())  # noqa: SIM905
_SURE = frozenset("-N -n -t -p -A".split())  # noqa: SIM905
_BEFORE = frozenset(
    (
        "options", "option", "flags", "style", "pbs", "slurm", "sbatch", "qsub", "bsub", "msub", "oar", "directives",
        "args", "arguments", "plus",
    )
)  # fmt: skip


def read_loose_options(draft: Draft, reader: ScriptReader | None) -> None:
    """State what runs of such options ask for; those that no scheduler is known by stay for other rules."""
    if reader is None:
        return
    for start, end, options in (*_bare(draft), *_runs(draft)):
        line = " ".join(options)
        mark = _MARKED.search(draft.line.text, max(0, start - 20), start)
        name = _SUBMITTERS[mark["mark"].lower()] if mark else _scheduler(options, line)
        if name is None:
            continue
        start = mark.start() if mark else start
        refused = negated_before(draft.line.text, start)
        if refused is not None and mark is not None:
            draft.unread.append(redact(draft.line.text[refused:end])[:2000])
            draft.line.claim_text(refused, end)
            continue
        words = redact(draft.line.text[start:end] if mark else line)[:2000]
        draft.line.claim_text(start, end)
        submitted = read_submit_line(f"{name} {line}", reader)
        reading = submitted.reading
        unsaid = submitted.command or submitted.shell or submitted.left or redact(line) != line
        if unsaid or reading is None or reading.problems:
            draft.unread.append(words)
            continue
        if mark is None and not set(reading.request.dump()) - _SAYS_NOTHING:
            draft.unread.append(words)  # of some program: nothing that a scheduler is known by
            continue
        add_options(draft, reading, words, start)


def add_options(draft: Draft, reading: ScriptReading, words: str, start: int) -> None:
    """State what options ask for beside a command; what its launch line says is kept."""
    asked = state_options(draft, reading, words, start)
    if asked is None:
        return
    known = draft.fields.get("launched")
    launch: Launch = known if isinstance(known, Launch) else Launch(())
    launch.shape = {**asked[0], **launch.shape}
    launch.fields = {**asked[1], **launch.fields}
    draft.fields["launched"] = launch


def _bare(draft: Draft) -> Iterator[tuple[int, int, list[str]]]:
    """Resources that are written without their option, as that option."""
    for option, rule in _BARE:
        for match in rule.finditer(draft.line.text):
            if draft.line.is_open(*match.span()):
                yield *match.span(), [f"{option}{match[0]}"]


def _runs(draft: Draft) -> Iterator[tuple[int, int, list[str]]]:
    """Options that stand together outside commands, each with its value."""
    text, position = draft.line.text, 0
    while (option := _OPTION.search(text, position)) is not None:
        start, end, options, last = option.start(), option.end(), [], False
        mark = _MARKED.search(text, max(0, start - 20), start)
        name = _SUBMITTERS[mark["mark"].lower()] if mark else "sbatch"
        while option is not None and not last:
            word, end = option[0], option.end()
            value = None
            if "=" not in word and not is_flag(word, name):
                value = _WORD.match(text, end + 1)
            last = (value[0] if value else word).endswith((",", ";", ".", ")"))
            trimmed = (value[0] if value else word).rstrip(",;.)")
            trimmed = trimmed.rstrip("`\"'")
            last = last or trimmed != (value[0] if value else word).rstrip(",;.)")
            end = (value.end() if value else end) - (len(value[0] if value else word) - len(trimmed))
            options.append(f"{word} {trimmed}" if value else trimmed)
            gap = re.compile(r"[ \t]+(?:and[ \t]+)?").match(text, end)
            option = _OPTION.match(text, gap.end()) if gap and not last else None
        position = max(end, position + 1)
        before = re.search(r"([\w./-]+)[ \t]$", text[max(0, start - 200) : start])
        if (
            before
            and not before[1].isdigit()
            and not before[1].endswith(".")
            and before[1].lower() not in PADDING | KEYWORDS | _BEFORE
        ):
            continue  # `snakemake --cores 32`
        if draft.line.is_open(start, end):
            yield start, end, options


def _scheduler(options: list[str], line: str) -> str | None:
    names = {option.split("=")[0].split(" ")[0] for option in options}
    if _RESOURCES.search(line):
        return "qsub"
    long = any(name.startswith("--") for name in names)
    if long or (len(names) > 1 and names <= _SHORT and names & _SURE and names != {"-A", "-q"}):
        return "sbatch"
    return None
