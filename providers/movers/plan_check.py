"""What is wrong with a transfer plan before anything is copied: names that meet, leave the root, or cannot be kept."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from dragoman.errors import TransferError
from dragoman.request import RelativeName

__all__ = ["check_destinations", "relative_to_root"]

_NAME: TypeAdapter[str] = TypeAdapter(RelativeName)


def relative_to_root(destination: str, root: str) -> str:
    """The destination as a safe name below the root.

    Raises:
        TransferError: it leaves the root, or is a name that no manifest can hold.

    """
    if not destination.startswith("/") or not root.startswith("/"):
        raise TransferError("is not an absolute path", where=destination, cure="name both ends absolutely")
    base = root.rstrip("/") + "/"
    name = destination.removeprefix(base)
    if not destination.startswith(base) or posixpath.normpath(name) != name or name.startswith("../") or name == "..":
        raise TransferError(f"leaves {root}", where=destination, cure="name a file inside the job's own folder")
    try:
        name.encode("utf-8")
        return _NAME.validate_python(name)
    except (UnicodeEncodeError, ValidationError) as error:
        raise TransferError(
            "has a name that cannot be kept", where=repr(destination), cure="rename it without control characters"
        ) from error


def check_destinations(names: Sequence[tuple[str, str]]) -> None:
    """Refuse names that would meet at the destination; pairs of relative name and source.

    Case and Unicode form do not tell names apart, because they do not on every file system.

    Raises:
        TransferError: two files would become one, or a file would have to be a folder.

    """
    files: dict[str, tuple[str, str]] = {}
    for name, source in names:
        folded = _folded(name)
        if folded in files:
            other_name, other = files[folded]
            both = name if name == other_name else f"{other_name} or {name}, which is one file on some disks"
            raise TransferError(
                f"{other} and {source} would both become {both}",
                where=name,
                cure="give them different names",
            )
        files[folded] = (name, source)
    for folded, (name, source) in files.items():
        above = posixpath.dirname(folded)
        while above:
            if above in files:
                raise TransferError(
                    f"{files[above][1]} would have to be a folder for {source}", where=name, cure="rename one of them"
                )
            above = posixpath.dirname(above)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
