"""A figure of merit is read from what the run printed, or it is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from dragoman.request import FigureOfMerit
from graph.figure import figure_in, measured_figure


@pytest.mark.parametrize(
    ("text", "after", "value"),
    [
        ("Performance: 12.5 ns/day, 1.92 hours/ns\n", "Performance:", 12.5),
        ("Performance:       83.741        0.287\n", "Performance:", 83.741),
        ("rate 1\nrate 2e-3\n", "rate", 0.002),
        ("GFLOPS=1.5E+03", "GFLOPS=", 1500.0),
        ("speed: -.5", "speed:", -0.5),
        ("Performance: v2 none\n7\n", "Performance:", None),
        ("Performance:\n12\n", "Performance:", None),
        ("rate nan", "rate", None),
        ("rate 1e999", "rate", None),
        ("", "rate", None),
    ],
)
def test_the_first_number_after_the_last_words(text: str, after: str, value: float | None) -> None:
    found = figure_in(text, FigureOfMerit(after=after, unit="ns/day"))
    assert (found.value if found else None) == value
    assert found is None or found.unit == "ns/day"


async def test_only_the_end_of_a_long_output_is_read(tmp_path: Path) -> None:
    with (tmp_path / "stdout.log").open("wb") as stream:
        stream.write(b"rate 1\n")
        stream.seek(64 * 2**20)
        stream.write(b"\xff\nrate 3\n")
    found = await measured_figure(FigureOfMerit(after="rate"), str(tmp_path))
    assert found is not None
    assert found.value == 3
    assert await measured_figure(FigureOfMerit(after="rate", file="other.log"), str(tmp_path)) is None


@pytest.mark.parametrize("wrong", [{"after": ""}, {"after": "a\nb"}, {"after": "a", "file": "../etc/passwd"}, {}])
def test_what_says_no_place_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        FigureOfMerit.model_validate(wrong)
