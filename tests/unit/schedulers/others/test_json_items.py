"""Item by item is what it would be at once."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.schedulers.json_items import decode_items
from providers.schedulers.kubernetes_status import read_objects

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    document=st.dictionaries(st.sampled_from(["jobs", "errors", "meta", ""]) | st.text(max_size=3), VALUES, max_size=4),
    indent=st.sampled_from([None, 1]),
)
def test_the_same_as_at_once(document: dict[str, Any], indent: int | None) -> None:
    rest, items = decode_items(f" {json.dumps(document, indent=indent)}\n", "jobs", lambda item: item)
    wanted = document.get("jobs")
    assert items == (wanted if isinstance(wanted, list) else None)
    assert rest == {key: value for key, value in document.items() if key != "jobs" or not isinstance(value, list)}


@given(cut=st.integers(0, 40), more=st.sampled_from(["", "}", ",", "]", " x"]))
def test_what_is_broken_is_no_document(cut: int, more: str) -> None:
    text = '{"jobs": [{"a": 1}, 2], "errors": ["x"]}'
    broken = text[:cut] + more
    try:
        json.loads(broken)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # as json says it, or as we do
            decode_items(broken, "jobs", lambda item: item)


def test_a_long_list_is_never_there_as_a_whole() -> None:
    text = json.dumps({"jobs": [{"id": number, "more": {"x": ["y"] * 50}} for number in range(5000)]})
    tracemalloc.start()
    _, items = decode_items(text, "jobs", lambda item: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert items is not None
    assert len(items) == 5000
    assert peak < 1_000_000


def test_a_long_list_of_objects_keeps_what_is_looked_at_and_shares_its_words() -> None:
    item = {
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u", "managedFields": [{"a": 1}], "labels": {"env": "prod", "image": "x"}},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "c", "env": [{"name": "A"}], "resources": {"requests": {}}}],
        },
        "status": {"phase": "Running", "containerStatuses": [{"imageID": "i", "state": {"running": {}}}]},
    }
    things, trouble = read_objects(json.dumps({"kind": "List", "items": [item, item, 7]}))
    kept = {
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"env": "prod", "image": "x"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {}}}]},
        "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]},
    }
    assert (list(things), trouble) == ([kept, kept], "")
    first, second = ([*one, *one["status"]] for one in things)
    assert all(one is other for one, other in zip(first, second, strict=True)), "words are in memory once"
    assert read_objects("[]")[1]
    assert read_objects('{"kind": "List", "items": [{}')[1]
