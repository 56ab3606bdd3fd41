"""What docs/approval.md says is what happens."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from dragoman.selection import ApprovalRule
from dragoman.settings import SHIPPED_RULE
from graph.approval_answer import read_answer

PAGE = (Path(__file__).parents[3] / "docs/approval.md").read_text()


def test_the_rules_can_be_read() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    rules = [ApprovalRule.model_validate(rule) for rule in yaml.safe_load(block)["approval_rules"]]
    assert rules[0] == SHIPPED_RULE
    assert set(yaml.safe_load(block)["approval_rules"][1]) == set(ApprovalRule.model_fields)


ROWS = [
    (cells[2], cells[3])
    for cells in ([cell.strip() for cell in line.split("|")] for line in PAGE.splitlines() if line.startswith("| "))
    if cells[2].startswith("`")
]


@pytest.mark.parametrize(("words", "form"), ROWS)
def test_words_and_objects_mean_the_same(words: str, form: str, at: datetime) -> None:
    in_words = read_answer({"answer": re.findall(r"`(.*?)`", words)[0]}, now=at)
    as_object = read_answer({"answer": re.findall(r"`(.*?)`", form)[0]}, now=at)
    assert in_words.model_copy(update={"hold_until": None}) == as_object.model_copy(update={"hold_until": None})
    assert (in_words.hold_until is None) == (as_object.hold_until is None)


def test_every_answer_is_in_the_table() -> None:
    assert len(ROWS) == 5
