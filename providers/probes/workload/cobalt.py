"""Cobalt: found by cqwait, which no other scheduler has (its qsub and qstat are named like others'), asked by qstat.

`qstat -Q` tells of queues, `qstat --header` of jobs, `nodelist` of nodes, sbank or its forerunner cbank of balances.
Sources: qstat(1), nodelist(8), cqadm(8) of Cobalt (`--startq`, `--stopq`, `--drainq`, `--killq`); the user guides of
its sites, "nodelist". Blocks of a Blue Gene, which `partlist` shows, lie in each other: no number is taken from them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from dragoman.command import Command
from dragoman.facts import NodeGroup, Queue, Workload
from dragoman.kleene import Truth
from dragoman.observation import Answer
from providers.probes.base import Paths, Results, brief, question, where_is
from providers.probes.workload.balances import ask_balances, read_balances
from providers.probes.workload.frame import Manager, WorkloadProbe, reason_of, workload_verbs
from providers.probes.workload.tables import read_table
from providers.registry import register_probe
from providers.schedulers.pbs_values import read_number, read_walltime

__all__ = ["Cobalt", "read_cobalt"]

Row = Mapping[str, str]

_UP: Final = frozenset({"idle", "busy", "allocated", "cleanup", "cleanup-pending"})
"""Nodes that take or will take jobs."""
_OUT: Final = frozenset({"down", "offline", "admindown", "hardware error", "hw-error", "suspect", "diagnosing"})
_RUNNING: Final = frozenset({"starting", "running", "killing", "exiting", "preempting", "preempted"})
_WAITING: Final = frozenset({"queued", "dep_fail"})
_QUEUES: Final = {
    "stopped": "the queue starts no jobs (stopped)",
    "draining": "the queue takes no new jobs (draining)",
    "dead": "the queue neither takes nor starts jobs (dead)",
}
_HEADERS: Final = ("QSTAT_HEADER", "QSTAT_HEADER_FULL")
"""By which a user has other columns shown."""
_NOTHING: Final = frozenset({"none", "-", "n/a"})


def _commands(paths: Paths) -> Mapping[str, Command]:
    qstat = where_is("qstat", paths, key="cobalt")
    queues = question(qstat, "-Q", timeout_s=20.0)
    jobs = question(qstat, "--header", "JobID:State:Queue", timeout_s=30.0)
    return {
        "queues": dataclasses.replace(queues, unset=_HEADERS),
        "jobs": dataclasses.replace(jobs, unset=_HEADERS),
        "nodes": question(where_is("nodelist", paths, key="cobalt"), timeout_s=30.0),
    }


def read_cobalt(results: Results) -> Answer[Workload]:
    """Queues, nodes and jobs as far as each was told; unknown where none of them was."""
    queues, trouble = _table(results, "queues", ("name", "state"))
    if not queues:  # it cannot do without any
        queues, trouble = None, trouble or "qstat shows no queue"
    nodes, no_nodes = _node_rows(results)
    jobs, no_jobs = _table(results, "jobs", ("state", "queue"))
    if queues is None and nodes is None:
        return Answer[Workload].unknown("; ".join(dict.fromkeys(filter(None, (trouble, no_nodes, no_jobs)))))
    waiting, running = _depth(jobs)
    return Answer[Workload].ok(
        Workload(
            scheduler="cobalt",
            queues=tuple(_queue(row, nodes, waiting, running) for row in queues) if queues is not None else None,
            groups=_groups(nodes) if nodes is not None else None,
            jobs_pending=waiting.total() if waiting is not None else None,
            jobs_running=running.total() if running is not None else None,
        )
    )


def _table(results: Results, name: str, needed: Sequence[str]) -> tuple[list[Row] | None, str]:
    trouble, done = reason_of(results, name), results.done(name)
    if trouble or done is None:
        return None, trouble
    rows = read_table(done.out, needed)
    return (list(rows), "") if rows is not None else (None, f"no table of {name}: {brief(done)}")


def _node_rows(results: Results) -> tuple[list[Row] | None, str]:
    """Rows with `name`, `queues` and `status`, whichever of the two tables of nodes it is."""
    rows, trouble = _table(results, "nodes", ("name", "queues", "status"))
    if rows is None:
        other, _ = _table(results, "nodes", ("host", "queue", "state"))
        names = {"host": "name", "queue": "queues", "state": "status"}
        rows = list[Row]({names.get(key, key): value for key, value in row.items()} for row in other or ())
    return (rows, "") if rows else (None, trouble or "nodelist shows no node")


def _depth(jobs: Sequence[Row] | None) -> tuple[Counter[str] | None, Counter[str] | None]:
    """Jobs that wait and run, by queue; not known where a job is in a state that is not known here."""
    if jobs is None:
        return None, None
    waiting: Counter[str] = Counter()
    running: Counter[str] = Counter()
    for row in jobs:
        state = row["state"].lower()
        if state in _RUNNING:
            running[row["queue"]] += 1
        elif state in _WAITING or state.endswith("hold"):
            waiting[row["queue"]] += 1
        else:
            return None, None
    return waiting, running


def _queue(row: Row, nodes: Sequence[Row] | None, waiting: Counter[str] | None, running: Counter[str] | None) -> Queue:
    name = row["name"]
    here = [node for node in nodes or () if name in node["queues"].split(":")]
    states = [node["status"].lower() for node in here]
    known = nodes is not None and set(states) <= _UP | _OUT
    limits = [limit for key in ("totalnodes", "maxusernodes") if (limit := read_number(row.get(key)))]
    longest = row.get("maxtime", "").lower()
    usable, reason = _usable(row)
    return Queue(
        name=name,
        usable=usable,
        reason=reason,
        default=name == "default",
        max_walltime_s=read_walltime(longest),
        walltime_unlimited=longest in _NOTHING,
        max_nodes=min(limits, default=None),
        jobs_pending=waiting[name] if waiting is not None else None,
        jobs_running=running[name] if running is not None else None,
        nodes_total=len(here) if nodes is not None else None,
        nodes_idle=states.count("idle") if known else None,
        allowed_groups=_names(row.get("groups")),
    )


def _usable(row: Row) -> tuple[Truth, str]:
    state = row["state"].lower()
    if state in _QUEUES:
        return Truth.NO, _QUEUES[state]
    if state != "running":
        return Truth.UNKNOWN, f"its state is told as {brief(state, 40)}"
    users = _names(row.get("users"))
    if users:
        return Truth.UNKNOWN, brief(f"only some users: {', '.join(users)}", 200)
    return Truth.YES, ""


def _names(cell: str | None) -> tuple[str, ...] | None:
    if cell is None or cell.lower() in _NOTHING or cell == "*":
        return None
    return tuple(part for part in cell.split(":") if part) or None


def _groups(nodes: Sequence[Row]) -> tuple[NodeGroup, ...]:
    """Alike nodes together. Neither cores, memory nor GPUs are told; a state that is not known leaves them unknown."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Row]] = defaultdict(list)
    for node in nodes:
        features = tuple(f"{key}={node[key]}" for key in ("mcdram", "numa") if node.get(key, "-") != "-")
        alike[tuple(part for part in node["queues"].split(":") if part), features].append(node)
    found = []
    for (queues, features), members in alike.items():
        states = [node["status"].lower() for node in members]
        known = set(states) <= _UP | _OUT
        found.append(
            NodeGroup(
                queues=queues or ("-",),
                nodes=len(members),
                nodes_up=sum(state in _UP for state in states) if known else None,
                nodes_idle=states.count("idle") if known else None,
                gpus=None,
                features=features,
                example=members[0]["name"],
            )
        )
    return tuple(found)


@register_probe
class Cobalt(WorkloadProbe):
    """`workload/cobalt`."""

    name = "cobalt"
    verbs = workload_verbs(
        Manager(
            title="Cobalt",
            key="cobalt",
            program="cqwait",
            options=("--version",),
            version=r"cobalt\s{0,9}(?:version)?\s{0,9}[:=]?\s{0,9}v?(\d+\.[\w.]+)",
            workload=_commands,
            read_workload=read_cobalt,
            accounts=lambda _: ask_balances("sbank-list-allocations", "cbank-list-allocations"),
            read_accounts=read_balances,
        )
    )
