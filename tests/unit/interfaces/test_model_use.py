"""What a model took, in words: what is not known is never shown as nothing."""

from __future__ import annotations

import pytest

from dragoman.proposal import ModelUse, TokensTaken
from interfaces.cli.explain import model_use


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (ModelUse(model="m", calls=2, tokens_in=200, tokens_out=20), "2 calls, 200 tokens in, 20 out"),
        (
            ModelUse(model="m", calls=1, tokens_in=100, tokens_out=10, cost_usd=0.25),
            "1 calls, 100 tokens in, 10 out, 0.25 USD",
        ),
        (
            ModelUse(
                model="m", calls=2, uncounted=1, tokens_in=None, tokens_out=None,
                at_least=TokensTaken(tokens_in=100, tokens_out=10, cost_usd=0.25), most_usd=3.0,
            ),
            "2 calls, at least 100 tokens in, 10 out, 0.25 USD",
        ),
        (
            ModelUse(model="m", calls=1, uncounted=1, tokens_in=None, tokens_out=None, at_least=TokensTaken()),
            "1 calls, tokens unknown",
        ),
    ],
)  # fmt: skip
def test_words(use: ModelUse, words: str) -> None:
    assert model_use(use.model_dump(mode="json")) == words
