"""A script's bytes as text: what is no script is refused with the cure, and no byte of one is lost."""

from __future__ import annotations

import re
from typing import Literal

from dragoman.errors import BadRequest

__all__ = ["LARGEST", "script_text"]

LARGEST = 4_000_000
"""Bytes. What a request takes; schedulers take 4 MiB (Slurm's `max_script_size`) or less."""
_CONTROL = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def script_text(data: bytes, name: str) -> tuple[str, Literal["utf-8", "latin-1"]]:
    """The text and its encoding; what is no UTF-8 is taken byte for byte (`latin-1`), to be written back so.

    Args:
        data: the file.
        name: its name, for messages.

    Raises:
        BadRequest: empty, too large, binary.

    """
    if len(data) > LARGEST:
        words = f"the script has more than {LARGEST // 1_000_000} MB"
        raise BadRequest(words, where=name, cure="keep data in files of its own, which the script reads")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadRequest("the script is UTF-16", where=name, cure="save it as UTF-8 (iconv -f UTF-16 -t UTF-8)")
    encoding: Literal["utf-8", "latin-1"] = "utf-8"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = data.decode("latin-1")
    found = _CONTROL.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        words = f"line {line} holds the control character {found[0]!r}: this is no job script"
        raise BadRequest(words, where=name, cure="give the script's text, not a program or an archive")
    if not text.removeprefix("\ufeff").strip():
        raise BadRequest("the script is empty", where=name, cure="give a job script")
    return text, encoding
