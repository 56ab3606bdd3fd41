"""Evidence, attempts, jobs and transfers: the first stays, the end stays, nothing that cannot be stored loses a row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import psycopg
import pytest

from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.storable import MARK, REPLACEMENT
from dragoman.attempt import Attempt, AttemptRecord, AttemptState, attempt_tag
from dragoman.errors import BadRequest, UnknownName
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.kleene import Truth
from dragoman.observation import Observation, Outcome
from dragoman.proposal import Check, Proposal, Verdict
from dragoman.shape import Shape
from dragoman.thread import ThreadRow
from dragoman.transfer import TransferItem, TransferPlan, TransferState, TransferStatus

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
async def epoch(ledger: PostgresLedger) -> int:
    """The lease of thread `t`."""
    await ledger.create_thread(ThreadRow(thread_id="t"))
    taken = await ledger.acquire("t", "h", 300)
    assert taken is not None
    return taken


def an_attempt(number: int = 0, body: str = "true") -> Attempt:
    tag = attempt_tag("t", "dispatcher", number)
    spec = JobSpec(tag=tag, shape=Shape(), work_dir="/w", control_dir="/c", body=body)
    return Attempt(
        tag=tag,
        thread_id="t",
        step="dispatcher",
        number=number,
        site="s",
        scheduler="slurm",
        spec=spec,
        intended_at=AT + timedelta(seconds=number),
    )


def an_observation(id_: str, reason: str = "") -> Observation:
    return Observation(
        id=id_,
        site="s",
        provider="workload/slurm",
        tool="resources",
        outcome=Outcome.UNKNOWN,
        reason=reason,
        observed_at=AT,
        max_age_s=10,
    )


def a_proposal(site: str, error: str = "") -> Proposal:
    return Proposal(site=site, round=1, verdict=Verdict.UNKNOWN, fits=Truth.UNKNOWN, made_at=AT, error=error)


async def test_the_first_of_each_record_stays(ledger: PostgresLedger, epoch: int) -> None:
    for number in (1, 2):
        await ledger.save_request("t", 0, {"number": number})
        await ledger.save_observations("t", [an_observation("o1", f"{number}"), an_observation(f"n{number}")])
        await ledger.save_proposal("t", a_proposal("a", f"{number}"))
        await ledger.save_decision("t", "selection", 1, {"number": number})
    await ledger.save_proposal("t", a_proposal("B"))
    assert await ledger.requests("t") == {0: {"number": 1}}
    assert [(each.id, each.reason) for each in await ledger.observations("t")] == [("o1", "1"), ("n1", ""), ("n2", "")]
    assert [each.id for each in await ledger.observations("t", ["n2", "none"])] == ["n2"]
    assert await ledger.observations("t", []) == []
    assert await ledger.proposals("t", 1) == [a_proposal("B"), a_proposal("a", "1")]
    assert await ledger.proposals("t", 0) == []
    [decision] = await ledger.decisions("t")
    assert (decision["kind"], decision["round"], decision["record"]) == ("selection", 1, {"number": 1})


async def test_an_intent_is_stored_once_and_given_back(ledger: PostgresLedger, epoch: int) -> None:
    first = await ledger.intend(an_attempt(), epoch=epoch)
    again = await ledger.intend(an_attempt(body="false"), epoch=epoch)
    assert first == again == AttemptRecord(attempt=an_attempt())
    assert await ledger.attempt(first.attempt.tag) == first
    assert await ledger.tags("s") == {first.attempt.tag}
    assert await ledger.tags("other") == set()


async def test_of_many_intents_at_once_one_is_stored(ledger: PostgresLedger, epoch: int) -> None:
    got: list[AttemptRecord] = []

    async def intend(number: int) -> None:
        got.append(await ledger.intend(an_attempt(body=f"echo {number}"), epoch=epoch))

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(intend, number)
    assert len({record.attempt.spec.body for record in got}) == 1
    assert len(await ledger.attempts("t")) == 1


async def test_the_same_step_and_number_cannot_have_two_tags(ledger: PostgresLedger, epoch: int) -> None:
    await ledger.intend(an_attempt(), epoch=epoch)
    other = an_attempt().model_copy(update={"tag": "dgm-000000000000-a0"})
    with pytest.raises(psycopg.errors.UniqueViolation):
        await ledger.intend(other, epoch=epoch)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("submitted:7", "submitted:8", "submitted:7"),
        ("submitted:7", "refused", "submitted:7"),
        ("submitted:0", "in-doubt", "submitted:0"),
        ("refused", "abandoned", "refused"),
        ("refused", "submitted:7", "submitted:7"),
        ("abandoned", "submitted:7", "submitted:7"),
        ("abandoned", "in-doubt", "abandoned"),
        ("in-doubt", "submitted:7", "submitted:7"),
        ("in-doubt", "refused", "refused"),
    ],
)
async def test_a_recorded_job_is_never_replaced(
    ledger: PostgresLedger, epoch: int, first: str, second: str, kept: str
) -> None:
    record = await ledger.intend(an_attempt(), epoch=epoch)
    settled = record
    for told in (first, second):
        state, _, job_id = told.partition(":")
        job = JobRef(job_id=job_id) if job_id else None
        settled = await ledger.settle_attempt(
            record.model_copy(update={"state": AttemptState(state), "job": job, "answer": told}), epoch=epoch
        )
    state, _, job_id = kept.partition(":")
    assert (settled.state, settled.job.job_id if settled.job else "", settled.answer) == (state, job_id, kept)
    assert await ledger.attempt(record.attempt.tag) == settled


async def test_the_table_itself_refuses_another_job(ledger: PostgresLedger, epoch: int, database: str) -> None:
    record = await ledger.intend(an_attempt(), epoch=epoch)
    told = record.model_copy(update={"state": AttemptState.SUBMITTED, "job": JobRef(job_id="7")})
    await ledger.settle_attempt(told, epoch=epoch)
    await ledger.save_job(told.attempt.tag, JobStatus(ref=JobRef(job_id="7"), state=JobState.COMPLETED))
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        for sql in (
            """UPDATE dragoman_ledger.attempts SET job = '{"job_id": "8"}'""",
            "UPDATE dragoman_ledger.attempts SET job = NULL, state = 'intended'",
            "UPDATE dragoman_ledger.jobs SET state = 'running', place = 3",
        ):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
                await connection.execute(sql.encode())


async def test_a_submitted_attempt_has_a_job(ledger: PostgresLedger, epoch: int) -> None:
    record = await ledger.intend(an_attempt(), epoch=epoch)
    with pytest.raises(BadRequest):
        await ledger.settle_attempt(record.model_copy(update={"state": AttemptState.SUBMITTED}), epoch=epoch)
    with pytest.raises(UnknownName):
        await ledger.settle_attempt(AttemptRecord(attempt=an_attempt(5), state=AttemptState.REFUSED), epoch=epoch)


S = JobState


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ([(S.UNKNOWN, None)], S.UNKNOWN),
        ([(S.UNKNOWN, None), (S.PENDING, None)], S.PENDING),
        ([(S.RUNNING, None), (S.UNKNOWN, None)], S.RUNNING),
        ([(S.COMPLETED, None), (S.UNKNOWN, None)], S.COMPLETED),
        ([(S.RUNNING, None), (S.PENDING, None)], S.RUNNING),
        ([(S.RUNNING, 0), (S.PENDING, 1)], S.PENDING),
        ([(S.RUNNING, None), (S.PENDING, 1)], S.PENDING),
        ([(S.PENDING, 1), (S.RUNNING, 0)], S.PENDING),
        ([(S.PENDING, None), (S.HELD, None)], S.HELD),
        ([(S.RUNNING, None), (S.SUSPENDED, None), (S.RUNNING, None)], S.RUNNING),
        ([(S.FAILED, None), (S.RUNNING, None)], S.FAILED),
        ([(S.FAILED, None), (S.COMPLETED, None)], S.FAILED),
        ([(S.NODE_FAILED, 0), (S.PENDING, 1)], S.NODE_FAILED),
        ([(S.COMPLETING, None), (S.RUNNING, None), (S.TIMED_OUT, None)], S.TIMED_OUT),
    ],
)
async def test_a_job_goes_forward_only_and_an_end_is_an_end(
    ledger: PostgresLedger, epoch: int, told: list[tuple[JobState, int | None]], kept: JobState
) -> None:
    tag = (await ledger.intend(an_attempt(), epoch=epoch)).attempt.tag
    returned = None
    for state, restarts in told:
        returned = await ledger.save_job(tag, JobStatus(ref=JobRef(job_id="7"), state=state, restarts=restarts))
    assert returned is not None
    assert returned.state is kept
    assert await ledger.job(tag) == returned


async def test_of_two_looks_at_the_same_place_the_later_counts(ledger: PostgresLedger, epoch: int) -> None:
    tag = (await ledger.intend(an_attempt(), epoch=epoch)).attempt.tag
    ref = JobRef(job_id="7")
    late = JobStatus(ref=ref, state=S.HELD, seen_at=AT + timedelta(seconds=5))
    early = JobStatus(ref=ref, state=S.PENDING, seen_at=AT)
    await ledger.save_job(tag, late)
    assert await ledger.save_job(tag, early) == late


async def test_an_end_gains_what_was_not_known_of_it(ledger: PostgresLedger, epoch: int) -> None:
    tag = (await ledger.intend(an_attempt(), epoch=epoch)).attempt.tag
    ref = JobRef(job_id="7")
    await ledger.save_job(tag, JobStatus(ref=ref, state=S.FAILED, reason="first"))
    kept = await ledger.save_job(tag, JobStatus(ref=ref, state=S.FAILED, reason="second", exit_code=2))
    assert (kept.reason, kept.exit_code) == ("first", 2)


async def test_nobody_can_note_a_job_of_an_attempt_that_was_never_intended(ledger: PostgresLedger) -> None:
    with pytest.raises(UnknownName):
        await ledger.save_job("dgm-000000000000-a0", JobStatus(ref=JobRef(job_id="7"), state=S.RUNNING))
    assert await ledger.job("dgm-000000000000-a0") is None


async def test_a_transfer_is_planned_once_and_an_arrival_stays(ledger: PostgresLedger, epoch: int) -> None:
    item = TransferItem(source="/a", destination="/b", name="a")
    plan = TransferPlan(id="p", mover="local", direction="in", site="s", items=(item,), root="/")
    assert await ledger.plan_transfer("t", plan, epoch=epoch) == plan
    other = plan.model_copy(update={"items": ()})
    assert await ledger.plan_transfer("t", other, epoch=epoch) == plan
    await ledger.save_transfer("p", TransferStatus(state=TransferState.ACTIVE, handle={"task": "7"}))
    await ledger.save_transfer("p", TransferStatus(state=TransferState.UNKNOWN))
    [(_, status)] = await ledger.transfers("t")
    assert status == TransferStatus(state=TransferState.UNKNOWN, handle={"task": "7"})
    await ledger.save_transfer("p", TransferStatus(state=TransferState.SUCCEEDED))
    await ledger.save_transfer("p", TransferStatus(state=TransferState.FAILED))
    [(kept, status)] = await ledger.transfers("t")
    assert kept == plan
    assert status is not None
    assert status.state is TransferState.SUCCEEDED
    with pytest.raises(UnknownName):
        await ledger.save_transfer("none", TransferStatus(state=TransferState.ACTIVE))


async def test_nul_in_any_text_keeps_the_row_and_says_so(ledger: PostgresLedger, epoch: int) -> None:
    """Case PG01: a job's output with NUL, in values, keys and nested lists; the escape written out stays as it is."""
    tag = (await ledger.intend(an_attempt(), epoch=epoch)).attempt.tag
    kept = await ledger.save_job(tag, JobStatus(ref=JobRef(job_id="7"), state=S.COMPLETED, reason="ok\0done"))
    assert (kept.state, kept.reason) == (S.COMPLETED, f"ok{REPLACEMENT}done{MARK}")
    await ledger.save_decision("t", "outcome", 0, {"k\0": [{"deep": ["a\0b", "\\u0000"]}], "plain": "\\u0000"})
    [decision] = await ledger.decisions("t")
    assert decision["record"] == {
        f"k{REPLACEMENT}{MARK}": [{"deep": [f"a{REPLACEMENT}b{MARK}", "\\u0000"]}],
        "plain": "\\u0000",
    }
    await ledger.say("t", "collector", "tail: \0", {"x": "\0"})
    [line] = await ledger.timeline("t")
    assert (line.words, line.data) == (f"tail: {REPLACEMENT}{MARK}", {"x": REPLACEMENT + MARK})


async def test_a_text_of_full_length_with_nul_can_be_read_back(ledger: PostgresLedger, epoch: int) -> None:
    tag = (await ledger.intend(an_attempt(), epoch=epoch)).attempt.tag
    kept = await ledger.save_job(tag, JobStatus(ref=JobRef(job_id="7"), state=S.FAILED, reason="\0" + "x" * 999))
    assert kept.reason.endswith(MARK)
    assert len(kept.reason) == 1000
    check = Check(requirement="r", field="f", result=Truth.NO, reason="y" * 999 + "\0", kind="policy")
    await ledger.save_proposal("t", a_proposal("s").model_copy(update={"checks": (check,)}))
    [proposal] = await ledger.proposals("t", 1)
    assert proposal.checks[0].reason.endswith(MARK)


async def test_what_is_acted_on_is_stored_exactly_or_refused(ledger: PostgresLedger, epoch: int) -> None:
    """A script or a path is never changed to make it storable."""
    with pytest.raises(BadRequest) as refused:
        await ledger.intend(an_attempt(body="echo a\0b"), epoch=epoch)
    assert refused.value.where == "spec.body"
    item = TransferItem(source="/a\0", destination="/b", name="a")
    plan = TransferPlan(id="p", mover="local", direction="in", site="s", items=(item,), root="/")
    with pytest.raises(BadRequest) as refused:
        await ledger.plan_transfer("t", plan, epoch=epoch)
    assert refused.value.where == "items.0.source"
    assert await ledger.attempts("t") == []
    assert await ledger.transfers("t") == []


async def test_a_name_with_nul_is_a_clear_error(ledger: PostgresLedger) -> None:
    with pytest.raises(BadRequest):
        await ledger.thread("a\0b")
    with pytest.raises(BadRequest):
        await ledger.create_thread(ThreadRow(thread_id="a\0b"))
    quoted = "'; DROP TABLE dragoman_ledger.threads; -- %s"
    await ledger.create_thread(ThreadRow(thread_id=quoted))
    assert [row.thread_id for row in await ledger.find_threads("'; DROP")] == [quoted]
    assert await ledger.find_threads("%") == []
