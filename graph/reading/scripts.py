"""A job script in the text, whole or with words around it; secrets in its body are taken out."""

from __future__ import annotations

import functools
import re

from dragoman.errors import BadRequest
from dragoman.request import EnvironmentVariable
from dragoman.secrets import HIDDEN, is_secret_name, is_secret_value
from graph.reading.environment import variable
from graph.reading.script_words import without_words
from providers.script_reading import directive_pattern

__all__ = ["directive", "find_script", "without_secrets"]

_FENCED = re.compile(r"```[A-Za-z]{0,12}[ \t]*\n(?P<body>.*?)\n?```", re.DOTALL)
_EXPORT = re.compile(
    r"^(?P<indent>[ \t]{0,40})(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{0,127})=(?P<value>\"[^\"]*\"|'[^']*'"
    r"|[^\s;#]+)[ \t]*$",
    re.MULTILINE,
)


@functools.cache
def directive() -> re.Pattern[str]:
    """How a line for a scheduler begins: for any that is known here, and for LoadLeveler."""
    return re.compile(rf"{directive_pattern().pattern}|^#@ ?\w+ ?=", re.MULTILINE)


def find_script(text: str) -> tuple[str, str] | None:
    """The script and the words around it; None where the text holds no job script."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("#!"):
        return without_words(stripped) if directive().search(stripped) else (stripped, "")
    if re.search(r"^#", text, re.MULTILINE) is None or not directive().search(text):
        return None
    if directive().match(stripped):
        return without_words(stripped)
    for match in _FENCED.finditer(text):
        if directive().search(match["body"]) or match["body"].startswith("#!"):
            return match["body"] + "\n", text[: match.start()] + "\n" + text[match.end() :]
    first = directive().search(text)
    shebang = re.search(r"^#!", text, re.MULTILINE)
    start = min(found.start() for found in (first, shebang) if found is not None)
    script, words = without_words(text[start:])
    return script, f"{text[:start].rstrip()}\n{words}" if words else text[:start]


def without_secrets(body: str, secrets: dict[str, str]) -> tuple[str, tuple[EnvironmentVariable, ...]]:
    """The body with secret values of its variables taken out, and the variables that bring them.

    Raises:
        BadRequest: a variable with two secret values, which cannot both be its value.

    """
    found: list[EnvironmentVariable] = []

    def take(match: re.Match[str]) -> str:
        value = match["value"]
        bare = value[1:-1] if value[0] in "\"'" else value
        if not (is_secret_name(match["name"], bare) or is_secret_value(bare)) or bare.startswith(HIDDEN):
            return match[0]
        if value[0] != "'" and re.search(r"[$`]", bare):
            return match[0]  # the shell makes the value, and would not of what is kept
        item = variable(secrets, match["name"], bare)
        if any(one.name == item.name and one != item for one in found):
            raise BadRequest(
                f"the script sets {item.name} to two secret values, of which one would be used throughout",
                where="script", cure=f"give {item.name} one value, or two variables of other names",
            )  # fmt: skip
        if item not in found:
            found.append(item)
        return f"{match['indent']}export {match['name']}"

    return _EXPORT.sub(take, body), tuple(found)
