"""What a person reads when a thread stays paused after an answer."""

from __future__ import annotations

import pytest

from dragoman.model import JsonObject
from interfaces.cli.work import show_result


@pytest.mark.parametrize("problem", ["'yesterday' is no moment", "hpc cannot take the work", ""])
def test_an_approval_that_could_not_be_used_says_why(problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    document: JsonObject = {
        "thread_id": "3e239f1a-9e2d-4e4c-b034-6b7f0f517bc7",
        "state": "waiting-approval",
        "proposals": [],
        "waiting_for": {"kind": "approval", "asked": {"problem": problem}},
    }

    assert show_result(document, as_json=False) == 6

    said = capsys.readouterr()
    assert problem in said.out + said.err
    assert ("that cannot be used" in said.out + said.err) is bool(problem)
