"""Three answers: unknown never becomes yes, no or zero."""

from __future__ import annotations

import pytest

from dragoman.kleene import Truth, all_of, any_of, sum_of, truth

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("values", "every", "some"),
    [
        ((), YES, NO),
        ((YES, UNKNOWN), UNKNOWN, YES),
        ((UNKNOWN, NO), NO, UNKNOWN),
        ((YES, YES), YES, YES),
        ((NO, YES), NO, YES),
    ],
)
def test_of_several(values: tuple[Truth, ...], every: Truth, some: Truth) -> None:
    assert (all_of(values), any_of(values)) == (every, some)


@pytest.mark.parametrize(("amounts", "total"), [((), 0), ((2, 3), 5), ((2, None), None), ((None,), None), ((0, 0), 0)])
def test_a_sum_with_an_unknown_part_is_unknown(amounts: tuple[int | None, ...], total: int | None) -> None:
    assert sum_of(amounts) == total


def test_unknown_passes_for_nothing() -> None:
    assert (truth(None), ~UNKNOWN) == (UNKNOWN, UNKNOWN)
    with pytest.raises(TypeError, match="compare it with `is`"):
        bool(UNKNOWN)
