"""HPE Slingshot: its adapters (driver cxi), and the interfaces `hsn*` that Cray systems give its ports.

The older generation runs on Mellanox adapters: there the interface's name alone tells.
Source: HPE Slingshot Host Software documentation; /sys/class/cxi.
"""

from __future__ import annotations

import re

from dragoman.facts import Interface, Interfaces, Presence
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, FileRead, Paths, Probe, ProbeVerb, Results, presence_from
from providers.registry import register_probe
from providers.verbs import INTERFACES, NoArguments

__all__ = ["Slingshot"]

CXI, NET = "/sys/class/cxi", "/sys/class/net"
NETS, LINK, CXI_SPEED = f"{CXI}/*/device/net", f"{CXI}/*/device/port/link", f"{CXI}/*/device/port/speed"
STATE, SPEED, DRIVER = (f"{NET}/hsn*/{name}" for name in ("operstate", "speed", "device/uevent"))


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(files=(CXI, NET, NETS, LINK, CXI_SPEED, STATE, SPEED, DRIVER))


def _named(results: Results, pattern: str) -> dict[str, FileRead]:
    return {read.path.split("/")[4]: read for read in results.found(pattern)}


def _up(word: str | None) -> Truth:
    return {"up": Truth.YES, "down": Truth.NO, "lowerlayerdown": Truth.NO, "notpresent": Truth.NO}.get(
        (word or "").lower(), Truth.UNKNOWN
    )


def _speed(mbit: str | None, words: str | None = None) -> float | None:
    """Mbit/s of the kernel, or the adapter's own words (`BS_200G`)."""
    if mbit and mbit.isdigit() and 0 < int(mbit) < 2**32 - 1:
        return int(mbit) / 1000
    found = re.search(r"(?<!\d)(\d{1,6})G\b", words or "")
    return float(found[1]) if found else None


def _parse(_: NoArguments, results: Results) -> Answer[Interfaces] | Ask:
    cxi, net = results.file(CXI), results.file(NET)
    states, speeds, drivers = (_named(results, pattern) for pattern in (STATE, SPEED, DRIVER))
    nets, links, rates = (_named(results, pattern) for pattern in (NETS, LINK, CXI_SPEED))
    of = {name: device for device, read in nets.items() for name in read.names}
    names = sorted({*(name for name in net.names if re.fullmatch(r"hsn\d+", name)), *of})
    found = [
        _interface(
            name, states.get(name), speeds.get(name), drivers.get(name), links.get(of.get(name, "")),
            rates.get(of.get(name, "")),
        )
        for name in names
    ]  # fmt: skip
    found += [
        _interface(device, None, None, None, links.get(device), rates.get(device))
        for device in cxi.names
        if device not in of.values() and not (len(names) == len(cxi.names) and not of)
    ]
    if found:
        return Answer[Interfaces].ok(Interfaces(interfaces=tuple(found)))
    if cxi.outcome is Outcome.UNKNOWN or net.outcome is not Outcome.OK:
        return Answer[Interfaces].unknown(cxi.reason or net.reason or f"{NET} cannot be read")
    return Answer[Interfaces].absent("the host has no Slingshot adapter and no interface hsn*")


def _interface(
    name: str,
    state: FileRead | None,
    speed: FileRead | None,
    driver: FileRead | None,
    link: FileRead | None,
    rate: FileRead | None,
) -> Interface:
    up = _up(state.value if state else None)
    up = _up(link.value if link else None) if up is Truth.UNKNOWN else up
    drives = re.search(r"^DRIVER=(\S+)", driver.text, re.MULTILINE) if driver else None
    return Interface(
        name=name,
        fabric="slingshot",
        up=up,
        gbit_s=_speed(speed.value if speed else None, rate.value if rate else None),
        low_latency=Truth.YES,
        detail=f"driver {drives[1]}" if drives else "",
    )


_INTERFACES: ProbeVerb[NoArguments, Interfaces] = ProbeVerb(INTERFACES, _ask, _parse)


def _presence(facts: Interfaces) -> Presence:
    return Presence(path=NET, detail=", ".join(interface.name for interface in facts.interfaces))


@register_probe
class Slingshot(Probe):
    """`network/slingshot`."""

    category = Category.NETWORK
    name = "slingshot"
    path_keys = ()
    verbs = (presence_from(_INTERFACES, _presence), _INTERFACES)
