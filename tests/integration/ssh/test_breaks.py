"""A connection that was cut: what is asked is asked anew over another, and what may have acted is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from dragoman.command import Command, Completed
from dragoman.errors import TransportError

if TYPE_CHECKING:
    from tests.integration.ssh.conftest import Sshd, Transports

pytestmark = pytest.mark.anyio
TRUE = Command(("true",))


@pytest.mark.parametrize("pause_s", [0, 0.5])
@pytest.mark.parametrize("count", [1, 3])
async def test_questions_after_a_cut_are_answered(
    sshd: Sshd, kind: str, reach: Transports, pause_s: float, count: int
) -> None:
    there = reach(kind)
    await there.run(TRUE)
    for logins in (2, 3):
        sshd.cut()
        await anyio.sleep(pause_s)
        answers = await there.run_many([Command(("echo", str(number))) for number in range(count)])
        assert [one.out for one in answers if isinstance(one, Completed)] == [f"{n}\n" for n in range(count)], answers
        assert sshd.logins() == logins


async def test_files_are_looked_at_after_a_cut(sshd: Sshd, kind: str, reach: Transports) -> None:
    (sshd.home / "a").write_text("text")
    there = reach(kind)
    await there.run(TRUE)
    sshd.cut()
    assert await there.read_file(f"{sshd.home}/a") == b"text"
    sshd.cut()
    assert await there.stat(f"{sshd.home}/b") is None


async def test_a_command_is_run_once_over_a_new_connection_where_the_old_one_was_found_dead(
    sshd: Sshd, kind: str, reach: Transports
) -> None:
    there = reach(kind)
    await there.run(TRUE)
    sshd.cut()
    await anyio.sleep(0.5)
    await there.run(Command(("/bin/sh", "-c", f"echo x >>{sshd.home}/acted")))
    assert (sshd.home / "acted").read_text() == "x\n"
    assert sshd.logins() == 2


async def test_a_command_directly_after_a_cut_is_run_or_told_in_the_right_words(
    sshd: Sshd, kind: str, reach: Transports
) -> None:
    there = reach(kind)
    await there.run(TRUE)
    for number in range(1, 4):
        sshd.cut()
        try:
            await there.run(Command(("/bin/sh", "-c", f"echo {number} >>{sshd.home}/acted")))
        except TransportError as error:
            assert kind == "openssh", "there the command is only sent once there is a session"
            assert "start-up files" not in str(error)  # noqa: PT017
            await there.run(TRUE)
    numbers = (sshd.home / "acted").read_text().split() if (sshd.home / "acted").exists() else []
    assert len(numbers) == len(set(numbers))
    assert kind == "openssh" or len(numbers) == 3


async def test_what_may_have_begun_is_asked_again_but_never_run_again(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    # The cut comes while the start-up files are read: the shell there has been given the command and goes on.
    (sshd.home / ".profile").write_text('echo x >>"$HOME/begun"; sleep 1.2\n')

    async def cut_soon() -> None:
        with anyio.fail_after(10):
            while not (sshd.home / "begun").exists():  # noqa: ASYNC110  # another process's doing
                await anyio.sleep(0.05)
        await anyio.sleep(0.3)
        sshd.cut()

    async with anyio.create_task_group() as group:
        group.start_soon(cut_soon)
        with pytest.raises(TransportError) as caught:
            await there.run(Command(("/bin/sh", "-c", f"echo x >>{sshd.home}/acted")))
    assert "start-up files" not in str(caught.value)
    assert type(caught.value) is TransportError
    await anyio.sleep(1.5)
    assert (sshd.home / "begun").read_text() == "x\n"
    (sshd.home / "begun").unlink()
    async with anyio.create_task_group() as group:
        group.start_soon(cut_soon)
        answers = await there.run_many([Command(("echo", "a")), Command(("echo", "b"))])
    assert [one.out for one in answers if isinstance(one, Completed)] == ["a\n", "b\n"]
    assert (sshd.home / "begun").read_text() == "x\nx\n"


async def test_after_its_first_answer_a_batch_is_not_asked_again(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    slow = Command(("/bin/sh", "-c", f"echo x >>{sshd.home}/asked; sleep 8"))
    came: list[int] = []

    def told(place: int, item: Completed | Exception) -> None:
        came.append(place)
        if place == 0 and isinstance(item, Completed):
            sshd.cut()

    answers = await there.run_many([Command(("echo", "a")), slow], told)
    assert isinstance(answers[0], Completed)
    assert isinstance(answers[1], TransportError)
    assert "mid-command" in str(answers[1])
    assert came == [0, 1]
    assert (sshd.home / "asked").read_text() == "x\n"


async def test_a_server_that_is_gone_is_not_asked_for_ever(sshd: Sshd, kind: str, reach: Transports) -> None:
    there = reach(kind)
    await there.run(TRUE)
    sshd.stop()
    with anyio.fail_after(10):
        answers = await there.run_many([TRUE, TRUE])
    assert [type(one) for one in answers] == [TransportError, TransportError]
