"""How a simulated site changes with its clock: the same seed and the same moment give the same site everywhere.

Each amount wanders about the one that the state names: between two moments of a grid, whose values follow from hashes,
it goes straight from one to the other. Volatility 0 is still, 1 takes an amount anywhere between none and all.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import datetime

from dragoman.facts import FileSystem, FreeShare, Gpu, NodeGroup, Queue, Workload
from providers.simulated.depth import depth, nodes_used

__all__ = ["Motion"]


class Motion:
    """One moment of one simulated site.

    Args:
        seed: of the site.
        volatility: from 0 to 1.
        at: the moment.
        step_s: how long an amount takes from one value to the next.

    """

    def __init__(self, seed: str, volatility: float, at: datetime, step_s: float) -> None:
        self.seed = seed
        self.volatility = volatility
        self._steps = at.timestamp() / step_s

    def wander(self, *words: object) -> float:
        """Between -1 and 1, for the amount of that name."""
        before = math.floor(self._steps)
        part = self._steps - before
        return (1 - part) * self._drawn(before, *words) + part * self._drawn(before + 1, *words)

    def _drawn(self, step: int, *words: object) -> float:
        text = "\0".join(str(word) for word in (self.seed, step, *words))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big") / 2**55 - 1

    def amount(self, base: int, most: int, *words: object) -> int:
        """A whole amount about `base`, from 0 to `most`."""
        return min(most, max(0, round(base + self.volatility * self.wander(*words) * most)))

    def workload(self, workload: Workload) -> Workload:
        """Idle nodes, what is free with them, and how many jobs run and wait; sizes and limits stay."""
        groups = (
            None if workload.groups is None else tuple(map(self._group, range(len(workload.groups)), workload.groups))
        )
        jobs = depth(workload, groups, self._waiting)
        queues = workload.queues and tuple(
            self._queue(queue, groups).model_copy(update={"jobs_running": running, "jobs_pending": pending})
            for queue, running, pending in zip(workload.queues, jobs.queues_running, jobs.queues_pending, strict=True)
        )
        update = {"groups": groups, "queues": queues, "jobs_pending": jobs.pending, "jobs_running": jobs.running}
        return workload.model_copy(update=update)

    def _waiting(self, written: int, queue: str) -> int:
        return self.amount(written, max(1, 2 * written), "pending", *((queue,) if queue else ()))

    def _group(self, index: int, group: NodeGroup) -> NodeGroup:
        up = group.nodes_up if group.nodes_up is not None else group.nodes
        was = nodes_used(group)
        if up is None or group.nodes_idle is None or was is None:
            return group
        idle = self.amount(group.nodes_idle, up, "idle", index)
        used = up - idle
        cores, memory = group.cpus_per_node, group.memory_bytes_per_node
        update: dict[str, object] = {"nodes_idle": idle}
        if group.gpus is not None:
            update["gpus"] = tuple(_gpus_free(gpu, group.nodes_idle, was, idle, used) for gpu in group.gpus)
        part = 0
        if group.cpus_free is not None and cores is not None:
            # On nodes in use something is free too: as much on each as it is as written.
            rest = _rest(group.cpus_free - group.nodes_idle * cores, was, used, max(0, cores - 1))
            most = group.largest_free_cpus if group.nodes_idle == 0 and group.largest_free_cpus is not None else cores
            part = 0 if not rest else max(-(-rest // used), min(rest, most, cores - 1))
            update |= {"cpus_free": idle * cores + rest, "largest_free_cpus": cores if idle else part}
        if group.memory_free_bytes is not None and memory is not None:
            full = group.memory_free_bytes if group.nodes_idle == 0 else memory * part // cores if cores else 0
            update["memory_free_bytes"] = memory if idle else full
        if group.free_shares is not None:
            update["free_shares"] = _shares(group, idle, part, update.get("memory_free_bytes", group.memory_free_bytes))
        return group.model_copy(update=update)

    def _queue(self, queue: Queue, groups: Sequence[NodeGroup] | None) -> Queue:
        mine = [each.nodes_idle for each in groups or () if not each.queues or queue.name in each.queues]
        told = [each for each in mine if each is not None]
        if queue.nodes_idle is None or not mine or len(told) < len(mine):
            return queue
        return queue.model_copy(update={"nodes_idle": sum(told)})

    def file_system(self, one: FileSystem) -> FileSystem:
        """Free room, and what is left of the quota."""
        update: dict[str, object] = {}
        if one.size_bytes is not None and one.free_bytes is not None:
            update["free_bytes"] = self.amount(one.free_bytes, one.size_bytes, "free", one.mount)
        if one.quota_bytes is not None and one.quota_free_bytes is not None:
            update["quota_free_bytes"] = self.amount(one.quota_free_bytes, one.quota_bytes, "quota", one.mount)
        return one.model_copy(update=update) if update else one

    def gpu(self, one: Gpu) -> Gpu:
        """How many are free."""
        if one.free is None or one.count is None:
            return one
        return one.model_copy(update={"free": self.amount(one.free, one.count, "gpu", one.model)})


def _shares(group: NodeGroup, idle: int, part: int, memory: object) -> tuple[FreeShare, ...]:
    """Idle nodes are free as a whole; of the others one is told, where it is the one with the most."""
    kinds = group.gpus or ()
    found = []
    if idle:
        counts = tuple(kind.count for kind in kinds)
        whole = group.memory_bytes_per_node
        found.append(FreeShare(nodes=idle, cpus=group.cpus_per_node or 0, memory_bytes=whole, gpus=counts))
    elif part:
        left = memory if isinstance(memory, int) else None
        found.append(FreeShare(cpus=part, memory_bytes=left, gpus=(None,) * len(kinds)))
    return tuple(found)


def _rest(written: int, was: int, used: int, most: int) -> int:
    """What is free on nodes in use, where so much is on `was` of them as written, and `most` can be on each."""
    return min(round(max(0, written) * used / was), used * most) if was else 0


def _gpus_free(gpu: Gpu, idle_then: int, was: int, idle: int, used: int) -> Gpu:
    """GPUs of a group: `count` is of each node, `free` of all of them."""
    if gpu.free is None:
        return gpu
    count = gpu.count or 0
    return gpu.model_copy(update={"free": count * idle + _rest(gpu.free - count * idle_then, was, used, count)})
