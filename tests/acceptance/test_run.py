from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

KEYS = {
    "thread_id", "request", "proposals", "selection", "approval", "submission", "state", "exit_code", "results",
}  # fmt: skip


def sum_job(folder: Path) -> str:
    (folder / "sum.py").write_text("print(sum(map(int, open('in.txt'))), file=open('out.txt', 'w')); print('done')")
    (folder / "in.txt").write_text("1\n2\n39\n")
    return "1 task for 2 minutes: python3 sum.py, needs in.txt"


def test_words_in_results_out(dragoman: Any) -> None:
    done = dragoman.run(sum_job(dragoman.folder), "--approve", "auto")
    document = done.document
    assert (done.code, document["state"], document["exit_code"]) == (0, "completed", 0), done.err
    assert document.keys() >= KEYS
    assert dragoman.result(document, "out.txt") == "42\n"
    assert dragoman.result(document, "stdout.log") == "done\n"
    files = {each["name"]: each["sha256"] for each in document["results"]["files"]}
    assert files["out.txt"] == hashlib.sha256(b"42\n").hexdigest()
    assert {each["site"]: each["verdict"] for each in document["proposals"]} == {"local": "READY", "twin": "READY"}
    assert document["proposals"][0].keys() >= {"site", "verdict", "reasons", "expected_start_s", "cost"}
    assert document["selection"]["site"] == "local"
    assert document["approval"]["rule"] == "this machine at no cost"
    assert document["submission"]["scheduler"] == "machine"
    assert document["submission"]["tag"].startswith("dgm-")
    assert document["prediction"]["happened"]["run_s"] is not None
    staged = next(each for each in document["timeline"] if each["words"].startswith("staged"))
    assert staged["data"]["files"]["in.txt"] == hashlib.sha256(b"1\n2\n39\n").hexdigest()


def test_a_form_does_what_the_words_do(dragoman: Any) -> None:
    sum_job(dragoman.folder)
    form = {
        "command": ["python3", "sum.py"], "shapes": [{"tasks": 1}], "walltime_s": 120,
        "inputs": [{"source": "in.txt", "name": "in.txt"}], "outputs": [{"pattern": "out.txt"}],
    }  # fmt: skip
    document = dragoman.run(json.dumps(form), "--approve", "auto").document
    assert document["state"] == "completed"
    assert [each["name"] for each in document["results"]["files"]] == ["out.txt", "stderr.log", "stdout.log"]


def test_a_person_approves_from_another_process_and_the_next_command_collects(dragoman: Any, eventually: Any) -> None:
    paused = dragoman.run(sum_job(dragoman.folder), "--no-wait")
    assert (paused.code, paused.document["state"]) == (6, "waiting-approval"), paused.err
    thread = paused.document["thread_id"]
    sites = ("--sites", str(dragoman.sites))
    shown = dragoman("show", thread[:8], "--json", *sites).document
    assert shown["waiting_for"]["asked"]["selected"] == "local"
    assert shown["submission"] is None
    approved = dragoman("approve", thread[:8], "--by", "pi", *sites, "--json")
    assert approved.code == 6, approved.err
    assert approved.document["approval"]["by"] == "pi"
    eventually(lambda: dragoman("show", thread, "--json", *sites).document["state"] == "completed")
    again = dragoman("approve", thread, *sites)
    assert (again.code, "has ended: completed" in again.err) == (2, True)


def test_refused(dragoman: Any) -> None:
    thread = dragoman.run(sum_job(dragoman.folder), "--no-wait").document["thread_id"]
    done = dragoman("approve", thread, "--refuse", "--reason", "not today", "--json", "--sites", str(dragoman.sites))
    assert (done.code, done.document["state"], done.document["words"]) == (4, "refused", "not today")
    assert done.document["submission"] is None


def test_auto_asks_where_no_rule_allows(dragoman: Any) -> None:
    done = dragoman(
        "dispatch",
        "twin",
        "1 task for 1 minute: sh -c true",
        "--approve",
        "auto",
        "--json",
        "--sites",
        str(dragoman.sites),
    )
    assert (done.code, done.document["state"]) == (6, "waiting-approval")


def test_a_simulated_site_runs_nothing(dragoman: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    thread = dragoman("dispatch", "twin", "1 task for 1 minute: sh -c true", "--no-wait", "--json", *sites).document[
        "thread_id"
    ]
    done = dragoman("approve", thread, "--json", *sites)
    assert done.document["submission"] is None
    assert any("simulated" in each["words"] for each in done.document["timeline"])
    assert done.code == 3


def test_dispatch_asks_no_other_site(dragoman: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    done = dragoman("dispatch", "local", sum_job(dragoman.folder), "--approve", "auto", "--json", *sites)
    assert done.code == 0, done.err
    assert [each["site"] for each in done.document["proposals"]] == ["local"]


def test_ask_submits_nothing(dragoman: Any) -> None:
    done = dragoman("ask", sum_job(dragoman.folder), "--json", "--sites", str(dragoman.sites))
    assert (done.code, done.document["state"], done.document["submission"]) == (0, "selected", None)


def test_no_site_can_says_what_would_fit(dragoman: Any) -> None:
    done = dragoman.run("lammps 2Aug2023 on 200 nodes for 1 hour: `lmp -in in.lj`", "--approve", "auto")
    assert (done.code, done.document["state"]) == (3, "waiting-question"), done.err
    asked = done.document["waiting_for"]["asked"]
    twin = next(each for each in asked["sites"] if each["site"] == "twin")
    assert twin["would_fit"] == ["has 100 nodes, asked 200"]
    local = next(each for each in asked["sites"] if each["site"] == "local")
    assert any("lammps" in words for words in local["missing"])
    thread, sites = done.document["thread_id"], ("--sites", str(dragoman.sites))
    edited = dragoman("answer", thread, "--edit", "on 50 nodes", "--json", *sites)
    assert edited.document["selection"]["site"] == "twin", edited.err
    assert edited.document["request"]["shapes"][0]["nodes"] == 50


def test_a_job_that_fails_is_killed_or_runs_out_of_time(dragoman: Any) -> None:
    failed = dragoman.run("1 task for 1 minute: sh -c 'echo oops >&2; exit 7'", "--approve", "auto")
    assert (failed.code, failed.document["state"], failed.document["exit_code"]) == (5, "failed", 7), failed.err
    assert dragoman.result(failed.document, "stderr.log") == "oops\n"
    killed = dragoman.run("1 task for 1 minute: sh -c 'kill -9 $$'", "--approve", "auto")
    assert (killed.code, killed.document["exit_code"]) == (5, 137)
    assert "signal 9" in killed.document["words"]
    late = dragoman.run("1 task for 2 seconds: `sleep 600`", "--approve", "auto")
    assert (late.code, late.document["job"]["state"]) == (5, "timed-out")
    assert "time limit" in late.document["words"]


def test_cancel_ends_the_process_tree(dragoman: Any, eventually: Any) -> None:
    sites = ("--sites", str(dragoman.sites))
    request = "1 task for 5 minutes: sh -c 'sleep 300 & echo $! > child; wait'"
    thread = dragoman.run(request, "--approve", "auto", "--no-wait").document["thread_id"]
    shown = dragoman("show", thread, "--json", *sites).document
    child = Path(shown["request"] and _work_dir(dragoman, shown)) / "child"
    eventually(child.exists)
    done = dragoman("cancel", thread, "--json", *sites)
    assert (done.code, done.document["state"]) == (0, "cancelled"), done.err
    assert not Path(f"/proc/{child.read_text().strip()}").exists()
    again = dragoman("cancel", thread, *sites)
    assert "had ended before" in again.err


def _work_dir(dragoman: Any, document: dict[str, Any]) -> str:
    return str(dragoman.sites.parent / "site" / document["submission"]["tag"] / "work")


def test_cancel_before_anything_was_submitted(dragoman: Any) -> None:
    thread = dragoman.run(sum_job(dragoman.folder), "--no-wait").document["thread_id"]
    done = dragoman("cancel", thread, "--json", "--sites", str(dragoman.sites))
    assert (done.document["state"], done.document["submission"]) == ("cancelled", None)


def test_logs_while_it_runs_and_fetch_afterwards(dragoman: Any, eventually: Any, tmp_path: Path) -> None:
    sites = ("--sites", str(dragoman.sites))
    thread = dragoman.run(
        "1 task for 1 minute: sh -c 'echo early; sleep 4; echo late > out'", "--approve", "auto", "--no-wait"
    ).document["thread_id"]
    eventually(lambda: "early" in dragoman("logs", thread, *sites).out)
    eventually(lambda: dragoman("show", thread, "--json", *sites).document["state"] == "completed")
    assert dragoman("fetch", thread, "--to", str(tmp_path / "here"), *sites).code == 0
    assert (tmp_path / "here" / "out").read_text() == "late\n"
    (tmp_path / "here" / "out").write_text("mine")
    clash = dragoman("fetch", thread, "--to", str(tmp_path / "here"), *sites)
    assert (clash.code, (tmp_path / "here" / "out").read_text()) == (2, "mine")


def test_a_thread_brings_its_fleet_along(dragoman: Any, eventually: Any) -> None:
    """Commands without --sites know the thread's own fleet, and one that knows neither ends nothing."""
    thread = dragoman.run(sum_job(dragoman.folder), "--no-wait").document["thread_id"]
    approved = dragoman("approve", thread, "--json")
    assert approved.document["submission"]["tag"], approved.err
    site = dragoman.sites.parent / "site"
    assert (site / approved.document["submission"]["tag"]).is_dir()
    eventually(lambda: dragoman("show", thread, "--json").document["state"] == "completed")


def test_a_command_that_knows_another_fleet_leaves_the_thread_alone(dragoman: Any, eventually: Any) -> None:
    text = dragoman.sites.read_text()
    dragoman.sites.write_text(text.replace("name: local", "name: elsewhere"))
    thread = dragoman.run(sum_job(dragoman.folder), "--no-wait").document["thread_id"]
    other, moved = dragoman.sites.with_name("other.yaml"), dragoman.sites.with_name("moved.yaml")
    other.write_text(text)
    dragoman.sites.rename(moved)
    there = dragoman("approve", thread, "--json", "--sites", str(other))
    assert (there.code, "elsewhere" in there.err) == (1, True), there.err
    kept = dragoman("show", thread, "--json", "--sites", str(other)).document["state"]
    assert kept in ("active", "waiting-approval")
    eventually(lambda: dragoman("show", thread, "--json", "--sites", str(moved)).document["state"] == "completed")
