"""A secret that stands openly in a request, an edit or an answer: refused at the door, and kept nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SECRET = "Zz9secretQ7"


@pytest.fixture
def kept_nowhere(dragoman: Any, not_in_database: Callable[[str], None]) -> Any:
    """Looks for the secret in every table of the database and in every file that was written."""

    def look() -> None:
        root = Path(dragoman.sites).parent
        files = [path for path in root.rglob("*") if path.is_file() and not path.name.startswith("given")]
        assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
        not_in_database(SECRET)

    return look


def test_nothing_is_stored_of_a_request_that_shows_a_secret(dragoman: Any, kept_nowhere: Any) -> None:
    command = f"curl -u me:{SECRET} https://x.org"
    script = Path(dragoman.folder) / "given.sbatch"
    script.write_text(f"#!/bin/sh\n#SBATCH -n 1\n{command}\n")
    sites = ("--sites", str(dragoman.sites), "--json")
    for arguments, where in [
        ((f"1 task for 1 minute: {command}",), "command"),
        ((f"command: {command}\ntasks: 1\n",), "command"),
        ((json.dumps({"command": command.split(), "tasks": 1}),), "command"),
        (("-f", script.name), "script, line 3"),
        ((f"1 task: sh -c 'PGPASSWORD={SECRET} psql'",), "command"),
    ]:
        done = dragoman("run", *arguments, *sites)
        assert done.code == 2, done.err
        assert f"error: {where}: a secret stands openly here" in done.err
        assert SECRET not in done.out + done.err
    assert dragoman("threads", *sites).document["threads"] == []
    kept_nowhere()


def test_nothing_is_stored_of_an_answer_or_an_edit_that_shows_a_secret(dragoman: Any, kept_nowhere: Any) -> None:
    sites = ("--sites", str(dragoman.sites), "--json")
    asked = dragoman.run("/data/in.csv").document
    answered = dragoman("answer", asked["thread_id"], f"`./x --token {SECRET}`", *sites)
    assert (answered.code, "--token" in answered.err) == (2, True), answered.err
    ready = dragoman.run("1 task for 1 minute: true").document
    edited = dragoman("approve", ready["thread_id"], "--edit", f"run `mysql -p{SECRET} db`", *sites)
    assert (edited.code, "-p" in edited.err) == (2, True), edited.err
    assert SECRET not in answered.out + answered.err + edited.out + edited.err
    kept_nowhere()
    went_on = dragoman("approve", ready["thread_id"], "--wait", *sites)
    assert went_on.document["state"] == "completed"
