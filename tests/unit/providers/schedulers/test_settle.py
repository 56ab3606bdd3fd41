"""What follows from every kind of evidence about a submission."""

from __future__ import annotations

import pytest

from dragoman.job import JobRef, ReasonClass
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import SubmitAnswer
from providers.attempt_look import AttemptLook, Claim, StepAnswer
from providers.schedulers.settle import Decision, Next, settle

TAG = "dgm-0123456789ab-a0"
NOW = 10_000
OK = Answer[JobRef].ok(JobRef(job_id="812", tag=TAG))
ABSENT = Answer[JobRef].absent("not listed")
UNKNOWN = Answer[JobRef].unknown("Unable to contact controller")
ACCEPTED = SubmitAnswer(job=JobRef(job_id="812"))
DOUBT = SubmitAnswer(doubt="Socket timed out")
REFUSED = SubmitAnswer(refused="Invalid account", reason_class=ReasonClass.NEVER)
OLD_OPTION = SubmitAnswer(refused="unrecognized option", retry_without=("--parsable",))


def claim(generation: int = 1, alive: Truth = Truth.NO, at: int = NOW - 100, limit_s: int = 30) -> Claim:
    return Claim(generation, host="login1", pid="99", at=at, limit_s=limit_s, nonce="n", alive=alive)


def decide(
    *claims: Claim,
    answers: dict[int, SubmitAnswer | str] | None = None,
    found: Answer[JobRef] | None = None,
    fresh: bool = True,
    owner: str = "",
    barred_by: str = "",
    absent_since: dict[int, int] | None = None,
    trouble: str = "",
    empty: bool = False,
    partial: dict[int, str] | None = None,
) -> Decision:
    """`answers`: the dialect's reading, or how the step ended without one (`killed`, `given-up`)."""
    given = answers or {}
    look = AttemptLook(
        control_dir="/w",
        now=NOW,
        claims=claims,
        answers={n: StepAnswer(n, a if isinstance(a, str) else "ended", 0, "said") for n, a in given.items()},
        owner=owner,
        barred_by=barred_by,
        absent_since=absent_since or {},
        trouble=trouble,
        empty=empty,
        partial=partial or {},
    )
    read = {n: a for n, a in given.items() if isinstance(a, SubmitAnswer)}
    return settle(look, read, found, tag=TAG, window_s=60, patience_s=900, fresh=fresh)


def test_nobody_has_begun() -> None:
    assert (decide().next, decide().generation) == (Next.SUBMIT, 1)
    assert decide(empty=True).next is Next.SUBMIT


def test_an_old_intent_with_an_empty_folder_may_have_been_purged() -> None:
    assert decide(fresh=False).next is Next.FIND
    assert decide(fresh=False, found=OK).job == OK.value
    assert decide(fresh=False, found=ABSENT).next is Next.NOTE_ABSENT
    assert decide(fresh=False, found=ABSENT, absent_since={0: NOW - 61}).next is Next.SUBMIT
    assert decide(fresh=False, found=UNKNOWN).next is Next.PERSON


def test_a_folder_that_cannot_be_read_shows_nothing() -> None:
    for found in (None, OK, ABSENT, UNKNOWN):
        assert decide(trouble="Permission denied", found=found, fresh=False).next is Next.WAIT


def test_the_answer_is_believed() -> None:
    accepted = decide(claim(), answers={1: ACCEPTED})
    assert (accepted.next, accepted.adopted) == (Next.SUBMITTED, False)
    assert accepted.job == JobRef(job_id="812", tag=TAG)
    refused = decide(claim(), answers={1: REFUSED})
    assert (refused.next, refused.words, refused.reason_class) == (Next.REFUSED, "Invalid account", ReasonClass.NEVER)


def test_the_job_that_runs_it_is_believed_before_anything_else() -> None:
    several: list[dict[int, SubmitAnswer | str]] = [{}, {1: DOUBT}, {1: REFUSED}, {1: ACCEPTED}, {1: "killed"}]
    for answers in several:
        decision = decide(claim(), answers=answers, owner="900", found=ABSENT, absent_since={1: 0})
        assert (decision.next, decision.adopted) == (Next.SUBMITTED, True)
        assert decision.job == JobRef(job_id="900", tag=TAG)
    cluster = SubmitAnswer(job=JobRef(job_id="900", cluster="b"))
    decision = decide(claim(), answers={1: cluster}, owner="900")
    assert cluster.job is not None
    assert (decision.job, decision.adopted) == (cluster.job.model_copy(update={"tag": TAG}), False)


def test_abandoned_and_barred() -> None:
    assert decide(Claim(1, abandoned_by="ann")).next is Next.ABANDONED
    several: list[dict[int, SubmitAnswer | str]] = [{}, {1: DOUBT}, {1: "killed"}]
    for answers in several:
        assert decide(claim(), answers=answers, barred_by="ann").next is Next.ABANDONED
    # It was taken after all: it is still there to be cancelled.
    assert decide(claim(), answers={1: ACCEPTED}, barred_by="ann").next is Next.SUBMITTED


@pytest.mark.parametrize(
    ("claimed", "outcome"),
    [
        (claim(alive=Truth.YES), Next.RUNNING),
        (claim(alive=Truth.YES, at=NOW - 1000), Next.PERSON),
        (claim(alive=Truth.UNKNOWN, at=NOW - 59), Next.RUNNING),
        (claim(alive=Truth.UNKNOWN, at=NOW - 61), Next.FIND),
        (claim(alive=Truth.NO, at=NOW), Next.FIND),
    ],
)
def test_a_claim_without_an_answer(claimed: Claim, outcome: Next) -> None:
    assert decide(claimed).next is outcome
    if outcome is not Next.FIND:
        # As long as the step may still submit, even a clean "absent" does not count.
        assert decide(claimed, found=ABSENT, absent_since={1: 0}).next is outcome


@pytest.mark.parametrize("answers", [{}, {1: "killed"}, {1: DOUBT}])
def test_a_doubt_is_settled_by_the_tag(answers: dict[int, SubmitAnswer | str]) -> None:
    assert decide(claim(), answers=answers).next is Next.FIND
    found = decide(claim(), answers=answers, found=OK)
    assert (found.next, found.job, found.adopted) == (Next.SUBMITTED, OK.value, True)
    assert decide(claim(), answers=answers, found=ABSENT).next is Next.NOTE_ABSENT
    for since in (NOW, NOW - 59, NOW - 60):
        assert decide(claim(), answers=answers, found=ABSENT, absent_since={1: since}).next is Next.WAIT
    repeat = decide(claim(), answers=answers, found=ABSENT, absent_since={1: NOW - 61})
    assert (repeat.next, repeat.generation) == (Next.SUBMIT, 2)


@pytest.mark.parametrize("answers", [{}, {1: "killed"}, {1: DOUBT}])
def test_a_look_up_that_fails_never_leads_to_a_submit(answers: dict[int, SubmitAnswer | str]) -> None:
    for since in ({}, {1: 0}):
        assert decide(claim(), answers=answers, found=UNKNOWN, absent_since=since).next is Next.WAIT
        old = decide(claim(at=NOW - 901), answers=answers, found=UNKNOWN, absent_since=since)
        assert old.next is Next.PERSON
        assert "Unable to contact controller" in old.words


def test_the_same_doubt_is_repeated_once() -> None:
    both: dict[int, SubmitAnswer | str] = {1: DOUBT, 2: DOUBT}
    since = {1: 0, 2: NOW - 61}
    assert decide(claim(1), claim(2), answers=both, found=ABSENT, absent_since=since).next is Next.PERSON
    assert decide(claim(1), claim(2), answers=both, found=OK).next is Next.SUBMITTED
    assert decide(claim(1), claim(2), answers={1: DOUBT, 2: ACCEPTED}).next is Next.SUBMITTED
    assert decide(claim(1), claim(2), answers={1: DOUBT, 2: REFUSED}).next is Next.REFUSED


def test_a_step_that_gave_up_is_repeated_at_once_unless_an_earlier_one_is_in_doubt() -> None:
    again = decide(claim(), answers={1: "given-up"})
    assert (again.next, again.generation) == (Next.SUBMIT, 2)
    assert decide(claim(1), claim(2), answers={1: DOUBT, 2: "given-up"}).next is Next.FIND
    many = [claim(number) for number in range(1, 9)]
    assert decide(*many, answers=dict.fromkeys(range(1, 9), "given-up")).next is Next.PERSON


def test_an_unknown_option_is_left_out_and_the_submit_repeated() -> None:
    again = decide(claim(), answers={1: OLD_OPTION})
    assert (again.next, again.generation, again.without) == (Next.SUBMIT, 2, ("--parsable",))


def test_what_the_submit_had_printed_is_told_to_the_person() -> None:
    decision = decide(claim(at=NOW - 901), found=UNKNOWN, partial={1: "Submitted batch job 81"})
    assert "Submitted batch job 81" in decision.words
