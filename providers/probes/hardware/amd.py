"""AMD GPUs by amd-smi or rocm-smi in JSON; without them, by the compute nodes of the kernel (KFD) in /sys.

A board's video chip is listed by rocm-smi beside the GPUs: it has no vendor 0x1002 and no video memory of its own.
Sources: AMD SMI and ROCm SMI documentation; the kernel's `amdkfd` topology (`simd_count` is 0 for processors).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dragoman.errors import CommandMissing
from dragoman.facts import Gpus
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, Results, brief, question, where_is
from providers.probes.hardware.gpu_cards import Card, busy_by_use, gpu_verbs, known_number, put_together
from providers.probes.json_output import first_json
from providers.registry import register_probe
from providers.verbs import NoArguments

__all__ = ["Amd"]

CLASSES, KFD = "/sys/class", "/sys/class/kfd/kfd/topology/nodes"
"""Without the first, nothing is shown by what is not below it."""
NODES, DRIVER = f"{KFD}/*/properties", "/sys/module/amdgpu/version"
AMD_VENDOR = 0x1002
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
"""amd-smi writes MB and means MiB."""


def _ask(_: NoArguments, paths: Paths) -> Ask:
    amd, rocm = where_is("amd-smi", paths, key="amd"), where_is("rocm-smi", paths, key="amd")
    return Ask(
        commands={
            "static": question(amd, "static", "--asic", "--vram", "--driver", "--partition", "--json", timeout_s=25.0),
            "metric": question(amd, "metric", "--usage", "--mem-usage", "--json", timeout_s=25.0),
            "rocm": question(
                rocm, "--showproductname", "--showmeminfo", "vram", "--showuse", "--showdriverversion", "--showid",
                "--json", timeout_s=25.0,
            ),
        },
        files=(CLASSES, KFD, NODES, DRIVER),
    )  # fmt: skip


def _parse(_: NoArguments, results: Results) -> Answer[Gpus] | Ask:
    nodes = _by_kernel(results)
    listed = _by_amd_smi(results) or _by_rocm_smi(results)
    # No card is without a compute node; one that is partitioned has several.
    cards = nodes if 0 < len(nodes) < len(listed) else listed or nodes
    if cards:
        return Answer[Gpus].ok(put_together("amd", cards))
    ran = [done for name in ("static", "rocm") if (done := results.done(name)) is not None]
    kfd = results.file(KFD)
    if kfd.folder and _kernel_says_none(results):
        return Answer[Gpus].absent("the kernel has no AMD compute node here")
    tried = [results.commands.get(name) for name in ("static", "rocm")]
    if kfd.outcome is Outcome.ABSENT and all(isinstance(each, CommandMissing) for each in tried):
        if results.file(CLASSES).outcome is not Outcome.OK:
            return Answer[Gpus].unknown(f"there is no amd-smi, no rocm-smi and no {CLASSES} to look in here")
        return Answer[Gpus].absent("there is no amd-smi, no rocm-smi and no AMD driver here")
    faults = [f"driver: {brief(done)}" for done in ran]
    faults += [str(error) for name in ("static", "rocm") if isinstance(error := results.commands.get(name), Exception)]
    return Answer[Gpus].unknown("; ".join([*faults, kfd.reason]).strip("; ") or "no program tells of AMD GPUs")


def _said(results: Results, name: str, kind: type[list[object]] | type[dict[str, object]]) -> object:
    done = results.done(name)
    return None if done is None or done.truncated else first_json(done.out, kind)


def _part(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _rows(results: Results, name: str) -> list[Mapping[str, Any]]:
    """The list of GPUs: on its own in older releases, under `gpu_data` in newer ones."""
    whole = _said(results, name, dict)
    rows = _part(whole, "gpu_data") or _said(results, name, list)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _amount(value: object) -> float | None:
    number = known_number(_part(value, "value"))
    unit = _UNITS.get(str(_part(value, "unit")).upper())
    return None if number is None or unit is None else number * unit


def _by_amd_smi(results: Results) -> list[Card]:
    used = {row.get("gpu"): row for row in _rows(results, "metric")}
    cards = []
    for row in _rows(results, "static"):
        if not _is_amd(_part(row, "asic", "vendor_id")):
            continue
        total = _amount(_part(row, "vram", "size"))
        metric = used.get(row.get("gpu"))
        percent = known_number(_part(metric, "usage", "gfx_activity", "value"))
        free = _free(percent, _amount(_part(metric, "mem_usage", "used_vram")), total)
        mode = _text(_part(row, "partition", "compute_partition"))
        cards.append(
            Card(
                model=_text(_part(row, "asic", "market_name")),
                memory_bytes=None if total is None else int(total),
                driver=_text(_part(row, "driver", "version")) or _text(_part(row, "driver", "driver_version")),
                free=free,
                partitions=(mode,) if mode and mode != "SPX" else (),
                partitioned=bool(mode and mode != "SPX"),
            )
        )
    return cards


def _by_rocm_smi(results: Results) -> list[Card]:
    whole = _said(results, "rocm", dict)
    if not isinstance(whole, dict):
        return []
    driver = _text(_part(whole.get("system"), "Driver version"))
    cards, seen = [], set[str]()
    for name, told in whole.items():
        if not re.fullmatch(r"card\d+", name) or not isinstance(told, Mapping):
            continue
        row = {key.strip().lower(): value for key, value in told.items()}
        total = known_number(row.get("vram total memory (b)"))
        vendor, device = _text(row.get("card vendor")), _text(row.get("gfx version")) or _text(row.get("guid"))
        if (vendor and not re.search(r"advanced micro devices|\bamd\b|0x1002", vendor, re.IGNORECASE)) or not (
            total or device
        ):
            continue
        free = _free(known_number(row.get("gpu use (%)")), known_number(row.get("vram total used memory (b)")), total)
        guid = _text(row.get("guid"))
        if guid is not None and guid in seen:
            continue  # one card, listed twice
        seen.add(guid or "")
        model = _text(row.get("card series")) or _text(row.get("device name")) or _text(row.get("card model"))
        cards.append(Card(model=model, memory_bytes=int(total) if total else None, driver=driver, free=free))
    return cards


def _free(percent: float | None, used: float | None, total: float | None) -> Truth:
    """No list of processes is at hand: one that does little is free where little of its memory is held, too."""
    busy = busy_by_use(percent, used, total)
    return ~busy if busy is Truth.YES or (used is not None and total) else Truth.UNKNOWN


def _properties(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _by_kernel(results: Results) -> list[Card]:
    nodes = [_properties(read.text) for read in results.found(NODES)]
    count = sum(node.get("simd_count", 0) > 0 and node.get("vendor_id", AMD_VENDOR) == AMD_VENDOR for node in nodes)
    return [Card(driver=results.file(DRIVER).value or None, free=Truth.UNKNOWN)] * count


def _kernel_says_none(results: Results) -> bool:
    """Every node could be read, and each is a processor. A refused read hides nodes of other people's GPUs."""
    reads = results.files.get(NODES, ())
    nodes = [_properties(read.text) for read in reads if read.outcome is Outcome.OK]
    return len(nodes) == len(reads) and all(node.get("simd_count") == 0 for node in nodes)


def _is_amd(vendor: object) -> bool:
    text = _text(vendor)
    return text is None or text.lower().removeprefix("0x") == f"{AMD_VENDOR:x}"


def _text(value: object) -> str | None:
    words = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return None if words.lower() in ("", "n/a", "none", "unknown") else words


@register_probe
class Amd(Probe):
    """`hardware/amd`."""

    category = Category.HARDWARE
    name = "amd"
    verbs = gpu_verbs(_ask, _parse)
