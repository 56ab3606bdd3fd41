"""The script of an exchange, run by the shells of this host as a site's shell would."""

import dataclasses
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.command import Command, Completed
from dragoman.errors import BadRequest, CommandMissing, CommandTimeout, FileMissing
from providers.transports.remote_frames import BatchReader, Frame, answer, batch_answers
from providers.transports.remote_script import LANES, batch_text, check, encode, fresh_mark, line, single_text, whole

READER = line(login=False).partition("'")[2].rstrip("'")
SHELLS = [
    words
    for words in (["dash"], ["bash"], ["busybox", "ash"], ["mksh"], ["ksh93"], ["yash"])
    if shutil.which(words[0]) is not None
]
each_shell = pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
SHOW = "import sys,os; sys.stdout.buffer.write(b'\\0'.join(os.fsencode(a) for a in sys.argv[1:]))"


def spoken(shell: list[str], data: bytes, mark: str, limit: int = 2**20, **rest: object) -> tuple[Frame, Frame]:
    rest.setdefault("env", {"PATH": f"/usr/local/bin:{os.defpath}"})
    done = subprocess.run([*shell, "-c", READER], input=data, capture_output=True, timeout=60, check=False, **rest)  # type: ignore[call-overload] # noqa: TID251  # a test may block
    out, err = Frame(mark, limit), Frame(mark, limit)
    out.feed(done.stdout)
    err.feed(done.stderr)
    return out, err


def run(shell: list[str], command: Command, **rest: object) -> Completed:
    mark = fresh_mark()
    data = encode(single_text(command, mark)) + command.stdin
    out, err = spoken(shell, data, mark, command.max_output_bytes, **rest)
    return answer(command, out, err, 0.0)


def run_many(shell: list[str], commands: list[Command]) -> list[Completed | Exception]:
    mark = fresh_mark()
    out, _ = spoken(shell, whole(batch_text(commands, mark), mark), mark, 2**26)
    return batch_answers(commands, out)


def sh(text: str, **rest: object) -> Command:
    return Command(("/bin/sh", "-c", text), **rest)  # type: ignore[arg-type]


def gone(pid: str) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


NASTY = (
    "", " ", "a b", "'", '"', "\\", "\\\\n", "`id`", "$(id)", "$HOME", "!!", "!h", "a;b", "a|b", "&", ">x", "*", "?",
    "[a]", "~", "#c", "-n", "--", "-", "{a,b}", "\n", "a\nb\n", "\t", "\r", "é", "日本", "%s", "%i|%j|%T", "\\0101",
    "\udcff\udc80", "\x01\x7f", "\x81\x82", "=x", "a=b", "^", "(x)",
)  # fmt: skip


@each_shell
@pytest.mark.parametrize("alone", [True, False])
def test_every_nasty_argument_arrives_unchanged(shell: list[str], alone: bool) -> None:
    command = Command((sys.executable, "-c", SHOW, *NASTY))
    done = run(shell, command) if alone else run_many(shell, [command])[0]
    assert isinstance(done, Completed)
    assert done.stdout.split(b"\0") == [os.fsencode(each) for each in NASTY]
    assert done.stderr == b""


@each_shell
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    arguments=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\0", b"\n")), min_size=1, max_size=12),
    value=st.binary(max_size=20).map(lambda raw: raw.replace(b"\0", b"'")),
    stdin=st.binary(max_size=200),
)
def test_any_bytes_arrive_unchanged(shell: list[str], arguments: list[bytes], value: bytes, stdin: bytes) -> None:
    program = SHOW + "; sys.stdout.buffer.write(b'\\0' + os.environb[b'V'] + b'\\0' + sys.stdin.buffer.read())"
    command = Command(
        (sys.executable, "-c", program, *map(os.fsdecode, arguments)), stdin=stdin,
        environment={"V": os.fsdecode(value)},
    )  # fmt: skip
    expected = b"\0".join([*arguments, value, stdin])
    assert run(shell, command).stdout == expected
    together = run_many(shell, [command, command])
    assert [each.stdout for each in together if isinstance(each, Completed)] == [expected, expected]


@each_shell
@pytest.mark.parametrize("alone", [True, False])
def test_what_an_answer_holds(shell: list[str], alone: bool, tmp_path: Path) -> None:
    command = sh(
        'pwd; printf "%s %s %s|" "$A" "${GONE-none}" "${X_1-none}"; env | grep -c dgm_; printf err >&2; exit 255',
        cwd=str(tmp_path), environment={"A": "x y", "limit": "7", "why": "w"}, unset=("GONE", "X_*"),
    )  # fmt: skip
    mark = fresh_mark()
    text = single_text(command, mark) if alone else batch_text([command], mark)
    outside = {"GONE": "1", "X_1": "2", "X_2": "3", "PATH": os.defpath}
    out, err = spoken(shell, encode(text), mark, env=outside)
    done = answer(command, out, err, 0) if alone else batch_answers([command], out)[0]
    assert isinstance(done, Completed)
    told = dataclasses.replace(done, seconds=0.0)
    assert told == Completed(command.argv, 255, f"{tmp_path}\nx y none none|0\n".encode(), b"err")


@each_shell
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_not_the_commands_doing(shell: list[str], alone: bool, tmp_path: Path) -> None:
    closed = tmp_path / "script"
    closed.write_text("#!/bin/sh\n")
    closed.chmod(0o644)

    def of(command: Command) -> Completed | Exception:
        if not alone:
            return run_many(shell, [command])[0]
        try:
            return run(shell, command)
        except (CommandMissing, FileMissing, CommandTimeout) as error:
            return error

    assert isinstance(of(Command(("no-such-program-here",))), CommandMissing)
    assert isinstance(of(Command((f"{tmp_path}/none",))), CommandMissing)
    assert isinstance(of(Command(("cd",))), CommandMissing), "a word of the shell is no program"
    assert isinstance(of(Command(("true",), cwd=f"{tmp_path}/none")), FileMissing)
    assert isinstance(of(Command(("true",), cwd=str(closed))), FileMissing)
    refused = of(Command((str(closed),)))
    assert isinstance(refused, Completed)
    assert refused.rc == 126
    killed = of(sh("kill -9 $$"))
    assert isinstance(killed, Completed)
    assert (killed.rc, killed.stderr) == (137, b"")


@each_shell
def test_a_folder_of_the_path_that_cannot_be_searched_shows_nothing(shell: list[str], tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    closed.chmod(0)
    try:
        if os.access(closed / "bin", os.X_OK):
            pytest.skip("for root every folder can be searched")
        done = run(shell, Command(("no-such",)), env={"PATH": f"{closed}/bin:{os.defpath}"})
    finally:
        closed.chmod(0o700)
    assert (done.rc, done.err) == (126, "no-such: Permission denied\n")
    with pytest.raises(CommandMissing):
        run(shell, Command(("no-such",)), env={"PATH": f"{tmp_path}/none:{os.defpath}"})


@each_shell
@pytest.mark.parametrize("alone", [True, False])
def test_a_time_limit_ends_all_that_was_started(shell: list[str], alone: bool, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = sh(f"trap '' TERM; sleep 60 & echo $$ $! >{pids}; wait; sleep 60", timeout_s=1)
    begun = time.monotonic()
    if alone:
        with pytest.raises(CommandTimeout):
            run(shell, command)
    else:
        answers = run_many(shell, [command, sh("echo quick")])
        assert isinstance(answers[0], CommandTimeout)
        assert isinstance(answers[1], Completed)
    assert time.monotonic() - begun < 30
    deadline = time.monotonic() + 10
    while not all(map(gone, pids.read_text().split())):
        assert time.monotonic() < deadline, "something lives on"
        time.sleep(0.05)


@each_shell
def test_without_setsid_the_command_itself_is_ended(shell: list[str], tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sleep", "env", "sed", "head", "rm", "mkdir", "cat", "printf"):
        (tools / name).symlink_to(shutil.which(name) or name)
    shell = [shutil.which(shell[0]) or shell[0], *shell[1:]]
    with pytest.raises(CommandTimeout):
        run(shell, Command(("sleep", "60"), timeout_s=1), env={"PATH": str(tools)})
    assert run(shell, Command(("cat",), stdin=b"fed"), env={"PATH": str(tools)}).stdout == b"fed"


@each_shell
def test_many_run_side_by_side_and_leave_nothing_behind(shell: list[str], tmp_path: Path) -> None:
    meet, temporary = tmp_path / "meet", tmp_path / "temporary"
    meet.mkdir()
    temporary.mkdir()
    # Each of the first eight goes on when all eight are there.
    wait = f"until [ -e {meet}/0 ] && [ -e {meet}/7 ]; do sleep 0.05; done"
    commands = [sh(f": >{meet}/{n}; {wait}; echo {n}; exit {n}", timeout_s=30) for n in range(16)]
    mark = fresh_mark()
    out, _ = spoken(shell, encode(batch_text(commands, mark)), mark, env={"TMPDIR": str(temporary), "PATH": os.defpath})
    answers = [each for each in batch_answers(commands, out) if isinstance(each, Completed)]
    assert [(each.rc, each.out) for each in answers] == [(n, f"{n}\n") for n in range(16)]
    assert list(temporary.iterdir()) == []


@each_shell
def test_what_hangs_holds_no_other_answer_up(shell: list[str]) -> None:
    """Hanging commands, more than there are lanes and first in the row: the others are told all the same."""
    hang = [Command(("sleep", "8"), timeout_s=5) for _ in range(LANES + 2)]
    quick = [sh(f"printf {number}; printf e{number} >&2; exit {number}") for number in range(20)]
    commands = [*hang, Command(("no-such-program",)), *quick]
    mark = fresh_mark()
    out = Frame(mark, 2**26)
    reader = BatchReader(commands, out)
    when = list[int]()
    with subprocess.Popen(  # a test may block
        [*shell, "-c", READER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"PATH": f"/usr/local/bin:{os.defpath}"},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(whole(batch_text(commands, mark), mark))
        process.stdin.close()
        while chunk := os.read(process.stdout.fileno(), 65536):
            out.feed(chunk)
            when += sorted(reader.take())
    assert sorted(when) == list(range(len(commands)))
    late = [place < len(hang) for place in when]
    assert late == sorted(late)
    assert [type(each) for each in reader.answers[: len(hang) + 1]] == [CommandTimeout] * len(hang) + [CommandMissing]
    rest = reader.answers[len(hang) + 1 :]
    assert [(each.rc, each.out, each.err) for each in rest if isinstance(each, Completed)] == [
        (number, f"{number}", f"e{number}") for number in range(20)
    ]
    assert out.end is not None


@given(cuts=st.lists(st.integers(1, 400), max_size=30), order=st.permutations(range(4)))
@settings(deadline=None)
def test_answers_are_taken_as_they_come(cuts: list[int], order: list[int]) -> None:
    """In any order, cut anywhere, with words between: each once, and only when it is whole."""
    mark = fresh_mark()
    commands = [Command((f"c{number}",)) for number in range(4)]
    parts = [
        f"{mark}-OUT {n + 1}\nout {n}\n-RC 1 rc=0 \n{mark}-ERR {n + 1}\n{n}{mark}-RC {n + 1} rc={n} \n{mark}-PART 000\n"
        for n in order
    ]
    raw = f"noise{mark}-BEGIN\n{''.join(parts)}{mark}-END rc=0 \n".encode()
    out = Frame(mark, 2**20)
    reader, come, at = BatchReader(commands, out), list[int](), 0
    out.heard = lambda: come.extend(reader.take())
    for cut in [*cuts, len(raw)]:
        out.feed(raw[at : at + cut])
        at += cut
    assert come == order
    assert [(each.rc, each.out, each.err) for each in reader.answers if isinstance(each, Completed)] == [
        (n, f"out {n}\n-RC 1 rc=0 \n", str(n)) for n in range(4)
    ]


@each_shell
def test_output_is_cut_at_its_limit(shell: list[str]) -> None:
    long = Command(("head", "-c", "5000", "/dev/zero"), max_output_bytes=1000)
    exact = Command(("head", "-c", "1000", "/dev/zero"), max_output_bytes=1000)
    for done in (run(shell, long), run_many(shell, [long])[0]):
        assert isinstance(done, Completed)
        assert (len(done.stdout), done.truncated) == (1000, True)
    for done in (run(shell, exact), run_many(shell, [exact])[0]):
        assert isinstance(done, Completed)
        assert (len(done.stdout), done.truncated) == (1000, False)


def test_the_line_is_plain_for_every_login_shell() -> None:
    for login in (True, False):
        text = line(login=login)
        assert text.isascii()
        assert text.isprintable()
        assert not set("\\!\n`") & set(text)


@pytest.mark.parametrize(
    "command",
    [
        Command(()), Command(("",)), Command(("-x",)), Command(("a\0b",)), Command(("true", "\ud800")),
        Command(("true",), environment={"A B": ""}), Command(("true",), environment={"A;id": ""}),
        Command(("true",), unset=("A*B",)), Command(("true",), unset=("$(id)",)), Command(("true",), cwd="a\0"),
    ],
)  # fmt: skip
def test_what_no_shell_can_pass_on_is_refused(command: Command) -> None:
    with pytest.raises(BadRequest):
        check(command)


@each_shell
def test_a_script_that_was_cut_is_not_run(shell: list[str], tmp_path: Path) -> None:
    mark, done = fresh_mark(), tmp_path / "ran"
    data = whole(batch_text([sh(f"touch {done}"), sh("true")], mark), mark)
    for size in (len(data) - len(mark), len(data) // 2, 40):
        out, _ = spoken(shell, data[:size], mark)
        assert out.end is None
        assert not done.exists()
    out, _ = spoken(shell, data, mark)
    assert out.end is not None
    assert done.exists()


@each_shell
def test_a_missing_command_is_told_among_others(shell: list[str]) -> None:
    some = [
        Command(("no-such-command-anywhere",)),
        sh("echo there"),
        Command(("true",), environment={"PATH": "/nowhere"}),
    ]
    missing, there, elsewhere = run_many(shell, some)
    assert isinstance(missing, CommandMissing)
    assert isinstance(there, Completed)
    assert there.out == "there\n"
    assert isinstance(elsewhere, CommandMissing), "its own PATH is what counts"


# mksh has no printf itself: along such a path it gives no answer at all, which is unknown too.
@pytest.mark.parametrize("shell", [words for words in SHELLS if words != ["mksh"]], ids=" ".join)
@pytest.mark.parametrize("path", ["", "/nowhere", "/nowhere:/nor/here"])
def test_along_a_path_without_a_shell_nothing_is_shown_to_be_missing(shell: list[str], path: str) -> None:
    # The shell of the test is started by its own path: the PATH is as start-up files left it.
    shell = [shutil.which(shell[0]) or shell[0], *shell[1:]]
    done = run(shell, Command(("no-such",)), env={"PATH": path})
    assert (done.rc, done.stdout) == (126, b"")
    assert "leads to no shell" in done.err
    with pytest.raises(CommandMissing):
        run(shell, Command(("no-such",)), env={"PATH": f"{path}:/usr/bin:/bin"})
    with pytest.raises(CommandMissing):
        run(shell, Command(("/no/such",)), env={"PATH": path})


@each_shell
def test_in_a_batch_neither(shell: list[str], tmp_path: Path) -> None:
    for name in ("cat", "head", "mkdir", "printf", "rm", "sleep", "wc"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    shell = [shutil.which(shell[0]) or shell[0], *shell[1:]]
    commands, mark = [Command(("no-such",)), Command(("cat", "/dev/null")), Command(("nor-this",))], fresh_mark()
    text = whole(batch_text(commands, mark), mark)
    out, _ = spoken(shell, text, mark, 2**26, env={"PATH": str(tmp_path)})
    answers = batch_answers(commands, out)
    assert [each.rc if isinstance(each, Completed) else each for each in answers] == [126, 0, 126]
