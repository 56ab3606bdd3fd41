"""A negotiation set of our own: other sites, other software, other words, and a truth that shares no code with ours.

The sites come from the archetypes with every package renamed and renumbered; the requests are sentences with the needs
that they state; `Oracle` reads the raw state of a site, with none of the verdict's rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dragoman.site import Fleet
from simulation.archetypes import archetype_fleet
from simulation.dice import Dice

__all__ = ["Oracle", "Wish", "own_requests", "own_sites"]

GIB = 2**30
_SYLLABLES = (
    "bran",
    "cor",
    "del",
    "fen",
    "gal",
    "hy",
    "ker",
    "lum",
    "mor",
    "nix",
    "ost",
    "pra",
    "qui",
    "ser",
    "tov",
    "wex",
)
_KEPT = ("python", "gcc")


def _renamed(name: str) -> str:
    """Another name for the same package, the same one each time."""
    if name in _KEPT:
        return name
    dice = Dice("own-set", name)
    return "".join(dice.some(_SYLLABLES, 2)) + dice.pick(("", "x", "-md", "flow", "2d", "lib", "_cfd", "3"))


def own_sites(count: int = 100, seed: int = 77) -> Fleet:
    """The sites."""
    sites = []
    for site in archetype_fleet(count, seed).sites:
        state: dict[str, Any] = dict(site.simulated or {})
        state["packages"] = [
            {**package, "name": _renamed(package["name"]), "version": _version(package), "load": []}
            for package in state.get("packages", ())
        ]
        sites.append(site.model_copy(update={"simulated": state}))
    return Fleet(sites=tuple(sites))


def _version(package: dict[str, Any]) -> str:
    dice = Dice("own-version", package["name"], package["version"])
    return f"{dice.whole(0, 6)}.{dice.whole(0, 14)}.{dice.whole(0, 9)}"


@dataclass(frozen=True, slots=True)
class Wish:
    """One request: its words, and what they state."""

    text: str
    app: str = ""
    op: str = ""
    version: str = ""
    nodes: int = 1
    cores: int = 1
    gpus: int = 0
    memory_gib: int = 0
    hours: float = 0
    fabric: str = ""
    storage: str = ""
    runtime: str = ""
    now: bool = False


_WORDS = (
    "Dear all, might there be {nodes} nodes for {hours} hours somewhere that has {app} {atleast} {version}? Thanks!",
    "{app} {opv}, {nodes}x nodes, {hours}h, {fabric}",
    "We plan to use {app} version {version} or newer on {nodes} nodes connected by {fabric}.",
    "needs: {nodes} nodes, {gpus} GPUs per node, walltime {hours}:00:00, software {app}",
    "a single node with {memory} GiB RAM for {hours} hours, {app} must be there",
    "{cores} cores on one node for {hours} h and {storage} storage; package {app} {opv}",
    "please run {runtime} containers on {nodes} nodes for {hours} hours",
    "{nodes} nodes, {memory} GB of memory per node, {hours} hours, file system {storage}",
    "start immediately: {cores} cores for {hours} hours with {app}",
    "I'd need {gpus} GPUs on one node during {hours} hours, and {app} {opv}",
)
_FABRIC_NAMES = {"infiniband": "InfiniBand", "omni-path": "Omni-Path", "slingshot": "Slingshot"}


def own_requests(fleet: Fleet, count: int = 50, seed: int = 5) -> list[Wish]:
    """The requests, of software that some site has."""
    states: list[dict[str, Any]] = [dict(site.simulated or {}) for site in fleet.sites]
    known: list[tuple[str, str]] = sorted(
        {(package["name"], package["version"]) for state in states for package in state.get("packages", ())}
    )
    wishes = []
    for number in range(count):
        dice, words = Dice("own-request", seed, number), _WORDS[number % len(_WORDS)]
        app, version = dice.pick(known)
        op = dice.pick((">=", "<=", "=="))
        if "atleast" in words or "or newer" in words:
            op = ">="
        fabric = dice.pick(sorted(_FABRIC_NAMES))
        values: dict[str, Any] = {
            "app": app, "version": version, "opv": f"{op} {version}", "atleast": "of at least",
            "nodes": dice.whole_log(2, 256), "cores": dice.whole_log(2, 24), "gpus": dice.pick((1, 2, 4, 8)),
            "memory": dice.pick((32, 64, 200, 400)), "hours": dice.pick((1, 2, 12, 30, 100)),
            "fabric": _FABRIC_NAMES[fabric], "storage": dice.pick(("lustre", "gpfs", "nfs", "beegfs")),
            "runtime": dice.pick(("apptainer", "podman", "docker")),
        }  # fmt: skip
        has = {
            name
            for name in ("app", "nodes", "cores", "gpus", "memory", "hours", "storage", "runtime", "fabric")
            if f"{{{name}}}" in words
        }
        versioned = "{opv}" in words or "{version}" in words
        wishes.append(
            Wish(
                text=words.format(**values),
                app=app if "app" in has else "",
                op=op if versioned else "",
                version=version if versioned else "",
                nodes=values["nodes"] if "nodes" in has else 1,
                cores=values["cores"] if "cores" in has else 1,
                gpus=values["gpus"] if "gpus" in has else 0,
                memory_gib=values["memory"] if "memory" in has else 0,
                hours=values["hours"] if "hours" in has else 0,
                fabric=fabric if "fabric" in has else "",
                storage=values["storage"] if "storage" in has else "",
                runtime=values["runtime"] if "runtime" in has else "",
                now="immediately" in words,
            )
        )
    return wishes


class Oracle:
    """The truth of one wish at one site, from its raw state and its price of a node-hour."""

    def __init__(self, state: dict[str, Any], node_hour: float | None = None) -> None:
        self.state = state
        self.node_hour = node_hour

    def state_of(self, wish: Wish) -> str:
        """READY, BUSY or INCOMPATIBLE."""
        others = (self._software(wish), self._fabric(wish), self._storage(wish), self._runtime(wish))
        if not all(others) or not self._affordable(wish):
            return "INCOMPATIBLE"
        places = [self._queue(wish, queue) for queue in self.state["workload"]["queues"]]
        best = max(places)
        return ("INCOMPATIBLE", "INCOMPATIBLE" if wish.now else "BUSY", "READY")[best]

    def _affordable(self, wish: Wish) -> bool:
        """The only account of these sites has node-hours; a wish without hours has no known price."""
        left = [account["balance"] for account in self.state.get("accounts", ()) if account.get("unit") == "node-hours"]
        return not left or self.node_hour is None or wish.nodes * wish.hours * self.node_hour <= left[0]

    def _software(self, wish: Wish) -> bool:
        if not wish.app:
            return True
        for package in self.state.get("packages", ()):
            if package["name"].lower().replace("_", "-") != wish.app.lower().replace("_", "-"):
                continue
            if package["name"].lower() != wish.app.lower() and package["manager"] != "pip":
                continue
            if not wish.op:
                return True
            there, asked = (tuple(int(part) for part in v.split(".")) for v in (package["version"], wish.version))
            if {">=": there >= asked, "<=": there <= asked, "==": there == asked}[wish.op]:
                return True
        return False

    def _fabric(self, wish: Wish) -> bool:
        return not wish.fabric or any(one["fabric"] == wish.fabric for one in self.state.get("interfaces", ()))

    def _storage(self, wish: Wish) -> bool:
        return not wish.storage or any(one["kind"] == wish.storage for one in self.state.get("file_systems", ()))

    def _runtime(self, wish: Wish) -> bool:
        return not wish.runtime or any(one["runtime"] == wish.runtime for one in self.state.get("containers", ()))

    def _queue(self, wish: Wish, queue: dict[str, Any]) -> int:
        """0: cannot; 1: later; 2: now."""
        longest = queue.get("max_walltime_s")
        if longest is not None and wish.hours * 3600 > longest:
            return 0
        if wish.nodes > queue.get("max_nodes", 10**9):
            return 0
        memory = wish.memory_gib * (10**9 if "GB of memory" in wish.text else GIB)
        good = [
            group
            for group in self.state["workload"]["groups"]
            if queue["name"] in group["queues"]
            and group["cpus_per_node"] >= wish.cores
            and group["memory_bytes_per_node"] >= memory
            and sum(gpu["count"] for gpu in group.get("gpus", ())) >= wish.gpus
        ]
        if sum(group["nodes"] for group in good) < wish.nodes:
            return 0
        if sum(group.get("nodes_idle", 0) for group in good) >= wish.nodes:
            return 2
        part = wish.nodes == 1 and any(
            group.get("largest_free_cpus", 0) >= wish.cores
            and group.get("memory_free_bytes", 0) >= memory
            and sum(gpu.get("free", 0) for gpu in group.get("gpus", ())) >= wish.gpus
            for group in good
        )
        return 2 if part else 1
