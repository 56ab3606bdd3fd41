"""A sites file that is named for a thread of another one is refused with what differs, or taken when one says so."""

from __future__ import annotations

from typing import Any


def test_another_sites_file(dragoman: Any) -> None:
    asked = dragoman.run("1 task for 1 minute: true", "--policy", "min-cost")
    thread = asked.document["thread_id"]
    other, same = dragoman.folder / "other.yaml", dragoman.folder / "same.yaml"
    text = dragoman.sites.read_text()
    same.write_text(f"# a copy\n{text}")
    other.write_text(text.replace("name: twin", "name: basalt").replace("currency: none", "currency: EUR"))
    done = dragoman("approve", thread, "--sites", str(other), "--json")
    assert (done.code, done.out) == (2, "")
    for words in ("twin is missing", "basalt is new", "local differs in charges", "--take-sites"):
        assert words in done.err
    edited = dragoman("approve", thread, "--edit", "2 minutes", "--sites", str(same), "--json")
    assert {each["site"] for each in edited.document["proposals"]} == {"local", "twin"}
    taken = dragoman("approve", thread, "--site", "local", "--sites", str(other), "--take-sites", "--json")
    assert taken.document["state"] == "waiting-approval", taken.err
    assert {each["site"] for each in taken.document["proposals"]} == {"local", "basalt"}
    assert taken.document["submission"] is None
    again = dragoman("approve", thread, "--site", "local", "--wait", "--json")
    assert (again.code, again.document["state"]) == (0, "completed"), again.err
