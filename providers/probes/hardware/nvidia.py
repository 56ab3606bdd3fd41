"""NVIDIA GPUs by nvidia-smi(1), which prints its errors on stdout too; without it, by the driver's files in /proc.

Source: `nvidia-smi --help-query-gpu`, `--help-query-compute-apps`; the driver's README, chapter "The /proc interface".
"""

from __future__ import annotations

import csv
import re

from dragoman.command import Command, Completed
from dragoman.facts import Gpus
from dragoman.kleene import Truth
from dragoman.observation import Answer, Category, Outcome
from providers.probes.base import Ask, Paths, Probe, Results, brief, no_answer, question, where_is
from providers.probes.hardware.gpu_cards import Card, busy_by_use, gpu_verbs, known_number, put_together
from providers.registry import register_probe
from providers.verbs import NoArguments

__all__ = ["Nvidia", "parse_instances", "parse_rows"]

FIELDS = ("index", "uuid", "name", "memory.total", "memory.used", "utilization.gpu", "driver_version")
NEWER = ("compute_mode", "mig.mode.current", "persistence_mode")
"""Drivers before 450 refuse the whole question for a field that they do not know."""
VERSION, INFORMATION = "/proc/driver/nvidia/version", "/proc/driver/nvidia/gpus/*/information"
MIB = 2**20
LONGEST_ROW = 2**16
"""What is longer is no row, and Python's csv refuses it."""
_NOTHING = ("", "n/a", "not supported", "unknown error", "err!", "unknown", "no data", "insufficient permissions")
_LOST = re.compile(r"unable to determine the device handle for gpu\s*(\S+?):?\s", re.IGNORECASE)
_BROKEN = re.compile(r"\[GPU (?:requires reset|is lost)", re.IGNORECASE)
"""What stands in place of a value of a GPU that the driver cannot use any more."""
_NONE = re.compile(r"^[ \t]*no devices were found", re.IGNORECASE | re.MULTILINE)
_FAULT = re.compile(
    r"nvidia-smi has failed|failed to initialize nvml|driver/library version mismatch|couldn't communicate"
    r"|no supported gpus|insufficient permissions|gpu access blocked|unknown error",
    re.IGNORECASE,
)


def _ask(_: NoArguments, paths: Paths) -> Ask:
    smi = where_is("nvidia-smi", paths, key="nvidia")
    return Ask(
        commands={
            "cards": _query(smi, (*FIELDS, *NEWER)),
            "apps": question(smi, "--query-compute-apps=gpu_uuid,pid", "--format=csv", timeout_s=25.0),
            "list": question(smi, "-L", timeout_s=25.0),
        },
        files=(VERSION, INFORMATION),
    )


def _query(smi: str, fields: tuple[str, ...]) -> Command:
    return question(smi, f"--query-gpu={','.join(fields)}", "--format=csv", timeout_s=25.0)


def parse_rows(text: str, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Rows of a CSV answer by field name, words for "not known" as empty text; other lines are left out.

    Args:
        text: stdout, with a header or without.
        fields: the order that was asked for, where there is no header.

    """
    names = list(fields)
    rows: list[dict[str, str]] = []
    lines = [line for line in text.splitlines() if len(line) < LONGEST_ROW]
    for cells in csv.reader(lines, skipinitialspace=True, quoting=csv.QUOTE_NONE):
        words = [cell.strip() for cell in cells]
        bare = [word.partition(" [")[0] for word in words]
        if len(words) > 1 and bare[0] in ("index", "gpu_uuid", "uuid", "name"):
            names = bare
        elif len(words) == len(names) and len(words) > 1:
            plain = ["" if word.strip("[]").lower() in _NOTHING else word for word in words]
            row = dict(zip(names, plain, strict=True))
            if row.get("index", "0").isdigit():
                rows.append(row)
    return rows


def parse_instances(text: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """MIG instances of each GPU of `nvidia-smi -L`, by the GPU's UUID: their profiles, and their UUIDs."""
    found: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    current = ""
    for line in text.splitlines():
        gpu = re.match(r"GPU \d+: .*\(UUID: ([^)]{1,200})\)", line)
        part = re.match(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: ([^)]+)\)", line)
        if gpu:
            current = gpu[1]
            found[current] = ((), ())
        elif part and current:
            names, ids = found[current]
            found[current] = ((*names, part[1]), (*ids, part[2]))
    return found


def _parse(_: NoArguments, results: Results) -> Answer[Gpus] | Ask:
    asked = "older" if results.asked("older") else "cards"
    trouble, done = no_answer(results, asked), results.done(asked)
    if trouble is not None or done is None:
        return _by_files(results, trouble or Answer[Gpus].unknown("nvidia-smi was not asked"))
    if not results.asked("older") and re.search(r"not a valid field", f"{done.out}{done.err}", re.IGNORECASE):
        return Ask(commands={"older": _query(done.argv[0], FIELDS)})
    rows = parse_rows(done.out, FIELDS if results.asked("older") else (*FIELDS, *NEWER))
    lost = set(_LOST.findall(f"{done.out}\n{done.err}\n"))
    if not rows:
        return _no_rows(done, results)
    apps = _apps(results)
    instances = _instances(results)
    cards = [_card(row, apps, instances) for row in rows]
    cards += [Card(free=Truth.NO) for _each in sorted(lost)]  # the driver sees it on the bus, and nobody can use it
    # Those that the other list has, too, are there; of their rows nothing came.
    cards += [Card() for uuid in instances or () if uuid not in {row.get("uuid") for row in rows}]
    return Answer[Gpus].ok(put_together("nvidia", cards))


def _no_rows(done: Completed, results: Results) -> Answer[Gpus]:
    said = f"{done.out}\n{done.err}"
    listed = [read for read in results.found(INFORMATION) if "*" not in read.path]
    if _NONE.search(said) and listed:
        return Answer[Gpus].unknown(f"{brief(done)}, but the driver lists {len(listed)} in {INFORMATION}")
    if _NONE.search(said):
        return Answer[Gpus].absent("nvidia-smi: No devices were found")
    if done.rc == 9 or _FAULT.search(said):
        return Answer[Gpus].unknown(f"driver: {brief(done)}")
    return Answer[Gpus].unknown(brief(done))


def _apps(results: Results) -> frozenset[str] | None:
    """UUIDs of GPUs and instances that processes work on; None where it is not told."""
    done = results.whole("apps")
    if done is None or done.rc != 0 or done.truncated or _FAULT.search(f"{done.out}{done.err}"):
        return None
    rows = [[cell.strip() for cell in line.split(",")] for line in done.out.splitlines() if line.strip()]
    if not rows:
        return None  # where no process works it prints the names of the columns
    told = [row for row in rows if row[0].startswith(("GPU-", "MIG-"))]
    # `GPU-…, [Not Supported]`: a card that tells of no processes.
    return frozenset(row[0] for row in told if len(row) < 2 or row[1].isdigit())


def _instances(results: Results) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]] | None:
    done = results.whole("list")
    return parse_instances(done.out) if done is not None and done.rc == 0 and not done.truncated else None


def _card(
    row: dict[str, str],
    apps: frozenset[str] | None,
    instances: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] | None,
) -> Card:
    total, used = known_number(row.get("memory.total", "")), known_number(row.get("memory.used", ""))
    uuid = row.get("uuid", "")
    partitioned = row.get("mig.mode.current", "").lower() == "enabled"
    names, ids = (instances or {}).get(uuid, ((), ()))
    if row.get("compute_mode", "").lower() == "prohibited" or (partitioned and instances is not None and not names):
        free = Truth.NO  # a GPU that is split into no instances runs nothing
    elif any(_BROKEN.search(word) for word in row.values()) or (apps is not None and {uuid, *ids} & apps):
        free = Truth.NO
    else:
        use = None if partitioned else known_number(row.get("utilization.gpu", ""))
        # The driver keeps more memory of a split GPU than of a whole one.
        by_use = busy_by_use(use, None if partitioned else used, total)
        # A process on a part of it names the part: without the list of parts nothing shows that none is there.
        idle = Truth.YES if apps is not None and uuid and partitioned and names else Truth.UNKNOWN
        # One that does little may still be somebody's, where nobody tells of processes.
        free = (
            idle if by_use is Truth.UNKNOWN else ~by_use if by_use is Truth.YES or apps is not None else Truth.UNKNOWN
        )
    return Card(
        model=row.get("name") or None,
        memory_bytes=None if total is None else int(total) * MIB,
        driver=row.get("driver_version") or None,
        free=free,
        partitions=names,
        partitioned=partitioned,
    )


def _by_files(results: Results, why: Answer[Gpus]) -> Answer[Gpus]:
    """What the loaded driver itself tells, where its program is not there; nothing is known of what is free."""
    if why.outcome is not Outcome.ABSENT:
        return why
    version = results.file(VERSION)
    found = re.search(r"Kernel Module.{0,200}?\s(\d+\.\d[\d.]*)\s", version.text)
    models: list[str] = []
    for read in results.found(INFORMATION):
        model = re.search(r"^Model:[ \t]*(\S.*)$", read.text, re.MULTILINE)
        if model:
            models.append(model[1].strip())
    if models:
        driver = found[1] if found else None
        return Answer[Gpus].ok(put_together("nvidia", [Card(model=model, driver=driver) for model in models]))
    if version.outcome is Outcome.ABSENT:
        return Answer[Gpus].absent("there is no nvidia-smi and no NVIDIA driver here")
    return Answer[Gpus].unknown(f"there is no nvidia-smi here; {version.reason or 'the driver names no GPU'}")


@register_probe
class Nvidia(Probe):
    """`hardware/nvidia`."""

    category = Category.HARDWARE
    name = "nvidia"
    verbs = gpu_verbs(_ask, _parse)
