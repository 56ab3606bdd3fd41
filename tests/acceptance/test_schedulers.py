"""The whole path, from words to results, at a site whose scheduler is imitated by its commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

FAKES = Path(__file__).parents[1] / "fakes"
PBS = ["qsub", "qstat", "qselect", "qdel", "qhold", "qrls", "pbsnodes"]
SITES = """
schema_version: 1
sites:
  - name: local
    scheduler: {scheduler}
    work_root: {root}
    min_poll_interval_s: 0.1
    max_poll_interval_s: 1
    settle_window_s: 2
    charges: {{currency: none, per_core_hour: 0, per_gpu_hour: 0}}
"""


@pytest.fixture(params=["pbs", "torque", "flux"])
def centre(request: pytest.FixtureRequest, dragoman: Any, tmp_path: Path) -> Any:
    """`dragoman`, with one site of that scheduler."""
    name = request.param
    bin_, state = tmp_path / "bin", tmp_path / "scheduler"
    bin_.mkdir()
    program = "flux.py" if name == "flux" else "pbs.py"
    for command in ["flux"] if name == "flux" else PBS:
        flavour = {"pbs": f"openpbs {command}", "torque": f"torque {command}", "flux": ""}[name]
        (bin_ / command).write_text(f'#!/bin/sh\nexec {sys.executable} {FAKES / program} {state} {flavour} "$@"\n')
        (bin_ / command).chmod(0o755)
    dragoman.environment["PATH"] = f"{bin_}:{dragoman.environment['PATH']}"
    dragoman.sites.write_text(SITES.format(scheduler=name, root=tmp_path / "site"))
    return dragoman


def test_words_in_results_out(centre: Any) -> None:
    (centre.folder / "sum.py").write_text(
        "print(sum(map(int, open('in.txt'))), file=open('out.txt', 'w')); print('done')"
    )
    (centre.folder / "in.txt").write_text("1\n2\n39\n")
    done = centre.run("1 task for 2 minutes: python3 sum.py, needs in.txt", "--approve", "auto")
    document = done.document
    assert (done.code, document["state"], document["exit_code"]) == (0, "completed", 0), done.err
    assert centre.result(document, "out.txt") == "42\n"
    assert centre.result(document, "stdout.log") == "done\n"
    assert document["proposals"][0]["verdict"] == "READY"


def test_a_failure_is_told_with_its_code(centre: Any) -> None:
    done = centre.run("1 task for 2 minutes: sh -c 'echo oops >&2; exit 7'", "--approve", "auto")
    assert (done.code, done.document["state"], done.document["exit_code"]) == (5, "failed", 7), done.err
    assert centre.result(done.document, "stderr.log") == "oops\n"
