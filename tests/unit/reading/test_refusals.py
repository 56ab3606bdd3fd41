"""What cannot be used is refused with its field and a cure, and no text is opened as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import BadRequest

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ("", "request"),
        (" \n\t", "request"),
        ("x" * 10_000_000, "request"),
        ("run \x00 it", "request"),
        ("a\udcffb", "request"),
        ({"nodez": 4}, "nodez"),
        ('{"nodes": 4,}', "line 1, column 13"),
        ('{"nodes": 4, "nodes": 5}', "nodes"),
        ("nodes: 4\ncommand: [", "line 2, column 11"),
        ({"nodes": 0}, "shapes.0.nodes"),
        ({"nodes": "four"}, "nodes"),
        ({"nodes": True}, "nodes"),
        ({"walltime": 60}, "walltime"),
        ({"walltime": "soonish"}, "walltime"),
        ({"memory": "much"}, "memory"),
        ({"memory": 64}, "memory"),
        ({"array": "5-1"}, "array"),
        ({"shapes": 5}, "shapes"),
        ({"shapes": [{"nods": 1}]}, "shapes.0.nods"),
        ({"outputs": "../x"}, "outputs.0.pattern"),
        ('{"nodes": NaN}', "request"),
        ("nodes: &a 4\ntasks: *a", "line 1"),
        ({3: 4}, "request"),
        ({"inputs": "/a/../.."}, "inputs.0.name"),
        ({"time": "1h", "walltime": "2h"}, "walltime"),
    ],
)
def test_refused(given: Any, where: str, read: Read) -> None:
    with pytest.raises(BadRequest) as caught:
        read(given)
    assert caught.value.where == where
    assert caught.value.cure


def test_unknown_field_names_the_nearest(read: Read) -> None:
    with pytest.raises(BadRequest, match="did you mean 'walltime'"):
        read({"command": "./a", "waltime": "2h"})


@pytest.mark.parametrize(
    "given",
    [
        {"name": "a\n#SBATCH --uid=root"},
        {"account": "a\n#SBATCH --uid=root"},
        {"chdir": "/tmp/a\n#SBATCH --uid=root"},
        {"queue": "a\rb"},
        {"inputs": [{"source": "/tmp/a\n#SBATCH", "name": "a"}]},
        {"native_options": ["-x\n#SBATCH -y"]},
        {"shapes": [{"constraint": "a\n#SBATCH"}]},
        {"memory": "4 GB\n#SBATCH"},
        {"licenses": ["a\nb"]},
    ],
)
def test_a_line_break_in_a_value_is_refused(given: dict[str, Any], read: Read) -> None:
    with pytest.raises(BadRequest):
        read({"command": "./a", **given})


def test_a_text_that_equals_a_path_is_not_opened(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "job.txt"
    path.write_text("LAMMPS on 64 nodes", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for text in ("/etc/passwd", str(path), "./job.txt", "job.txt", "file:///etc/passwd"):
        reading = read(text)
        assert reading.request.shapes == ()
        assert reading.request.command == ()
        assert not reading.complete
        assert "root:" not in reading.model_dump_json()


def test_a_path_in_a_form_is_not_opened(read: Read) -> None:
    assert read({"script": "/etc/passwd"}).request.script == "/etc/passwd"
