"""What would have to be said for a site to decide: each question once, with its options, where people look for it."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.cli.questions import open_questions
from interfaces.cli.work import show_result

ACCOUNT = {
    "field": "account", "result": "unknown", "person_can_settle": True, "options": ["phys", "[chem]"],
    "reason": "the site wants an account and none is stated",
}  # fmt: skip
TIME = {"field": "walltime_s", "result": "unknown", "person_can_settle": True, "reason": "no walltime is stated"}
SILENT = {"field": "software.0", "result": "unknown", "reason": "spack gave no answer"}


def document(*proposals: tuple[str, str, list[dict[str, Any]]], state: str = "no-site") -> dict[str, Any]:
    return {
        "thread_id": "3e239f1a-9e2d-4e4c-b034-6b7f0f517bc7", "state": state, "words": "no site can take the work",
        "proposals": [{"site": site, "verdict": verdict, "checks": checks} for site, verdict, checks in proposals],
    }  # fmt: skip


def test_each_once_with_who_asks() -> None:
    either = {"field": "queue", "result": "unknown", "person_can_settle": True, "children": [SILENT, TIME]}
    told = open_questions(
        document(
            ("a", "NEEDS_INFORMATION", [ACCOUNT, TIME, {"field": "x", "result": "yes"}]),
            ("b", "NEEDS_INFORMATION", [ACCOUNT, either]),
            ("c", "UNKNOWN", [SILENT, TIME]),
        )
    )
    assert [(one["field"], one["sites"], one["options"]) for one in told] == [
        ("account", ["a", "b"], ["phys", "[chem]"]),
        ("walltime_s", ["a", "b"], []),
    ]


@pytest.mark.parametrize(("state", "shown"), [("no-site", True), ("selected", True), ("completed", False)])
def test_on_stdout_as_long_as_it_matters(state: str, shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    show_result(document(("a", "NEEDS_INFORMATION", [ACCOUNT]), state=state) | {"submission": None}, as_json=False)
    said = capsys.readouterr()
    for words in ("Which account? a: the site wants", "  - phys\n  - [chem]\n", "`account NAME`"):
        assert (words in said.out) is shown
    assert "account" not in said.err


def test_a_question_of_the_reader_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"question": "How many nodes?", "about": {"options": [{"label": "2"}, {"label": "4"}]}}
    waiting = {"waiting_for": {"kind": "question", "asked": asked}}
    assert show_result(document(state="waiting-question") | waiting, as_json=False) == 6
    said = capsys.readouterr()
    assert "How many nodes?\n  - 2\n  - 4\n" in said.out
    assert "paused: question" in said.err
