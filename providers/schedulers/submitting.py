"""Submits an attempt, settles a doubtful one, abandons one that is not wanted any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from dragoman.attempt import Attempt, AttemptRecord, AttemptState
from dragoman.command import Command
from dragoman.errors import NotSettled
from dragoman.job import JobRef
from dragoman.observation import Answer
from dragoman.protocols import Clock, Dialect
from dragoman.site import Site
from providers.attempt_look import AttemptLook
from providers.attempts import Attempts
from providers.schedulers.settle import Decision, Next, settle

__all__ = ["Submitter"]

_FRESH = timedelta(hours=12)
"""A folder that is empty this long after the intent may have been purged; before, nobody has begun."""
_PATIENCE_S = 900.0
_MOST_TURNS = 20

Find = Callable[[Attempt], Awaitable[Answer[JobRef]]]


class Submitter:
    """Brings attempts to a known state at one site.

    Args:
        dialect: the site's scheduler.
        attempts: the folders of attempts there.
        site: its name, settle window and policy.
        find: asks queue and history for an attempt's tag.
        clock: the time that records carry.

    """

    def __init__(self, dialect: Dialect, attempts: Attempts, site: Site, find: Find, clock: Clock) -> None:
        self._dialect = dialect
        self._attempts = attempts
        self._site = site
        self._find = find
        self._clock = clock
        self.without: tuple[str, ...] = ()
        """Submit options that this site's version has refused as unknown."""

    async def submit(self, attempt: Attempt) -> AttemptRecord:
        """Submit, or settle what an earlier call began; one round trip where nobody has begun."""
        if not self._fresh(attempt):
            return await self.reconcile(attempt)
        look = await self._step(attempt, 1)
        return self._record(attempt, *await self._decide(attempt, look, may_submit=True))

    async def reconcile(self, attempt: Attempt, *, may_submit: bool = True) -> AttemptRecord:
        """Look first, then go on as the evidence says."""
        look = await self._look(attempt)
        return self._record(attempt, *await self._decide(attempt, look, may_submit=may_submit))

    async def abandon(self, attempt: Attempt, by: str) -> AttemptRecord:
        """See to it that this attempt never runs, or learn which job it has become."""
        control_dir = attempt.spec.control_dir
        look = await self._attempts.abandon(control_dir, by)
        decision, look = await self._decide(attempt, look, may_submit=False)
        if decision.next is Next.RUNNING or (decision.next in _KNOWN and decision.next is not Next.PERSON):
            return self._record(attempt, decision, look)
        # Perhaps submitted, and not to be found now: whatever turns up later ends without running the body.
        look = await self._attempts.bar(control_dir, by)
        barred, look = await self._decide(attempt, look, may_submit=False)
        return self._record(attempt, barred, look)

    async def _decide(self, attempt: Attempt, look: AttemptLook, *, may_submit: bool) -> tuple[Decision, AttemptLook]:
        """Look-ups and submits until something is known, or has to be waited for."""
        found: Answer[JobRef] | None = None
        decision = Decision(Next.WAIT, "")
        for _ in range(_MOST_TURNS):
            decision = self._settle(attempt, look, found)
            match decision.next:
                case Next.FIND:
                    found = await self._find(attempt)
                case Next.NOTE_ABSENT:
                    look = await self._attempts.note_absent(attempt.spec.control_dir, decision.generation)
                case Next.SUBMIT if may_submit:
                    self.without = tuple(dict.fromkeys((*self.without, *decision.without)))
                    look = await self._step(attempt, decision.generation)
                    found = None
                case _:
                    break
        return decision, look

    def _settle(self, attempt: Attempt, look: AttemptLook, found: Answer[JobRef] | None) -> Decision:
        argv = self._command(attempt).argv
        answers = {
            generation: self._dialect.parse_submit(answer.completed(argv))
            for generation, answer in look.answers.items()
            if answer.how == "ended"
        }
        window = self._site.settle_window_s
        findable = bool(self._dialect.find_commands(attempt.tag, self._clock()))
        return settle(
            look,
            answers,
            found,
            tag=attempt.tag,
            window_s=window,
            patience_s=max(_PATIENCE_S, 3 * window) if findable else window,
            fresh=self._fresh(attempt),
        )

    async def _step(self, attempt: Attempt, generation: int) -> AttemptLook:
        script = self._dialect.render(attempt.spec)
        look, _ = await self._attempts.submit(attempt.spec, script, self._command(attempt), generation=generation)
        return look

    def _command(self, attempt: Attempt) -> Command:
        path = f"{attempt.spec.control_dir}/script"
        return self._dialect.submit_command(attempt.spec, path, without=self.without)

    async def _look(self, attempt: Attempt) -> AttemptLook:
        control_dir = attempt.spec.control_dir
        return (await self._attempts.look([control_dir]))[control_dir]

    def _fresh(self, attempt: Attempt) -> bool:
        return attempt.intended_at is None or self._clock() - attempt.intended_at < _FRESH

    def _record(self, attempt: Attempt, decision: Decision, look: AttemptLook) -> AttemptRecord:
        state = _KNOWN.get(decision.next)
        if state is None:
            raise NotSettled(
                decision.words,
                where=f"{self._site.name}: {attempt.tag}",
                cure="look again later; nothing is submitted meanwhile",
            )
        job = decision.job
        if job is not None and attempt.spec.array is not None:
            job = job.model_copy(update={"array_size": attempt.spec.array.size})
        facts = f"; jobs that ended as duplicates: {'; '.join(look.duplicates)}" if look.duplicates else ""
        return AttemptRecord(
            attempt=attempt,
            state=state,
            job=job,
            answer=f"{decision.words}{facts}"[:4000],
            adopted=decision.adopted,
            reason_class=decision.reason_class.value,
            recorded_at=self._clock(),
        )


_KNOWN = {
    Next.SUBMITTED: AttemptState.SUBMITTED,
    Next.REFUSED: AttemptState.REFUSED,
    Next.ABANDONED: AttemptState.ABANDONED,
    Next.PERSON: AttemptState.IN_DOUBT,
}
