"""What a campaign does, all of it drawn from one seed: the jobs, and the faults with the steps they strike at."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

__all__ = ["KINDS", "SUBMIT_STEPS", "Fault", "Job", "faults", "jobs"]

BEGIN = ("request", "proposal", "decision")
MIDDLE = (
    "lease", "stage", "prepare", "intent", "submit", "record", "wait", "interrupt", "checkpoint", "look", "status",
    "event", "resume", "fetch", "outcome", "rest",
)  # fmt: skip
RARE = ("answer", "cancel", "abandon")
SUBMIT_STEPS = ("submit",)
STEPS = (*BEGIN, *MIDDLE, *RARE)
"""Of the path, in its order: what each stands for is told in docs/campaign.md."""

KINDS: dict[str, tuple[float, tuple[str, ...]]] = {
    "kill": (0, STEPS),
    "kill-with-step": (3, SUBMIT_STEPS),
    "stop": (6, MIDDLE),
    "cut": (6, (*BEGIN, *MIDDLE)),
    "restart": (2, (*BEGIN, *MIDDLE)),
    "crash": (2, MIDDLE),
    "lost-answer": (5, ("prepare", "submit", "look", "cancel", "abandon")),
    "disk-site": (2, ("prepare", "submit", "stage", "look")),
    "disk-data": (1, ("record", "checkpoint", "event", "fetch")),
    "clock": (3, MIDDLE),
    "event-again": (4, ("wait", "interrupt", "event", "rest")),
    "event-stale": (4, ("wait", "interrupt", "event", "rest")),
    "cancel": (4, MIDDLE),
    "job-lost": (2, ("wait", "look")),
}
"""Kinds of faults: how often beside the kills, and at which steps."""


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong, before or after the nth time that a process comes to a step."""

    number: int
    kind: str
    step: str
    phase: str
    nth: int

    def plain(self) -> dict[str, object]:
        """For the process that is to meet it."""
        return asdict(self)


@dataclass(frozen=True)
class Job:
    """One request of the campaign."""

    number: int
    mode: str
    """`auto`: a rule approves. `ask`: two people approve at once. `refuse`: one approves and one refuses at once.
    `cancel`: cancelled at a random moment, twice."""
    seconds: float
    fails: bool
    cancel_after: float

    @property
    def name(self) -> str:
        """How the thread and the job's own marks name it."""
        return f"job-{self.number:05d}"


def jobs(seed: int) -> random.Random:
    """The source of jobs: its own, so that the number of faults does not change them."""
    return random.Random(f"jobs {seed}")  # noqa: S311


def next_job(chance: random.Random, number: int) -> Job:
    """The next request."""
    mode = chance.choices(("auto", "ask", "refuse", "cancel"), (60, 18, 7, 15))[0]
    seconds = chance.choice((0.3, 3.0, 8.0) if mode == "cancel" else (0.0, 0.1, 0.3, 0.8))
    return Job(number, mode, seconds, chance.random() < 0.1, chance.uniform(0, 4))


def faults(seed: int, count: int, kinds: tuple[str, ...], steps: tuple[str, ...]) -> list[Fault]:
    """The faults of a campaign: first a kill before and after every step, then all kinds by their weight.

    Args:
        seed: the same gives the same.
        count: how many.
        kinds: only these; empty: all.
        steps: only at these; empty: all.

    """
    chance = random.Random(f"faults {seed}")  # noqa: S311
    allowed = {name: KINDS[name] for name in (kinds or KINDS)}
    found: list[tuple[str, str, str]] = []
    if "kill" in allowed:
        found = [("kill", step, phase) for step in STEPS for phase in ("before", "after")]
        found.append(("kill", "submit", "during"))
        chance.shuffle(found)
    names = list(allowed)
    weights = [allowed[name][0] or (10 if name == "kill" else 1) for name in names]
    while len(found) < 4 * count:
        kind = chance.choices(names, weights)[0]
        step = chance.choice(allowed[kind][1])
        phases = ("before", "during", "after") if step == "submit" and kind.startswith("kill") else ("before", "after")
        found.append((kind, step, chance.choice(phases)))
    if steps:
        found = [each for each in found if each[1] in steps]
    else:
        # Kinds beside the kills are spread from the beginning, so that a short campaign meets them too.
        head = found[: len(STEPS) * 2 + 1] if "kill" in allowed else []
        rest = [each for each in found[len(head) :] if each[0] != "kill"] or found[len(head) :]
        found = [each for pair in zip(head, rest, strict=False) for each in pair] + found[len(head) :]
    return [
        Fault(number, kind, step, phase, chance.choice((1, 1, 1, 2, 3)))
        for number, (kind, step, phase) in enumerate(found[:count])
    ]
