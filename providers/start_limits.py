"""Whether a queue's own limits let a job of some shape start at all: what a scheduler's estimate does not see.

`sbatch --test-only` promises a start to a five-day job in a one-hour partition unless the site enforces the partition's
limits at submit; such a job is taken and pends for ever.
"""

from __future__ import annotations

from dragoman.facts import Queue, Workload
from dragoman.kleene import Truth
from dragoman.units import format_duration
from providers.verbs import EstimateQuery

__all__ = ["beyond_limits"]


def beyond_limits(query: EstimateQuery, workload: Workload) -> str:
    """Why the job can never start in the queue it would go to; empty where no limit that is known forbids it."""
    if workload.queues is None:
        return ""
    named = [queue for queue in workload.queues if queue.name == query.queue]
    if query.queue is not None and not named:
        names = ", ".join(queue.name for queue in workload.queues) or "none"
        return f"there is no queue {query.queue}; there are: {names}"
    chosen = named or [queue for queue in workload.queues if queue.default]
    return _beyond(query, chosen[0]) if chosen else ""


def _beyond(query: EstimateQuery, queue: Queue) -> str:
    if queue.usable is Truth.NO:
        return queue.reason or f"queue {queue.name} is not in use"
    longest = None if queue.walltime_unlimited else queue.max_walltime_s
    if longest is not None and query.walltime_s is not None and query.walltime_s > longest:
        asked = format_duration(query.walltime_s)
        return f"queue {queue.name} runs jobs for at most {format_duration(longest)}, asked {asked}"
    shapes = query.components or (query.shape,)
    nodes = sum(shape.node_count or 1 for shape in shapes)
    if queue.max_nodes is not None and nodes > queue.max_nodes:
        return f"queue {queue.name} gives at most {queue.max_nodes} nodes a job, asked {nodes}"
    if queue.min_nodes is not None and nodes < queue.min_nodes and all(shape.nodes for shape in shapes):
        return f"queue {queue.name} gives at least {queue.min_nodes} nodes a job, asked {nodes}"
    cpus = [shape.total_cpus for shape in shapes]
    if queue.max_cpus_per_job is not None and sum(each or 0 for each in cpus) > queue.max_cpus_per_job:
        return f"queue {queue.name} gives at most {queue.max_cpus_per_job} cores a job"
    return ""
