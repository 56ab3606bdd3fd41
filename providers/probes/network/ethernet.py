"""Ethernet interfaces of a Linux host, from /sys/class/net (kernel: Documentation/ABI/testing/sysfs-class-net)."""

from __future__ import annotations

import posixpath

from dragoman.facts import Interface, Interfaces, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, FileRead, Paths, Probe, ProbeVerb, Results, presence_from
from providers.registry import register_probe
from providers.verbs import INTERFACES, NoArguments

__all__ = ["Ethernet"]

ROOT = "/sys/class/net"
STATE, SPEED, TYPE, UEVENT, DRIVER, WIRELESS = (
    f"{ROOT}/*/{name}" for name in ("operstate", "speed", "type", "uevent", "device/uevent", "wireless")
)
ARPHRD_ETHER = "1"
"""<linux/if_arp.h>; 32 is InfiniBand, 772 the loopback."""


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(files=(ROOT, STATE, SPEED, TYPE, UEVENT, DRIVER, WIRELESS))


def _by_interface(results: Results, pattern: str) -> dict[str, FileRead]:
    return {read.path.removeprefix(f"{ROOT}/").partition("/")[0]: read for read in results.found(pattern)}


def _parse(_: NoArguments, results: Results) -> Answer[Interfaces] | Ask:
    root = results.file(ROOT)
    if root.outcome is not Outcome.OK:
        return Answer[Interfaces].unknown(root.reason or f"{ROOT} cannot be read")
    types, states, speeds = (_by_interface(results, pattern) for pattern in (TYPE, STATE, SPEED))
    events, drivers = _by_interface(results, UEVENT), _by_interface(results, DRIVER)
    wireless = _by_interface(results, WIRELESS)
    found: list[Interface] = []
    for name in root.names:
        kind = types.get(name)
        if kind is None or kind.value is None:
            if posixpath.basename(name) != "bonding_masters":
                found.append(Interface(name=name, fabric="ethernet", detail="its type cannot be read"))
            continue
        if kind.value != ARPHRD_ETHER:
            continue
        driver = _event(drivers.get(name), "DRIVER")
        sort = "wlan" if name in wireless else _event(events.get(name), "DEVTYPE") or ("" if driver else "virtual")
        found.append(
            Interface(
                name=name,
                fabric="ethernet",
                up=_up(states.get(name)),
                gbit_s=_gbit_s(speeds.get(name)),
                low_latency=_low_latency(name, sort, driver),
                detail=", ".join(part for part in (f"driver {driver}" if driver else "", sort) if part),
            )
        )
    if not found:
        return Answer[Interfaces].absent("the host has no Ethernet interface")
    return Answer[Interfaces].ok(Interfaces(interfaces=tuple(found)))


def _event(read: FileRead | None, key: str) -> str:
    lines = (read.value or "").splitlines() if read is not None else []
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{key}=")), "")


def _up(read: FileRead | None) -> Truth:
    """The kernel itself says `unknown` where a driver does not report its state."""
    word = read.value if read is not None else None
    return {"up": Truth.YES, "down": Truth.NO, "lowerlayerdown": Truth.NO, "notpresent": Truth.NO}.get(
        word or "", Truth.UNKNOWN
    )


def _gbit_s(read: FileRead | None) -> float | None:
    """Mbit/s in the file; -1, 4294967295 or a refused read where the driver does not know."""
    word = read.value if read is not None else None
    if word is None or not word.isdigit() or int(word) >= 2**32 - 1 or int(word) == 0:
        return None
    return int(word) / 1000


PLAIN_DRIVERS = frozenset({
    "alx", "atl1c", "atlantic", "bcmgenet", "bna", "cdc_ether", "cdc_ncm", "dwmac-sun8i", "e100", "e1000", "e1000e",
    "fec", "forcedeth", "igb", "igbvf", "igc", "ipheth", "ixgb", "ixgbe", "ixgbevf", "jme", "lan743x", "lan78xx",
    "macb", "mvneta", "mvpp2", "nfp", "r8125", "r8152", "r8168", "r8169", "rndis_host", "sky2", "smsc75xx",
    "smsc95xx", "stmmac", "tg3", "tulip", "via-rhine", "8139cp", "8139too", "asix", "ax88179_178a", "bnx2", "bnx2x",
    "pcnet32",
})  # fmt: skip
"""Adapters, real and virtual, that cannot do RDMA. Of any other one the file system does not tell whether it can."""
PAIRS = ("cali", "cilium", "docker", "dummy", "flannel", "ifb", "tap", "tun", "veth", "virbr")
"""Names that the kernel and container networks give to what ends inside of the host."""


def _low_latency(name: str, sort: str, driver: str) -> Truth:
    """Plain Ethernet is not; what may do RDMA, or may stand on what does, is not shown either way."""
    plain = sort == "wlan" or (driver in PLAIN_DRIVERS and not sort)
    return Truth.NO if plain or (not driver and name.startswith(PAIRS)) else Truth.UNKNOWN


_INTERFACES = ProbeVerb(INTERFACES, _ask, _parse)


def _presence(facts: Interfaces) -> Presence:
    return Presence(path=ROOT, detail=", ".join(interface.name for interface in facts.interfaces))


@register_probe
class Ethernet(Probe):
    """`network/ethernet`."""

    category = Category.NETWORK
    name = "ethernet"
    path_keys = ()
    verbs = (presence_from(_INTERFACES, _presence), _INTERFACES)
