r"""sbatch's options, and how it takes a directive line apart (sbatch(1), releases 20.11 to 25.05).

sbatch's rules, tried on 22.05: blanks separate, `"` and `'` quote (inside a word too), `\` takes the next character
as it is, `#` outside quotes begins a comment. Nothing is expanded. Long options may be shortened as long as they are
unambiguous; a short option's value may follow without a blank (`-N2`), but `=` would belong to the value.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dragoman.errors import BadRequest

__all__ = ["FORBIDDEN", "LONG", "SHORT", "Option", "quote_word", "take_options"]

_VALUE: Final[tuple[str, ...]] = (
    "account", "acctg-freq", "array", "batch", "bb", "bbf", "begin", "bcast", "chdir", "cluster-constraint", "clusters",
    "comment", "constraint", "container", "container-id", "context", "core-spec", "cores-per-socket", "cpu-freq",
    "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot", "dependency", "distribution", "error", "exclude",
    "export", "export-file", "extra", "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
    "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "hint", "input", "job-name", "kill-on-invalid-dep",
    "licenses", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus",
    "network", "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node",
    "ntasks-per-socket", "tasks-per-node", "open-mode", "output", "partition", "power", "prefer", "priority", "profile",
    "qos", "reservation", "resv-ports", "segment", "signal", "sockets-per-node", "stepmgr", "switches", "thread-spec",
    "threads-per-core", "time", "time-min", "tmp", "tres-bind", "tres-per-task", "tres-per-node", "uid",
    "wait-all-nodes", "wckey", "wrap",
)  # fmt: skip
_OPTIONAL: Final[tuple[str, ...]] = ("exclusive", "get-user-env", "nice", "propagate")
_FLAG: Final[tuple[str, ...]] = (
    "contiguous", "help", "hold", "ignore-pbs", "no-kill", "no-requeue", "overcommit", "oversubscribe", "share",
    "parsable", "quiet", "reboot", "requeue", "spread-job", "test-only", "usage", "use-min-nodes", "verbose", "version",
    "wait",
)  # fmt: skip

LONG: Final[dict[str, str]] = {
    name: kind for kind, names in (("value", _VALUE), ("optional", _OPTIONAL), ("flag", _FLAG)) for name in names
}
"""Each long option: whether it takes a value."""

SHORT: Final[dict[str, str]] = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold", "h": "help",
    "i": "input", "J": "job-name", "k": "no-kill", "L": "licenses", "M": "clusters", "m": "distribution", "N": "nodes",
    "n": "ntasks", "O": "overcommit", "o": "output", "p": "partition", "Q": "quiet", "q": "qos", "S": "core-spec",
    "s": "oversubscribe", "t": "time", "V": "version", "v": "verbose", "W": "wait", "w": "nodelist", "x": "exclude",
}  # fmt: skip

_ALIASES = {"tasks-per-node": "ntasks-per-node", "share": "oversubscribe"}

FORBIDDEN: Final = frozenset(
    {
        "job-name", "comment", "output", "error", "input", "chdir", "wrap", "parsable", "test-only", "wait", "uid",
        "gid", "mail-type", "mail-user", "export-file", "help", "usage", "version", "quiet", "verbose", "batch",
        "container", "open-mode", "array", "bcast",
    }
)  # fmt: skip
"""Never taken from a request as a native option: they would hide the job, move its files, or not submit at all."""


class Option(NamedTuple):
    """One option as it was found."""

    name: str
    """Long name; for `hetjob` lines `hetjob`."""
    value: str | None
    written: str
    """As written, for messages."""
    problem: str = ""
    """What is wrong with it, and the cure."""
    known: bool = True
    """False for an option that is not sbatch's own: a plugin of the site may know it."""


def quote_word(value: str, *, where: str) -> str:
    """A value that sbatch reads back as it was: as it stands where that is safe, else in double quotes.

    Raises:
        BadRequest: for an empty value.

    """
    if not value:
        raise BadRequest("an empty value", where=where, cure="give one or leave the option out")
    if all(character.isalnum() or character in "-_.,:;=+@/%[]*^~" for character in value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def take_options(words: list[str]) -> list[Option]:
    """The options of a directive line's words."""
    options: list[Option] = []
    position = 0
    while position < len(words):
        word = words[position]
        following = words[position + 1] if position + 1 < len(words) else None
        if word in ("hetjob", "packjob"):
            options.append(Option("hetjob", None, word))
        elif word.startswith("--") and len(word) > 2:
            option, used = _long(word, following)
            options.append(option)
            position += used
        elif word.startswith("-") and len(word) > 1:
            found, used = _short(word, following)
            options.extend(found)
            position += used
        else:
            options.append(Option("", None, word, f"{word!r} is no option (options begin with a dash; quote blanks)"))
        position += 1
    return options


def _long(word: str, following: str | None) -> tuple[Option, int]:
    written, equals, value = word[2:].partition("=")
    names = [written] if written in LONG else [name for name in LONG if name.startswith(written)]
    names = list(dict.fromkeys(_ALIASES.get(name, name) for name in names))
    if not names:
        if equals or following is None or following.startswith("-"):
            return Option(written, value if equals else None, word, known=False), 0
        return Option(written, following, f"{word} {following}", known=False), 1
    if len(names) > 1:
        return Option(written, None, word, f"--{written} may be {' or '.join(f'--{name}' for name in names[:4])}"), 0
    name = names[0]
    kind = LONG[name]
    if kind == "flag":
        problem = f"--{name} takes no value (delete ={value})" if equals else ""
        return Option(name, None, word, problem), 0
    if kind == "optional" or equals:
        problem = "" if value or not equals else f"--{name} has no value (give one or delete the line)"
        return Option(name, value if equals else None, word, problem), 0
    if following is None:
        return Option(name, None, word, f"--{name} has no value (give one or delete the line)"), 0
    return Option(name, following, f"{word} {following}"), 1


def _short(word: str, following: str | None) -> tuple[list[Option], int]:
    options: list[Option] = []
    for at, letter in enumerate(word[1:], start=1):
        name = SHORT.get(letter)
        if name is None:
            options.append(Option("", None, word, f"-{letter} is no option of sbatch (delete it)"))
            return options, int(following is not None and not following.startswith("-"))
        if LONG[name] == "flag":
            options.append(Option(name, None, f"-{letter}"))
            continue
        rest = word[at + 1 :]
        if rest.startswith("="):
            cure = f"write -{letter} {rest[1:]} or --{name}{rest}"
            options.append(Option(name, rest, word, f"-{letter} takes {rest!r} with the equals sign ({cure})"))
            return options, 0
        if rest:
            options.append(Option(name, rest, word))
            return options, 0
        if following is None:
            options.append(Option(name, None, word, f"-{letter} has no value (give one or delete the line)"))
            return options, 0
        options.append(Option(name, following, f"{word} {following}"))
        return options, 1
    return options, 0
