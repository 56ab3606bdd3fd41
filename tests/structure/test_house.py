"""The house stands as docs/architecture.md says."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("dragoman", "providers", "tools", "graph", "checkpoints", "continuation", "simulation", "interfaces")


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: TID251  # a fresh interpreter is the point
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def test_our_rooms_are_the_ones_imported_from_anywhere(tmp_path: Path) -> None:
    code = f"import {', '.join(ROOMS)}; print([m.__file__ for m in ({', '.join(ROOMS)},)])"
    done = python("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(str(ROOT)) == len(ROOMS), done.stdout


def test_what_langgraph_json_names_is_there() -> None:
    config = json.loads((ROOT / "langgraph.json").read_text())
    specs = [*config["graphs"].values(), config["checkpointer"]["path"], config["store"]["path"], config["http"]["app"]]
    for spec in specs:
        # LangGraph takes graphs as module:name, checkpointers and stores with dots alone.
        module, _, name = spec.replace(":", ".").rpartition(".")
        assert hasattr(importlib.import_module(module), name), spec


def test_help_loads_neither_graph_nor_database(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['dragoman', '--help']\n"
        "from interfaces.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('langgraph', 'langchain_core', 'psycopg', 'pydantic', 'fastapi') if m in sys.modules])"
    )
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_importing_the_composition_root_does_nothing(tmp_path: Path) -> None:
    code = "import threading, interfaces.app; print(threading.active_count())"
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout == "1\n", done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_file_is_two_rooms(room: str) -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in (ROOT / room).rglob("*.py")
        if (count := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


@pytest.mark.parametrize("word", ["utils", "helpers", "manager", "common"])
def test_no_room_without_a_name(word: str) -> None:
    assert [str(path) for room in ROOMS for path in (ROOT / room).rglob(f"*{word}*.py")] == []
