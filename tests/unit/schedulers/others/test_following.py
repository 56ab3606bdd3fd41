"""Turns of event streams: what ends one, what it leaves behind, and what is read from it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import anyio
import pytest

from dragoman.command import Command, Completed
from dragoman.job import JobRef
from dragoman.protocols import EndsTold
from dragoman.site import Site
from providers.schedulers.flux import FluxDialect
from providers.schedulers.following import ends_of, sign_of_end, turn_argv
from providers.schedulers.kubernetes import KubernetesDialect
from providers.schedulers.kubernetes_watch import ENDING, read_turn
from providers.transports.local import LocalTransport

CAPTURES = Path(__file__).parents[3] / "captures"
TAG = "dgm-0123456789ab-a0"
REFS = [JobRef(job_id=TAG), JobRef(job_id="dgm-0123456789ab-a1")]


async def turn(script: str, *, signs: tuple[str, ...], ids: tuple[str, ...] = ("-",), limit: float = 10) -> Completed:
    argv = turn_argv(("/bin/sh", "-c", script, "{}"), signs=signs, ids=ids)
    return await LocalTransport({"PATH": os.defpath}).run(Command(argv, timeout_s=limit))


async def test_a_turn_ends_with_the_first_sign_and_passes_on_what_came_with_it() -> None:
    begun = time.monotonic()
    done = await turn("echo one; echo two END; echo three; sleep 60; echo four", signs=("END",))
    assert time.monotonic() - begun < 30
    assert (done.rc, done.out.split("\n")[:3]) == (0, ["one", "two END", "three"])
    assert "four" not in done.out


async def test_a_turn_without_a_sign_ends_with_its_commands_and_tells_how() -> None:
    done = await turn('echo "$0"; echo "bad $0" >&2; [ "$0" = 1 ]', signs=("END",), ids=("1", "2"))
    assert ends_of(done.out)[0] == {"1": 0, "2": 1}
    assert sorted(ends_of(done.out)[1].split()) == ["1", "2"]
    assert sorted(done.err.splitlines()) == ["bad 1", "bad 2"]


async def test_the_first_of_many_ends_the_turn_and_nothing_is_left_running(tmp_path: Path) -> None:
    script = f'echo $$ >>{tmp_path}/pids; [ "$0" = 2 ] || exec sleep 60'
    done = await turn(script, signs=(sign_of_end("1"), sign_of_end("2")), ids=("1", "2", "3"))
    assert ends_of(done.out)[0]["2"] == 0
    for pid in (await anyio.Path(tmp_path / "pids").read_text()).split():
        with anyio.fail_after(5):
            while await anyio.Path(f"/proc/{pid}").exists():  # noqa: ASYNC110
                await anyio.sleep(0.02)


async def test_a_turn_that_is_cancelled_leaves_nothing_running(tmp_path: Path) -> None:
    with anyio.move_on_after(1):
        await turn(f"echo $$ >{tmp_path}/pid; exec sleep 60", signs=("END",), limit=60)
    pid = (await anyio.Path(tmp_path / "pid").read_text()).strip()
    with anyio.fail_after(5):
        while await anyio.Path(f"/proc/{pid}").exists():  # noqa: ASYNC110
            await anyio.sleep(0.02)


@pytest.mark.parametrize("words", ["$(touch x)", "`touch x`", "; touch x", "a'b\"c", "*"])
async def test_words_reach_the_command_as_they_are(words: str, tmp_path: Path) -> None:
    argv = turn_argv(("printf", "%s\\n", words, "{}"), signs=("END",))
    done = await LocalTransport({"PATH": os.defpath}).run(Command(argv, cwd=str(tmp_path), timeout_s=10))
    assert ends_of(done.out)[1].split("\n")[:2] == [words, "-"]
    assert [one async for one in anyio.Path(tmp_path).iterdir()] == []


def job(name: str, **status: object) -> dict[str, object]:
    return {"kind": "Job", "metadata": {"name": name, "resourceVersion": "7"}, "status": status}


def event(kind: str, thing: dict[str, object]) -> str:
    return json.dumps({"type": kind, "object": thing}, separators=(",", ":"))


COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}
NOT_SO = {"conditions": [{"type": "Complete", "status": "False"}]}


@pytest.mark.parametrize(
    ("text", "err", "told"),
    [
        ("", "", EndsTold(mark="3", trouble="kubectl ended the watch")),
        ("\ndragoman-end:-:0\n", "", EndsTold(mark="3")),
        ("\ndragoman-end:-:1\n", "Unable to connect", EndsTold(mark="3", trouble="Unable to connect")),
        ("\ndragoman-end:-:1\n", "Error from server (Expired): too old", EndsTold()),
        (event("MODIFIED", job(TAG, active=1)), "", EndsTold(mark="7")),
        (event("MODIFIED", job(TAG, **COMPLETE)), "", EndsTold(frozenset({TAG}), "7")),
        (event("MODIFIED", job(TAG, **NOT_SO)), "", EndsTold(mark="7")),
        (event("DELETED", job(TAG)), "", EndsTold(frozenset({TAG}), "7")),
        (event("MODIFIED", job("another", **COMPLETE)), "", EndsTold(mark="7")),
        (
            event("MODIFIED", job(TAG, **COMPLETE)) + "\n" + event("ERROR", {"code": 410}),
            "",
            EndsTold(frozenset({TAG})),
        ),
        (event("ERROR", {"code": 500, "message": "down"}), "", EndsTold(mark="3", trouble="down")),
        (event("BOOKMARK", {"metadata": {"resourceVersion": "9"}}), "", EndsTold(mark="9")),
        ('{"type":"MODI\ndragoman-end:-:137\n', "", EndsTold(mark="3", trouble='no event: {"type":"MODI')),
    ],
)
def test_what_a_watch_told(text: str, err: str, told: EndsTold) -> None:
    assert read_turn(text, REFS, "3", err) == told


def test_the_captured_watch_and_its_expiry() -> None:
    lines = (CAPTURES / "kubernetes" / "raw_watch.stdout").read_text()
    names = {json.loads(line)["object"]["metadata"]["name"] for line in lines.splitlines()}
    told = read_turn(lines, [JobRef(job_id=name) for name in names], "1", "")
    assert (told.trouble, told.mark not in (None, "1")) == ("", True)
    assert told.ended == {"deadline", "fail", "oom"}
    assert not any(sign in line for line in lines.split("\n") if '"name":"para"' in line for sign in ENDING)
    gone = (CAPTURES / "kubernetes" / "raw_watch_expired.stdout").read_text().partition("\n\n")[2]  # its headers
    assert read_turn(gone, REFS, "1", "") == EndsTold()


def test_a_watch_begins_with_a_list() -> None:
    text = json.dumps({"kind": "JobList", "metadata": {"resourceVersion": "42"}, "items": []})
    assert read_turn(text, REFS, None, "") == EndsTold(mark="42", look=True)
    assert read_turn("", REFS, None, "Unable to connect") == EndsTold(trouble="Unable to connect")
    assert read_turn("[1", REFS, None, "").trouble.startswith("no list")
    dialect = KubernetesDialect.for_site(Site(name="k", scheduler="kubernetes", paths={"namespace": "team"}))
    first, second = dialect.follow_command(REFS, None), dialect.follow_command(REFS, "42")
    assert first is not None
    assert second is not None
    assert "watch" not in first.argv[-1]
    assert "resourceVersion=42&allowWatchBookmarks=true" in second.argv[-1]
    assert KubernetesDialect().follow_command(REFS, None) is None


def test_flux_follows_a_bounded_number_and_knows_a_time_out() -> None:
    dialect = FluxDialect()
    refs = [JobRef(job_id=str(number)) for number in range(1, 100)]
    command = dialect.follow_command(refs, None)
    assert command is not None
    assert command.argv[5].split() == [str(number) for number in range(1, 33)]
    err = (CAPTURES / "flux" / "job_wait_event_timeout.stderr").read_bytes()
    out = b"\ndragoman-end:1:1\n"
    assert dialect.parse_follow(Completed(command.argv, 0, out, err), refs, None) == EndsTold()
    assert dialect.parse_follow(Completed(command.argv, 0, b"\ndragoman-end:2:0\n", err), refs, None) == EndsTold(
        frozenset({"2"})
    )
    lost = Completed(command.argv, 0, out, b"flux-job: ERROR: Unable to connect to Flux: broker socket was not found")
    assert "Unable to connect" in dialect.parse_follow(lost, refs, None).trouble
