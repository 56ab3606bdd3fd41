"""`translate`: a job script of one scheduler as a script of another; the script on stdout, what to know on stderr."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.to_thread

from dragoman.errors import BadRequest
from interfaces.cli.running import emit, run_command, say
from providers.translation.report import Remark, Translation
from providers.translation.source import LARGEST, script_text
from providers.translation.translate import translate_script

__all__ = ["translate"]


def translate(script: str, to: str, source: str | None, output: str | None, *, force: bool, as_json: bool) -> NoReturn:
    """Translate a script (see `interfaces.cli.main`)."""

    async def command() -> int:
        name = "stdin" if script == "-" else script
        data = await anyio.to_thread.run_sync(_read, script)
        text, encoding = script_text(data, name)
        made = await anyio.to_thread.run_sync(lambda: translate_script(text, to, source=source, name=name))
        made = made.model_copy(update={"encoding": encoding})
        if encoding != "utf-8":
            why = "the script is no UTF-8: its bytes are kept as they are"
            made = made.model_copy(update={"report": (*made.report, Remark(kind="note", why=why))})
        if output is not None:
            data = made.script.encode(encoding)
            await anyio.to_thread.run_sync(functools.partial(_write, output, script, data, force=force))
        if as_json:
            emit(made.dump())
        else:
            if output is None:
                sys.stdout.buffer.write(made.script.encode(encoding))
                sys.stdout.flush()
            _tell(made, output)
        return 0

    run_command(command)


def _read(script: str) -> bytes:
    if script == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    try:
        with Path(script).open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        cure = "name a readable file, or - for stdin"
        raise BadRequest(f"cannot be read: {error.strerror}", where=script, cure=cure) from error


def _write(output: str, script: str, data: bytes, *, force: bool) -> None:
    """Written whole or not at all; a file that is there stays, unless it may be replaced."""
    path = Path(output)
    if script != "-" and path.exists() and path.samefile(script):
        raise BadRequest("would replace the script that is translated", where="--output", cure="choose another name")
    if path.exists() and not force:
        raise BadRequest(f"{output} is there already", where="--output", cure="choose another name, or add --force")
    try:
        handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        Path(made).chmod(0o666 & ~umask)
        Path(made).replace(path)
    except OSError as error:
        raise BadRequest(f"cannot be written: {error.strerror}", where=output, cure="choose another folder") from error


def _tell(made: Translation, output: str | None) -> None:
    if made.diff:
        say(made.diff.rstrip("\n"))
        for change in made.changes:
            say(f"line {change.line}: {change.reason}")
    for title, kind in (("not translated", "lost"), ("note", "note")):
        for remark in made.report:
            if remark.kind == kind:
                where = f"line {remark.line}: " if remark.line is not None else ""
                words = f"{remark.words}: " if remark.words else ""
                say(f"{title}: {where}{words}{remark.why}")
    if output is not None:
        say(f"written to {output}")
