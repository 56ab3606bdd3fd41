"""Every request of the corpus is read exactly as it was meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_request_is_read_as_meant(entry: dict[str, Any], judge: Callable[[Any], tuple[str, Any]]) -> None:
    verdict, found = judge(entry)
    assert verdict == "exact", found


def test_facts_of_a_letter_are_read_as_meant(
    mail_entry: dict[str, Any], judge: Callable[[Any], tuple[str, Any]]
) -> None:
    verdict, found = judge(mail_entry)
    assert verdict == "exact", found


def test_sealed_request_is_never_misread(sealed_entry: dict[str, Any], judge: Callable[[Any], tuple[str, Any]]) -> None:
    verdict, found = judge(sealed_entry)
    assert verdict != "misread", found


def test_request_of_others_is_read_or_asked_back(
    other_entry: dict[str, Any], judge: Callable[[Any], tuple[str, Any]]
) -> None:
    verdict, found = judge(other_entry)
    assert verdict == ("asked" if other_entry.get("asked_back") else "exact"), found


def test_request_written_apart_is_never_misread(
    entry_apart: dict[str, Any], judge_apart: Callable[[Any], tuple[str, Any]]
) -> None:
    verdict, found = judge_apart(entry_apart)
    assert verdict != "misread", found


def test_words_of_sources_stand_where_they_say(entry: dict[str, Any], read: Callable[..., Any]) -> None:
    text = entry["text"]
    for source in read(text).request.sources:
        if source.origin == "text" and "***" not in source.words:
            assert text[source.start : source.start + len(source.words)] == source.words


def test_a_word_after_the_last_colon_is_the_command_and_told(read: Callable[..., Any]) -> None:
    reading = read("1 task for 1 minute: true")
    assert reading.request.command == ("true",)
    assert reading.defaults == ("'true' after the colon is taken as the command",)
    for text in ("2 nodes, software: gromacs", "needs 2 nodes: exclusive", "2 nodes: lustre", "2 nodes: thanks a lot"):
        assert read(text).request.command == (), text
