"""Ports of RDMA adapters, shared by the probes of the fabrics on them: /sys/class/infiniband, or ibstat(8).

The kernel lists InfiniBand, Omni-Path and RoCE adapters in one place: which fabric a port is on is told by its link
layer, by the adapter's driver and by the kind of node, not by the folder's name.
Source: the kernel's Documentation/ABI/stable/sysfs-class-infiniband.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dragoman.facts import Interface, Interfaces, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Outcome
from providers.probes.base import (
    Ask,
    FileRead,
    Paths,
    ProbeVerb,
    Results,
    brief,
    no_answer,
    presence_from,
    question,
    where_is,
)
from providers.verbs import INTERFACES, NoArguments

__all__ = ["Port", "fabric_verbs", "parse_ibstat", "port_fabric"]

ROOT = "/sys/class/infiniband"
CLASSES = "/sys/class"
"""Without it nothing is shown by what is not below it."""
STATE, RATE, LAYER = (f"{ROOT}/*/ports/*/{name}" for name in ("state", "rate", "link_layer"))
NODE, DRIVER = f"{ROOT}/*/node_type", f"{ROOT}/*/device/uevent"


@dataclass(frozen=True, slots=True)
class Port:
    """One port of an adapter; empty texts are not known."""

    device: str
    number: str = ""
    state: str = ""
    """`active`, `down`, `init`, `armed`."""
    gbit_s: float | None = None
    layer: str = ""
    driver: str = ""
    node: str = ""
    trouble: str = ""

    @property
    def name(self) -> str:
        """As people write it: `mlx5_0`, or `mlx5_0:2` for another port than the first."""
        return self.device if self.number in ("", "1") else f"{self.device}:{self.number}"


def port_fabric(port: Port) -> str | None:
    """The fabric a port is on; `""` for one that no probe here is for; None where it is not told."""
    if port.driver.startswith("hfi") or (not port.driver and re.match(r"hfi\d|opap", port.device)):
        return "omni-path"
    layer = port.layer.lower()
    if layer == "infiniband":
        return "infiniband"
    if layer == "ethernet":
        return "" if port.node == "rnic" else "roce"  # iWARP is no RoCE
    return "" if layer else None


def _rate(text: str) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return float(found[1]) if found and float(found[1]) > 0 else None


def parse_ibstat(text: str) -> list[Port]:
    """Ports of `ibstat`; an adapter that it stopped at is a port of which nothing is known but the trouble."""
    ports: list[Port] = []
    device, number = "", ""
    told: dict[str, str] = {}

    def close() -> None:
        if device and number:
            ports.append(
                Port(
                    device, number, told.get("state", "").lower(), _rate(told.get("rate", "")),
                    told.get("link layer", ""),
                )
            )  # fmt: skip

    for line in text.splitlines():
        head = re.match(r"\s*CA '([^']+)'", line)
        port = re.match(r"\s*Port (\d+):\s*(.*)", line)
        failed = re.search(r"IB device '([^']{1,100})'[^:]{0,200}failed:?\s*(.*)", line)
        if head or port or failed:
            close()
            number, told = "", {}
        if head:
            device = head[1]
        elif port:
            number = port[1]
            told = {
                name.strip().lower(): value.strip()
                for name, value in re.findall(r"([A-Z][A-Za-z ]{1,40}):\s*(\S+)", port[2])
            }
        elif failed:
            ports.append(Port(failed[1], trouble=f"ibstat: {failed[2] or 'it failed'}"))
            device = ""
        elif ":" in line:
            name, _, value = line.partition(":")
            told[name.strip().lower()] = value.strip()
    close()
    return ports


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(
        commands={"ibstat": question(where_is("ibstat", paths, key="infiniband"))},
        files=(ROOT, CLASSES, STATE, RATE, LAYER, NODE, DRIVER),
    )


def _by_place(results: Results, pattern: str) -> dict[str, FileRead]:
    """What a pattern led to, by folder; a pattern that led nowhere is no place."""
    return {read.path.rpartition("/")[0]: read for read in results.found(pattern) if "*" not in read.path}


def _word(read: FileRead | None) -> str:
    """The word of `4: ACTIVE`."""
    return ((read.value if read else None) or "").partition(":")[2].strip().lower()


def _ports(results: Results) -> list[Port]:
    """Those of the kernel; those that only ibstat tells of come after them."""
    states, rates, layers = (_by_place(results, pattern) for pattern in (STATE, RATE, LAYER))
    nodes = {place.split("/")[4]: read for place, read in _by_place(results, NODE).items()}
    drivers = {place.split("/")[4]: read.text for place, read in _by_place(results, DRIVER).items()}
    ports: list[Port] = []
    for place in sorted({*states, *rates, *layers}):
        device, number = place.split("/")[4], place.rpartition("/")[2]
        state, rate, layer = states.get(place), rates.get(place), layers.get(place)
        refused = next((read.reason for read in (state, layer) if read is not None and read.reason), "")
        driver = re.search(r"^DRIVER=(\S+)", drivers.get(device, ""), re.MULTILINE)
        ports.append(
            Port(
                device, number,
                _word(state),
                _rate((rate.value if rate else None) or ""),
                (layer.value if layer else None) or "",
                driver[1] if driver else "", _word(nodes.get(device)), refused,
            )
        )  # fmt: skip
    known = {port.device for port in ports}
    ports += [Port(name, trouble="its ports cannot be read") for name in results.file(ROOT).names if name not in known]
    done = results.done("ibstat")
    if done is not None and not done.truncated:
        known = {port.device for port in ports}
        ports += [port for port in parse_ibstat(f"{done.out}\n{done.err}") if port.device not in known]
    return ports


_UP = {"active": Truth.YES} | dict.fromkeys(("down", "init", "initializing", "armed", "polling"), Truth.NO)
"""Other words, such as `nop` and `active_defer`, tell neither."""


def _interface(port: Port, fabric: str) -> Interface:
    up = _UP.get(port.state, Truth.UNKNOWN)
    if port_fabric(port) is None:
        return Interface(name=port.name, fabric=fabric, detail=port.trouble or "its link layer is not told")
    words = [f"driver {port.driver}" if port.driver else "", port.state if up is not Truth.YES else "", port.trouble]
    return Interface(
        name=port.name,
        fabric=fabric,
        up=up,
        gbit_s=port.gbit_s if up is not Truth.NO else None,  # of a dead link the kernel tells the slowest rate
        # RDMA over Ethernet is shown to work only where the link is up.
        low_latency=Truth.YES if fabric != "roce" or up is Truth.YES else Truth.UNKNOWN,
        detail=", ".join(word for word in words if word),
    )


def fabric_verbs(
    fabric: str, words: str, *, takes_unknown: bool = False
) -> tuple[ProbeVerb[NoArguments, Presence], ProbeVerb[NoArguments, Interfaces]]:
    """`probe` and `interfaces` of one fabric.

    Args:
        fabric: as `port_fabric` calls it.
        words: what a person calls a port of it, for reasons.
        takes_unknown: ports whose fabric is not told are listed here, with nothing known of them.

    """

    def parse(_: NoArguments, results: Results) -> Answer[Interfaces] | Ask:
        ports = _ports(results)
        mine = [port for port in ports if port_fabric(port) in ((fabric, None) if takes_unknown else (fabric,))]
        if mine:
            found = tuple(_interface(port, fabric) for port in mine)
            return Answer[Interfaces].ok(Interfaces(interfaces=found))
        silent = [port for port in ports if port_fabric(port) is None]
        if silent:
            return Answer[Interfaces].unknown(f"the fabric of {', '.join(port.name for port in silent)} is not told")
        root = results.file(ROOT)
        if root.outcome is Outcome.UNKNOWN and not ports:
            done, trouble = results.done("ibstat"), no_answer(results, "ibstat")
            why = trouble.reason if trouble else brief(done or "ibstat was not asked")
            return Answer[Interfaces].unknown(f"{root.reason}; {why}")
        if root.outcome is Outcome.ABSENT and results.file(CLASSES).outcome is not Outcome.OK and not ports:
            return Answer[Interfaces].unknown(f"there is no {CLASSES} to look in here")
        others = ", ".join(sorted({port_fabric(port) or port.layer for port in ports}))
        return Answer[Interfaces].absent(f"the host has no {words}" + (f"; it has {others}" if others else ""))

    verb: ProbeVerb[NoArguments, Interfaces] = ProbeVerb(INTERFACES, _ask, parse)
    return presence_from(verb, _presence), verb


def _presence(facts: Interfaces) -> Presence:
    return Presence(path=ROOT, detail=", ".join(interface.name for interface in facts.interfaces))
