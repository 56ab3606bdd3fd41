"""When the job would start, where nothing is free for it now: the scheduler's own estimate, asked as evidence."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from dragoman.kleene import Truth
from dragoman.observation import Category, Outcome
from dragoman.proposal import Check, StartEstimate
from dragoman.request import JobRequest
from graph.verdict.cpus import in_cpus
from graph.verdict.evidence import Evidence, Seen
from graph.verdict.placement import Placement
from providers.verbs import EstimateQuery

__all__ = ["check_estimate", "start_of", "start_query"]

VERB = "estimate"


def start_query(
    request: JobRequest, shape_index: int, queue: str | None, account: str | None, cpus_for_one: Fraction = Fraction(1)
) -> EstimateQuery:
    """What the scheduler is asked about the place that was found, in CPUs as it counts them."""
    return EstimateQuery(
        shape=in_cpus(request.shape_at(shape_index), cpus_for_one),
        components=tuple(in_cpus(each, cpus_for_one) for each in request.components),
        walltime_s=request.walltime_s,
        queue=queue,
        account=account,
        qos=request.qos,
        reservation=request.reservation,
        array=request.array,
        native_options=request.native_options,
    )


def check_estimate(request: JobRequest, placement: Placement, account: str | None, evidence: Evidence) -> Check | None:
    """A job that the scheduler shows it would never start does not fit, whatever the queues and nodes say."""
    seen = _seen(request, placement, account, evidence)
    if seen is None or seen.observation.outcome is not Outcome.ABSENT:
        return None
    return Check(
        requirement="a job that the scheduler would start",
        field=f"shapes.{placement.shape_index}",
        kind="access",
        result=Truth.NO,
        reason=f"the scheduler says: {seen.observation.reason}"[:1000],
        observations=(seen.observation.id,),
    )


def start_of(
    request: JobRequest, placement: Placement, account: str | None, evidence: Evidence, at: datetime
) -> StartEstimate:
    """When it starts: at the wished time, now on what is free, or when the scheduler says."""
    if request.start_after is not None and request.start_after > at:
        wait = (request.start_after - at).total_seconds()
        return StartEstimate(now=Truth.NO, expected_s=wait, low_s=wait, method="start-after", made_at=at)
    if placement.start is Truth.YES and placement.check.result is Truth.YES:
        ids = placement.check.observations
        return StartEstimate(
            now=Truth.YES, expected_s=0, low_s=0, high_s=60, method="idle-nodes", made_at=at, observations=ids
        )
    seen = _seen(request, placement, account, evidence)
    if seen is None or seen.value is None:
        return StartEstimate(now=placement.start, made_at=at)
    told = seen.value
    if told.method == "simulated" and told.now is Truth.YES:  # it goes by less of its state than the placement does
        return StartEstimate(now=placement.start, made_at=at)
    # Jobs before it may end early, and others may come before it: the scheduler's word bounds neither side.
    low = 0.0 if told.low_s is None and told.expected_s is not None else told.low_s
    return told.model_copy(update={"low_s": low, "observations": (seen.observation.id,)})


def _seen(
    request: JobRequest, placement: Placement, account: str | None, evidence: Evidence
) -> Seen[StartEstimate] | None:
    queue = placement.queue.name if placement.queue is not None else None
    one = placement.demand.cpus_for_one if placement.demand is not None else Fraction(1)
    query = start_query(request, placement.shape_index, queue, account, one)
    asked = query.model_dump(mode="json", exclude_defaults=True)
    answers = evidence.of(Category.WORKLOAD, VERB, StartEstimate)
    return next((each for each in answers if each.observation.arguments == asked), None)
