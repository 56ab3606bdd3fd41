"""The fault campaign, small; and that it goes red when a guard is taken out."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PROMISES = {
    "submitted twice", "run twice", "lost", "finished that were not", "not at rest", "parked with error",
    "written after lease", "asked twice", "left running", "resumed by another event", "said twice",
}  # fmt: skip


def campaign(*options: str) -> tuple[int, dict[str, int], str]:
    done = subprocess.run(  # noqa: TID251  # a campaign is a command
        [sys.executable, "-m", "campaign", *options], capture_output=True, text=True, timeout=600, check=False
    )
    counts = {name: int(number) for name, number in re.findall(r"^([a-z ]+): (\d+)$", done.stdout, re.MULTILINE)}
    return done.returncode, counts, done.stdout + done.stderr


def test_nothing_is_lost_and_nothing_doubled() -> None:
    code, counts, said = campaign("--jobs", "10", "--faults", "40", "--seed", "7", "--longest", "300")
    assert counts.keys() == PROMISES, said
    assert (code, set(counts.values())) == (0, {0}), said
    struck = re.search(r"(\d+) faults struck", said)
    assert struck is not None
    assert int(struck[1]) >= 20, said


@pytest.mark.parametrize(
    ("broken", "broken_promises"),
    [
        ("claims", {"submitted twice", "run twice"}),
        ("epoch", {"written after lease"}),
        pytest.param("unseen", {"finished that were not"}, marks=pytest.mark.campaign),
        pytest.param("resume-id", {"resumed by another event"}, marks=pytest.mark.campaign),
        pytest.param("lease", {"not at rest", "parked with error", "written after lease"}, marks=pytest.mark.campaign),
    ],
)
def test_goes_red_without_a_guard(broken: str, broken_promises: set[str], request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("campaign") and "campaign" not in (request.config.option.markexpr or ""):
        pytest.skip("on demand: -m campaign")
    code, counts, said = campaign("--jobs", "8", "--faults", "8", "--seed", "1", "--break", broken, "--longest", "60")
    assert code == 1, said
    assert any(counts[name] for name in broken_promises), said
