"""What speaks neither for nor against a queue or its nodes: not known to be in use, to let one in, or to be so marked.

No such doubt is a yes. A queue without one is preferred to a queue with one, whatever is free there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dragoman.facts import Account, NodeGroup, Queue, Workload
from dragoman.kleene import Truth, all_of, any_of, truth
from dragoman.proposal import Check, CheckKind
from dragoman.request import JobRequest
from dragoman.shape import Shape
from dragoman.site import Site
from dragoman.units import format_duration
from graph.verdict.evidence import Evidence

__all__ = ["check_constraint", "check_qos", "not_checked", "queue_doubts", "with_constraint"]

TAKEN_S = 24 * 3600
"""A walltime up to this is taken to fit where no limit is told: few queues are shorter than a day without a word."""

_PARTS = re.compile(r"[&,:]")
_WORD = re.compile(r"[A-Za-z0-9_.@/+\-]+(?:=[A-Za-z0-9_.@/+\-]+)?")
_COUNT = re.compile(r"\*\d+$")


def queue_doubts(request: JobRequest, site: Site, queue: Queue, evidence: Evidence) -> list[Check]:
    """What has to be known of a queue before it is shown to take the job, and is not.

    Args:
        request: with the account that would be charged.
        site: whose file may tell the limits that the queue does not.
        queue: as the scheduler tells of it.
        evidence: for what the file of a simulated site leaves out.

    """
    name, found = queue.name, []
    if queue.usable is Truth.UNKNOWN and not evidence.left_out("queues", name, "usable"):
        why = f": {queue.reason}" if queue.reason else ""
        found.append(_check("queue", "access", f"whether queue {name} takes jobs is not known{why}"))
    asked = request.walltime_s
    if asked is not None and _limit_untold(site, queue) and asked > max(TAKEN_S, queue.default_walltime_s or 0):
        words = f"the longest walltime of queue {name} is not known, asked {format_duration(asked)}"
        found.append(_check("walltime_s", "walltime", words))
    if queue.allowed_accounts is not None and request.account is None:
        words = f"queue {name} is for {_some(queue.allowed_accounts)} alone, and your account is not known"
        options = tuple(queue.allowed_accounts)
        found.append(_check("account", "access", words, person_can_settle=True, options=options))
    if queue.allowed_groups is not None:
        words = f"queue {name} is for groups {_some(queue.allowed_groups)} alone, and yours are not known"
        found.append(_check("queue", "access", words))
    return found


def _limit_untold(site: Site, queue: Queue) -> bool:
    by_file = next((each.max_walltime for each in site.queues if each.name == queue.name), None)
    told = (queue.max_walltime_s, by_file, site.max_walltime)
    return not queue.walltime_unlimited and all(each is None for each in told)


def not_checked(request: JobRequest, site: Site, queue: Queue | None, accounts: Sequence[Account]) -> str:
    """What the request states and nothing observed tells of, in one line; empty: nothing.

    Args:
        request: with the account that would be charged.
        site: whose file may name that account itself.
        queue: the one chosen.
        accounts: all that the site's file and its accounting tell of.

    """
    parts = []
    if request.walltime_s is not None and queue is not None and _limit_untold(site, queue):
        parts.append("the queue's longest walltime, which is not told")
    if request.account is not None and not accounts and request.account != site.default_account:
        parts.append(f"account {request.account}")
    if request.qos is not None and not _qos_of(request.account, accounts):
        parts.append(f"QOS {request.qos}")
    if request.reservation is not None:
        parts.append(f"reservation {request.reservation}")
    if request.licenses:
        parts.append(f"licences {', '.join(request.licenses)}")
    return f"not checked: {'; '.join(parts)}"[:500] if parts else ""


def check_qos(request: JobRequest, accounts: Sequence[Account]) -> Check | None:
    """A quality of service that the charged account is told not to have; None where nothing is told."""
    there = _qos_of(request.account, accounts)
    if request.qos is None or not there:
        return None
    has = request.qos in there
    whose = f"account {request.account}" if request.account is not None else "your accounts"
    words = f"QOS {request.qos}" if has else f"{whose} may use QOS {_some(sorted(there))}, asked {request.qos}"
    return _check("qos", "access", words, result=truth(has))


def _qos_of(account: str | None, accounts: Sequence[Account]) -> set[str]:
    charged = [each for each in accounts if account is None or each.name == account]
    if account is None and not all(each.qos for each in charged):
        return set()
    return {name for each in charged for name in each.qos}


def with_constraint(request: JobRequest, workload: Workload) -> Workload:
    """The nodes that may be what every shape asks for by name, and the queues that still have some of them."""
    asked = {shape.constraint for shape in _shapes(request)}
    constraint = asked.pop() if len(asked) == 1 else None
    if constraint is None or workload.groups is None or workload.queues is None:
        return workload
    told = _told(workload.groups)
    groups = tuple(each for each in workload.groups if _meets(constraint, each, told) is not Truth.NO)
    if not groups or len(groups) == len(workload.groups):
        return workload
    left = tuple(queue for queue in workload.queues if any(not g.queues or queue.name in g.queues for g in groups))
    return workload.model_copy(update={"groups": groups, "queues": left})


def check_constraint(request: JobRequest, index: int, workload: Workload | None, ids: Sequence[str]) -> list[Check]:
    """Whether any node is what the chosen shape (every component) asks for by name; no node told of marks: unknown."""
    shapes = _shapes(request)
    chosen = list(enumerate(shapes)) if request.components else list(enumerate(shapes))[index : index + 1]
    groups = (workload.groups if workload is not None else None) or ()
    told, checks = _told(groups), []
    for place, shape in chosen:
        if shape.constraint is None:
            continue
        result = any_of(_meets(shape.constraint, each, told) for each in groups) if groups else Truth.UNKNOWN
        there = sorted({name for each in groups for name in each.features})
        words = {
            Truth.YES: f"nodes have {shape.constraint}",
            Truth.NO: f"no node has {shape.constraint}; they have {_some(there)}",
            Truth.UNKNOWN: f"whether nodes have {shape.constraint} is not known",
        }[result]
        field = f"{'components' if request.components else 'shapes'}.{place}.constraint"
        checks.append(_check(field, "shape", words, result=result, observations=tuple(ids)))
    return checks


def _shapes(request: JobRequest) -> tuple[Shape, ...]:
    return request.components or request.shapes


def _told(groups: Sequence[NodeGroup]) -> bool:
    """Whether the scheduler tells marks of nodes at all: where it does, a node without any has none."""
    return any(group.features for group in groups)


def _meets(constraint: str, group: NodeGroup, told: bool) -> Truth:
    """`a&b`, `a,b` and `a:b` are all of them, `a|b` any; what is compared with something is not judged."""
    if not told:
        return Truth.UNKNOWN
    there = {name.lower() for name in group.features}
    result = any_of(all_of(_has(part.strip(), there) for part in _PARTS.split(one)) for one in constraint.split("|"))
    # Without its brackets an expression is met by more nodes than with them, never by fewer.
    return Truth.UNKNOWN if result is Truth.YES and "(" in constraint else result


def _has(word: str, there: Collection[str]) -> Truth:
    bare = _COUNT.sub("", word.strip("[]()"))
    if _WORD.fullmatch(bare) is None:
        return Truth.UNKNOWN
    if bare.lower() in there:
        return Truth.YES
    # `gputype=a100` may also be a resource that nodes are not told with by that name.
    key = bare.partition("=")[0].lower()
    return Truth.NO if "=" not in bare or any(each.startswith(f"{key}=") for each in there) else Truth.UNKNOWN


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "") or "none"


def _check(
    field: str, kind: CheckKind, reason: str, *,
    result: Truth = Truth.UNKNOWN, person_can_settle: bool = False, observations: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
) -> Check:  # fmt: skip
    return Check(
        requirement=field, field=field, kind=kind, result=result, reason=reason[:1000],
        person_can_settle=person_can_settle, observations=observations, options=options,
    )  # fmt: skip
