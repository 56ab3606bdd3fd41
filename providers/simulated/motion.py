"""How a simulated site changes with its clock: the same seed and the same moment give the same site everywhere.

Each amount wanders about the one that the state names: between two moments of a grid, whose values follow from hashes,
it goes straight from one to the other. Volatility 0 is still, 1 takes an amount anywhere between none and all.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import datetime

from dragoman.facts import FileSystem, Gpu, NodeGroup, Queue, Workload

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
        """Idle nodes, free cores and GPUs, and the queues' depth; sizes and limits stay."""
        groups = (
            None if workload.groups is None else tuple(map(self._group, range(len(workload.groups)), workload.groups))
        )
        queues = None if workload.queues is None else tuple(self._queue(each, groups) for each in workload.queues)
        pending, running = workload.jobs_pending, workload.jobs_running
        return workload.model_copy(
            update={
                "groups": groups,
                "queues": queues,
                "jobs_pending": None if pending is None else self.amount(pending, max(1, 2 * pending), "pending"),
                "jobs_running": None if running is None else self._running(running, workload.groups, groups),
            }
        )

    def _group(self, index: int, group: NodeGroup) -> NodeGroup:
        up = group.nodes_up if group.nodes_up is not None else group.nodes
        if up is None or group.nodes_idle is None:
            return group
        idle = self.amount(group.nodes_idle, up, "idle", index)
        cores, memory = group.cpus_per_node, group.memory_bytes_per_node
        # Of a group without an idle node the state itself says what part of a node is free.
        full = idle == 0
        part = group.largest_free_cpus if full and group.nodes_idle == 0 else 0 if full else cores
        gpus = (
            None
            if group.gpus is None
            else tuple(
                gpu.model_copy(update={"free": None if gpu.free is None else (gpu.count or 0) * idle})
                for gpu in group.gpus
            )
        )
        update: dict[str, object] = {"nodes_idle": idle, "gpus": gpus}
        if group.cpus_free is not None and cores is not None:
            update |= {"cpus_free": (part or 0) if full else idle * cores, "largest_free_cpus": part}
        if group.memory_free_bytes is not None and memory is not None:
            update["memory_free_bytes"] = (
                memory if not full else group.memory_free_bytes if group.nodes_idle == 0 else 0
            )
        return group.model_copy(update=update)

    def _queue(self, queue: Queue, groups: Sequence[NodeGroup] | None) -> Queue:
        mine = [each for each in groups or () if not each.queues or queue.name in each.queues]
        update: dict[str, object] = {}
        if queue.nodes_idle is not None and mine:
            update["nodes_idle"] = sum(each.nodes_idle or 0 for each in mine)
        if queue.jobs_pending is not None:
            update["jobs_pending"] = self.amount(
                queue.jobs_pending, max(1, 2 * queue.jobs_pending), "pending", queue.name
            )
        return queue.model_copy(update=update) if update else queue

    def _running(self, running: int, before: Sequence[NodeGroup] | None, after: Sequence[NodeGroup] | None) -> int:
        """As many jobs more or fewer as nodes that are no longer idle, or are now."""
        freed = sum((b.nodes_idle or 0) - (a.nodes_idle or 0) for a, b in zip(before or (), after or (), strict=True))
        return max(0, running - freed)

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
