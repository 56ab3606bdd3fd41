"""Scores of verdicts against truth. At one satisfiable pair in six, plain accuracy says nothing: it is not printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Scores"]


@dataclass(slots=True)
class Scores:
    """Counts of pairs; READY and BUSY are what a site can take."""

    yes_yes: int = 0
    yes_no: int = 0
    no_yes: int = 0
    no_no: int = 0
    agree: int = 0
    false_ready: int = 0
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: str, satisfiable: bool, state: str) -> None:
        """Count one pair."""
        said = verdict in ("READY", "BUSY")
        name = f"{'yes' if said else 'no'}_{'yes' if satisfiable else 'no'}"
        setattr(self, name, getattr(self, name) + 1)
        self.agree += verdict == state
        self.false_ready += verdict == "READY" and not satisfiable
        if verdict not in ("READY", "BUSY", "INCOMPATIBLE"):
            self.undecided[verdict] += 1

    @property
    def pairs(self) -> int:
        """How many were counted."""
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def precision(self) -> float:
        """Of those that were said to be possible."""
        said = self.yes_yes + self.yes_no
        return self.yes_yes / said if said else 1.0

    @property
    def recall(self) -> float:
        """Of those that are possible."""
        there = self.yes_yes + self.no_yes
        return self.yes_yes / there if there else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def balanced(self) -> float:
        """Mean of recall and of the same for what is not possible."""
        not_there = self.no_no + self.yes_no
        return (self.recall + (self.no_no / not_there if not_there else 1.0)) / 2

    def line(self, name: str) -> str:
        """One row of a table."""
        return (
            f"{name:<14} {self.pairs:>6} {self.precision:>9.4f} {self.recall:>7.4f} {self.f1:>7.4f} "
            f"{self.balanced:>9.4f} {self.agree / max(1, self.pairs):>9.4f} {self.false_ready:>11} "
            f"{sum(self.undecided.values()):>9}"
        )

    @staticmethod
    def head() -> str:
        """The table's head."""
        return (
            f"{'':<14} {'pairs':>6} {'precision':>9} {'recall':>7} {'F1':>7} {'balanced':>9} {'3 states':>9} "
            f"{'false READY':>11} {'undecided':>9}"
        )
