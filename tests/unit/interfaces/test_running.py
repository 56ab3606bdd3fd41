"""What commands write to stdout is JSON, whatever the facts hold."""

import json

import pytest

from interfaces.cli.running import emit


def test_a_document_holds_only_what_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"a": [float("inf"), float("-inf"), {"b": float("nan")}], "c": "\ud800", "d": "\N{GRINNING FACE}", "e": 1.5})
    out = capsys.readouterr().out
    assert "\N{GRINNING FACE}" in out
    assert json.loads(out) == {
        "a": [None, None, {"b": None}], "c": "\ud800", "d": "\N{GRINNING FACE}", "e": 1.5,
    }  # fmt: skip
    emit({"c": "\ud800"})
    assert capsys.readouterr().out.isascii()
