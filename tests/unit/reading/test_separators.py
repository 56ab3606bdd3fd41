"""Items keep their meaning whatever sign stands between them, and in whatever order they stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

SIGNS = ("; ", " / ", " | ", " - ", "\n")
_GOES_ON = re.compile(
    r"[`\"']|: |; |\. [A-Z]|\n|, (?:um |\d{1,2}[:.]\d|\d{1,2} Uhr)"
    r"|(?i:\b(?:each|it|its|that|this|which|they|them|both|either|or|but|and)\b)"
)
"""What refers to another item, or is more than a list of items."""


def lists() -> list[dict[str, Any]]:
    """Requests of three items and more."""
    files = sorted((Path(__file__).parent / "apart").glob("5*.yaml"))
    entries = [entry for file in files for entry in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [
        entry
        for entry in entries
        if entry["text"].count(", ") > 2 and not _GOES_ON.search(entry["text"]) and "not_yet" not in entry
    ]


@pytest.mark.parametrize("sign", SIGNS, ids=["semicolon", "slash", "bar", "dash", "line"])
@pytest.mark.parametrize("listed", lists(), ids=lambda entry: entry["text"][:60])
def test_another_sign_between_items(
    listed: dict[str, Any], sign: str, judge_apart: Callable[[Any], tuple[str, Any]]
) -> None:
    verdict, found = judge_apart({**listed, "text": listed["text"].replace(", ", sign)})
    assert verdict != "misread", found


@pytest.mark.parametrize("listed", lists(), ids=lambda entry: entry["text"][:60])
def test_items_the_other_way_round(listed: dict[str, Any], judge_apart: Callable[[Any], tuple[str, Any]]) -> None:
    items = listed["text"].rstrip(".").split(", ")
    verdict, found = judge_apart({**listed, "text": ", ".join([items[0], *reversed(items[1:])])})
    assert verdict != "misread", found
