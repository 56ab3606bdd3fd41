"""Whatever the arguments hold, a shell runs the program with exactly them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.command_body import command_body

SHOW = "import json, sys; print(json.dumps(sys.argv[1:]))"


def run(arguments: list[str]) -> list[str]:
    body = command_body([sys.executable, "-I", "-S", "-c", SHOW, *arguments])
    assert "\r" not in body
    out = subprocess.check_output(["/bin/sh"], input=body.encode())
    found: list[str] = json.loads(out)
    return found


@pytest.mark.parametrize("words", [["a b", "", "it's"], ["\r\n", "a\rb", "\r"], ["$(id)", "`id`", "\\", "-n", "'\r'"]])
def test_words_with_everything_that_hurts(words: list[str]) -> None:
    assert run(words) == words


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=5))
def test_any_words(words: list[str]) -> None:
    assert run(words) == words
