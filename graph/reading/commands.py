"""What is to be run: a command after a colon, in backticks, on a line of its own or in the middle of a sentence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.model import JsonObject
from dragoman.request import ContainerNeed, Source
from dragoman.secrets import redact
from graph.reading.draft import Draft
from graph.reading.final_command import after_last_colon, bare_program, is_command_line
from graph.reading.launchers import LAUNCHERS, read_launch
from graph.reading.lexicon import KEYWORDS, UNIT_WORDS
from graph.reading.reading import Option, Question

__all__ = ["Found", "find_commands", "read_commands", "read_last_word", "split_command", "warn_of_secret"]

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
_SHELL_SIGN = re.compile(r"[|<>;&$*`(){}]")
_FENCE = re.compile(r"```[A-Za-z]{0,12}[ \t]*\n?(?P<body>[^`]+)```")
_TICKS = re.compile(r"`(?P<body>[^`\n]+)`")
_PROMPT = re.compile(r"(?m)^[ \t]{0,8}\$[ \t]+(?P<body>\S[^\n]*)$")
_INTRODUCED = re.compile(
    r"(?i)(?P<word>\b(?:command|cmd|commands|run|execute|exec|launch|start|running|program|line|script))?"
    r"(?:[ \t]{1,3}(?:is|this|it|like this|line"
    r"|with)){0,2}[ \t]{0,2}:(?=[ \t\n])[ \t]{0,4}\n?[ \t]{0,4}(?P<body>[^\s:][^\n]*)"
)
_QUOTED = re.compile(
    r"(?i)\b(?:run|execute|exec|launch|start|command|do)(?: is)?[ \t]{1,3}(?P<quote>[\"'])(?P<body>[^\"'\n]+)(?P=quote)"
)
_WORD = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+(?:\"[^\"\n]*\"|'[^'\n]*')?[^\s\"']*")
_VERB = re.compile(
    r"(?i)\b(?:run|runs|running|execute|executing|executes|launch|launching|start|starting|call|calls|invoke"
    r"|command|command is|via|lance|lancer|starte)[ \t\n]{1,4}(?:the (?:script|program|command|binary) |script "
    r"|my )?$"
)
_SCRIPT_FILE = re.compile(r"[\w./~-]+\.(?:sh|py|pl|r|jl|exe|x|out|bin|sbatch|slurm|rb|m|ipynb|bash)", re.IGNORECASE)
_UNITS = UNIT_WORDS | frozenset("h hr hrs min mins s gb gib mb tb g ranks procs x a100 a100s h100 h100s".split())  # noqa: SIM905
_RUNTIMES = ("apptainer", "singularity", "docker", "podman")
_PREFIX = re.compile(r"[A-Z_][A-Z0-9_]*=\S*")
_BARE_LINE = re.compile(r"\s*[\w./+-]{1,200}[ \t]+--?[A-Za-z]\S*([ \t]+\S+)*\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")


@dataclass(frozen=True, slots=True)
class Found:
    """A command line in a text."""

    start: int
    end: int
    inner: int
    """Where the command itself begins, after a backtick or prompt."""
    body: str


def _program_like(word: str, following: str, *, after_verb: bool) -> bool:
    low = word.lower()
    if _ASSIGNMENT.fullmatch(word):
        return False
    if (low.startswith("./") and len(low) > 2) or (low.startswith(("../", "~/")) and after_verb):
        return True
    if word.startswith("/") and len(word) > 1 and after_verb:
        return True
    if low in LAUNCHERS or low in _INTERPRETERS:
        looks = following.startswith(("-", "./", "/", "~/", '"', "'")) or bool(
            re.fullmatch(r"[\w./-]+\.[A-Za-z]\w{0,7}[,.;]?", following)
        )
        if low == "flux":
            return following in ("run", "submit")
        if low in ("apptainer", "singularity", "docker", "podman"):
            return following in ("exec", "run")
        if low in LAUNCHERS:
            return looks or (bool(following) and following.lower().strip(".,;") not in KEYWORDS and after_verb)
        return looks or bool(_ASSIGNMENT.fullmatch(following) and low == "env")
    return after_verb and bool(_SCRIPT_FILE.fullmatch(word.rstrip(",.;")))


def _extent(text: str, start: int, limit: int) -> int:
    """End of a command that begins at `start` and is followed by more of the sentence."""
    end, option, first = start, False, True
    words = _WORD.finditer(text, start, limit)
    match = next(words, None)
    while match is not None:
        after = next(words, None)
        word = match[0]
        bare = word.rstrip(",;").rstrip(".") if not word.startswith(('"', "'")) else word
        if not first and ("\n" in text[end : match.start()] or (not option and _ends(bare, after))):
            return end
        end = match.start() + len(bare)
        if len(bare) < len(word):
            return end
        option = (word.startswith("-") and "=" not in word) or word in ("<", ">", ">>", "2>", "|", "&&")
        first, match = False, after
    return end


def _ends(word: str, after: re.Match[str] | None) -> bool:
    """Whether a word belongs to the sentence and not to the command before it."""
    following = after[0].lower().strip(",.;") if after else ""
    if word.replace(".", "").isdigit() and following in _UNITS:
        return True
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,3})?(?:h|min|gb|gib|g|nodes?|x)", word.lower()):
        return True
    return word.lower() in KEYWORDS or word in ("-", "--", "–", "—")  # noqa: RUF001  # dashes as people type them


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
        if (words and (_program_like(words[0], words[1] if len(words) > 1 else "", after_verb=True) or verb)) or (
            words and len(words) > 1 and _ASSIGNMENT.fullmatch(words[0])
        ):
            take(match.start(), match.end(), *match.span("body"))
    for match in _PROMPT.finditer(text):
        take(match.start(), match.end(), *match.span("body"))
    for match in _QUOTED.finditer(text):
        take(match.start(), match.end(), *match.span("body"))
    for match in _INTRODUCED.finditer(text):
        words = match["body"].split(None, 2)
        first = words[0].strip(",;")
        after = words[1] if len(words) > 1 else ""
        start = match.start("body")
        while _ASSIGNMENT.fullmatch(first) and after and match["word"]:
            break
        known = _program_like(first, after, after_verb=True) or (
            _ASSIGNMENT.fullmatch(first)
            and bool(after)
            and _program_like(after, words[2] if len(words) > 2 else "", after_verb=True)
        )
        meant = bool(match["word"]) and re.fullmatch(r"[A-Za-z_./][\w./+-]*", first) and first.lower() not in KEYWORDS
        if known or (
            meant
            and (match["word"].lower() in ("command", "cmd", "commands", "execute", "exec") or after.startswith("-"))
        ):
            end = _extent(text, start, match.end())
            if _SHELL_SIGN.search(text[start:end]):
                end = _shell_end(text, start, match.end())
            take(start, end, start, end)
    _inline(text, take)
    if not found and "\n" not in text.strip() and len(text) < 4096 and _BARE_LINE.fullmatch(text):
        start = len(text) - len(text.lstrip())
        take(start, _extent(text, start, len(text)), start, _extent(text, start, len(text)))
    last = None if found else after_last_colon(text)
    if last is not None and is_command_line(text[slice(*last)]):
        take(*last, *last)
    return sorted(found, key=lambda item: item.start)


def _shell_end(text: str, start: int, limit: int) -> int:
    stop = re.search(
        r"[,;] (?=(?:needs?|with|on|for|results?|outputs?|inputs?|using|cheapest|before|at|max)\b)", text[start:limit]
    )
    return start + stop.start() if stop else limit


def _inline(text: str, take: Callable[[int, int, int, int], None]) -> None:
    words = list(_WORD.finditer(text))
    skip_to = -1
    for index, match in enumerate(words):
        if match.start() < skip_to:
            continue
        word = match[0]
        following = words[index + 1][0] if index + 1 < len(words) else ""
        if not (word[0] in "./~" or word.lower() in LAUNCHERS or word.lower() in _INTERPRETERS or "." in word):
            continue
        before = text[max(0, match.start() - 48) : match.start()]
        verb = bool(_VERB.search(before)) or not before.strip()
        if not _program_like(word.rstrip(",;."), following, after_verb=verb):
            continue
        start = match.start()
        back = index - 1
        while back >= 0 and _PREFIX.fullmatch(words[back][0]) and text[words[back].end() : start].strip() == "":
            start = words[back].start()
            back -= 1
        line_end = text.find("\n", match.start())
        end = _extent(text, match.start(), len(text) if line_end < 0 else line_end)
        take(start, end, start, end)
        skip_to = end


def read_commands(draft: Draft) -> None:
    """Find the command; its launcher's options become needs, and shell signs make it a script."""
    found = find_commands(draft.line.text)
    for item in found:
        draft.line.claim_text(item.start, item.end)
    if not found:
        return
    bodies = [item.body.strip() for item in found]
    if len(set(bodies)) > 1:
        whole = "\n".join(bodies) + "\n"
        options = [Option(label=body[:200], patch=_patch(body)) for body in bodies[:8]]
        options.append(Option(label="all of them, one after the other", patch={"script": whole}))
        first = found[0]
        draft.questions.append(_which(first, options))
        return
    _state(draft, found[0])


def read_last_word(draft: Draft) -> None:
    """A bare word after the last colon that no rule understood is run as it stands, and the person is told."""
    last = after_last_colon(draft.line.text)
    if last is None or {"command", "script"} & set(draft.fields) or draft.asks("command"):
        return
    body = draft.line.text[slice(*last)]
    if bare_program(body) and draft.line.is_open(*last):
        draft.line.claim_text(*last)
        draft.default(f"{body!r} after the colon is taken as the command")
        _state(draft, Found(*last, last[0], body))


def _which(first: Found, options: list[Option]) -> Question:
    return Question(
        id="command", field="command", words=redact(first.body)[:2000], start=first.inner,
        text="There is more than one command. Which one is to be run?", options=tuple(options),
    )  # fmt: skip


def _patch(body: str) -> JsonObject:
    argv = split_command(body)
    return {"command": list(argv)} if argv else {"script": body + "\n"}


def split_command(body: str) -> tuple[str, ...] | None:
    """Arguments of a command line; None where it needs a shell or its quotes do not close."""
    if "\n" in body.strip():
        return None
    try:
        words = shlex.split(body, posix=True)
    except ValueError:
        return None
    unescaped = re.sub(r"'[^']*'|\\.", "q", body)
    bare = re.sub(r'"[^"]*"', "q", unescaped)
    if re.search(r"[$`]", unescaped) or re.search(r"[|<>;&()*?{]|(?<!\S)[~#]", bare):
        return None
    return tuple(words)


def warn_of_secret(draft: Draft, body: str) -> None:
    """Tell the person of a secret in the arguments, where it would be seen in the job's script."""
    rest = re.sub(r"(?<!\S)[A-Za-z_]\w*=\S+", "", body)
    if redact(rest) != rest:
        draft.unread.append(f"the command shows a secret; give it as an environment variable: {redact(body)[:500]}")


def _state(draft: Draft, item: Found) -> None:
    argv = split_command(item.body)
    words = redact(item.body)[:2000]
    warn_of_secret(draft, item.body)
    if argv is None:
        draft.fields["script"] = item.body + "\n"
        draft.default(f"{words!r} needs a shell and is run as a script, as written")
        draft.sources.append(Source(field="script", words=words, origin="text", start=item.inner))
        return
    launch = read_launch(argv)
    draft.sources.append(Source(field="command", words=words, origin="text", start=item.inner))
    if launch.unknown:
        draft.unread.extend(redact(f"{argv[0]} {option}") for option in launch.unknown)
    if launch.dropped:
        left = redact(", ".join(launch.dropped))
        draft.default(f"kept in the launch line; where the site's own launcher must do, left to that one: {left}")
    if launch.argv:
        draft.fields["command"] = list(launch.argv)
    draft.fields["launched"] = launch
    program = launch.argv[0].rsplit("/", 1)[-1] if launch.argv else ""
    if program in _RUNTIMES and launch.argv[1:2] and launch.argv[1] in ("exec", "run"):
        draft.fields["containers"] = [ContainerNeed(runtimes=(program,))]
        draft.default(f"the command calls {program} itself, as written")
