"""When a job would start, in words and in the document: with its bounds and who says so."""

from __future__ import annotations

import pytest

from dragoman.kleene import Truth
from dragoman.model import now
from dragoman.proposal import Proposal, StartEstimate, Verdict
from interfaces.cli.explain import print_explained
from interfaces.cli.tables import print_proposals, start_words
from interfaces.documents import proposal_document

LATER = StartEstimate(now=Truth.NO, expected_s=7200, low_s=3600, high_s=14400, method="scheduler")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (LATER, "2 h, 1 h to 4 h (scheduler)"),
        (StartEstimate(now=Truth.YES, expected_s=0, low_s=0, high_s=0, method="idle-nodes"), "now"),
        (StartEstimate(now=Truth.NO, expected_s=60, low_s=60, method="start-after"), "1 min at least (start-after)"),
        (
            StartEstimate(now=Truth.NO, expected_s=60, high_s=120, method="queue-model"),
            "1 min, 2 min at most (queue-model)",
        ),
        (StartEstimate(now=Truth.YES, expected_s=0, high_s=30, method="idle-nodes"), "now"),
        (StartEstimate(now=Truth.UNKNOWN), "unknown"),
    ],
)
def test_words(start: StartEstimate, words: str) -> None:
    assert start_words(start.model_dump(mode="json")) == words


def test_a_busy_site_tells_its_bounds_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    made = proposal_document(Proposal(site="a", verdict=Verdict.BUSY, fits=Truth.YES, start=LATER, made_at=now()))
    assert made["start"] == {
        "now": "no", "expected_s": 7200, "low_s": 3600, "high_s": 14400, "method": "scheduler",
    }  # fmt: skip
    print_proposals({"proposals": [made]})
    shown = capsys.readouterr().out
    assert all(words in shown for words in (" 2 h ", " 1 h to 4 h ", " (scheduler) "))
    print_explained({"sites": {"a": {"verdict": "BUSY", "start": made["start"]}}})
    assert "start: 2 h, 1 h to 4 h (scheduler)" in capsys.readouterr().out
