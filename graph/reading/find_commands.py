"""Where the commands of a text stand: in backticks, after a colon or a prompt, or in the middle of a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from simplemma import is_known

from graph.reading.arguments_apart import arguments_apart
from graph.reading.everyday import EVERYDAY
from graph.reading.extent import WORD, extent
from graph.reading.final_command import INPUT_LABELS, LABELS, after_last_colon, is_command_line
from graph.reading.launchers import LAUNCHERS, WRAPPERS
from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, PADDING
from graph.reading.plain_programs import PLAIN
from graph.reading.shell_lines import looks_like_shell
from graph.reading.submit_lines import SUBMITTERS

__all__ = ["SHELL_SIGN", "Found", "find_commands"]

_INTERPRETERS = frozenset(
    [
        "python",
        "python2",
        "python3",
        "bash",
        "sh",
        "zsh",
        "perl",
        "ruby",
        "julia",
        "rscript",
        "octave",
        "matlab",
        "java",
        "node",
        "make",
        "cmake",
        "mpirun",
        "apptainer",
        "singularity",
        "docker",
        "podman",
        "time",
        "nohup",
        "env",
        "conda",
        "stdbuf",
        "numactl",
        "torchrun",
        "accelerate",
    ]
)
SHELL_SIGN = re.compile(r"[|<>;&$*`(){}]")
_FENCE = re.compile(r"```[A-Za-z]{0,12}[ \t]*\n?(?P<body>[^`]+)```")
_TICKS = re.compile(r"`(?P<body>[^`\n]+)`")
_PROMPT = re.compile(r"(?m)^[ \t]{0,8}\$[ \t]+(?P<body>\S[^\n]*)$")
_INTRODUCED = re.compile(
    r"(?i)(?P<word>\b(?:command|cmd|commands|run|execute|exec|executable|binary|launch|start|running|program|programme"
    r"|line|script))?"
    r"(?:[ \t]{1,3}(?:is|this|it|like this|line"
    r"|with)){0,2}[ \t]{0,2}:(?=[ \t\n])[ \t]{0,4}(?:\n[ \t]{0,4}){0,2}(?P<body>[^\s:][^\n]*)"
)
_QUOTES = re.compile(
    r"(?i)(?:^|\n|[:,(]|\b(?:run|execute|as|is|was|command|cmd|launch|start|do|call|like|with|program|script|binary"
    r"|executable))\s*$"
)
_DOUBLE_QUOTED = re.compile(r"(?<![\w=])[\"“„](?P<body>[^\"“”„\n]{3,400})[\"”“](?!\w)")
_SINGLE_QUOTED = re.compile(r"(?<![\w=])'(?P<body>(?:\./|[a-z.]+(?:run|exec)[ ])[^'\n]{1,400})'(?!\w)")
_BRACKETED = re.compile(r"(?<=[ \t])[(\[<](?P<body>\./[\w./+-]+(?:[ \t]+[\w./=:,%+-]+)*)[)\]>](?=[ \t,.;:]|$)")
"""`our code (./x -a) on 2 nodes`."""
_NAME_AND_VERSION = re.compile(
    r"(?=[^A-Z]{0,60}[A-Z])[A-Za-z][\w+-]{0,60}(?: [A-Z][\w+-]{0,60}){0,6}(?: v?\d[\w.]{0,30})?"
)
_QUOTED_BY = re.compile(r"(?<![\w./-])(?P<word>[^\W\d_]+)[ \t]*$")
"""A word before a quoted command: of the sentence, where the quoted words are no argument of another command."""
_COMMAND_IS = re.compile(
    r"(?i)\b(?:(?:command(?: line)?|cmd) is[ \t]{1,3}|(?:command|cmd|executable|exe|program)(?:=|:(?=[./~])))"
    r"(?:just |simply )?(?P<body>[\w./~][^\n]*)"
)
_QUOTED = re.compile(
    r"(?i)(?<![\w-])(?:run|execute|exec|launch|start|command|cmd|do)(?: is)?(?:[ \t]{1,3}"
    r"|=)(?P<quote>[\"'])(?P<body>[^\"'\n]+)(?P=quote)"
)
_VERB = re.compile(
    r"(?i)(?<![-\w])(?:run|runs|running|execute|executing|executes|launch|launching|start|starting|call|calls|invoke"
    r"|command|cmd|command is|via|lance|lancer|starte)[ \t\n]{1,4}(?:(?:the|my|our|this|a) )?"
    r"(?:(?:[a-z-]{3,14} ){0,2}(?:script|program|programme|command|binary|executable|file|notebook|code) )?$"
    r"|(?<![-\w])(?:(?:script|programme?|executable|binary|code)(?: file)?(?: (?:is|will be))?(?: called| named)?"
    r"|job is)[ \t]+$"
)
_CALLED = re.compile(r"(?i)\b(?:command(?: line)?|cmd)(?: is)?[ \t]*[:=]?[ \t\n]*$")
_NO_SERIES = r"(?!v?\d+(?:\.\d+)*\.[xX](?!\w))"
"""`2024.x` is a series of versions, no file."""
_OPENING = re.compile(
    r"\s*(?P<program>[a-z][a-z0-9_-]+)[ \t]+(?:(?P<verb>[a-z][a-z0-9_-]+)[ \t]+)?(?:--?[A-Za-z@][\w-]*(?=[ =])"
    rf"|{_NO_SERIES}[\w./-]+\.[A-Za-z]\w{{0,7}}(?=[\s,;:])|[\w.-]+/[\w.-]+ -)"
)
"""`nextflow run main.nf` and `gmx mdrun -deffnm md` at the beginning of a request."""
_AFTER_COLON = re.compile(
    r"(?:(?<![\w-])(?P<label>[\w-]{0,40}):|\b(?:command|cmd))[ \t]+"
    r"(?P<body>[a-z][\w.+-]*[ \t][^,;\n]+?)(?=[,;\n]|\.?\s*$)"
)
_ITEM = re.compile(
    r"(?:^|[,;\n])[ \t]*(?P<body>(?P<program>[a-z][a-z0-9_.+-]{1,40})(?:[ \t]+[a-z][a-z0-9_]{1,20})?"
    r"(?:[ \t]+--?[A-Za-z][\w-]*(?:[= ](?!-)[\w./:%+-]*[\w/])?){1,12})(?=[ \t]*(?:[,;\n]|\.?\s*$))"
)
"""`gmx mdrun -s a.tpr` as an item of its own."""
_RUNNING = re.compile(r"(?i)\b(?:run|execute|launch|start|call|command|program is)[ \t]+$")
_SCRIPT_FILE = re.compile(r"[\w./~-]+\.(?:sh|py|pl|r|jl|exe|x|out|bin|sbatch|slurm|rb|m|ipynb|bash)", re.IGNORECASE)
_RUNTIMES = frozenset(("apptainer", "singularity", "docker", "podman", "shifter", "sarus", "enroot"))
_PREFIX = re.compile(r"[A-Z_][A-Z0-9_]*=(?:\"[^\"]*\"|'[^']*'|\S*[^\s,;])?")
_BARE_LINE = re.compile(r"\s*[\w./+-]{1,200}[ \t]+--?[A-Za-z]\S*([ \t]+\S+)*\s*")
_CLAUSE = re.compile(
    r"(?i)(?:^|[.:;,\n])[ \t]*(?:(?:please|and|then|to|just|can you|could you|i want to|i would like to|i'd like to"
    r"|we want to|let us|let's)[ \t]+){0,4}"
    r"(?:(?:run|execute|launch|start|command|call)[ \t]+(?:the (?:command|program)[ \t]+)?)?$"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")


_RUNNER = re.compile(
    r"(?:^|[.:;,(\n]|(?P<verb>\b(?:[Rr]un|[Ee]xecute|[Ll]aunch|[Ss]tart|[Pp]lease|with|use|do)[ \t]))[ \t]*"
    r"(?P<program>[a-z][\w-]+)(?P<rest>[ \t]+(?:run|launch|exec|start)(?:[ \t]+--?[\w-]+(?:[= ][\w./-]+)?){0,4}[ \t]+)$"
)
"""`accelerate launch train.py`: a program that runs another; its own verb is no word of the sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    """A command line in a text."""

    start: int
    end: int
    inner: int
    """Where the command itself begins, after a backtick or prompt."""
    body: str
    named: bool = False
    """Whether the text itself calls it the command."""


def _program_like(word: str, following: str, *, after_verb: bool) -> bool:
    low = word.lower()
    if _ASSIGNMENT.fullmatch(word) or (low == "node" and not re.match(r"-|[\w./-]+\.[cm]?[jt]s\b", following)):
        return False
    if (low.startswith("./") and len(low) > 2) or (low.startswith(("../", "~/")) and after_verb):
        return True
    if low.startswith("~/") and following.startswith("-"):
        return True
    if word.startswith("/") and len(word) > 1 and after_verb:
        file = re.search(r"\.[A-Za-z]\w{0,6}$", word) and not _SCRIPT_FILE.fullmatch(word)
        return not file or re.match(r"-|[./~]|[\w./-]+\.[A-Za-z]", following) is not None
    if word in PLAIN:
        return after_verb
    if low in LAUNCHERS or low in _INTERPRETERS:
        looks = (following not in ("/", "-") and following.startswith(("-", "./", "/", "~/", '"', "'"))) or bool(
            re.fullmatch(rf"{_NO_SERIES}[\w./-]+\.[A-Za-z]\w{{0,7}}[,.;]?", following)
        )
        if low == "flux":
            return following == "run"
        if low in ("apptainer", "singularity", "docker", "podman"):
            return following in ("exec", "run")
        if low in LAUNCHERS:
            return looks or (bool(following) and following.lower().strip(".,;") not in KEYWORDS and after_verb)
        return looks or bool(
            _ASSIGNMENT.fullmatch(following) and low == "env" and not following.endswith((",", ";", "."))
        )
    return after_verb and bool(_SCRIPT_FILE.fullmatch(word.rstrip(",.;")))


def find_commands(text: str) -> list[Found]:
    """Every command line of a text, in order, not overlapping."""
    found: list[Found] = []

    def take(start: int, end: int, inner: int, stop: int) -> None:
        if all(end <= other.start or start >= other.end for other in found[-64:]) and text[inner:stop].strip():
            inner += len(text[inner:stop]) - len(text[inner:stop].lstrip())
            found.append(Found(start, end, inner, text[inner:stop].rstrip()))

    for match in _FENCE.finditer(text):
        take(match.start(), match.end(), *match.span("body"))
    for match in _TICKS.finditer(text):
        words = match["body"].split()
        before = text[max(0, match.start() - 40) : match.start()]
        verb = bool(_VERB.search(before)) or before.rstrip().endswith(":")
        if re.search(r"(?:^|\s)(?:\.{0,2}|~)?/\S+(?:[ \t]+-\S+)*[ \t]+$", before):
            continue  # `./x `cat args``: a part of the command before it
        line = len(words) > 1 and bool(_ASSIGNMENT.fullmatch(words[0]) or looks_like_shell(match["body"]))
        program = bool(words) and _program_like(words[0], words[1] if len(words) > 1 else "", after_verb=True)
        if words and (program or verb or line or is_command_line(match["body"])):
            take(match.start(), match.end(), *match.span("body"))
    for match in _PROMPT.finditer(text):
        take(match.start(), match.end(), *match.span("body"))
    for match in _QUOTED.finditer(text):
        if _NAME_AND_VERSION.fullmatch(match["body"]):
            continue  # `run "GROMACS 2024.1"`: software
        take(match.start(), match.end(), *match.span("body"))
    for match in (*_DOUBLE_QUOTED.finditer(text), *_SINGLE_QUOTED.finditer(text)):
        words = match["body"].split()
        before = text[max(0, match.start() - 24) : match.start()]
        by = _QUOTED_BY.search(before)
        prose = by is not None and by["word"].lower() in KEYWORDS | PADDING | FUNCTION_WORDS | EVERYDAY
        named = by is not None and by["word"].lower() in ("program", "programme", "binary", "executable", "script")
        sure = bool(words) and (
            (prose and (words[0].startswith("./") or words[0].lower() in LAUNCHERS))
            or (named and words[0].startswith(("/", "~/")))
        )
        if sure and _program_like(words[0], words[1] if len(words) > 1 else "", after_verb=True):
            take(match.start(), match.end(), *match.span("body"))
            continue
        if not _QUOTES.search(before) or re.search(r"(?:^|\s)-[\w-]*[ =]*$", before):
            continue  # an argument of another command
        if len(words) > 1 and (_program_like(words[0], words[1], after_verb=True) or is_command_line(match["body"])):
            take(match.start(), match.end(), *match.span("body"))
    for match in _BRACKETED.finditer(text):
        take(*match.span(), *match.span("body"))
    for match in _COMMAND_IS.finditer(text):
        words = match["body"].split(None, 1)
        if words[0].lower().strip(",.;") in KEYWORDS | PADDING or not re.fullmatch(
            r"[\w./~+-]+", words[0].rstrip(",.;")
        ):
            continue
        start = match.start("body")
        end = extent(text, start, match.end())
        take(start, end, start, end)
    for match in _INTRODUCED.finditer(text):
        words = match["body"].split(None, 2)
        first = words[0].strip(",;").rstrip(".")
        after = words[1] if len(words) > 1 else ""
        start = match.start("body")
        while _ASSIGNMENT.fullmatch(first) and after and match["word"]:
            break
        if text[: match.start("body")].rstrip(" \t\n:").rpartition(" ")[2].lower().strip("-*") in INPUT_LABELS:
            continue  # `inputs: /home/x/a.dat`
        if not match["word"] and _tells_of_files(text, match.start(), start):
            continue  # `the reads are at site juno: /data/S1.fastq.gz (18 GB)`
        known = _program_like(first, after, after_verb=True) or (
            _ASSIGNMENT.fullmatch(first)
            and bool(after)
            and _program_like(after, words[2] if len(words) > 2 else "", after_verb=True)
        )
        meant = bool(match["word"]) and re.fullmatch(r"[A-Za-z_./][\w./+-]*", first) and first.lower() not in KEYWORDS
        if known or (
            meant
            and (
                match["word"].lower() in ("command", "cmd", "commands", "execute", "exec")
                or after.startswith("-")
                or (not after and arguments_apart(text) is not None)
            )
        ):
            end = extent(text, start, match.end())
            take(start, end, start, end)
    _inline(text, take)
    opening = _OPENING.match(text)
    words_of_prose = (KEYWORDS | PADDING | SUBMITTERS) - {"run"}
    contained = opening is not None and opening["program"] in _RUNTIMES and opening["verb"] not in ("exec", "run")
    if (
        opening
        and not contained
        and not found
        and opening["program"] != "run"
        and not set(opening.groups()) & words_of_prose
    ):
        line_end = text.find("\n", opening.end())
        end = extent(text, opening.start("program"), len(text) if line_end < 0 else line_end)
        take(opening.start("program"), end, opening.start("program"), end)
    first_word = text.split(None, 1)[0].lower() if text.strip() else ""
    plain = (first_word in KEYWORDS | PADDING or first_word in SUBMITTERS) and first_word not in _INTERPRETERS
    if not found and not plain and "\n" not in text.strip() and len(text) < 4096 and _BARE_LINE.fullmatch(text):
        start = len(text) - len(text.lstrip())
        take(start, extent(text, start, len(text)), start, extent(text, start, len(text)))
    if not found:
        for match in _ITEM.finditer(text):
            ordinary = match["program"] in SUBMITTERS | EVERYDAY | KEYWORDS or is_known(match["program"], "en")
            if is_command_line(match["body"]) and not ordinary:
                take(*match.span("body"), *match.span("body"))
                break
    if not found:
        for match in _AFTER_COLON.finditer(text):
            if is_command_line(match["body"]) and (match["label"] or "").lower() not in LABELS:
                start, end = match.start("body"), extent(text, *match.span("body"))
                take(start, end, start, end)
                break
    last = None if found else after_last_colon(text)
    if last is not None:
        last = last[0], extent(text, *last)
    if last is not None and is_command_line(text[slice(*last)]):
        take(*last, *last)
    return sorted((_named(text, item) for item in found), key=lambda item: item.start)


_FILES_BEFORE = re.compile(
    r"(?i)(?<![\w-])(?:is|are|ist|sind|est|sont|lies?|lives?|sits?|resides?|found|stored|located|kept|copied|staged"
    r"|saved|writes?|written"
    r"|bring|reads|data|datasets?|files?|inputs?|outputs?|results?|images?|meshe?s?|decks?|checkpoints?|weights"
    r"|samples?|records?|dateien?|daten|eingabe\w*|ausgabe\w*|ergebnis\w*|zurück\w*|liegt|liegen|fichiers?|données"
    r"|entrées?|sorties?|résultats?|rapatrier|récupérer|ramener|maillage|gitter|netz|abbild|conteneur|under|from|into"
    r"|at|site|path|folder|directory|dir|archive|bucket|scratch|where)(?![\w-])[^.;\n]*$"
)
_JOB_BEFORE = re.compile(r"(?i)(?<![\w-])(?:run|runs|execute|start|launch|command|cmd|program|call)(?![\w-])|\d")
_FILE_LIKE = re.compile(r"[`\"']?(?:~|\.{1,2})?/[\w.@+*/-]+")


def _tells_of_files(text: str, colon: int, start: int) -> bool:
    """Whether a path behind a colon is what the words before it tell of, and no program."""
    path = _FILE_LIKE.match(text, start)
    if path is None or path[0].lstrip("`\"'").startswith("./"):
        return False
    clause = re.split(r"(?<=[.;])\s|\n|,\s", text[max(0, colon - 120) : colon])[-1]
    following = text[path.end() :].lstrip(" \t`\"'")
    if re.match(
        rf"--?[A-Za-z]|\.{{0,2}}/|{_NO_SERIES}[\w-]+\.[a-z]{{1,5}}(?![\w])", following
    ) and not _FILES_BEFORE.search(clause):
        return False
    return _FILES_BEFORE.search(clause) is not None and _JOB_BEFORE.search(clause) is None


def _named(text: str, item: Found) -> Found:
    return replace(item, named=bool(_CALLED.search(text[max(0, item.start - 24) : item.start])))


def _begin(text: str, words: list[re.Match[str]], index: int) -> int:
    """Where the command of a program begins: `A=1 ./x`, `time mpirun`, `nice -n 5 mpirun`; not `short time mpirun`."""
    start, near = words[index].start(), True
    for word in reversed(words[:index]):
        if _PREFIX.fullmatch(word[0]) and near:
            start = word.start()
        elif word[0] in WRAPPERS and _CLAUSE.search(text[max(0, word.start() - 48) : word.start()]):
            start, near = word.start(), True
        elif word[0] in WRAPPERS or re.fullmatch(r"-[\w=-]+|\d[\d,-]*[smhd]?", word[0]):
            near = False
        else:
            break
    return start


_ONLY_VARIABLES = re.compile(r"env(?:[ \t]+[A-Za-z_]\w*=[^\s,;]*)+[ \t]*(?=$|[\n,;.])")


def _inline(text: str, take: Callable[[int, int, int, int], None]) -> None:
    words = list(WORD.finditer(text))
    skip_to = -1
    for index, match in enumerate(words):
        if match.start() < skip_to:
            continue
        word = match[0]
        following = words[index + 1][0] if index + 1 < len(words) else ""
        known = word.lower() in LAUNCHERS or word.lower() in _INTERPRETERS or word.rstrip(",;.") in PLAIN
        option = bool(re.fullmatch(r"--?[A-Za-z][\w-]*(?:=\S+)?", following)) and word.isascii() and word.islower()
        if not (word[0] in "./~" or known or "." in word or option):
            continue
        before = text[max(0, match.start() - 48) : match.start()]
        verb = bool(_VERB.search(before)) or not before.strip()
        plain = word.rstrip(",;.") in PLAIN and following.rstrip(",.").lower() not in ("command", "program")
        if word == "env" and _ONLY_VARIABLES.match(text, match.start()):
            continue  # `env A=1` as an item: no program follows
        if (plain or word.lower() in ("node", "time")) and not _CLAUSE.search(before):
            continue  # `1 node ./x`, `unlimited time ./x`: words of the sentence
        unknown = option and word not in KEYWORDS | PADDING and bool(_RUNNING.search(before))
        runner = re.search(r"(?:^|[.:;,\n])[ \t]*([a-z][\w-]+)[ \t]+run[ \t]+$", before) if unknown else None
        if runner and runner[1] not in KEYWORDS | PADDING:
            continue  # `nextflow run nf-core/rnaseq -profile test`
        if not unknown and not _program_like(word.rstrip(",;."), following, after_verb=verb):
            continue
        start = _begin(text, words, index)
        started = _RUNNER.search(text[max(0, start - 64) : start])
        of_its_own = word.startswith("./") and not _SCRIPT_FILE.fullmatch(word.rstrip(",;."))
        if (
            started is not None
            and not of_its_own
            and started["program"] not in KEYWORDS | PADDING | FUNCTION_WORDS | EVERYDAY
        ):
            start -= len(started["program"] + started["rest"])
        line_end = text.find("\n", match.start())
        end = extent(text, match.start(), len(text) if line_end < 0 else line_end)
        take(start, end, start, end)
        skip_to = end
