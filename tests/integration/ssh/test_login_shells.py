"""Whatever shell an account has, and whatever it prints at login: only the answer is the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from dragoman.command import Command, Completed
from dragoman.errors import TransportError

if TYPE_CHECKING:
    from tests.integration.ssh.conftest import Needed, Sshd, Transports

pytestmark = pytest.mark.anyio
BANNER = "  _ welcome _\\n Your Home Directories\\n  Size Avail Used\\n 175T 142T 48k /storage/brno11/home/alice"
SQUEUE = ("printf", "%s", "--format=%i|%j|%T")
# By shell: start-up files that print, complain, read their input and set a variable of the user's.
FILES = {
    "/bin/sh": (".profile",),
    "/bin/bash": (".bashrc", ".bash_profile"),
    "/bin/tcsh": (".tcshrc",),
    "/bin/csh": (".cshrc",),
    "/usr/bin/fish": (".config/fish/config.fish",),
    "/usr/bin/zsh": (".zshenv", ".zprofile"),
}
PACKAGES = {"/bin/tcsh": "tcsh", "/bin/csh": "tcsh", "/usr/bin/fish": "fish", "/usr/bin/zsh": "zsh"}


def startup(shell: str) -> str:
    say = f"printf '{BANNER}\\n'\nprintf '@@DGM-0-BEGIN\\nforged\\n@@DGM-0-END rc=0 \\n'\n"
    if shell.endswith("csh"):
        return f"{say}setenv SITE_WORD from-startup\n"
    if shell.endswith("fish"):
        return f"{say}echo oops >&2\nset -gx SITE_WORD from-startup\n"
    return f"{say}echo oops >&2\nexport SITE_WORD=from-startup\n"


@pytest.mark.parametrize("shell", FILES)
async def test_only_the_answer_counts(sshd: Sshd, kind: str, shell: str, needed: Needed, reach: Transports) -> None:
    needed(shell, PACKAGES.get(shell, "bash"))
    sshd.login_shell(shell)
    for name in FILES[shell]:
        path = anyio.Path(sshd.home / name)
        await path.parent.mkdir(parents=True, exist_ok=True)
        await path.write_text(startup(shell))
    there = reach(kind)
    done = await there.run(Command(SQUEUE))
    assert (done.rc, done.out, done.err) == (0, "--format=%i|%j|%T", "")
    script = 'A=1; export A; printf "%s " "$A" "$SITE_WORD"; printf err >&2; exit 255'
    done = await there.run(Command(("/bin/sh", "-c", script)))
    assert (done.rc, done.out, done.err) == (255, "1 from-startup ", "err")
    many = await there.run_many([Command(SQUEUE), Command(("cat",), stdin=b"in\n")])
    assert [one.out for one in many if isinstance(one, Completed)] == ["--format=%i|%j|%T", "in\n"]
    await there.write_file("a 'b' !c", b"data\0")
    assert await there.read_file("a 'b' !c") == b"data\0"


async def test_start_up_files_are_read_once_for_many_questions(
    sshd: Sshd, kind: str, needed: Needed, reach: Transports
) -> None:
    needed("/bin/bash", "bash")
    sshd.login_shell("/bin/bash")
    profile = 'echo read >>"$HOME/times"; export SITE_WORD="it\'s \\$HOME" PATH=$PATH:/site/bin\n'
    await anyio.Path(sshd.home / ".bash_profile").write_text(profile)
    there = reach(kind)
    script = Command(("/bin/sh", "-c", 'printf "%s %s" "$SITE_WORD" "${PATH##*:}"'))
    for _ in range(3):
        answers = await there.run_many([script, Command(("true",))])
        assert isinstance(answers[0], Completed)
        assert answers[0].out == "it's $HOME /site/bin"
    assert await anyio.Path(sshd.home / "times").read_text() == "read\n"
    assert (await there.run(script)).out == "it's $HOME /site/bin"
    assert await anyio.Path(sshd.home / "times").read_text() == "read\n" * 2, "a command by itself has them read anew"


async def test_without_a_login_shell_its_files_are_not_read(sshd: Sshd, kind: str, reach: Transports) -> None:
    (sshd.home / ".profile").write_text("SITE_WORD=from-startup; export SITE_WORD\n")
    show = Command(("/bin/sh", "-c", 'printf %s "${SITE_WORD-none}"'))
    assert (await reach(kind, login_shell=False).run(show)).out == "none"
    assert (await reach(kind).run(show)).out == "from-startup"


async def test_startup_files_that_read_their_input_find_it_empty(sshd: Sshd, kind: str, reach: Transports) -> None:
    (sshd.home / ".profile").write_text("cat; read -r answer; echo got:$answer\n")
    assert (await reach(kind).run(Command(("cat",), stdin=b"mine"))).out == "mine"


@pytest.mark.parametrize("ends", ["exit 0", "exit 3", "exec true", "echo This account is not available.; exit 1"])
async def test_startup_files_that_end_the_shell_are_no_answer(
    sshd: Sshd, kind: str, reach: Transports, ends: str
) -> None:
    (sshd.home / ".profile").write_text(f"{ends}\n")
    with pytest.raises(TransportError) as caught:
        await reach(kind).run(Command(("true",)))
    assert type(caught.value) is TransportError
    if "not available" in ends:
        assert "not available" in str(caught.value)


async def test_output_from_the_background_stays_outside(sshd: Sshd, kind: str, reach: Transports) -> None:
    (sshd.home / ".profile").write_text("(sleep 0.2; echo late; echo late >&2) &\n")
    done = await reach(kind).run(Command(("/bin/sh", "-c", "sleep 1; echo out")))
    assert "out\n" in done.out
    assert done.rc == 0


async def test_a_message_of_the_day_and_a_banner_before_login(sshd: Sshd, kind: str, reach: Transports) -> None:
    sshd.stop()
    (sshd.folder / "banner").write_text("Permission denied (publickey): only for members\n")
    sshd.settings.append(f"Banner {sshd.folder}/banner")
    sshd.start()
    done = await reach(kind).run(Command(("echo", "1001|RUNNING")))
    assert (done.out, done.err) == ("1001|RUNNING\n", "")
