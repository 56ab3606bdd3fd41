"""Every fault of a submit ends with the job run once, or with a person who is told why not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.command import Command
from dragoman.errors import CommandMissing, NotSettled, TransportError
from dragoman.job import JobRef, JobState
from dragoman.model import now
from dragoman.observation import Outcome

World = Any


async def settled(world: World, attempt: Attempt, *, seconds: float = 15, window_s: float = 1.0) -> AttemptRecord:
    """Call until the attempt is in a known state, as a thread does that looks again later."""
    with anyio.fail_after(seconds):
        while True:
            client = world.client(window_s=window_s)
            try:
                record: AttemptRecord = await client.submit(attempt)
                return record
            except (NotSettled, TransportError):
                await anyio.sleep(0.2)


async def prepared(world: World, **options: Any) -> Attempt:
    attempt: Attempt = world.attempt(**options)
    await world.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    return attempt


async def test_submits_in_one_round_trip_and_again_never(world: World) -> None:
    attempt = await prepared(world)
    client = world.client()
    calls: list[Command] = []
    run = client.transport.run

    async def counted(command: Command) -> Any:
        calls.append(command)
        return await run(command)

    client.transport.run = counted
    record = await client.submit(attempt)
    assert (record.state, record.job, record.adopted) == (
        AttemptState.SUBMITTED,
        JobRef(job_id="1", tag=attempt.tag),
        False,
    )
    assert len(calls) == 1
    for _ in range(3):
        assert (await world.client().submit(attempt)).job == record.job
    assert world.submits() == 1
    world.run_jobs()
    assert world.runs() == 1


@pytest.mark.parametrize("fault", ["noise", "banner"])
async def test_what_else_is_printed_is_not_a_failure(world: World, fault: str) -> None:
    world.fault(fault)
    attempt = await prepared(world)
    record = await world.client().submit(attempt)
    assert (record.state, world.submits()) == (AttemptState.SUBMITTED, 1)


@pytest.mark.parametrize("fault", ["lose", "hang-after", "die-after"])
async def test_a_job_that_was_taken_without_an_answer_is_adopted(world: World, fault: str) -> None:
    world.dialect.limit_s = 1
    world.fault(fault)
    attempt = await prepared(world)
    record = await settled(world, attempt)
    assert (record.state, record.job, record.adopted) == (
        AttemptState.SUBMITTED,
        JobRef(job_id="1", tag=attempt.tag),
        True,
    )
    assert world.submits() == 1
    world.run_jobs()
    assert world.runs() == 1


@pytest.mark.parametrize("fault", ["not-taken", "hang-before", "die-before"])
async def test_a_job_that_was_not_taken_is_repeated_once_after_the_window(world: World, fault: str) -> None:
    world.dialect.limit_s = 1
    world.fault(fault)
    attempt = await prepared(world)
    began = anyio.current_time()
    record = await settled(world, attempt)
    assert anyio.current_time() - began >= 1
    assert (record.state, world.submits(), world.jobs()) == (AttemptState.SUBMITTED, 2, 1)
    world.run_jobs()
    assert world.runs() == 1


@pytest.mark.parametrize("down", ["queue-down", "history-down"])
async def test_nothing_is_repeated_while_a_look_up_fails(world: World, down: str) -> None:
    world.fault("not-taken")
    world.fault(down)
    attempt = await prepared(world)
    client = world.client()
    began = anyio.current_time()
    while anyio.current_time() - began < 2.5:
        with pytest.raises(NotSettled, match="Unable to contact controller"):
            await client.submit(attempt)
        await anyio.sleep(0.3)
    assert world.submits() == 1
    world.no_fault(down)
    record = await settled(world, attempt)
    assert (record.state, world.submits(), world.jobs()) == (AttemptState.SUBMITTED, 2, 1)


async def test_the_same_doubt_twice_is_for_a_person(world: World) -> None:
    world.fault("not-taken", times=5)
    attempt = await prepared(world)
    record = await settled(world, attempt)
    assert (record.state, world.submits()) == (AttemptState.IN_DOUBT, 2)
    assert "already repeated once" in record.answer
    assert "Socket timed out" in record.answer


async def test_a_doubt_that_a_later_start_resolves_is_no_doubt_any_more(world: World) -> None:
    """A filter strips the tag and nothing can be searched: the running job itself says whose it is."""
    world.fault("strip-tag")
    world.fault("lose")
    world.dialect.searchable = False
    attempt = await prepared(world)
    record = await settled(world, attempt)
    assert (record.state, world.submits()) == (AttemptState.IN_DOUBT, 1)
    assert "cannot be asked for a tag" in record.answer
    world.run_jobs()
    again = await world.client().reconcile(record)
    assert (again.state, again.job) == (AttemptState.SUBMITTED, JobRef(job_id="1", tag=attempt.tag))
    assert world.runs() == 1


async def test_the_last_guard_a_first_job_that_turns_up_late(world: World) -> None:
    """Taken, stripped of its tag, cleanly absent by every look-up: repeated, and still the body runs once."""
    world.fault("strip-tag")
    world.fault("lose")
    attempt = await prepared(world)
    record = await settled(world, attempt)
    assert (record.state, record.job, world.jobs()) == (
        AttemptState.SUBMITTED,
        JobRef(job_id="2", tag=attempt.tag),
        2,
    )
    world.run_jobs()
    assert world.runs() == 1
    assert record.job is not None
    told = (await world.client().status([record.job])).jobs["2"]
    assert (told.state, told.ref.job_id, told.exit_code) == (JobState.COMPLETED, "1", 0)


async def test_a_refusal_is_final_and_told_in_the_schedulers_words(world: World) -> None:
    world.fault("refuse")
    attempt = await prepared(world)
    record = await world.client().submit(attempt)
    assert (record.state, record.job) == (AttemptState.REFUSED, None)
    assert "Invalid account" in record.answer
    assert (await world.client().submit(attempt)).state is AttemptState.REFUSED
    assert (world.submits(), world.jobs()) == (1, 0)


async def test_an_option_that_this_version_does_not_know_is_dropped_once_and_remembered(world: World) -> None:
    world.fault("unknown-option", times=5)
    client = world.client()
    first, second = world.attempt(0), world.attempt(1)
    assert (await client.submit(first)).state is AttemptState.SUBMITTED
    assert (world.submits(), world.jobs()) == (2, 1)
    assert (await client.submit(second)).state is AttemptState.SUBMITTED
    assert (world.submits(), world.jobs()) == (3, 2)
    assert (await world.client().submit(first)).job == JobRef(job_id="1", tag=first.tag)


async def test_a_missing_submit_command_claims_nothing(world: World) -> None:
    attempt = await prepared(world)
    client = world.client()
    with pytest.raises(CommandMissing, match="no-such-submit"):
        await client.attempts.submit(attempt.spec, "#!/bin/sh\n", Command(("no-such-submit",)))
    assert (await client.submit(attempt)).state is AttemptState.SUBMITTED


async def test_a_cut_script_is_never_submitted(world: World) -> None:
    attempt = await prepared(world)
    client = world.client()
    run = client.transport.run

    async def cut(command: Command) -> Any:
        return await run(Command(command.argv, stdin=command.stdin[:-1], environment=command.environment, timeout_s=20))

    client.transport.run = cut
    with pytest.raises(TransportError, match="incomplete"):
        await client.submit(attempt)
    assert world.submits() == 0
    assert (await settled(world, attempt)).state is AttemptState.SUBMITTED
    assert world.submits() == 1


async def test_many_at_once_submit_once(world: World) -> None:
    attempt = await prepared(world)
    records: list[AttemptRecord] = []

    async def one() -> None:
        records.append(await settled(world, attempt))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(one)
    assert [record.job for record in records] == [JobRef(job_id="1", tag=attempt.tag)] * 8
    assert world.submits() == 1


async def test_many_at_once_repeat_once(world: World) -> None:
    world.fault("not-taken")
    attempt = await prepared(world)
    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(settled, world, attempt)
    assert (world.submits(), world.jobs()) == (2, 1)


SHELLS = [
    words for words in (["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["ksh"], ["mksh"])
    if shutil.which(words[0])
]  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
async def test_the_step_under_every_shell(world: World, shell: list[str]) -> None:
    """Whatever a site has as /bin/sh: submit, repeat after a doubt, abandon, bar."""
    client = world.client()
    run = client.transport.run

    async def under(command: Command) -> Any:
        assert command.argv[:2] == ("/bin/sh", "-c") or command.argv[0] == "sh"
        argv = (*shell, *command.argv[1:])
        return await run(replace(command, argv=argv))

    client.transport.run = under
    attempt, unwanted = world.attempt(0), world.attempt(1)
    await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    world.fault("not-taken")
    with anyio.fail_after(15):
        while True:
            try:
                record = await client.submit(attempt)
                break
            except NotSettled:
                await anyio.sleep(0.3)
    assert (record.state, world.submits(), world.jobs()) == (AttemptState.SUBMITTED, 2, 1)
    assert (await client.submit(attempt)).job == record.job
    assert (await client.abandon(unwanted, "ann")).state is AttemptState.ABANDONED
    world.run_jobs()
    assert world.runs() == 1
    look = (await client.attempts.look([attempt.spec.control_dir]))[attempt.spec.control_dir]
    assert look.owner == "1"
    assert look.exits[""].rc == 0
    assert sorted(look.answers) == [1, 2]
    assert "Socket timed out" in look.answers[1].err
    assert (await client.attempts.bar(attempt.spec.control_dir, "ann")).owner == "1"


async def test_a_submit_reads_its_script_from_standard_input_where_it_must(world: World) -> None:
    """`bsub <script`, or a manifest that is another text than the script."""
    attempt = await prepared(world)
    client = world.client()
    script = "#!/bin/sh\necho ü\n"
    for generation, stdin in enumerate((b"", script.encode(), b"other\0 text\n"), start=1):
        command = Command(("sh", "-c", f"wc -c; cat {attempt.spec.control_dir}/script"), stdin=stdin)
        look, mine = await client.attempts.submit(attempt.spec, script, command, generation=generation)
        assert mine
        count, _, rest = look.answers[generation].out.partition("\n")
        assert (int(count), rest.rstrip("\n")) == (len(stdin), script.rstrip("\n"))


async def test_values_with_quotes_and_blanks_reach_the_submit_command_whole(world: World) -> None:
    attempt = await prepared(world)
    words = ("a b", "$(touch evil)", "`touch evil`", "'", '"', "\\", "*", "--", "", "x;y", "ü\nz")
    look, _ = await world.client().attempts.submit(attempt.spec, "x\n", Command(("printf", "<%s>", *words)))
    assert look.answers[1].out == "".join(f"<{word}>" for word in words)


# Cancelling


async def test_cancelled_before_it_was_submitted_it_never_is(world: World) -> None:
    attempt = await prepared(world)
    assert (await world.client().abandon(attempt, "ann")).state is AttemptState.ABANDONED
    record = await world.client().submit(attempt)
    assert (record.state, world.submits()) == (AttemptState.ABANDONED, 0)
    assert "ann" in record.answer


async def test_cancelled_while_submitting_it_is_found_and_can_be_cancelled(world: World) -> None:
    world.fault("slow-after")
    attempt = await prepared(world)
    async with anyio.create_task_group() as group:
        group.start_soon(settled, world, attempt)
        while not world.jobs():  # noqa: ASYNC110 - another process makes it
            await anyio.sleep(0.02)
        with pytest.raises(NotSettled, match="is submitting it"):
            await world.client().abandon(attempt, "ann")
    record = await world.client().abandon(attempt, "ann")
    assert (record.state, record.job) == (AttemptState.SUBMITTED, JobRef(job_id="1", tag=attempt.tag))
    assert record.job is not None
    assert (await world.client().cancel(record.job)).outcome is Outcome.OK
    told = await world.client().status([record.job])
    assert told.jobs["1"].state is JobState.CANCELLED


async def test_cancelled_in_doubt_it_is_found_by_its_tag(world: World) -> None:
    world.fault("lose")
    world.fault("queue-down")
    world.fault("history-down")
    attempt = await prepared(world)
    with pytest.raises(NotSettled):
        await world.client().submit(attempt)
    world.no_fault("queue-down")
    record = await world.client().abandon(attempt, "ann")
    assert (record.state, record.job) == (AttemptState.SUBMITTED, JobRef(job_id="1", tag=attempt.tag))


async def test_cancelled_in_doubt_and_not_to_be_found_its_job_ends_without_running(world: World) -> None:
    world.fault("lose")
    world.fault("queue-down")
    world.fault("history-down")
    attempt = await prepared(world)
    with pytest.raises(NotSettled):
        await world.client().submit(attempt)
    assert (await world.client().abandon(attempt, "ann")).state is AttemptState.ABANDONED
    world.run_jobs()
    assert (world.jobs(), world.runs()) == (1, 0)
    assert "113" in (world.scheduler / "jobs/1/state").read_text()
    assert (await settled(world, attempt)).state is AttemptState.ABANDONED


# Watching


async def test_a_job_that_no_account_shows_is_not_finished(world: World) -> None:
    attempt = await prepared(world)
    record = await world.client().submit(attempt)
    assert record.job is not None
    world.fault("queue-blind")
    world.fault("history-blind")
    client = world.client()
    answers = await client.status([record.job])
    assert (dict(answers.jobs), answers.absent, answers.trouble) == ({}, frozenset(), "")
    impatient = world.client(grace_s=0)
    await impatient.status([record.job])
    await anyio.sleep(0.01)
    assert (await impatient.status([record.job])).absent == {"1"}
    world.no_fault("queue-blind")
    assert (await client.status([record.job])).jobs["1"].state is JobState.PENDING


async def test_a_scheduler_that_cannot_be_reached_shows_nothing(world: World) -> None:
    attempt = await prepared(world)
    record = await world.client().submit(attempt)
    assert record.job is not None
    world.fault("queue-down")
    client = world.client(grace_s=0)
    for _ in range(2):
        answers = await client.status([record.job])
        assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
        assert "Unable to contact" in answers.trouble


async def test_the_jobs_own_record_speaks_where_queue_and_accounting_are_silent(world: World) -> None:
    attempt = await prepared(world)
    record = await world.client().submit(attempt)
    assert record.job is not None
    world.run_jobs()
    world.fault("history-blind")
    told = (await world.client().status([record.job])).jobs["1"]
    assert (told.state, told.exit_code, told.from_history) == (JobState.COMPLETED, 0, True)
    assert told.started_at is not None
    assert told.seen_at is not None
    assert told.seen_at <= now()


async def test_a_failure_is_left_to_the_accounting_until_its_grace_is_over(world: World) -> None:
    attempt = await prepared(world, body="exit 7\n")
    record = await world.client().submit(attempt)
    assert record.job is not None
    world.run_jobs()
    world.fault("history-blind")
    assert dict((await world.client().status([record.job])).jobs) == {}
    impatient = world.client(grace_s=0)
    await impatient.status([record.job])
    await anyio.sleep(0.01)
    told = (await impatient.status([record.job])).jobs["1"]
    assert (told.state, told.exit_code) == (JobState.FAILED, 7)


async def test_a_folder_that_was_purged_is_not_taken_for_one_where_nobody_began(world: World) -> None:
    attempt = await prepared(world)
    assert (await world.client().submit(attempt)).state is AttemptState.SUBMITTED
    shutil.rmtree(Path(attempt.spec.control_dir))
    old = attempt.model_copy(update={"intended_at": now() - timedelta(days=40)})
    record = await settled(world, old)
    assert (record.state, record.adopted, world.submits()) == (AttemptState.SUBMITTED, True, 1)
