from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def threads(dragoman: Any) -> list[Any]:
    listed: list[Any] = dragoman("threads", "--json", "--sites", str(dragoman.sites)).document["threads"]
    return listed


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ("", "request"),
        ("   \n ", "request"),
        ('{"nodse": 3, "command": ["true"]}', "nodse"),
        ('{"walltime_s": -1, "command": ["true"]}', "walltime_s"),
        ('{"command": ["true"], "inputs": [{"source": "x", "name": "../../x"}]}', "inputs"),
        ("1 task for 1 minute: sh -c true, needs nowhere.csv", "nowhere.csv"),
        ('{"command": ["true"], "nodes": 1000000000000000000000000000000}', "nodes"),
        ('{"command": ["true"], "walltime_s": 9223372036854775808}', "walltime_s"),
    ],
)
def test_bad_requests_change_nothing(request_: str, says: str, dragoman: Any) -> None:
    done = dragoman.run(request_, "--approve", "auto")
    assert (done.code, done.out) == (2, ""), done.err
    assert says in done.err
    assert "Traceback" not in done.err
    assert threads(dragoman) == []


def test_huge_and_binary_requests(dragoman: Any) -> None:
    huge = dragoman("run", "-", "--json", stdin="x" * 10_000_000)
    assert (huge.code, "Traceback" in huge.err) == (2, False)
    (dragoman.folder / "binary").write_bytes(bytes(range(256)))
    binary = dragoman("run", "--file", "binary", "--json")
    assert (binary.code, "Traceback" in binary.err) == (2, False)
    assert threads(dragoman) == []


def test_a_request_that_is_a_path_is_not_opened(dragoman: Any) -> None:
    done = dragoman.run("/etc/passwd", "--no-wait")
    assert "root:" not in done.out + done.err
    assert done.code in (2, 6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sites: [{name: a, scheduler: slrum}]", "scheduler"),
        ("sites:\n  - name: a\n    scheduler: machine\n    max_walltime: soon\n", "max_walltime"),
        ("sites: [", "sites.yaml"),
        ("schema_version: 1", "sites"),
    ],
)
def test_a_broken_sites_file(text: str, says: str, dragoman: Any) -> None:
    dragoman.sites.write_text(text)
    done = dragoman.run("1 task for 1 minute: sh -c true")
    assert (done.code, says in done.err, "Traceback" in done.err) == (2, True, False), done.err


def test_a_sites_file_that_is_none(dragoman: Any) -> None:
    dragoman.sites.write_bytes(bytes(range(256)))
    for path in (dragoman.sites, dragoman.folder):
        done = dragoman("ask", "1 task", "--sites", str(path))
        assert (done.code, str(path) in done.err, "Traceback" in done.err) == (2, True, False), done.err


@pytest.mark.parametrize(
    ("text", "says"),
    [("policy: foo", "policy"), ("nonsense: 1", "remove it"), ("approval_rules: [{max_cost: x}]", "approval_rules")],
)
def test_a_broken_settings_file(text: str, says: str, dragoman: Any) -> None:
    (dragoman.folder / "broken.yaml").write_text(text)
    dragoman.environment["DRAGOMAN_SETTINGS"] = str(dragoman.folder / "broken.yaml")
    done = dragoman.run("1 task for 1 minute: sh -c true")
    assert (done.code, says in done.err, "Traceback" in done.err) == (2, True, False), done.err


def test_what_the_scheduler_has_no_words_for_is_told_when_the_site_is_asked(dragoman: Any) -> None:
    form = '{"command": ["true"], "walltime": "1m", "cores": 1, "array": "1-10", "sites": ["local"]}'
    done = dragoman.run(form, "--approve", "auto")
    assert done.code == 3, done.err
    local = next(each for each in done.document["proposals"] if each["site"] == "local")
    assert local["verdict"] == "INCOMPATIBLE"
    assert "array" in local["reasons"][0]


def test_no_sites_file(dragoman: Any) -> None:
    dragoman.sites.unlink()
    assert dragoman.run("1 task for 1 minute: sh -c true").code == 2


def test_an_unreachable_database(dragoman: Any) -> None:
    dragoman.environment["DATABASE_URL"] = "postgresql://me:secret-word@127.0.0.1:9/none?connect_timeout=2"
    done = dragoman.run("1 task for 1 minute: sh -c true")
    assert (done.code, "Traceback" in done.err, "secret-word" in done.err) == (1, False, False), done.err
    assert "127.0.0.1" in done.err


def test_unknown_names(dragoman: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    nowhere = dragoman("dispatch", "nowhere", "1 task: true", *sites)
    assert (nowhere.code, "local, twin" in nowhere.err) == (2, True)
    assert dragoman("show", "no-such-thread", *sites).code == 2


def test_secrets_are_nowhere_but_in_the_store(dragoman: Any, not_in_database: Callable[[str], None]) -> None:
    done = dragoman.run(
        "1 task for 1 minute with HF_TOKEN=hf_SECRET123: sh -c 'test ${#HF_TOKEN} = 12'", "--approve", "auto"
    )
    assert (done.code, done.document["state"]) == (0, "completed"), done.err
    assert "hf_SECRET123" not in done.out + done.err
    data = Path(dragoman.environment["DRAGOMAN_DATA_DIR"])
    site = dragoman.sites.parent / "site"
    holding = [p for root in (data, site) for p in root.rglob("*") if p.is_file() and b"hf_SECRET123" in p.read_bytes()]
    assert holding == [], "the job has ended: nothing is left of the secret"
    not_in_database("SECRET123")
