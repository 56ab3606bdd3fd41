"""Words behind the directives of a job script: `#SBATCH -N 2`, and below it `Keep these, but for 6 hours. Run ./x`.

Lines at the end that no shell could run are a person's, and count over the directives. Where nothing else is below
these, the directives are options and there is no script.
"""

from __future__ import annotations

import re

from graph.reading.closed_words import is_closed_word

__all__ = ["only_directives", "without_words"]

_BUILTINS = frozenset(
    """
    alias bg break case cd command continue declare do done echo elif else env esac eval exec exit export fi for
    function if let local module ml printf pushd popd read return select set shift source spack conda srun mpirun
    mpiexec sleep test then time trap ulimit umask unset until wait while until apptainer singularity python python3
    bash sh cat cp mv rm mkdir make git tar perl julia java Rscript R
    """.split()  # noqa: SIM905
)
"""Words that begin a line of a shell, also where more words of a sentence stand in it."""
_TICKED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"")
_OF_A_SHELL = re.compile(
    r"\\$|[|<>&]|\w[ \t]+[+*/-]?=[ \t]|\$[\w({]|;;|;[ \t]*(?:do|then|done|fi)?$|^[ \t]*[A-Za-z_]\w*=\S"
    r"|^[ \t]*[^\s:]*[./][^\s:]*(?:[ \t]|$)"
    r"|[)}][ \t]*\{?$"
)
_OPTION = re.compile(r"(?:^|[ \t])-{1,2}[A-Za-z]")
_SHELL = re.compile(r"#![ \t]*\S*?/(?:env[ \t]+)?(?:ba|z|da|k|c|tc)?sh(?:[ \t]|$)")
_LABELLED = re.compile(r"[ \t]*(?:[-*•][ \t]+)?[A-Za-z]\w*(?:-\w+)?(?:[ \t][A-Za-z]\w*(?:['-]\w+)?){0,3}:[ \t]+\S")
_COUNTED = re.compile(r"[ \t]*(?:[-*•][ \t]+)?\d[\d.,:]*[ \t]*[A-Za-z]{1,16}(?:[ ,.;]|$)")
_ASKED = re.compile(r"(?i)[ \t](?:please|pls|plz|thanks|thx|bitte|merci|svp)[.!]*$")
_IT_IS = re.compile(
    r"(?i)(?:it(?:'|\u2019)?s|it is|this is|that(?:'|\u2019)s|thats|for|we"
    r"|i)[ \t]+[^\s=|&;$]+(?:[ \t]|$)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001  # as typed
_FEW = 2
"""So many closed words make a sentence of a line that begins like a program."""


def without_words(script: str) -> tuple[str, str]:
    """The script without the sentences that end it, and these; the second is empty where it ends as a script does."""
    lines = script.splitlines(keepends=True)
    if script.startswith("#!") and not _SHELL.match(lines[0].rstrip()):
        return script, ""  # what is a sentence to a shell is none to Python
    first = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at].strip()
        if line and not _is_sentence(line):
            break
        first = at if line else first
    if first == 0 or not any(line.startswith("#") for line in lines[:first]):
        return script, ""
    return "".join(lines[:first]), "".join(lines[first:])


def only_directives(body: str) -> bool:
    """Whether a script's body has nothing to run: blanks and comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in body.splitlines())


def _is_sentence(line: str) -> bool:
    """Whether a line is a person's: words of a sentence in it, and nothing that only a shell knows."""
    bare = _TICKED.sub(" ", line)
    first = line.split()[0]
    if line.startswith("#") or first in _BUILTINS:
        return False
    if _ASKED.search(line) or _LABELLED.match(line) or _COUNTED.match(line) or _IT_IS.match(line):
        return True
    if _OF_A_SHELL.search(bare):
        return False
    words = _WORD.findall(bare)
    closed = sum(is_closed_word(word, after) for word, after in zip(words, [*words[1:], ""], strict=False))
    capital = first[0].isupper() and not first.isupper()
    if not capital and _OPTION.search(bare):
        return False
    return len(words) >= _FEW and closed >= (1 if capital or line.endswith((".", "!", "?")) else _FEW)
