"""Where a shape fits at a site: every alternative shape on every queue, with limits, size and what is free now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

from dragoman.facts import NodeGroup, Queue, Workload
from dragoman.kleene import Truth, all_of, sum_of, truth
from dragoman.proposal import Check, CheckKind, Suggestion
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import QueueLimits, Site
from dragoman.units import counted, format_bytes, format_duration
from graph.verdict.at_once import Laid, hold_together, start_together
from graph.verdict.cpus import CpuUnit, as_counted, cpus_for_one, unit_of
from graph.verdict.demand import Demand, demand_on, node_can_hold, node_parts, sharing_cores
from graph.verdict.evidence import alternatives, together
from graph.verdict.free import idle_nodes, starts_now
from graph.verdict.near_misses import Change, changes_for
from graph.verdict.taken import Taken, taken_by, taken_together

__all__ = ["Placement", "place"]

_PREFERENCE = {Truth.YES: 0, Truth.UNKNOWN: 1, Truth.NO: 2}


@dataclass(frozen=True, slots=True)
class Placement:
    """The best place found: its check tells all that was tried."""

    check: Check
    start: Truth
    shape_index: int = 0
    queue: Queue | None = None
    demand: Demand | None = None
    taken: Taken | None = None
    suggestions: tuple[Suggestion, ...] = ()
    free: str = ""
    """What is free now against what was asked, where that is less."""


@dataclass(frozen=True, slots=True)
class _Try:
    check: Check
    start: Truth
    shape_index: int
    queue: Queue
    demand: Demand | None
    taken: Taken | None
    suggestions: tuple[Suggestion, ...] = field(default=())
    free: str = ""


def place(
    request: JobRequest, site: Site, workload: Workload | None, why_unknown: str, ids: Sequence[str]
) -> Placement:
    """Try every alternative shape on every queue and keep the best: fits before unknown before no, now before later."""
    shapes = request.shapes or (Shape(),)
    if workload is None or workload.queues is None or workload.groups is None:
        check = Check(
            requirement="nodes and a queue for the job",
            field="shapes",
            kind="shape",
            result=Truth.UNKNOWN,
            reason=(why_unknown or "queues and nodes of the site are not known")[:1000],
            observations=tuple(ids),
        )
        return Placement(check, Truth.UNKNOWN)
    wanted = {name for name in (request.queue, *request.queues) if name}
    queues = [queue for queue in workload.queues if not wanted or queue.name in wanted]
    if not queues:
        names = ", ".join(queue.name for queue in workload.queues) or "none"
        reason = f"no queue {', '.join(sorted(wanted))}; there are: {names}" if wanted else "the site has no queue"
        check = Check(
            requirement="a queue for the job", field="queue", kind="shape", result=Truth.NO, reason=reason[:1000],
            observations=tuple(ids),
        )  # fmt: skip
        return Placement(check, Truth.NO)
    ways = [_components(request, shape, workload) for shape in shapes]
    tries = [
        _try(request, site, workload, queue, index, components, tuple(ids))
        for index, components in enumerate(ways)
        for queue in queues
    ]
    best = min(
        tries,
        key=lambda each: (
            _PREFERENCE[each.check.result], each.shape_index, _PREFERENCE[each.start], not each.queue.default,
        ),
    )  # fmt: skip
    every = alternatives("a queue that can take the job", "shapes", "shape", [each.check for each in tries])
    suggestions = () if best.check.result is Truth.YES else tuple(s for each in tries for s in each.suggestions)[:8]
    return Placement(every, best.start, best.shape_index, best.queue, best.demand, best.taken, suggestions, best.free)


def _components(request: JobRequest, shape: Shape, workload: Workload) -> tuple[_Component, ...]:
    return tuple(
        _Component(each, unit_of(request, each, workload.scheduler)) for each in request.components or (shape,)
    )


def _limits_of(site: Site, queue: Queue) -> QueueLimits:
    return next((each for each in site.queues if each.name == queue.name), QueueLimits(name=queue.name))


def _try(
    request: JobRequest,
    site: Site,
    workload: Workload,
    queue: Queue,
    index: int,
    components: Sequence[_Component],
    ids: tuple[str, ...],
) -> _Try:
    groups = [group for group in workload.groups or () if not group.queues or queue.name in group.queues]
    whole = Truth.YES in (workload.whole_nodes_only, queue.exclusive_nodes)
    fields = [f"components.{place}" for place in range(len(components))] if request.components else [f"shapes.{index}"]
    fits = [_best_group(each, groups, queue, where, whole) for each, where in zip(components, fields, strict=True)]
    limits = _limits_of(site, queue)
    demands = [each.demand for each in fits if each.demand is not None]
    nodes = sum(each.nodes for each in demands) if len(demands) == len(components) else None
    nodes_field = f"{fields[0]}.nodes" if len(fields) == 1 else "components"
    limited = _limit_checks(request, site, queue, limits, nodes, demands, nodes_field)
    checks = [check for check, _ in limited]
    refusals = [changes for check, changes in limited if check.result is Truth.NO]
    # What a part that is made smaller leaves to the others of its job is not judged.
    refusals += [each.changes if len(fits) == 1 else () for each in fits if each.check.result is Truth.NO]
    checks += [each.check for each in fits]
    laid = [each.laid for each in fits if each.laid is not None and each.check.result is not Truth.NO]
    at_once, free = Truth.YES, ""
    if len(components) > 1 and len(laid) == len(components):
        result, why = hold_together(laid, groups, whole)
        checks.append(_check("components", "shape", result, why))
        refusals += [()] if result is Truth.NO else []
        at_once, free = start_together(laid, groups, queue, whole)
    one = together(f"queue {queue.name}", f"shapes.{index}", "shape", checks)
    reason = f"queue {queue.name}: {one.reason}" if one.reason else f"fits queue {queue.name}"
    start = all_of(
        [queue.usable if queue.usable is not Truth.UNKNOWN else Truth.YES, at_once, *(each.start for each in fits)]
    )
    return _Try(
        one.model_copy(update={"reason": reason[:1000], "observations": ids}),
        start if one.result is not Truth.NO else Truth.NO,
        index, queue, demands[0] if demands else None, taken_together([each.taken for each in fits]),
        changes_for(queue.name, refusals),
        free or "; ".join(dict.fromkeys(each.free for each in fits if each.free)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _GroupFit:
    check: Check
    start: Truth
    demand: Demand | None
    taken: Taken | None = None
    changes: tuple[Change, ...] = ()
    free: str = ""
    laid: Laid | None = None


@dataclass(frozen=True, slots=True)
class _On:
    """A group of nodes, its place among those of the queue, and what the shape takes of it."""

    place: int
    group: NodeGroup
    demand: Demand


class _Judged(NamedTuple):
    """A group of nodes as the shape counts its CPUs, and whether an empty one of them can hold its share."""

    group: NodeGroup
    demand: Demand
    holds: Truth
    words: str


class _Component:
    """One shape of the job; each group of nodes is judged once, however many queues lead to it."""

    def __init__(self, shape: Shape, unit: CpuUnit) -> None:
        self.shape = shape
        self._unit: CpuUnit = unit
        self._judged: dict[tuple[int, bool], _Judged] = {}

    def judge(self, there: NodeGroup, queue: Queue) -> _Judged:
        key = id(there), queue.shares_cores
        if key not in self._judged:
            group = as_counted(there, self._unit)
            laid = sharing_cores(self.shape, group) if queue.shares_cores else self.shape
            demand = demand_on(laid, group, cpus_for_one(there, self._unit))
            self._judged[key] = _Judged(group, demand, *node_can_hold(laid, demand, group))
        return self._judged[key]


def _best_group(component: _Component, groups: Sequence[NodeGroup], queue: Queue, where: str, whole: bool) -> _GroupFit:
    """Whether nodes of the queue can hold the shape, together where several kinds of node qualify."""
    if not groups:
        check = _check(where, "shape", Truth.UNKNOWN, f"nodes of queue {queue.name} are not known")
        return _GroupFit(check, Truth.UNKNOWN, None)
    shape = component.shape
    judged = [component.judge(there, queue) for there in groups]
    for wanted in (Truth.YES, Truth.UNKNOWN):
        able = [_On(at, each.group, each.demand) for at, each in enumerate(judged) if each.holds is not Truth.NO]
        sure = [one for one in able if judged[one.place].holds is Truth.YES]
        chosen = sure if wanted is Truth.YES else able
        if chosen:
            fit = _count_nodes(shape, chosen, where, wanted, queue, whole)
            if fit.check.result is not Truth.NO or wanted is Truth.UNKNOWN or len(able) == len(sure):
                placed = fit.laid and replace(
                    fit.laid,
                    sure=fit.laid.able if wanted is Truth.YES else tuple(one.place for one in sure),
                    able=tuple(one.place for one in able),
                )
                return replace(fit, laid=placed)
    reasons = dict.fromkeys(words for _, _, _, words in judged if words)
    near = dict.fromkeys(each for group, demand, _, _ in judged for each in _lacks_one(shape, demand, group, where))
    check = _check(where, "shape", Truth.NO, "; ".join(reasons))
    group, demand, *_ = judged[0]
    return _GroupFit(check, Truth.NO, demand, taken_by(shape, demand, [group], whole), tuple(near))


def _lacks_one(shape: Shape, demand: Demand, group: NodeGroup, where: str) -> list[Change]:
    """Where nodes lack one thing only: the most of it that they could give."""
    lacking = [part for part in node_parts(shape, demand, group) if part.result is not Truth.YES]
    if len(lacking) != 1 or not lacking[0].field or (group.nodes or 0) < demand.nodes:
        return []
    part = lacking[0]
    return [Change(f"{where}.{part.field}", part.asked, part.offered, f"at most {part.offered}")]


def _count_nodes(shape: Shape, chosen: Sequence[_On], where: str, each: Truth, queue: Queue, whole: bool) -> _GroupFit:
    """On all of them, or on the larger ones alone where those are enough: a job takes fewer of these."""
    ordered = sorted(chosen, key=lambda on: on.demand.nodes)
    ends = [end for end in range(1, len(ordered)) if ordered[end].demand.nodes > ordered[end - 1].demand.nodes]
    fits = [_on_these(shape, ordered[:end], where, each, queue, whole) for end in (len(ordered), *reversed(ends))]
    return min(fits, key=lambda fit: (_PREFERENCE[fit.check.result], _PREFERENCE[fit.start]))


def _on_these(shape: Shape, chosen: Sequence[_On], where: str, each: Truth, queue: Queue, whole: bool) -> _GroupFit:
    demand, groups = chosen[-1].demand, [on.group for on in chosen]
    total = sum_of(group.nodes for group in groups)
    enough = truth(None if total is None else total >= demand.nodes)
    result = all_of((each, enough))
    reason = ""
    changes: tuple[Change, ...] = ()
    if enough is Truth.NO and total is not None:
        reason = f"{counted(total, 'node')}, asked {demand.nodes}"
        if total:
            bound = f"at most {counted(total, 'node')}"
            changes = (Change(f"{where}.nodes", str(demand.nodes), str(total), bound, f"has {reason}"),)
    elif result is Truth.UNKNOWN:
        reason = "sizes of the nodes are not fully known"
    start, free = starts_now(shape, demand, groups, queue, whole), ""
    idle = idle_nodes(groups, queue)
    if start is not Truth.YES and result is Truth.YES and idle is not None and idle < demand.nodes:
        free = f"{counted(idle, 'node')} free, asked {demand.nodes}"
    laid = Laid(shape, demand, start, (), tuple(on.place for on in chosen))
    taken = taken_by(shape, demand, groups, whole)
    return _GroupFit(_check(where, "shape", result, reason), start, demand, taken, changes, free, laid)


def _limit_checks(
    request: JobRequest,
    site: Site,
    queue: Queue,
    limits: QueueLimits,
    nodes: int | None,
    demands: Sequence[Demand],
    where: str,
) -> list[tuple[Check, Sequence[Change]]]:
    """What limits say of the job, each with the change that would keep to it, where one would."""
    checks: list[tuple[Check, Sequence[Change]]] = []

    def add(field_: str, kind: CheckKind, result: Truth, reason: str, *changes: Change) -> None:
        checks.append((_check(field_, kind, result, reason), changes))

    if not limits.direct_submit:
        add("queue", "access", Truth.NO, f"queue {queue.name} is not submitted to directly")
    if queue.usable is Truth.NO:
        add("queue", "access", Truth.NO, queue.reason or f"queue {queue.name} is not in use")
    if queue.allowed_accounts is not None and request.account is not None:
        allowed = truth(request.account in queue.allowed_accounts)
        add("account", "access", allowed, f"account {request.account} may not use {queue.name}")
    most_wall = _least(
        None if queue.walltime_unlimited else queue.max_walltime_s, limits.max_walltime, site.max_walltime
    )
    if request.walltime_s is not None and most_wall is not None and request.walltime_s > most_wall:
        bound = f"at most {format_duration(most_wall)}"
        reason = f"{bound}, asked {format_duration(request.walltime_s)}"
        words = f"fits in queue {queue.name} if walltime is {bound}"
        change = Change("walltime_s", str(request.walltime_s), str(most_wall), f"a walltime of {bound}", words)
        add("walltime_s", "walltime", Truth.NO, reason, change)
    if nodes is not None:
        most, least = _least(queue.max_nodes, limits.max_nodes), max(queue.min_nodes or 0, limits.min_nodes or 0)
        if most is not None and nodes > most:
            bound = f"at most {counted(most, 'node')}"
            change = Change(where, str(nodes), str(most), bound)
            add(where, "shape", Truth.NO, f"{bound} a job, asked {nodes}", change)
        if nodes < least:
            add(where, "shape", Truth.NO, f"at least {counted(least, 'node')} a job, asked {nodes}")
    what_cpus = "cores" if all(each.cpus_for_one == 1 == each.cores_for_one for each in demands) else "CPUs"
    per_node = max((ceil(each.cpus_per_node * each.cpus_for_one) for each in demands), default=0)
    for most_of, asked, what in (
        (queue.max_cpus_per_node, per_node, what_cpus),
        (queue.max_memory_bytes_per_node, max((each.memory_bytes_per_node or 0 for each in demands), default=0), ""),
    ):
        if most_of is not None and asked > most_of:
            told = (str(most_of), str(asked)) if what else (format_bytes(most_of), format_bytes(asked))
            reason = f"at most {' '.join((told[0], what)).strip()} a node, asked {told[1]}"
            add(where, "shape", Truth.NO, reason)
    cpus = sum(ceil(each.total_cpus * each.cpus_for_one) for each in demands)
    if queue.max_cpus_per_job is not None and cpus > queue.max_cpus_per_job:
        add(where, "shape", Truth.NO, f"at most {queue.max_cpus_per_job} {what_cpus} a job, asked {cpus}")
    gpus = sum(each.total_gpus for each in demands)
    if queue.max_gpus_per_job is not None and gpus > queue.max_gpus_per_job:
        add(where, "shape", Truth.NO, f"at most {queue.max_gpus_per_job} GPUs a job, asked {gpus}")
    return checks


def _check(field_: str, kind: CheckKind, result: Truth, reason: str) -> Check:
    return Check(requirement=field_, field=field_, kind=kind, result=result, reason=reason[:1000])


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)
