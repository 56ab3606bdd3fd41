"""The files behind a plan's items on this host: folders walked, links kept inside, everything else refused."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.errors import TransferError
from dragoman.transfer import TransferItem, TransferPlan
from providers.movers.plan_check import check_destinations, relative_to_root

__all__ = ["LocalFile", "expand"]


@dataclass(frozen=True, slots=True)
class LocalFile:
    """One file to copy: `source` has its links resolved; `name` is relative to the plan's root."""

    source: str
    name: str
    label: str
    """The name in the manifest."""
    bytes: int
    sha256: str | None = None
    """What its content must be, where the plan says so."""


def expand(plan: TransferPlan) -> tuple[list[LocalFile], list[str]]:
    """All files of a plan, and the folders that are empty; checked as a whole before anything is copied.

    Raises:
        TransferError: a source is missing, no file, or a link that leads out; names meet or leave the root.

    """
    files: list[LocalFile] = []
    folders: list[str] = []
    for item in plan.items:
        name = relative_to_root(item.destination, plan.root)
        source = _resolved(item, keep_inside=plan.direction == "out")
        try:
            seen = os.stat(source)  # noqa: PTH116  # whole paths as text, as the plan has them
        except OSError as error:
            raise _missing(item.source, error) from error
        if stat.S_ISDIR(seen.st_mode):
            for each, rest in _walk(source, source):
                full = relative_to_root(f"{plan.root.rstrip('/')}/{name}/{rest}", plan.root)
                if each is None:
                    folders.append(full)
                else:
                    files.append(LocalFile(each, full, f"{item.name}/{rest}", os.stat(each).st_size))  # noqa: PTH116
            folders.append(name)
        elif stat.S_ISREG(seen.st_mode):
            files.append(LocalFile(source, name, item.name, seen.st_size, item.sha256))
        else:
            raise TransferError("is neither a file nor a folder", where=item.source, cure="leave it out")
    check_destinations([(file.name, file.source) for file in files])
    return files, folders


def _resolved(item: TransferItem, *, keep_inside: bool) -> str:
    """The source without links. What a job left must not lead out of the job's folder; a person may name a link."""
    source = os.path.realpath(item.source)
    if not keep_inside:
        return source
    folder = item.source.removesuffix(f"/{item.name}") if item.source.endswith(f"/{item.name}") else (
        posixpath.dirname(item.source)
    )  # fmt: skip
    if not source.startswith(os.path.realpath(folder).rstrip("/") + "/"):
        raise TransferError(
            f"is a link that leads out of {folder}", where=item.source, cure="have the job leave a file, not a link"
        )
    return source


def _missing(path: str, error: OSError) -> TransferError:
    if isinstance(error, FileNotFoundError):
        return TransferError("is not there", where=path, cure="name a file that exists")
    return TransferError(f"cannot be read: {error.strerror}", where=path, cure="make it readable")


def _walk(folder: str, top: str) -> Iterator[tuple[str | None, str]]:
    """Files below a folder with their names relative to its top; an empty folder comes without a file."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise _missing(folder, error) from error
    if not found and folder != top:
        yield None, posixpath.relpath(folder, top)
    for entry in found:
        rest = posixpath.relpath(entry.path, top)
        if entry.is_symlink():
            target = os.path.realpath(entry.path)
            if not target.startswith(top.rstrip("/") + "/") or not os.path.isfile(target):  # noqa: PTH113
                raise TransferError(
                    "is a link that leads out of the folder, or to no file",
                    where=entry.path,
                    cure="replace it by the file itself, or leave it out",
                )
            yield target, rest
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, top)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path, rest
        else:
            raise TransferError("is neither a file nor a folder", where=entry.path, cure="leave it out")
