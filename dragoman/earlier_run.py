"""What an application's earlier run at a site showed: evidence for a shape and a time, never for a verdict."""

from __future__ import annotations

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from dragoman.job import JobState
from dragoman.model import Model, Moment
from dragoman.request import MeasuredFigure
from dragoman.shape import Shape

__all__ = ["EarlierRun"]


class EarlierRun(Model):
    """One job that has ended."""

    site: str
    shape: Shape
    walltime_s: PositiveInt | None = None
    """The limit that was asked for."""
    queue: str | None = None
    state: JobState
    exit_code: int | None = None
    run_s: NonNegativeFloat | None = None
    max_rss_bytes: NonNegativeInt | None = None
    figure: MeasuredFigure | None = None
    """The figure of merit that the job printed, where the request says how to find it."""
    ended_at: Moment | None = None
