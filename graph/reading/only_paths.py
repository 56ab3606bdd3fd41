"""A request that is only a path: no file is opened by its name, so it is asked what is to be run."""

from __future__ import annotations

import re
from datetime import datetime

from dragoman.request import JobRequest
from graph.reading.reading import Option, Question, Reading

__all__ = ["is_path", "only_a_path"]

_PATH = re.compile(r"(?:file://)?(?:~?/|\./|\.\./)[\w.@+/-]+|[\w@+-][\w.@+/-]*/[\w.@+-]+\.[A-Za-z]\w{0,7}")


def is_path(text: str) -> bool:
    """Whether a text is a path and nothing else."""
    return _PATH.fullmatch(text) is not None


def only_a_path(path: str, now: datetime, time_zone: str | None) -> Reading:
    """The question what is to be run, with the path as a program."""
    question = Question(
        id="command", field="command", words=path[:2000], start=0,
        text="This is only a path, and no file is opened by its name. What should be run?",
        options=(Option(label=f"run the program {path[:200]}", patch={"command": [path]}),),
    )  # fmt: skip
    return Reading(request=JobRequest(), questions=(question,), unread=(path[:2000],), read_at=now, time_zone=time_zone)
