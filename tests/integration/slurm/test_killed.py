"""`kill -9` of everything of ours while sbatch is at work on a real Slurm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Person

pytestmark = pytest.mark.slurm


@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.campaign)])
def test_killed_while_it_submits_it_runs_once(person: Person, when: str) -> None:
    """`kill -9` of everything of ours while sbatch is at work: whoever comes next settles it."""
    folder = person.folder / f"bin-{when}"
    real = "/usr/bin/sbatch" if Path("/usr/bin/sbatch").exists() else str(shutil.which("sbatch"))
    lines = {"before": ["sleep 2", f'exec {real} "$@"'], "after": [f'{real} "$@" >out.txt', "cat out.txt", "sleep 2"]}
    folder.mkdir()
    folder.chmod(0o777)
    text = "\n".join(["#!/bin/sh", f"cd {folder} && touch begun && cd - >/dev/null", *lines[when], ""])
    (folder / "sbatch").write_text(text.replace("out.txt", str(folder / "out.txt")))
    (folder / "sbatch").chmod(0o755)
    request = {"command": ["sh", "-c", f"echo ran >>{folder}/ran"], "shapes": [{"tasks": 1}], "walltime_s": 60}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            person.words("run", json.dumps(request), "--approve", "auto"), cwd=person.folder,
            env={**person.environment, "PATH": f"{folder}:{person.environment['PATH']}"}, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
    end = time.monotonic() + 90
    while not (folder / "begun").exists():
        assert time.monotonic() < end, (folder / "said").read_text()
        time.sleep(0.05)
    if when == "after":
        time.sleep(0.8)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    thread = (folder / "said").read_text().partition("thread ")[2].split()[0]
    end = time.monotonic() + 60
    # Any next command catches up, once the lease of the dead one has run out.
    while (document := person("show", thread))["state"] != "completed":
        assert time.monotonic() < end, [entry["words"] for entry in document["timeline"]]
    assert (folder / "ran").read_text() == "ran\n"
    assert document["attempts"] == 1
