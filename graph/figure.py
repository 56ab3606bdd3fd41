"""The figure of merit in what a run printed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import anyio

from dragoman.request import FigureOfMerit, MeasuredFigure

__all__ = ["figure_in", "measured_figure"]

MOST_BYTES = 4 * 2**20
"""Of the output's end: applications print it last."""
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]*\d)")


async def measured_figure(wanted: FigureOfMerit, folder: str) -> MeasuredFigure | None:
    """The figure in a folder of results; None where its file or number is not there."""
    path = anyio.Path(folder) / wanted.file
    try:
        async with await anyio.open_file(Path(path), "rb") as stream:
            await stream.seek(max(0, (await path.stat()).st_size - MOST_BYTES))
            data = await stream.read(MOST_BYTES)
    except OSError:
        return None
    return figure_in(data.decode("utf-8", "replace"), wanted)


def figure_in(text: str, wanted: FigureOfMerit) -> MeasuredFigure | None:
    """The first number after the last `after`, in its line; None where there is none."""
    _, found, rest = text.rpartition(wanted.after)
    number = _NUMBER.search(rest.partition("\n")[0]) if found else None
    value = float(number.group()) if number else math.nan
    return MeasuredFigure(value=value, unit=wanted.unit, better=wanted.better) if math.isfinite(value) else None
