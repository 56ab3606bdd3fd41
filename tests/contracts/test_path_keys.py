"""Every registered probe and scheduler says which keys of `paths` it reads: a site's file may have those alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from dragoman.errors import DragomanError
from dragoman.site import Site
from providers.misspelt import path_keys
from providers.probes.base import Results
from providers.registry import dialects, probes
from providers.verbs import PackageQuery


class Asked(Mapping[str, str]):
    """Paths that have nothing and remember what was looked for."""

    def __init__(self) -> None:
        self.keys_: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.keys_.add(key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def arguments(wanted: type[Any]) -> Any:
    return PackageQuery(name="x") if wanted is PackageQuery else wanted()


@pytest.mark.parametrize("name", probes.names())
def test_a_probe_reads_no_key_that_is_not_declared(name: str) -> None:
    make, asked = probes.get(name), Asked()
    made: Any = getattr(make, "for_site", lambda _: make())(Site(name="a", scheduler="machine"))
    for verb in made.verbs:
        words = arguments(verb.verb.arguments)
        verb.ask(words, asked)
        verb.parse(words, Results({}, {}, asked))
    assert asked.keys_ <= path_keys("machine")
    own: tuple[str, ...] | None = getattr(make, "path_keys", None)
    assert own is None or set(own) <= asked.keys_ | {"quota"}, "what is declared is read"


@pytest.mark.parametrize("name", dialects.names())
def test_a_scheduler_reads_no_key_that_is_not_declared(name: str) -> None:
    make, asked = dialects.get(name), Asked()
    site = Site(name="a", scheduler=name).model_copy(update={"paths": asked})
    with suppress(DragomanError):  # it wants more than nothing
        getattr(make, "for_site", lambda _: make())(site)
    assert asked.keys_ <= set(getattr(make, "path_keys", ()))
    assert asked.keys_ <= path_keys(name)
