"""Unstorable text: whole kind, without a database (the integration tests ask the real one)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from checkpoints.storable import MARK, storable


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ok\x00done", f"ok\ufffddone{MARK}"),
        ({"k\x00": [["a\x00"], {"b": "c\x00"}]}, {f"k\ufffd{MARK}": [[f"a\ufffd{MARK}"], {"b": f"c\ufffd{MARK}"}]}),
        ("literal \\u0000 text", "literal \\u0000 text"),
        ("lone \ud800 high", f"lone \ufffd high{MARK}"),
        ("lone \udc80 low", f"lone \ufffd low{MARK}"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("order \ude00\ud83d", f"order \ufffd\ufffd{MARK}"),
        ("kept \ufffd as it is", "kept \ufffd as it is"),
        ({"a\x00": 1, "a\ud800": 2, f"a\ufffd{MARK}": 3}, None),
        (math.nan, None),
        ([math.inf, 1.5, -math.inf], [None, 1.5, None]),
        (True, True),
        (10**400, 10**400),
    ],
)
def test_each_kind(value: JsonValue, expected: JsonValue) -> None:
    if isinstance(value, dict) and len(value) == 3:
        expected = {f"a\ufffd{MARK} 2": 1, f"a\ufffd{MARK} 3": 2, f"a\ufffd{MARK}": 3}
    assert storable(value) == expected


def test_what_is_storable_is_not_copied() -> None:
    value: JsonValue = {"a": ["x" * 10, {"b": None}], "c": 1.5}
    assert storable(value) is value


def test_the_value_given_is_not_changed() -> None:
    inner: list[JsonValue] = ["a\x00"]
    value: dict[str, JsonValue] = {"a": inner}
    storable(value)
    assert value == {"a": ["a\x00"]}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.sampled_from("a\x00\ud800\udc00\ufffd"), max_size=3), inner, max_size=6)
    ),
    max_leaves=20,
)


def shape(value: JsonValue) -> object:
    if isinstance(value, list):
        return [shape(item) for item in value]
    return [shape(item) for item in value.values()] if isinstance(value, dict) else type(value)


@given(anything)
def test_nothing_is_lost_and_once_is_enough(value: JsonValue) -> None:
    once = storable(value)
    assert storable(once) is once
    finite = storable(value) if isinstance(value, float) else value
    if "nan" not in repr(value) and "inf" not in repr(value):
        assert shape(once) == shape(finite)
