"""Processors of a Linux host: lscpu(1), /proc/cpuinfo, the affinity of this process and the quota of its group."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dragoman.command import Completed
from dragoman.facts import Cpu, CpuCluster, Presence
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, ProbeVerb, Results, presence_from, question
from providers.probes.hardware.control_groups import FILES, cpu_files, cpu_quota
from providers.probes.hardware.microarchitecture import microarchitecture
from providers.registry import register_probe
from providers.verbs import CPU, NoArguments

__all__ = ["CpuProbe", "count_cpus", "parse_cpuinfo", "parse_lscpu"]

CPUINFO, STATUS = "/proc/cpuinfo", "/proc/self/status"
_NOTHING = ("", "-", "unknown", "n/a")


@dataclass(frozen=True, slots=True)
class _Lscpu:
    threads: int | None
    clusters: tuple[CpuCluster, ...]
    words: dict[str, str]


def _number(text: str | None) -> int | None:
    """A positive count; lscpu prints `0` or `-` where it does not know."""
    return int(text) if text and text.isdigit() and int(text) > 0 else None


def parse_lscpu(text: str) -> _Lscpu:
    """The fields of `lscpu` in the C locale; a host with two kinds of core has several blocks, one a `Model name`."""
    common: dict[str, str] = {}
    blocks: list[dict[str, str]] = []
    for line in text.splitlines():
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon:
            continue
        if name == "Model name":
            blocks.append({})
        (blocks[-1] if blocks else common).setdefault(name, value)
    last = {name: value for block in reversed(blocks) for name, value in block.items()}
    clusters = tuple(
        CpuCluster(
            model=None if block["Model name"].lower() in _NOTHING else block["Model name"],
            sockets=_number(block.get("Socket(s)")) or _number(block.get("Cluster(s)")),
            cores_per_socket=_number(block.get("Core(s) per socket")) or _number(block.get("Core(s) per cluster")),
            threads_per_core=_number(block.get("Thread(s) per core")),
        )
        for block in (blocks if len(blocks) > 1 else [{"Model name": "-", **common, **last}] if common or last else [])
    )
    words = {name: value for name, value in {**last, **common}.items() if value.lower() not in _NOTHING}
    online = count_cpus(words.get("On-line CPU(s) list", ""))  # fewer, where hyper-threading is switched off
    return _Lscpu(online or _number(words.get("CPU(s)")), clusters, words)


def parse_cpuinfo(text: str) -> tuple[int, int | None, dict[str, str]]:
    """Hardware threads, physical cores (None where the kernel does not tell, as on Arm), and the first block."""
    blocks = [
        {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in block.splitlines())}
        for block in text.split("\n\n")
    ]
    processors = [block for block in blocks if "processor" in block]
    places = {(block.get("physical id"), block.get("core id")) for block in processors}
    known = all(None not in place for place in places)
    return len(processors), (len(places) if known and places else None), (processors or [{}])[0]


def count_cpus(text: str) -> int | None:
    """CPUs of a kernel list such as `0-3,8`; None for what is no such list."""
    total = 0
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            return None
        total += int(last) - int(first) + 1 if dash else 1
    return total or None


def _ask(_: NoArguments, paths: Paths) -> Ask:
    return Ask(files=(CPUINFO, STATUS, *FILES))


def _parse(_: NoArguments, results: Results) -> Answer[Cpu] | Ask:
    if not results.asked("lscpu"):
        return Ask(commands={"lscpu": question("lscpu"), "arch": question("uname", "-m")}, files=cpu_files(results))
    done = results.whole("lscpu")
    listed = parse_lscpu(done.out) if done is not None and done.rc == 0 else _Lscpu(None, (), {})
    info = results.file(CPUINFO)
    threads, cores, first = parse_cpuinfo(info.text) if info.outcome is Outcome.OK else (0, None, {})
    if listed.threads is None and not threads:
        return Answer[Cpu].unknown(f"neither lscpu nor {CPUINFO} tells of processors")
    arm = (first["CPU implementer"], first["CPU part"]) if {"CPU implementer", "CPU part"} <= first.keys() else None
    vendor = listed.words.get("Vendor ID") or first.get("vendor_id")
    features = tuple(sorted((listed.words.get("Flags") or first.get("flags") or first.get("Features") or "").split()))
    arch = results.whole("arch")
    models = dict.fromkeys(cluster.model for cluster in listed.clusters if cluster.model)
    return Answer[Cpu].ok(
        Cpu(
            model=" + ".join(models) or first.get("model name"),
            vendor=vendor,
            architecture=listed.words.get("Architecture") or _machine(arch),
            microarchitecture=microarchitecture(
                vendor, set(features), _number(first.get("cpu family")), _plain_int(first.get("model")), arm
            ),
            sockets=_sum(cluster.sockets for cluster in listed.clusters),
            cores=_sum(_cores(cluster) for cluster in listed.clusters) or cores,
            threads=listed.threads or threads or None,
            usable=_usable(results),
            features=features,
            hosts=1,
            clusters=listed.clusters if len(listed.clusters) > 1 else (),
        )
    )


def _plain_int(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _cores(cluster: CpuCluster) -> int | None:
    if cluster.sockets is None or cluster.cores_per_socket is None:
        return None
    return cluster.sockets * cluster.cores_per_socket


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return sum(value for value in known if value is not None) if known and None not in known else None


def _usable(results: Results) -> float | None:
    """CPUs that this process may use at once: its affinity, less where the group's quota is tighter."""
    lines = results.file(STATUS).text.splitlines()
    allowed = next((line.partition(":")[2] for line in lines if line.startswith("Cpus_allowed_list:")), "")
    affinity = count_cpus(allowed)
    quota, missed = cpu_quota(results)
    if affinity is None or missed:
        return None  # a quota that was not read may be tighter
    return float(affinity) if quota is None else min(float(affinity), quota)


_DESCRIBE = ProbeVerb(CPU, _ask, _parse)


def _machine(done: Completed | None) -> str | None:
    """What uname(1) calls the machine; None where it did not answer with one word."""
    word = done.out.strip() if done is not None and done.rc == 0 else ""
    return word if re.fullmatch(r"[A-Za-z0-9_]{2,32}", word) else None


@register_probe
class CpuProbe(Probe):
    """`hardware/cpu`."""

    category = Category.HARDWARE
    name = "cpu"
    path_keys = ()
    verbs = (
        presence_from(_DESCRIBE, lambda cpu: Presence(detail=f"{cpu.model or cpu.architecture or 'unknown model'}")),
        _DESCRIBE,
    )
