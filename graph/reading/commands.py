"""What is to be run: a command after a colon, in backticks, on a line of its own or in the middle of a sentence."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any

from dragoman.model import JsonObject
from dragoman.protocols import ScriptReading
from dragoman.request import ContainerNeed, Source
from dragoman.secrets import redact
from dragoman.units import format_duration
from graph.reading.added_arguments import with_arguments, with_interpreter
from graph.reading.arguments_apart import arguments_apart
from graph.reading.draft import Draft
from graph.reading.earlier_commands import without_earlier
from graph.reading.extent import extent
from graph.reading.final_command import after_last_colon, bare_program
from graph.reading.find_commands import SHELL_SIGN, Found, find_commands
from graph.reading.launchers import Launch, read_launch
from graph.reading.loose_options import add_options
from graph.reading.plain_programs import PLAIN, WORDLIKE, needs_more, perhaps_command
from graph.reading.reading import Option, Question
from graph.reading.same_again import read_same_again
from graph.reading.scheduler_options import state_options
from graph.reading.separators import arrows
from graph.reading.shell_lines import negated_before, shell_line
from graph.reading.submit_lines import ScriptReader, Submitted, read_submit_line, submit_lines
from graph.reading.told_commands import end_of_refusal, only_asked, open_quote, refused_behind, stopped_before

__all__ = ["read_commands", "read_last_word", "read_perhaps_command", "settle_submit_line", "split_command"]

_RUNTIMES = ("apptainer", "singularity", "docker", "podman")
_RUN_WORD = re.compile(
    r"(?i)(?:^|[.;,\n])[ \t]*(?:(?:please|just|then)[ \t]+)?(?:run|execute)[ \t]+(?P<word>[a-z]+)(?![\w.-]|[ \t]*[:=])"
)


def read_commands(draft: Draft, script_reader: ScriptReader | None = None) -> None:
    """Find the command; its launcher's options become needs, and shell signs make it a script."""
    for arrow in arrows(draft.line.text):
        draft.line.claim_text(*arrow)
    found: list[Found] = []
    not_run: list[Found] = []
    beside: tuple[ScriptReading, str, int] | None = None
    handed_in = [span for span in submit_lines(draft.line.text) if negated_before(draft.line.text, span[0]) is None]
    for item in find_commands(draft.line.text):
        if any(start < item.end and item.start < end for start, end in handed_in):
            draft.line.claim_text(item.start, item.end)
            continue
        refused, stop = _refused(draft.line.text, item)
        if refused is not None:
            draft.unread.append(redact(draft.line.text[refused:stop])[:2000])
            draft.line.claim_text(refused, stop)
            not_run.append(item)
            continue
        item = with_interpreter(draft.line.text, with_arguments(draft.line.text, item))
        draft.line.claim_text(_same_as(draft.line.text, item.inner, item.start), item.end)
        found.append(item)
    if handed_in and (found or len(handed_in) > 1):
        lines = [Found(*span, span[0], draft.line.text[slice(*span)]) for span in handed_in]
        found = without_earlier(draft, sorted([*found, *lines], key=_start))
        for start, end in handed_in:
            draft.line.claim_text(start, end)
        handed_in = [(item.start, item.end) for item in found if item in lines]
        beside = _only_options(draft, handed_in, script_reader) if len(found) > 1 else None
        if beside is not None:
            found, handed_in = [item for item in found if item not in lines], []
        if handed_in and len(found) > 1:
            draft.questions.append(_which(found[0], []))
            return
    found = without_earlier(draft, found)
    if handed_in:
        _state_submitted(draft, handed_in[0], script_reader)
        return
    if not found:
        if not_run:
            words = redact(not_run[0].body)[:2000]
            draft.ask_plain("command", words, not_run[0].inner, f"{words[:200]!r} is not to be run. What is?", [])
        return
    if len(found) == 1 and only_asked(draft.line.text, found[0].start, found[0].end):
        body = found[0].body.strip()
        yes = Option(label=f"run {redact(body)[:200]}", patch=_patch(body))
        text = f"Is `{redact(body)[:200]}` to be run? The words only ask about it."
        draft.ask_plain("command", redact(body)[:2000], found[0].inner, text, [yes])
        return
    for item in found:
        span = shell_line(draft.line.text, item.start, item.end) if item.start == item.inner else None
        if span is not None:
            _ask_about_line(draft, span)
            return
    named = [item for item in found if item.named]
    if named and len({item.body.strip() for item in named}) == 1:
        draft.unread += [redact(item.body)[:2000] for item in found if item.body.strip() != named[0].body.strip()]
        found = named
    bodies = [item.body.strip() for item in found]
    if len(set(bodies)) > 1:
        whole = "\n".join(bodies) + "\n"
        options = [Option(label=body[:200], patch=_patch(body)) for body in bodies[:8]]
        options.append(Option(label="all of them, one after the other", patch={"script": whole}))
        first = found[0]
        draft.questions.append(_which(first, options))
        return
    apart = arguments_apart(draft.line.text)
    if apart is not None and draft.line.is_open(apart[0] + 1, apart[1]) and not SHELL_SIGN.search(bodies[0] + apart[2]):
        draft.line.claim_text(apart[0], apart[1])
        found[0] = replace(found[0], body=f"{bodies[0]} {apart[2]}")
    if bare_program(bodies[0]) and draft.line.text[: found[0].start].rstrip().endswith(":"):
        draft.default(f"{bodies[0]!r} after the colon is taken as the command")
    _state(draft, found[0])
    if beside is not None:
        add_options(draft, *beside)


def _refused(text: str, item: Found) -> tuple[int | None, int]:
    """Where words begin and end that say that a command is not to be run; None: nothing says so."""
    refused = negated_before(text, item.start)
    refused = stopped_before(text, item.start) if refused is None else refused
    if refused is not None:
        beside = re.match(r"(?i)instead|rather|without|avoid", text[refused : item.start])
        return refused, item.end if beside else end_of_refusal(text, item.end)
    behind = refused_behind(text, item.end)
    return (None, item.end) if behind is None else (item.start, behind)


def _only_options(
    draft: Draft, spans: list[tuple[int, int]], reader: ScriptReader | None
) -> tuple[ScriptReading, str, int] | None:
    """`submit with sbatch -p long; program ./x`: a submit line that hands nothing in, as options of the command."""
    if len(spans) != 1:
        return None
    line = draft.line.text[slice(*spans[0])].strip()
    done = read_submit_line(line, reader)
    if done.reading is None or done.reading.problems or done.left or done.script or done.command or done.shell:
        return None
    return done.reading, redact(line)[:2000], spans[0][0]


_SAME_AS = re.compile(
    r"(?i)(?:do )?(?:the )?(?:(?:very |exact(?:ly)? )?(?:the )?same(?: thing| job| as)?(?: as| like)?|just (?:as|like))"
    r"(?: with| in)?:?[ 	]+[`\"']?$"
)


def _same_as(text: str, at: int, start: int) -> int:
    """Where `the same thing as` begins that stands before a command at `at`; else `start`."""
    first = max(0, at - 80)
    lead = _SAME_AS.search(text[first:at])
    return first + lead.start() if lead else start


def _start(item: Found) -> int:
    return item.start


def _state_submitted(draft: Draft, span: tuple[int, int], reader: ScriptReader | None) -> None:
    """A submit line: its options are needs of the job, and what it hands in is asked where it is a file."""
    line = draft.line.text[slice(*span)].strip()
    words = redact(line)[:2000]
    draft.line.claim_text(_same_as(draft.line.text, span[0], span[0]), span[1])
    done = read_submit_line(line, reader)
    cure = "Say what the job runs and needs, or give the script itself: dragoman run -f FILE"
    if done.left:
        text = f"This is a submit line, and {done.left[0]}. {cure}"
        draft.questions.append(Question(id="command", field="command", words=words, start=span[0], text=text))
        return
    if done.reading is not None:
        draft.unread.extend(f"{words}: {problem}" for problem in done.reading.problems)
        asked = state_options(draft, done.reading, words, span[0])
        if asked is None:
            return
        launch = _inner(draft, done, *asked)
    else:
        launch = _inner(draft, done, {}, {})
    draft.fields["launched"] = launch
    if done.command or done.shell:
        draft.sources.append(Source(field="command", words=words, origin="text", start=span[0]))
        draft.fields.update({"command": list(launch.argv)} if done.command else {"script": done.shell})
        return
    name = done.script or "a script"
    by_shell = Option(
        label=f"run bash {name[:100]}; directives in it are not read", patch={"command": ["bash", done.script]}
    )
    draft.questions.append(
        Question(
            id="command" if done.script else _NO_SCRIPT, field="command", words=words, start=span[0],
            text=f"This is a submit line, and {name[:200]} is not opened by its name. {cure}",
            options=(by_shell,) if done.script else (),
        )
    )  # fmt: skip


_NO_SCRIPT = "command.no-script"
"""The question what a submit line without a script is to run."""


def settle_submit_line(draft: Draft, fields: dict[str, Any]) -> None:
    """A submit line without a script only says what the job needs, where software or an image says what runs."""
    if fields.get("software") or fields.get("containers"):
        draft.questions[:] = [question for question in draft.questions if question.id != _NO_SCRIPT]


_DURATION = re.compile(r"\d{1,5}(?:m|d|s|days?|mins?|sec)|\d{1,4}:\d{2}(?::\d{2})?|\d{1,3}-\d{1,2}(?::\d{2}){0,2}")


def _ask_about_time(draft: Draft, item: Found, argv: list[str]) -> bool:
    """`./x 90m 2 nodes`: a time behind the arguments can be the job's limit or the last argument."""
    if len(argv) < 2 or not _DURATION.fullmatch(argv[-1].lower()) or argv[-2].startswith("-") or argv[0] in PLAIN:
        return False
    if not re.match(r"[ \t]*(?:$|[,;\n]|\d|on\b|with\b|an? |one\b|two\b)", draft.line.text[item.end :]):
        return False
    from graph.reading.durations import duration_seconds

    seconds = [value for value in duration_seconds(argv[-1].lower()) if value > 0]
    limits = [
        Option(label=f"the time limit: {format_duration(value)}", patch={"command": [*argv[:-1]], "walltime_s": value})
        for value in seconds
    ]
    draft.ask_plain(
        "command", redact(item.body)[:2000], item.inner,
        f"Is {argv[-1]!r} the time limit, or an argument of {argv[0]}?",
        [*limits, Option(label="an argument", patch={"command": [*argv]})],
    )  # fmt: skip
    return True


_KEY = re.compile(
    r"(?:wall_?time|time_?limit|deadline|nodes|n_?tasks|ranks|queue|partition|account|project|mem|memory|gpus|cpus"
    r"|cores"
    r"|qos)=\S+"
)


def _ask_about_keys(draft: Draft, item: Found, argv: tuple[str, ...]) -> bool:
    """`./x mem=64g nodes=2`: behind the program, words that can be its arguments or what the job needs."""
    keys = [word for word in argv[1:] if _KEY.fullmatch(word.lower())]
    if not keys or argv[0] in PLAIN:
        return False
    draft.ask_plain(
        "command", redact(item.body)[:2000], item.inner,
        f"Are {' and '.join(map(repr, keys))} arguments of {argv[0]}? What the job needs is said before it.",
        [Option(label="arguments", patch={"command": [*argv]}),
         Option(label="no; I say what it needs", patch={"command": [word for word in argv if word not in keys]})],
    )  # fmt: skip
    return True


def _inner(draft: Draft, done: Submitted, shape: dict[str, Any], stated: dict[str, Any]) -> Launch:
    """What is handed in, with a launcher of its own taken apart (`salloc -N 2 srun ./x`)."""
    inner = read_launch(done.command)
    draft.unread.extend(redact(f"{done.command[0]} {option}") for option in inner.unknown)
    return Launch(
        inner.argv, shape={**inner.shape, **shape}, fields={**inner.fields, **stated}, environment=inner.environment,
        line=done.tasks_by_flux or inner.line,
    )  # fmt: skip


def _ask_about_line(draft: Draft, whole: tuple[int, int]) -> None:
    """A shell's signs stand beside a command: all of the line is to be run, or none of it."""
    line = draft.line.text[slice(*whole)].strip()
    draft.questions.append(
        Question(
            id="command", field="command", words=redact(line)[:2000], start=whole[0],
            text="This is a shell line. Is it to be run as it stands? Else put what is to be run between backticks, "
            "or into a script.",
            options=(Option(label=redact(line)[:200], patch={"script": line + "\n"}),),
        )
    )  # fmt: skip
    draft.line.claim_text(*whole)


def read_last_word(draft: Draft) -> None:
    """A bare word after the last colon that no rule understood is run as it stands, and the person is told."""
    read_same_again(draft)
    last = after_last_colon(draft.line.text)
    if last is None or {"command", "script"} & set(draft.fields) or draft.asks("command"):
        return
    body = draft.line.text[slice(*last)]
    if bare_program(body) and body in PLAIN and draft.line.is_open(*last):
        draft.line.claim_text(*last)
        draft.default(f"{body!r} after the colon is taken as the command")
        _state(draft, Found(*last, last[0], body))


def read_perhaps_command(draft: Draft) -> None:
    """Words that can be a command or not (`run sort`, `2 nodes for 1 hour: mysolver input`) are asked about."""
    if {"command", "script"} & set(draft.fields) or draft.asks("command"):
        return
    text = draft.line.text
    last = after_last_colon(text)
    body = text[slice(*last)] if last is not None else ""
    if last is not None and (perhaps_command(body) or bare_program(body)) and draft.line.is_open(*last):
        name = Option(label="no, it is software", patch={"software": [{"name": body}]})
        _ask_whether(draft, *last, [name] if " " not in body else [])
        return
    for match in _RUN_WORD.finditer(text):
        start = match.start("word")
        if match["word"] in WORDLIKE and draft.line.is_open(*match.span("word")):
            stop = text.find("\n", start)
            end = extent(text, start, len(text) if stop < 0 else stop)
            software = Option(label="no, it is software", patch={"software": [{"name": match["word"]}]})
            if draft.line.is_open(start, end):
                _ask_whether(draft, start, end, [software])
            return


def _ask_whether(draft: Draft, start: int, end: int, more: list[Option]) -> None:
    body = draft.line.text[start:end]
    yes = Option(label=f"yes, run {redact(body)[:200]}", patch=_patch(body))
    draft.ask_plain(
        "command", redact(body)[:2000], start, f"Is `{redact(body)[:200]}` the command to run?", [yes, *more]
    )
    draft.line.claim_text(start, end)


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


def _state(draft: Draft, item: Found) -> None:
    argv = split_command(item.body)
    words = redact(item.body)[:2000]
    if open_quote(item.body):
        draft.ask_plain(
            "command", words, item.inner, "A quotation in this command does not end. What is to be run?", []
        )
        return
    if argv is None:
        draft.fields["script"] = item.body + "\n"
        draft.default(f"{words!r} needs a shell and is run as a script, as written")
        draft.sources.append(Source(field="script", words=words, origin="text", start=item.inner))
        return
    if needs_more(argv):
        draft.ask_plain("command", words, item.inner, f"What is {argv[0]} to be given?", [])
        return
    if item.start == item.inner and (_ask_about_time(draft, item, list(argv)) or _ask_about_keys(draft, item, argv)):
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
