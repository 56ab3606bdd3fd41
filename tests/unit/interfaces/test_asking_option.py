"""How sites are asked, chosen on the command line."""

from __future__ import annotations

import pytest

from dragoman.errors import BadRequest
from dragoman.model import JsonObject
from graph.state import Options
from interfaces.cli.asking_option import asking_options


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (None, {}),
        ("at-once", {"asking": "at-once"}),
        ("serial", {"asking": "serial"}),
        ("serial@0.5", {"asking": "serial", "batch_pause_s": 0.5}),
        ("batched:20", {"asking": "batched", "batch": 20}),
        ("batched:1000@3600", {"asking": "batched", "batch": 1000, "batch_pause_s": 3600.0}),
    ],
)
def test_ways(given: str | None, options: JsonObject) -> None:
    assert asking_options(given) == options
    Options.model_validate(options)


@pytest.mark.parametrize(
    "given", ["", "batched", "batched:0", "batched:1001", "serial:3", "serial@", "at-once@1", "serial@3601", "all"]
)
def test_what_is_none(given: str) -> None:
    with pytest.raises(BadRequest) as caught:
        asking_options(given)
    assert "--asking" in str(caught.value)
