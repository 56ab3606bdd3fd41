"""`--asking`: how many sites are asked at a time."""

from __future__ import annotations

import re

from dragoman.errors import BadRequest
from dragoman.model import JsonObject

__all__ = ["asking_options"]

_FORM = re.compile(r"(?:at-once|(?:serial|batched:(?P<batch>\d{1,4}))(?:@(?P<pause>\d{1,4}(?:\.\d{1,3})?))?)")


def asking_options(given: str | None) -> JsonObject:
    """The options of a thread that the words stand for; none: as without.

    Raises:
        BadRequest: they are none of those, or out of bounds.

    """
    if given is None:
        return {}
    found = _FORM.fullmatch(given)
    batch, pause = (found["batch"], found["pause"]) if found else (None, None)
    if not found or not 1 <= int(batch or 1) <= 1000 or float(pause or 0) > 3600:
        raise BadRequest(
            f"{given!r} is no way to ask sites",
            where="--asking",
            cure="write at-once, serial, batched:10 (1 to 1000 sites) or, with seconds between, batched:10@2",
        )
    options: JsonObject = {"asking": re.split("[:@]", given)[0]}
    if batch is not None:
        options["batch"] = int(batch)
    if pause is not None:
        options["batch_pause_s"] = float(pause)
    return options
