"""Inputs that lie with the person who asks: made absolute, checked to be there, and files the command names added."""

from __future__ import annotations

from pathlib import PurePosixPath

import anyio

from dragoman.errors import BadRequest
from dragoman.request import InputFile, JobRequest, Source

__all__ = ["with_local_inputs"]

_REMOTE = ("s3://", "gs://", "https://", "http://", "globus://")


async def with_local_inputs(request: JobRequest, base_dir: str | None) -> JobRequest:
    """The request with absolute sources, and with what its command and container name in `base_dir`.

    Only plain relative names inside `base_dir` are taken, and each is noted for the person to see.

    Raises:
        BadRequest: for an input that is not there or cannot be read, before anything is stored or moved.

    """
    inputs = [await _absolute(each, base_dir, index) for index, each in enumerate(request.inputs)]
    added: list[InputFile] = []
    if base_dir is not None:
        known = {each.name for each in inputs}
        images = [need.image for need in request.containers if need.image is not None]
        for word in dict.fromkeys((*request.command, *images)):
            name = word.removeprefix("./")
            if name not in known and await _is_file_here(name, base_dir):
                added.append(InputFile(source=str(PurePosixPath(base_dir) / name), name=name))
    if not added and tuple(inputs) == request.inputs:
        return request
    notes = tuple(
        f"{each.name} lies here and is named by the command: it is taken along"
        if _named(each.name, request)
        else f"the image {each.name} lies here: it is taken along"
        for each in added
    )
    sources = tuple(
        Source(field=f"inputs.{len(inputs) + index}", words=each.name, origin="default")
        for index, each in enumerate(added)
    )
    return request.model_copy(
        update={
            "inputs": (*inputs, *added),
            "notes": (*request.notes, *notes),
            "sources": (*request.sources, *sources),
        }
    )


def _named(name: str, request: JobRequest) -> bool:
    return name in request.command or f"./{name}" in request.command


async def _absolute(given: InputFile, base_dir: str | None, index: int) -> InputFile:
    if given.site is not None or given.source.startswith(_REMOTE):
        return given
    source = anyio.Path(given.source)
    if not source.is_absolute():
        if base_dir is None:
            raise BadRequest(
                f"{given.source!r} is relative to a folder that is not known here",
                where=f"inputs.{index}.source",
                cure="give an absolute path or a URL",
            )
        source = anyio.Path(base_dir) / given.source
    try:
        stat = await source.stat()
    except OSError as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise BadRequest(
            f"the input file {given.source} {reason}", where=f"inputs.{index}", cure=f"looked for {source}"
        ) from error
    return given.model_copy(update={"source": str(source), "bytes": stat.st_size if await source.is_file() else None})


async def _is_file_here(name: str, base_dir: str) -> bool:
    parts = PurePosixPath(name).parts
    if not name or name.startswith(("/", "-", "~")) or ".." in parts or len(name) > 255 or "\n" in name:
        return False
    path = anyio.Path(base_dir) / name
    return await path.is_file() and not await path.is_symlink()
