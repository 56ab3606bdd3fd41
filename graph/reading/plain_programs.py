"""Programs that every system has and that are no words of a request: `run hostname` is a command, no software.

The first list is of utilities of POSIX and of Linux whose names mean nothing else in a sentence; those of the second
are words too (`sort`, `date`), and it is asked which is meant.
"""

from __future__ import annotations

import re

from graph.reading.lexicon import FUNCTION_WORDS, KEYWORDS, NUMBER_WORDS, PADDING

__all__ = ["PLAIN", "WORDLIKE", "needs_more", "perhaps_command"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN = _words("""
    awk basename cat chmod cksum cmp cp curl dd df dirname du echo expr false fio getconf gawk grep gunzip gzip hexdump
    hostname hwloc-ls ifconfig ldd ln locale ls lsblk lscpu lsmem lspci lstopo md5sum mkdir mkfifo mktemp mpstat mv
    nproc numastat nvidia-smi od printenv printf pwd readlink rm rmdir rocm-smi rsync scp sed seq sha256sum sha512sum
    sleep stat stress stress-ng tar tee touch tput tr true tty uname uniq unzip uptime vmstat wc wget whoami xargs
    xz zip
""")
WORDLIKE = _words("""
    column comm cut date diff env expand file find fold free groups head hostid id iostat join kill less link locate
    more nice numactl paste perf ping ps sort split strings tail test time top tree watch which who yes
""")
_NEED_MORE = _words(
    "cat chmod cp curl dd grep ln mkdir mv rm rmdir rsync scp sed sleep tar tee touch tr wget xargs awk"
)
_PROSE = _words("""
    a an and are be by can could each for from has have i if in is it its like me my no not of on or our please so some
    that the their them then there they this to us was we when which will with would you
""")


def needs_more(argv: tuple[str, ...] | list[str]) -> bool:
    """Whether a utility does nothing without arguments, and has none."""
    return len(argv) == 1 and argv[0] in _NEED_MORE


def perhaps_command(body: str) -> bool:
    """Whether words after a colon can be a command: a name that is no word of the language, and no sentence."""
    words = body.split()
    if not 1 < len(words) <= 12 or not re.fullmatch(r"[a-z][\w.+-]*", words[0]) or ", " in body:
        return False
    first = words[0]
    known = first in PADDING or first in KEYWORDS or first in FUNCTION_WORDS or first in NUMBER_WORDS
    return not known and not any(word.lower() in _PROSE for word in words)
