"""Moab: found by showq, which Maui has too; asked for classes, nodes, jobs, and the balances beside it.

Sources: Moab Workload Manager's administrator guide, `mdiag -c` and `mdiag -n` ("XML Attributes"), `showq` ("XML
Output"), "Node States". Many sites let administrators alone run mdiag: then the sums that showq tells stand for nodes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from dragoman.command import Command
from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue, Workload
from dragoman.kleene import Truth, sum_of
from dragoman.observation import Answer
from providers.probes.base import Paths, Results, brief, question, where_is
from providers.probes.workload.balances import ask_balances, read_balances
from providers.probes.workload.frame import Manager, WorkloadProbe, reason_of, workload_verbs
from providers.probes.workload.moab_xml import Element, read_data
from providers.registry import register_probe
from providers.schedulers.free_shares import counted_shares
from providers.schedulers.pbs_values import read_number, read_walltime

__all__ = ["Moab", "read_moab"]

_UP: Final = frozenset({"idle", "busy", "running"})
_OUT: Final = frozenset({"down", "drained", "draining", "flush", "reserved"})
_OWN: Final = frozenset({"GLOBAL", "SHARED", "DEFAULT"})
"""Names of what is neither a node nor a class, but stands among them."""
_GPU: Final = re.compile(r"(?:^|[;,+])\s*(?:gpus?|ngpus|GPUS?)[=:](\d{1,4})(?=$|[;,+])")


def _commands(paths: Paths) -> Mapping[str, Command]:
    mdiag = where_is("mdiag", paths, key="moab")
    return {
        "jobs": question(where_is("showq", paths, key="moab"), "--xml", timeout_s=40.0),
        "classes": question(mdiag, "-c", "--format=xml", timeout_s=40.0),
        "nodes": question(mdiag, "-n", "--format=xml", timeout_s=40.0),
    }


def read_moab(results: Results) -> Answer[Workload]:
    """Classes, nodes and jobs as far as each was told; unknown where none of them was."""
    jobs, classes, nodes = (_elements(results, name) for name in ("jobs", "classes", "nodes"))
    waiting, running = _depth(jobs)
    groups = _groups([node for node in nodes if node.tag == "node"]) if nodes is not None else ()
    groups = groups or _sums(jobs)
    queues = _queues(classes, jobs if running is not None else None) if classes is not None else None
    if not groups and not queues and running is None:
        reasons = (_why(results, name) for name in ("jobs", "classes", "nodes"))
        return Answer[Workload].unknown("; ".join(dict.fromkeys(filter(None, reasons))))
    return Answer[Workload].ok(
        Workload(
            scheduler="moab", queues=queues or None, groups=groups or None, jobs_pending=waiting, jobs_running=running
        )
    )


def _elements(results: Results, name: str) -> list[Element] | None:
    done = results.whole(name)
    return read_data(done.out) if done is not None and not reason_of(results, name) else None


def _why(results: Results, name: str) -> str:
    done = results.whole(name)
    return reason_of(results, name) or (f"no whole XML: {brief(done)}" if done is not None else "")


def _depth(jobs: Sequence[Element] | None) -> tuple[int | None, int | None]:
    """Jobs that wait (eligible and blocked) and that run.

    Unknown where others' jobs are hidden from this user: then nodes are neither idle nor taken by a job that is shown.
    """
    counts = {each.get("option"): read_number(each.get("count")) for each in jobs or () if each.tag == "queue"}
    cluster = next((each for each in jobs or () if each.tag == "cluster"), None)
    if cluster is None:
        return None, None
    up, idle, active = (read_number(cluster.get(f"Local{word}Nodes")) for word in ("Up", "Idle", "Active"))
    if up is None or idle is None or active is None or idle + active < up:
        return None, None
    eligible, blocked, running = counts.get("eligible"), counts.get("blocked"), counts.get("active")
    return (eligible + blocked if eligible is not None and blocked is not None else None), running


def _sums(jobs: Sequence[Element] | None) -> tuple[NodeGroup, ...]:
    """All nodes as one group of which nothing but numbers of nodes is known."""
    cluster = next((each for each in jobs or () if each.tag == "cluster"), None)
    total = read_number(cluster.get("LocalConfigNodes")) if cluster is not None else None
    if cluster is None or not total:
        return ()
    up, idle = (read_number(cluster.get(f"Local{word}Nodes")) for word in ("Up", "Idle"))
    return (NodeGroup(nodes=total, nodes_up=up, nodes_idle=idle, gpus=None),)


def _queues(classes: Sequence[Element], jobs: Sequence[Element] | None) -> tuple[Queue, ...]:
    depth = _by_class(jobs)
    return tuple(
        _queue(each, depth) for each in classes if each.tag == "class" and each.get("ID") and each.get("ID") not in _OWN
    )


def _by_class(jobs: Sequence[Element] | None) -> tuple[Counter[str], Counter[str]] | None:
    """Jobs that wait and run in each class; None where a job does not tell its class."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for part in jobs or ():
        option = part.get("option")
        if part.tag != "queue" or option not in ("active", "eligible", "blocked"):
            continue
        shown = [job.get("Class") for job in part if job.tag == "job"]
        if None in shown or len(shown) != read_number(part.get("count")):
            return None
        counts[option == "active"].update(name for name in shown if name)
    return counts if jobs is not None else None


def _queue(told: Element, depth: tuple[Counter[str], Counter[str]] | None) -> Queue:
    name = told.get("ID", "")
    usable, reason = _usable(told)
    nodes = read_number(told.get("MAX.NODE")), read_number(told.get("MAXNODEPERJOB"))
    cpus = read_number(told.get("MAX.PROC")), read_number(told.get("MAXPROCPERJOB"))
    return Queue(
        name=name,
        usable=usable,
        reason=reason,
        default_walltime_s=read_walltime(told.get("DEFAULT.WCLIMIT", "")) or None,
        max_walltime_s=read_walltime(told.get("MAX.WCLIMIT", "")) or None,
        min_nodes=read_number(told.get("MIN.NODE")) or None,
        max_nodes=min(filter(None, nodes), default=None),
        max_cpus_per_job=min(filter(None, cpus), default=None),
        max_cpus_per_node=read_number(told.get("MAXPROCPERNODE")) or None,
        jobs_pending=depth[0][name] if depth is not None else None,
        jobs_running=depth[1][name] if depth is not None else None,
    )


def _usable(told: Element) -> tuple[Truth, str]:
    if told.get("HOLD", "").lower() in ("true", "1"):
        return Truth.NO, "the class is held (HOLD = TRUE)"
    users = told.get("REQUIREDUSERLIST") or told.get("REQUSERLIST")
    if users:
        return Truth.UNKNOWN, brief(f"only some users: {users}", 200)
    return Truth.UNKNOWN, "Moab tells limits of its classes; whether they are open is up to the resource manager"


def _groups(nodes: Sequence[Element]) -> tuple[NodeGroup, ...]:
    alike: dict[tuple[object, ...], list[Element]] = defaultdict(list)
    for node in nodes:
        if node.get("NODEID") and node.get("NODEID") not in _OWN:
            keys = ("CFGCLASS", "RCPROC", "RCMEM", "FEATURES")
            alike[*(node.get(key) for key in keys), _gpus(node.get("GRES"))].append(node)
    return tuple(_group(members) for members in alike.values())


def _group(members: Sequence[Element]) -> NodeGroup:
    first = members[0]
    states = [_state(node) for node in members]
    known = all(state in _UP | _OUT for state in states)
    up = [node for node, state in zip(members, states, strict=True) if state in _UP]
    free = [read_number(node.get("RAPROC")) for node in up]
    whole = [number for number in free if number is not None]
    told = known and len(whole) == len(free)
    memory, gpus = read_number(first.get("RCMEM")), _gpus(first.get("GRES"))
    idle = states.count("idle")
    left = [_gpus(node.get("AGRES")) for node in up]
    return NodeGroup(
        queues=tuple(re.findall(r"\[\s{0,9}([\w.-]{1,200})[^\]]{0,200}\]", first.get("CFGCLASS", ""))),
        nodes=len(members),
        nodes_up=len(up) if known else None,
        nodes_idle=idle if known else None,
        cpus_per_node=read_number(first.get("RCPROC")) or None,
        cpus_free=sum(whole) if told else None,
        largest_free_cpus=max(whole, default=0) if told else None,
        memory_bytes_per_node=memory * 2**20 if memory else None,
        # RAMEM is what the system has free, not what no job was given: only an idle node's is known.
        memory_free_bytes=memory * 2**20 if memory and idle else None,
        free_shares=counted_shares(_share(node, gpus) for node in up) if told else None,
        gpus=(Gpu(count=gpus, free=sum_of(left) if known else None),) if gpus else () if gpus == 0 else None,
        features=tuple(part for part in re.split(r"[,\s\[\]]+", first.get("FEATURES", "")) if part),
        example=first.get("NODEID"),
    )


def _share(node: Element, gpus: int | None) -> FreeShare:
    memory = read_number(node.get("RCMEM")) if _state(node) == "idle" else None
    return FreeShare(
        cpus=read_number(node.get("RAPROC")) or 0,
        memory_bytes=memory * 2**20 if memory else None,
        gpus=(_gpus(node.get("AGRES")),) if gpus else () if gpus == 0 else None,
    )


def _state(node: Element) -> str:
    return node.get("NODESTATE", "").partition(":")[0].strip().lower()


def _gpus(text: str | None) -> int | None:
    """GPUs among generic resources (`gpus=2;tape=1`); None where these are not told at all."""
    if text is None:
        return None
    found = _GPU.search(text)
    return int(found[1]) if found else 0


@register_probe
class Moab(WorkloadProbe):
    """`workload/moab`."""

    name = "moab"
    verbs = workload_verbs(
        Manager(
            title="Moab",
            key="moab",
            program="showq",
            options=("--version",),
            version=r"moab.{0,200}?(?<!\d)(\d{1,9}\.\d[\w.]*)",
            not_it=r"\bmaui\b",
            workload=_commands,
            read_workload=read_moab,
            accounts=lambda _: ask_balances("mam-balance", "mybalance", "gbalance"),
            read_accounts=read_balances,
        )
    )
