"""What a login shell exported comes back as it was, and is kept for a while."""

import os
import shutil
import subprocess

import pytest

from dragoman.command import Command, Completed
from providers.transports.remote_environment import MOST_BYTES, KeptEnvironment, export_lines
from providers.transports.remote_frames import Frame, batch_answers, environment_told
from providers.transports.remote_script import batch_text, encode, fresh_mark, line, single_text, whole

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "ash"]) if shutil.which(words[0]) is not None]
READER = 'IFS= read -r d && eval "$(printf %b "$d")"'
NASTY = {
    b"A": b"it's \"$HOME\" `id` \\n\n two\tlines ", b"B": b"\xff\xfe\x01", b"EMPTY": b"", b"C": b"a=b=c",
    b"D": b"$(touch x)", b"PATH": b"/usr/local/bin:/usr/bin:/bin", b"SHLVL": b"7", b"SSH_CONNECTION": b"old",
    b"BASH_FUNC_module%%": b"() { :; }",
}  # fmt: skip


def spoken(shell: list[str], data: bytes, mark: str, environment: dict[bytes, bytes]) -> Frame:
    done = subprocess.run(  # noqa: TID251  # a test may block
        [*shell, "-c", READER], input=data, capture_output=True, timeout=60, check=False, env=environment
    )
    out = Frame(mark, 2**22)
    out.feed(done.stdout)
    return out


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_an_environment_is_told_and_made_again_byte_for_byte(shell: list[str]) -> None:
    mark, show = fresh_mark(), [Command(("cat", "/proc/self/environ")), Command(("true",))]
    first = spoken(shell, whole(batch_text(show, mark, tell=True), mark), mark, NASTY)
    assert [type(each) for each in batch_answers(show, first)] == [Completed, Completed]
    lines = export_lines(environment_told(first))
    plain = {b"PATH": b"/usr/bin:/bin", b"SSH_CONNECTION": b"new"}
    again = spoken(shell, whole(batch_text(show, mark, environment=lines), mark), mark, plain)
    answer = batch_answers(show, again)[0]
    assert isinstance(answer, Completed)
    seen = dict(each.split(b"=", 1) for each in answer.stdout.split(b"\0") if each)
    kept = {name: NASTY[name] for name in (b"A", b"B", b"EMPTY", b"C", b"D", b"PATH")}
    assert {name: seen[name] for name in kept} == kept
    assert seen[b"SSH_CONNECTION"] == b"new", "what belongs to a session is its own"
    assert environment_told(again) == b""
    single = spoken(shell, encode(single_text(show[0], mark, environment=lines)), mark, plain)
    assert b"A=" + NASTY[b"A"] + b"\0" in bytes(single.data)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"A=1\0",
        b"PATH=/bin",
        b"PATH=/bin\0A=cut",
        b"no variables at all",
        b"PATH=/bin\0X=" + b"x" * MOST_BYTES + b"\0",
    ],
)
def test_what_is_cut_or_odd_is_not_kept(told: bytes) -> None:
    assert export_lines(told) == b""


def test_names_that_are_none_and_those_of_a_session_are_left_out() -> None:
    told = b"\0".join(
        [b"PATH=/bin", b"a b=1", b"1A=2", b"UID=0", b"X;id=3", b"PWD=/x", b"noequals", b"dgm_mark=x", b""]
    )
    assert export_lines(told) == b"export PATH=/bin"


def test_it_is_kept_for_a_while() -> None:
    now = [0.0]
    kept = KeptEnvironment(10.0, lambda: now[0])
    assert kept.text == b""
    kept.take(b"PATH=/bin\0")
    now[0] = 9.9
    assert kept.text == b"export PATH=/bin"
    now[0] = 10.1
    assert kept.text == b""


def test_the_lines_that_start_a_shell_differ_by_the_login_alone() -> None:
    assert "-l" in line(login=True).split()
    assert "-l" not in line(login=False).split()
    assert os.sep in line(login=False)
