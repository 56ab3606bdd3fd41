"""Memory of a Linux host (proc_meminfo(5)) and the limit of the control group."""

from __future__ import annotations

from dragoman.facts import MemoryFacts, Presence
from dragoman.observation import Answer, Category, Outcome
from dragoman.units import format_bytes
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, presence_from
from providers.probes.hardware.control_groups import FILES, memory_files, memory_left, memory_limit
from providers.registry import register_probe
from providers.verbs import MEMORY, NoArguments

__all__ = ["MemoryProbe", "parse_meminfo"]

MEMINFO = "/proc/meminfo"


def parse_meminfo(text: str) -> dict[str, int]:
    """Bytes by name; the file's `kB` are kibibytes."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        number, _, unit = rest.strip().partition(" ")
        if number.isdigit():
            found[name.strip()] = int(number) * (1024 if unit == "kB" else 1)
    return found


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(files=(MEMINFO, *FILES))


def _parse(_nothing: NoArguments, results: Results) -> Answer[MemoryFacts] | Ask:
    read = results.file(MEMINFO)
    sizes = parse_meminfo(read.text)
    if read.outcome is not Outcome.OK or "MemTotal" not in sizes:
        return Answer[MemoryFacts].unknown(read.reason or f"{MEMINFO} tells no total")
    limits = memory_files(results)
    if any(path not in results.files for path in limits):
        return Ask(files=limits)
    limit, _ = memory_limit(results)
    if limit is not None and limit >= sizes["MemTotal"]:
        limit = None  # a limit above what the host has limits nothing
    left, missed = memory_left(results, sizes["MemTotal"])
    known = [size for size in (sizes.get("MemAvailable"), left) if size is not None]
    # What a limit leaves that was not read may be less.
    available = min(known) if known and not missed and "MemAvailable" in sizes else None
    return Answer[MemoryFacts].ok(
        MemoryFacts(
            total_bytes=sizes["MemTotal"],
            available_bytes=available,
            limit_bytes=limit,
            swap_bytes=sizes.get("SwapTotal"),
        )
    )


_DESCRIBE = ProbeVerb(MEMORY, _ask, _parse)


@register_probe
class MemoryProbe(Probe):
    """`hardware/memory`."""

    category = Category.HARDWARE
    name = "memory"
    path_keys = ()
    verbs = (
        presence_from(_DESCRIBE, lambda memory: Presence(detail=format_bytes(memory.total_bytes))),
        _DESCRIBE,
    )
