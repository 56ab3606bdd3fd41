"""Names that begin with a word of the language are read whole: `account ismar_26` is no `mar_26`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

_BEGINNINGS = (
    *("is", "of", "to", "on", "in", "a", "an", "the", "for", "at", "by", "as", "or", "and", "it", "no", "not", "id"),
    *("code", "name", "ex", "up", "be", "we", "my", "our", "use", "using", "with", "from", "run", "job", "queue"),
    *("node", "core", "gpu", "mem", "per", "each", "any", "all", "via", "called"),
)
_SAID = {
    "account": ("account {}", "account: {}", "account is {}", "charge it to {}", "project {}", "account {}, 2 nodes"),
    "queue": ("queue {}", "partition {}", "in the queue {}", "partition: {}", "queue is {}", "queue named {}"),
    "qos": ("qos {}", "qos: {}"),
    "reservation": ("reservation {}", "in reservation {}"),
    "name": ("job name {}", "name it {}", "job called {}", "named {}"),
    "constraint": ("constraint {}",),
}


@pytest.mark.parametrize(("field", "said"), [(field, said) for field, forms in _SAID.items() for said in forms])
def test_name_that_begins_with_a_word_is_whole(
    field: str, said: str, read: Callable[..., Any], stated: Callable[..., dict[str, Any]]
) -> None:
    for beginning in _BEGINNINGS:
        name = f"{beginning}zq7"
        reading = read(f"./x, 1 node, 1 h, {said.format(name)}")
        fields = stated(reading)
        found = fields["shapes"][0].get(field) if field == "constraint" else fields.get(field)
        assert found == name, (name, found, reading.unread)


@pytest.mark.parametrize(
    "told", ["the grant is almost used up", "our allocation is running low", "the account is nearly empty"]
)
def test_state_of_an_account_is_no_account(told: str, read: Callable[..., Any]) -> None:
    assert read(f"./x on 2 nodes for 1 h. {told}.").request.account is None
