"""Two processes, a scheduler that loses answers and steps that die or freeze, in any order: a model of submit-once.

Each process is a generator that yields between its single effects, so that hypothesis may interleave, crash and freeze
it anywhere. Decisions are those of the real `settle`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.job import JobRef
from dragoman.kleene import Truth
from dragoman.observation import Answer
from dragoman.protocols import SubmitAnswer
from providers.attempt_look import AttemptLook, Claim, StepAnswer
from providers.schedulers.settle import Decision, Next, settle

TAG = "dgm-0123456789ab-a0"
WINDOW, FENCE, LIMIT = 60, 20, 30


@dataclass
class Site:
    """The folder and the scheduler."""

    now: int = 1000
    claims: dict[int, Claim] = field(default_factory=dict)
    answers: dict[int, tuple[StepAnswer, SubmitAnswer | None]] = field(default_factory=dict)
    absent: dict[int, int] = field(default_factory=dict)
    alive: set[int] = field(default_factory=set)
    """Generations whose step lives."""
    jobs: list[int] = field(default_factory=list)
    """Generations that the scheduler took."""
    owner: int | None = None
    """Index of the job that runs the attempt."""
    runs: int = 0
    reachable: bool = True
    elsewhere: bool = False
    """All look from another login node: nobody can tell whether a step lives."""
    gap: bool = False
    """Steps may freeze between their last check and the submit itself."""
    allowed: list[tuple[int, int]] = field(default_factory=list)
    """Repeats after absence: the generation, and how many jobs there were when it was allowed."""

    def look(self) -> AttemptLook:
        claims = []
        for number, claim in sorted(self.claims.items()):
            alive = Truth.YES if number in self.alive else Truth.NO
            if self.elsewhere:
                alive = Truth.UNKNOWN
            claims.append(replace(claim, alive=Truth.NO if number in self.answers else alive))
        return AttemptLook(
            control_dir="/w",
            now=self.now,
            claims=tuple(claims),
            answers={number: step for number, (step, _) in self.answers.items()},
            absent_since=dict(self.absent),
            owner="" if self.owner is None else str(self.owner),
        )

    def find(self) -> Answer[JobRef]:
        if not self.reachable:
            return Answer[JobRef].unknown("down")
        if self.jobs:
            return Answer[JobRef].ok(JobRef(job_id="0", tag=TAG))
        return Answer[JobRef].absent("not listed")

    def start_job(self, index: int) -> None:
        """The scheduler starts a job, which claims the attempt or ends as a duplicate."""
        if self.owner is None:
            self.owner = index
            self.runs += 1


def step(site: Site, generation: int, outcome: str) -> Iterator[None]:
    """The step at the site, effect by effect."""
    if generation in site.claims:
        return
    at = site.now
    site.claims[generation] = Claim(generation, host="h", pid="1", at=at, limit_s=LIMIT, nonce="n")
    site.alive.add(generation)
    yield
    if site.now > at + FENCE or generation + 1 in site.claims or site.owner is not None:
        site.answers[generation] = (StepAnswer(generation, "given-up", 0), None)
        return
    if site.gap:
        yield
    answer: SubmitAnswer
    if outcome in {"ok", "lost"}:
        site.jobs.append(generation)
        index = len(site.jobs) - 1
        answer = SubmitAnswer(job=JobRef(job_id=str(index))) if outcome == "ok" else SubmitAnswer(doubt="timed out")
    else:
        answer = SubmitAnswer(doubt="timed out") if outcome == "not-taken" else SubmitAnswer(refused="no")
    yield
    site.answers[generation] = (StepAnswer(generation, "ended", 0), answer)


def process(site: Site, outcomes: Iterator[str]) -> Iterator[Decision | None]:
    """A submitter that settles and acts until something is known."""
    while True:
        look = site.look()
        read = {number: answer for number, (_, answer) in site.answers.items() if answer is not None}
        found: Answer[JobRef] | None = None
        yield None
        while True:
            decision = settle(look, read, found, tag=TAG, window_s=WINDOW, patience_s=900, fresh=True)
            if decision.next is Next.FIND:
                found = site.find()
                yield None
                continue
            if decision.next is Next.NOTE_ABSENT:
                site.absent.setdefault(decision.generation, site.now)
                look = site.look()
                yield None
                continue
            break
        if decision.next is Next.SUBMIT:
            if found is not None and decision.generation not in site.claims:  # else the claim stops it
                site.allowed.append((decision.generation, len(site.jobs)))
            for _ in step(site, decision.generation, next(outcomes)):
                yield None
            yield None
        elif decision.next in {Next.WAIT, Next.RUNNING}:
            yield None
        else:
            yield decision
            return


Action = st.one_of(
    st.tuples(st.sampled_from(["go0", "go1", "go2"]), st.integers(1, 8)),
    st.tuples(st.sampled_from(["go0", "go1"]), st.integers(1, 8)),
    st.tuples(st.sampled_from(["time"]), st.sampled_from([1, 25, 70])),
    st.tuples(st.sampled_from(["crash", "down", "up", "start"]), st.integers(0, 2)),
)


def run_world(
    actions: list[tuple[str, int]], outcomes: list[str], *, elsewhere: bool, gap: bool
) -> tuple[Site, list[Decision]]:
    """Play the actions, then let everything that lives go on in a quiet world until it has decided."""
    site = Site(elsewhere=elsewhere, gap=gap)
    supply = iter([*outcomes, *["ok"] * 1000])
    processes: list[Iterator[Decision | None]] = [process(site, supply) for _ in range(3)]
    holds: list[set[int]] = [set() for _ in processes]
    decided: list[Decision] = []

    def advance(index: int) -> bool:
        before = set(site.claims)
        try:
            decision = next(processes[index])
        except StopIteration:
            return False
        holds[index] |= set(site.claims) - before
        if decision is not None:
            decided.append(decision)
        return decision is None

    for action, number in actions:
        if action.startswith("go"):
            for _ in range(number):
                advance(int(action[2:]))
        elif action == "crash":
            site.alive -= holds[number]
            processes[number] = process(site, supply)
            holds[number] = set()
        elif action == "time":
            site.now += number
        elif action in {"down", "up"}:
            site.reachable = action == "up"
        elif site.jobs:
            site.start_job(0)
    site.reachable = True
    site.alive = set.union(*holds)
    for index in range(3):
        for _ in range(400):
            if not advance(index):
                break
            site.now += 5
    for index in range(len(site.jobs)):
        site.start_job(index)
    return site, decided


ACTIONS = st.lists(Action, max_size=40)
OUTCOMES = st.lists(st.sampled_from(["ok", "lost", "not-taken", "refused"]), max_size=4)


@settings(max_examples=1500, deadline=None)
@given(ACTIONS, OUTCOMES, st.booleans())
def test_never_twice_and_never_lost(actions: list[tuple[str, int]], outcomes: list[str], elsewhere: bool) -> None:
    site, decided = run_world(actions, outcomes, elsewhere=elsewhere, gap=False)
    # Never twice: the scheduler has at most one job, and a repeat was allowed only when it had none.
    assert len(site.jobs) <= 1
    assert all(jobs == 0 for _, jobs in site.allowed)
    # Never lost: everybody came to a decision, the same for all who name a job, and a job that was taken is named.
    assert decided
    assert all(decision.next in {Next.SUBMITTED, Next.REFUSED, Next.PERSON} for decision in decided)
    if site.jobs:
        assert decided[-1].next is Next.SUBMITTED
        assert {decision.job.job_id for decision in decided if decision.job is not None} == {"0"}
        assert site.runs == 1
    else:
        assert decided[-1].next in {Next.REFUSED, Next.PERSON}


@settings(max_examples=1500, deadline=None)
@given(ACTIONS, OUTCOMES, st.booleans())
def test_even_a_step_frozen_at_the_worst_moment_runs_nothing_twice(
    actions: list[tuple[str, int]], outcomes: list[str], elsewhere: bool
) -> None:
    """The scheduler may then hold two jobs of the attempt; the job's own claim lets one of them run the body."""
    site, _ = run_world(actions, outcomes, elsewhere=elsewhere, gap=True)
    assert site.runs == min(1, len(site.jobs))


def test_the_model_can_show_two_jobs() -> None:
    """Frozen at the worst moment and seen from another login node: the model is able to fail."""
    actions = [("go0", 3), ("time", 70), ("go1", 4), ("time", 70), ("go1", 9), ("go0", 4)]
    site, _ = run_world(actions, [], elsewhere=True, gap=True)
    assert (len(site.jobs), site.runs) == (2, 1)
