"""What was asked for is on stdout, so that it can be kept in a file; progress and advice are on stderr."""

from __future__ import annotations

from typing import Any


def test_proposals_and_questions(dragoman: Any) -> None:
    text = dragoman.sites.read_text()
    dragoman.sites.write_text(
        text.replace(
            "  - name: twin\n", "  - name: twin\n    required: [account]\n    accounts: [{name: p1}, {name: p2}]\n"
        )
    )
    given = ("ask", "2 nodes for 1 hour: ./x", "--sites", str(dragoman.sites), "--site", "twin")
    done = dragoman(*given, "--explain")
    assert done.code == 3
    for words in ("shapes.0.nodes", "NEEDS_INFORMATION", "Which account? twin: ", "  - p1\n  - p2\n"):
        assert words in done.out
        assert words not in done.err.replace("twin: NEEDS_INFORMATION", "")
    assert "negotiator: asking 1 site" in done.err
    assert "negotiator" not in done.out
    settled = dragoman("ask", "2 nodes for 1 hour, account p2: ./x", *given[2:])
    assert (settled.code, "READY" in settled.out, "Which" in settled.out) == (0, True, False)


def test_lists(dragoman: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    dragoman("ask", "2 nodes for 1 hour: ./x", *sites, "--site", "twin")
    for given, words in {
        ("threads", *sites): "selected",
        ("detect", "workload", *sites, "--site", "twin"): "workload/slurm",
        ("providers",): "workload/slurm",
        ("doctor", *sites): "settings: ",
        ("db", "status"): "threads",
        ("recipes", "list"): "shipped",
    }.items():
        done = dragoman(*given)
        assert words in done.out, (given, done.err)
        assert words not in done.err
