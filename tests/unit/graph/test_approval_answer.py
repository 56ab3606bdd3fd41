from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dragoman.errors import BadRequest
from graph.approval_answer import read_answer


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("approve", {"decision": "approve"}),
        ("  Approve.  ", {"decision": "approve"}),
        ("yes", {"decision": "approve"}),
        ("approve twin", {"decision": "approve", "site": "twin"}),
        ("approve at twin", {"decision": "approve", "site": "twin"}),
        ("no", {"decision": "refuse"}),
        ("refuse: too dear", {"decision": "refuse", "reason": "too dear"}),
        ("edit but 2 hours", {"decision": "edit", "edit": "but 2 hours"}),
        ("hold 2026-12-01T08:00+01:00", {"decision": "hold", "hold_until": "2026-12-01T07:00:00Z"}),
        ("hold until tomorrow 8:00 UTC", {"decision": "hold", "hold_until": "2026-12-01T08:00:00Z"}),
        ('{"decision": "approve", "by": "pi"}', {"decision": "approve", "by": "pi"}),
        ({"decision": "refuse", "reason": "no", "event": "answer"}, {"decision": "refuse", "reason": "no"}),
        ({"decision": "approve", "site": None, "edit": None}, {"decision": "approve"}),
    ],
)
def test_answers(said: Any, means: dict[str, Any], at: datetime) -> None:
    read = read_answer(said if isinstance(said, dict) else {"answer": said}, now=at).dump()
    assert read == means


@pytest.mark.parametrize(
    "said",
    [
        "", "perhaps", "approved? no", "no, at twin", "yes but later", True, None, 1, ["approve"], "{", "[]", "hold",
        "edit", "hold soon",
        {}, {"decision": "no"}, {"decision": "approve", "edit": "x"}, {"decision": "edit"}, {"decision": "hold"},
        {"decision": "hold", "hold_until": "tomorrow"}, {"decision": "refuse", "reason": "x" * 3000},
        {"decision": "approve", "hold_until": "2026-12-01T08:00Z"}, {"decision": {"approve": True}},
    ],
)  # fmt: skip
def test_what_is_no_answer(said: Any, at: datetime) -> None:
    with pytest.raises(BadRequest) as caught:
        read_answer(said if isinstance(said, dict) else {"answer": said}, now=at)
    assert caught.value.where
    assert caught.value.cure


def test_words_in_the_persons_zone(at: datetime) -> None:
    read = read_answer({"answer": "hold until tomorrow 8:00"}, now=at, time_zone="Europe/Berlin")
    assert read.hold_until is not None
    assert read.hold_until.isoformat() == "2026-12-01T07:00:00+00:00"
