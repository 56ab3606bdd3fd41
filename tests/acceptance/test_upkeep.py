from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def test_watch_collects_what_others_started(dragoman: Any, eventually: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    watcher = dragoman.start("watch", *sites)
    thread = dragoman.run(
        "1 task for 1 minute: sh -c 'sleep 1; echo made > out'", "--approve", "auto", "--no-wait"
    ).document["thread_id"]
    results = Path(dragoman.environment["DRAGOMAN_DATA_DIR"]) / "results" / thread / "out"
    eventually(results.exists)
    watcher.send_signal(signal.SIGTERM)
    assert watcher.wait(timeout=15) == 0
    assert dragoman("show", thread, "--json", *sites).document["state"] == "completed"


def test_a_killed_command_is_continued_by_the_next(dragoman: Any, eventually: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    count = dragoman.folder / "runs"
    killed = dragoman.start(
        "run", f"1 task for 1 minute: sh -c 'echo once >> {count}; sleep 2'", "--approve", "auto", *sites
    )
    eventually(lambda: count.exists())
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    thread = dragoman("threads", "--json", *sites).document["threads"][0]["thread_id"]
    eventually(lambda: dragoman("show", thread, "--json", *sites).document["state"] == "completed")
    assert count.read_text() == "once\n"


def test_doctor(dragoman: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    well = dragoman("doctor", "--json", *sites)
    assert (well.code, well.document["findings"]) == (0, []), well.err
    dragoman.environment["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:9/none?connect_timeout=2"
    ill = dragoman("doctor", "--json", *sites)
    assert (ill.code, ill.document["findings"][0]["kind"]) == (1, "database")
    assert ill.document["findings"][0]["cure"]


def test_the_database_from_the_command_line(dragoman: Any) -> None:
    assert dragoman("db", "migrate", "--json").document == {"applied": []}
    thread = dragoman.run("1 task for 1 minute: sh -c true", "--approve", "auto")
    assert thread.code == 0, thread.err
    status = dragoman("db", "status", "--json").document
    assert status["threads_done"] == 1
    assert dragoman("db", "prune", "--older-than", "1h", "--json").document["threads"] == 0
    assert dragoman("db", "prune", "--older-than", "0s", "--json").document["threads"] == 1
    assert dragoman("db", "prune", "--older-than", "soon").code == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k,mode=0777", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:  # noqa: TID251  # a fixture blocks
        pytest.skip("this machine lets nobody mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: TID251


def test_a_full_disk_pauses_and_goes_on_when_there_is_room(dragoman: Any, small_disk: Path) -> None:
    sites = ("--sites", str(dragoman.sites))
    dragoman.sites.write_text(
        dragoman.sites.read_text().replace(str(dragoman.sites.parent / "site"), str(small_disk / "site"))
    )
    (dragoman.folder / "big").write_bytes(b"x" * 400_000)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 300_000)
    done = dragoman.run("1 task for 1 minute: `wc -c big`, needs big", "--approve", "auto")
    assert (done.code, done.document["state"]) == (6, "waiting-question"), done.err
    asked = done.document["waiting_for"]["asked"]
    assert asked["needed"] >= 400_000
    assert asked["free"] is not None
    assert not [
        path for path in small_disk.rglob("*") if path.is_file() and path.stat().st_size > 200_000 and path != filler
    ]
    filler.unlink()
    thread = done.document["thread_id"]
    after = dragoman("answer", thread, "--again", "--wait", "--json", *sites)
    assert (after.code, after.document["state"]) == (0, "completed"), after.err
    assert dragoman.result(after.document, "stdout.log").split() == ["400000", "big"]
